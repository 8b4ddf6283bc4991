//! Several runs as one: the same bytes as if all had been indexed at once, without those pieces that do not count.

use alloc::vec::Vec;

use super::Lists;
use super::bytes::list;
use super::read::{Damaged, End, Entry, Opened, Terms, documents, open};
use super::write::{Beside, Writer};
use crate::recall::documents::{Document, Posting, SAID, WORK};

/// A run, and which of its pieces count.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// All of it.
    pub bytes: &'a [u8],
    /// Of each of its rows whether it counts.
    pub counts: &'a [bool],
}

/// One run with the pieces that count, sorted by their sessions; one that goes on where another ends is joined to it.
///
/// # Errors
/// [`Damaged`] where a source is not what was written.
pub fn merge(sources: &[Source<'_>]) -> Result<Vec<u8>, Damaged> {
    let mut ins = Vec::new();
    for source in sources {
        ins.push(In::of(*source)?);
    }
    let beside = beside(&mut ins)?;
    // It is about as long as they are together, and to grow it would hold it twice.
    let mut writer = Writer::of(sources.iter().map(|source| source.bytes.len()).sum());
    let mut gathered = [Vec::new(), Vec::new()];
    while let Some(term) = ins.iter().filter_map(In::term).min() {
        let term = term.to_vec();
        for one in ins.iter_mut().filter(|one| one.term() == Some(&term)) {
            one.gather(&mut gathered)?;
            one.step()?;
        }
        let lists = Lists {
            counts: [SAID, WORK].map(|field| gathered[field].len() as u32),
            bytes: [SAID, WORK].map(|field| written(&mut gathered[field])),
        };
        if lists.counts != [0; 2] {
            writer.term(&term, &lists);
        }
    }
    Ok(writer.finish(&beside))
}

// Sorts, writes and clears some postings.
fn written(postings: &mut Vec<Posting>) -> Vec<u8> {
    if !postings.is_sorted() {
        postings.sort_unstable();
    }
    let bytes = list(postings);
    postings.clear();
    bytes
}

// Gives each piece its place, and what is known of its documents.
fn beside(ins: &mut [In<'_>]) -> Result<Beside, Damaged> {
    let mut order = Vec::new();
    for (source, one) in ins.iter().enumerate() {
        let counted = (0..one.end.rows.len()).filter(|row| one.source.counts.get(*row) == Some(&true));
        order.extend(counted.map(|row| (source, row)));
    }
    let row_of = |&(source, row): &(usize, usize)| &ins[source].end.rows[row];
    order.sort_by(|one, other| {
        let (one, other) = (row_of(one), row_of(other));
        (&one.key, one.from, one.to).cmp(&(&other.key, other.from, other.to))
    });
    let mut beside = Beside { hides: ins.iter().all(|one| one.end.hides), ..Beside::default() };
    for (source, row) in order {
        let one = &mut ins[source];
        let piece = &one.end.rows[row];
        let last = beside.rows.last_mut().filter(|last| last.key == piece.key && last.to == piece.from);
        match last {
            Some(last) => last.join(piece),
            None => beside.rows.push(piece.clone()),
        }
        for field in [SAID, WORK] {
            let start = one.starts[row][field];
            let range = start..start + piece.documents[field];
            one.moved[row][field] = beside.documents[field].len() as u32;
            beside.lengths[field]
                .extend_from_slice(&one.end.lengths[field][range.start as usize..range.end as usize]);
            beside.documents[field].extend(range.map(|document| one.documents[field][document as usize]));
        }
    }
    Ok(beside)
}

// A source, and the term that it has come to.
struct In<'a> {
    source: Source<'a>,
    end: End,
    documents: [Vec<Document>; 2],
    // Of each row where its documents begin, here and in what is made; `NONE` where it does not count.
    starts: Vec<[u32; 2]>,
    moved: Vec<[u32; 2]>,
    block: usize,
    terms: Option<Terms<'a>>,
}

const NONE: u32 = u32::MAX;

impl<'a> In<'a> {
    fn of(source: Source<'a>) -> Result<In<'a>, Damaged> {
        let Opened::End(end) = open(source.bytes, source.bytes.len() as u64) else { return Err(Damaged) };
        let mut all = [Vec::new(), Vec::new()];
        for field in [SAID, WORK] {
            all[field] = part(source.bytes, end.pages(field)).and_then(documents).ok_or(Damaged)?;
            if all[field].len() != end.lengths[field].len() {
                return Err(Damaged);
            }
        }
        let mut at = [0; 2];
        let starts: Vec<_> = end
            .rows
            .iter()
            .map(|row| {
                let start = at;
                at = [at[0] + row.documents[0], at[1] + row.documents[1]];
                start
            })
            .collect();
        let moved = starts.iter().map(|_| [NONE; 2]).collect();
        let mut one = In { source, end, documents: all, starts, moved, block: 0, terms: None };
        one.step()?;
        Ok(one)
    }

    fn term(&self) -> Option<&[u8]> {
        self.terms.as_ref().map(Terms::term)
    }

    fn step(&mut self) -> Result<(), Damaged> {
        loop {
            if let Some(terms) = &mut self.terms
                && terms.next()?
            {
                return Ok(());
            }
            self.terms = None;
            if self.block == self.end.blocks() {
                return Ok(());
            }
            let block = part(self.source.bytes, self.end.block(self.block)).ok_or(Damaged)?;
            self.block += 1;
            self.terms = Some(Terms::of(block)?);
        }
    }

    // The documents of its term, by their new numbers.
    fn gather(&mut self, out: &mut [Vec<Posting>; 2]) -> Result<(), Damaged> {
        let lists = match self.terms.as_mut().and_then(|terms| terms.lists.take()).ok_or(Damaged)? {
            Entry::Near(lists) => lists,
            far => {
                let Entry::Far(far) = self.end.in_file(far) else { return Err(Damaged) };
                part(self.source.bytes, far.range.clone())
                    .and_then(|bytes| far.lists(bytes))
                    .ok_or(Damaged)?
            }
        };
        for field in [SAID, WORK] {
            let mut row = 0;
            let (starts, moved, out) = (&self.starts, &self.moved, &mut out[field]);
            let gathered = lists.each(field, |(document, times)| {
                while starts.get(row + 1).is_some_and(|next| next[field] <= document) {
                    row += 1;
                }
                if moved[row][field] != NONE {
                    out.push((document - starts[row][field] + moved[row][field], times));
                }
            });
            gathered.ok_or(Damaged)?;
        }
        Ok(())
    }
}

fn part(bytes: &[u8], range: core::ops::Range<u64>) -> Option<&[u8]> {
    bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}
