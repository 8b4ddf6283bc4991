//! What is said of a session: events, and the document that is written from them.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::live::Live;
use super::logs::LogName;
use super::{Io, Operation, Trouble, unless_bug};
use crate::record::event::Change;
use crate::record::status::Status;
use crate::session::ask::Ask;
use crate::session::begin::Begin;
use crate::session::documents::Name;
use crate::time;

impl Live {
    /// Begins a session, of which nothing is on disk yet: `created` as in [`Begin::from_json`].
    pub fn begin(self: &Rc<Live>, created: String) -> Operation<'static, ()> {
        let live = self.clone();
        Operation::new(|io| async move { live.begun(&io, Begin::from_json(&created)?).await })
    }

    pub(super) async fn begun(&self, io: &Io, begin: Begin) -> Result<(), Trouble> {
        self.begin_as(begin.id());
        let stamp = io.stamp();
        let bytes = self.with(|session| session.stage_asked(begin.asked(&stamp), &stamp))?;
        self.append(io, LogName::Events, bytes, (true, true)).await?;
        self.save(io).await
    }

    /// Says as events what is asked for, JSON as in [`Ask::from_json`], of the session as it is now, whoever changed it.
    pub fn say(self: &Rc<Live>, asked: String) -> Operation<'static, ()> {
        let live = self.clone();
        Operation::new(|io| async move {
            let asked = Ask::from_json(&asked)?;
            live.here(&io, &|| {
                Box::pin(async {
                    for ask in &asked {
                        if let Change::Pin(subject) = &ask.change {
                            Box::pin(live.refuse_unless_said(&io, &subject.message_id)).await?;
                        }
                    }
                    live.said(&io, asked.clone()).await
                })
            })
            .await
        })
    }

    /// Makes the disk confirm all that was appended, and writes what is derived. `learns`: what came since is folded.
    pub fn flush(self: &Rc<Live>, learns: bool) -> Operation<'static, ()> {
        let live = self.clone();
        Operation::new(move |io| async move {
            if live.is_deleted.get() { Ok(()) } else { live.flushed(&io, learns).await }
        })
    }

    pub(super) async fn flushed(&self, io: &Io, learns: bool) -> Result<(), Trouble> {
        self.here(io, &|| {
            Box::pin(async {
                self.confirm(io, LogName::Messages, true).await?;
                self.derived(io, learns).await
            })
        })
        .await
    }

    /// Says that this process has it open no longer, and writes what is derived.
    pub fn close(self: &Rc<Live>) -> Operation<'static, ()> {
        let live = self.clone();
        Operation::new(
            |io| async move { if live.is_deleted.get() { Ok(()) } else { live.closed(&io).await } },
        )
    }

    pub(super) async fn closed(&self, io: &Io) -> Result<(), Trouble> {
        self.released(io).await?;
        self.here(io, &|| Box::pin(self.derived(io, true))).await
    }

    /// Pauses it where it rests: dated when it was last active, which is the answer; nothing where it does not rest.
    pub(super) async fn rested(&self, io: &Io, idle_ms: i64) -> Result<Option<String>, Trouble> {
        self.here(io, &|| {
            Box::pin(async {
                self.looked(io).await?;
                let Some(last_ms) = self.idle_since(io.now_ms(), idle_ms) else { return Ok(None) };
                let last = time::format(last_ms);
                let paused = Change::Status { status: Status::Paused, reason: Some("idle".into()) };
                let asked = Ask { timestamp: Some(last.clone()), ..Ask::from(paused) };
                self.said_now(io, Vec::from([asked])).await?;
                Ok(Some(last))
            })
        })
        .await
    }

    /// Since when nothing happens, where that is longer than `idle_ms` while it is active.
    pub(super) fn idle_since(&self, now_ms: i64, idle_ms: i64) -> Option<i64> {
        let is_active = self.with(|session| session.metadata().status == Status::Active);
        self.active_ms().filter(|ms| is_active && now_ms - ms > idle_ms)
    }

    // When something happened last: something was said, or it was taken up; else it began.
    fn active_ms(&self) -> Option<i64> {
        self.with(|session| {
            let created = || session.metadata().created_at.as_deref().and_then(time::parse);
            let said = session.known().last_message_ms.or_else(created);
            said.max(session.taken_up_at().and_then(time::parse))
        })
    }

    pub(super) async fn said(&self, io: &Io, asked: Vec<Ask>) -> Result<(), Trouble> {
        self.looked(io).await?;
        let is_archived = self.with(|session| session.metadata().archived_at.is_some());
        let is_news = |ask: &Ask| match ask.change {
            Change::Archived => !is_archived,
            Change::Unarchived => is_archived,
            _ => true,
        };
        self.said_now(io, asked.into_iter().filter(is_news).collect()).await
    }

    /// Says it of the session as it is known to be; the document follows.
    pub(super) async fn said_now(&self, io: &Io, mut asked: Vec<Ask>) -> Result<(), Trouble> {
        if let Some(summary) = self.summed_up(io, &asked).await? {
            asked.insert(0, summary);
        }
        if self.record(io, asked).await? { self.save(io).await } else { Ok(()) }
    }

    // What it came to, where it ends for now and nobody says that.
    async fn summed_up(&self, io: &Io, asked: &[Ask]) -> Result<Option<Ask>, Trouble> {
        let ends =
            |ask: &&Ask| matches!(ask.change, Change::Status { status, .. } if status != Status::Active);
        let is_said = asked.iter().any(|ask| matches!(ask.change, Change::Summary { .. }));
        let Some(ending) = asked.iter().find(ends).filter(|_| !is_said) else { return Ok(None) };
        self.derive_summary(io, ending.timestamp.clone()).await
    }

    // What was learned of it, unless it has a summary already that is as new as its last message.
    async fn derive_summary(&self, io: &Io, timestamp: Option<String>) -> Result<Option<Ask>, Trouble> {
        if self.with(|session| session.is_summed_up()) {
            return Ok(None);
        }
        Box::pin(async {
            // What cannot be read now is summed up the next time.
            if unless_bug(self.folded(io).await)?.is_none() {
                return Ok(None);
            }
            let (summary, revised) = self.with(|session| (session.summed_up(), session.known().revised));
            let derived = |summary| Change::Summary { summary, is_derived: true, revised };
            Ok(summary.map(|summary| Ask { timestamp, ..Ask::from(derived(summary)) }))
        })
        .await
    }

    /// Gives a session that rests the summary that is derived, where it has none: dated like its last message, when it came to that.
    #[cfg(feature = "interop")]
    pub(super) async fn record_summary(&self, io: &Io) -> Result<(), Trouble> {
        self.here(io, &|| {
            Box::pin(async {
                self.looked(io).await?;
                let (status, last_ms) =
                    self.with(|session| (session.metadata().status, session.known().last_message_ms));
                if status == Status::Active {
                    return Ok(());
                }
                let Some(summary) = self.derive_summary(io, last_ms.map(time::format)).await? else {
                    return Ok(());
                };
                let summary = Ask { is_timeless: last_ms.is_none(), ..summary };
                self.said_now(io, Vec::from([summary])).await
            })
        })
        .await
    }

    // Appends what is asked for, behind what the document says; whether there was anything to say.
    async fn record(&self, io: &Io, asked: Vec<Ask>) -> Result<bool, Trouble> {
        self.revived(io).await?;
        self.observe(io, LogName::Events).await?;
        // Whoever changed the document may have taken it back since it was read.
        if self.with(|session| session.has_unsaid()) {
            self.take_again(io).await?;
        }
        let bytes = self.with(|session| session.stage_asked(asked, &io.stamp()))?;
        if bytes.is_empty() {
            return Ok(false);
        }
        self.append(io, LogName::Events, bytes, (true, false)).await?;
        Ok(true)
    }

    /// Writes the document. What someone changed in it meanwhile becomes an event before.
    pub(super) async fn save(&self, io: &Io) -> Result<(), Trouble> {
        self.complete(io).await?;
        if self.with(|session| session.is_newer()) {
            return Ok(());
        }
        // What is derived must not outlive what it is derived from.
        self.confirm(io, LogName::Events, false).await?;
        self.take(self.document_found(io).await?.as_deref());
        self.record(io, Vec::new()).await?;
        let document = self.with(|session| session.document(self.document_name()));
        io.replace(&self.document_file(), document.into_bytes(), Some(&self.folder())).await?;
        self.is_written();
        Ok(())
    }

    // What others appended meanwhile belongs to what is derived, too.
    pub(super) async fn derived(&self, io: &Io, learns: bool) -> Result<(), Trouble> {
        self.look_at_summary();
        if !self.has_news.get() && !self.was_read.get() && !self.is_stale() {
            return Ok(());
        }
        self.revived(io).await?;
        self.observe(io, LogName::Messages).await?;
        self.complete(io).await?;
        let is_of_messages = self.is_stale() || self.document_name() == Name::MetadataJson;
        // The one in a workspace is the user's, and in git: it is written when an event changes it, never for a message.
        if self.has_news.get() && is_of_messages {
            Box::pin(self.save(io)).await?;
        } else if self.is_stale() {
            // Who only reads writes it anew where that is possible.
            unless_bug(Box::pin(self.save(io)).await)?;
        }
        self.save_checkpoint(io, learns).await?;
        self.has_news.set(false);
        Ok(())
    }
}
