//! Reads the lines of a log oldest first for folding: each message at its first line, in its latest revision.

use alloc::string::String;
use alloc::vec::Vec;

use crate::record::message::{self, Message};
use crate::record::scan::{Record, ScanItem, Scanner};
use crate::record::span::Span;
use crate::session::revisions::LineContent;

/// A line for the fold.
pub(crate) struct FoldLine {
    /// What it contributes.
    pub says: LineContent,
    /// Whether its message lies on the path.
    pub is_on_path: bool,
}

/// A pass to the end of a log.
#[derive(Clone, Debug)]
pub(crate) struct FoldPass {
    scanner: Scanner,
    fed_end: u64,
    end: u64,
    is_finished: bool,
    // A line whose content is a later revision, what was read of that, and where the line begins.
    pending: Option<PendingRevision>,
}

#[derive(Clone, Debug)]
struct PendingRevision {
    line: Span,
    read: Vec<u8>,
    first: u64,
    is_on_path: bool,
}

impl FoldPass {
    pub fn of(bytes: Span) -> FoldPass {
        let Span { start, end } = bytes;
        FoldPass { scanner: Scanner::forward(start), fed_end: start, end, is_finished: false, pending: None }
    }

    /// The bytes to read next.
    pub fn next_span(&self) -> Span {
        match &self.pending {
            Some(PendingRevision { line, read, .. }) => {
                Span { start: line.start + read.len() as u64, ..*line }
            }
            None => Span { start: self.fed_end, end: self.end },
        }
    }

    /// Takes the next bytes of the wanted span. `line` tells for each message what its line means; `take` gets each
    /// message with the start of its first line. Returns the end once it is reached.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        line: &dyn Fn(&Message, u64) -> FoldLine,
        take: &mut dyn FnMut(&Message, u64, FoldLine),
    ) -> Option<u64> {
        if self.pending.is_some() {
            self.take_revision(bytes, take);
        } else {
            self.scanner.feed(bytes);
            self.fed_end = if bytes.is_empty() { self.end } else { self.fed_end + bytes.len() as u64 };
        }
        self.drain(line, take);
        if self.fed_end >= self.end && self.pending.is_none() && !self.is_finished {
            self.is_finished = true;
            self.scanner.finish();
            self.drain(line, take);
        }
        (self.fed_end >= self.end && self.pending.is_none()).then_some(self.end)
    }

    // Problems of a line were reported when it was observed.
    fn drain(
        &mut self,
        line: &dyn Fn(&Message, u64) -> FoldLine,
        take: &mut dyn FnMut(&Message, u64, FoldLine),
    ) {
        while self.pending.is_none()
            && let Some(found) = self.scanner.next()
        {
            let ScanItem::Record(record) = found else { continue };
            let Some(message) = message::read(&record).0 else { continue };
            let first = record.start;
            match line(&message, first) {
                FoldLine { says: LineContent::Later(line), is_on_path } => {
                    self.pending = Some(PendingRevision { line, read: Vec::new(), first, is_on_path });
                }
                line => take(&message, first, line),
            }
        }
    }

    fn take_revision(&mut self, bytes: &[u8], take: &mut dyn FnMut(&Message, u64, FoldLine)) {
        let Some(PendingRevision { line, mut read, first, is_on_path }) = self.pending.take() else { return };
        read.extend_from_slice(bytes);
        if line.start + (read.len() as u64) < line.end && !bytes.is_empty() {
            self.pending = Some(PendingRevision { line, read, first, is_on_path });
            return;
        }
        let record = Record::from_line(line.start, String::from_utf8_lossy(&read).trim_end().into());
        if let Some(message) = message::read(&record).0 {
            take(&message, first, FoldLine { says: LineContent::All, is_on_path });
        }
    }
}
