//! Words in the log of a session: it is read from its end, and nothing of it is opened.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::leaving::Leaving;
use super::live::Live;
use super::logs::LogName;
use super::pages::array;
use super::pieces::Pieces;
use super::{Io, Operation, Trouble};
use crate::error::Code;
use crate::json::text::{Text, to_json};
use crate::record::batch;
use crate::record::span::Span;
use crate::resume::search::{Answer, Hit, Search};

/// So much is read at once that beginning costs nothing, and so little that the first is soon there.
const CHUNK: u64 = 1 << 20;

impl Live {
    /// The messages that have all words, and what is in quotes as it stands there, the newest first. Each page is a JSON array of `{"id","role","timestamp","excerpt"}`.
    pub fn search(self: &Rc<Live>, words: String, leaving: &Rc<Leaving>) -> Operation<'static, ()> {
        let (live, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            live.refuse_if_deleted()?;
            live.searched(&io, &words, &leaving, "").await.map(drop)
        })
    }

    /// Whether any was found. `of`: fields that each has before the others.
    pub(super) async fn searched(
        &self,
        io: &Io,
        words: &str,
        leaving: &Leaving,
        of: &str,
    ) -> Result<bool, Trouble> {
        let mut is_found = false;
        let mut search = Search::new(words);
        let file = self.log_file(LogName::Messages);
        let mut end = io.stat(&file).await?.map_or(0, |stat| stat.size);
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
            let lines = &bytes[from..];
            let mut hits = Vec::new();
            for place in search.lines(lines) {
                let at = start + (from + place.start) as u64;
                if self.counts_not(io, &lines[place.clone()], at).await? {
                    continue;
                }
                let mut answer = search.line(&lines[place]);
                while let Answer::Needs { blob } = answer {
                    let bytes = self.read_blob(io, &blob).await?;
                    answer = search.blob(&blob, bytes.as_deref());
                }
                if let Answer::Hit(hit) = answer {
                    let hit = shown(&search, hit, Pieces::new(leaving, io)).await?;
                    hits.push(["{", of, &hit[1..]].concat());
                }
            }
            if !hits.is_empty() {
                is_found = true;
                io.page(array(hits.into_iter())).await?;
            }
            end = if bytes.is_empty() || start == 0 { 0 } else { start + from as u64 };
            wanted = CHUNK;
        }
        Ok(is_found)
    }

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

async fn shown(search: &Search, hit: Hit, mut pieces: Pieces<'_>) -> Result<String, Trouble> {
    // Before it is cut: of a part of a secret nobody can tell that it is one.
    let left = pieces.out(to_json(&hit.text)).await?;
    let text = Text::decode(&left).map(Text::into_shown);
    let text = text.ok_or_else(|| {
        Trouble::refused(Code::InvalidJson, "expected a text that leaves, but found something else instead")
    })?;
    Ok(to_json(&search.shown(Hit { text, ..hit })))
}
