//! Indexing: writes what was appended to logs into a new index file, merges files of one size, and drops what is no
//! longer valid.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::pin::Pin;

use super::file_merge::{MergeOutcome, merge_files};
use super::index_files::{
    IndexFile, IndexLocation, IndexLost, hash_tail, index_file_name, index_file_path, size_from_name,
};
use crate::json::hash::sha256;
use crate::layout::{File, MESSAGES, SessionLocation};
use crate::operation::outgoing::index_redaction::IndexRedactor;
use crate::operation::store::Store;
use crate::operation::{Io, Trouble, Work, unless_bug};
use crate::recall::document_feed::DocumentFeed;
use crate::recall::index_file::Segment;
use crate::recall::index_file::build::IndexFileBuilder;
use crate::recall::terms::TermAnalyzer;
use crate::record::span::Span;

// Bytes of a log that are read at once.
const CHUNK_BYTES: u64 = 1 << 20;
// Bytes of logs that go into one index file at first, for it is held in memory.
const FIRST_FILE_BYTES: u64 = 16 << 20;
/// Up to so many bytes are not worth a file: they are indexed in memory, again for each question.
pub(super) const MIN_INDEXED_BYTES: u64 = 64 << 10;
// So many files of one size class are merged into one; classes are apart by a factor of eight.
const FILES_PER_MERGE: usize = 8;
const MIN_CLASS_BYTES: u64 = 16 << 10;
// The most bytes that are merged into one file; a file with half as many, or more, stays as it is.
const MAX_MERGED_BYTES: u64 = 32 << 20;

/// A log with bytes that no index file covers.
#[derive(Clone, Debug)]
pub(super) struct UnindexedLog {
    pub key: String,
    pub place: Rc<SessionLocation>,
    /// How many secrets its segments know; none where it does not matter.
    pub known_secrets: Option<u32>,
    /// Where the uncovered bytes begin.
    pub start: u64,
    /// The log's size when it was looked at, and the time of its last change, as in [`Segment::changed_us`].
    pub size: u64,
    pub changed_us: i64,
    /// The log is longer than `size`; the rest is indexed another time.
    pub is_part: bool,
    /// The file's number in the system.
    pub file_number: u64,
}

/// Merges index files, and drops what is no longer valid. It is an argument, for only searches have the code that
/// merges. `gone` and `dead` are those of [`Store::tidy_index_files`]. Returns whether files were replaced.
pub(super) type TidyIndex = for<'a> fn(
    &'a Store,
    &'a Io,
    &'a [IndexFile],
    (&'a BTreeSet<usize>, &'a [BTreeSet<usize>]),
) -> Pin<Box<dyn Future<Output = Result<bool, IndexLost>> + 'a>>;

/// Reads the parts of logs that are indexed. It is an argument, for only searches read many, and look into them again.
pub(super) trait LogReader {
    fn read_part<'a>(&'a self, io: &'a Io, file: &'a File, part: Span) -> Work<'a, Vec<u8>>;
}

/// The [`LogReader`] of contexts, which keeps nothing.
pub(super) struct PlainReader;

impl LogReader for PlainReader {
    fn read_part<'a>(&'a self, io: &'a Io, file: &'a File, part: Span) -> Work<'a, Vec<u8>> {
        io.read_range(file, part.start, part.end)
    }
}

/// How the index is maintained while logs are searched.
#[derive(Clone, Copy)]
pub(super) struct IndexUpkeep<'a> {
    /// The logs are those of all sessions: a segment of another one is of a deleted session.
    pub covers_all_sessions: bool,
    pub redaction: IndexRedaction<'a>,
    pub tidy: TidyIndex,
    pub logs: &'a dyn LogReader,
}

/// Finds the secrets that must not be indexed. It is an argument, for contexts only read what searches wrote, and the
/// code that finds secrets is in no module that they need.
#[derive(Clone, Copy, Default)]
pub(super) struct IndexRedaction<'a> {
    pub redactor: Option<&'a dyn IndexRedactor>,
    /// Redacts also what stays in memory.
    pub redacts_memory: bool,
}

/// The index files made just now.
#[derive(Default)]
pub(super) struct IndexingOutcome {
    pub files: Vec<IndexFile>,
    /// Segments of some log were made without knowing a secret in it. They were made anew, and the index has to be
    /// opened once more.
    pub was_rebuilt: bool,
}

/// The part of a log that was read into a segment.
struct IndexedPart {
    byte_len: u64,
    /// Where the last line begins that is not complete.
    complete_end: u64,
    was_rebuilt: bool,
}

/// The [`TidyIndex`] of searches, which merges.
pub(super) fn tidy_by_merging<'a>(
    store: &'a Store,
    io: &'a Io,
    runs: &'a [IndexFile],
    (gone, dead): (&'a BTreeSet<usize>, &'a [BTreeSet<usize>]),
) -> Pin<Box<dyn Future<Output = Result<bool, IndexLost>> + 'a>> {
    Box::pin(store.tidy_index_files(io, runs, gone, dead))
}

/// Indexes the uncovered parts of logs. A small amount stays in memory, as does a last line that is not complete.
pub(super) async fn index_logs(
    store: &Store,
    io: &Io,
    mut stale: Vec<UnindexedLog>,
    hiding: IndexRedaction<'_>,
    logs: &dyn LogReader,
) -> Result<IndexingOutcome, Trouble> {
    if stale.is_empty() {
        return Ok(IndexingOutcome::default());
    }
    stale.sort_by(|log, other| log.key.cmp(&other.key));
    let mut is_little = stale.iter().map(|log| log.size - log.start).sum::<u64>() <= MIN_INDEXED_BYTES;
    loop {
        let hides = hiding.redactor.filter(|_| hiding.redacts_memory || !is_little);
        let indexed = build_index_files(store, io, (&stale, logs), (is_little, hides)).await?;
        if !is_little || !indexed.was_rebuilt {
            return Ok(indexed);
        }
        // Segments in files are replaced by segments in files only.
        is_little = false;
    }
}

async fn build_index_files(
    store: &Store,
    io: &Io,
    (stale, logs): (&[UnindexedLog], &dyn LogReader),
    (is_little, hides): (bool, Option<&dyn IndexRedactor>),
) -> Result<IndexingOutcome, Trouble> {
    let mut made = Vec::new();
    let mut words = if is_little { TermAnalyzer::default() } else { TermAnalyzer::for_logs() };
    let mut builder = IndexFileBuilder::new(&mut words, hides.is_some());
    let (mut held, mut open, mut is_anew) = (0, Vec::new(), false);
    for unindexed in stale {
        let taken = index_log(store, io, (unindexed, logs), (is_little, hides), &mut builder).await;
        let Some(taken) = store.default_if_unreadable(&unindexed.log_file(), taken.map(Some))? else {
            continue;
        };
        held += taken.byte_len;
        is_anew |= taken.was_rebuilt;
        if taken.complete_end < unindexed.size && !unindexed.is_part {
            open.push(UnindexedLog { start: taken.complete_end, known_secrets: None, ..unindexed.clone() });
        }
        if held >= FIRST_FILE_BYTES {
            made.push(write_index_file(io, builder.finish()).await?);
            held = 0;
        }
    }
    if held > 0 {
        let bytes = builder.finish();
        made.push(if is_little { IndexFile::in_memory(bytes) } else { write_index_file(io, bytes).await? });
    }
    // Where nothing can be written, the old segments are searched as they are.
    is_anew &= is_little || made.iter().flatten().all(|run| matches!(run.location, IndexLocation::File(_)));
    if !is_little && !open.is_empty() {
        let mut rest = IndexFileBuilder::new(&mut words, hides.is_some());
        for unindexed in &open {
            index_log(store, io, (unindexed, logs), (true, hides), &mut rest).await?;
        }
        made.push(IndexFile::in_memory(rest.finish()));
    }
    Ok(IndexingOutcome { files: made.into_iter().flatten().collect(), was_rebuilt: is_anew })
}

// A file that cannot be written, as on a full disk, is kept in memory and searched all the same.
async fn write_index_file(io: &Io, bytes: Vec<u8>) -> Result<Option<IndexFile>, Trouble> {
    let name = index_file_name(bytes.len() as u64, &sha256(&bytes));
    let Some(run) = IndexFile::in_memory(bytes.clone()) else { return Ok(None) };
    let is_written = unless_bug(io.replace(&index_file_path(&name), bytes, None).await)?.is_some();
    Ok(Some(if is_written { IndexFile { location: IndexLocation::File(name), ..run } } else { run }))
}

// Indexes the rest of a log, or all of it where its segments know fewer secrets than there are.
async fn index_log(
    store: &Store,
    io: &Io,
    (unindexed, logs): (&UnindexedLog, &dyn LogReader),
    (takes_open, hides): (bool, Option<&dyn IndexRedactor>),
    builder: &mut IndexFileBuilder<'_>,
) -> Result<IndexedPart, Trouble> {
    let file = unindexed.log_file();
    let files = store.unopened_session(&unindexed.place, "");
    let own = match hides {
        Some(hides) => Some(hides.for_log(io, &files.folder()).await?),
        None => None,
    };
    let is_anew = match (&own, unindexed.known_secrets) {
        (Some(own), Some(knows)) if unindexed.start > 0 => {
            // Another process may know more secrets, by rules of its own.
            knows < own.count_secrets(unindexed.start)
                || own.has_late_secrets(io, &files.folder(), unindexed.start).await?
        }
        _ => false,
    };
    let mut from = if is_anew { 0 } else { unindexed.start };
    loop {
        let key = unindexed.key.clone();
        builder.begin_segment(Segment { key, start: from, end: from, ..Segment::default() });
        let mut lines = DocumentFeed::starting_at(from);
        let mut at = from;
        let end = loop {
            let to = unindexed.size.min(at + CHUNK_BYTES);
            let part = Span { start: at, end: to };
            let bytes = if at < to { logs.read_part(io, &file, part).await? } else { Vec::new() };
            at += bytes.len() as u64;
            // If the log is shorter by now, the next question finds that out.
            let end = if bytes.is_empty() {
                Some(lines.finish_scan(takes_open))
            } else {
                lines.feed_bytes(&bytes);
                None
            };
            match &own {
                Some(own) => own.index_lines(io, &files, &mut lines, builder).await?,
                None => lines.take_all(builder),
            }
            if end.is_some() || lines.needs_whole_log() {
                break end.filter(|_| !lines.needs_whole_log());
            }
        };
        let Some(to) = end else {
            from = 0; // The piece covers nothing, so that it does not count.
            continue;
        };
        lines.flush_held(builder);
        if let Some(row) = builder.last_segment() {
            row.end = if takes_open { at } else { to };
            row.changed_us = if to == unindexed.size { unindexed.changed_us } else { 0 };
            row.file = unindexed.file_number;
            let knows = unindexed.known_secrets.filter(|_| from > 0).unwrap_or_default();
            row.secrets = own.as_ref().map_or(0, |own| own.count_secrets(to).max(knows));
            // What stays in memory is never compared with the log again.
            row.tail = if takes_open { 0 } else { hash_tail(&io.read_tail(&file, to).await?) };
        }
        return Ok(IndexedPart { byte_len: at - from, complete_end: to, was_rebuilt: is_anew });
    }
}

impl UnindexedLog {
    fn log_file(&self) -> File {
        self.place.log(MESSAGES)
    }
}

impl Store {
    /// Drops what is no longer valid, and merges many files into few. `gone`: the files that have words of a deleted
    /// session, or of a rewritten log, which must not stay anywhere; `dead`: for each file, the segments that can be
    /// dropped. Returns whether files were replaced.
    pub(super) async fn tidy_index_files(
        &self,
        io: &Io,
        runs: &[IndexFile],
        gone: &BTreeSet<usize>,
        dead: &[BTreeSet<usize>],
    ) -> Result<bool, IndexLost> {
        let files: Vec<(usize, u64)> = runs
            .iter()
            .enumerate()
            .filter_map(|(nth, run)| match &run.location {
                IndexLocation::File(name) => Some((nth, size_from_name(name)?)),
                IndexLocation::Memory(_) => None,
            })
            .collect();
        for (nth, _) in &files {
            if gone.contains(nth) || 4 * dead[*nth].len() > runs[*nth].footer.rows.len() {
                return self.merge_index_files(io, runs, &[*nth], dead, gone.contains(nth)).await;
            }
        }
        for class in 0..8 {
            let is_of = |size: u64| size_class(size) == class && size < MAX_MERGED_BYTES / 2;
            let mut alike: Vec<usize> =
                files.iter().filter(|(_, size)| is_of(*size)).map(|(nth, _)| *nth).collect();
            if alike.len() >= FILES_PER_MERGE {
                let mut sum = 0;
                alike.retain(|nth| {
                    sum += files.iter().find(|(one, _)| one == nth).map_or(0, |(_, size)| *size);
                    sum <= MAX_MERGED_BYTES
                });
                return self.merge_index_files(io, runs, &alike, dead, false).await;
            }
        }
        Ok(false)
    }

    // Merges some files. `must`: their dead segments have to go, even where nothing can be written.
    async fn merge_index_files(
        &self,
        io: &Io,
        runs: &[IndexFile],
        some: &[usize],
        dead: &[BTreeSet<usize>],
        must: bool,
    ) -> Result<bool, IndexLost> {
        let counts = |nth: &usize| {
            let rows = 0..runs[*nth].footer.rows.len();
            (*nth, rows.map(|row| !dead[*nth].contains(&row)).collect::<Vec<_>>())
        };
        let some: Vec<_> = some.iter().map(counts).collect();
        let is_any = some.iter().any(|(_, counts)| counts.contains(&true));
        let made = if is_any { merge_files(io, runs, &some).await? } else { MergeOutcome::Damaged };
        if matches!(made, MergeOutcome::Unwritten) && !must {
            return Ok(false); // The disk may be full: what there is stays.
        }
        // Where no file can be removed, as in a read-only store, all stay, and dead segments are not searched.
        let mut is_other = false;
        for (nth, _) in &some {
            match (&runs[*nth].location, &made) {
                (IndexLocation::File(name), MergeOutcome::File(made)) if name == made => {}
                (IndexLocation::File(name), _) => is_other |= self.remove_index_file(io, name).await?,
                (IndexLocation::Memory(_), _) => {}
            }
        }
        Ok(is_other)
    }
}

fn size_class(size: u64) -> u32 {
    (size / MIN_CLASS_BYTES).checked_ilog2().map_or(0, |log| 1 + log / 3)
}
