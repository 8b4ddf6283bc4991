//! Appends messages: reads a caller's drafts, records due events, writes blobs, then the batch.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::logs::{LogName, is_file_mismatch};
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble};
use crate::error::{Code, Error};
use crate::json::blob::Blob;
use crate::json::fields::Fields;
use crate::layout::BLOBS;
use crate::record::batch::Batch;
use crate::record::event::Change;
use crate::record::message::Message;
use crate::record::status::Status;
use crate::session::change_request::ChangeRequest;
use crate::session::handle::StagedBatch;
use crate::shapes;
use crate::shapes::Format;
use crate::tokens::{Counting, Vocabulary};

/// A repeated batch is looked for at least this many bytes back.
const MIN_LOOK_BACK_BYTES: u64 = 64 * 1024;

/// A request to append messages.
#[derive(Clone, Debug)]
pub struct AppendRequest {
    /// The messages.
    pub drafts: Drafts,
    /// Respond only once the disk has confirmed them.
    pub is_durable: bool,
    /// A paused session becomes active with them.
    pub revives: bool,
    /// Whether and how their tokens are counted.
    pub counts: CountingMode,
}

/// Messages that are not stored yet.
#[derive(Clone, Debug)]
pub enum Drafts {
    /// JSON of a shape, as a caller gives it; see [`shapes::read_drafts`]. Without a format it is leftoff's, unless
    /// it is the whole response of a provider's library, from which its format is detected; see
    /// [`shapes::extract_messages`].
    Json(String, Option<Format>),
    /// JSON in leftoff's shape, read from a log or an agent's file; see [`shapes::read_copies`].
    Copies(String),
    /// Messages as the core has them.
    Messages(Vec<Message>),
    /// A range of those.
    Slice(Rc<Vec<Message>>, Range<usize>),
}

/// Whether and how tokens are counted when messages are stored.
#[derive(Clone, Debug, Default)]
pub enum CountingMode {
    /// No counting.
    Off,
    /// By the estimate.
    #[default]
    Estimate,
    /// By a vocabulary.
    Exact(Rc<Vocabulary>),
}

impl Drafts {
    pub(super) fn to_messages(&self) -> Result<Vec<Message>, Error> {
        match self {
            Drafts::Json(json, format) => shapes::read_drafts(json, format.unwrap_or(Format::Leftoff)),
            Drafts::Copies(json) => shapes::read_copies(json),
            Drafts::Messages(messages) => Ok(messages.clone()),
            Drafts::Slice(messages, part) => Ok(messages.get(part.clone()).unwrap_or_default().into()),
        }
    }
}

impl AppendRequest {
    /// Detects the format of its drafts. An unknown one is rejected before any event is written.
    pub(super) fn with_detected_format(mut self) -> Result<AppendRequest, Error> {
        if let Drafts::Json(json, format) = &mut self.drafts {
            let (detected, messages) = shapes::extract_messages(json, *format)?;
            let messages = match messages {
                Cow::Borrowed(_) => None,
                Cow::Owned(messages) => Some(messages),
            };
            *format = Some(detected);
            if let Some(messages) = messages {
                *json = messages;
            }
        }
        Ok(self)
    }
}

impl CountingMode {
    /// By a vocabulary, or by the estimate without one; off where the setup, JSON, has `"countTokens":false`.
    pub fn of_setup(setup: &str, vocabulary: Option<Rc<Vocabulary>>) -> CountingMode {
        let is_off = Fields::parse(setup).is_ok_and(|fields| fields.raw("countTokens") == Some("false"));
        if is_off {
            CountingMode::Off
        } else {
            vocabulary.map_or(CountingMode::Estimate, CountingMode::Exact)
        }
    }

    pub(super) fn counting(&self) -> Counting<'_> {
        match self {
            CountingMode::Off => Counting::Off,
            CountingMode::Estimate => Counting::Estimate,
            CountingMode::Exact(vocabulary) => Counting::Exact(vocabulary),
        }
    }
}

impl SessionFiles {
    /// Appends messages as one batch. Returns their lines.
    pub fn append_messages(self: &Rc<SessionFiles>, appending: AppendRequest) -> Operation<'static, Vec<u8>> {
        let files = self.clone();
        self.was_staged.set(false);
        Operation::new(|io| async move {
            let appending = appending.with_detected_format()?;
            files.acquire_lease(&io).await?;
            files.append_drafts(&io, &appending).await
        })
    }

    pub(super) fn append_drafts(
        &self,
        io: &Io,
        appending: &AppendRequest,
    ) -> impl Future<Output = Result<Vec<u8>, Trouble>> {
        self.append_batch(io, appending, None)
    }

    /// Appends messages, as a batch with conditions where there is one; returns the bytes, empty where its operation
    /// was done already.
    ///
    /// # Errors
    /// `conflict` and `operation_reused`, where that is known before anything is written.
    pub(super) async fn append_batch(
        &self,
        io: &Io,
        appending: &AppendRequest,
        of: Option<&Batch>,
    ) -> Result<Vec<u8>, Trouble> {
        self.was_staged.set(false);
        let StagedBatch { bytes, blobs } =
            self.retry_after_move(io, &|| Box::pin(self.stage_drafts(io, appending, of))).await?;
        if of.is_some() && bytes.is_empty() {
            return Ok(bytes);
        }
        self.was_staged.set(true);
        let durable = appending.is_durable;
        match self.append(io, LogName::Messages, bytes.clone(), (durable, false)).await {
            Ok(()) => {}
            Err(trouble) if is_file_mismatch(&trouble) => {
                Box::pin(self.append_after_move(io, &trouble, (&bytes, &blobs), durable)).await?;
            }
            Err(trouble) => return Err(trouble),
        }
        self.has_new_messages.set(true);
        if self.with_session(|session| session.needs_whole_log() || session.needs_titles()) {
            self.complete_opening(io).await?;
        }
        Ok(bytes)
    }

    async fn stage_drafts(
        &self,
        io: &Io,
        appending: &AppendRequest,
        of: Option<&Batch>,
    ) -> Result<StagedBatch, Trouble> {
        // Without the event that began the session, its messages would belong to none.
        if appending.is_durable && !self.is_confirmed(LogName::Events) {
            Box::pin(self.confirm(io, LogName::Events, false)).await?;
        }
        self.ensure_open(io).await?;
        self.observe(io, LogName::Messages).await?;
        self.observe_events_sometimes(io).await?;
        if self.with_session(|session| session.is_branched()) {
            // Messages are appended to the branch that somebody chose last.
            Box::pin(self.observe_logs(io)).await?;
        }
        if let Some(batch) = of {
            // A last line without a line feed counts for whoever opens the session now.
            Box::pin(self.observe_whole(io, LogName::Messages)).await?;
            if self.with_session(|session| session.find_counted(batch))?.is_some() {
                return Ok(StagedBatch { bytes: Vec::new(), blobs: Vec::new() });
            }
            if !self.with_session(|session| session.is_next(batch)) {
                return Err(Trouble::new(
                    Code::Conflict,
                    "another message was appended after the expected one",
                ));
            }
        }
        if self.has_due_changes() {
            Box::pin(self.record_due_changes(io, appending.revives)).await?;
        }
        let drafts = appending.drafts.to_messages()?;
        if let Drafts::Json(..) = &appending.drafts {
            Box::pin(self.reject_unknown_parents(io, &drafts)).await?;
        }
        let counting = appending.counts.counting();
        let staged = self.with_session(|session| session.stage_batch(drafts, &io.stamp(), counting, of))?;
        if !staged.blobs.is_empty()
            && let Err(trouble) = Box::pin(self.write_blobs(io, &staged.blobs)).await
        {
            self.with_session(|session| session.messages().abort())?;
            return Err(trouble);
        }
        Ok(staged)
    }

    // A message with an unknown parent would belong to the branch of the line before it. Copied and imported messages
    // may lack their parents.
    async fn reject_unknown_parents(&self, io: &Io, drafts: &[Message]) -> Result<(), Trouble> {
        for (place, draft) in drafts.iter().enumerate() {
            let Some(parent) =
                draft.parent_id.as_deref().filter(|_| draft.rev == 0 && draft.source.is_none())
            else {
                continue;
            };
            let is_before = drafts.iter().take(place).any(|one| one.id == parent);
            if is_before
                || self.with_session(|session| session.has_message(parent))
                || self.has_message(io, parent).await?
            {
                continue;
            }
            let message = format!("message {place} follows \"{parent}\", which this session does not have");
            return Err(Trouble::new(Code::UnknownParent, message));
        }
        Ok(())
    }

    // Records what is due before the first message: edits of the document, and that a paused session goes on. The
    // document is written at once: an edit that takes back one that was adopted is seen by comparing with it.
    async fn record_due_changes(&self, io: &Io, revives: bool) -> Result<(), Trouble> {
        let is_paused = self.with_session(|session| session.metadata().status == Status::Paused);
        // A completed session stays completed: whoever records must not lose a message for a status.
        let active = Change::Status { status: Status::Active, reason: None };
        self.record_now(io, Vec::from_iter((is_paused && revives).then(|| ChangeRequest::from(active)))).await
    }

    // Writes blobs durably before the line that names them. A blob that another process left has the same bytes,
    // since its name is their hash; but that process may have died before the disk confirmed it.
    async fn write_blobs(&self, io: &Io, blobs: &[Blob]) -> Result<(), Trouble> {
        let folder = self.folder();
        for Blob { id, bytes } in blobs {
            let file = folder.child(BLOBS).child(id);
            let is_kept = self.verified.borrow().blob_ids.contains(id);
            if is_kept && io.stat(&file).await?.is_some_and(|stat| stat.size == bytes.len() as u64) {
                continue;
            }
            io.replace(&file, bytes.clone(), Some(&folder)).await?;
            self.verified.borrow_mut().blob_ids.insert(id.clone());
        }
        Ok(())
    }

    // Appends the same bytes where a session lies that was moved while its batch was on its way, unless somebody
    // carried them over already. Readers keep one of two equal records.
    async fn append_after_move(
        &self,
        io: &Io,
        trouble: &Trouble,
        (bytes, blobs): (&[u8], &[Blob]),
        durable: bool,
    ) -> Result<(), Trouble> {
        // Also where it is back: nobody knows what was written meanwhile.
        self.reopen_if_changed(io, trouble.code() == Code::LogReplaced.as_str()).await?;
        self.retry_after_move(io, &|| {
            Box::pin(async {
                self.ensure_open(io).await?;
                self.write_blobs(io, blobs).await?;
                self.retry_storage(io, &|| Box::pin(self.append_if_missing(io, bytes, durable))).await?;
                self.mark_confirmed(LogName::Messages, durable);
                self.observe(io, LogName::Messages).await?;
                Ok(())
            })
        })
        .await
    }

    async fn append_if_missing(&self, io: &Io, bytes: &[u8], durable: bool) -> Result<(), Trouble> {
        let log = self.log_file(LogName::Messages);
        let size = self.size(io, LogName::Messages).await?;
        let far = MIN_LOOK_BACK_BYTES + 2 * bytes.len() as u64;
        let end = io.read_range(&log, size.saturating_sub(far), size).await?;
        let is_there = memchr::memmem::find(&end, bytes).is_some();
        let missing = if is_there { Vec::new() } else { with_leading_newline(bytes) };
        io.append(&log, missing, durable, Some(&self.folder())).await?;
        Ok(())
    }
}

// With a line feed in front, which ends what a first attempt may have left.
fn with_leading_newline(bytes: &[u8]) -> Vec<u8> {
    [b"\n", bytes].concat()
}
