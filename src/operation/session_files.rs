//! An open session in step with its files: the logs, the document beside them, the checkpoint.
//!
//! A session in the home is named by its folder where no event says its id: it is found although the line that began
//! it was lost, and a forged id is no path.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::checkpoint_cache::{VerifiedFiles, parse_single_message};
use super::io::Chance;
use super::join::collect_responses;
use super::lease::OwnLease;
use super::logs::{LogFile, LogName};
use super::store::Store;
use super::{FileKind, Io, Operation, Trouble};
use crate::context::{FrameName, Recollection};
use crate::layout::names::{self, CachedKind as Cached};
use crate::layout::{File, Placement, Root, SESSION_PREFIX};
use crate::record::id;
use crate::session::documents::{DocumentName, find_heading};
use crate::session::handle::Session;

/// Bytes of a log that are read at once.
pub(super) const READ_BYTES: u64 = 256 * 1024;
// Bytes read at once to find the titles, which come from a session's first messages.
const TITLE_READ_BYTES: u64 = 16 << 10;
/// A log of fewer bytes is read as fast as a checkpoint.
pub(super) const MIN_CHECKPOINT_BYTES: u64 = 64 * 1024;
/// While messages are appended, events that others wrote are read at most once in so many milliseconds.
const EVENT_REFRESH_MS: i64 = 50;
/// A heading farther into the Markdown does not count.
const HEADING_HEAD_BYTES: u64 = 64 * 1024;

/// A session and the state of its files, shared by the operations on it: those of one session run one after another,
/// as the host gives them their turns.
pub struct SessionFiles {
    place: RefCell<ShownFolder>,
    cache: File,
    id: RefCell<String>,
    // Inner `Rc`: an operation that still reads while the session is opened anew keeps the state that it began with.
    session: RefCell<Rc<RefCell<Session>>>,
    pub(super) logs: [RefCell<LogFile>; 3],
    pub(super) verified: RefCell<VerifiedFiles>,
    pub(super) lease: RefCell<OwnLease>,
    /// Further requests for a deleted session are refused, even where a copy of it reappears.
    pub(super) is_deleted: Cell<bool>,
    pub(super) is_open: Cell<bool>,
    /// The document is missing, or does not say what it should.
    pub(super) is_stale: Cell<bool>,
    /// The log was read from its start, so a checkpoint is worth writing.
    pub(super) was_read_whole: Cell<bool>,
    /// Messages were appended that the document does not count yet.
    pub(super) has_new_messages: Cell<bool>,
    events_checked_ms: Cell<i64>,
    /// Random bytes of the last append.
    pub(super) chance: RefCell<Option<Chance>>,
    pub(super) was_staged: Cell<bool>,
    opened_times: Cell<u32>,
    /// What was recalled last, with the count of openings and of revisions at that time.
    pub(super) cached_recollection: RefCell<Option<((u32, u64), Recollection)>>,
    /// The frames of contexts that were made here, or verified, with the count of openings at that time: while a
    /// session is open, it changes by appends alone.
    pub(super) verified_frames: RefCell<Vec<(u32, FrameName)>>,
    // Warnings for whoever opened the session, each JSON.
    notices: RefCell<Vec<String>>,
    // The session's store, which finds it after a move and indexes its messages for search.
    store: RefCell<Weak<Store>>,
}

/// A folder, and its path as shown to people.
#[derive(Clone)]
pub(super) struct ShownFolder {
    pub folder: File,
    pub shown_path: String,
}

impl SessionFiles {
    /// Makes an unread session of a folder. `shown` is the folder's path as shown to people, `cache` the folder of
    /// derived files, `id` the session's id, where it was opened before.
    pub fn new(folder: File, shown: String, cache: File, id: &str) -> Rc<SessionFiles> {
        Rc::new(SessionFiles {
            place: RefCell::new(ShownFolder { folder, shown_path: shown }),
            cache,
            id: RefCell::new(id.into()),
            session: RefCell::new(Rc::new(RefCell::new(Session::new(None)))),
            logs: Default::default(),
            verified: RefCell::default(),
            lease: RefCell::new(OwnLease::of(!id.is_empty())),
            is_deleted: Cell::new(false),
            is_open: Cell::new(false),
            is_stale: Cell::new(false),
            was_read_whole: Cell::new(false),
            has_new_messages: Cell::new(false),
            events_checked_ms: Cell::new(0),
            chance: RefCell::default(),
            was_staged: Cell::new(false),
            opened_times: Cell::new(0),
            cached_recollection: RefCell::default(),
            verified_frames: RefCell::default(),
            notices: RefCell::default(),
            store: RefCell::default(),
        })
    }

    /// Connects it to its store.
    pub(super) fn set_store(&self, store: &Weak<Store>) {
        self.store.replace(store.clone());
    }

    pub(super) fn store(&self) -> Option<Rc<Store>> {
        self.store.borrow().upgrade()
    }

    /// Opens it: reads what came after its checkpoint, or all. Returns its id.
    pub fn open(self: &Rc<SessionFiles>) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            files.open_files(&io).await?;
            Ok(files.id())
        })
    }

    /// Takes in what others wrote since the last look: messages, events, and edits of the document.
    pub fn refresh(self: &Rc<SessionFiles>) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move { files.refresh_after_move(&io).await })
    }

    /// Takes in what others appended: messages and events.
    pub fn refresh_logs(self: &Rc<SessionFiles>) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move {
            files.retry_after_move(&io, &|| Box::pin(files.observe_present_logs(&io))).await
        })
    }

    /// Returns the warnings for whoever opened it, as far as known by now: a JSON array of `{"code","message"}` that
    /// grows.
    pub fn notices(&self) -> String {
        format!("[{}]", self.notices.borrow().join(","))
    }

    pub(super) fn add_notice(&self, notice: String) {
        self.notices.borrow_mut().push(notice);
    }

    /// Whether this was the last warning.
    pub(super) fn is_last_notice(&self, notice: &str) -> bool {
        self.notices.borrow().last().is_some_and(|last| last == notice)
    }

    /// Its id; empty until it was opened or begun.
    pub fn id(&self) -> String {
        self.id.borrow().clone()
    }

    /// Its state in memory. Opening it anew makes another one.
    pub fn session(&self) -> Rc<RefCell<Session>> {
        self.session.borrow().clone()
    }

    /// How often it was opened; each opening makes another `Session`.
    pub fn opened_times(&self) -> u32 {
        self.opened_times.get()
    }

    /// A version for recalled quotes: they hold as long as it is the same.
    pub(super) fn recall_version(&self) -> (u32, u64) {
        (self.opened_times(), self.with_session(|session| session.revision_count()))
    }

    /// Whether nothing is recorded of it yet: no event, no message, no edit of its document.
    pub fn is_empty(&self) -> bool {
        let is_unsaid = self
            .with_session(|session| session.metadata().as_of.is_none() && session.log_state().messages == 0);
        is_unsaid && !self.has_due_changes()
    }

    /// Its folder, as far as known.
    pub fn folder(&self) -> File {
        self.place.borrow().folder.clone()
    }

    /// The folder's path as shown to people.
    pub fn shown_folder(&self) -> String {
        self.place.borrow().shown_path.clone()
    }

    /// Whether its document is missing, or does not say what it should.
    pub fn is_stale(&self) -> bool {
        self.is_stale.get()
    }

    /// Whether an event must be written before the next message: for an edit of the document, or because a paused
    /// session goes on.
    pub fn has_due_changes(&self) -> bool {
        self.with_session(|session| {
            session.has_unrecorded() || session.metadata().status.as_str() == "paused"
        })
    }

    /// Whether the last append got as far as staging its messages: a failure after that is not due to them.
    pub fn was_staged(&self) -> bool {
        self.was_staged.get()
    }

    pub(super) fn with_session<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        work(&mut self.session.borrow().borrow_mut())
    }

    /// Rejects a session that a newer version wrote to. It can be read; but writing to it, moving it or making
    /// another session of it would lose what this version does not know.
    pub(super) fn reject_newer(&self) -> Result<(), Trouble> {
        Ok(self.with_session(|session| session.reject_newer())?)
    }

    pub(super) fn move_to(&self, folder: File, shown: String) {
        self.place.replace(ShownFolder { folder, shown_path: shown });
        self.verified.borrow_mut().blob_ids.clear();
        for log in &self.logs {
            log.take();
        }
    }

    /// The same session, with nothing read yet.
    pub fn unopened_copy(&self) -> Rc<SessionFiles> {
        let files = SessionFiles::new(self.folder(), self.shown_folder(), self.cache.clone(), &self.id());
        files.set_store(&self.store.borrow());
        files.is_deleted.set(self.is_deleted.get());
        // The copy is opened once.
        let verified = self.verified_frames.borrow();
        let verified = verified.iter().filter(|(times, _)| *times == self.opened_times());
        files.verified_frames.replace(verified.map(|(_, name)| (1, name.clone())).collect());
        files
    }

    pub(super) fn begin_with_id(&self, id: &str) {
        self.reset_session();
        self.set_id(id);
    }

    // Forgets all that was observed.
    fn reset_session(&self) {
        for log in &self.logs {
            log.borrow_mut().forget();
        }
        let folder = self.folder();
        let named = if self.placement() == Placement::Home { id_from_folder(&folder) } else { "" };
        self.session.replace(Rc::new(RefCell::new(Session::new(None).with_id(named))));
        self.is_open.set(true);
        self.opened_times.set(self.opened_times.get() + 1);
    }

    pub(super) fn set_id(&self, id: &str) {
        self.id.replace(id.into());
    }

    pub(super) async fn open_files(&self, io: &Io) -> Result<(), Trouble> {
        self.reset_session();
        let document = self.read_document(io).await?;
        self.observe_whole(io, LogName::Events).await?;
        self.take_document(document.as_deref());
        let id = self.resolve_id(io, document.as_deref()).await?;
        self.set_id(&id);
        let believed = self.load_checkpoint(io).await?;
        let has_checkpoint = believed.is_some();
        if let Some((checkpoint, was_read)) = believed {
            let is_worth_it = was_read && self.size(io, LogName::Messages).await? > MIN_CHECKPOINT_BYTES;
            self.was_read_whole.set(self.was_read_whole.get() || is_worth_it);
            self.with_session(|session| session.begin_at(checkpoint));
        }
        self.observe_whole(io, LogName::Messages).await?;
        if !has_checkpoint {
            self.was_read_whole.set(self.end(LogName::Messages) > MIN_CHECKPOINT_BYTES);
        }
        self.finish_opening(io, document.as_deref()).await?;
        self.complete_opening(io).await
    }

    // For a checkpoint that does not match what came after it.
    async fn open_without_checkpoint(&self, io: &Io) -> Result<(), Trouble> {
        self.reset_session();
        self.with_session(|session| session.set_id(&self.id()));
        self.observe_whole(io, LogName::Events).await?;
        self.observe_whole(io, LogName::Messages).await?;
        let document = self.read_document(io).await?;
        self.finish_opening(io, document.as_deref()).await?;
        self.was_read_whole.set(true);
        Ok(())
    }

    /// Opens it again where it was not open, or where the whole log is needed.
    pub(super) async fn complete_opening(&self, io: &Io) -> Result<(), Trouble> {
        self.ensure_open(io).await?;
        if self.with_session(|session| session.needs_whole_log()) {
            Box::pin(self.open_without_checkpoint(io)).await?;
        }
        while self.with_session(|session| session.needs_titles()) {
            Box::pin(self.fold_next(io, TITLE_READ_BYTES)).await?;
        }
        Ok(())
    }

    pub(super) async fn ensure_open(&self, io: &Io) -> Result<(), Trouble> {
        match (self.is_open.get(), self.opened_times.get()) {
            (true, _) => Ok(()),
            (false, 0) => Box::pin(self.open_files(io)).await,
            (false, _) if Box::pin(self.reopen(io)).await? && self.is_open.get() => Ok(()),
            (false, _) => Err(self.moved_error()),
        }
    }

    pub(super) async fn observe_logs(&self, io: &Io) -> Result<(), Trouble> {
        self.ensure_open(io).await?;
        let logs = [LogName::Events, LogName::Messages].map(|log| (log, self.log_file(log)));
        let looks = logs.iter().map(|(_, file)| io.stat(file)).collect();
        for ((log, _), found) in logs.iter().zip(collect_responses(looks).await) {
            self.observe_stat(io, *log, found?).await?;
        }
        self.complete_opening(io).await
    }

    /// The same for a session whose folder exists. Where something of it was read, that has been seen already.
    pub(super) async fn observe_present_logs(&self, io: &Io) -> Result<(), Trouble> {
        self.observe_logs(io).await?;
        let was_read = self.end(LogName::Events) > 0 || self.end(LogName::Messages) > 0;
        let is_there = was_read || io.stat(&self.folder()).await?.is_some();
        if is_there { Ok(()) } else { Err(self.moved_error()) }
    }

    pub(super) async fn refresh_files(&self, io: &Io) -> Result<(), Trouble> {
        self.observe_logs(io).await?;
        self.reread_document(io).await
    }

    /// The same after a move, or after others replaced the files that were read.
    pub(super) async fn refresh_after_move(&self, io: &Io) -> Result<(), Trouble> {
        self.retry_after_move(io, &|| Box::pin(self.refresh_files(io))).await
    }

    /// Takes in others' events, at most a moment late: to look before each message would cost too much.
    pub(super) async fn observe_events_sometimes(&self, io: &Io) -> Result<(), Trouble> {
        let now_ms = io.now_ms();
        if (now_ms - self.events_checked_ms.get()).abs() < EVENT_REFRESH_MS {
            return Ok(());
        }
        self.events_checked_ms.set(now_ms);
        Box::pin(self.observe(io, LogName::Events)).await?;
        Ok(())
    }

    pub(super) async fn observe_and_fold(&self, io: &Io) -> Result<(), Trouble> {
        self.observe_logs(io).await?;
        self.fold_messages(io).await
    }

    pub(super) async fn fold_messages(&self, io: &Io) -> Result<(), Trouble> {
        while self.fold_next(io, READ_BYTES).await? {}
        Ok(())
    }

    // Folds the next piece; true if there was something to fold.
    async fn fold_next(&self, io: &Io, piece: u64) -> Result<bool, Trouble> {
        let file = self.log_file(LogName::Messages);
        let Some(span) = self.with_session(|session| session.unfolded_span()) else { return Ok(false) };
        let bytes = io.read_range(&file, span.start, span.end.min(span.start + piece)).await?;
        if bytes.is_empty() {
            return Err(self.shrunk_error(LogName::Messages, span.end, span.start));
        }
        self.with_session(|session| session.fold_bytes(&bytes));
        Ok(true)
    }

    /// Its placement.
    pub fn placement(&self) -> Placement {
        let is_in_workspace = matches!(self.place.borrow().folder.root, Root::Workspace(_));
        if is_in_workspace { Placement::Workspace } else { Placement::Home }
    }

    pub(super) fn cached_file(&self, what: Cached) -> File {
        self.cache.child(&names::cached_name(&self.id.borrow(), what))
    }

    async fn finish_opening(&self, io: &Io, document: Option<&[u8]>) -> Result<(), Trouble> {
        if self.document_name() == DocumentName::SessionJson {
            let heading = self.read_heading(io).await?;
            self.with_session(|session| session.set_heading(heading));
        }
        self.take_document(document);
        Ok(())
    }

    // Reads the heading of the conversation's Markdown: of the file named like the session's type, else of the first
    // one.
    async fn read_heading(&self, io: &Io) -> Result<Option<String>, Trouble> {
        let folder = self.folder().folder();
        let entries = io.list(&folder).await?.unwrap_or_default();
        let is_markdown = |name: &str| name.ends_with(".md");
        let names: Vec<String> = entries
            .into_iter()
            .filter(|entry| entry.kind == FileKind::File && is_markdown(&entry.name))
            .map(|entry| entry.name)
            .collect();
        let own = self.with_session(|session| format!("{}.md", session.metadata().session_type));
        let Some(name) = names.iter().find(|name| **name == own).or(names.first()) else { return Ok(None) };
        let text = io.read(&folder.child(name), 0, Some(HEADING_HEAD_BYTES)).await?.unwrap_or_default();
        Ok(find_heading(&String::from_utf8_lossy(&text)).map(ToString::to_string))
    }

    // Finds the id that its folder, an event or the document says; one that cannot name a file is ignored.
    async fn resolve_id(&self, io: &Io, document: Option<&[u8]>) -> Result<String, Trouble> {
        let own_id = self.with_session(|session| session.metadata().id.clone());
        if id::is_safe(&own_id) {
            return Ok(own_id);
        }
        let folder = self.folder();
        let id = match self.placement() {
            Placement::Home => id_from_folder(&folder).into(),
            Placement::Workspace if !own_id.is_empty() => id::from_parts(&[own_id.as_bytes()]),
            Placement::Workspace => match self.read_first_line(io).await?.as_deref().or(document) {
                Some(known) => id::from_parts(&[known]),
                // After a move, the id by which it is found there.
                None if !self.id().is_empty() => self.id(),
                None => id::from_parts(&[b""]),
            },
        };
        self.with_session(|session| session.set_id(&id));
        Ok(id)
    }

    /// Reads the id of the first message of its log; empty where it has none.
    pub(super) async fn first_message_id(&self, io: &Io) -> Result<String, Trouble> {
        let line = self.read_first_line(io).await?.unwrap_or_default();
        Ok(parse_single_message(&line).map(|message| message.id).unwrap_or_default())
    }

    /// Reads the first line of its messages; `None` where there is none.
    pub(super) async fn read_first_line(&self, io: &Io) -> Result<Option<Vec<u8>>, Trouble> {
        let size = self.size(io, LogName::Messages).await?;
        let file = self.log_file(LogName::Messages);
        let mut line = Vec::new();
        while (line.len() as u64) < size {
            let at = line.len() as u64;
            let bytes = io.read(&file, at, Some(size.min(at + READ_BYTES))).await?.unwrap_or_default();
            if bytes.is_empty() {
                return Err(self.shrunk_error(LogName::Messages, size, at));
            }
            if let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
                line.extend(&bytes[..end]);
                return Ok(Some(line));
            }
            line.extend(bytes);
        }
        Ok((size > 0).then_some(line))
    }
}

impl core::fmt::Debug for SessionFiles {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Live").field("id", &self.id).field("folder", &self.folder()).finish_non_exhaustive()
    }
}

/// The id in the name of a session's folder in the home.
fn id_from_folder(folder: &File) -> &str {
    let name = folder.name();
    name.strip_prefix(SESSION_PREFIX).unwrap_or(name)
}
