//! The shortlist for recall within a session, from the search index: what is read for it grows with the question, not
//! the log.
//!
//! Bytes of the log that no index file covers are indexed at the question, by the writer that searches use, so that
//! what is recalled does not depend on earlier questions. So a log is indexed as it grows. If more bytes are uncovered
//! than a context reads, each question indexes some more of them from the start, and the log's end is scanned, until
//! all is indexed.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;
use core::pin::Pin;

use super::coverage::{IndexView, SessionLog};
use super::document_order::DocumentOrder;
use super::index_files::{IndexFile, IndexLocation, IndexLost, read_ranges};
use super::indexing::{IndexRedaction, IndexUpkeep, MIN_INDEXED_BYTES, PlainReader};
use super::postings::read_postings;
use super::{MAX_ATTEMPTS, too_many_retries_error};
use crate::context::MAX_SCAN_BYTES;
use crate::operation::session_files::SessionFiles;
use crate::operation::store::Store;
use crate::operation::{Io, Trouble};
use crate::recall::documents::{Corpus, Document};
use crate::recall::index_file::read::parse_pages;
use crate::recall::question::Question;
use crate::recall::shortlist::{Shortlist, documents_to_read, rank_best};

// So many small index files of one log are replaced; each has fewer bytes of it than a question indexes.
const MAX_SMALL_FILES: usize = 32;
const SMALL_FILE_BYTES: u64 = 512 << 10;

impl Store {
    /// Returns the messages before this line of a session's log that may answer; none if no store has the session, or
    /// if much of its log is not indexed yet.
    pub(in crate::operation) async fn find_shortlist(
        &self,
        io: &Io,
        files: &SessionFiles,
        question: &Question,
        before: u64,
    ) -> Result<Option<Shortlist>, Trouble> {
        let Some(place) = self.setup().parse_place(&files.shown_folder(), files.placement()) else {
            return Ok(None);
        };
        // Where secrets must not be indexed, only searches write index files.
        let most = if self.setup().redacts { MIN_INDEXED_BYTES } else { MAX_SCAN_BYTES };
        for _ in 0..MAX_ATTEMPTS {
            let Some(log) = self.find_log(io, &place, most).await? else { return Ok(None) };
            match self.rank_shortlist(io, &log, question, before).await {
                Ok(shortlist) => return Ok(shortlist),
                Err(lost) => self.recover_index(io, lost).await?,
            }
        }
        Err(too_many_retries_error())
    }

    async fn rank_shortlist(
        &self,
        io: &Io,
        log: &SessionLog,
        question: &Question,
        before: u64,
    ) -> Result<Option<Shortlist>, IndexLost> {
        let covering = self.find_coverage(io, core::iter::once(log)).await?;
        let upkeep = IndexUpkeep {
            covers_all_sessions: false,
            redaction: IndexRedaction::default(),
            tidy: remove_small_files,
            logs: &PlainReader,
        };
        let index = self.update_index(io, &[log], covering, upkeep).await?;
        if index.is_behind {
            return Ok(None);
        }
        let IndexView { files: runs, session_numbers: counted, .. } = index.only_searched();
        let spaces = DocumentOrder::new(&runs, &counted, 1);
        let mut places = DocumentPages { io, files: &runs, order: &spaces, pages: BTreeMap::new() };
        let counts = places.count_before(before).await?;
        let found = read_postings(io, &runs, Some(&counted), &question.terms).await?;
        let by = |mut corpus: Corpus| {
            corpus.iter_mut().zip(counts).for_each(|(documents, count)| documents.truncate(count as usize));
            let best = rank_best(question, &corpus);
            let is_any = !best.1.is_empty();
            (best, is_any)
        };
        let best = spaces.rank_or_widen(io, &runs, (&question.terms, found), by).await?;
        for (field, numbers) in documents_to_read(&best.1) {
            places.add_wanted(field, numbers);
        }
        places.read_wanted().await?;
        Ok(Some(Shortlist::new(question, best, &|field, number| places.find_document(field, number))))
    }
}

// Removes index files with words that must go, and those of one log that are many and small: the log is indexed again
// from there. To merge them takes a search.
fn remove_small_files<'a>(
    store: &'a Store,
    io: &'a Io,
    runs: &'a [IndexFile],
    (gone, _): (&'a BTreeSet<usize>, &'a [BTreeSet<usize>]),
) -> Pin<Box<dyn Future<Output = Result<bool, IndexLost>> + 'a>> {
    let mut short: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (nth, run) in runs.iter().enumerate() {
        // A file that a search wrote may have several sessions; searches merge these, too.
        if let [row] = &run.footer.rows[..]
            && row.end - row.start < SMALL_FILE_BYTES
            && !store.setup().redacts
        {
            short.entry(&row.key).or_default().push(nth);
        }
    }
    let many = short.into_values().filter(|runs| runs.len() >= MAX_SMALL_FILES).flatten();
    let other: BTreeSet<usize> = many.chain(gone.iter().copied()).collect();
    let names = other.into_iter().filter_map(|nth| match &runs[nth].location {
        IndexLocation::File(name) => Some(name),
        IndexLocation::Memory(_) => None,
    });
    let names: Vec<_> = names.collect();
    Box::pin(async move {
        let mut is_other = false;
        for name in names {
            is_other |= store.remove_index_file(io, name).await?;
        }
        Ok(is_other)
    })
}

// Pages of documents in index files, those that were read so far.
struct DocumentPages<'a> {
    io: &'a Io,
    files: &'a [IndexFile],
    order: &'a DocumentOrder,
    pages: BTreeMap<PageRef, Option<Vec<Document>>>,
}

// A page: its index file, its field, and the bytes where it begins and ends in the file.
type PageRef = (usize, usize, u64, u64);

impl DocumentPages<'_> {
    fn page_of(&self, field: usize, number: u32) -> (PageRef, usize) {
        let (run, document) = self.order.locate_document(field, number);
        let (Range { start, end }, place) = self.files[run].footer.find_page(field, document);
        ((run, field, start, end), place)
    }

    fn find_document(&self, field: usize, number: u32) -> Option<Document> {
        let (page, place) = self.page_of(field, number);
        self.pages.get(&page)?.as_ref()?.get(place).copied()
    }

    fn add_wanted(&mut self, field: usize, numbers: Range<u32>) {
        for number in numbers {
            let (page, _) = self.page_of(field, number);
            self.pages.entry(page).or_default();
        }
    }

    async fn read_wanted(&mut self) -> Result<(), IndexLost> {
        let unread = self.pages.iter().filter(|(_, documents)| documents.is_none());
        let pages: Vec<PageRef> = unread.map(|(page, _)| *page).collect();
        let ranges: Vec<_> = pages.iter().map(|(run, _, start, end)| (*run, *start..*end)).collect();
        for (page, bytes) in pages.into_iter().zip(read_ranges(self.io, self.files, &ranges).await?) {
            let read = parse_pages(&bytes).ok_or_else(|| self.files[page.0].changed_error())?;
            self.pages.insert(page, Some(read));
        }
        Ok(())
    }

    // Counts the documents before a line, in each field. Reads documents from the last one back, until one lies before
    // the line.
    async fn count_before(&mut self, before: u64) -> Result<[u32; 2], IndexLost> {
        let mut counts = self.order.document_counts();
        for (field, count) in counts.iter_mut().enumerate() {
            let mut number = *count;
            while let Some(last) = number.checked_sub(1) {
                self.add_wanted(field, last..number);
                self.read_wanted().await?;
                let at = self.find_document(field, last).unwrap_or_default().line_start;
                if at >= before {
                    *count = last;
                } else if at > 0 {
                    break;
                }
                number = last;
            }
        }
        Ok(counts)
    }
}
