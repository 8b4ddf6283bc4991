//! Where the terms of a question stand in a log, by reading it.
//!
//! What comes of it are [`Row`]s. An index that knows them without reading gives the same.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::recall::question::Question;
use crate::recall::texts::texts;
use crate::recall::words::{Field, Words};
use crate::record::blob;
use crate::record::message::{self, Message, Role};
use crate::record::scan::{Found, Record, Scanner};
use crate::record::span::Span;
use crate::session::branch::key;
use crate::session::source::Source;

/// A message, and what it has of a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    /// Its line.
    pub place: Span,
    /// Who speaks.
    pub role: Option<Role>,
    /// How many terms it has that are said, and of the work that is done and shown.
    pub said: u32,
    /// The same of what is done and shown.
    pub work: u32,
    /// The terms of the question that it has.
    pub hits: Vec<Hit>,
}

/// A term in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hit {
    /// Its place in the question.
    pub term: usize,
    /// How often it is said.
    pub said: u32,
    /// How often it stands in what is done and shown.
    pub work: u32,
}

/// A log that is read for the terms of a question.
#[derive(Debug)]
pub(crate) struct Scan {
    scanner: Scanner,
    // By the id of each message, its row and revision.
    places: BTreeMap<u64, (usize, u64)>,
    rows: Vec<Row>,
}

impl Row {
    fn of(place: Span, message: &Message, question: &Question, words: &mut Words) -> Row {
        let mut row = Row { place, role: message.role, ..Row::default() };
        for (field, text) in texts(message) {
            words.terms(&text, field, &mut |term| row.take(field, question.find(term)));
        }
        row
    }

    fn take(&mut self, field: Field, term: Option<usize>) {
        let is_said = field == Field::Said;
        let count = if is_said { &mut self.said } else { &mut self.work };
        *count += 1;
        let Some(term) = term else { return };
        let place = self.hits.iter().position(|hit| hit.term == term).unwrap_or_else(|| {
            self.hits.push(Hit { term, ..Hit::default() });
            self.hits.len() - 1
        });
        let hit = &mut self.hits[place];
        let count = if is_said { &mut hit.said } else { &mut hit.work };
        *count += 1;
    }
}

impl Scan {
    /// Of a log whose bytes are fed from `offset` on.
    pub fn new(offset: u64) -> Scan {
        Scan { scanner: Scanner::forward(offset), places: BTreeMap::new(), rows: Vec::new() }
    }

    /// Takes the next bytes; the last ones where there are no more.
    pub fn feed(&mut self, bytes: &[u8], is_last: bool, of: &Asked<'_>, words: &mut Words) {
        self.scanner.feed(bytes);
        self.drain(of, words);
        if is_last {
            self.scanner.finish();
            self.drain(of, words);
        }
    }

    /// The messages in their order, each once, as its highest revision.
    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    fn drain(&mut self, of: &Asked<'_>, words: &mut Words) {
        while let Some(found) = self.scanner.next() {
            let Found::Record(record) = found else { continue };
            self.take(&record, of, words);
        }
    }

    fn take(&mut self, record: &Record, of: &Asked<'_>, words: &mut Words) {
        let Asked { question, source } = *of;
        if Span::any_holds(&source.repeated, record.start) {
            return;
        }
        let path = source.path.as_ref();
        let is_on = |message: &Message| path.is_none_or(|(branches, path)| branches.is_on(path, &message.id));
        let Some(message) = message::read(record).0.filter(is_on) else { return };
        let shown = if blob::named(&message).is_empty() { message } else { blob::folded(&message) };
        let row = Row::of(record.span(), &shown, question, words);
        let next = (self.rows.len(), shown.rev);
        let (place, rev) = self.places.entry(key(&shown.id)).or_insert(next);
        if *place == next.0 {
            self.rows.push(row);
        } else if shown.rev > *rev {
            *rev = shown.rev;
            self.rows[*place] = row;
        }
    }
}

/// What is looked for, and in which log.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// What is looked for.
    pub question: &'a Question,
    /// What is known of the log.
    pub source: &'a Source,
}
