//! What needs no session, and counting by a vocabulary.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use leftoff::context::{self, Reported};
use leftoff::error::{Code, Error as Refusal};
use leftoff::json::text::to_json;
use leftoff::resume::history;
use leftoff::shapes::{self, Format};
use leftoff::state::stopping;
use leftoff::tokens::{self, Vocabulary, models};

use crate::exports::leftoff::core::protocol::{self, Error, GuestVocabulary, Stamp};
use crate::exports::leftoff::core::texts::Guest;
use crate::{Core, moment, refused};

pub(crate) struct Counter(pub Rc<Vocabulary>);

fn counter(planes: &[u8]) -> Result<protocol::Vocabulary, Error> {
    let read = Vocabulary::from_bytes(planes).map_err(refused)?;
    Ok(protocol::Vocabulary::new(Counter(Rc::new(read))))
}

impl GuestVocabulary for Counter {
    fn from_planes(planes: Vec<u8>) -> Result<protocol::Vocabulary, Error> {
        counter(&planes)
    }

    fn from_base64(planes: String) -> Result<protocol::Vocabulary, Error> {
        let planes = BASE64_STANDARD.decode(planes).map_err(|_| {
            refused(Refusal::new(Code::InvalidVocabulary, "expected base64, but found something else"))
        })?;
        counter(&planes)
    }

    fn encoding(&self) -> String {
        self.0.encoding().as_str().into()
    }

    fn count(&self, text: String) -> u32 {
        self.0.count(&text)
    }
}

impl Guest for Core {
    fn estimate(text: String) -> u32 {
        tokens::estimate(&text)
    }

    fn model_of(name: String) -> Option<String> {
        models::find(&name).map(|model| to_json(&model))
    }

    fn compare_contexts(before: String, after: String) -> Result<String, Error> {
        let read = |json: &str| Reported::from_json(json).map_err(refused);
        Ok(to_json(&context::compare(&read(&before)?, &read(&after)?)))
    }

    fn history_text(messages: String, stamp: Stamp) -> Result<String, Error> {
        let messages = shapes::read(&messages, Format::Leftoff).map_err(refused)?;
        Ok(history::render(&messages, &moment(stamp)))
    }

    fn find_stop_phrase(text: String) -> Option<String> {
        stopping::find_stop_phrase(&text)
    }
}
