//! Merges index files into one, with the same bytes as if all had been indexed at once, leaving out the segments that
//! do not count. The files are read block by block in the order of their terms, and the result is written in parts:
//! only the end of each file is held.

use alloc::vec::Vec;
use core::ops::Range;

use super::bytes::{encode_postings, unseal};
use super::read::{BlockTerms, DamagedIndex, IndexFooter, TermEntry};
use super::write::{DocumentTables, IndexFileWriter, PageWriter};
use super::{DOCUMENT_BYTES, PAGE_DOCUMENTS, PostingLists};
use crate::recall::documents::{Posting, SAID_FIELD, WORK_FIELD};

// The bytes written at once, and the bytes held of all sources together, each of which reads in three places.
const WRITE_BYTES: u64 = if cfg!(test) { 64 } else { 128 << 10 };
const MAX_HELD_BYTES: u64 = if cfg!(test) { 1 << 10 } else { 4 << 20 };

/// An index file, and which of its segments count.
#[derive(Clone, Copy, Debug)]
pub struct MergeSource<'a> {
    /// The end of the file.
    pub end: &'a IndexFooter,
    /// For each of its segments, whether it counts.
    pub counts: &'a [bool],
}

/// Where a part of the result is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputPart {
    /// The index file itself.
    Run,
    /// The temporary place of the far lists: they come after the blocks, but are made along with them.
    Far,
}

/// The files that a merge reads and writes.
pub trait MergeFiles {
    /// The reason for stopping.
    type Stop: From<DamagedIndex>;

    /// Reads a range of a source in full.
    fn read(&mut self, source: usize, range: Range<u64>)
    -> impl Future<Output = Result<Vec<u8>, Self::Stop>>;

    /// Reads a range of the far lists written so far.
    fn read_far(&mut self, range: Range<u64>) -> impl Future<Output = Result<Vec<u8>, Self::Stop>>;

    /// Appends to a part.
    fn write(&mut self, part: OutputPart, bytes: Vec<u8>) -> impl Future<Output = Result<(), Self::Stop>>;
}

/// Merges the segments that count, sorted by session; a segment that continues another is joined to it.
///
/// # Errors
/// [`DamagedIndex`] if a source is not as it was written; else the files' own reason for stopping.
pub async fn merge<F: MergeFiles>(sources: &[MergeSource<'_>], files: &mut F) -> Result<(), F::Stop> {
    let piece = WRITE_BYTES.min(MAX_HELD_BYTES / (3 * sources.len().max(1) as u64));
    let mut ins: Vec<_> = sources
        .iter()
        .enumerate()
        .map(|(number, source)| SourceCursor::new((number, piece), *source))
        .collect();
    let order = order_segments(&ins);
    let beside = place_segments(&mut ins, &order);
    let mut writer = IndexFileWriter::default();
    // The sources that have terms left, the one with the first term last.
    let mut waiting = Vec::new();
    for source in 0..ins.len() {
        ins[source].advance(files).await?;
        insert_waiting(&mut waiting, &ins, source);
    }
    let mut gathered = [Vec::new(), Vec::new()];
    while let Some(term) = waiting.last().and_then(|first: &usize| ins[*first].term()) {
        let term = term.to_vec();
        while let Some(source) = waiting.pop_if(|source| ins[*source].term() == Some(&term)) {
            ins[source].gather_postings(files, &mut gathered).await?;
            ins[source].advance(files).await?;
            insert_waiting(&mut waiting, &ins, source);
        }
        let lists = PostingLists {
            counts: [SAID_FIELD, WORK_FIELD].map(|field| gathered[field].len() as u32),
            bytes: [SAID_FIELD, WORK_FIELD].map(|field| encode_sorted(&mut gathered[field])),
        };
        if lists.counts != [0; 2] {
            writer.add_term(&term, &lists);
        }
        if writer.waiting_bytes() as u64 >= WRITE_BYTES {
            files.write(OutputPart::Run, writer.take_blocks()).await?;
            files.write(OutputPart::Far, writer.take_far_lists()).await?;
        }
    }
    writer.close_block();
    files.write(OutputPart::Run, writer.take_blocks()).await?;
    files.write(OutputPart::Far, writer.take_far_lists()).await?;
    let (mut at, far) = (0, writer.taken_far_bytes());
    while at < far {
        let to = far.min(at + WRITE_BYTES);
        let bytes = files.read_far(at..to).await?;
        files.write(OutputPart::Run, bytes).await?;
        at = to;
    }
    for field in [SAID_FIELD, WORK_FIELD] {
        write_documents(&ins, &order, field, files).await?;
    }
    files.write(OutputPart::Run, writer.build_footer(&beside)).await
}

// Inserts a source where its term belongs, if it has one left.
fn insert_waiting(waiting: &mut Vec<usize>, ins: &[SourceCursor<'_>], source: usize) {
    if ins[source].term().is_some() {
        let place = waiting.partition_point(|other| ins[*other].term() > ins[source].term());
        waiting.insert(place, source);
    }
}

// Sorts, encodes and clears some postings.
fn encode_sorted(postings: &mut Vec<Posting>) -> Vec<u8> {
    if !postings.is_sorted() {
        postings.sort_unstable();
    }
    let bytes = encode_postings(postings);
    postings.clear();
    bytes
}

// Returns the segments that count, as source and row, in the order of the result.
fn order_segments(ins: &[SourceCursor<'_>]) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    for (source, cursor) in ins.iter().enumerate() {
        let counted = (0..cursor.end.rows.len()).filter(|row| cursor.counts.get(*row) == Some(&true));
        order.extend(counted.map(|row| (source, row)));
    }
    let row_of = |&(source, row): &(usize, usize)| &ins[source].end.rows[row];
    order.sort_by(|one, other| {
        let (one, other) = (row_of(one), row_of(other));
        (&one.key, one.start, one.end).cmp(&(&other.key, other.start, other.end))
    });
    order
}

// Numbers the documents of each segment, and collects their tables except for where they lie.
fn place_segments(ins: &mut [SourceCursor<'_>], order: &[(usize, usize)]) -> DocumentTables {
    let mut beside =
        DocumentTables { hides: ins.iter().all(|cursor| cursor.end.hides), ..DocumentTables::default() };
    for &(source, row) in order {
        let cursor = &mut ins[source];
        let piece = &cursor.end.rows[row];
        let last = beside.rows.last_mut().filter(|last| last.key == piece.key && last.end == piece.start);
        match last {
            Some(last) => last.append(piece),
            None => beside.rows.push(piece.clone()),
        }
        for field in [SAID_FIELD, WORK_FIELD] {
            let range = cursor.documents(row, field);
            cursor.new_starts[row][field] = beside.lengths[field].len() as u32;
            beside.lengths[field]
                .extend_from_slice(&cursor.end.lengths[field][range.start as usize..range.end as usize]);
        }
    }
    beside
}

// Writes where the documents of a field lie.
async fn write_documents<F: MergeFiles>(
    ins: &[SourceCursor<'_>],
    order: &[(usize, usize)],
    field: usize,
    files: &mut F,
) -> Result<(), F::Stop> {
    let mut windows: Vec<_> = ins
        .iter()
        .map(|cursor| Window { region: cursor.end.pages(field), ..cursor.blocks.without_bytes() })
        .collect();
    let mut pages = PageWriter::default();
    for &(source, row) in order {
        let Range { start: mut at, end } = ins[source].documents(row, field);
        while at < end {
            let (range, place) = ins[source].end.find_page(field, at);
            let page = unseal(windows[source].read_range(files, range).await?).ok_or(DamagedIndex)?;
            let some = page.chunks_exact(DOCUMENT_BYTES).skip(place).take((end - at) as usize);
            at += (PAGE_DOCUMENTS - place) as u32;
            some.for_each(|document| pages.put_document(document));
            if pages.waiting_bytes() as u64 >= WRITE_BYTES {
                files.write(OutputPart::Run, pages.take_full_pages()).await?;
            }
        }
    }
    files.write(OutputPart::Run, pages.finish()).await
}

// A region of a source, read from its beginning to its end.
#[derive(Debug, Default)]
struct Window {
    source: usize,
    piece: u64,
    region: Range<u64>,
    // The bytes of the last read, and where they begin.
    bytes: Vec<u8>,
    start: u64,
}

impl Window {
    // A new window on the same source.
    fn without_bytes(&self) -> Window {
        Window { source: self.source, piece: self.piece, ..Window::default() }
    }

    async fn read_range<F: MergeFiles>(
        &mut self,
        files: &mut F,
        range: Range<u64>,
    ) -> Result<&[u8], F::Stop> {
        if range.start < self.region.start || range.end > self.region.end {
            return Err(DamagedIndex.into());
        }
        if range.start < self.start || range.end > self.start + self.bytes.len() as u64 {
            let to = range.end.max(self.region.end.min(range.start + self.piece));
            self.bytes = files.read(self.source, range.start..to).await?;
            self.start = range.start;
        }
        let from = (range.start - self.start) as usize;
        self.bytes.get(from..from + (range.end - range.start) as usize).ok_or_else(|| DamagedIndex.into())
    }
}

// A source, at its current term.
struct SourceCursor<'a> {
    end: &'a IndexFooter,
    counts: &'a [bool],
    // For each row, the first number of its documents in the source and in the result; `NO_DOCUMENT` if it does not
    // count.
    starts: Vec<[u32; 2]>,
    new_starts: Vec<[u32; 2]>,
    blocks: Window,
    far: Window,
    // The next block.
    block: usize,
    terms: Option<BlockTerms>,
}

const NO_DOCUMENT: u32 = u32::MAX;

impl<'a> SourceCursor<'a> {
    fn new((source, piece): (usize, u64), MergeSource { end, counts }: MergeSource<'a>) -> SourceCursor<'a> {
        let mut at = [0; 2];
        let next = |documents: [u32; 2]| {
            let next = [SAID_FIELD, WORK_FIELD].map(|field| at[field] + documents[field]);
            core::mem::replace(&mut at, next)
        };
        let starts: Vec<_> = end.rows.iter().map(|row| row.documents).map(next).collect();
        let moved = starts.iter().map(|_| [NO_DOCUMENT; 2]).collect();
        let [blocks, far] = end.parts().map(|region| Window { source, piece, region, ..Window::default() });
        SourceCursor { end, counts, starts, new_starts: moved, blocks, far, block: 0, terms: None }
    }

    fn documents(&self, row: usize, field: usize) -> Range<u32> {
        let start = self.starts[row][field];
        start..start + self.end.rows[row].documents[field]
    }

    fn term(&self) -> Option<&[u8]> {
        self.terms.as_ref().map(BlockTerms::term)
    }

    async fn advance<F: MergeFiles>(&mut self, files: &mut F) -> Result<(), F::Stop> {
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
            let block = self.blocks.read_range(files, self.end.block(self.block)).await?;
            self.block += 1;
            self.terms = Some(BlockTerms::new(block)?);
        }
    }

    // Collects the documents of the current term, by their new numbers.
    async fn gather_postings<F: MergeFiles>(
        &mut self,
        files: &mut F,
        out: &mut [Vec<Posting>; 2],
    ) -> Result<(), F::Stop> {
        let lists = match self.terms.as_ref().map(BlockTerms::entry).ok_or(DamagedIndex)? {
            TermEntry::Near(lists) => lists,
            far => {
                let TermEntry::Far(far) = self.end.to_file_range(far) else {
                    return Err(DamagedIndex.into());
                };
                far.lists(self.far.read_range(files, far.range.clone()).await?).ok_or(DamagedIndex)?
            }
        };
        for field in [SAID_FIELD, WORK_FIELD] {
            let mut row = 0;
            let (starts, moved, out) = (&self.starts, &self.new_starts, &mut out[field]);
            let gathered = lists.for_each_posting(field, |(document, times)| {
                if starts.get(row + 1).is_some_and(|next| next[field] <= document) {
                    row += starts[row..].partition_point(|start| start[field] <= document) - 1;
                }
                if moved[row][field] != NO_DOCUMENT {
                    out.push((document - starts[row][field] + moved[row][field], times));
                }
            });
            gathered.ok_or(DamagedIndex)?;
        }
        Ok(())
    }
}
