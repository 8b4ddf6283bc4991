//! Reads the messages of a log one after another, oldest or newest first, each once and whole.
//!
//! It holds a line and a hash for each message, never the log. A revised message stands in the place of its first
//! line, as its highest revision; oldest first that revision still lies ahead, so the host reads the log for
//! [`HighestRevisions`] before. Newest first, a lower revision that a merge put behind a higher one is given too.
//! What lies elsewhere it asks for by [`InputRequest`].

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::text::open_all;
use crate::record::blob::{BlobFailure, BlobRestoration};
use crate::record::message::{self, Message};
use crate::record::scan::{Problem, ProblemCode, Record, ScanItem, Scanner};
use crate::record::span::Span;
use crate::session::batch::SkippedLines;
use crate::session::branch::{hash_line, hash_line_content, hash_text};
use crate::session::input_request::InputRequest;

#[derive(Debug)]
enum ReadItem {
    Message(Box<Message>),
    Problem(Problem),
    Needs(InputRequest),
}

/// All messages that can be given until an input is needed.
#[derive(Debug, Default, Serialize)]
pub struct MessageBatch {
    /// In the requested order.
    #[serde(serialize_with = "open_all")]
    pub messages: Vec<Message>,
    /// Problems found on the way.
    pub problems: Vec<Problem>,
    /// The input that only the host can give; without one, more bytes have to be fed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<InputRequest>,
}

/// The places of the highest revisions of revised messages.
#[derive(Debug)]
pub struct HighestRevisions {
    scanner: Scanner,
    highest: BTreeMap<u64, RevisionLine>,
    skipped: SkippedLines,
}

// A revision, its place, and the hash of its bytes.
#[derive(Clone, Copy, Debug)]
struct RevisionLine {
    rev: u64,
    place: Span,
    bytes: u64,
}

/// Reads the messages of a log.
#[derive(Debug)]
pub struct MessageReader {
    scanner: Scanner,
    order: Order,
    skipped: SkippedLines,
    has_undecided: bool,
    // Hashes of the lines that were given.
    given_lines: BTreeSet<u64>,
    // The messages whose first line was read, and the revision that was given there.
    placed_revisions: BTreeMap<u64, u64>,
    ready: VecDeque<ReadItem>,
    // Revisions that lie elsewhere.
    pending_spans: VecDeque<Span>,
    // The message whose blobs are being requested.
    unfolding: Option<(Span, BlobRestoration)>,
    is_finished: bool,
}

#[derive(Debug)]
enum Order {
    OldestFirst(HighestRevisions),
    // The highest revision of each message that was met as a revision, and whose first line is still ahead.
    NewestFirst(BTreeMap<u64, RevisionLine>),
}

impl HighestRevisions {
    /// For a log whose bytes are fed from `offset` on.
    pub fn new(offset: u64) -> HighestRevisions {
        let (scanner, highest) = (Scanner::forward(offset), BTreeMap::new());
        HighestRevisions { scanner, highest, skipped: SkippedLines::default() }
    }

    /// As [`MessageReader::with_skipped`].
    pub(crate) fn with_skipped(self, passed: SkippedLines) -> HighestRevisions {
        HighestRevisions { skipped: passed, ..self }
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
        while let Some(found) = self.scanner.next() {
            let ScanItem::Record(record) = found else { continue };
            if self.skipped.is_undecided(&record) || self.skipped.contains(&record) {
                continue;
            }
            let Some(message) = message::read(&record).0.filter(|message| message.rev > 0) else { continue };
            let line = RevisionLine {
                rev: message.rev,
                place: record.span(),
                bytes: hash_line_content(&record.json, 0),
            };
            let known = self.highest.entry(hash_text(&message.id)).or_insert(line);
            if line.rev > known.rev {
                *known = line;
            }
        }
    }
}

impl MessageReader {
    /// Reads oldest first, from `offset` on, where a line begins.
    pub fn oldest_first(offset: u64, revisions: HighestRevisions) -> MessageReader {
        MessageReader::new(Scanner::forward(offset), Order::OldestFirst(revisions))
    }

    /// Reads newest first, from `end` on, where a line ends. `repeated`: the repeated lines, which a reader that
    /// begins at the end cannot know; see [`crate::session::checkpoint::Checkpoint`].
    pub fn newest_first(end: u64, repeated: Vec<Span>) -> MessageReader {
        MessageReader {
            skipped: repeated.into(),
            ..MessageReader::new(Scanner::backward(end), Order::NewestFirst(BTreeMap::new()))
        }
    }

    /// Skips lines that do not count.
    pub(crate) fn with_skipped(self, passed: SkippedLines) -> MessageReader {
        MessageReader { skipped: passed, ..self }
    }

    /// The same from now on.
    pub(crate) fn set_skipped(&mut self, passed: SkippedLines) {
        self.skipped = passed;
    }

    /// Whether lines were left out that are not known to count, or to be the first of their message.
    #[cfg(feature = "interop")]
    pub(crate) fn has_undecided(&self) -> bool {
        self.has_undecided
    }

    fn new(scanner: Scanner, order: Order) -> MessageReader {
        let (given, placed) = (BTreeSet::new(), BTreeMap::new());
        let (ready, elsewhere) = (VecDeque::new(), VecDeque::new());
        MessageReader {
            scanner,
            order,
            skipped: SkippedLines::default(),
            has_undecided: false,
            given_lines: given,
            placed_revisions: placed,
            ready,
            pending_spans: elsewhere,
            unfolding: None,
            is_finished: false,
        }
    }

    /// Takes the bytes that follow those fed before, or, newest first, that precede them.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
    }

    /// Notes that there are no more bytes.
    pub fn finish(&mut self) {
        self.scanner.finish();
        self.is_finished = true;
    }

    // `None` where more bytes have to be fed, or all were read.
    fn step(&mut self) -> Option<ReadItem> {
        loop {
            if let Some((place, unfolding)) = self.unfolding.take() {
                if let Some(id) = unfolding.next_blob().map(String::from) {
                    self.unfolding = Some((place, unfolding));
                    return Some(ReadItem::Needs(InputRequest::Blob { id }));
                }
                self.ready.push_back(ReadItem::Message(unfolding.into_message().into()));
            }
            if let Some(read) = self.ready.pop_front() {
                return Some(read);
            }
            if let Some(range) = self.pending_spans.front() {
                return Some(ReadItem::Needs(InputRequest::Bytes { range: *range }));
            }
            match self.scanner.next() {
                Some(ScanItem::Problem(problem)) => return Some(ReadItem::Problem(problem)),
                Some(ScanItem::Record(record)) => self.take_record(&record),
                None if self.is_finished && self.queue_leftovers() => {}
                None => return None,
            }
        }
    }

    /// Returns all messages that can be given until an input is needed.
    pub fn next_batch(&mut self) -> MessageBatch {
        let mut batch = MessageBatch::default();
        while let Some(read) = self.step() {
            match read {
                ReadItem::Message(message) => batch.messages.push(*message),
                ReadItem::Problem(problem) => batch.problems.push(problem),
                ReadItem::Needs(needs) => {
                    batch.needs = Some(needs);
                    break;
                }
            }
        }
        batch
    }

    /// Takes requested bytes; `start` is their offset.
    pub fn take_bytes(&mut self, start: u64, bytes: &[u8]) {
        self.pending_spans.pop_front();
        let json = String::from_utf8_lossy(bytes).trim_end().to_string();
        let record = Record::from_line(start, json);
        if let Some(message) = message::read(&record).0 {
            self.queue_message(&record, message);
        }
    }

    /// Takes a requested blob, if it is there. Else its message is given without it, and a problem.
    pub fn take_blob(&mut self, id: &str, bytes: Option<&[u8]>) {
        let Some((Span { start, end }, unfolding)) = &mut self.unfolding else { return };
        let found = match unfolding.take(id, bytes) {
            Ok(()) => return,
            Err(BlobFailure::Missing) => "none",
            Err(BlobFailure::OtherBytes) => "other bytes instead",
        };
        let message = format!("expected the blob {id}, but found {found}");
        let problem = Problem { code: ProblemCode::MissingBlob, start: *start, end: *end, message };
        self.ready.push_back(ReadItem::Problem(problem));
    }

    fn take_record(&mut self, record: &Record) {
        let is_undecided = self.skipped.is_undecided(record);
        self.has_undecided |= is_undecided;
        if is_undecided || self.skipped.contains(record) {
            return;
        }
        let (message, problems) = message::read(record);
        self.ready.extend(problems.into_iter().map(ReadItem::Problem));
        let Some(message) = message else { return };
        let id = hash_text(&message.id);
        if self.placed_revisions.get(&id).is_some_and(|rev| message.rev < *rev) {
            return;
        }
        let highest = match &mut self.order {
            Order::OldestFirst(revisions) => revisions.highest.get(&id).copied(),
            Order::NewestFirst(held) => {
                let later = held.remove(&id);
                if message.rev > 0 {
                    let line = RevisionLine {
                        rev: message.rev,
                        place: record.span(),
                        bytes: hash_line_content(&record.json, 0),
                    };
                    // Two of one revision are both kept.
                    let is_own = message.source.is_none();
                    let is_double =
                        |later: &RevisionLine| is_own && later.rev == line.rev && later.bytes != line.bytes;
                    self.pending_spans.extend(later.filter(is_double).map(|later| later.place));
                    if !Span::any_holds(&self.skipped.firsts, record.start) {
                        self.has_undecided |= record.start >= self.skipped.decided_end;
                        held.insert(id, later.filter(|later| later.rev > line.rev).unwrap_or(line));
                        return;
                    }
                }
                later
            }
        };
        match highest {
            Some(RevisionLine { rev, place, .. }) if message.rev < rev => {
                self.placed_revisions.insert(id, rev);
                self.pending_spans.push_back(place);
            }
            Some(_) | None => self.queue_message(record, message),
        }
    }

    // Queues a message; a line that occurs twice is given once.
    fn queue_message(&mut self, record: &Record, message: Message) {
        if !self.given_lines.insert(hash_line(&message, &record.json)) {
            return;
        }
        self.unfolding = Some((record.span(), BlobRestoration::new(message)));
    }

    // At the beginning of the log: revisions of messages whose first line is lost, where nobody knew that.
    fn queue_leftovers(&mut self) -> bool {
        let Order::NewestFirst(held) = &mut self.order else { return false };
        let mut places: Vec<Span> = core::mem::take(held).into_values().map(|one| one.place).collect();
        places.sort_by(|a, b| b.cmp(a));
        self.pending_spans.extend(places);
        !self.pending_spans.is_empty()
    }
}
