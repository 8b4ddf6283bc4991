//! Words in the log of a session: it is read from its end, and nothing of it is opened.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::leaving::Leaving;
use super::leaving::aside::without_placeholders;
use super::live::Live;
use super::logs::LogName;
use super::{Io, Trouble};
use crate::record::batch;
use crate::record::span::Span;
use crate::resume::search::{Answer, Hit, Search};

/// So much is read at once that beginning costs nothing, and so little that the first is soon there.
const CHUNK: u64 = 1 << 20;

/// A log that is read from its end for what is looked for.
pub(super) struct Backward<'a> {
    live: &'a Live,
    search: Search,
    // What leaves of a store, and where secrets are replaced, of this log, once something of it may.
    leaving: &'a Leaving,
    aside: Option<Rc<Leaving>>,
    end: Option<u64>,
}

impl<'a> Backward<'a> {
    pub fn new(live: &'a Live, search: Search, leaving: &'a Leaving) -> Backward<'a> {
        let search = if leaving.replaces() { search.leaving() } else { search };
        Backward { live, search, leaving, aside: None, end: None }
    }

    /// Something of a text of it is told.
    pub async fn tell(&self, io: &Io, text: &str, told: &str) -> Result<(), Trouble> {
        let aside = self.aside.as_deref().unwrap_or(self.leaving);
        self.leaving.tell(io, aside, (&self.leaving.reported(text), told)).await
    }

    /// The next messages that have all of it, the newest first; nothing where there are no more.
    pub async fn next(&mut self, io: &Io) -> Result<Option<Vec<Hit>>, Trouble> {
        let file = self.live.log_file(LogName::Messages);
        let mut end = match self.end {
            Some(end) => end,
            None => io.stat(&file).await?.map_or(0, |stat| stat.size),
        };
        let mut wanted = CHUNK;
        while end > 0 {
            let start = end.saturating_sub(wanted);
            let bytes = io.read(&file, start, Some(end)).await?.unwrap_or_default();
            let from = if start == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(0, |at| at + 1) };
            let is_whole = start == 0 || (from > 0 && from < bytes.len());
            if !bytes.is_empty() && !is_whole {
                wanted *= 2; // The line is longer than that.
                continue;
            }
            let hits = self.hits(io, &bytes[from..], start + from as u64).await?;
            end = if bytes.is_empty() || start == 0 { 0 } else { start + from as u64 };
            wanted = CHUNK;
            if !hits.is_empty() {
                self.end = Some(end);
                return Ok(Some(hits));
            }
        }
        self.end = Some(0);
        Ok(None)
    }

    async fn hits(&mut self, io: &Io, lines: &[u8], at: u64) -> Result<Vec<Hit>, Trouble> {
        let (mut hits, mut said) = (Vec::new(), Vec::new());
        for place in self.search.lines(lines) {
            if self.live.counts_not(io, &lines[place.clone()], at + place.start as u64).await? {
                continue;
            }
            let mut answer = self.search.line(&lines[place]);
            while let Answer::Needs { blob } = answer {
                let bytes = self.live.read_blob(io, &blob).await?;
                answer = self.search.blob(&blob, bytes.as_deref());
            }
            match answer {
                Answer::Hit(hit) => hits.push(hit),
                Answer::Says(message) => said.push(*message),
                Answer::None | Answer::Needs { .. } => {}
            }
        }
        // Whether something is found must not tell what may not leave.
        if !said.is_empty() {
            let aside = self.aside(io).await?;
            let left = aside.messages(io, said).await?;
            hits.extend(left.iter().filter_map(|one| self.search.hit(&without_placeholders(one)?, one)));
        }
        Ok(hits)
    }

    async fn aside(&mut self, io: &Io) -> Result<Rc<Leaving>, Trouble> {
        let aside = match &self.aside {
            Some(aside) => aside.clone(),
            None => self.leaving.aside_of(io, &self.live.folder()).await?,
        };
        self.aside = Some(aside.clone());
        Ok(aside)
    }
}

impl Live {
    // Whether a line of its log is of a batch that does not count. Who has not opened it has to read it for that.
    pub(super) async fn counts_not(&self, io: &Io, line: &[u8], at: u64) -> Result<bool, Trouble> {
        let Some(start) = batch::first_in(line) else { return Ok(false) };
        let at = at + start;
        if self.with(|session| session.known().bytes) <= at {
            Box::pin(self.caught_up_there(io)).await?;
        }
        let passed = self.with(|session| session.passed());
        Ok(passed.decided <= at || Span::any_holds(&passed.spans, at))
    }
}
