//! Continuations: agents' sessions in which a session of the store was resumed, so that their messages go into that
//! session. A session resumed as text is recognized by the fence around its history; one written as the agent's own,
//! by that one's name. A pointer file says which session it was. If that is lost, the agent's session becomes one of
//! its own.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Importer;
use super::target_session::open_unchanged;
use crate::error::Code;
use crate::interop::ImportedSession;
use crate::interop::talk::is_talk;
use crate::json::fields::Fields;
use crate::json::hash::sha256;
use crate::json::text::{to_json, to_open_json};
use crate::layout;
use crate::operation::session_files::SessionFiles;
use crate::operation::store::{LookupWay, Store};
use crate::operation::{Io, Operation, Trouble, unless_bug};
use crate::record::message::{Message, Role};

/// The beginning of a fence; its name follows.
const FENCE_PREFIX: &str = "----- ";
/// Hex digits of a fence's name.
const FENCE_DIGITS: usize = 32;

/// A part of an agent's session.
pub(super) struct ConversationPart {
    pub messages: Vec<Message>,
    /// The session that this part continues; none where it is the agent's own.
    pub resumed: Option<Rc<SessionFiles>>,
}

/// The session that was resumed, as a pointer names it.
pub(super) struct ResumedSession {
    pub id: String,
    /// The last message of the agent's session that is not new; empty where a fence is the mark.
    pub last_message: String,
}

/// What marks the parts of an agent's session.
struct ResumeMarks {
    /// Resumed sessions with the last position of their mark, by position.
    marks: Vec<(usize, Rc<SessionFiles>)>,
    /// Positions where turns end.
    turn_ends: Vec<usize>,
    /// Positions where the user says something that is not about the store.
    talk_positions: Vec<usize>,
}

impl Store {
    /// Notes that an agent's session with this text, which has a fence, continues the session of this id.
    pub fn note_text(self: &Rc<Store>, text: String, id: String) -> Operation<'static, ()> {
        Operation::new(|io| async move {
            let Some(mark) = find_mark(&text) else { return Ok(()) };
            let json = format!("{{\"version\":1,\"session\":{}}}", to_json(&id));
            io.replace(&layout::continuation(mark), json.into_bytes(), None).await
        })
    }

    // Notes that an agent's session, `[agent, source id]`, continues the session of this id, from which it was
    // written, after its message `last`.
    pub(in crate::operation::store) async fn note_native_export(
        &self,
        io: &Io,
        [agent, source_id]: [&str; 2],
        id: &str,
        last: &str,
    ) -> Result<(), Trouble> {
        let json = format!("{{\"version\":1,\"session\":{},\"last\":{}}}", to_json(&id), to_json(&last));
        io.replace(&layout::continuation(&continuation_name(agent, source_id)), json.into_bytes(), None).await
    }

    /// Opens a session by its whole id, or by its name.
    pub(super) async fn open_by_id(&self, io: &Io, id: &str) -> Result<Rc<SessionFiles>, Trouble> {
        if let Some(placed) = self.locate_session(io, id, LookupWay::ByWholeId).await? {
            let files = self.open_for_import(io, self.session_place(&placed.0, placed.1)?).await?;
            // A folder may be named like a session that it does not hold.
            if files.id() == id {
                return Ok(files);
            }
        }
        let listed = self.locate_session(io, id, LookupWay::ByList).await?;
        let (shown, placement) = listed.ok_or_else(|| Trouble::internal("expected a list to tell"))?;
        self.open_for_import(io, self.session_place(&shown, placement)?).await
    }
}

impl Importer<'_> {
    /// Splits an agent's session into the parts that continue other sessions, and its own. `is_about_store`: it may
    /// contain something of the store.
    pub(super) async fn split_parts(
        &self,
        one: &ImportedSession,
        mut messages: Vec<Message>,
        is_about_store: bool,
    ) -> Result<Vec<ConversationPart>, Trouble> {
        if let Some(pointed) =
            read_continuation(self.io, &continuation_name(&one.agent, &one.source_id)).await?
            && let Some(files) = self.open_resumed(&pointed.id).await?
            && let Some(end) = messages.iter().position(|message| message.id == pointed.last_message)
        {
            let messages = messages.split_off(end + 1);
            return Ok(Vec::from([ConversationPart { messages, resumed: Some(files) }]));
        }
        if is_about_store {
            let parts = self.split_at_marks(messages).await?;
            if self.dry_run.is_none()
                && let Some(files) = parts.last().and_then(|part| part.resumed.as_ref())
            {
                self.note_continuation(one, files.id()).await?;
            }
            return Ok(parts);
        }
        // Until the user has said something, the file has only the client's own words, and what began it cannot be
        // told.
        let is_begun = !self.is_ongoing || talk_positions(&messages).next().is_some();
        Ok(is_begun.then_some(ConversationPart { messages, resumed: None }).into_iter().collect())
    }

    // Opens a session by its id; none where it is gone.
    async fn open_resumed(&self, id: &str) -> Result<Option<Rc<SessionFiles>>, Trouble> {
        if self.dry_run.is_some() {
            let Some(place) = self.store.find_place(self.io, id).await? else { return Ok(None) };
            return open_unchanged(self.store, self.io, place).await.map(Some);
        }
        match self.store.open_by_id(self.io, id).await {
            Err(trouble) if trouble.code() == Code::NotFound.as_str() => Ok(None),
            found => found.map(Some),
        }
    }

    // What was said before a session was resumed is the agent's own, and what follows continues that one. What was
    // typed and answered to resume it goes into neither.
    async fn split_at_marks(&self, mut messages: Vec<Message>) -> Result<Vec<ConversationPart>, Trouble> {
        let ResumeMarks { marks, turn_ends: ends, talk_positions } = self.find_marks(&messages).await?;
        // Whoever only looks for a session has said nothing yet.
        let has_talk = |up_to: usize| talk_positions.iter().any(|place| *place < up_to);
        let mut parts = Vec::new();
        for (place, files) in marks.into_iter().rev() {
            let behind = (place + 1).min(messages.len());
            parts.push(ConversationPart { messages: messages.split_off(behind), resumed: Some(files) });
            // Cut after the last answered turn before the mark.
            messages.truncate(ends.iter().rfind(|end| **end < place).map_or(0, |end| end + 1));
        }
        if has_talk(messages.len()) {
            parts.push(ConversationPart { messages, resumed: None });
        }
        parts.reverse();
        parts.retain(|part| !part.messages.is_empty());
        Ok(parts)
    }

    // Searches the client's own record, since no client says at a resume what it calls its conversation.
    async fn find_marks(&self, messages: &[Message]) -> Result<ResumeMarks, Trouble> {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (place, message) in messages.iter().enumerate() {
            // The first fence is the outermost: the history inside may have others.
            if let Some(mark) = find_mark(&to_open_json(message)) {
                places.insert(mark.into(), place);
            }
        }
        let mut marks = Vec::new();
        for (mark, place) in places {
            if let Some(pointed) = read_continuation(self.io, &mark).await?
                && let Some(files) = self.open_resumed(&pointed.id).await?
            {
                marks.push((place, files));
            }
        }
        marks.sort_by_key(|(place, _)| *place);
        let is_end =
            |message: &&Message| message.role == Some(Role::Assistant) && message.tool_calls().is_empty();
        let ends = messages.iter().enumerate().filter(|(_, message)| is_end(message)).map(|(place, _)| place);
        Ok(ResumeMarks {
            marks,
            turn_ends: ends.collect(),
            talk_positions: talk_positions(messages).collect(),
        })
    }
}

// Positions where the user says something that is not about the store.
fn talk_positions(messages: &[Message]) -> impl Iterator<Item = usize> {
    let is = |place: &usize| is_talk(&messages[*place], messages.get(place + 1));
    (0..messages.len()).filter(is)
}

pub(super) async fn read_continuation(io: &Io, name: &str) -> Result<Option<ResumedSession>, Trouble> {
    let bytes = unless_bug(io.read_all(&layout::continuation(name)).await)?.flatten().unwrap_or_default();
    let read = |json| {
        let mut fields = Fields::parse(json).ok()?;
        let mut word = |key: &str| fields.take::<String>(key, &mut Vec::new());
        Some(ResumedSession { id: word("session")?, last_message: word("last").unwrap_or_default() })
    };
    Ok(core::str::from_utf8(&bytes).ok().and_then(read))
}

// Finds the first fence in a text, and returns its name.
fn find_mark(text: &str) -> Option<&str> {
    text.match_indices(FENCE_PREFIX).find_map(|(at, _)| {
        let mark = text.get(at + FENCE_PREFIX.len()..at + FENCE_PREFIX.len() + FENCE_DIGITS)?;
        mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).then_some(mark)
    })
}

// Names the pointer of an agent's session; hashed, so that no name that an agent gave becomes part of a path.
pub(super) fn continuation_name(agent: &str, source_id: &str) -> String {
    let mut name = sha256(format!("{agent}/{source_id}").as_bytes());
    name.truncate(FENCE_DIGITS);
    name
}
