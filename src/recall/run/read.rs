//! Reading a run: its end first, then which bytes hold a term or a document.

use alloc::vec::Vec;
use core::ops::Range;

use super::bytes::{Bytes, CHECK, each_posting, unsealed};
use super::{DOCUMENT, FEW, FORMAT, HIDING, Lists, MARK, NEAR, PAGE, Row, TRAILER, pages_length};
use crate::recall::documents::Document;
use crate::recall::words::VERSION;
use crate::record::message::Role;

/// What is known of a run once its end was read: enough to know which bytes hold a term.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// The pieces, whose documents follow each other.
    pub rows: Vec<Row>,
    /// In each field, how many terms each document has, as [`length_of`](crate::recall::number::length_of) reads it.
    pub lengths: [Vec<u8>; 2],
    /// No secret that was found in the logs is in it.
    pub hides: bool,
    far_at: u64,
    documents_at: u64,
    // The first terms of the blocks, one behind the other; where each begins; and where the blocks do.
    firsts: Vec<u8>,
    starts: Vec<usize>,
    blocks: Vec<u64>,
}

/// What the last bytes of a file say.
#[derive(Debug)]
pub enum Opened {
    /// All that there is to know.
    End(End),
    /// So many of the last bytes are needed.
    More(u64),
    /// It is no run, or a damaged one, or one of another version: it is made again.
    Broken,
}

/// What a block says of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Its documents.
    Near(Lists),
    /// Where they are, in the file, and how to read them: [`Far::lists`].
    Far(Far),
}

impl Entry {
    /// How many documents it has, in each field.
    pub fn counts(&self) -> [u32; 2] {
        match self {
            Entry::Near(lists) => lists.counts,
            Entry::Far(far) => far.counts,
        }
    }
}

/// Lists that lie apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Far {
    /// In the file.
    pub range: Range<u64>,
    /// How many documents they have, in each field.
    pub counts: [u32; 2],
    lengths: [usize; 2],
}

impl Far {
    /// The lists; nothing where the bytes are not what was written.
    pub fn lists(&self, bytes: &[u8]) -> Option<Lists> {
        let (said, work) = unsealed(bytes)?.split_at_checked(self.lengths[0])?;
        (work.len() == self.lengths[1])
            .then(|| Lists { counts: self.counts, bytes: [said.into(), work.into()] })
    }
}

/// Reads the end of a file of `size` bytes from the last of them.
pub fn open(tail: &[u8], size: u64) -> Opened {
    let Some(at) = tail.len().checked_sub(TRAILER) else {
        return if size < TRAILER as u64 { Opened::Broken } else { Opened::More(TRAILER as u64) };
    };
    let Some((length, hides)) = end_length(&tail[at..], size) else { return Opened::Broken };
    let needed = length + TRAILER as u64;
    let Some(end) = usize::try_from(needed).ok().and_then(|needed| tail.len().checked_sub(needed)) else {
        return Opened::More(needed);
    };
    let sealed = &tail[end..tail.len() - MARK.len()];
    let read = unsealed(sealed).and_then(|all| read_end(&all[..length as usize], size - needed));
    read.map_or(Opened::Broken, |end| Opened::End(End { hides, ..end }))
}

// How long the end is, where the trailer is of a run of ours that is as long as it was; and whether that has no secrets.
fn end_length(trailer: &[u8], size: u64) -> Option<(u64, bool)> {
    let mut bytes = Bytes(trailer);
    let (length, whole) = (bytes.word()?, bytes.word()?);
    let (format, version) = (bytes.half()?, bytes.half()?);
    let is_ours =
        (format & !HIDING, version) == (FORMAT, VERSION) && bytes.take(CHECK).is_some() && bytes.0 == MARK;
    let is_whole = is_ours && whole == size && length.checked_add(TRAILER as u64)? <= size;
    is_whole.then_some((length, format & HIDING != 0))
}

fn read_end(all: &[u8], end_at: u64) -> Option<End> {
    let mut bytes = Bytes(all);
    let (far_at, documents_at) = (bytes.number()?, bytes.number()?);
    let (rows, blocks) = (bytes.count()?, bytes.count()?);
    let counts = [bytes.count()?, bytes.count()?];
    let lengths = [bytes.take(counts[0])?.to_vec(), bytes.take(counts[1])?.to_vec()];
    let mut end = End { far_at, documents_at, lengths, ..End::default() };
    for _ in 0..rows {
        end.rows.push(read_row(&mut bytes)?);
    }
    let of_rows = |field: usize| end.rows.iter().map(|row| row.documents[field] as usize).sum::<usize>();
    let mut at = 0;
    let mut before = 0..0;
    for _ in 0..blocks {
        let (shared, more) = (bytes.count()?, bytes.count()?);
        let from = end.firsts.len();
        if shared > before.len() {
            return None;
        }
        end.firsts.extend_from_within(before.start..before.start + shared);
        end.firsts.extend_from_slice(bytes.take(more)?);
        before = from..end.firsts.len();
        end.starts.push(from);
        end.blocks.push(at);
        at = u64::checked_add(at, bytes.number()?)?;
    }
    let is_whole = of_rows(0) == counts[0] && of_rows(1) == counts[1] && at == far_at;
    let is_in_order = far_at <= documents_at && documents_at <= end_at && bytes.0.is_empty();
    end.starts.push(end.firsts.len());
    end.blocks.push(at);
    (is_whole && is_in_order).then_some(end)
}

fn read_row(bytes: &mut Bytes<'_>) -> Option<Row> {
    let length = bytes.count()?;
    let key = core::str::from_utf8(bytes.take(length)?).ok()?.into();
    let from = bytes.number()?;
    let to = from.checked_add(bytes.number()?)?;
    let (changed_us, file, tail) = (bytes.word()?.cast_signed(), bytes.word()?, bytes.word()?);
    let secrets = small(bytes)?;
    let documents = [small(bytes)?, small(bytes)?];
    let terms = [bytes.number()?, bytes.number()?];
    let first = small(bytes)?;
    let last = first.checked_add(small(bytes)?)?;
    let times = (first != u32::MAX).then_some((first, last));
    Some(Row { key, from, to, changed_us, file, tail, secrets, documents, terms, times })
}

fn small(bytes: &mut Bytes<'_>) -> Option<u32> {
    u32::try_from(bytes.number()?).ok()
}

impl End {
    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// Where a block lies.
    pub fn block(&self, nth: usize) -> Range<u64> {
        self.blocks[nth]..self.blocks[nth + 1]
    }

    /// The block that has the term, if one has it.
    pub fn block_of(&self, term: &[u8]) -> Option<usize> {
        let (mut from, mut to) = (0, self.blocks());
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.first(middle) <= term { from = middle + 1 } else { to = middle }
        }
        from.checked_sub(1)
    }

    fn first(&self, block: usize) -> &[u8] {
        &self.firsts[self.starts[block]..self.starts[block + 1]]
    }

    /// The blocks in which terms may begin so.
    pub fn blocks_from(&self, prefix: &[u8]) -> Range<usize> {
        let from = self.block_of(prefix).unwrap_or(0);
        let is_before = |nth: &usize| self.first(*nth) <= prefix || self.first(*nth).starts_with(prefix);
        from..(from..self.blocks()).take_while(is_before).last().map_or(from, |last| last + 1)
    }

    /// What a block, as [`End::block`] has it, says of a term; nothing where it has not got it. An error where it is damaged.
    pub fn entry(&self, block: &[u8], term: &[u8]) -> Result<Option<Entry>, Damaged> {
        let mut terms = Terms::of(block)?;
        while terms.next()? {
            if terms.term() >= term {
                let entry = terms.lists.take().filter(|_| terms.term() == term);
                return Ok(entry.map(|entry| self.in_file(entry)));
            }
        }
        Ok(None)
    }

    /// Where the blocks lie together, and where the far lists do.
    pub fn parts(&self) -> [Range<u64>; 2] {
        [0..self.far_at, self.far_at..self.documents_at]
    }

    /// Where lists lie that a block has by their place in "far".
    pub fn in_file(&self, entry: Entry) -> Entry {
        match entry {
            Entry::Far(Far { range, counts, lengths }) => {
                let range = range.start.saturating_add(self.far_at)..range.end.saturating_add(self.far_at);
                Entry::Far(Far { range, counts, lengths })
            }
            near => near,
        }
    }

    /// Where the page lies that has a document, and its place in it.
    pub fn page_of(&self, field: usize, document: u32) -> (Range<u64>, usize) {
        let counts = [self.lengths[0].len(), self.lengths[1].len()];
        let document = document as usize;
        let page = document / PAGE;
        let before = if field == 0 { 0 } else { pages_length(counts[0]) };
        let start = before + page * (PAGE * DOCUMENT + CHECK);
        let length = PAGE.min(counts[field].saturating_sub(page * PAGE)) * DOCUMENT + CHECK;
        let at = self.documents_at + start as u64;
        (at..at + length as u64, document % PAGE)
    }

    /// Where all pages of a field lie.
    pub fn pages(&self, field: usize) -> Range<u64> {
        let (first, _) = self.page_of(field, 0);
        first.start..first.start + pages_length(self.lengths[field].len()) as u64
    }
}

/// The documents of a page; nothing where it is damaged.
pub fn page(bytes: &[u8]) -> Option<Vec<Document>> {
    let inside = unsealed(bytes)?;
    Some(inside.chunks_exact(DOCUMENT).filter_map(document).collect())
}

/// The documents of some pages, as [`End::pages`] has them; nothing where they are damaged.
pub fn documents(bytes: &[u8]) -> Option<Vec<Document>> {
    let mut all = Vec::new();
    for one in bytes.chunks(PAGE * DOCUMENT + CHECK) {
        all.extend(page(one)?);
    }
    Some(all)
}

fn document(bytes: &[u8]) -> Option<Document> {
    let (at, rest) = bytes.split_at_checked(5)?;
    let at = at.iter().rev().fold(0, |at, byte| at << 8 | u64::from(*byte));
    let (size, rest) = rest.split_first()?;
    let seconds = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
    let role = match rest.get(4)? {
        1 => Some(Role::System),
        2 => Some(Role::User),
        3 => Some(Role::Assistant),
        4 => Some(Role::Tool),
        _ => None,
    };
    Some(Document { at, size: *size, seconds, role })
}

/// Bytes of a run are not what was written: it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// The terms of a block, one after another.
#[derive(Debug)]
pub struct Terms {
    block: Vec<u8>,
    at: usize,
    term: Vec<u8>,
    /// What the block has of the term; of lists that lie apart the range is one in "far".
    pub lists: Option<Entry>,
}

impl Terms {
    /// Before the first one.
    ///
    /// # Errors
    /// [`Damaged`] where the block is not what was written.
    pub fn of(block: &[u8]) -> Result<Terms, Damaged> {
        let block = unsealed(block).ok_or(Damaged)?.to_vec();
        Ok(Terms { block, at: 0, term: Vec::new(), lists: None })
    }

    /// The term that was reached.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// Goes to the next one, if there is one more.
    ///
    /// # Errors
    /// [`Damaged`], which no block has whose checksum is right.
    #[allow(clippy::should_implement_trait, reason = "no iterator can lend what it goes through")]
    pub fn next(&mut self) -> Result<bool, Damaged> {
        if self.at == self.block.len() {
            return Ok(false);
        }
        let mut bytes = Bytes(&self.block[self.at..]);
        self.lists = Some(entry(&mut bytes, &mut self.term).ok_or(Damaged)?);
        self.at = self.block.len() - bytes.0.len();
        Ok(true)
    }
}

// What a block says of the term behind another one, which becomes that.
fn entry(bytes: &mut Bytes<'_>, term: &mut Vec<u8>) -> Option<Entry> {
    let [shared, suffix] = two(bytes)?;
    if shared > term.len() {
        return None;
    }
    term.truncate(shared);
    term.extend_from_slice(bytes.take(suffix)?);
    let counts = two(bytes)?;
    let counts = [u32::try_from(counts[0]).ok()?, u32::try_from(counts[1]).ok()?];
    if counts[0].checked_add(counts[1])? <= FEW {
        let lists = [few(bytes, counts[0])?, few(bytes, counts[1])?];
        return Some(Entry::Near(Lists { counts, bytes: lists }));
    }
    let mut lengths = [0; 2];
    for (length, count) in lengths.iter_mut().zip(counts) {
        *length = if count > 0 { bytes.count()? } else { 0 };
    }
    let all = lengths[0].checked_add(lengths[1])?;
    Some(if all > NEAR {
        let start = bytes.number()?;
        let end = start.checked_add(all as u64)?.checked_add(CHECK as u64)?;
        Entry::Far(Far { range: start..end, counts, lengths })
    } else {
        let lists = [bytes.take(lengths[0])?.into(), bytes.take(lengths[1])?.into()];
        Entry::Near(Lists { counts, bytes: lists })
    })
}

// A list whose length is not told.
fn few(bytes: &mut Bytes<'_>, count: u32) -> Option<Vec<u8>> {
    let before = bytes.0;
    each_posting(bytes, count, |_| ())?;
    Some(before[..before.len() - bytes.0.len()].into())
}

fn two(bytes: &mut Bytes<'_>) -> Option<[usize; 2]> {
    let head = bytes.byte()?;
    let mut numbers = [usize::from(head >> 4), usize::from(head & 15)];
    for number in &mut numbers {
        if *number == 15 {
            *number = number.checked_add(bytes.count()?)?;
        }
    }
    Some(numbers)
}
