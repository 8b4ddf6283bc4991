//! A transcript that is read and not stored.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::{AgentName, Import, ImportedSession, Loss, read_with};
use crate::calls::context_of_messages;
use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::record::event::{ForkOrigin, Parent};
use crate::record::message::Message;
use crate::record::scan::Problem;
use crate::resume::log_match::search_messages;
use crate::resume::outline::outline;
use crate::time::{self, Stamp};
use crate::tokens::Vocabulary;

/// The fields shown of a session that was read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionOverview<'a> {
    id: &'a str,
    agent: &'a str,
    source_id: &'a str,
    parent: &'a Option<Parent>,
    fork: &'a Option<ForkOrigin>,
    title: &'a Option<String>,
    folder: &'a Option<String>,
    model: &'a Option<String>,
    tools: &'a [String],
    losses: &'a [Loss],
}

/// The same, with the counts that lists show.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CountedOverview<'a> {
    #[serde(flatten)]
    overview: SessionOverview<'a>,
    message_count: usize,
    created: Option<String>,
    last_timestamp: Option<String>,
}

#[derive(Serialize)]
struct ImportOverview<'a> {
    sessions: Vec<CountedOverview<'a>>,
    problems: &'a [Problem],
}

fn overview_of(session: &ImportedSession) -> SessionOverview<'_> {
    SessionOverview {
        id: &session.id,
        agent: &session.agent,
        source_id: &session.source_id,
        parent: &session.parent,
        fork: &session.fork,
        title: &session.title,
        folder: &session.folder,
        model: &session.model,
        tools: &session.tools,
        losses: &session.losses,
    }
}

impl Import {
    /// Renders an overview without the messages, `{"sessions","problems"}`, JSON.
    pub fn overview_json(&self) -> String {
        let sessions = self.sessions.iter().map(|session| CountedOverview {
            overview: overview_of(session),
            message_count: session.messages.len(),
            created: session.began_ms().map(time::format),
            last_timestamp: session.last_ms.map(time::format),
        });
        to_json(&ImportOverview { sessions: sessions.collect(), problems: &self.problems })
    }
}

/// A transcript in memory: the conversation in an agent's own file.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use leftoff::interop::Transcript;
///
/// let file = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}"#;
/// let transcript = Transcript::read(file.as_bytes(), "s1.jsonl", None)?;
/// assert!(transcript.session().contains(r#""agent":"claude-code""#));
/// assert_eq!(transcript.messages().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    session: ImportedSession,
    problems: Vec<Problem>,
}

impl Transcript {
    /// Reads a file of any known agent. `name`, the file's path, serves only if the content gives no id; `from` is the
    /// agent, if the content is not to tell.
    ///
    /// # Errors
    /// `empty_file`, `too_deep`, `unknown_format`.
    pub fn read(bytes: &[u8], name: &str, from: Option<AgentName>) -> Result<Transcript, Error> {
        let Import { mut sessions, problems } = read_with(bytes, name, from, None)?;
        // The first is the conversation; the others are those of its sub-agents.
        Ok(Transcript { session: sessions.swap_remove(0), problems })
    }

    /// Renders the session's fields:
    /// `{"id","agent","sourceId","parent","fork","title","folder","model","tools","losses"}`, JSON.
    pub fn session(&self) -> String {
        to_json(&overview_of(&self.session))
    }

    /// Returns the problems of reading.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.session.messages
    }

    /// Renders each turn's question and outcome: a JSON array.
    pub fn outline(&self) -> String {
        to_json(&outline(self.messages()))
    }

    /// Finds the messages that have all of these words, in any case, the newest first: a JSON array of
    /// `{"id","role","timestamp", "excerpt"}`.
    pub fn search(&self, words: &str) -> String {
        search_messages(words, self.messages())
    }

    /// Builds the context of a model call, counted by one of the vocabularies, or else estimated. The request is as
    /// [`Request::from_json`](crate::context::Request::from_json) reads it; if it names no model, the session's own is
    /// assumed. Nobody is asked for counts, summaries or strategies.
    ///
    /// # Errors
    /// Those of a context; `invalid_request` where somebody would have to be asked.
    pub fn context(
        &self,
        request: &str,
        stamp: &Stamp,
        vocabularies: &[&Vocabulary],
    ) -> Result<String, Error> {
        let model = self.session.model.as_ref().filter(|model| !model.is_empty());
        let known = model.map(|model| format!("\"model\":{}", to_json(model))).unwrap_or_default();
        let request_fields = Fields::parse(request).map_err(|_| no_request_error())?;
        let given = request_fields.decoded_entries().filter(|(key, _)| *key != "recorded");
        let mut parts: Vec<String> = given.map(|(key, value)| format!("{}:{value}", to_json(key))).collect();
        parts.push(format!("\"recorded\":{{{known}}}"));
        let request = format!("{{{}}}", parts.join(","));
        context_of_messages(self.messages().into(), &request, stamp, vocabularies)
    }
}

fn no_request_error() -> Error {
    Error::new(Code::InvalidRequest, "expected a request object, but found no JSON")
}
