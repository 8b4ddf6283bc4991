//! What runs have of a question: its terms, what stands for a term that nobody said, and their documents.

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

// So many words stand for one that nobody said, the commonest first, and what they are worth.
const LIKE: usize = 4;
const BEGUN: f32 = 0.7;
const SPELLED: f32 = 0.5;
// Words of as many letters are looked for with one letter wrong, and with two.
const ONE_WRONG: usize = 5;
const TWO_WRONG: usize = 8;

/// What runs have of terms.
#[derive(Default)]
pub(super) struct QueryPostings {
    /// Of each run the lists of each term.
    pub lists: Vec<Vec<PostingLists>>,
    /// In each field, of each term how many documents have it, where its lists were not read.
    pub unread_counts: [Vec<u32>; 2],
}

impl QueryPostings {
    /// Whether all that there is of the terms was read.
    pub fn are_complete(&self) -> bool {
        self.unread_counts.iter().flatten().all(|count| *count == 0)
    }

    /// Whether nobody said a term.
    pub fn is_absent(&self, term: usize) -> bool {
        self.unread_counts.iter().all(|counts| counts[term] == 0)
            && self.lists.iter().all(|lists| lists[term].counts == [0; 2])
    }
}

/// What runs have of terms. `counted`: of each which of its rows count; where most do, what tells little is not read. Without
/// it all is.
pub(super) async fn read_postings(
    io: &Io,
    runs: &[IndexFile],
    counted: Option<&[Vec<Option<u32>>]>,
    terms: &[Term],
) -> Result<QueryPostings, IndexLost> {
    let mut wanted: Vec<(usize, Range<u64>)> = Vec::new();
    let mut blocks = Vec::new();
    for (nth, run) in runs.iter().enumerate() {
        for (term, one) in terms.iter().enumerate() {
            let Some(block) = run.footer.find_block(one.text.as_bytes()) else { continue };
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
            TermEntry::Far(one) => {
                ranges.push((nth, one.range.clone()));
                far.push((nth, term, one));
            }
        }
    }
    for ((nth, term, one), bytes) in far.into_iter().zip(read_ranges(io, runs, &ranges).await?) {
        postings.lists[nth][term] = one.lists(&bytes).ok_or_else(|| runs[nth].changed_error())?;
    }
    Ok(postings)
}

// What rows that do not count have of a term cannot be told apart without its lists.
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

/// For terms that nobody said, those that begin so, else those that are spelled alike.
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
            // A wrong letter may have made another stem of it, and a stem is shorter than what was typed.
            let typed = term.word.to_lowercase();
            let wrong = match typed.chars().count().max(term.text.chars().count()) {
                TWO_WRONG.. => 2,
                ONE_WRONG.. => 1,
                _ => continue,
            };
            let first = &text[..term.text.chars().next().map_or(0, char::len_utf8)];
            let is_meant =
                |other: &[u8]| is_alike(text, other, wrong) || is_alike(typed.as_bytes(), other, wrong);
            let mut spelled = find_matching_terms(io, runs, first, is_meant).await?;
            if spelled.is_empty() {
                // The first letter is the wrong one, or the one that is missing.
                let is_near = |other: &[u8]| is_alike(text, other, 1) || is_alike(typed.as_bytes(), other, 1);
                spelled = find_matching_terms(io, runs, b"", is_near).await?;
            }
            (spelled, TermReason::Spelling, SPELLED)
        } else {
            (begun, TermReason::Prefix, BEGUN)
        };
        let weight = weight * term.weight;
        found.extend(some.into_iter().map(|text| Term { text, reason: how, weight, ..(*term).clone() }));
    }
    Ok(found)
}

// The commonest terms that begin so and are meant.
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
                let more = terms.lists.as_ref().map_or([0; 2], TermEntry::counts);
                *counts.entry(text.to_string()).or_default() += more[0] + more[1];
            }
        }
    }
    let mut found: Vec<(String, u32)> = counts.into_iter().collect();
    found.sort_by_key(|(_, count)| core::cmp::Reverse(*count));
    Ok(found.into_iter().take(LIKE).map(|(text, _)| text).collect())
}

// Whether so many letters at most are wrong, missing, too many or with their neighbor in the wrong order.
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
