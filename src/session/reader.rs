//! Reads the messages of a log one after another, oldest or newest first, each once and whole.
//!
//! It holds a line and what tells one message from another, never the log. A message that was written again stands in
//! the place of the first, as its highest revision; oldest first that revision still lies ahead, so the host reads the
//! log for [`Revisions`] before. Newest first, a lower revision that a merge put behind a higher one is given too.
//! What lies elsewhere it asks for by [`Needs`].

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::text::open_all;
use crate::record::blob::{NoBlob, Unfolding};
use crate::record::message::{self, Message};
use crate::record::scan::{Found, Problem, ProblemCode, Record, Scanner};
use crate::record::span::Span;
use crate::session::batch::Passed;
use crate::session::branch::{key, print, said};
use crate::session::needs::Needs;

#[derive(Debug)]
enum Read {
    Message(Box<Message>),
    Problem(Problem),
    Needs(Needs),
}

/// All that can be given until something is needed.
#[derive(Debug, Default, Serialize)]
pub struct Batch {
    /// In the order that was asked for.
    #[serde(serialize_with = "open_all")]
    pub messages: Vec<Message>,
    /// What was met beside them.
    pub problems: Vec<Problem>,
    /// What only the host can give; without it, more bytes have to be fed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
}

/// Where the highest revision of each message lies that was written again.
#[derive(Debug)]
pub struct Revisions {
    scanner: Scanner,
    highest: BTreeMap<u64, Held>,
    passed: Passed,
}

// A revision, where it lies, and the hash of its bytes.
#[derive(Clone, Copy, Debug)]
struct Held {
    rev: u64,
    place: Span,
    bytes: u64,
}

/// The messages of a log.
#[derive(Debug)]
pub struct Reader {
    scanner: Scanner,
    order: Order,
    passed: Passed,
    has_undecided: bool,
    // Each line that was given, by what tells it from others.
    given: BTreeSet<u64>,
    // The messages whose first place was met, and the revision that was given there.
    placed: BTreeMap<u64, u64>,
    ready: VecDeque<Read>,
    // Revisions that lie elsewhere.
    elsewhere: VecDeque<Span>,
    // The message whose blobs the host is asked for.
    unfolding: Option<(Span, Unfolding)>,
    is_finished: bool,
}

#[derive(Debug)]
enum Order {
    OldestFirst(Revisions),
    // Of the messages that were met as a revision, and not yet in their first place, the highest one.
    NewestFirst(BTreeMap<u64, Held>),
}

impl Revisions {
    /// Of a log whose bytes are fed from `offset` on.
    pub fn new(offset: u64) -> Revisions {
        let (scanner, highest) = (Scanner::forward(offset), BTreeMap::new());
        Revisions { scanner, highest, passed: Passed::default() }
    }

    /// As [`Reader::without`].
    pub(crate) fn without(self, passed: Passed) -> Revisions {
        Revisions { passed, ..self }
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
        while let Some(found) = self.scanner.next() {
            let Found::Record(record) = found else { continue };
            if self.passed.is_undecided(&record) || self.passed.holds(&record) {
                continue;
            }
            let Some(message) = message::read(&record).0.filter(|message| message.rev > 0) else { continue };
            let line = Held { rev: message.rev, place: record.span(), bytes: said(&record.json, 0) };
            let known = self.highest.entry(key(&message.id)).or_insert(line);
            if line.rev > known.rev {
                *known = line;
            }
        }
    }
}

impl Reader {
    /// Oldest first, from `offset` on, where a line begins.
    pub fn oldest_first(offset: u64, revisions: Revisions) -> Reader {
        Reader::new(Scanner::forward(offset), Order::OldestFirst(revisions))
    }

    /// Newest first, from `end` on, where a line ends. `repeated`: the lines that say again what was said before, which
    /// nobody knows who begins at the end; see [`crate::session::checkpoint::Checkpoint`].
    pub fn newest_first(end: u64, repeated: Vec<Span>) -> Reader {
        Reader {
            passed: repeated.into(),
            ..Reader::new(Scanner::backward(end), Order::NewestFirst(BTreeMap::new()))
        }
    }

    /// Without what counts for nothing.
    pub(crate) fn without(self, passed: Passed) -> Reader {
        Reader { passed, ..self }
    }

    /// The same from now on.
    pub(crate) fn know(&mut self, passed: Passed) {
        self.passed = passed;
    }

    /// Whether lines were left out of which nobody knew whether they count, or stand where they are.
    #[cfg(feature = "interop")]
    pub(crate) fn has_undecided(&self) -> bool {
        self.has_undecided
    }

    fn new(scanner: Scanner, order: Order) -> Reader {
        let (given, placed) = (BTreeSet::new(), BTreeMap::new());
        let (ready, elsewhere) = (VecDeque::new(), VecDeque::new());
        Reader {
            scanner,
            order,
            passed: Passed::default(),
            has_undecided: false,
            given,
            placed,
            ready,
            elsewhere,
            unfolding: None,
            is_finished: false,
        }
    }

    /// Takes the bytes that follow those fed before, or, newest first, that precede them.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
    }

    /// There are no more bytes.
    pub fn finish(&mut self) {
        self.scanner.finish();
        self.is_finished = true;
    }

    // Nothing where more bytes have to be fed, or all were read.
    fn step(&mut self) -> Option<Read> {
        loop {
            if let Some((place, unfolding)) = self.unfolding.take() {
                if let Some(id) = unfolding.wanted().map(String::from) {
                    self.unfolding = Some((place, unfolding));
                    return Some(Read::Needs(Needs::Blob { id }));
                }
                self.ready.push_back(Read::Message(unfolding.into_message().into()));
            }
            if let Some(read) = self.ready.pop_front() {
                return Some(read);
            }
            if let Some(range) = self.elsewhere.front() {
                return Some(Read::Needs(Needs::Bytes { range: *range }));
            }
            match self.scanner.next() {
                Some(Found::Problem(problem)) => return Some(Read::Problem(problem)),
                Some(Found::Record(record)) => self.meet(&record),
                None if self.is_finished && self.has_left_over() => {}
                None => return None,
            }
        }
    }

    /// All that can be given until something is needed.
    pub fn batch(&mut self) -> Batch {
        let mut batch = Batch::default();
        while let Some(read) = self.step() {
            match read {
                Read::Message(message) => batch.messages.push(*message),
                Read::Problem(problem) => batch.problems.push(problem),
                Read::Needs(needs) => {
                    batch.needs = Some(needs);
                    break;
                }
            }
        }
        batch
    }

    /// Takes bytes that were needed; `start` is where they lie.
    pub fn bytes(&mut self, start: u64, bytes: &[u8]) {
        self.elsewhere.pop_front();
        let json = String::from_utf8_lossy(bytes).trim_end().to_string();
        let record = Record::at(start, json);
        if let Some(message) = message::read(&record).0 {
            self.give(&record, message);
        }
    }

    /// Takes a blob that was needed, if it is there. Else its message is given without it, and a problem.
    pub fn blob(&mut self, id: &str, bytes: Option<&[u8]>) {
        let Some((Span { start, end }, unfolding)) = &mut self.unfolding else { return };
        let found = match unfolding.take(id, bytes) {
            Ok(()) => return,
            Err(NoBlob::Missing) => "none",
            Err(NoBlob::OtherBytes) => "other bytes instead",
        };
        let message = format!("expected the blob {id}, but found {found}");
        let problem = Problem { code: ProblemCode::MissingBlob, start: *start, end: *end, message };
        self.ready.push_back(Read::Problem(problem));
    }

    fn meet(&mut self, record: &Record) {
        let is_undecided = self.passed.is_undecided(record);
        self.has_undecided |= is_undecided;
        if is_undecided || self.passed.holds(record) {
            return;
        }
        let (message, problems) = message::read(record);
        self.ready.extend(problems.into_iter().map(Read::Problem));
        let Some(message) = message else { return };
        let id = key(&message.id);
        if self.placed.get(&id).is_some_and(|rev| message.rev < *rev) {
            return;
        }
        let highest = match &mut self.order {
            Order::OldestFirst(revisions) => revisions.highest.get(&id).copied(),
            Order::NewestFirst(held) => {
                let later = held.remove(&id);
                if message.rev > 0 {
                    let line = Held { rev: message.rev, place: record.span(), bytes: said(&record.json, 0) };
                    // Two of one revision are both kept.
                    let is_own = message.source.is_none();
                    let is_double =
                        |later: &Held| is_own && later.rev == line.rev && later.bytes != line.bytes;
                    self.elsewhere.extend(later.filter(is_double).map(|later| later.place));
                    if !Span::any_holds(&self.passed.firsts, record.start) {
                        self.has_undecided |= record.start >= self.passed.decided;
                        held.insert(id, later.filter(|later| later.rev > line.rev).unwrap_or(line));
                        return;
                    }
                }
                later
            }
        };
        match highest {
            Some(Held { rev, place, .. }) if message.rev < rev => {
                self.placed.insert(id, rev);
                self.elsewhere.push_back(place);
            }
            Some(_) | None => self.give(record, message),
        }
    }

    // A line that stands there twice is given once.
    fn give(&mut self, record: &Record, message: Message) {
        if !self.given.insert(print(&message, &record.json)) {
            return;
        }
        self.unfolding = Some((record.span(), Unfolding::new(message)));
    }

    // At the beginning of the log: revisions of messages whose first line is lost, where nobody knew that.
    fn has_left_over(&mut self) -> bool {
        let Order::NewestFirst(held) = &mut self.order else { return false };
        let mut places: Vec<Span> = core::mem::take(held).into_values().map(|one| one.place).collect();
        places.sort_by(|a, b| b.cmp(a));
        self.elsewhere.extend(places);
        !self.elsewhere.is_empty()
    }
}
