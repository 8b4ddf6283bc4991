//! Reads bytes as records and problems, forward from the start of a log or backward from its end.
//!
//! A push parser: [`Scanner::feed`] takes the bytes that the host read, [`Scanner::next`] gives what is complete, and
//! [`Scanner::finish`] says that there is no more for now. It holds one line of at most twice [`MAX_LINE`], never a
//! log. One bad line costs that line: it is reported with its byte range, and a record inside it is believed if its
//! checksum is right. Only a line feed ends a line. It does not know what a record means: see
//! [`crate::record::message::read`].

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{Fields, FromFields, MAX_DEPTH, ObjectError};
use crate::record::line::{Checksum, MAX_LINE, checksum};
use crate::record::resync;
use crate::record::span::Span;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

// The longest line that is read: two lines whose line feed is lost are still read; a longer one is passed by, without a search inside.
const MAX_READ_LINE_BYTES: usize = 2 * MAX_LINE;

/// A record or a problem that a scan found.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanItem {
    /// A line that is one JSON object.
    Record(Record),
    /// Bytes that are no record, or a record with something wrong.
    Problem(Problem),
}

/// A line that is one JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its first byte.
    pub start: u64,
    /// The byte behind its last one, its line feed left out.
    pub end: u64,
    /// The object as it stands.
    pub json: String,
    /// True if it has a checksum, and that is right.
    pub is_sound: bool,
}

impl Record {
    /// Makes a record from a line that is one object, and its first byte.
    pub fn from_line(start: u64, json: String) -> Record {
        let is_sound = checksum(json.trim_ascii().as_bytes()) == Checksum::Right;
        Record { start, end: start + json.len() as u64, json, is_sound }
    }

    /// Returns its place in the log.
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }

    /// Decodes the record; `expected` names the record type in the problem of valid JSON that is none.
    pub(crate) fn read<T: FromFields>(&self, expected: &str) -> (Option<T>, Vec<Problem>) {
        let problem = |code, message| Problem { code, start: self.start, end: self.end, message };
        let mut bad = Vec::new();
        let value = Fields::parse(&self.json).ok().and_then(|fields| T::from_fields(fields, &mut bad));
        let mut problems: Vec<Problem> =
            bad.into_iter().map(|bad| problem(ProblemCode::BadValue, bad.message)).collect();
        if value.is_none() {
            let message = format!("expected {expected}, but found another object instead");
            problems.push(problem(ProblemCode::Foreign, message));
        }
        (value, problems)
    }
}

/// Something wrong in a log, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Problem {
    /// The stable code.
    pub code: ProblemCode,
    /// Its first byte.
    pub start: u64,
    /// The byte behind its last one.
    pub end: u64,
    /// What was expected, and what was found.
    pub message: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ProblemCode {
    /// A known field has a value of another kind; the field is lost, the record is kept.
    BadValue,
    /// A byte order mark; the line behind it is read.
    Bom,
    /// The checksum is not that of the bytes; the record is kept.
    Checksum,
    /// A conflict marker that a merge left behind.
    ConflictMarker,
    /// Bytes that are no record.
    Damaged,
    /// The same id twice, with other bytes; both are kept.
    DuplicateId,
    /// Valid JSON that is no record of this log.
    Foreign,
    /// Several records on one line; each with a right checksum is kept.
    GluedLines,
    /// Bytes that are no UTF-8.
    InvalidUtf8,
    /// A line longer than the limit.
    LineTooLong,
    /// A parent that the log does not hold; the message follows the line before it.
    MissingParent,
    /// A blob that a line names is missing, or its bytes are others.
    MissingBlob,
    /// A run of zero bytes, as an unclean shutdown leaves it.
    NulRun,
    /// JSON nested deeper than the reader goes.
    TooDeep,
    /// Bytes behind the last complete line.
    TornTail,
}

impl ProblemCode {
    /// True if bytes were damaged; false if they are as somebody wrote them.
    pub fn is_damage(self) -> bool {
        match self {
            ProblemCode::Checksum
            | ProblemCode::ConflictMarker
            | ProblemCode::Damaged
            | ProblemCode::GluedLines
            | ProblemCode::InvalidUtf8
            | ProblemCode::LineTooLong
            | ProblemCode::MissingBlob
            | ProblemCode::NulRun
            | ProblemCode::TooDeep
            | ProblemCode::TornTail => true,
            ProblemCode::BadValue
            | ProblemCode::Bom
            | ProblemCode::DuplicateId
            | ProblemCode::Foreign
            | ProblemCode::MissingParent => false,
        }
    }
}

/// The push parser.
#[derive(Clone, Debug)]
pub struct Scanner {
    direction: Direction,
    buffer: Vec<u8>,
    // Forward: bytes of the buffer that are read. What follows them begins at `offset` in the log.
    read_bytes: usize,
    offset: u64,
    // Unread bytes that are known to hold no line feed: from the front, or from the back.
    searched_bytes: usize,
    // In a line longer than the limit: the bytes that were passed by.
    skipped_bytes: u64,
    // Backward, before the last line is given: whether it lacks its line feed; `None` before the first bytes.
    last_is_open: Option<bool>,
    limit: usize,
    // Forward: the end of the records given from a torn tail. Its line is read again when it is complete.
    delivered_end: u64,
    items: VecDeque<ScanItem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

impl Scanner {
    /// Makes a scanner that reads forward; the first bytes fed lie at `offset`, where a line begins.
    pub fn forward(offset: u64) -> Scanner {
        Scanner::new(Direction::Forward, offset)
    }

    /// Makes a scanner that reads backward; the first bytes fed end at `end`, the end of the log or behind the line
    /// feed of a line.
    pub fn backward(end: u64) -> Scanner {
        Scanner::new(Direction::Backward, end)
    }

    fn new(direction: Direction, offset: u64) -> Scanner {
        let (buffer, found) = (Vec::new(), VecDeque::new());
        Scanner {
            direction,
            buffer,
            read_bytes: 0,
            offset,
            searched_bytes: 0,
            skipped_bytes: 0,
            last_is_open: None,
            limit: MAX_READ_LINE_BYTES,
            delivered_end: 0,
            items: found,
        }
    }

    /// Takes the bytes that follow those fed before; backward, those that precede them.
    pub fn feed(&mut self, chunk: &[u8]) {
        match self.direction {
            Direction::Forward => {
                self.buffer.drain(..core::mem::take(&mut self.read_bytes));
                self.buffer.extend_from_slice(chunk);
            }
            Direction::Backward => {
                self.last_is_open = self.last_is_open.or(chunk.last().map(|byte| *byte != b'\n'));
                let behind = core::mem::replace(&mut self.buffer, chunk.to_vec());
                self.buffer.extend_from_slice(&behind);
                self.offset = self.offset.saturating_sub(chunk.len() as u64);
            }
        }
    }

    /// Forward: true if no line is open and every item found was given.
    pub(crate) fn is_between_lines(&self) -> bool {
        self.read_bytes == self.buffer.len() && self.skipped_bytes == 0 && self.items.is_empty()
    }

    /// Forward: takes lines that are known to be records, while [`Scanner::is_between_lines`].
    pub(crate) fn take_records(&mut self, mut lines: String) -> Vec<ScanItem> {
        let mut record = |json: String| {
            let start = self.offset;
            let end = start + json.len() as u64;
            self.offset = end + 1;
            ScanItem::Record(Record { start, end, json, is_sound: true })
        };
        if lines.find('\n') == lines.len().checked_sub(1) {
            lines.pop();
            return Vec::from([record(lines)]);
        }
        lines.split_terminator('\n').map(|line| record(line.into())).collect()
    }

    /// Returns the next complete item in the direction of the scan; `None` if more bytes are needed.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator is over with its first None, a scan is not"
    )]
    pub fn next(&mut self) -> Option<ScanItem> {
        loop {
            let (found, more) = match self.direction {
                Direction::Forward => {
                    (self.items.pop_front(), Scanner::line_from_front as fn(&mut Scanner) -> bool)
                }
                Direction::Backward => {
                    (self.items.pop_back(), Scanner::line_from_back as fn(&mut Scanner) -> bool)
                }
            };
            if found.is_some() {
                return found;
            }
            if !more(self) {
                return None;
            }
        }
    }

    /// Says that there are no more bytes for now. Forward: a last line without a line feed is given if it is a record,
    /// else it is reported as torn and kept, since its writer may still be at it. Backward: the start of the log is
    /// reached.
    pub fn finish(&mut self) {
        let start = self.offset;
        let mut line = core::mem::take(&mut self.buffer);
        line.drain(..core::mem::take(&mut self.read_bytes));
        self.searched_bytes = 0;
        match self.direction {
            Direction::Backward => {
                let is_tail = self.take_tail();
                self.read_line(&line, start, is_tail);
            }
            Direction::Forward if self.skipped_bytes > 0 => {
                // Its end may still come, and is no line of its own.
                let passed = self.skipped_bytes;
                self.read_line(&line, start, true);
                (self.buffer, self.skipped_bytes) = (line, passed);
            }
            Direction::Forward => {
                self.read_line(&line, start, true);
                let torn = |found: &ScanItem| matches!(found, ScanItem::Problem(p) if p.code == ProblemCode::TornTail);
                if self.items.iter().any(torn) {
                    let end = |found: &ScanItem| match found {
                        ScanItem::Record(record) => record.end,
                        ScanItem::Problem(_) => 0,
                    };
                    self.delivered_end = self.items.iter().map(end).fold(self.delivered_end, u64::max);
                    self.buffer = line;
                } else {
                    self.offset += line.len() as u64;
                }
            }
        }
    }

    /// Forward: returns where the next line begins; all before it was given.
    pub fn position(&self) -> u64 {
        self.offset.saturating_sub(self.skipped_bytes).max(self.delivered_end)
    }

    /// Forward: true if the last item given ends inside a line, behind a record in a torn tail.
    pub(crate) fn is_inside_line(&self) -> bool {
        self.delivered_end > self.offset
    }

    fn line_from_front(&mut self) -> bool {
        let unsearched = self.read_bytes + self.searched_bytes;
        let Some(at) = memchr::memchr(b'\n', &self.buffer[unsearched..]) else {
            let unread = self.buffer.len() - self.read_bytes;
            self.searched_bytes = unread;
            if unread > self.limit {
                self.offset += unread as u64;
                self.skip_long_line();
            }
            return false;
        };
        let (from, end) = (self.read_bytes, unsearched + at);
        let start = self.offset;
        self.offset += (end + 1 - from) as u64;
        self.read_bytes = end + 1;
        self.searched_bytes = 0;
        let buffer = core::mem::take(&mut self.buffer);
        self.read_line(&buffer[from..end], start, false);
        self.buffer = buffer;
        true
    }

    fn line_from_back(&mut self) -> bool {
        let unsearched = self.buffer.len() - self.searched_bytes;
        let Some(at) = memchr::memrchr(b'\n', &self.buffer[..unsearched]) else {
            self.searched_bytes = self.buffer.len();
            if self.searched_bytes > self.limit {
                self.skip_long_line();
            }
            return false;
        };
        let line = self.buffer.split_off(at + 1);
        let start = self.offset + at as u64 + 1;
        self.buffer.truncate(at);
        self.searched_bytes = 0;
        let is_tail = self.take_tail();
        self.read_line(&line, start, is_tail);
        true
    }

    fn take_tail(&mut self) -> bool {
        self.last_is_open.replace(false).unwrap_or_default()
    }

    fn skip_long_line(&mut self) {
        self.skipped_bytes += (self.buffer.len() - self.read_bytes) as u64;
        self.buffer.clear();
        (self.read_bytes, self.searched_bytes) = (0, 0);
    }

    fn read_line(&mut self, line: &[u8], start: u64, is_tail: bool) {
        let passed = core::mem::take(&mut self.skipped_bytes);
        if passed + line.len() as u64 > self.limit as u64 {
            let from = if self.direction == Direction::Forward { start - passed } else { start };
            let end = from + passed + line.len() as u64;
            let message = format!(
                "expected a line of at most {} bytes, but found one of {} bytes instead",
                self.limit,
                end - from
            );
            return self.report_problem(ProblemCode::LineTooLong, from, end, message);
        }
        let (line, start) = self.without_padding(line, start);
        if line.is_empty() {
            return;
        }
        let end = start + line.len() as u64;
        let Ok(json) = core::str::from_utf8(line) else {
            return self.read_damaged_line(line, start, is_tail);
        };
        match Fields::check(json) {
            Ok(()) => {
                let found = checksum(line.trim_ascii());
                if found == Checksum::Wrong {
                    let message =
                        String::from("expected the checksum of these bytes, but found another one instead");
                    self.report_problem(ProblemCode::Checksum, start, end, message);
                }
                let (json, is_sound) = (json.into(), found == Checksum::Right);
                self.items.push_back(ScanItem::Record(Record { start, end, json, is_sound }));
            }
            // A tail such as `12` is no value yet: its writer may be at `123`.
            Err(ObjectError::Other(_)) if is_tail => self.read_damaged_line(line, start, is_tail),
            Err(ObjectError::Other(kind)) => {
                let message = format!("expected a record, but found {kind} instead");
                self.report_problem(ProblemCode::Foreign, start, end, message);
            }
            // A record behind a deep fragment is still a record. A tail may yet be closed, whatever its depth.
            Err(ObjectError::TooDeep) if !is_tail && resync::find_records(line).is_empty() => {
                let message =
                    format!("expected at most {MAX_DEPTH} levels of nesting, but found more instead");
                self.report_problem(ProblemCode::TooDeep, start, end, message);
            }
            Err(ObjectError::TooDeep | ObjectError::Invalid) => self.read_damaged_line(line, start, is_tail),
        }
    }

    // Cuts off what surrounds a line: a byte order mark, a carriage return, runs of zero bytes.
    fn without_padding<'a>(&mut self, mut line: &'a [u8], mut start: u64) -> (&'a [u8], u64) {
        if start == 0 && line.starts_with(BYTE_ORDER_MARK) {
            self.report_problem(
                ProblemCode::Bom,
                0,
                3,
                "expected a record, but found a byte order mark instead".into(),
            );
            (line, start) = (&line[3..], 3);
        }
        let zeros = line.iter().take_while(|byte| **byte == 0).count();
        self.report_nul_run(start, zeros);
        (line, start) = (&line[zeros..], start + zeros as u64);
        let zeros = line.iter().rev().take_while(|byte| **byte == 0).count();
        line = &line[..line.len() - zeros];
        self.report_nul_run(start + line.len() as u64, zeros);
        (line.strip_suffix(b"\r").unwrap_or(line), start)
    }

    fn report_nul_run(&mut self, start: u64, len: usize) {
        if len > 0 {
            let message = format!("expected a record, but found {len} zero bytes instead");
            self.report_problem(ProblemCode::NulRun, start, start + len as u64, message);
        }
    }

    // Keeps the records whose checksum is right, and reports the bytes between them.
    fn read_damaged_line(&mut self, line: &[u8], start: u64, is_tail: bool) {
        let spans = resync::find_records(line);
        let mut at = 0;
        for (from, to) in spans.iter().copied() {
            self.report_gap(&line[at..from], start + at as u64, false);
            let json = String::from_utf8_lossy(&line[from..to]).into_owned();
            let (start, end) = (start + from as u64, start + to as u64);
            if end > self.delivered_end {
                self.items.push_back(ScanItem::Record(Record { start, end, json, is_sound: true }));
            }
            at = to;
        }
        if let [(first, _), _, ..] = spans[..] {
            let message = format!("expected one record on a line, but found {} instead", spans.len());
            self.report_problem(ProblemCode::GluedLines, start + first as u64, start + at as u64, message);
        }
        self.report_gap(&line[at..], start + at as u64, is_tail);
    }

    fn report_gap(&mut self, bytes: &[u8], start: u64, is_tail: bool) {
        if bytes.is_empty() {
            return;
        }
        let conflict =
            [&b"<<<<<<<"[..], b"|||||||", b"=======", b">>>>>>>"].iter().any(|m| bytes.starts_with(m));
        let (code, what) = match core::str::from_utf8(bytes) {
            _ if is_tail => (ProblemCode::TornTail, "the beginning of one"),
            _ if conflict => (ProblemCode::ConflictMarker, "a merge's conflict marker"),
            Err(_) => (ProblemCode::InvalidUtf8, "bytes that are no UTF-8"),
            _ if bytes.contains(&0) => (ProblemCode::NulRun, "zero bytes"),
            Ok(_) => (ProblemCode::Damaged, "text that is not a JSON object"),
        };
        let message = format!("expected a record, but found {what} instead");
        self.report_problem(code, start, start + bytes.len() as u64, message);
    }

    fn report_problem(&mut self, code: ProblemCode, start: u64, end: u64, message: String) {
        self.items.push_back(ScanItem::Problem(Problem { code, start, end, message }));
    }
}

/// Scans a whole log that is in memory.
pub fn scan(bytes: &[u8]) -> Vec<ScanItem> {
    let mut scanner = Scanner::forward(0);
    scanner.feed(bytes);
    let mut all: Vec<ScanItem> = core::iter::from_fn(|| scanner.next()).collect();
    scanner.finish();
    all.extend(core::iter::from_fn(|| scanner.next()));
    all
}

/// Returns the records of a log that is in memory, without its problems.
pub(crate) fn records(bytes: &[u8]) -> impl Iterator<Item = Record> {
    scan(bytes).into_iter().filter_map(|found| match found {
        ScanItem::Record(record) => Some(record),
        ScanItem::Problem(_) => None,
    })
}
