//! Which sessions answer a question, and which of their messages: ranked by the words of the question that they have.
//!
//! A message is worth what it has of the question's words, the rarer the more (BM25), and a share of what stands in the
//! messages around it where it is short: an answer seldom repeats its question. What has all of the words is worth twice as
//! much. A session is worth its best messages, the next ones less and less, and what it has of the words altogether.
//! The numbers were tuned on talk and on coding sessions at once; what is best for the one alone is not for the other.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::number::ln;
use super::run::bytes::length_of;
use super::run::read::{Damaged, End};
use super::run::{Lists, SAID, WORK};

/// So many messages of a session are told.
pub(crate) const TOLD: usize = 4;

// BM25 of a message, and of a session.
const K_MESSAGE: f32 = 1.2;
const B_MESSAGE: f32 = 0.6;
const K_SESSION: f32 = 2.0;
const B_SESSION: f32 = 0.6;
// What was done and shown, to what was said.
const WORTH_WORK: f32 = 0.7;
// What stands in the message before or behind, and two farther, of a message of at most about sixty terms.
const AROUND: [f32; 3] = [1.0, 0.5, 0.1];
const SHORT: u8 = 47;
// What the next best message of a session is worth, to the one before.
const NEXT: f32 = 0.4;
// A title has each of its words as if it was said so often.
const TITLE: f32 = 2.0;

/// A run that is asked, and what it has of each term.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    /// What is known of it.
    pub end: &'a End,
    /// Of each of its rows the session, where that one is asked and the row counts.
    pub sessions: Vec<Option<u32>>,
    /// Of each term its documents.
    pub lists: Vec<Lists>,
    /// In each field, where not all documents are asked: whether each is.
    pub asked: Option<[Vec<bool>; 2]>,
}

impl Part<'_> {
    fn is_asked(&self, field: usize, document: u32) -> bool {
        self.asked.as_ref().is_none_or(|asked| asked[field].get(document as usize) == Some(&true))
    }
}

/// A session that has something of the question.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// Which.
    pub session: u32,
    /// The more the better.
    pub score: f32,
    /// Its best messages, the best first.
    pub best: Vec<Best>,
}

/// What was found, the best first.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    /// The sessions.
    pub sessions: Vec<Ranked>,
    /// What each term is worth in a message.
    pub worths: Vec<f32>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    /// The number of the part.
    pub part: u32,
    /// The field in which it has the words.
    pub field: usize,
    /// Its number there.
    pub document: u32,
    /// The more the better.
    pub score: f32,
}

/// What is known of a session beside its messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// Which terms its title and its summary have, a bit for each.
    pub title: u64,
    /// Whether it lies in a time that the question names: from 0 to 1.
    pub date: f32,
}

/// Sessions that have something of the question, the best first; of two that are alike, the one that comes first in `known`.
/// `worths`: of each term what it is worth beside the others, 1 unless it only resembles what was asked.
///
/// # Errors
/// [`Damaged`] where lists are not what was written.
pub(crate) fn rank(worths: &[f32], parts: &[Part<'_>], known: &[Known]) -> Result<Ranking, Damaged> {
    let corpus = Corpus::of(worths, parts, known)?;
    let mut sums: Vec<Sum> = known.iter().map(|_| Sum::default()).collect();
    for (nth, part) in parts.iter().enumerate() {
        corpus.said(nth as u32, part, &mut sums)?;
        corpus.work(nth as u32, part, &mut sums)?;
    }
    let mut ranked: Vec<Ranked> = sums
        .into_iter()
        .enumerate()
        .filter_map(|(session, sum)| corpus.ranked(session as u32, sum, &known[session]))
        .collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.session.cmp(&other.session)));
    Ok(Ranking { sessions: ranked, worths: corpus.message })
}

// What is gathered of a session.
#[derive(Clone, Debug, Default)]
struct Sum {
    own: f32,
    best: Vec<Best>,
}

impl Sum {
    fn meet(&mut self, one: Best) {
        let place = self.best.iter().position(|other| other.score < one.score).unwrap_or(self.best.len());
        if place < TOLD {
            self.best.insert(place, one);
            self.best.truncate(TOLD);
        }
    }
}

// The sums over all that is asked.
struct Corpus {
    // Of each term, what it is worth in a message and in a session.
    message: Vec<f32>,
    session: Vec<f32>,
    all: f32,
    // Some are asked for messages of some kind: what has none of these is not found.
    only_messages: bool,
    // The average length of a document in each field, and of a session.
    document_length: [f32; 2],
    session_length: [f32; 2],
    // Of each session how many terms it has.
    lengths: Vec<[f32; 2]>,
    // Of each session and term how often it has that.
    times: Vec<Vec<[f32; 2]>>,
}

impl Corpus {
    fn of(worths: &[f32], parts: &[Part<'_>], known: &[Known]) -> Result<Corpus, Damaged> {
        let mut lengths = vec![[0.0; 2]; known.len()];
        let mut documents = [0.0_f32; 2];
        for part in parts {
            for (row, session) in part.end.rows.iter().zip(&part.sessions) {
                let Some(session) = session else { continue };
                for field in [SAID, WORK] {
                    lengths[*session as usize][field] += row.terms[field] as f32;
                    documents[field] += row.documents[field] as f32;
                }
            }
        }
        let sessions = lengths.iter().filter(|one| one[SAID] + one[WORK] > 0.0).count() as f32;
        let sum = [SAID, WORK].map(|field| lengths.iter().map(|one| one[field]).sum::<f32>());
        let mut corpus = Corpus {
            message: Vec::new(),
            session: Vec::new(),
            all: 0.0,
            only_messages: parts.iter().any(|part| part.asked.is_some()),
            document_length: [SAID, WORK].map(|field| sum[field] / documents[field].max(1.0)),
            session_length: [SAID, WORK].map(|field| (sum[field] / sessions.max(1.0)).max(1.0)),
            lengths,
            times: Vec::new(),
        };
        for (term, worth) in worths.iter().enumerate() {
            let mut times = vec![[0.0_f32; 2]; known.len()];
            let mut counts = [0.0_f32; 2];
            for part in parts {
                for field in [SAID, WORK] {
                    each(part, term, field, |session, (_, often), _| {
                        times[session as usize][field] += often as f32;
                        counts[field] += 1.0;
                    })?;
                }
            }
            let titled = known.iter().filter(|one| one.title >> term & 1 == 1).count() as f32;
            let having = times.iter().filter(|one| one[SAID] + one[WORK] > 0.0).count() as f32;
            let field = if counts[SAID] > 0.0 || counts[WORK] == 0.0 { SAID } else { WORK };
            let is_unmet = counts[SAID] + counts[WORK] == 0.0;
            let (count, all) =
                if is_unmet { (titled, known.len() as f32) } else { (counts[field], documents[field]) };
            corpus.message.push(worth * rarity(count, all));
            corpus.session.push(worth * rarity(having, sessions));
            corpus.times.push(times);
        }
        corpus.all = corpus.message.iter().sum();
        Ok(corpus)
    }

    fn said(&self, nth: u32, part: &Part<'_>, sums: &mut [Sum]) -> Result<(), Damaged> {
        let lengths = &part.end.lengths[SAID];
        let rows = rows_of(part, SAID);
        let (mut scores, mut own) = (vec![0.0_f32; lengths.len()], vec![0.0_f32; lengths.len()]);
        let mut near = vec![0.0_f32; lengths.len()];
        let mut met = Vec::new();
        for (term, worth) in self.message.iter().enumerate() {
            each(part, term, SAID, |_, (document, often), row| {
                let rows = &rows[row];
                own[document as usize] += worth;
                for farther in -2_i64..=2 {
                    let at = i64::from(document) + farther;
                    let is_there = i64::from(rows.start) <= at && at < i64::from(rows.end);
                    // What says nothing, or was written again, is no answer.
                    let is_short = || (1..=SHORT).contains(&lengths[at as usize]);
                    if is_there && (farther == 0 || is_short()) {
                        if near[at as usize] == 0.0 {
                            met.push((at as u32, row));
                        }
                        near[at as usize] += AROUND[farther.unsigned_abs() as usize] * often as f32;
                    }
                }
            })?;
            for (document, row) in met.drain(..) {
                let at = document as usize;
                let often = core::mem::take(&mut near[at]);
                let (length, average) = self.length_around(lengths, document, &rows[row]);
                let spread = 1.0 - B_MESSAGE + B_MESSAGE * length / average;
                scores[at] += worth * often * (K_MESSAGE + 1.0) / (often + K_MESSAGE * spread);
            }
        }
        self.gather(Gathered { nth, part, field: SAID, scores: &scores, own: &own, rows: &rows }, sums)
    }

    // How long a message is with what counts of those around it, and how long such messages are on average.
    fn length_around(&self, lengths: &[u8], document: u32, row: &core::ops::Range<u32>) -> (f32, f32) {
        let own = lengths[document as usize];
        if own > SHORT {
            return (length_of(own), self.document_length[SAID].max(1.0));
        }
        let mut length = length_of(own);
        for farther in [-2_i64, -1, 1, 2] {
            let at = i64::from(document) + farther;
            if i64::from(row.start) <= at && at < i64::from(row.end) {
                length += AROUND[farther.unsigned_abs() as usize] * length_of(lengths[at as usize]);
            }
        }
        let width = AROUND[0] + 2.0 * (AROUND[1] + AROUND[2]);
        (length, (self.document_length[SAID] * width).max(1.0))
    }

    fn work(&self, nth: u32, part: &Part<'_>, sums: &mut [Sum]) -> Result<(), Damaged> {
        let lengths = &part.end.lengths[WORK];
        let rows = rows_of(part, WORK);
        let (mut scores, mut own) = (vec![0.0_f32; lengths.len()], vec![0.0_f32; lengths.len()]);
        for (term, worth) in self.message.iter().enumerate() {
            each(part, term, WORK, |_, (document, often), _| {
                let (at, often) = (document as usize, often as f32);
                let length = length_of(lengths[at]) / self.document_length[WORK].max(1.0);
                let spread = 1.0 - B_MESSAGE + B_MESSAGE * length;
                own[at] += worth;
                scores[at] += WORTH_WORK * worth * often * (K_MESSAGE + 1.0) / (often + K_MESSAGE * spread);
            })?;
        }
        self.gather(Gathered { nth, part, field: WORK, scores: &scores, own: &own, rows: &rows }, sums)
    }

    // The best of each session.
    fn gather(&self, found: Gathered<'_>, sums: &mut [Sum]) -> Result<(), Damaged> {
        let Gathered { nth, part, field, scores, own, rows } = found;
        for (row, session) in rows.iter().zip(&part.sessions) {
            let Some(session) = session else { continue };
            for document in row.clone() {
                let score = scores[document as usize];
                // Who asks for some messages alone means what they say themselves.
                let is_own = own[document as usize] > 0.0 || part.asked.is_none();
                if score > 0.0 && is_own && part.is_asked(field, document) {
                    let share = own[document as usize] / self.all.max(f32::MIN_POSITIVE);
                    let score = score * (1.0 + share);
                    sums[*session as usize].meet(Best { part: nth, field, document, score });
                }
            }
        }
        Ok(())
    }

    fn ranked(&self, session: u32, mut sum: Sum, known: &Known) -> Option<Ranked> {
        let at = session as usize;
        for (term, worth) in self.session.iter().enumerate() {
            for field in [SAID, WORK] {
                let often = self.times[term][at][field];
                let length = self.lengths[at][field] / self.session_length[field];
                let spread = 1.0 - B_SESSION + B_SESSION * length;
                let of_field = if field == SAID { 1.0 } else { WORTH_WORK };
                if often > 0.0 {
                    sum.own += of_field * worth * often * (K_SESSION + 1.0) / (often + K_SESSION * spread);
                }
            }
        }
        if self.only_messages && sum.best.is_empty() {
            return None;
        }
        let mut scores: Vec<f32> = sum.best.iter().map(|best| best.score).collect();
        scores.extend(self.title(known.title));
        scores.sort_by(|one, other| other.partial_cmp(one).unwrap_or(Ordering::Equal));
        let mut share = 1.0;
        let mut score = sum.own;
        for one in scores.iter().take(TOLD) {
            score += share * one;
            share *= NEXT;
        }
        let score = score * (1.0 + known.date);
        (score > 0.0).then_some(Ranked { session, score, best: sum.best })
    }

    // A title is as a short message.
    fn title(&self, has: u64) -> Option<f32> {
        let of_title = self.message.iter().enumerate().filter(|(term, _)| has >> term & 1 == 1);
        let own: f32 = of_title.map(|(_, worth)| worth).sum();
        let times = TITLE * (K_MESSAGE + 1.0) / (TITLE + K_MESSAGE * (1.0 - B_MESSAGE));
        (has != 0).then(|| own * times * (1.0 + own / self.all.max(f32::MIN_POSITIVE)))
    }
}

struct Gathered<'a> {
    nth: u32,
    part: &'a Part<'a>,
    field: usize,
    scores: &'a [f32],
    own: &'a [f32],
    rows: &'a [core::ops::Range<u32>],
}

// How rare a term is that `count` of `all` have.
fn rarity(count: f32, all: f32) -> f32 {
    let count = count.min(all);
    ln(1.0 + (all - count + 0.5) / (count + 0.5))
}

// Of each row the documents in a field.
fn rows_of(part: &Part<'_>, field: usize) -> Vec<core::ops::Range<u32>> {
    let mut at = 0;
    let mut rows = Vec::new();
    for row in &part.end.rows {
        rows.push(at..at + row.documents[field]);
        at += row.documents[field];
    }
    rows
}

// Each posting of a term whose row is asked: the session, the posting, the row.
fn each(
    part: &Part<'_>,
    term: usize,
    field: usize,
    mut work: impl FnMut(u32, (u32, u32), usize),
) -> Result<(), Damaged> {
    let rows = &part.end.rows;
    let count = part.end.lengths[field].len() as u32;
    let (mut row, mut end) = (0, rows.first().map_or(0, |row| row.documents[field]));
    let mut is_right = true;
    let read = part.lists[term].each(field, |posting| {
        while posting.0 >= end && row + 1 < rows.len() {
            row += 1;
            end += rows[row].documents[field];
        }
        is_right &= posting.0 < count;
        if let Some(session) = part.sessions.get(row).copied().flatten().filter(|_| is_right) {
            work(session, posting, row);
        }
    });
    if is_right { read.ok_or(Damaged) } else { Err(Damaged) }
}
