//! Live recording: a plugin says which of its agent's sessions it is in, and gives each message as the agent hands it
//! over. The messages are read by the reader of the agent's files, so that an import of these files later finds them
//! all there.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use super::Importer;
use crate::error::Error;
use crate::interop::import_diff::ImportDiff;
use crate::interop::{AgentName, ImportedSession, opencode};
use crate::json::fields::Fields;
use crate::json::request;
use crate::operation::logs::LogName;
use crate::operation::session_files::SessionFiles;
use crate::operation::store::Store;
use crate::operation::{CountingMode, Io, Operation, Trouble, Work};
use crate::record::event::Parent;

/// A session while a plugin records it.
pub struct LiveRecording {
    files: Rc<SessionFiles>,
    diff: ImportDiff,
    // How much of the log the diff has been fed.
    read_to: u64,
}

/// A session of an agent or another program, as that one knows it.
#[derive(Clone)]
pub(super) struct SessionSource {
    /// An agent's name, or that of a program of one's own.
    pub agent: String,
    pub id: String,
}

/// What a session is created with.
struct SourceRequest {
    source: SessionSource,
    /// The agent's session in which this one was begun, as a sub-agent's.
    parent: Option<String>,
    title: Option<String>,
    model: Option<String>,
}

impl Store {
    /// Opens the session that an agent's session, or another program's, is recorded into, or creates it:
    /// `{"source":{"agent","id","parent"},"title","model"}`, JSON. If a session of the store was resumed in the agent's,
    /// it is that one. Answer: the id of the session.
    pub fn create_from_source(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let SourceRequest { source, parent, title, model } = SourceRequest::from_json(&request)?;
            if let Some(known) = source.find_session(&store, &io).await? {
                return Ok(known);
            }
            let now = io.now_ms();
            let session_id = source.session_id(now);
            let claimed = source.claim(&store, &io, &session_id).await?;
            if claimed.is_some()
                && let Some(known) = source.find_session(&store, &io).await?
            {
                source.end_claims(&io, &session_id).await?;
                return Ok(known);
            }
            let SessionSource { agent, id: source_id } = source.clone();
            let mut importing = Importer::new(&store, &io, CountingMode::Off, false);
            importing.is_ongoing = true;
            let imported = ImportedSession {
                id: session_id,
                parent: parent.map(|id| Parent { session: format!("{agent}/{id}"), call_id: None }),
                agent,
                source_id,
                title,
                model,
                created_ms: Some(now),
                folder: claimed.filter(|project| *project != store.setup.project),
                ..ImportedSession::default()
            };
            let files = importing.open_target_session(&imported, &Rc::default()).await?;
            files.release_lease(&io).await?;
            source.end_claims(&io, &files.id()).await?;
            Ok(files.id())
        })
    }

    /// Records a message in the session of this id, as the agent hands it over: `{"from","message"}`, JSON; or all
    /// messages that the agent has of the session, as a document of its format, once some were taken back. What the
    /// session has is left out, and what has grown since is its next revision. Answer: how many were new, or new
    /// revisions.
    pub fn record_message(
        self: &Rc<Store>,
        id: String,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, usize> {
        let store = self.clone();
        Operation::new(|io| async move {
            let (imported, is_whole) = parse_record_request(&request)?;
            let mut importing = Importer::new(&store, &io, counts, false);
            importing.is_ongoing = true;
            let live = store.live_recordings.borrow_mut().remove(&id);
            let files = match &live {
                Some(live) if store.is_open(&live.files) => live.files.clone(),
                _ => LiveRecording::open_session(&store, &io, &id).await?,
            };
            let kept = Cell::new(live.filter(|live| Rc::ptr_eq(&live.files, &files)));
            let append = || {
                Box::pin(async {
                    let mut live = kept.take().unwrap_or_else(|| LiveRecording::new(files.clone()));
                    live.diff.set_messages(imported.messages.clone(), is_whole);
                    let added = importing.append_from_diff(&files, &mut live.diff, &mut live.read_to).await?;
                    kept.set(Some(live));
                    Ok(added)
                }) as Work<'_, usize>
            };
            // If the session is moved meanwhile, its log is compared again.
            let added = files.retry_after_move(&io, &append).await?;
            // Of an answer that is still being said more will come.
            if added > 0 && !imported.messages.last().is_some_and(|message| message.partial) {
                files.confirm(&io, LogName::Messages, true).await?;
            }
            importing.record_agent(&files, &imported).await?;
            store.live_recordings.borrow_mut().extend(kept.take().map(|live| (id, live)));
            Ok(added)
        })
    }
}

impl LiveRecording {
    /// Closes the session of this id, if messages were recorded in it here: nobody has it open any more.
    pub fn close(store: &Rc<Store>, id: String) -> Operation<'static, ()> {
        let store = store.clone();
        Operation::new(|io| async move {
            let live = store.live_recordings.borrow_mut().remove(&id);
            let Some(live) = live else { return Ok(()) };
            store.close_session(&io, &live.files).await
        })
    }

    fn new(files: Rc<SessionFiles>) -> LiveRecording {
        LiveRecording { files, diff: ImportDiff::for_recording(), read_to: 0 }
    }

    // Opens a session; it is closed with the store.
    async fn open_session(store: &Store, io: &Io, id: &str) -> Result<Rc<SessionFiles>, Trouble> {
        let files = store.open_by_id(io, id).await?;
        store.add_open(&files);
        files.acquire_lease(io).await?;
        Ok(files)
    }
}

// Reads what is to be recorded, and whether it is all that the agent has of the session.
fn parse_record_request(json: &str) -> Result<(ImportedSession, bool), Error> {
    let (mut fields, bad) = (request::parse(json, "from or message")?, &mut Vec::new());
    let agent: Option<String> = fields.take("from", bad);
    request::reject_bad(bad)?;
    let message = fields.take_raw("message").unwrap_or("null");
    match AgentName::parse(agent.as_deref().unwrap_or_default())? {
        AgentName::OpenCode => opencode::read_recorded(message),
        other => Err(request::error(format!(
            "expected opencode for \"from\", but found {} instead: record its sessions from their files",
            other.as_str()
        ))),
    }
}

impl SourceRequest {
    fn from_json(json: &str) -> Result<SourceRequest, Error> {
        let (mut fields, bad) = (request::parse(json, "source, title or model")?, &mut Vec::new());
        let json = fields.take_raw("source").unwrap_or("null");
        let mut source = request::parse(json, "agent, id or parent")?;
        let parent = source.take("parent", bad);
        let source = SessionSource::from_fields(source, json)?;
        let (title, model) = (fields.take("title", bad), fields.take("model", bad));
        request::reject_bad(bad)?;
        if source.id.is_empty() {
            let message =
                format!("expected the agent's id of a session for \"id\", but found {json} instead");
            return Err(request::error(message));
        }
        Ok(SourceRequest { source, parent, title, model })
    }
}

impl SessionSource {
    /// Reads `{"agent","id"}`.
    pub fn from_json(json: &str) -> Result<SessionSource, Error> {
        SessionSource::from_fields(request::parse(json, "agent or id")?, json)
    }

    // Reads what is left of `json`.
    fn from_fields(mut fields: Fields<'_>, json: &str) -> Result<SessionSource, Error> {
        let bad = &mut Vec::new();
        let mut word = |key| fields.take::<String>(key, bad);
        let (agent, id) = (word("agent"), word("id"));
        request::reject_bad(bad)?;
        let (Some(agent), Some(id)) = (agent, id) else {
            let message = format!("expected a source with \"agent\" and \"id\", but found {json} instead");
            return Err(request::error(message));
        };
        AgentName::check_source_name(&agent)?;
        Ok(SessionSource { agent, id })
    }
}
