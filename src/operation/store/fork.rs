//! Forks: a new session that begins as a copy of another one up to a message, with the tool executions that belong to
//! those messages.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Code;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::SessionLocation;
use crate::operation::message_pages::{MessagesRequest, PathMessages, json_array, message_json};
use crate::operation::session_files::SessionFiles;
use crate::operation::tool_executions::ToolResults;
use crate::operation::{AppendRequest, CountingMode, Drafts, Io, Operation, Trouble, unless_bug};
use crate::record::event::{Agent, Change, ForkOrigin, SessionCreation};
use crate::record::id;
use crate::record::message::Message;
use crate::session::change_request::ChangeRequest;
use crate::session::new_session::NewSession;
use crate::session::session_list::ListRequest;

/// Messages in one batch.
const BATCH_MESSAGES: usize = 256;

/// The content of a new fork.
struct ForkContent {
    session_type: String,
    title: String,
    agent: Agent,
    origin: ForkOrigin,
    messages: Vec<Message>,
    /// Tool executions, each as JSON.
    executions: Vec<String>,
}

impl Store {
    /// Forks a session: creates one that begins as a copy of it, up to the message with the id `{"at"}`, JSON, or up
    /// to the last one. Tokens are counted as `counts` says. The fork is open here, with a lease, as after an append.
    pub fn fork(
        self: &Rc<Store>,
        of: Rc<SessionFiles>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, Rc<SessionFiles>> {
        self.begin_fork(of, request, counts, false)
    }

    /// Forks a session, and releases the fork's lease, for callers that keep no session open.
    pub fn fork_released(
        self: &Rc<Store>,
        of: Rc<SessionFiles>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, Rc<SessionFiles>> {
        self.begin_fork(of, request, counts, true)
    }

    fn begin_fork(
        self: &Rc<Store>,
        of: Rc<SessionFiles>,
        request: String,
        counts: CountingMode,
        is_apart: bool,
    ) -> Operation<'static, Rc<SessionFiles>> {
        let store = self.clone();
        Operation::new(move |io| async move {
            of.reject_if_deleted()?;
            // A copy reads the files in every host: the open handle hears of nothing earlier by that.
            let of = of.unopened_copy();
            let files = store.fork_session(&io, &of, parse_fork_point(&request)?, counts).await?;
            if is_apart {
                files.release_lease(&io).await?;
            } else {
                store.add_open(&files);
            }
            Ok(files)
        })
    }

    async fn fork_session(
        &self,
        io: &Io,
        of: &SessionFiles,
        at: Option<String>,
        counts: CountingMode,
    ) -> Result<Rc<SessionFiles>, Trouble> {
        let mut copy = of.copy_for_fork(io, at).await?;
        copy.title = find_free_title(self, io, &copy.title).await?;
        let id = id::new(&io.stamp(), 0);
        let place = SessionLocation::Home { project: self.project_hash.clone(), id: id.clone() };
        let files = self.unopened_session(&place, "");
        let written = self.write_fork(io, &files, id, (copy, counts)).await;
        if written.is_err() {
            // Remove it, for nobody knows of it yet.
            unless_bug(files.release_lease(io).await)?;
            unless_bug(io.remove(&place.folder()).await)?;
        }
        written.map(|()| files)
    }

    async fn write_fork(
        &self,
        io: &Io,
        files: &Rc<SessionFiles>,
        session: String,
        (copy, counts): (ForkContent, CountingMode),
    ) -> Result<(), Trouble> {
        let created = SessionCreation {
            session,
            session_type: copy.session_type,
            project: Some(self.describe_project(io).await?),
            agent: Some(copy.agent),
            ..SessionCreation::default()
        };
        let then = Vec::from([ChangeRequest::from(Change::Fork(copy.origin))]);
        files.begin_session(io, NewSession::new(created, Some(copy.title)).with_changes(then)).await?;
        files.acquire_lease(io).await?;
        // A copy resumes no session, and one flush confirms all of it.
        let by = |drafts| AppendRequest { drafts, is_durable: false, revives: false, counts: counts.clone() };
        for batch in copy.messages.chunks(BATCH_MESSAGES) {
            let json = json_array(batch.iter().flat_map(message_lines));
            let drafts = Drafts::Copies(String::from_utf8_lossy(&json).into());
            files.append_drafts(io, &by(drafts)).await?;
        }
        files.flush_files(io, true).await?;
        files.copy_executions(io, &copy.executions).await
    }
}

// Returns a title that no other session of the project has, so that lists show which is which.
async fn find_free_title(store: &Store, io: &Io, title: &str) -> Result<String, Trouble> {
    let mut wanted = ListRequest::from_json(r#"{"type":null,"archived":null}"#)?;
    wanted.keeps_idle = true;
    let listed = store.list_matching(io, &wanted).await?;
    let taken: BTreeSet<&str> = listed.iter().map(|one| one.entry.title.as_str()).collect();
    let title = without_fork_suffix(title);
    let numbered = |number: usize| match number {
        1 => format!("{title} (fork)"),
        _ => format!("{title} (fork {number})"),
    };
    // Of one title more than are taken, one is free.
    let mut titles = (1..=taken.len() + 1).map(numbered);
    Ok(titles.find(|one| !taken.contains(one.as_str())).unwrap_or_default())
}

// A fork of a fork gets the next number, not a second suffix.
fn without_fork_suffix(title: &str) -> &str {
    let is_number = |text: &str| {
        text.is_empty() || text.strip_prefix(' ').is_some_and(|text| text.parse::<u32>().is_ok())
    };
    let parts = title.strip_suffix(')').and_then(|title| title.rsplit_once(" (fork"));
    parts.filter(|(_, number)| is_number(number)).map_or(title, |(title, _)| title)
}

// Writes a revised message twice, first without its revision: whoever reads a log backward looks for a revision's
// first line.
fn message_lines(message: &Message) -> impl Iterator<Item = String> {
    let first = (message.rev > 0).then(|| message_json(&Message { rev: 0, ..message.clone() }, true));
    first.into_iter().chain([message_json(message, true)])
}

fn parse_fork_point(request: &str) -> Result<Option<String>, Trouble> {
    let (mut fields, bad) = (request::parse(request, "at")?, &mut Vec::new());
    let at = fields.take("at", bad);
    request::reject_bad(bad)?;
    Ok(at)
}

impl SessionFiles {
    async fn copy_for_fork(&self, io: &Io, at: Option<String>) -> Result<ForkContent, Trouble> {
        let shown = self.shown_folder();
        io.take_turn_of(&shown).await?;
        self.refresh_after_move(io).await?;
        io.end_turn_of(&shown);
        self.reject_newer()?;
        let (session_type, title, agent) = self.with_session(|session| {
            let metadata = session.metadata();
            let title = metadata.title(&session.log_state().titles);
            let mut agent = metadata.agent.clone();
            // Empty fields count as absent.
            agent.provider.take_if(|provider| provider.is_empty());
            agent.model.take_if(|model| model.is_empty());
            agent.context_window.take_if(|window| *window == 0);
            (metadata.session_type.clone(), title, agent)
        });
        let messages = self.read_messages_to(io, at.as_ref()).await?;
        let Some(last) = messages.last().filter(|last| at.as_ref().is_none_or(|at| *at == last.id)) else {
            let message = match at {
                Some(at) => format!("no message {} in this session to fork at", to_json(&at)),
                None => "the session has no message to fork at".into(),
            };
            return Err(Trouble::new(Code::NotFound, message));
        };
        let origin = ForkOrigin { session: self.id(), message_id: last.id.clone() };
        let executions = self.find_executions(io, &messages).await?;
        Ok(ForkContent { session_type, title, agent, origin, messages, executions })
    }

    async fn read_messages_to(&self, io: &Io, at: Option<&String>) -> Result<Vec<Message>, Trouble> {
        let reading = MessagesRequest { leaf: at.cloned(), ..MessagesRequest::default() };
        let mut path = PathMessages::begin(self, io, reading).await?;
        let mut messages = Vec::new();
        while let Some(some) = path.next().await? {
            for (message, _) in some {
                let is_last = at == Some(&message.id);
                messages.push(message);
                if is_last {
                    return Ok(messages);
                }
            }
        }
        Ok(messages)
    }

    // Finds the tool executions whose results are among these messages.
    async fn find_executions(&self, io: &Io, messages: &[Message]) -> Result<Vec<String>, Trouble> {
        let mut answers = ToolResults::default();
        answers.add_messages(messages);
        let ids: BTreeSet<_> = messages.iter().map(|message| &*message.id).collect();
        let mut executed = Box::pin(self.executions_with_results(io)).await?;
        executed.retain(|(one, _)| {
            let is_to = |owner| answers.result_of(owner, &one.tool_call_id).is_some();
            match one.message_id.as_deref().filter(|id| !id.is_empty()) {
                None => is_to(None),
                // Another answer may give its call the same id; and imported results may belong to calls that their
                // source did not have.
                Some(owner) => is_to(Some(owner)) || is_to(Some("")) && ids.contains(owner),
            }
        });
        Ok(executed.into_iter().map(|(_, json)| json).collect())
    }
}
