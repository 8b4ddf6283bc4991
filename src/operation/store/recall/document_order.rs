//! Document order: the documents of many index files numbered as one sequence, in which those of a session follow one
//! another as in its log. So it does not matter to a ranking which file has which segment.

use alloc::vec;
use alloc::vec::Vec;

use super::index_files::{IndexFile, IndexLost, read_ranges};
use super::postings::{QueryPostings, read_postings};
use crate::operation::Io;
use crate::recall::documents::{Corpus, Document, FieldDocuments, Posting, SAID_FIELD, WORK_FIELD};
use crate::recall::index_file::PostingLists;
use crate::recall::index_file::read::parse_page;
use crate::recall::question::Term;
use crate::recall::rank::{RankedDocument, weight_of_role};

/// Orders a session's ranked messages by score and by who said them.
pub(super) fn order_matches(terms: &[Term], found: &mut [(RankedDocument, Document)]) {
    for (ranked, document) in found.iter_mut() {
        ranked.score *= weight_of_role(terms, ranked.field, document);
    }
    found.sort_by(|(ranked, _), (other, _)| other.score.total_cmp(&ranked.score));
}

/// The segments of all index files in order, and the documents that each of them has.
#[derive(Debug, Default)]
pub(super) struct DocumentOrder {
    // By session, and within one as in its log.
    segments: Vec<OrderedSegment>,
    // For each file and row, the index in `segments`; none where the segment is not searched.
    segment_by_row: Vec<Vec<Option<usize>>>,
    // For each field, the documents of each session.
    session_ranges: [Vec<core::ops::Range<u32>>; 2],
}

// A segment, and the number of its first document: in its file, and in the whole order; for each field.
#[derive(Clone, Copy, Debug)]
struct OrderedSegment {
    file: usize,
    row: usize,
    session: u32,
    first_in_file: [u32; 2],
    first_overall: [u32; 2],
}

// The postings of a term, segment by segment; within one they are sorted.
#[derive(Default)]
struct TermPostings {
    postings: Vec<Posting>,
    // Where the postings of each segment begin.
    segment_starts: Vec<usize>,
}

impl TermPostings {
    fn begin_segment(&mut self) {
        if self.segment_starts.last() != Some(&self.postings.len()) {
            self.segment_starts.push(self.postings.len());
        }
    }

    // Sorts the segments alone, which are far fewer than postings.
    fn into_sorted(self) -> Vec<Posting> {
        let TermPostings { postings: hits, segment_starts: begun } = self;
        if hits.is_sorted() {
            return hits;
        }
        let ends = begun.iter().skip(1).copied().chain([hits.len()]);
        let mut pieces: Vec<&[Posting]> = begun.iter().zip(ends).map(|(from, to)| &hits[*from..to]).collect();
        pieces.sort_by_key(|piece| piece.first().copied());
        pieces.concat()
    }
}

impl DocumentOrder {
    /// `counted`: for each file and row the number of its session, of `sessions`; none where the segment is not
    /// searched.
    pub fn new(runs: &[IndexFile], counted: &[Vec<Option<u32>>], sessions: usize) -> DocumentOrder {
        let mut pieces = Vec::new();
        for (nth, run) in runs.iter().enumerate() {
            let mut starts = [0; 2];
            for (row, piece) in run.footer.rows.iter().enumerate() {
                if let Some(session) = counted[nth][row] {
                    pieces.push(OrderedSegment {
                        file: nth,
                        row,
                        session,
                        first_in_file: starts,
                        first_overall: [0; 2],
                    });
                }
                starts = [SAID_FIELD, WORK_FIELD].map(|field| starts[field] + piece.documents[field]);
            }
        }
        pieces
            .sort_by_key(|piece| (piece.session, runs[piece.file].footer.rows[piece.row].start, piece.file));
        let mut spaces = DocumentOrder {
            segments: pieces,
            segment_by_row: runs.iter().map(|run| vec![None; run.footer.rows.len()]).collect(),
            session_ranges: [vec![0..0; sessions], vec![0..0; sessions]],
        };
        let mut at = [0; 2];
        let mut last = None;
        for (number, piece) in spaces.segments.iter_mut().enumerate() {
            piece.first_overall = at;
            spaces.segment_by_row[piece.file][piece.row] = Some(number);
            for field in [SAID_FIELD, WORK_FIELD] {
                let session = &mut spaces.session_ranges[field][piece.session as usize];
                let start = if last == Some(piece.session) { session.start } else { at[field] };
                at[field] += runs[piece.file].footer.rows[piece.row].documents[field];
                *session = start..at[field];
            }
            last = Some(piece.session);
        }
        spaces
    }

    /// The number of documents in each field.
    pub fn document_counts(&self) -> [u32; 2] {
        [SAID_FIELD, WORK_FIELD].map(|field| {
            self.session_ranges[field].iter().map(|session| session.end).max().unwrap_or_default()
        })
    }

    /// Returns the index file that has a document, and the document's number there.
    pub fn locate_document(&self, field: usize, document: u32) -> (usize, u32) {
        let behind = self.segments.partition_point(|piece| piece.first_overall[field] <= document);
        let piece = &self.segments[behind - 1];
        (piece.file, document - piece.first_overall[field] + piece.first_in_file[field])
    }

    /// Reads the documents of ranked messages, in the order given.
    pub async fn read_matches(
        &self,
        io: &Io,
        runs: &[IndexFile],
        best: &[RankedDocument],
    ) -> Result<Vec<(RankedDocument, Document)>, IndexLost> {
        let place = |ranked: &RankedDocument| {
            let (run, document) = self.locate_document(ranked.field, ranked.document);
            let (range, place) = runs[run].footer.find_page(ranked.field, document);
            (run, range, place)
        };
        let places: Vec<_> = best.iter().map(place).collect();
        let ranges: Vec<_> = places.iter().map(|(run, range, _)| (*run, range.clone())).collect();
        let mut found = Vec::new();
        for ((ranked, (run, _, place)), bytes) in
            best.iter().zip(&places).zip(read_ranges(io, runs, &ranges).await?)
        {
            let document = parse_page(&bytes).and_then(|page| page.get(*place).copied());
            found.push((*ranked, document.ok_or_else(|| runs[*run].changed_error())?));
        }
        Ok(found)
    }

    /// Returns the documents of a field in order. `all`: those of each index file.
    pub fn documents_in_order<'a>(
        &'a self,
        runs: &'a [IndexFile],
        field: usize,
        all: &'a [Vec<Document>],
    ) -> impl Iterator<Item = &'a Document> {
        self.segments.iter().flat_map(move |piece| {
            let start = piece.first_in_file[field] as usize;
            let count = runs[piece.file].footer.rows[piece.row].documents[field] as usize;
            &all[piece.file][start..start + count]
        })
    }

    /// Ranks with the terms whose postings were read; if nothing matches, reads the postings of all terms and ranks
    /// again. `rank` returns whether anything matched.
    pub async fn rank_or_widen<T>(
        &self,
        io: &Io,
        runs: &[IndexFile],
        (terms, mut found): (&[Term], QueryPostings),
        rank: impl Fn(Corpus) -> (T, bool),
    ) -> Result<T, IndexLost> {
        loop {
            let (answer, is_any) = rank(self.build_corpus(runs, &found)?);
            if is_any || found.are_complete() {
                return Ok(answer);
            }
            // The rare terms may stand only in other sessions, or in messages that are filtered out.
            found = read_postings(io, runs, None, terms).await?;
        }
    }

    // Gathers the postings of all terms, numbered in this order.
    fn build_corpus(&self, runs: &[IndexFile], postings: &QueryPostings) -> Result<Corpus, IndexLost> {
        let mut corpus = [SAID_FIELD, WORK_FIELD].map(|field| {
            let mut lengths = Vec::new();
            for piece in &self.segments {
                let end = &runs[piece.file].footer;
                let start = piece.first_in_file[field] as usize;
                let count = end.rows[piece.row].documents[field] as usize;
                lengths.extend_from_slice(&end.lengths[field][start..start + count]);
            }
            let unread = postings.unread_counts[field].clone();
            let hits = vec![Vec::new(); unread.len()];
            FieldDocuments { lengths, sessions: self.session_ranges[field].clone(), hits, unread }
        });
        for (field, documents) in corpus.iter_mut().enumerate() {
            for (term, hits) in documents.hits.iter_mut().enumerate() {
                let mut gathered = TermPostings::default();
                for (nth, (run, lists)) in runs.iter().zip(&postings.lists).enumerate() {
                    self.gather_postings(run, nth, (field, &lists[term]), &mut gathered)?;
                }
                *hits = gathered.into_sorted();
            }
        }
        Ok(corpus)
    }

    // Gathers the postings of a term in one file, for the segments that are searched.
    fn gather_postings(
        &self,
        run: &IndexFile,
        nth: usize,
        (field, lists): (usize, &PostingLists),
        gathered: &mut TermPostings,
    ) -> Result<(), IndexLost> {
        let rows = &run.footer.rows;
        let count = run.footer.lengths[field].len() as u32;
        let (mut row, mut end) = (0, rows.first().map_or(0, |row| row.documents[field]));
        gathered.begin_segment();
        let mut is_right = true;
        let read = lists.for_each_posting(field, |(document, times)| {
            is_right &= document < count;
            while document >= end && row + 1 < rows.len() {
                row += 1;
                end += rows[row].documents[field];
                gathered.begin_segment();
            }
            if let Some(piece) = self.segment_by_row[nth].get(row).copied().flatten().filter(|_| is_right) {
                let piece = &self.segments[piece];
                gathered
                    .postings
                    .push((document - piece.first_in_file[field] + piece.first_overall[field], times));
            }
        });
        if is_right { read.ok_or_else(|| run.changed_error()) } else { Err(run.changed_error()) }
    }
}
