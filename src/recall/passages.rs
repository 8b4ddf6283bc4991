//! The passages of a message that are quoted: all of a short one, else the parts that match.

use alloc::vec::Vec;
use core::ops::Range;

use crate::json::text::grapheme_boundary;
use crate::recall::question::Question;
use crate::recall::rank::{TermWeights, saturate};
use crate::recall::terms::{Field, TermAnalyzer};

/// A message of at most this many bytes is quoted whole.
pub(crate) const MAX_WHOLE_BYTES: usize = 600;
/// The usual length of a passage, in bytes.
const PASSAGE_BYTES: usize = 300;
/// The usual number of terms in such a passage.
const PASSAGE_TERMS: f32 = 30.0;

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Passage {
    /// Its range in the text.
    pub place: Range<usize>,
    /// Its own score.
    pub score: f32,
    /// The terms of the question in it.
    pub terms: Vec<usize>,
}

/// Splits a text into scored passages, in order and without gaps.
pub(crate) fn find_passages(
    text: &str,
    field: Field,
    question: &Question,
    worth: &TermWeights,
    words: &mut TermAnalyzer,
) -> Vec<Passage> {
    let whole = 0..text.len();
    let places = if text.len() <= MAX_WHOLE_BYTES { Vec::from([whole]) } else { split_text(text) };
    let mut counts: Vec<f32> = Vec::new();
    let mut scored = |place: Range<usize>| {
        counts.clear();
        counts.resize(question.terms.len(), 0.0);
        let mut len = 0f32;
        words.for_each_term(&text[place.clone()], field, &mut |term| {
            len += 1.0;
            if let Some(term) = question.find_term(term) {
                counts[term] += 1.0;
            }
        });
        let score = |(count, value): (&f32, &f32)| value * saturate(*count, len, PASSAGE_TERMS);
        let sum: f32 = counts.iter().zip(&worth.terms).map(score).sum();
        let terms: Vec<usize> = (0..counts.len()).filter(|term| counts[*term] > 0.0).collect();
        let share: f32 =
            terms.iter().map(|term| worth.terms[*term]).sum::<f32>() / worth.sum.max(f32::MIN_POSITIVE);
        Passage { place, score: sum * (1.0 + share), terms }
    };
    places.into_iter().map(&mut scored).collect()
}

// Splits at line ends if possible, else at blanks, else between characters.
fn split_text(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = 0;
    while text.len() - start > PASSAGE_BYTES * 3 / 2 {
        let window = start + PASSAGE_BYTES / 2..grapheme_boundary(text, start + PASSAGE_BYTES * 5 / 4, false);
        let least = grapheme_boundary(text, window.start, true);
        let part = &text.as_bytes()[least..window.end];
        let line = memchr::memrchr(b'\n', part).map(|at| at + 1);
        let sentence = || part.windows(2).rposition(|two| two == b". ").map(|at| at + 2);
        let word = || memchr::memrchr(b' ', part).map(|at| at + 1);
        let end = line.or_else(sentence).or_else(word).map_or(window.end, |length| least + length);
        places.push(start..end);
        start = end;
    }
    places.push(start..text.len());
    places
}
