//! What of an agent's session is not in one of the store's yet.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::Importing;
use crate::interop::fresh::Fresh;
use crate::interop::talk::is_talk;
use crate::operation::live::{Live, PIECE};
use crate::operation::logs::LogName;
use crate::operation::{Appending, Drafts, Trouble};
use crate::record::message::Message;
use crate::state::stopping::find_stop_phrase;

/// So many messages are one batch.
const BATCH: usize = 256;

/// How far the messages of a file are written.
pub(super) struct Written<'a> {
    pub importing: &'a Importing<'a>,
    pub tell: &'a super::file::Share<'a>,
    pub done: usize,
    pub total: usize,
}

impl Written<'_> {
    /// Tells it, before so many more are written.
    async fn more(&mut self, count: usize) -> Result<(), Trouble> {
        let share = if self.total == 0 { 0.0 } else { (self.done as f64 / self.total as f64).min(1.0) };
        self.done += count;
        self.importing.tell(self.tell, share).await
    }
}

impl Importing<'_> {
    /// Appends what a session does not hold yet, and answers that have grown since; how many messages that were. What was
    /// said is folded by whoever takes the session up: of a hundred imports few are. Others may import the same file meanwhile:
    /// nobody waits, and what each finds missing it appends until nothing is.
    pub(super) async fn append_fresh(
        &self,
        live: &Live,
        (messages, goes_on): (&Rc<Vec<Message>>, bool),
        written: &mut Written<'_>,
    ) -> Result<usize, Trouble> {
        let mut added = 0;
        live.hold(self.io).await?;
        if live.size(self.io, LogName::Messages).await? == 0 {
            added = messages.len();
            let mut bytes = 0;
            for start in (0..messages.len()).step_by(BATCH) {
                let part = start..messages.len().min(start + BATCH);
                written.more(part.len()).await?;
                bytes += self.append(live, Drafts::Part(messages.clone(), part), false).await?;
            }
            if live.size(self.io, LogName::Messages).await? == bytes {
                live.flushed(self.io, false).await?;
                return Ok(added);
            }
        }
        // Where it is moved meanwhile, what is there by then is compared again.
        let compared = || {
            Box::pin(async { self.append_missing(live, messages, goes_on).await })
                as crate::operation::Work<'_, usize>
        };
        added += live.here(self.io, &compared).await?;
        if added > 0 {
            live.flushed(self.io, false).await?;
        }
        Ok(added)
    }

    async fn append_missing(
        &self,
        live: &Live,
        messages: &Rc<Vec<Message>>,
        goes_on: bool,
    ) -> Result<usize, Trouble> {
        let messages = Vec::clone(messages);
        let mut fresh = if goes_on { Fresh::going_on(messages) } else { Fresh::new(messages) };
        let (mut at, mut added) = (0, 0);
        loop {
            let (file, size) =
                (live.log_file(LogName::Messages), live.size(self.io, LogName::Messages).await?);
            while at < size {
                let bytes = self.io.read(&file, at, Some(size.min(at + PIECE))).await?.unwrap_or_default();
                if bytes.is_empty() {
                    return Err(live.shrunk(LogName::Messages, size, at));
                }
                fresh.feed(&bytes);
                at += bytes.len() as u64;
            }
            let batch = fresh.missing(BATCH);
            if batch.is_empty() {
                return Ok(added);
            }
            added += batch.len();
            // An answer to who stopped it is no going on, and neither is saying so.
            let goes_on = |(at, one): (usize, &Message)| {
                is_talk(one, batch.get(at + 1)) && find_stop_phrase(one.content.as_str()).is_none()
            };
            let has_talk = || batch.iter().enumerate().any(goes_on);
            let revives = self.is_on && has_talk();
            self.append(live, Drafts::Messages(batch), revives).await?;
        }
    }

    // Nobody goes on with a session by that, and the disk confirms all at once. How many bytes it was.
    async fn append(&self, live: &Live, drafts: Drafts, revives: bool) -> Result<u64, Trouble> {
        let appending = Appending { drafts, is_durable: false, revives, counts: self.counts.clone() };
        Ok(live.appended(self.io, &appending).await?.len() as u64)
    }
}
