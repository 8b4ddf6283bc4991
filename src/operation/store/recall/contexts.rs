//! What a context may recall of its session, by the index: what is read for it grows with the question, not with the log.
//!
//! What no run has of the log is indexed at the question, by the same writer as for a search: what is recalled doesn't depend on what was
//! asked before. So a log is indexed as it grows. Of one that has more bytes without an index than a context reads, each question indexes
//! some from its start, and its end is looked through, until all of it is indexed.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;
use core::pin::Pin;

use super::asking::lists;
use super::index::{Index, Log};
use super::making::{Hiding, LITTLE, Upkeep};
use super::runs::{At, Lost, Run, parts};
use super::spaces::Spaces;
use super::{TRIES, too_often};
use crate::context::FARTHEST;
use crate::operation::live::Live;
use crate::operation::store::Store;
use crate::operation::{Io, Trouble};
use crate::recall::documents::{Corpus, Document};
use crate::recall::question::Question;
use crate::recall::run::read::documents;
use crate::recall::shortlist::{Shortlist, best, wanted};

// So many runs of one log become fewer that have little of it each: less than a question indexes.
const MANY: usize = 32;
const SHORT: u64 = 512 << 10;

impl Store {
    /// The messages before a line of a session's log that may answer; nothing where no store has the session, or much of it is not
    /// indexed.
    pub(in crate::operation) async fn shortlist(
        &self,
        io: &Io,
        live: &Live,
        question: &Question,
        before: u64,
    ) -> Result<Option<Shortlist>, Trouble> {
        let Some(place) = self.setup().place(&live.shown(), live.placement()) else { return Ok(None) };
        // What no secret may be in is made by searches alone.
        let most = if self.setup().redacts { LITTLE } else { FARTHEST };
        for _ in 0..TRIES {
            let Some(log) = self.log_alone(io, &place, most).await? else { return Ok(None) };
            match self.listed_short(io, &log, question, before).await {
                Ok(shortlist) => return Ok(shortlist),
                Err(lost) => self.without_lost(io, lost).await?,
            }
        }
        Err(too_often())
    }

    async fn listed_short(
        &self,
        io: &Io,
        log: &Log,
        question: &Question,
        before: u64,
    ) -> Result<Option<Shortlist>, Lost> {
        let covering = self.covering(io, core::iter::once(log)).await?;
        let upkeep = Upkeep { is_all: false, hiding: Hiding::default(), tidying: few };
        let index = self.index_of_words(io, &[log], covering, upkeep).await?;
        if index.is_behind {
            return Ok(None);
        }
        let Index { runs, sessions: counted, .. } = index.of_asked();
        let spaces = Spaces::of(&runs, &counted, 1);
        let mut places = Places { io, runs: &runs, spaces: &spaces, read: BTreeMap::new() };
        let counts = places.before(before).await?;
        let found = lists(io, &runs, Some(&counted), &question.terms).await?;
        let by = |mut corpus: Corpus| {
            corpus.iter_mut().zip(counts).for_each(|(documents, count)| documents.cut(count as usize));
            let best = best(question, &corpus);
            let is_any = !best.1.is_empty();
            (best, is_any)
        };
        let best = spaces.answering(io, &runs, (&question.terms, found), by).await?;
        for (field, numbers) in wanted(&best.1) {
            places.wants(field, numbers);
        }
        places.fetch().await?;
        Ok(Some(Shortlist::of(question, best, &|field, number| places.place(field, number))))
    }
}

// Takes away runs that have what is gone, and those of one log that are many and short: that log is indexed anew from there. To
// join them takes a search.
fn few<'a>(
    store: &'a Store,
    io: &'a Io,
    runs: &'a [Run],
    (gone, _): (&'a BTreeSet<usize>, &'a [BTreeSet<usize>]),
) -> Pin<Box<dyn Future<Output = Result<bool, Lost>> + 'a>> {
    let mut short: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (nth, run) in runs.iter().enumerate() {
        // One that a search wrote may have several sessions: it joins it, too.
        if let [row] = &run.end.rows[..]
            && row.to - row.from < SHORT
            && !store.setup().redacts
        {
            short.entry(&row.key).or_default().push(nth);
        }
    }
    let many = short.into_values().filter(|runs| runs.len() >= MANY).flatten();
    let other: BTreeSet<usize> = many.chain(gone.iter().copied()).collect();
    let names = other.into_iter().filter_map(|nth| match &runs[nth].at {
        At::File(name) => Some(name),
        At::Memory(_) => None,
    });
    let names: Vec<_> = names.collect();
    Box::pin(async move {
        let mut is_other = false;
        for name in names {
            is_other |= store.without_run(io, name).await?;
        }
        Ok(is_other)
    })
}

// Where documents lie: pages of runs, those that were read.
struct Places<'a> {
    io: &'a Io,
    runs: &'a [Run],
    spaces: &'a Spaces,
    read: BTreeMap<Page, Option<Vec<Document>>>,
}

// In a run, of a field, by where it begins in the file and where it ends.
type Page = (usize, usize, u64, u64);

impl Places<'_> {
    fn page(&self, field: usize, number: u32) -> (Page, usize) {
        let (run, document) = self.spaces.place(field, number);
        let (Range { start, end }, place) = self.runs[run].end.page_of(field, document);
        ((run, field, start, end), place)
    }

    fn place(&self, field: usize, number: u32) -> Option<Document> {
        let (page, place) = self.page(field, number);
        self.read.get(&page)?.as_ref()?.get(place).copied()
    }

    fn wants(&mut self, field: usize, numbers: Range<u32>) {
        for number in numbers {
            let (page, _) = self.page(field, number);
            self.read.entry(page).or_default();
        }
    }

    async fn fetch(&mut self) -> Result<(), Lost> {
        let unread = self.read.iter().filter(|(_, documents)| documents.is_none());
        let pages: Vec<Page> = unread.map(|(page, _)| *page).collect();
        let ranges: Vec<_> = pages.iter().map(|(run, _, start, end)| (*run, *start..*end)).collect();
        for (page, bytes) in pages.into_iter().zip(parts(self.io, self.runs, &ranges).await?) {
            let read = documents(&bytes).ok_or_else(|| self.runs[page.0].lost())?;
            self.read.insert(page, Some(read));
        }
        Ok(())
    }

    // How many documents lie before a line, in each field: the last ones are looked at, as many as lie behind it.
    async fn before(&mut self, before: u64) -> Result<[u32; 2], Lost> {
        let mut counts = self.spaces.counts();
        for (field, count) in counts.iter_mut().enumerate() {
            let mut number = *count;
            while let Some(last) = number.checked_sub(1) {
                self.wants(field, last..number);
                self.fetch().await?;
                let at = self.place(field, last).unwrap_or_default().at;
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
