//! Index files: the files of the search index in a store's cache. Which segments of a log they have, and whether these
//! are still valid, is checked anew for each question.
//!
//! No list of the files is kept, and no lock: the folder is the list. Two processes that merge at once leave segments
//! twice; one of each counts, and the next merge drops the other.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use xxhash_rust::xxh64::xxh64;

use crate::layout::{self, File};
use crate::operation::join::collect_responses;
use crate::operation::store::Store;
use crate::operation::{FileKind, Io, Trouble, unless_bug};
use crate::recall::index_file::Segment;
use crate::recall::index_file::read::{IndexFooter, OpenOutcome, read_footer};
use crate::record::id;
use crate::record::span::Span;
use crate::time::Stamp;

const INDEX_FILE_ENDING: &str = ".run";
/// The ending of a file that is still being written.
pub(super) const UNFINISHED_ENDING: &str = ".part";
// A file that was begun longer ago is abandoned.
const ABANDONED_AFTER_MS: i64 = 24 * 60 * 60 * 1000;
// Bytes that are read first for a footer; most footers are shorter.
const FOOTER_READ_BYTES: u64 = 64 * 1024;

/// An index file, on disk or in memory alone.
#[derive(Clone)]
pub(super) struct IndexFile {
    pub footer: Rc<IndexFooter>,
    pub location: IndexLocation,
}

#[derive(Clone)]
pub(super) enum IndexLocation {
    File(String),
    Memory(Rc<Vec<u8>>),
}

/// Why an index file cannot be read as it was: another process merged it with others, or it is damaged. The search is
/// tried again with the files that there are.
pub(super) enum IndexLost {
    File(String),
    /// This process replaced files.
    Replaced,
    Trouble(Trouble),
}

impl From<Trouble> for IndexLost {
    fn from(trouble: Trouble) -> IndexLost {
        IndexLost::Trouble(trouble)
    }
}

impl IndexFile {
    /// Opens one that was built just now.
    pub fn in_memory(bytes: Vec<u8>) -> Option<IndexFile> {
        let end = footer_from_bytes(&bytes)?;
        Some(IndexFile { footer: Rc::new(end), location: IndexLocation::Memory(Rc::new(bytes)) })
    }

    /// The error that its bytes are not those of its footer.
    pub fn changed_error(&self) -> IndexLost {
        match &self.location {
            IndexLocation::File(name) => IndexLost::File(name.clone()),
            IndexLocation::Memory(_) => IndexLost::Trouble(Trouble::internal(
                "expected an index file that was made, but found another",
            )),
        }
    }
}

/// Reads the footer of an index file in memory.
pub(super) fn footer_from_bytes(bytes: &[u8]) -> Option<IndexFooter> {
    match read_footer(bytes, bytes.len() as u64) {
        OpenOutcome::End(end) => Some(end),
        OpenOutcome::More(_) | OpenOutcome::Broken => None,
    }
}

/// Names an index file by its length and its hash, so that a process which builds the same one writes the same file.
pub(super) fn index_file_name(length: u64, sha256: &str) -> String {
    format!("{length}-{}{INDEX_FILE_ENDING}", &sha256[..16])
}

pub(super) fn size_from_name(name: &str) -> Option<u64> {
    name.strip_suffix(INDEX_FILE_ENDING)?.split_once('-')?.0.parse().ok()
}

pub(super) fn index_file_path(name: &str) -> File {
    layout::search_index().child(name)
}

/// Reads ranges of index files, in the order given; close ranges of a file are read together.
pub(super) async fn read_ranges(
    io: &Io,
    runs: &[IndexFile],
    wanted: &[(usize, Range<u64>)],
) -> Result<Vec<Vec<u8>>, IndexLost> {
    let mut sorted = wanted.to_vec();
    sorted.sort_by_key(|(run, range)| (*run, range.start));
    let (mut spans, mut reads) = (Vec::new(), Vec::new());
    for of_run in sorted.chunk_by(|(run, _), (other, _)| run == other) {
        let run = of_run[0].0;
        let IndexLocation::File(name) = &runs[run].location else { continue };
        for span in Span::merge_close(
            of_run.iter().map(|(_, Range { start, end })| Span { start: *start, end: *end }),
        ) {
            spans.push((run, span));
            reads.push(io.read(&index_file_path(name), span.start, Some(span.end)));
        }
    }
    let read = collect_responses(reads).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let part = |(run, range): &(usize, Range<u64>)| match &runs[*run].location {
        IndexLocation::Memory(bytes) => bytes.get(range.start as usize..range.end as usize),
        IndexLocation::File(_) => {
            let place = spans.partition_point(|(other, span)| (*other, span.start) <= (*run, range.start));
            let place = place.checked_sub(1)?;
            let (_, span) = spans[place];
            read[place].as_ref()?.get((range.start - span.start) as usize..(range.end - span.start) as usize)
        }
    };
    wanted
        .iter()
        .map(|one| part(one).map(<[u8]>::to_vec).ok_or_else(|| runs[one.0].changed_error()))
        .collect()
}

impl Store {
    /// Opens all index files. One that is damaged, or may have secrets that nobody looked for, is removed, and its
    /// logs are indexed again. If something other than a folder has the index's name, there are none.
    pub(super) async fn open_index_files(&self, io: &Io) -> Result<Vec<IndexFile>, Trouble> {
        let entries = unless_bug(io.list(&layout::search_index()).await)?.flatten().unwrap_or_default();
        let files = entries.into_iter().filter(|entry| entry.kind == FileKind::File);
        let (left, files): (Vec<_>, Vec<_>) =
            files.partition(|entry| entry.name.ends_with(UNFINISHED_ENDING));
        self.remove_abandoned_parts(io, left.into_iter().map(|entry| entry.name)).await?;
        let names: Vec<(String, u64)> = files
            .into_iter()
            .filter_map(|entry| Some((size_from_name(&entry.name)?, entry.name)))
            .map(|(size, name)| (name, size))
            .collect();
        self.index_footers.borrow_mut().retain(|name, _| names.iter().any(|(one, _)| one == name));
        let mut runs = Vec::new();
        for (name, size) in names {
            let known = self.index_footers.borrow().get(&name).cloned();
            let end = match known {
                Some(None) => continue,
                Some(end) => end,
                None => self.open_index_file(io, &name, size).await?,
            };
            match end.filter(|end| end.hides || !self.setup.redacts) {
                Some(end) => runs.push(IndexFile { footer: end, location: IndexLocation::File(name) }),
                None => self.drop_damaged_file(io, name).await?,
            }
        }
        Ok(runs)
    }

    // Removes partly written files of processes that died. Their names begin with the time they were begun at, as all
    // ids do.
    async fn remove_abandoned_parts(
        &self,
        io: &Io,
        names: impl Iterator<Item = String>,
    ) -> Result<(), Trouble> {
        let stamp = io.stamp();
        let before = id::new(&Stamp { now_ms: stamp.now_ms - ABANDONED_AFTER_MS, ..stamp }, 0);
        for name in names.filter(|name| *name < before) {
            unless_bug(io.remove(&index_file_path(&name)).await)?;
        }
        Ok(())
    }

    /// Removes all partly written files, those in progress too: whoever writes one does without it.
    pub(super) async fn remove_all_parts(&self, io: &Io) -> Result<(), Trouble> {
        let entries = io.list(&layout::search_index()).await?.unwrap_or_default();
        for entry in entries.iter().filter(|entry| entry.name.ends_with(UNFINISHED_ENDING)) {
            io.remove(&index_file_path(&entry.name)).await?;
        }
        Ok(())
    }

    async fn open_index_file(
        &self,
        io: &Io,
        name: &str,
        size: u64,
    ) -> Result<Option<Rc<IndexFooter>>, Trouble> {
        let mut wanted = FOOTER_READ_BYTES.min(size);
        for _ in 0..3 {
            let tail = io.read_range(&index_file_path(name), size - wanted, size).await?;
            match read_footer(&tail, size) {
                OpenOutcome::End(end) => {
                    let end = Rc::new(end);
                    self.index_footers.borrow_mut().insert(name.into(), Some(end.clone()));
                    return Ok(Some(end));
                }
                OpenOutcome::More(more) if more > wanted && more <= size => wanted = more,
                OpenOutcome::More(_) | OpenOutcome::Broken => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Prepares the next attempt, which finds other files.
    ///
    /// # Errors
    ///
    /// The trouble itself, where another attempt cannot help.
    pub(super) async fn recover_index(&self, io: &Io, lost: IndexLost) -> Result<(), Trouble> {
        match lost {
            IndexLost::File(name) => self.drop_damaged_file(io, name).await,
            IndexLost::Replaced => Ok(()),
            IndexLost::Trouble(trouble) => Err(trouble),
        }
    }

    // A file that cannot be removed, as in a read-only store, is not opened again.
    async fn drop_damaged_file(&self, io: &Io, name: String) -> Result<(), Trouble> {
        if !self.remove_index_file(io, &name).await? {
            self.index_footers.borrow_mut().insert(name, None);
        }
        Ok(())
    }

    /// Removes an index file that is damaged or was merged into another, and returns whether it could.
    pub(super) async fn remove_index_file(&self, io: &Io, name: &str) -> Result<bool, Trouble> {
        self.index_footers.borrow_mut().remove(name);
        Ok(unless_bug(io.remove(&index_file_path(name)).await)?.is_some())
    }
}

/// Hashes the last bytes of a segment's part of its log, by which that is recognized.
pub(super) fn hash_tail(tail: &[u8]) -> u64 {
    xxh64(tail, 0)
}

/// A segment: its index file, and its row there.
pub(super) type SegmentRef = (usize, usize);

/// Finds the segments of each log, by its key.
pub(super) fn find_segments<'k>(
    runs: &[IndexFile],
    keys: impl Iterator<Item = &'k str>,
) -> Vec<Vec<SegmentRef>> {
    let keys: Vec<&str> = keys.collect();
    let mut pieces = vec![Vec::new(); keys.len()];
    // Compared by hash, for thousands of keys begin alike, and comparing them takes long.
    let hash = |key: &str| xxh64(key.as_bytes(), 0);
    let numbers: BTreeMap<u64, usize> =
        keys.iter().enumerate().map(|(number, key)| (hash(key), number)).collect();
    for (run, one) in runs.iter().enumerate() {
        for (row, piece) in one.footer.rows.iter().enumerate() {
            if let Some(number) = numbers.get(&hash(&piece.key))
                && keys[*number] == piece.key
            {
                pieces[*number].push((run, row));
            }
        }
    }
    pieces
}

/// Chains the segments that cover a log of this size and time, one after the other from its beginning.
pub(super) fn covering_segments(
    runs: &[IndexFile],
    pieces: &[SegmentRef],
    (size, changed_us): (u64, i64),
) -> Vec<SegmentRef> {
    let row = |&(run, row): &SegmentRef| &runs[run].footer.rows[row];
    let is_now = |row: &Segment| row.end == size && row.changed_us == changed_us;
    let mut chain = Vec::new();
    let mut at = 0;
    loop {
        let next =
            pieces.iter().filter(|place| row(place).start == at && (at + 1..=size).contains(&row(place).end));
        let best =
            next.max_by_key(|place| (is_now(row(place)), row(place).end, row(place).changed_us, **place));
        let Some(best) = best else { return chain };
        at = row(best).end;
        chain.push(*best);
    }
}
