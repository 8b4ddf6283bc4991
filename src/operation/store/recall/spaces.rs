//! The documents of many runs as one row of documents, in which those of a session follow one another as in its log: so it
//! does not matter to a ranking which run has which piece.

use alloc::vec;
use alloc::vec::Vec;

use super::asking::{Postings, lists};
use super::runs::{Lost, Run, parts};
use crate::operation::Io;
use crate::recall::documents::{Corpus, Document, Documents, Posting, SAID, WORK};
use crate::recall::question::Term;
use crate::recall::rank::{Ranked, worth_of_role};
use crate::recall::run::Lists;
use crate::recall::run::read::page;

/// Which document of which run is which.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    // In order: by sessions, and in each as in its log.
    pieces: Vec<Piece>,
    // Of each run and row the piece, where it counts.
    rows: Vec<Vec<Option<usize>>>,
    // In each field, which documents are of which session.
    sessions: [Vec<core::ops::Range<u32>>; 2],
}

// A row of a run that counts: in each field, where its documents begin in the run, and in the row of all.
#[derive(Clone, Copy, Debug)]
struct Piece {
    run: usize,
    row: usize,
    session: u32,
    starts: [u32; 2],
    at: [u32; 2],
}

// The documents of a term, piece by piece: in each they lie in order.
#[derive(Default)]
struct Gathered {
    hits: Vec<Posting>,
    // Where those of each piece begin.
    begun: Vec<usize>,
}

impl Gathered {
    fn begin(&mut self) {
        if self.begun.last() != Some(&self.hits.len()) {
            self.begun.push(self.hits.len());
        }
    }

    // Only the pieces have to be put in order, which are far fewer.
    fn in_order(self) -> Vec<Posting> {
        let Gathered { hits, begun } = self;
        if hits.is_sorted() {
            return hits;
        }
        let ends = begun.iter().skip(1).copied().chain([hits.len()]);
        let mut pieces: Vec<&[Posting]> = begun.iter().zip(ends).map(|(from, to)| &hits[*from..to]).collect();
        pieces.sort_by_key(|piece| piece.first().copied());
        pieces.concat()
    }
}

impl Spaces {
    /// `counted`: of each run and row which of so many sessions it is a piece of, where it counts.
    pub fn of(runs: &[Run], counted: &[Vec<Option<u32>>], sessions: usize) -> Spaces {
        let mut pieces = Vec::new();
        for (nth, run) in runs.iter().enumerate() {
            let mut starts = [0; 2];
            for (row, piece) in run.end.rows.iter().enumerate() {
                if let Some(session) = counted[nth][row] {
                    pieces.push(Piece { run: nth, row, session, starts, at: [0; 2] });
                }
                starts = [SAID, WORK].map(|field| starts[field] + piece.documents[field]);
            }
        }
        pieces.sort_by_key(|one| (one.session, runs[one.run].end.rows[one.row].from, one.run));
        let mut spaces = Spaces {
            pieces,
            rows: runs.iter().map(|run| vec![None; run.end.rows.len()]).collect(),
            sessions: [vec![0..0; sessions], vec![0..0; sessions]],
        };
        let mut at = [0; 2];
        let mut last = None;
        for (number, piece) in spaces.pieces.iter_mut().enumerate() {
            piece.at = at;
            spaces.rows[piece.run][piece.row] = Some(number);
            for field in [SAID, WORK] {
                let session = &mut spaces.sessions[field][piece.session as usize];
                let start = if last == Some(piece.session) { session.start } else { at[field] };
                at[field] += runs[piece.run].end.rows[piece.row].documents[field];
                *session = start..at[field];
            }
            last = Some(piece.session);
        }
        spaces
    }

    /// How many documents there are, in each field.
    pub fn counts(&self) -> [u32; 2] {
        [SAID, WORK]
            .map(|field| self.sessions[field].iter().map(|session| session.end).max().unwrap_or_default())
    }

    /// The run that has a document, and its number there.
    pub fn place(&self, field: usize, document: u32) -> (usize, u32) {
        let behind = self.pieces.partition_point(|piece| piece.at[field] <= document);
        let piece = &self.pieces[behind - 1];
        (piece.run, document - piece.at[field] + piece.starts[field])
    }

    /// Messages that match, each with its document.
    pub async fn read_matches(
        &self,
        io: &Io,
        runs: &[Run],
        best: &[Ranked],
    ) -> Result<Vec<(Ranked, Document)>, Lost> {
        let place = |one: &Ranked| {
            let (run, document) = self.place(one.field, one.document);
            let (range, place) = runs[run].end.page_of(one.field, document);
            (run, range, place)
        };
        let places: Vec<_> = best.iter().map(place).collect();
        let ranges: Vec<_> = places.iter().map(|(run, range, _)| (*run, range.clone())).collect();
        let mut found = Vec::new();
        for ((one, (run, _, place)), bytes) in best.iter().zip(&places).zip(parts(io, runs, &ranges).await?) {
            let document = page(&bytes).and_then(|page| page.get(*place).copied());
            found.push((*one, document.ok_or_else(|| runs[*run].lost())?));
        }
        Ok(found)
    }

    /// Messages of a session that match, each with where its line begins, ordered by who said them as well.
    pub async fn order_matches(
        &self,
        io: &Io,
        runs: &[Run],
        terms: &[Term],
        best: &[Ranked],
    ) -> Result<Vec<(Ranked, u64)>, Lost> {
        let mut found = self.read_matches(io, runs, best).await?;
        for (one, document) in &mut found {
            one.score *= worth_of_role(terms, one.field, document);
        }
        found.sort_by(|(one, _), (other, _)| other.score.total_cmp(&one.score));
        Ok(found.into_iter().map(|(one, document)| (one, document.at)).collect())
    }

    /// The documents of a field, as `all` has them of each run.
    pub fn documents<'a>(
        &'a self,
        runs: &'a [Run],
        field: usize,
        all: &'a [Vec<Document>],
    ) -> impl Iterator<Item = &'a Document> {
        self.pieces.iter().flat_map(move |piece| {
            let start = piece.starts[field] as usize;
            let count = runs[piece.run].end.rows[piece.row].documents[field] as usize;
            &all[piece.run][start..start + count]
        })
    }

    /// What answers, as `rank` tells it, and whether anything does: by the terms that were looked up, and where nothing has
    /// those, by all of them.
    pub async fn answering<T>(
        &self,
        io: &Io,
        runs: &[Run],
        (terms, mut found): (&[Term], Postings),
        rank: impl Fn(Corpus) -> (T, bool),
    ) -> Result<T, Lost> {
        loop {
            let (answer, is_any) = rank(self.corpus(runs, &found)?);
            if is_any || found.are_whole() {
                return Ok(answer);
            }
            // What is rare may be what others said, or what is not asked.
            found = lists(io, runs, None, terms).await?;
        }
    }

    // What each document has.
    fn corpus(&self, runs: &[Run], postings: &Postings) -> Result<Corpus, Lost> {
        let mut corpus = [SAID, WORK].map(|field| {
            let mut lengths = Vec::new();
            for piece in &self.pieces {
                let end = &runs[piece.run].end;
                let start = piece.starts[field] as usize;
                let count = end.rows[piece.row].documents[field] as usize;
                lengths.extend_from_slice(&end.lengths[field][start..start + count]);
            }
            let unread = postings.unread[field].clone();
            let hits = vec![Vec::new(); unread.len()];
            Documents { lengths, sessions: self.sessions[field].clone(), hits, unread }
        });
        for (field, documents) in corpus.iter_mut().enumerate() {
            for (term, hits) in documents.hits.iter_mut().enumerate() {
                let mut gathered = Gathered::default();
                for (nth, (run, lists)) in runs.iter().zip(&postings.lists).enumerate() {
                    self.gather(run, nth, (field, &lists[term]), &mut gathered)?;
                }
                *hits = gathered.in_order();
            }
        }
        Ok(corpus)
    }

    // The documents of a term in a run, as far as they count.
    fn gather(
        &self,
        run: &Run,
        nth: usize,
        (field, lists): (usize, &Lists),
        gathered: &mut Gathered,
    ) -> Result<(), Lost> {
        let rows = &run.end.rows;
        let count = run.end.lengths[field].len() as u32;
        let (mut row, mut end) = (0, rows.first().map_or(0, |row| row.documents[field]));
        gathered.begin();
        let mut is_right = true;
        let read = lists.each(field, |(document, times)| {
            is_right &= document < count;
            while document >= end && row + 1 < rows.len() {
                row += 1;
                end += rows[row].documents[field];
                gathered.begin();
            }
            if let Some(piece) = self.rows[nth].get(row).copied().flatten().filter(|_| is_right) {
                let piece = &self.pieces[piece];
                gathered.hits.push((document - piece.starts[field] + piece.at[field], times));
            }
        });
        if is_right { read.ok_or_else(|| run.lost()) } else { Err(run.lost()) }
    }
}
