//! Looks up a question's terms in index files: their postings, and similar terms for those that occur nowhere.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::index_files::{IndexFile, IndexLost, read_ranges};
use crate::operation::Io;
use crate::recall::index_file::PostingLists;
use crate::recall::index_file::read::{BlockTerms, TermEntry};
use crate::recall::question::{Term, TermReason};
use crate::recall::rank;

// The most similar terms taken for one that occurs nowhere, the commonest first, and their weights by how they
// resemble it.
const MAX_SIMILAR_TERMS: usize = 4;
const PREFIX_WEIGHT: f32 = 0.7;
const SPELLING_WEIGHT: f32 = 0.5;
// The number of letters from which a word may have one wrong, and two.
const MIN_CHARS_FOR_ONE_EDIT: usize = 5;
const MIN_CHARS_FOR_TWO_EDITS: usize = 8;

/// The postings of a question's terms.
#[derive(Default)]
pub(super) struct QueryPostings {
    /// For each file, the lists of each term.
    pub lists: Vec<Vec<PostingLists>>,
    /// For each field and term, the number of documents that have it, where its lists were not read; else zero.
    pub unread_counts: [Vec<u32>; 2],
}

impl QueryPostings {
    /// Whether the postings of all terms were read.
    pub fn are_complete(&self) -> bool {
        self.unread_counts.iter().flatten().all(|count| *count == 0)
    }

    /// Whether a term occurs nowhere.
    pub fn is_absent(&self, term: usize) -> bool {
        self.unread_counts.iter().all(|counts| counts[term] == 0)
            && self.lists.iter().all(|lists| lists[term].counts == [0; 2])
    }
}

/// Reads the postings of terms. `counted`: for each file, which segments are searched; where these have most of the
/// documents, the postings of terms too common to matter are not read. Without it all are read.
pub(super) async fn read_postings(
    io: &Io,
    runs: &[IndexFile],
    counted: Option<&[Vec<Option<u32>>]>,
    terms: &[Term],
) -> Result<QueryPostings, IndexLost> {
    let mut wanted: Vec<(usize, Range<u64>)> = Vec::new();
    let mut blocks = Vec::new();
    for (nth, run) in runs.iter().enumerate() {
        for (term, wanted_term) in terms.iter().enumerate() {
            let Some(block) = run.footer.find_block(wanted_term.text.as_bytes()) else { continue };
            blocks.push((nth, term));
            wanted.push((nth, run.footer.block(block)));
        }
    }
    let read = read_ranges(io, runs, &wanted).await?;
    let lists: Vec<Vec<PostingLists>> =
        runs.iter().map(|_| terms.iter().map(|_| PostingLists::default()).collect()).collect();
    let mut postings = QueryPostings { lists, unread_counts: [vec![0; terms.len()], vec![0; terms.len()]] };
    let mut found = Vec::new();
    for ((nth, term), block) in blocks.into_iter().zip(read) {
        let entry = runs[nth].footer.find_entry(&block, terms[term].text.as_bytes());
        if let Some(entry) = entry.map_err(|_| runs[nth].changed_error())? {
            for (sum, count) in postings.unread_counts.iter_mut().zip(entry.counts()) {
                sum[term] += count;
            }
            found.push((nth, term, entry));
        }
    }
    let unneeded = match counted {
        Some(counted) => find_skippable_terms(runs, counted, terms, &postings.unread_counts),
        None => vec![false; terms.len()],
    };
    for counts in &mut postings.unread_counts {
        counts.iter_mut().zip(&unneeded).for_each(|(count, is_unneeded)| *count *= u32::from(*is_unneeded));
    }
    let (mut far, mut ranges) = (Vec::new(), Vec::new());
    for (nth, term, entry) in found.into_iter().filter(|(_, term, _)| !unneeded[*term]) {
        match entry {
            TermEntry::Near(near) => postings.lists[nth][term] = near,
            TermEntry::Far(entry) => {
                ranges.push((nth, entry.range.clone()));
                far.push((nth, term, entry));
            }
        }
    }
    for ((nth, term, entry), bytes) in far.into_iter().zip(read_ranges(io, runs, &ranges).await?) {
        postings.lists[nth][term] = entry.lists(&bytes).ok_or_else(|| runs[nth].changed_error())?;
    }
    Ok(postings)
}

// Needs most documents to be searched: how often a term occurs in the others is not known without reading its lists.
fn find_skippable_terms(
    runs: &[IndexFile],
    counted: &[Vec<Option<u32>>],
    terms: &[Term],
    counts: &[Vec<u32>; 2],
) -> Vec<bool> {
    let (mut all, mut ours) = (0, 0);
    for (row, counted) in
        runs.iter().zip(counted).flat_map(|(run, counted)| run.footer.rows.iter().zip(counted))
    {
        let documents: u32 = row.documents.iter().sum();
        all += documents;
        ours += if counted.is_some() { documents } else { 0 };
    }
    if ours < all / 2 {
        return vec![false; terms.len()];
    }
    let counts: Vec<usize> =
        (0..terms.len()).map(|term| counts.iter().map(|counts| counts[term] as usize).sum()).collect();
    rank::find_skippable_terms(terms, &counts, all as usize)
}

/// For terms that occur nowhere, finds those that begin with them, or else those spelled alike.
pub(super) async fn find_similar_terms(
    io: &Io,
    runs: &[IndexFile],
    unmet: &[&Term],
) -> Result<Vec<Term>, IndexLost> {
    let mut found = Vec::new();
    for term in unmet {
        let text = term.text.as_bytes();
        let begun = find_matching_terms(io, runs, text, |other| other.starts_with(text)).await?;
        let (some, how, weight) = if begun.is_empty() {
            // A wrong letter may have led to another stem, and a stem is shorter than the typed word.
            let typed = term.word.to_lowercase();
            let wrong = match typed.chars().count().max(term.text.chars().count()) {
                MIN_CHARS_FOR_TWO_EDITS.. => 2,
                MIN_CHARS_FOR_ONE_EDIT.. => 1,
                _ => continue,
            };
            let first = &text[..term.text.chars().next().map_or(0, char::len_utf8)];
            let is_meant =
                |other: &[u8]| is_alike(text, other, wrong) || is_alike(typed.as_bytes(), other, wrong);
            let mut spelled = find_matching_terms(io, runs, first, is_meant).await?;
            if spelled.is_empty() {
                // The first letter itself may be wrong or missing.
                let is_near = |other: &[u8]| is_alike(text, other, 1) || is_alike(typed.as_bytes(), other, 1);
                spelled = find_matching_terms(io, runs, b"", is_near).await?;
            }
            (spelled, TermReason::Spelling, SPELLING_WEIGHT)
        } else {
            (begun, TermReason::Prefix, PREFIX_WEIGHT)
        };
        let weight = weight * term.weight;
        found.extend(some.into_iter().map(|text| Term { text, reason: how, weight, ..(*term).clone() }));
    }
    Ok(found)
}

// Finds the commonest terms with a prefix that `is_meant` accepts.
async fn find_matching_terms(
    io: &Io,
    runs: &[IndexFile],
    first: &[u8],
    is_meant: impl Fn(&[u8]) -> bool,
) -> Result<Vec<String>, IndexLost> {
    let mut wanted = Vec::new();
    for (nth, run) in runs.iter().enumerate() {
        let blocks = run.footer.blocks_with_prefix(first);
        wanted.extend(blocks.map(|block| (nth, run.footer.block(block))));
    }
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for ((nth, _), block) in wanted.iter().zip(read_ranges(io, runs, &wanted).await?) {
        let lost = |_| runs[*nth].changed_error();
        let mut terms = BlockTerms::new(&block).map_err(lost)?;
        while terms.next().map_err(lost)? {
            if is_meant(terms.term())
                && let Ok(text) = core::str::from_utf8(terms.term())
            {
                let more = terms.counts();
                *counts.entry(text.to_string()).or_default() += more[0] + more[1];
            }
        }
    }
    let mut found: Vec<(String, u32)> = counts.into_iter().collect();
    found.sort_by_key(|(_, count)| core::cmp::Reverse(*count));
    Ok(found.into_iter().take(MAX_SIMILAR_TERMS).map(|(text, _)| text).collect())
}

// Whether at most `wrong` letters differ: wrong, missing, too many, or swapped with their neighbor.
fn is_alike(one: &[u8], other: &[u8], wrong: usize) -> bool {
    if one.len().abs_diff(other.len()) > wrong {
        return false;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = Vec::from([row + 1]);
        for (column, found) in other.iter().enumerate() {
            let changed = last[column] + usize::from(letter != found);
            let mut least = changed.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swapped = row > 0 && column > 0 && one[row - 1] == *found && *letter == other[column - 1];
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = core::mem::replace(&mut last, next);
    }
    last.last().is_some_and(|least| *least <= wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_alike_where_few_letters_are_wrong() {
        let check = |one: &str, other: &str, wrong: usize| is_alike(one.as_bytes(), other.as_bytes(), wrong);
        assert!(check("parser", "parser", 0) && check("parser", "praser", 1) && check("parser", "parsr", 1));
        assert!(check("tokenizer", "tokeniser", 1) && check("tokenizer", "tokneizr", 2));
        assert!(!check("parser", "passes", 1) && !check("parser", "par", 2) && !check("", "ab", 1));
    }
}
