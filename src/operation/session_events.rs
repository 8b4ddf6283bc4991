//! Writes a session's events, and the document that is derived from them.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::logs::LogName;
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble, unless_bug};
use crate::record::event::Change;
use crate::record::status::Status;
use crate::session::change_request::ChangeRequest;
use crate::session::documents::DocumentName;
use crate::session::new_session::NewSession;
use crate::time;

impl SessionFiles {
    /// Begins a session of which nothing is on disk yet: `created` as in [`NewSession::from_json`].
    pub fn begin(self: &Rc<SessionFiles>, created: String) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move { files.begin_session(&io, NewSession::from_json(&created)?).await })
    }

    pub(super) async fn begin_session(&self, io: &Io, begin: NewSession) -> Result<(), Trouble> {
        self.begin_log(io, begin).await?;
        self.save_document(io).await
    }

    // Begins the session without its document.
    pub(super) async fn begin_log(&self, io: &Io, begin: NewSession) -> Result<(), Trouble> {
        self.begin_with_id(begin.id());
        let stamp = io.stamp();
        let bytes = self.with_session(|session| session.stage_changes(begin.into_changes(&stamp), &stamp))?;
        self.append(io, LogName::Events, bytes, (true, true)).await
    }

    /// Records changes as events, JSON as in [`ChangeRequest::from_json`], against the session as it is now, whoever
    /// changed it.
    pub fn record_changes(self: &Rc<SessionFiles>, request: String) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move {
            let request = ChangeRequest::from_json(&request)?;
            files
                .retry_after_move(&io, &|| {
                    Box::pin(async {
                        for ask in &request {
                            if let Change::Pin(subject) = &ask.change {
                                Box::pin(files.reject_unknown_message(&io, &subject.message_id)).await?;
                            }
                        }
                        files.refresh_and_record(&io, request.clone()).await
                    })
                })
                .await
        })
    }

    /// Makes the disk confirm all that was appended, and writes what is derived. `learns`: fold what came since
    /// first.
    pub fn flush(self: &Rc<SessionFiles>, learns: bool) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(move |io| async move {
            if files.is_deleted.get() { Ok(()) } else { files.flush_files(&io, learns).await }
        })
    }

    pub(super) async fn flush_files(&self, io: &Io, learns: bool) -> Result<(), Trouble> {
        self.retry_after_move(io, &|| {
            Box::pin(async {
                self.confirm(io, LogName::Messages, true).await?;
                self.write_derived(io, learns).await
            })
        })
        .await
    }

    /// Removes this process's lease, and writes what is derived.
    pub fn close(self: &Rc<SessionFiles>) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move {
            if files.is_deleted.get() { Ok(()) } else { files.close_files(&io).await }
        })
    }

    pub(super) async fn close_files(&self, io: &Io) -> Result<(), Trouble> {
        self.release_lease(io).await?;
        self.retry_after_move(io, &|| Box::pin(self.write_derived(io, true))).await
    }

    /// Pauses an idle session, dated when it was last active. Returns that time; `None` where it is not idle.
    pub(super) async fn pause_idle(&self, io: &Io, idle_ms: i64) -> Result<Option<String>, Trouble> {
        self.retry_after_move(io, &|| {
            Box::pin(async {
                self.refresh_files(io).await?;
                let Some(last_ms) = self.idle_since(io.now_ms(), idle_ms) else { return Ok(None) };
                let last = time::format(last_ms);
                let paused = Change::Status { status: Status::Paused, reason: Some("idle".into()) };
                let request = ChangeRequest { timestamp: Some(last.clone()), ..ChangeRequest::from(paused) };
                self.record_now(io, Vec::from([request])).await?;
                Ok(Some(last))
            })
        })
        .await
    }

    /// Since when nothing happened to an active session, if longer than `idle_ms`.
    pub(super) fn idle_since(&self, now_ms: i64, idle_ms: i64) -> Option<i64> {
        let is_active = self.with_session(|session| session.metadata().status == Status::Active);
        self.last_active_ms().filter(|ms| is_active && now_ms - ms > idle_ms)
    }

    // When the last message was said, or the session was resumed; else when it began.
    fn last_active_ms(&self) -> Option<i64> {
        self.with_session(|session| {
            let created = || session.metadata().created_at.as_deref().and_then(time::parse);
            let active_ms = session.log_state().last_message_ms.or_else(created);
            active_ms.max(session.reactivated_at().and_then(time::parse))
        })
    }

    pub(super) async fn refresh_and_record(
        &self,
        io: &Io,
        changes: Vec<ChangeRequest>,
    ) -> Result<(), Trouble> {
        self.refresh_files(io).await?;
        let is_archived = self.with_session(|session| session.metadata().archived_at.is_some());
        let is_news = |ask: &ChangeRequest| match ask.change {
            Change::Archived => !is_archived,
            Change::Unarchived => is_archived,
            _ => true,
        };
        self.record_now(io, changes.into_iter().filter(is_news).collect()).await
    }

    /// Records changes against the session as it is known; the document follows.
    pub(super) async fn record_now(&self, io: &Io, mut changes: Vec<ChangeRequest>) -> Result<(), Trouble> {
        if let Some(summary) = self.summary_for_ending(io, &changes).await? {
            changes.insert(0, summary);
        }
        if self.append_changes(io, changes).await? { self.save_document(io).await } else { Ok(()) }
    }

    // Derives a summary for an ending session where none is given.
    async fn summary_for_ending(
        &self,
        io: &Io,
        request: &[ChangeRequest],
    ) -> Result<Option<ChangeRequest>, Trouble> {
        let ends = |ask: &&ChangeRequest| matches!(ask.change, Change::Status { status, .. } if status != Status::Active);
        let is_said = request.iter().any(|ask| matches!(ask.change, Change::Summary { .. }));
        let Some(ending) = request.iter().find(ends).filter(|_| !is_said) else { return Ok(None) };
        self.derive_summary(io, ending.timestamp.clone()).await
    }

    // Derives a summary from the session state, unless there is one already that is as new as the last message.
    async fn derive_summary(
        &self,
        io: &Io,
        timestamp: Option<String>,
    ) -> Result<Option<ChangeRequest>, Trouble> {
        if self.with_session(|session| session.has_current_summary()) {
            return Ok(None);
        }
        Box::pin(async {
            // What cannot be read now is summarized the next time.
            if unless_bug(self.fold_messages(io).await)?.is_none() {
                return Ok(None);
            }
            let (summary, revised) =
                self.with_session(|session| (session.derive_summary(), session.log_state().revised));
            let derived = |summary| Change::Summary { summary, is_derived: true, revised };
            Ok(summary.map(|summary| ChangeRequest { timestamp, ..ChangeRequest::from(derived(summary)) }))
        })
        .await
    }

    /// Gives an idle session without a summary the derived one, dated like its last message: that is what it is
    /// about.
    #[cfg(feature = "interop")]
    pub(super) async fn record_summary(&self, io: &Io) -> Result<(), Trouble> {
        self.retry_after_move(io, &|| {
            Box::pin(async {
                self.refresh_files(io).await?;
                let (status, last_ms) = self
                    .with_session(|session| (session.metadata().status, session.log_state().last_message_ms));
                if status == Status::Active {
                    return Ok(());
                }
                let Some(summary) = self.derive_summary(io, last_ms.map(time::format)).await? else {
                    return Ok(());
                };
                let summary = ChangeRequest { is_timeless: last_ms.is_none(), ..summary };
                self.record_now(io, Vec::from([summary])).await
            })
        })
        .await
    }

    // Appends changes after the document's own; true if there was anything to append.
    async fn append_changes(&self, io: &Io, changes: Vec<ChangeRequest>) -> Result<bool, Trouble> {
        self.ensure_open(io).await?;
        self.observe(io, LogName::Events).await?;
        // Whoever edited the document may have taken the edit back since it was read.
        if self.with_session(|session| session.has_unrecorded()) {
            self.reread_document(io).await?;
        }
        let bytes = self.with_session(|session| session.stage_changes(changes, &io.stamp()))?;
        if bytes.is_empty() {
            return Ok(false);
        }
        self.append(io, LogName::Events, bytes, (true, false)).await?;
        Ok(true)
    }

    /// Writes the document. An edit made meanwhile becomes an event first.
    pub(super) async fn save_document(&self, io: &Io) -> Result<(), Trouble> {
        self.complete_opening(io).await?;
        if self.with_session(|session| session.is_newer()) {
            return Ok(());
        }
        // What is derived must not outlive what it is derived from.
        self.confirm(io, LogName::Events, false).await?;
        self.take_document(self.read_document(io).await?.as_deref());
        self.append_changes(io, Vec::new()).await?;
        self.write_document(io).await
    }

    /// Writes the document of a session whose log was just begun: nothing has been said beside it.
    pub(super) async fn save_first_document(&self, io: &Io) -> Result<(), Trouble> {
        self.take_document(self.read_document(io).await?.as_deref());
        self.write_document(io).await
    }

    async fn write_document(&self, io: &Io) -> Result<(), Trouble> {
        let document = self.with_session(|session| session.document(self.document_name()));
        io.replace(&self.document_file(), document.into_bytes(), Some(&self.folder())).await?;
        self.mark_document_written();
        Ok(())
    }

    // What others appended meanwhile belongs in what is derived, too.
    pub(super) async fn write_derived(&self, io: &Io, learns: bool) -> Result<(), Trouble> {
        self.check_summary();
        if !self.has_new_messages.get() && !self.was_read_whole.get() && !self.is_stale() {
            return Ok(());
        }
        self.ensure_open(io).await?;
        self.observe(io, LogName::Messages).await?;
        self.complete_opening(io).await?;
        let is_of_messages = self.is_stale() || self.document_name() == DocumentName::MetadataJson;
        // The document in a workspace is the user's, and in git: it is written when an event changes it, never for a
        // message.
        if self.has_new_messages.get() && is_of_messages {
            Box::pin(self.save_document(io)).await?;
        } else if self.is_stale() {
            // A reader writes it anew only where that is possible.
            unless_bug(Box::pin(self.save_document(io)).await)?;
        }
        self.save_checkpoint(io, learns).await?;
        self.has_new_messages.set(false);
        Ok(())
    }
}
