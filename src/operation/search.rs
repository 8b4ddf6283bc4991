//! Words in the log of a session: it is read from its end, and nothing of it is opened.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::leaving::Leaving;
use super::live::Live;
use super::logs::LogName;
use super::pieces::Pieces;
use super::{Io, Trouble};
use crate::error::Code;
use crate::json::text::{Text, to_json};
use crate::record::batch;
use crate::record::span::Span;
use crate::resume::search::{Answer, Hit, Search};

/// So much is read at once that beginning costs nothing, and so little that the first is soon there.
const CHUNK: u64 = 1 << 20;

/// A log that is read from its end for what is looked for.
pub(super) struct Backward<'a> {
    live: &'a Live,
    search: Search,
    end: Option<u64>,
}

impl<'a> Backward<'a> {
    pub fn new(live: &'a Live, search: Search) -> Backward<'a> {
        Backward { live, search, end: None }
    }

    /// Whether one of them has all of it also by the texts that it has now.
    pub fn still_has(&self, hit: &Hit) -> bool {
        self.search.still_has(hit)
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
        let mut hits = Vec::new();
        for place in self.search.lines(lines) {
            if self.live.counts_not(io, &lines[place.clone()], at + place.start as u64).await? {
                continue;
            }
            let mut answer = self.search.line(&lines[place]);
            while let Answer::Needs { blob } = answer {
                let bytes = self.live.read_blob(io, &blob).await?;
                answer = self.search.blob(&blob, bytes.as_deref());
            }
            if let Answer::Hit(hit) = answer {
                hits.push(hit);
            }
        }
        Ok(hits)
    }
}

/// A hit with its texts as they may leave. Before they are cut: of a part of a secret nobody can tell that it is one.
pub(super) async fn left(io: &Io, hit: Hit, leaving: &Leaving) -> Result<Hit, Trouble> {
    let texts = [&hit.text].into_iter().chain(&hit.beside).map(to_json).collect();
    let mut left = Vec::new();
    for text in Pieces::new(leaving, io).all(texts).await? {
        let text = Text::decode(&text).map(Text::into_shown);
        left.push(text.ok_or_else(|| {
            let message = "expected a text that leaves, but found something else instead";
            Trouble::refused(Code::InvalidJson, message)
        })?);
    }
    let text = left.remove(0);
    Ok(Hit { text, beside: left, ..hit })
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
