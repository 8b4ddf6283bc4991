//! Searches a session's log backward for words, without opening the session.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::logs::LogName;
use super::outgoing::OutgoingRedactor;
use super::outgoing::unreported::without_placeholders;
use super::session_files::SessionFiles;
use super::{Io, Trouble};
use crate::record::batch;
use crate::record::span::Span;
use crate::resume::log_match::{LineMatch, LogSearch, MessageHit};

/// Bytes read at once: so many that the overhead is nothing, so few that the first hit comes soon.
const CHUNK_BYTES: u64 = 1 << 20;

/// A search through a log from its end.
pub(super) struct BackwardSearch<'a> {
    files: &'a SessionFiles,
    search: LogSearch,
    // The store's redactor, and in replacing mode this log's, once a text of it may go out.
    redactor: &'a OutgoingRedactor,
    unreported: Option<Rc<OutgoingRedactor>>,
    end: Option<u64>,
}

impl<'a> BackwardSearch<'a> {
    pub fn new(
        session_files: &'a SessionFiles,
        search: LogSearch,
        redactor: &'a OutgoingRedactor,
    ) -> BackwardSearch<'a> {
        let search = if redactor.replaces() { search.for_outgoing() } else { search };
        BackwardSearch { files: session_files, search, redactor, unreported: None, end: None }
    }

    /// Reports the secrets in a text of the log of which `told` goes out.
    pub async fn report_text(&self, io: &Io, text: &str, placeholders: &str) -> Result<(), Trouble> {
        let aside = self.unreported.as_deref().unwrap_or(self.redactor);
        self.redactor.report_value(io, aside, (&self.redactor.json_if_reporting(text), placeholders)).await
    }

    /// Finds the next messages that have all words, newest first; `None` at the end.
    pub async fn next(&mut self, io: &Io) -> Result<Option<Vec<MessageHit>>, Trouble> {
        let file = self.files.log_file(LogName::Messages);
        let mut end = match self.end {
            Some(end) => end,
            None => io.stat(&file).await?.map_or(0, |stat| stat.size),
        };
        let mut wanted = CHUNK_BYTES;
        while end > 0 {
            let start = end.saturating_sub(wanted);
            let bytes = io.read(&file, start, Some(end)).await?.unwrap_or_default();
            let from = if start == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(0, |at| at + 1) };
            let is_whole = start == 0 || (from > 0 && from < bytes.len());
            if !bytes.is_empty() && !is_whole {
                wanted *= 2; // The line is longer than that.
                continue;
            }
            let hits = self.find_hits(io, &bytes[from..], start + from as u64).await?;
            end = if bytes.is_empty() || start == 0 { 0 } else { start + from as u64 };
            wanted = CHUNK_BYTES;
            if !hits.is_empty() {
                self.end = Some(end);
                return Ok(Some(hits));
            }
        }
        self.end = Some(0);
        Ok(None)
    }

    async fn find_hits(&mut self, io: &Io, lines: &[u8], at: u64) -> Result<Vec<MessageHit>, Trouble> {
        let (mut hits, mut redactable) = (Vec::new(), Vec::new());
        for place in self.search.candidate_lines(lines) {
            if self.files.is_skipped_line(io, &lines[place.clone()], at + place.start as u64).await? {
                continue;
            }
            let mut answer = self.search.match_line(&lines[place]);
            while let LineMatch::NeedsBlob { blob } = answer {
                let bytes = self.files.read_blob(io, &blob).await?;
                answer = self.search.take_blob(&blob, bytes.as_deref());
            }
            match answer {
                LineMatch::Hit(hit) => hits.push(hit),
                LineMatch::Redactable(message) => redactable.push(*message),
                LineMatch::None | LineMatch::NeedsBlob { .. } => {}
            }
        }
        // Whether something is found must not reveal what may not go out.
        if !redactable.is_empty() {
            let aside = self.unreported_redactor(io).await?;
            let left = aside.redact_messages(io, redactable).await?;
            hits.extend(left.iter().filter_map(|one| self.search.find_hit(&without_placeholders(one)?, one)));
        }
        Ok(hits)
    }

    async fn unreported_redactor(&mut self, io: &Io) -> Result<Rc<OutgoingRedactor>, Trouble> {
        let aside = match &self.unreported {
            Some(aside) => aside.clone(),
            None => self.redactor.unreported_copy_for(io, &self.files.folder()).await?,
        };
        self.unreported = Some(aside.clone());
        Ok(aside)
    }
}

impl SessionFiles {
    // Whether a line of the log is of a batch that does not count. Without an open session the log is read for that.
    pub(super) async fn is_skipped_line(&self, io: &Io, line: &[u8], at: u64) -> Result<bool, Trouble> {
        let Some(start) = batch::find_first_record(line) else { return Ok(false) };
        let at = at + start;
        if self.with_session(|session| session.log_state().bytes) <= at {
            Box::pin(self.observe_present_logs(io)).await?;
        }
        let passed = self.with_session(|session| session.skipped_lines());
        Ok(passed.decided_end <= at || Span::any_holds(&passed.spans, at))
    }
}
