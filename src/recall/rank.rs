//! How well each message of a session matches a question.
//!
//! BM25 over what is said, a short message seen together with those around it, since an answer stands beside its question and
//! seldom says its words again; over what is done and shown by itself, and worth less. What has more of the question's
//! words is worth more than what has one of them often.

use alloc::vec::Vec;

use crate::recall::question::{Question, Term};
use crate::recall::scan::Row;

const K1: f32 = 1.2;
const B: f32 = 0.6;
/// What a term is worth that stands in the message before or behind, and in the one beyond that.
const AROUND: [f32; 2] = [0.5, 0.1];
/// A message of more terms is seen by itself.
const SHORT: u32 = 40;
/// What is done and shown, to what is said.
const WORK: f32 = 0.7;
/// How well the best has to match where a question names what this session knows, also other things, or nothing.
const LEAST: [f32; 3] = [1.0, 1.6, 2.2];

/// A message that matches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ranked {
    /// Its place among the rows.
    pub row: usize,
    /// How well it matches.
    pub score: f32,
    /// How much of the question's weight it has, from 0 to 1; what stands beside it counts by half.
    pub share: f32,
    /// It has a name of the question.
    pub has_name: bool,
}

/// What the terms of a question are worth in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Worth {
    /// Of each term.
    pub terms: Vec<f32>,
    /// Of all together; what stands nowhere is worth most.
    pub sum: f32,
    // Of each term, how many messages have it.
    counts: Vec<u32>,
    said: f32,
    work: f32,
}

impl Worth {
    pub fn new(question: &Question, rows: &[Row]) -> Worth {
        let mut counts: Vec<u32> = question.terms.iter().map(|_| 0).collect();
        for hit in rows.iter().flat_map(|row| &row.hits) {
            counts[hit.term] += 1;
        }
        let of = |(term, count): (&Term, &u32)| term.weight * idf(rows.len(), *count);
        let terms: Vec<f32> = question.terms.iter().zip(&counts).map(of).collect();
        let average = |len: fn(&Row) -> u32| {
            let (mut sum, mut count) = (0f32, 0f32);
            for row in rows.iter().filter(|row| len(row) > 0) {
                (sum, count) = (sum + len(row) as f32, count + 1.0);
            }
            sum / count.max(1.0)
        };
        let sum = terms.iter().sum();
        Worth { terms, sum, counts, said: average(|row| row.said), work: average(|row| row.work) }
    }

    /// How well the best has to match; nothing does where a question names things, and the session none of them: it is about
    /// something else.
    pub fn least(&self, question: &Question) -> Option<f32> {
        let names = question.terms.iter().zip(&self.counts).filter(|(term, _)| term.is_name);
        let (known, unknown): (Vec<u32>, Vec<u32>) =
            names.map(|(_, count)| *count).partition(|count| *count > 0);
        match (known.is_empty(), unknown.is_empty()) {
            (true, false) => None,
            (false, true) => Some(LEAST[0]),
            (false, false) => Some(LEAST[1]),
            (true, true) => Some(LEAST[2]),
        }
    }

    /// A score as a part of what a text could have at best. Of a long question no text has all.
    pub fn part(&self, score: f32) -> f32 {
        let root = libm::sqrtf(self.terms.len() as f32);
        score / self.sum.max(f32::MIN_POSITIVE) * root * libm::sqrtf(root)
    }
}

/// The messages that match, the best first; of equal ones the newer. What tells somebody to do something is matched by what
/// has one of its names.
pub(crate) fn rank(question: &Question, rows: &[Row], worth: &Worth) -> Vec<Ranked> {
    let is_match = |one: &Ranked| one.score > 0.0 && (!question.is_order || one.has_name);
    let all = (0..rows.len()).map(|row| ranked(question, rows, row, worth));
    let mut ranked: Vec<Ranked> = all.filter(is_match).collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.row.cmp(&a.row)));
    ranked
}

fn ranked(question: &Question, rows: &[Row], place: usize, worth: &Worth) -> Ranked {
    let row = &rows[place];
    let around = around(rows, place);
    let mut ranked = Ranked { row: place, ..Ranked::default() };
    if row.hits.is_empty() && around.iter().all(|(row, _)| row.hits.is_empty()) {
        return ranked;
    }
    let weighed = |count: fn(&Row, usize) -> f32, term: usize| {
        around.iter().fold(count(row, term), |sum, (row, share)| sum + share * count(row, term))
    };
    let (mut len, mut width) = (row.said as f32, 1.0);
    for (row, share) in &around {
        (len, width) = (len + share * row.said as f32, width + share);
    }
    for (term, value) in worth.terms.iter().enumerate() {
        let said = saturated(weighed(said_of, term), len, worth.said * width);
        let work = WORK * saturated(work_of(row, term), row.work as f32, worth.work);
        ranked.score += value * (said + work);
        let own = said_of(row, term) + work_of(row, term) > 0.0;
        let has = if own {
            1.0
        } else if said > 0.0 {
            0.5
        } else {
            0.0
        };
        ranked.share += value * has / worth.sum;
        ranked.has_name |= own && question.terms[term].is_name;
    }
    ranked.score *= 1.0 + ranked.share;
    ranked
}

// The messages around a short one, and what they count.
fn around(rows: &[Row], place: usize) -> Vec<(&Row, f32)> {
    if rows[place].said >= SHORT || rows[place].said == 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, share) in AROUND.into_iter().enumerate() {
        let before = place.checked_sub(index + 1).and_then(|place| rows.get(place));
        found.extend(before.into_iter().chain(rows.get(place + index + 1)).map(|row| (row, share)));
    }
    found
}

fn said_of(row: &Row, term: usize) -> f32 {
    row.hits.iter().find(|hit| hit.term == term).map_or(0.0, |hit| hit.said as f32)
}

fn work_of(row: &Row, term: usize) -> f32 {
    row.hits.iter().find(|hit| hit.term == term).map_or(0.0, |hit| hit.work as f32)
}

/// How much a term is worth that stands so often in a text of that length.
pub(crate) fn saturated(count: f32, len: f32, average: f32) -> f32 {
    if count == 0.0 {
        return 0.0;
    }
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * len / average.max(1.0)))
}

// What a term is worth that so many of all texts have.
fn idf(all: usize, having: u32) -> f32 {
    let (all, having) = (all as f32, having as f32);
    libm::logf(1.0 + (all - having + 0.5) / (having + 0.5))
}
