//! What is needed now and then, a module of its own: reading and writing other agents' files, finding and searching.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::{Array, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use crate::counter::Counter;
use crate::{Answer, bytes, pairs, small, stamp, thrown, utf8};
use leftoff::error::{Code, Error};
use leftoff::interop::codex;
use leftoff::interop::fresh::Fresh;
use leftoff::interop::native;
use leftoff::interop::{self, AgentName, Loss};
use leftoff::json::blob::Blob;
use leftoff::json::text::to_json;
use leftoff::record::event::{Origin, Parent};
use leftoff::record::message::Message;
use leftoff::record::scan::Problem;
use leftoff::resume::{block, find, history, listing};
use leftoff::session::handle::Session;
use leftoff::settings::{self, SettingsFile};
use leftoff::shapes;
use leftoff::shapes::Format;
use leftoff::state::stopping;
use leftoff::time::{self, Stamp};
use leftoff::tokens::Counting;

/// The names of the agents that are known.
#[wasm_bindgen(js_name = agentNames)]
pub fn agent_names() -> Vec<String> {
    AgentName::ALL.into_iter().map(|agent| agent.as_str().into()).collect()
}

/// The id of the rollout of Codex that this one goes on with.
#[wasm_bindgen(js_name = rolloutBase)]
pub fn rollout_base(file: &[u8]) -> Option<String> {
    codex::base(file).map(|base| base.rollout)
}

/// How many bytes of that one belong to this one.
#[wasm_bindgen(js_name = rolloutPart)]
pub fn rollout_part(file: &[u8], base: &[u8]) -> Option<usize> {
    codex::base(file)?.part(base)
}

// What stands in the texts of the commands that agents are given.
const OF_COMMANDS: &str = "leftoff's answer";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Read<'a> {
    id: &'a str,
    agent: &'a str,
    source_id: &'a str,
    parent: &'a Option<Parent>,
    fork: &'a Option<Origin>,
    title: &'a Option<String>,
    folder: &'a Option<String>,
    model: &'a Option<String>,
    tools: &'a [String],
    losses: &'a [Loss],
    message_count: usize,
    created: Option<String>,
    last_timestamp: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct About<'a> {
    sessions: Vec<Read<'a>>,
    // Whether a session of the store may go on in it, or it may be about the store alone.
    is_about_store: bool,
    problems: &'a [Problem],
}

/// What a file of an agent holds. The messages stay here until they are asked for, or staged.
#[wasm_bindgen(js_name = Transcript)]
pub struct TranscriptHandle {
    about: String,
    sessions: Vec<Rc<Vec<Message>>>,
    fresh: Option<Fresh>,
}

#[wasm_bindgen(js_class = Transcript)]
impl TranscriptHandle {
    /// Reads a file of the agent that is named, or that the content tells. `beside`: what the agent says of it in another
    /// file; see `interop::read_with`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        file: &[u8],
        name: &str,
        from: Option<String>,
        beside: Option<Vec<u8>>,
    ) -> Answer<TranscriptHandle> {
        let from = from.map(|from| AgentName::parse(&from)).transpose().map_err(thrown)?;
        let import = interop::read_with(file, name, from, beside.as_deref()).map_err(thrown)?;
        let sessions = import.sessions.iter().map(|session| Read {
            id: &session.id,
            agent: session.agent,
            source_id: &session.source_id,
            parent: &session.parent,
            fork: &session.fork,
            title: &session.title,
            folder: &session.folder,
            model: &session.model,
            tools: &session.tools,
            losses: &session.losses,
            message_count: session.messages.len(),
            created: session.began_ms().map(time::format),
            last_timestamp: session.last_ms.map(time::format),
        });
        let speaks = |of: &str| memchr::memmem::find(file, of.as_bytes()).is_some();
        let is_about_store = speaks(block::END) || speaks(OF_COMMANDS);
        let about =
            to_json(&About { sessions: sessions.collect(), is_about_store, problems: &import.problems });
        let sessions = import.sessions.into_iter().map(|session| Rc::new(session.messages)).collect();
        Ok(TranscriptHandle { about, sessions, fresh: None })
    }

    /// JSON `{"sessions":[...],"isAboutStore":...,"problems":[...]}`, without the messages.
    pub fn about(&self) -> Uint8Array {
        bytes(&self.about)
    }

    /// Messages of a session, from one up to another, a JSON array in leftoff's shape.
    pub fn messages(&self, session: usize, from: usize, to: usize) -> Uint8Array {
        let messages = self.sessions.get(session).map(|messages| messages.as_slice()).unwrap_or_default();
        bytes(&to_json(&messages.get(from..to.min(messages.len())).unwrap_or_default()))
    }

    /// Divides a session: its messages from this one on are a session of their own, whose place is given.
    pub fn divide(&mut self, session: usize, from: usize) -> usize {
        let messages = self.sessions.get_mut(session);
        let divided = |messages: &mut Vec<Message>| messages.split_off(from.min(messages.len()));
        let rest = messages.map(|messages| divided(Rc::make_mut(messages)));
        self.sessions.push(Rc::new(rest.unwrap_or_default()));
        self.sessions.len() - 1
    }

    /// Begins to compare a session with a log, whose bytes are fed from its start on; see `Fresh`. `goesOn`: the log
    /// holds another conversation, with which this one goes on.
    pub fn compare(&mut self, session: usize, #[wasm_bindgen(js_name = goesOn)] goes_on: bool) {
        let messages = self.sessions.get_mut(session).map(core::mem::take).unwrap_or_default();
        let messages = Rc::unwrap_or_clone(messages);
        let fresh = if goes_on { Fresh::going_on(messages) } else { Fresh::new(messages) };
        self.fresh = Some(fresh);
    }

    /// Takes the next bytes of the log: also those that were appended since, by whomever.
    pub fn feed(&mut self, log: &[u8]) {
        if let Some(fresh) = &mut self.fresh {
            fresh.feed(log);
        }
    }

    /// There are no more bytes for now: the next messages to append, at most so many, a JSON array in leftoff's shape; see
    /// `Fresh::missing`.
    pub fn missing(&mut self, most: usize) -> Uint8Array {
        let missing = self.fresh.as_mut().map(|fresh| fresh.missing(most));
        bytes(&to_json(&missing.unwrap_or_default()))
    }

    /// The messages of a session on their way into a log that holds nothing yet. They stay here: others may write to that
    /// log meanwhile, then they are compared with it.
    pub fn stage(&self, session: usize) -> StagingHandle {
        let messages = self.sessions.get(session).cloned().unwrap_or_default();
        StagingHandle { session: Session::new(None), messages, next: 0, blobs: Vec::new() }
    }
}

/// Messages that become the lines of a new log, batch by batch; what concerns the log is as in the core's `Session`.
#[wasm_bindgen(js_name = Staging)]
pub struct StagingHandle {
    session: Session,
    messages: Rc<Vec<Message>>,
    next: usize,
    blobs: Vec<Blob>,
}

#[wasm_bindgen(js_class = Staging)]
impl StagingHandle {
    /// The bytes of the next batch; nothing where all are staged.
    pub fn stage(
        &mut self,
        count: usize,
        now_ms: f64,
        entropy: &[u8],
        counter: &Counter,
        count_tokens: bool,
    ) -> Answer<Option<Uint8Array>> {
        let batch: Vec<Message> = self.messages.iter().skip(self.next).take(count).cloned().collect();
        self.next += batch.len();
        if batch.is_empty() {
            return Ok(None);
        }
        let counting = if count_tokens { Counting::by(counter.0.as_deref()) } else { Counting::Off };
        let staged =
            self.session.stage_messages(batch, &stamp(now_ms, entropy)?, counting).map_err(thrown)?;
        self.blobs = staged.blobs;
        Ok(Some(Uint8Array::from(&staged.bytes[..])))
    }

    /// As the core's `stagedBlobs`.
    #[wasm_bindgen(js_name = stagedBlobs, unchecked_return_type = "[string, Uint8Array][] | undefined")]
    pub fn staged_blobs(&mut self) -> Option<Array> {
        pairs(core::mem::take(&mut self.blobs))
    }

    /// Takes what others wrote to the log meanwhile; gives the problems.
    pub fn observe(&mut self, log: &[u8], offset: f64) -> Answer<JsValue> {
        let found = self.session.messages().observe(log, offset as u64).map_err(thrown)?;
        Ok(small(&self.session.take_messages(found)))
    }

    /// How far the log is observed.
    pub fn end(&mut self) -> f64 {
        self.session.messages().observed() as f64
    }

    /// The staged batch is in the log; `offset` as in `Log::commit`.
    pub fn commit(&mut self, offset: f64) -> Answer<()> {
        self.session.commit_messages(offset as u64).map(drop).map_err(thrown)
    }

    /// No byte of the staged batch was written, or it is given up.
    pub fn abort(&mut self) -> Answer<()> {
        self.session.messages().abort().map_err(thrown)
    }

    /// Nobody can say how much of the staged batch was written; gives the bytes to append again.
    pub fn unknown(&mut self) -> Answer<Uint8Array> {
        self.session.messages().unknown().map(|again| Uint8Array::from(&again[..])).map_err(thrown)
    }

    /// What is known of the log then, from which the core goes on; nothing where it has to read it itself.
    pub fn checkpoint(&self) -> Option<Uint8Array> {
        self.session.checkpoint().map(|checkpoint| bytes(&checkpoint.to_json()))
    }
}

/// The shape in which an agent's provider counts.
#[wasm_bindgen(js_name = formatOf)]
pub fn format_of(agent: &str) -> Answer<String> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    native::format_of(agent).map(|format| format.as_str().into()).map_err(thrown)
}

/// Writes a session of an agent: messages, JSON bytes in leftoff's shape, and `{"id","folder","place","gitBranch",
/// "title","model","nowMs"}`. Gives `{"path","text","id","losses"}`, JSON.
#[wasm_bindgen(js_name = writeNative)]
pub fn write_native(agent: &str, messages: &[u8], about: &[u8]) -> Answer<Uint8Array> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    let messages = shapes::read(utf8(messages)?, Format::Leftoff).map_err(thrown)?;
    let about = native::About::from_json(utf8(about)?).map_err(thrown)?;
    native::write(agent, &messages, &about).map(|native| bytes(&to_json(&native))).map_err(thrown)
}

/// The places of those that have the words, the best first. `all`: JSON, for each what it is known by, its title first.
#[wasm_bindgen]
pub fn ranked(words: &str, all: &[u8]) -> Answer<Vec<u32>> {
    let all: Vec<find::Known> = from_json(all, "an array of arrays of texts")?;
    Ok(find::ranked(words, &all).into_iter().filter_map(|place| u32::try_from(place).ok()).collect())
}

/// What a file, one as in `readSettings`, says once a value, JSON, is written into it, or a setting taken out; see
/// `settings::written`.
#[wasm_bindgen(js_name = writtenSetting)]
pub fn written_setting(key: &str, value: Option<String>, file: &[u8]) -> Answer<Option<String>> {
    let files = SettingsFile::all_from_json(utf8(file)?).map_err(thrown)?;
    let written = files.iter().map(|file| settings::written(key, value.as_deref(), file));
    written.last().transpose().map(Option::flatten).map_err(thrown)
}

/// The clause of a user's message that wants to stop; see `stopping::find_stop_phrase`.
#[wasm_bindgen(js_name = findStopPhrase)]
pub fn find_stop_phrase(text: &str) -> Option<String> {
    stopping::find_stop_phrase(text)
}

/// A list as a person reads it: of JSON bytes, the sessions as lists have them.
#[wasm_bindgen]
pub fn listing(listed: &[u8], now_ms: f64, offset_minutes: i32) -> Answer<Uint8Array> {
    let stamp = Stamp { now_ms: now_ms as i64, offset_minutes, entropy: [0; 32] };
    listing::text(utf8(listed)?, &stamp).map(|text| bytes(&text)).map_err(thrown)
}

/// Messages, JSON bytes in leftoff's shape, as text in a fence: see `history::render`.
#[wasm_bindgen]
pub fn history(messages: &[u8], now_ms: f64, entropy: &[u8]) -> Answer<Uint8Array> {
    let messages = shapes::read(utf8(messages)?, Format::Leftoff).map_err(thrown)?;
    Ok(bytes(&history::render(&messages, &stamp(now_ms, entropy)?)))
}

fn from_json<T: DeserializeOwned>(json: &[u8], what: &str) -> Answer<T> {
    serde_json::from_slice(json).map_err(|error| {
        let message = format!("expected {what}, but found something else: {error}");
        thrown(Error::new(Code::InvalidJson, message))
    })
}
