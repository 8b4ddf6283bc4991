//! Messages on their way into a log.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::live::Live;
use super::logs::{LogName, is_amiss};
use super::{Io, Operation, Trouble};
use crate::error::{Code, Error};
use crate::json::blob::Blob;
use crate::json::fields::Fields;
use crate::layout::BLOBS;
use crate::record::batch::Batch;
use crate::record::event::Change;
use crate::record::message::Message;
use crate::record::status::Status;
use crate::session::ask::Ask;
use crate::session::handle::Staged;
use crate::shapes;
use crate::shapes::Format;
use crate::tokens::{Counting, Vocabulary};

/// So far back, at least, it is looked whether a batch is there already.
const BACK: u64 = 64 * 1024;

/// What is to be appended, and how.
#[derive(Clone, Debug)]
pub struct Appending {
    /// The messages.
    pub drafts: Drafts,
    /// Answered once the disk has confirmed them.
    pub is_durable: bool,
    /// A paused session is active again with them.
    pub revives: bool,
    /// Whether they are counted, and by whom.
    pub counts: Counts,
}

/// Messages that nobody has appended yet.
#[derive(Clone, Debug)]
pub enum Drafts {
    /// JSON of a shape, as a caller gives it; see [`shapes::drafts`]. Without one it is leftoff's, unless it is the whole answer of a
    /// provider's library, which tells its own; see [`shapes::answered`].
    Said(String, Option<Format>),
    /// JSON in leftoff's shape, read from a log or an agent's file; see [`shapes::copies`].
    Copies(String),
    /// Messages as the core has them.
    Messages(Vec<Message>),
    /// Some of those.
    Part(Rc<Vec<Message>>, Range<usize>),
}

/// Whether messages are counted when they are stored, and by whom.
#[derive(Clone, Debug, Default)]
pub enum Counts {
    /// They are not.
    Off,
    /// By the estimate.
    #[default]
    Estimate,
    /// By a vocabulary.
    Exact(Rc<Vocabulary>),
}

impl Drafts {
    pub(super) fn read(&self) -> Result<Vec<Message>, Error> {
        match self {
            Drafts::Said(json, format) => shapes::drafts(json, format.unwrap_or(Format::Leftoff)),
            Drafts::Copies(json) => shapes::copies(json),
            Drafts::Messages(messages) => Ok(messages.clone()),
            Drafts::Part(messages, part) => Ok(messages.get(part.clone()).unwrap_or_default().into()),
        }
    }
}

impl Appending {
    /// The same in the shape that its drafts tell. What is refused by that is refused before anything is said of the session.
    pub(super) fn told(mut self) -> Result<Appending, Error> {
        if let Drafts::Said(json, format) = &mut self.drafts {
            let (told, messages) = shapes::answered(json, *format)?;
            let messages = match messages {
                Cow::Borrowed(_) => None,
                Cow::Owned(messages) => Some(messages),
            };
            *format = Some(told);
            if let Some(messages) = messages {
                *json = messages;
            }
        }
        Ok(self)
    }
}

impl Counts {
    /// By a vocabulary, or by the estimate where there is none; not at all where a setup, JSON, has `"countTokens":false`.
    pub fn of_setup(setup: &str, vocabulary: Option<Rc<Vocabulary>>) -> Counts {
        let is_off = Fields::parse(setup).is_ok_and(|fields| fields.raw("countTokens") == Some("false"));
        if is_off { Counts::Off } else { vocabulary.map_or(Counts::Estimate, Counts::Exact) }
    }

    pub(super) fn counting(&self) -> Counting<'_> {
        match self {
            Counts::Off => Counting::Off,
            Counts::Estimate => Counting::Estimate,
            Counts::Exact(vocabulary) => Counting::Exact(vocabulary),
        }
    }
}

impl Live {
    /// Appends messages as one batch. Answer: their lines.
    pub fn append_messages(self: &Rc<Live>, appending: Appending) -> Operation<'static, Vec<u8>> {
        let live = self.clone();
        self.was_staged.set(false);
        Operation::new(|io| async move {
            let appending = appending.told()?;
            live.hold(&io).await?;
            live.appended(&io, &appending).await
        })
    }

    pub(super) fn appended(
        &self,
        io: &Io,
        appending: &Appending,
    ) -> impl Future<Output = Result<Vec<u8>, Trouble>> {
        self.put(io, appending, None)
    }

    /// Appends them, as a batch that counts under conditions where there is one; gives the bytes, none where its operation is
    /// done already.
    ///
    /// # Errors
    /// `conflict` and `operation_reused`, where that is known before anything is written.
    pub(super) async fn put(
        &self,
        io: &Io,
        appending: &Appending,
        of: Option<&Batch>,
    ) -> Result<Vec<u8>, Trouble> {
        self.was_staged.set(false);
        let Staged { bytes, blobs } = self.here(io, &|| Box::pin(self.staged(io, appending, of))).await?;
        if of.is_some() && bytes.is_empty() {
            return Ok(bytes);
        }
        self.was_staged.set(true);
        let durable = appending.is_durable;
        match self.append(io, LogName::Messages, bytes.clone(), (durable, false)).await {
            Ok(()) => {}
            Err(trouble) if is_amiss(&trouble) => {
                Box::pin(self.carried_over(io, &trouble, (&bytes, &blobs), durable)).await?;
            }
            Err(trouble) => return Err(trouble),
        }
        self.has_news.set(true);
        if self.with(|session| session.needs_all() || session.needs_titles()) {
            self.complete(io).await?;
        }
        Ok(bytes)
    }

    async fn staged(&self, io: &Io, appending: &Appending, of: Option<&Batch>) -> Result<Staged, Trouble> {
        // Without the event that began the session, its messages would be nobody's.
        if appending.is_durable && !self.is_confirmed(LogName::Events) {
            Box::pin(self.confirm(io, LogName::Events, false)).await?;
        }
        self.revived(io).await?;
        self.observe(io, LogName::Messages).await?;
        self.look_sometimes(io).await?;
        if self.with(|session| session.is_branched()) {
            // What is appended hangs from the branch that somebody chose last.
            Box::pin(self.caught_up(io)).await?;
        }
        if let Some(batch) = of {
            // A last line without a line feed counts for whoever opens the session now.
            Box::pin(self.observe_whole(io, LogName::Messages)).await?;
            if self.with(|session| session.done(batch))?.is_some() {
                return Ok(Staged { bytes: Vec::new(), blobs: Vec::new() });
            }
            if !self.with(|session| session.is_next(batch)) {
                return Err(Trouble::refused(
                    Code::Conflict,
                    "another message was appended after the expected one",
                ));
            }
        }
        if self.is_due() {
            Box::pin(self.gone_on(io, appending.revives)).await?;
        }
        let drafts = appending.drafts.read()?;
        if let Drafts::Said(..) = &appending.drafts {
            Box::pin(self.refuse_unknown_parents(io, &drafts)).await?;
        }
        let counting = appending.counts.counting();
        let staged = self.with(|session| session.stage_batch(drafts, &io.stamp(), counting, of))?;
        if !staged.blobs.is_empty()
            && let Err(trouble) = Box::pin(self.keep_blobs(io, &staged.blobs)).await
        {
            self.with(|session| session.messages().abort())?;
            return Err(trouble);
        }
        Ok(staged)
    }

    // A message that follows nobody's would belong to the branch of the line before it. What was copied or imported may lack some.
    async fn refuse_unknown_parents(&self, io: &Io, drafts: &[Message]) -> Result<(), Trouble> {
        for (place, draft) in drafts.iter().enumerate() {
            let Some(parent) =
                draft.parent_id.as_deref().filter(|_| draft.rev == 0 && draft.source.is_none())
            else {
                continue;
            };
            let is_before = drafts.iter().take(place).any(|one| one.id == parent);
            if is_before
                || self.with(|session| session.has_message(parent))
                || self.has_message(io, parent).await?
            {
                continue;
            }
            let message = format!("message {place} follows \"{parent}\", which this session does not have");
            return Err(Trouble::refused(Code::UnknownParent, message));
        }
        Ok(())
    }

    // What the document says is said before the first message; and who goes on with a paused session makes it active. The
    // document follows at once: an edit that takes back one that was adopted is seen by comparing it.
    async fn gone_on(&self, io: &Io, revives: bool) -> Result<(), Trouble> {
        let is_paused = self.with(|session| session.metadata().status == Status::Paused);
        let active = Change::Status { status: Status::Active, reason: None };
        self.said_now(io, Vec::from_iter((is_paused && revives).then(|| Ask::from(active)))).await
    }

    // On the disk before the line that names it. One that another process left is the same, its name is the hash of its bytes;
    // but that process may have died before the disk confirmed it.
    async fn keep_blobs(&self, io: &Io, blobs: &[Blob]) -> Result<(), Trouble> {
        let folder = self.folder();
        for Blob { id, bytes } in blobs {
            let file = folder.below(BLOBS).below(id);
            let is_kept = self.kept.borrow().blobs.contains(id);
            if is_kept && io.stat(&file).await?.is_some_and(|stat| stat.size == bytes.len() as u64) {
                continue;
            }
            io.replace(&file, bytes.clone(), Some(&folder)).await?;
            self.kept.borrow_mut().blobs.insert(id.clone());
        }
        Ok(())
    }

    // The session was moved while its batch was on its way: the same bytes are appended where it lies now, unless somebody
    // carried them over already. Readers keep one of two equal records.
    async fn carried_over(
        &self,
        io: &Io,
        trouble: &Trouble,
        (bytes, blobs): (&[u8], &[Blob]),
        durable: bool,
    ) -> Result<(), Trouble> {
        // Also where it is back: nobody knows what was written meanwhile.
        self.found_again(io, trouble.code() == Code::LogReplaced.as_str()).await?;
        self.here(io, &|| {
            Box::pin(async {
                self.revived(io).await?;
                self.keep_blobs(io, blobs).await?;
                self.try_again(io, &|| Box::pin(self.append_unless_there(io, bytes, durable))).await?;
                self.confirmed(LogName::Messages, durable);
                self.observe(io, LogName::Messages).await?;
                Ok(())
            })
        })
        .await
    }

    async fn append_unless_there(&self, io: &Io, bytes: &[u8], durable: bool) -> Result<(), Trouble> {
        let log = self.log_file(LogName::Messages);
        let size = self.size(io, LogName::Messages).await?;
        let far = BACK + 2 * bytes.len() as u64;
        let end = io.read_range(&log, size.saturating_sub(far), size).await?;
        let is_there = memchr::memmem::find(&end, bytes).is_some();
        let missing = if is_there { Vec::new() } else { sealing(bytes) };
        io.append(&log, missing, durable, Some(&self.folder())).await?;
        Ok(())
    }
}

// Behind a line feed, which seals what a first try may have left.
fn sealing(bytes: &[u8]) -> Vec<u8> {
    [b"\n", bytes].concat()
}
