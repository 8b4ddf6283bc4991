//! The messages of a session that nobody opens, newest first.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::live::Live;
use super::logs::LogName;
use super::messages::Messages;
use super::pages::{array, json};
use super::{Io, Trouble};

/// The messages of a log alone, newest first: of a session that was not opened, and is not to be without need.
pub(super) struct Newest<'a> {
    live: &'a Live,
    io: &'a Io,
    messages: Messages<'a>,
    end: u64,
    given: BTreeSet<String>,
}

impl<'a> Newest<'a> {
    pub async fn begin(live: &'a Live, io: &'a Io) -> Result<Newest<'a>, Trouble> {
        let end = live.size(io, LogName::Messages).await?;
        let messages = Messages::newest_first(live, io, end);
        Ok(Newest { live, io, messages, end, given: BTreeSet::new() })
    }

    /// The next ones, a JSON array; nothing where there are no more.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let (live, io) = (self.live, self.io);
        loop {
            let some = self.messages.next().await?;
            if self.messages.has_undecided() {
                // Which batches count, and where messages begin, who reads from the start knows.
                let looked_ms = io.now_ms();
                let log = io.stat(&live.log_file(LogName::Messages)).await?;
                let log = log.map(|log| (log.size, log.changed_us));
                live.in_turn(io, &|| Box::pin(live.caught_up_there(io))).await?;
                live.keep_far_read(io, (log, looked_ms)).await?;
                let end = self.end.min(live.with(|session| session.known().bytes));
                self.messages = Messages::newest_first(live, io, end);
                continue;
            }
            let Some(mut some) = some else { return Ok(None) };
            some.retain(|message| self.given.insert(message.id.clone()));
            return Ok(Some(array(some.iter().map(|message| json(message, true)))));
        }
    }
}
