//! Reads the lines of a log, from the oldest on, for whoever folds them: each message where it was said first, and as it reads last.

use alloc::string::String;
use alloc::vec::Vec;

use crate::record::message::{self, Message};
use crate::record::scan::{Found, Record, Scanner};
use crate::record::span::Span;
use crate::session::revised::Says;

/// A line, to whoever folds the log.
pub(crate) struct Line {
    /// What it says.
    pub says: Says,
    /// Whether its message lies on the path.
    pub is_on_path: bool,
}

/// A run to the end of a log.
#[derive(Clone, Debug)]
pub(crate) struct Folding {
    scanner: Scanner,
    fed: u64,
    end: u64,
    is_finished: bool,
    // A line that says what the one before it in the log is to say, what was read of it, and where that one begins.
    later: Option<Later>,
}

#[derive(Clone, Debug)]
struct Later {
    line: Span,
    read: Vec<u8>,
    first: u64,
    is_on_path: bool,
}

impl Folding {
    pub fn of(bytes: Span) -> Folding {
        let Span { start, end } = bytes;
        Folding { scanner: Scanner::forward(start), fed: start, end, is_finished: false, later: None }
    }

    /// What is to be read next.
    pub fn wanted(&self) -> Span {
        match &self.later {
            Some(Later { line, read, .. }) => Span { start: line.start + read.len() as u64, ..*line },
            None => Span { start: self.fed, end: self.end },
        }
    }

    /// Takes the next bytes of what is wanted. `line` says of each message what its line means, `take` gets each with where its first
    /// line begins. The end, once it is reached.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        line: &dyn Fn(&Message, u64) -> Line,
        take: &mut dyn FnMut(&Message, u64, Line),
    ) -> Option<u64> {
        if self.later.is_some() {
            self.take_later(bytes, take);
        } else {
            self.scanner.feed(bytes);
            self.fed = if bytes.is_empty() { self.end } else { self.fed + bytes.len() as u64 };
        }
        self.drain(line, take);
        if self.fed >= self.end && self.later.is_none() && !self.is_finished {
            self.is_finished = true;
            self.scanner.finish();
            self.drain(line, take);
        }
        (self.fed >= self.end && self.later.is_none()).then_some(self.end)
    }

    // What is wrong with a line was said when it was observed.
    fn drain(&mut self, line: &dyn Fn(&Message, u64) -> Line, take: &mut dyn FnMut(&Message, u64, Line)) {
        while self.later.is_none()
            && let Some(found) = self.scanner.next()
        {
            let Found::Record(record) = found else { continue };
            let Some(message) = message::read(&record).0 else { continue };
            let first = record.start;
            match line(&message, first) {
                Line { says: Says::Later(line), is_on_path } => {
                    self.later = Some(Later { line, read: Vec::new(), first, is_on_path });
                }
                line => take(&message, first, line),
            }
        }
    }

    fn take_later(&mut self, bytes: &[u8], take: &mut dyn FnMut(&Message, u64, Line)) {
        let Some(Later { line, mut read, first, is_on_path }) = self.later.take() else { return };
        read.extend_from_slice(bytes);
        if line.start + (read.len() as u64) < line.end && !bytes.is_empty() {
            self.later = Some(Later { line, read, first, is_on_path });
            return;
        }
        let record = Record::at(line.start, String::from_utf8_lossy(&read).trim_end().into());
        if let Some(message) = message::read(&record).0 {
            take(&message, first, Line { says: Says::All, is_on_path });
        }
    }
}
