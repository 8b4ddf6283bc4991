//! Functions that need no session, and counting by a vocabulary.

use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use leftoff::calls;
use leftoff::context::{self, ComparedContext};
use leftoff::error::{Code, Error as Refusal};
use leftoff::interop::{self, AgentName, native};
use leftoff::json::text::to_json;
use leftoff::outputs;
use leftoff::resume::{history, listing, log_match, outline, session_match};
use leftoff::shapes::{self, Format};
use leftoff::state::stopping;
use leftoff::tokens::{self, Encoding, Vocabulary, models, prices};

use crate::exports::leftoff::core::protocol::{
    self, Content, Error, GuestVocabulary, Stamp, VocabularyBorrow,
};
use crate::exports::leftoff::core::texts::Guest;
use crate::host_responses::join_pieces;
use crate::{Core, to_error, to_moment};

pub(crate) struct Counter(pub Rc<Vocabulary>);

/// Vocabularies in use, shared: each takes megabytes, and WebAssembly never gives memory back.
static VOCABULARIES: SingleThreaded<Vec<Weak<Vocabulary>>> = SingleThreaded(RefCell::new(Vec::new()));

struct SingleThreaded<T>(RefCell<T>);

// SAFETY: a component has one thread.
unsafe impl<T> Sync for SingleThreaded<T> {}

fn find_or_make_counter(planes: &[u8]) -> Result<protocol::Vocabulary, Error> {
    let encoding = Vocabulary::encoding_of(planes).map_err(to_error)?;
    let known =
        VOCABULARIES.0.borrow().iter().filter_map(Weak::upgrade).find(|known| known.encoding() == encoding);
    let vocabulary = match known {
        Some(known) => known,
        None => {
            let made = Rc::new(Vocabulary::from_bytes(planes).map_err(to_error)?);
            let mut known = VOCABULARIES.0.borrow_mut();
            known.retain(|one| one.strong_count() > 0);
            known.push(Rc::downgrade(&made));
            made
        }
    };
    Ok(protocol::Vocabulary::new(Counter(vocabulary)))
}

impl GuestVocabulary for Counter {
    fn from_planes(planes: Vec<u8>) -> Result<protocol::Vocabulary, Error> {
        find_or_make_counter(&planes)
    }

    fn from_base64(planes: String) -> Result<protocol::Vocabulary, Error> {
        let planes = BASE64_STANDARD.decode(planes).map_err(|_| {
            to_error(Refusal::new(Code::InvalidVocabulary, "expected base64, but found something else"))
        })?;
        find_or_make_counter(&planes)
    }

    fn encoding(&self) -> String {
        self.0.encoding().as_str().into()
    }

    fn count(&self, text: String, limit: Option<u32>) -> u32 {
        self.0.count_up_to(&text, limit.unwrap_or(u32::MAX))
    }
}

impl Guest for Core {
    fn estimate(text: String) -> u32 {
        tokens::estimate(&text)
    }

    fn encoding_of(name: Option<String>, model: Option<String>) -> Result<String, Error> {
        let wanted = Encoding::resolve(name.as_deref(), model.as_deref());
        wanted.map(|encoding| encoding.as_str().into()).map_err(to_error)
    }

    fn model_of(name: String) -> Option<String> {
        models::find_model(&name).map(|model| to_json(&model))
    }

    fn prices_of(name: String) -> Option<String> {
        prices::find_prices(&name).map(|found| to_json(&found))
    }

    fn cost_of(name: String, usage: String) -> Result<Option<String>, Error> {
        prices::cost_of(&name, &usage).map(|cost| cost.map(|cost| to_json(&cost))).map_err(to_error)
    }

    fn compare_contexts(before: String, after: String) -> Result<String, Error> {
        let read = |json: &str| ComparedContext::from_json(json).map_err(to_error);
        Ok(to_json(&context::compare_contexts(&read(&before)?, &read(&after)?)))
    }

    fn history_text(messages: String, stamp: Stamp) -> Result<String, Error> {
        let messages = shapes::read(&messages, Format::Leftoff).map_err(to_error)?;
        Ok(history::render_history(&messages, &to_moment(stamp)))
    }

    fn found(words: String, listed: String) -> Result<String, Error> {
        session_match::filter_sessions(&words, &listed).map_err(to_error)
    }

    fn list_text(listed: String, stamp: Stamp) -> Result<String, Error> {
        listing::render_listed(&listed, &to_moment(stamp)).map_err(to_error)
    }

    fn find_stop_phrase(text: String) -> Option<String> {
        stopping::find_stop_phrase(&text)
    }

    fn hash_query(query: String) -> String {
        outputs::hash_query(&query)
    }

    fn chosen_outputs(answer: String, count: u32) -> Result<Vec<u32>, Error> {
        let places = outputs::choice::parse_choice(&answer, count as usize).map_err(to_error)?;
        Ok(places.into_iter().map(|place| place as u32).collect())
    }

    fn transcript(
        pieces: Vec<Content>,
        path: String,
        agent: Option<String>,
        beside: Option<Vec<Content>>,
    ) -> Result<(String, Vec<String>), Error> {
        let agent = agent.map(|agent| AgentName::parse(&agent)).transpose().map_err(to_error)?;
        let beside = beside.map(join_pieces);
        let read =
            interop::read_with(&join_pieces(pieces), &path, agent, beside.as_deref()).map_err(to_error)?;
        Ok((read.overview_json(), read.sessions.iter().map(|session| to_json(&session.messages)).collect()))
    }

    fn context(
        messages: String,
        request: String,
        vocabularies: Vec<VocabularyBorrow<'_>>,
        stamp: Stamp,
    ) -> Result<String, Error> {
        let messages = shapes::read_copies(&messages).map_err(to_error)?;
        let known: Vec<Rc<Vocabulary>> =
            vocabularies.iter().map(|known| known.get::<Counter>().0.clone()).collect();
        let known: Vec<&Vocabulary> = known.iter().map(|known| &**known).collect();
        calls::context_of_messages(messages, &request, &to_moment(stamp), &known).map_err(to_error)
    }

    fn outline(messages: String) -> Result<String, Error> {
        let messages = shapes::read_copies(&messages).map_err(to_error)?;
        Ok(to_json(&outline::outline(&messages)))
    }

    fn search(words: String, messages: String) -> Result<String, Error> {
        let messages = shapes::read_copies(&messages).map_err(to_error)?;
        Ok(log_match::search_messages(&words, &messages))
    }

    fn native_format(agent: String) -> Result<String, Error> {
        let format = AgentName::parse(&agent).and_then(native::format_of);
        format.map(|format| format.as_str().into()).map_err(to_error)
    }
}
