//! Reads an index file: its end first, which says which bytes hold a term or a document.

use alloc::vec::Vec;
use core::ops::Range;

use super::bytes::{ByteReader, CHECKSUM_BYTES, for_each_posting, unseal};
use super::{
    DOCUMENT_BYTES, FILE_MARK, FORMAT_VERSION, MAX_DOCUMENTS_WITHOUT_LENGTHS, MAX_INLINE_LIST_BYTES,
    PAGE_DOCUMENTS, PostingLists, REDACTED_BIT, Segment, TRAILER_BYTES, pages_length,
};
use crate::recall::documents::Document;
use crate::recall::terms::ANALYSIS_VERSION;
use crate::record::message::Role;

/// The end of an index file, which suffices to locate a term.
#[derive(Clone, Debug, Default)]
pub struct IndexFooter {
    /// The segments, whose documents are numbered one segment after another.
    pub rows: Vec<Segment>,
    /// The number of terms of each document in each field, decoded by
    /// [`length_of`](crate::recall::portable_math::length_of).
    pub lengths: [Vec<u8>; 2],
    /// True if the file has none of the secrets found in the logs.
    pub hides: bool,
    far_at: u64,
    documents_at: u64,
    // The first terms of the blocks, concatenated; the start of each term; and the start of each block.
    firsts: Vec<u8>,
    starts: Vec<usize>,
    blocks: Vec<u64>,
}

/// The result of reading the last bytes of a file.
#[derive(Debug)]
pub enum OpenOutcome {
    /// The end of the file, whole.
    End(IndexFooter),
    /// This many of the last bytes are needed.
    More(u64),
    /// Not an index file, or a damaged one, or one of another version: it is made again.
    Broken,
}

/// The entry of a term in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermEntry {
    /// The documents, stored in the block.
    Near(PostingLists),
    /// Where the documents lie in the file; [`FarLists::lists`] reads them.
    Far(FarLists),
}

impl TermEntry {
    /// Returns the number of documents in each field.
    pub fn counts(&self) -> [u32; 2] {
        match self {
            TermEntry::Near(lists) => lists.counts,
            TermEntry::Far(far) => far.counts,
        }
    }
}

/// Lists that lie apart from their term's block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarLists {
    /// Their range in the file.
    pub range: Range<u64>,
    /// The number of documents in each field.
    pub counts: [u32; 2],
    lengths: [usize; 2],
}

impl FarLists {
    /// Decodes the lists; `None` if the bytes are not those written.
    pub fn lists(&self, bytes: &[u8]) -> Option<PostingLists> {
        let (said_postings, work) = unseal(bytes)?.split_at_checked(self.lengths[0])?;
        (work.len() == self.lengths[1])
            .then(|| PostingLists { counts: self.counts, bytes: [said_postings.into(), work.into()] })
    }
}

/// Reads the end of a file of `size` bytes from the last of them.
pub fn read_footer(tail: &[u8], size: u64) -> OpenOutcome {
    let Some(at) = tail.len().checked_sub(TRAILER_BYTES) else {
        return if size < TRAILER_BYTES as u64 {
            OpenOutcome::Broken
        } else {
            OpenOutcome::More(TRAILER_BYTES as u64)
        };
    };
    let Some((length, hides)) = read_footer_length(&tail[at..], size) else { return OpenOutcome::Broken };
    let needed = length + TRAILER_BYTES as u64;
    let Some(end) = usize::try_from(needed).ok().and_then(|needed| tail.len().checked_sub(needed)) else {
        return OpenOutcome::More(needed);
    };
    let sealed = &tail[end..tail.len() - FILE_MARK.len()];
    let read = unseal(sealed).and_then(|all| parse_footer(&all[..length as usize], size - needed));
    read.map_or(OpenOutcome::Broken, |end| OpenOutcome::End(IndexFooter { hides, ..end }))
}

// Returns the length of the end, and whether the file has no secrets, if the trailer is ours and the file has its
// length.
fn read_footer_length(trailer: &[u8], size: u64) -> Option<(u64, bool)> {
    let mut bytes = ByteReader(trailer);
    let (length, whole) = (bytes.read_u64()?, bytes.read_u64()?);
    let (format, version) = (bytes.read_u32()?, bytes.read_u32()?);
    let is_ours = (format & !REDACTED_BIT, version) == (FORMAT_VERSION, ANALYSIS_VERSION)
        && bytes.read_bytes(CHECKSUM_BYTES).is_some()
        && bytes.0 == FILE_MARK;
    let is_whole = is_ours && whole == size && length.checked_add(TRAILER_BYTES as u64)? <= size;
    is_whole.then_some((length, format & REDACTED_BIT != 0))
}

fn parse_footer(all: &[u8], end_at: u64) -> Option<IndexFooter> {
    let mut bytes = ByteReader(all);
    let (far_at, documents_at) = (bytes.read_number()?, bytes.read_number()?);
    let (rows, blocks) = (bytes.read_count()?, bytes.read_count()?);
    let counts = [bytes.read_count()?, bytes.read_count()?];
    let lengths = [bytes.read_bytes(counts[0])?.to_vec(), bytes.read_bytes(counts[1])?.to_vec()];
    let mut end = IndexFooter { far_at, documents_at, lengths, ..IndexFooter::default() };
    for _ in 0..rows {
        end.rows.push(read_segment(&mut bytes)?);
    }
    let of_rows = |field: usize| end.rows.iter().map(|row| row.documents[field] as usize).sum::<usize>();
    let mut at = 0;
    let mut before = 0..0;
    for _ in 0..blocks {
        let (shared, more) = (bytes.read_count()?, bytes.read_count()?);
        let from = end.firsts.len();
        if shared > before.len() {
            return None;
        }
        end.firsts.extend_from_within(before.start..before.start + shared);
        end.firsts.extend_from_slice(bytes.read_bytes(more)?);
        before = from..end.firsts.len();
        end.starts.push(from);
        end.blocks.push(at);
        at = u64::checked_add(at, bytes.read_number()?)?;
    }
    let is_whole = of_rows(0) == counts[0] && of_rows(1) == counts[1] && at == far_at;
    let is_in_order = far_at <= documents_at && documents_at <= end_at && bytes.0.is_empty();
    end.starts.push(end.firsts.len());
    end.blocks.push(at);
    (is_whole && is_in_order).then_some(end)
}

fn read_segment(bytes: &mut ByteReader<'_>) -> Option<Segment> {
    let length = bytes.read_count()?;
    let key = core::str::from_utf8(bytes.read_bytes(length)?).ok()?.into();
    let from = bytes.read_number()?;
    let to = from.checked_add(bytes.read_number()?)?;
    let (changed_us, file, tail) = (bytes.read_u64()?.cast_signed(), bytes.read_u64()?, bytes.read_u64()?);
    let secrets = read_small(bytes)?;
    let documents = [read_small(bytes)?, read_small(bytes)?];
    let terms = [bytes.read_number()?, bytes.read_number()?];
    let first = read_small(bytes)?;
    let last = first.checked_add(read_small(bytes)?)?;
    let times = (first != u32::MAX).then_some((first, last));
    Some(Segment { key, start: from, end: to, changed_us, file, tail, secrets, documents, terms, times })
}

fn read_small(bytes: &mut ByteReader<'_>) -> Option<u32> {
    u32::try_from(bytes.read_number()?).ok()
}

impl IndexFooter {
    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// Returns the range of a block in the file.
    pub fn block(&self, nth: usize) -> Range<u64> {
        self.blocks[nth]..self.blocks[nth + 1]
    }

    /// Returns the block that would have the term; `None` if the term comes before all of them.
    pub fn find_block(&self, term: &[u8]) -> Option<usize> {
        let (mut from, mut to) = (0, self.blocks());
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.first_term(middle) <= term { from = middle + 1 } else { to = middle }
        }
        from.checked_sub(1)
    }

    fn first_term(&self, block: usize) -> &[u8] {
        &self.firsts[self.starts[block]..self.starts[block + 1]]
    }

    /// Returns the blocks that may have terms with this prefix.
    pub fn blocks_with_prefix(&self, prefix: &[u8]) -> Range<usize> {
        let from = self.find_block(prefix).unwrap_or(0);
        let is_before =
            |nth: &usize| self.first_term(*nth) <= prefix || self.first_term(*nth).starts_with(prefix);
        from..(from..self.blocks()).take_while(is_before).last().map_or(from, |last| last + 1)
    }

    /// Finds a term in a block that was read from [`IndexFooter::block`]. An error means that the block is damaged.
    pub fn find_entry(&self, block: &[u8], term: &[u8]) -> Result<Option<TermEntry>, DamagedIndex> {
        let mut terms = BlockTerms::new(block)?;
        while terms.next()? {
            if terms.term() >= term {
                return Ok((terms.term() == term).then(|| self.to_file_range(terms.entry())));
            }
        }
        Ok(None)
    }

    /// Returns the range of all blocks, and that of the far lists.
    pub fn parts(&self) -> [Range<u64>; 2] {
        [0..self.far_at, self.far_at..self.documents_at]
    }

    /// Turns an entry's range within the far lists into one in the file.
    pub fn to_file_range(&self, entry: TermEntry) -> TermEntry {
        match entry {
            TermEntry::Far(FarLists { range, counts, lengths }) => {
                let range = range.start.saturating_add(self.far_at)..range.end.saturating_add(self.far_at);
                TermEntry::Far(FarLists { range, counts, lengths })
            }
            near => near,
        }
    }

    /// Returns the range of the page that has a document, and the document's place in it.
    pub fn find_page(&self, field: usize, document: u32) -> (Range<u64>, usize) {
        let counts = [self.lengths[0].len(), self.lengths[1].len()];
        let document = document as usize;
        let page = document / PAGE_DOCUMENTS;
        let before = if field == 0 { 0 } else { pages_length(counts[0]) };
        let start = before + page * (PAGE_DOCUMENTS * DOCUMENT_BYTES + CHECKSUM_BYTES);
        let length = PAGE_DOCUMENTS.min(counts[field].saturating_sub(page * PAGE_DOCUMENTS)) * DOCUMENT_BYTES
            + CHECKSUM_BYTES;
        let at = self.documents_at + start as u64;
        (at..at + length as u64, document % PAGE_DOCUMENTS)
    }

    /// Returns the range of all pages of a field.
    pub fn pages(&self, field: usize) -> Range<u64> {
        let (first, _) = self.find_page(field, 0);
        first.start..first.start + pages_length(self.lengths[field].len()) as u64
    }
}

/// Decodes the documents of a page; `None` if it is damaged.
pub fn parse_page(bytes: &[u8]) -> Option<Vec<Document>> {
    let inside = unseal(bytes)?;
    Some(inside.chunks_exact(DOCUMENT_BYTES).filter_map(parse_document).collect())
}

/// Decodes the documents of the pages from [`IndexFooter::pages`]; `None` if they are damaged.
pub fn parse_pages(bytes: &[u8]) -> Option<Vec<Document>> {
    let mut all = Vec::new();
    for one in bytes.chunks(PAGE_DOCUMENTS * DOCUMENT_BYTES + CHECKSUM_BYTES) {
        all.extend(parse_page(one)?);
    }
    Some(all)
}

fn parse_document(bytes: &[u8]) -> Option<Document> {
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
    Some(Document { line_start: at, size: *size, seconds, role })
}

/// The bytes of an index file are not those written: the file is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedIndex;

/// Iterates over the terms of a block.
#[derive(Debug)]
pub struct BlockTerms {
    block: Vec<u8>,
    offset: usize,
    term: Vec<u8>,
    stored: StoredEntry,
}

// An entry as its block has it: most terms of a block are only passed by.
#[derive(Clone, Debug, Default)]
struct StoredEntry {
    counts: [u32; 2],
    lengths: [usize; 2],
    // The range of far lists within the far part; else the lists end where the entry does.
    far: Option<Range<u64>>,
}

impl BlockTerms {
    /// Starts before the first term.
    ///
    /// # Errors
    /// [`DamagedIndex`] if the block is not as it was written.
    pub fn new(block: &[u8]) -> Result<BlockTerms, DamagedIndex> {
        let block = unseal(block).ok_or(DamagedIndex)?.to_vec();
        Ok(BlockTerms { block, offset: 0, term: Vec::new(), stored: StoredEntry::default() })
    }

    /// Returns the current term.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// Returns the number of the current term's documents in each field.
    pub fn counts(&self) -> [u32; 2] {
        self.stored.counts
    }

    /// Returns the current term's entry; the range of far lists is one within the far part.
    pub fn entry(&self) -> TermEntry {
        let StoredEntry { counts, lengths, far } = self.stored.clone();
        if let Some(range) = far {
            return TermEntry::Far(FarLists { range, counts, lengths });
        }
        let middle = self.offset - lengths[1];
        let lists = [&self.block[middle - lengths[0]..middle], &self.block[middle..self.offset]];
        TermEntry::Near(PostingLists { counts, bytes: lists.map(Vec::from) })
    }

    /// Goes to the next term; false if there is none.
    ///
    /// # Errors
    /// [`DamagedIndex`], which no block causes whose checksum is right.
    #[allow(clippy::should_implement_trait, reason = "no iterator can lend what it goes through")]
    pub fn next(&mut self) -> Result<bool, DamagedIndex> {
        if self.offset == self.block.len() {
            return Ok(false);
        }
        let mut bytes = ByteReader(&self.block[self.offset..]);
        self.stored = read_entry(&mut bytes, &mut self.term).ok_or(DamagedIndex)?;
        self.offset = self.block.len() - bytes.0.len();
        Ok(true)
    }
}

// Reads the entry after `term`, and replaces `term` by the entry's.
fn read_entry(bytes: &mut ByteReader<'_>, term: &mut Vec<u8>) -> Option<StoredEntry> {
    let [shared, suffix] = read_pair(bytes)?;
    if shared > term.len() {
        return None;
    }
    term.truncate(shared);
    term.extend_from_slice(bytes.read_bytes(suffix)?);
    let counts = read_pair(bytes)?;
    let counts = [u32::try_from(counts[0]).ok()?, u32::try_from(counts[1]).ok()?];
    if counts[0].checked_add(counts[1])? <= MAX_DOCUMENTS_WITHOUT_LENGTHS {
        let lengths = [pass_short_list(bytes, counts[0])?, pass_short_list(bytes, counts[1])?];
        return Some(StoredEntry { counts, lengths, far: None });
    }
    let mut lengths = [0; 2];
    for (length, count) in lengths.iter_mut().zip(counts) {
        *length = if count > 0 { bytes.read_count()? } else { 0 };
    }
    let all = lengths[0].checked_add(lengths[1])?;
    let far = if all > MAX_INLINE_LIST_BYTES {
        let start = bytes.read_number()?;
        Some(start..start.checked_add(all as u64)?.checked_add(CHECKSUM_BYTES as u64)?)
    } else {
        bytes.read_bytes(all)?;
        None
    };
    Some(StoredEntry { counts, lengths, far })
}

// Passes a list whose length is not stored, and returns that.
fn pass_short_list(bytes: &mut ByteReader<'_>, count: u32) -> Option<usize> {
    let before = bytes.0.len();
    for_each_posting(bytes, count, |_| ())?;
    Some(before - bytes.0.len())
}

fn read_pair(bytes: &mut ByteReader<'_>) -> Option<[usize; 2]> {
    let head = bytes.read_byte()?;
    let mut numbers = [usize::from(head >> 4), usize::from(head & 15)];
    for number in &mut numbers {
        if *number == 15 {
            *number = number.checked_add(bytes.read_count()?)?;
        }
    }
    Some(numbers)
}
