//! Pages through all messages of a session; each page is asked for once the one before is used up. So a session of
//! any length takes the memory of a page.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::logs::LogName;
use super::messages::MessageStream;
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble};
use crate::error::Code;
use crate::json::request;
use crate::json::text::{to_json, to_open_json};
use crate::record::message::Message;
use crate::session::branch::BranchPath;
use crate::session::handle::Session;

/// How often a followed log is looked at. That costs some microseconds, and works where the system reports no
/// changes: on network filesystems.
const POLL_INTERVAL_MS: u32 = 50;

// The last bytes of a log that tell whether it is the same one.
const TAIL_BYTES: u64 = 4 << 10;

/// Which messages are wanted, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesRequest {
    /// Newest first.
    pub newest_first: bool,
    /// The last message of the wanted path; the current path without it.
    pub leaf: Option<String>,
    /// Also messages of other paths, marked.
    pub all_branches: bool,
}

impl MessagesRequest {
    /// Reads `{"newestFirst","leaf","allBranches"}`.
    fn from_json(json: &str) -> Result<MessagesRequest, Trouble> {
        let (mut fields, bad) = (request::parse(json, "newestFirst, leaf or allBranches")?, &mut Vec::new());
        let reading = MessagesRequest {
            newest_first: fields.take("newestFirst", bad).unwrap_or_default(),
            leaf: fields.take("leaf", bad),
            all_branches: fields.take("allBranches", bad).unwrap_or_default(),
        };
        request::reject_bad(bad)?;
        Ok(reading)
    }
}

/// Streams the messages of a path. The path stays what it was, whatever is appended meanwhile.
pub(super) struct PathMessages<'a> {
    messages: MessageStream<'a>,
    session: Rc<RefCell<Session>>,
    // The path, where the log has more than one.
    path: Option<BranchPath>,
    all_branches: bool,
    // The requested leaf, until it is found.
    missing_leaf: Option<String>,
}

impl<'a> PathMessages<'a> {
    pub async fn begin(
        files: &'a SessionFiles,
        io: &'a Io,
        reading: MessagesRequest,
    ) -> Result<PathMessages<'a>, Trouble> {
        let begun = || async {
            files.observe_present_logs(io).await?;
            let session = files.session();
            let path = session.borrow().path(reading.leaf.as_deref());
            Ok((session, path, files.seen_size(LogName::Messages)))
        };
        let (session, path, end) = files.run_in_turn(io, &|| Box::pin(begun())).await?;
        let messages = match reading.newest_first {
            true => MessageStream::newest_first(files, io, end),
            false => MessageStream::oldest_first(files, io, end).await?,
        };
        Ok(PathMessages {
            messages,
            session,
            path,
            all_branches: reading.all_branches,
            missing_leaf: reading.leaf,
        })
    }

    /// The next messages, each with whether it lies on the path; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<(Message, bool)>>, Trouble> {
        while let Some(some) = self.messages.next().await? {
            if self.missing_leaf.as_ref().is_some_and(|leaf| some.iter().any(|message| message.id == *leaf)) {
                self.missing_leaf = None;
            }
            let session = self.session.borrow();
            let is_on = |id: &str| self.path.as_ref().is_none_or(|path| session.is_on(path, id));
            let found: Vec<(Message, bool)> = some
                .into_iter()
                .map(|message| (is_on(&message.id), message))
                .filter(|(is_on, _)| *is_on || self.all_branches)
                .map(|(is_on, message)| (message, is_on))
                .collect();
            if !found.is_empty() {
                return Ok(Some(found));
            }
        }
        match &self.missing_leaf {
            Some(leaf) => Err(no_message_error(leaf)),
            None => Ok(None),
        }
    }
}

impl SessionFiles {
    /// Pages through the messages of a path, as contexts have them: each once, as its highest revision. `asked` is
    /// `{"newestFirst","leaf","allBranches"}`, JSON. Each page is a JSON array; a message of another path has
    /// `"onPath":false`.
    pub fn messages(self: &Rc<SessionFiles>, request: String) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move {
            let mut messages =
                PathMessages::begin(&files, &io, MessagesRequest::from_json(&request)?).await?;
            while let Some(some) = messages.next().await? {
                io.write_page(json_array(some.iter().map(|(message, is_on)| message_json(message, *is_on))))
                    .await?;
            }
            Ok(())
        })
    }

    // Reads the last bytes before an offset in the messages.
    async fn last_bytes(&self, io: &Io, end: u64) -> Result<Vec<u8>, Trouble> {
        io.read_range(&self.log_file(LogName::Messages), end.saturating_sub(TAIL_BYTES), end).await
    }

    /// Rejects the id of a message that is on none of the session's paths.
    pub(super) async fn reject_unknown_message(&self, io: &Io, id: &str) -> Result<(), Trouble> {
        self.observe_present_logs(io).await?;
        if self.has_message(io, id).await? { Ok(()) } else { Err(no_message_error(id)) }
    }

    /// Whether the log, as far as it was observed, has a message.
    pub(super) async fn has_message(&self, io: &Io, id: &str) -> Result<bool, Trouble> {
        let mut messages = MessageStream::newest_first(self, io, self.seen_size(LogName::Messages));
        while let Some(some) = messages.next().await? {
            if some.iter().any(|message| message.id == id) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Follows the log: pages of messages appended from now on, as of `messages`; it ends when it is dropped.
    pub fn follow(self: &Rc<SessionFiles>) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move {
            let mut seen = files.size(&io, LogName::Messages).await?;
            let mut messages = MessageStream::starting_at(&files, &io, seen);
            let (mut opened, mut before) = (files.opened_times(), files.last_bytes(&io, seen).await?);
            loop {
                let size = files.size(&io, LogName::Messages).await?;
                if size != core::mem::replace(&mut seen, size) {
                    let known = || async {
                        files.observe_present_logs(&io).await?;
                        Ok(files.with_session(|session| session.log_state().bytes))
                    };
                    let end = files.run_in_turn(&io, &|| Box::pin(known())).await?;
                    // The session was moved, or has another log: then nobody knows which of its messages were
                    // delivered.
                    if files.opened_times() != core::mem::replace(&mut opened, files.opened_times()) {
                        let now = files.last_bytes(&io, messages.offset()).await?;
                        // During a move there may be nothing for a moment.
                        if !before.is_empty() && !now.is_empty() && before != now {
                            return Err(files.replaced_error(LogName::Messages));
                        }
                    }
                    while messages.feed_up_to(end).await? {
                        while let Some(some) = messages.next().await? {
                            io.write_page(json_array(some.iter().map(|message| message_json(message, true))))
                                .await?;
                        }
                    }
                    before = files.last_bytes(&io, messages.offset()).await?;
                }
                io.wait(POLL_INTERVAL_MS).await?;
            }
        })
    }
}

pub(super) fn message_json(message: &Message, is_on_path: bool) -> String {
    let mut json = to_open_json(message);
    if !is_on_path {
        json.pop();
        json.push_str(",\"onPath\":false}");
    }
    json
}

pub(super) fn json_array(items: impl Iterator<Item = String>) -> Vec<u8> {
    let mut all = Vec::from(b"[");
    for item in items {
        if all.len() > 1 {
            all.push(b',');
        }
        all.extend(item.into_bytes());
    }
    all.push(b']');
    all
}

fn no_message_error(id: &str) -> Trouble {
    let message = format!("no message {} in this session", to_json(id));
    Trouble::new(Code::NotFound, message)
}
