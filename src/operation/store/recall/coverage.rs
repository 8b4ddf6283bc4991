//! Coverage: which segments of index files cover the logs of the searched sessions, so that nothing of these is
//! missing, and nothing of others, deleted or rewritten, is left.
//!
//! A log is compared by size, time and file number, not by its bytes: to hash a gigabyte for each question would be
//! the scan that the index saves. An editor that changes letters in place, and leaves the end of the log as it was, is
//! noticed once the log's size is the one indexed; each hit is read from the log in any case.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::index_files::{IndexFile, IndexLost, SegmentRef, covering_segments, find_segments, hash_tail};
use super::indexing::{IndexUpkeep, IndexingOutcome, MIN_INDEXED_BYTES, UnindexedLog, index_logs};
use super::{MAX_ATTEMPTS, SearchRequest, too_many_retries_error};
use crate::layout::{File, MESSAGES, Placement, SessionLocation};
use crate::operation::join::{collect_responses, join_both};
use crate::operation::session_files::SessionFiles;
use crate::operation::store::Store;
use crate::operation::{FileKind, Io, Operation, Stat, Trouble, unless_bug};
use crate::recall::index_file::Segment;
use crate::record::span::Span;
use crate::session::file_prints;
use crate::session::session_list::ListedSession;

/// A listed session, and its log.
pub(super) struct SearchedSession {
    pub log: SessionLog,
    pub listed: Rc<ListedSession>,
}

/// A session's log, and its size, time and file number when it was last looked at.
pub(super) struct SessionLog {
    pub place: Rc<SessionLocation>,
    /// The session is searched; otherwise it is only known to exist.
    pub is_searched: bool,
    // The most bytes that one question indexes; the next question indexes the next ones.
    max_indexed_bytes: u64,
    key: Rc<str>,
    // The log's size in bytes, and when it was last changed, in microseconds.
    size_and_time: (u64, i64),
    is_settled: bool,
    // Which file it is, by the system's number; zero where the system cannot tell.
    file_number: u64,
}

/// All index files, and the segments of each log in them.
pub(super) struct LogCoverage {
    files: Vec<IndexFile>,
    segments: Vec<Vec<SegmentRef>>,
}

impl LogCoverage {
    fn of<'l>(files: Vec<IndexFile>, logs: impl Iterator<Item = &'l SessionLog>) -> LogCoverage {
        let segments = find_segments(&files, logs.map(|log| &*log.key));
        LogCoverage { files, segments }
    }

    /// Returns the parts of searched logs that no segment covers, if they are so short that they are indexed in memory.
    pub fn short_parts(&self, logs: &[&SessionLog]) -> Vec<(File, Span)> {
        let part = |(log, pieces): (&&SessionLog, &Vec<SegmentRef>)| {
            let chain = covering_segments(&self.files, pieces, log.size_and_time);
            let start = chain.last().map_or(0, |(run, row)| self.files[*run].footer.rows[*row].end);
            let part = Span { start, end: log.size_and_time.0 };
            (log.is_searched && start < part.end).then(|| (log.place.log(MESSAGES), part))
        };
        let parts: Vec<_> = logs.iter().zip(&self.segments).filter_map(part).collect();
        let size = parts.iter().map(|(_, part)| part.end - part.start).sum::<u64>();
        if size <= MIN_INDEXED_BYTES { parts } else { Vec::new() }
    }
}

// Which segments are valid, and what has to be indexed or removed.
#[derive(Default)]
struct IndexPlan {
    // For each log, the segments that cover it.
    valid_segments: Vec<Vec<SegmentRef>>,
    unindexed: Vec<UnindexedLog>,
    is_behind: bool,
    // The index files that have words of a deleted session, of a rewritten log, or of a secret found later.
    tainted_files: BTreeSet<usize>,
    // For each index file, the segments that are no longer valid.
    dead_segments: Vec<BTreeSet<usize>>,
}

/// Index files, and for each of their segments the number of its session; none where that is not searched, or the
/// segment is not valid.
pub(super) struct IndexView {
    pub files: Vec<IndexFile>,
    pub session_numbers: Vec<Vec<Option<u32>>>,
    /// Some log is not fully indexed yet, since too much of it was left for one question.
    pub is_behind: bool,
}

impl IndexView {
    /// Drops the index files that have no segment of a searched session.
    pub fn only_searched(self) -> IndexView {
        let some = self.files.into_iter().zip(self.session_numbers);
        let (runs, sessions) = some.filter(|(_, rows)| rows.iter().any(Option::is_some)).unzip();
        IndexView { files: runs, session_numbers: sessions, ..self }
    }

    /// The seconds of the first and the last message of each of `count` sessions.
    pub fn session_times(&self, count: usize) -> Vec<Option<(u32, u32)>> {
        let mut times: Vec<Option<(u32, u32)>> = vec![None; count];
        for (run, sessions) in self.files.iter().zip(&self.session_numbers) {
            for (row, session) in run.footer.rows.iter().zip(sessions) {
                let (Some(session), Some(more)) = (session, row.times) else { continue };
                let one = times[*session as usize].get_or_insert(more);
                *one = (one.0.min(more.0), one.1.max(more.1));
            }
        }
        times
    }
}

impl Store {
    /// Lists the sessions of the project, or of all projects, and marks those that are searched.
    pub(super) async fn list_searched(
        &self,
        io: &Io,
        question: &SearchRequest,
    ) -> Result<Vec<SearchedSession>, Trouble> {
        let SearchRequest { list_request: wanted, session_id: session, .. } = question;
        let mut sessions = Vec::new();
        for listed in self.list_for_search(io, question).await? {
            let is_meant = session.as_ref().is_none_or(|id| *id == listed.entry.id);
            let is_asked = is_meant && wanted.includes(&listed);
            // Where one session is searched alone, the others must not influence the order of its messages.
            if session.is_some() && !is_asked {
                continue;
            }
            let key = listed.key.get_or_init(|| self.index_key(&listed.place).into()).clone();
            let log = SessionLog { is_searched: is_asked, ..SessionLog::new(listed.place.clone(), key) };
            sessions.push(SearchedSession { listed, log });
        }
        Ok(sessions)
    }

    async fn list_for_search(
        &self,
        io: &Io,
        SearchRequest { list_request: wanted, session_id: session, .. }: &SearchRequest,
    ) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        let alone = match session {
            Some(id) => self.list_one(io, id).await?,
            None => None,
        };
        match alone {
            Some(one) => Ok([one].into()),
            None => self.list_matching(io, &wanted.with_all_others()).await,
        }
    }

    /// Does the same, and looks up coverage and the state of each log. Where the list has seen a log in the very state
    /// that was indexed, that is taken, and the log itself is not looked at.
    pub(super) async fn list_with_coverage(
        &self,
        io: &Io,
        question: &SearchRequest,
    ) -> Result<(Vec<SearchedSession>, LogCoverage), Trouble> {
        let looked_ms = io.now_ms();
        let (sessions, files) = join_both(self.list_searched(io, question), self.open_index_files(io)).await;
        let mut sessions = sessions?;
        let covering = LogCoverage::of(files?, sessions.iter().map(|one| &one.log));
        let LogCoverage { files: runs, segments: pieces } = &covering;
        let mut others = Vec::new();
        for (SearchedSession { log, listed }, pieces) in sessions.iter_mut().zip(pieces) {
            let is_indexed = |looks: (u64, i64)| {
                let last = covering_segments(runs, pieces, looks)
                    .last()
                    .map(|(run, row)| &runs[*run].footer.rows[*row]);
                last.is_some_and(|last| (last.end, last.changed_us) == looks)
            };
            match listed.log_print.filter(|looks| is_indexed(*looks)) {
                Some(looks) => log.size_and_time = looks,
                None => others.push(log),
            }
        }
        let files: Vec<_> = others.iter().map(|log| log.place.log(MESSAGES)).collect();
        let looks = files.iter().map(|file| io.stat(file)).collect();
        for (log, stat) in others.into_iter().zip(collect_responses(looks).await) {
            // A log that cannot be looked at must not cost the other sessions.
            if let Some(stat) = unless_bug(stat)?.flatten().filter(|stat| stat.kind == FileKind::File) {
                log.set_stat(&stat, looked_ms);
            }
        }
        Ok((sessions, covering))
    }

    /// Opens the index files, and finds the segments of these logs.
    pub(super) async fn find_coverage<'l>(
        &self,
        io: &Io,
        logs: impl Iterator<Item = &'l SessionLog>,
    ) -> Result<LogCoverage, Trouble> {
        Ok(LogCoverage::of(self.open_index_files(io).await?, logs))
    }

    /// Returns a session's log, if it has one. `most`: the most bytes of it that may be indexed at once.
    pub(super) async fn find_log(
        &self,
        io: &Io,
        place: &SessionLocation,
        most: u64,
    ) -> Result<Option<SessionLog>, Trouble> {
        let looked_ms = io.now_ms();
        let Some(stat) = io.stat(&place.log(MESSAGES)).await? else { return Ok(None) };
        let key = self.index_key(place).into();
        let mut log = SessionLog { max_indexed_bytes: most, ..SessionLog::new(Rc::new(place.clone()), key) };
        log.set_stat(&stat, looked_ms);
        Ok(Some(log))
    }

    /// Indexes what is missing of these logs, and returns index files that cover all that is searched.
    ///
    /// # Errors
    ///
    /// [`IndexLost::Replaced`] where index files were merged or rebuilt; the caller asks again.
    pub(super) async fn update_index(
        &self,
        io: &Io,
        logs: &[&SessionLog],
        covering: LogCoverage,
        IndexUpkeep { covers_all_sessions: is_all, redaction: hiding, tidy: tidying, logs: reader }: IndexUpkeep<'_>,
    ) -> Result<IndexView, IndexLost> {
        let IndexPlan {
            valid_segments: chains,
            unindexed: stale,
            is_behind,
            tainted_files: gone,
            dead_segments: dead,
        } = self.plan_index(io, logs, &covering, is_all).await?;
        let mut runs = covering.files;
        if tidying(self, io, &runs, (&gone, &dead)).await? {
            return Err(IndexLost::Replaced);
        }
        let IndexingOutcome { files: made, was_rebuilt: is_anew } =
            index_logs(self, io, stale, hiding, reader).await?;
        if is_anew {
            return Err(IndexLost::Replaced);
        }
        // The numbers are needed only for new index files, and most often there are none.
        let numbered = logs.iter().enumerate().filter(|_| !made.is_empty());
        let numbers: BTreeMap<&str, u32> = numbered.map(|(number, one)| (&*one.key, number as u32)).collect();
        let mut counted: Vec<_> = runs.iter().map(|run| vec![None; run.footer.rows.len()]).collect();
        let anew = rebuilt_logs(&made);
        for (number, chain) in chains.iter().enumerate() {
            if logs[number].is_searched && !anew.contains(&*logs[number].key) {
                chain.iter().for_each(|(run, row)| counted[*run][*row] = Some(number as u32));
            }
        }
        for run in &made {
            let of = |row: &Segment| numbers.get(&*row.key).copied().filter(|_| row.end > row.start);
            counted.push(run.footer.rows.iter().map(of).collect());
        }
        drop(anew);
        runs.extend(made);
        Ok(IndexView { files: runs, session_numbers: counted, is_behind })
    }

    // Decides which segments are valid, which are not, and what has to be indexed.
    async fn plan_index(
        &self,
        io: &Io,
        logs: &[&SessionLog],
        LogCoverage { files: runs, segments: pieces }: &LogCoverage,
        is_all: bool,
    ) -> Result<IndexPlan, Trouble> {
        let dead: Vec<BTreeSet<usize>> = runs.iter().map(|_| BTreeSet::new()).collect();
        let mut all = IndexPlan { dead_segments: dead, ..IndexPlan::default() };
        let mut met: Vec<Vec<bool>> = runs.iter().map(|run| vec![!is_all; run.footer.rows.len()]).collect();
        for (log, pieces) in logs.iter().zip(pieces) {
            let chain = self.find_valid_segments(io, log, pieces, runs).await?;
            let row = |(run, row): &SegmentRef| &runs[*run].footer.rows[*row];
            let last = chain.last().map(row);
            for place in pieces {
                met[place.0][place.1] = true;
                if !chain.contains(place) {
                    all.dead_segments[place.0].insert(place.1);
                    // Made when fewer secrets were known, it may have the words of one.
                    if last.is_none_or(|last| row(place).secrets < last.secrets) {
                        all.tainted_files.insert(place.0);
                    }
                }
            }
            let (from, secrets) = last.map_or((0, 0), |last| (last.end, last.secrets));
            let unindexed = log.size_and_time.0.saturating_sub(from);
            all.is_behind |= log.is_searched && unindexed > log.max_indexed_bytes;
            if log.is_searched && unindexed > 0 {
                all.unindexed.extend(log.to_unindexed(from, secrets));
            }
            all.valid_segments.push(chain);
        }
        for (run, met) in met.into_iter().enumerate() {
            for (row, _) in met.into_iter().enumerate().filter(|(_, is_met)| !is_met) {
                all.dead_segments[run].insert(row);
                all.tainted_files.insert(run);
            }
        }
        Ok(all)
    }

    /// Deletes a session as [`Store::delete`] does, and removes its words from the index.
    pub fn delete_with_words(
        self: &Rc<Store>,
        files: &Rc<SessionFiles>,
        purges: bool,
    ) -> Operation<'static, Option<String>> {
        let (store, files) = (self.clone(), files.clone());
        Operation::new(move |io| async move {
            let trash = store.delete_session(&io, &files, purges).await?;
            store.remove_words(&io, &files.shown_folder(), files.placement()).await?;
            Ok(trash)
        })
    }

    /// Removes the words of a deleted session from the index. If the process dies before, the next search of all
    /// projects removes them.
    pub fn forget_words(self: &Rc<Store>, shown: String, placement: Placement) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(move |io| async move { store.remove_words(&io, &shown, placement).await })
    }

    async fn remove_words(&self, io: &Io, shown: &str, placement: Placement) -> Result<(), Trouble> {
        let Some(place) = self.setup.parse_place(shown, placement) else { return Ok(()) };
        let key = self.index_key(&place);
        self.remove_all_parts(io).await?;
        for _ in 0..MAX_ATTEMPTS {
            let runs = self.open_index_files(io).await?;
            let rows = find_segments(&runs, core::iter::once(&*key)).remove(0);
            if rows.is_empty() {
                return Ok(());
            }
            let mut dead: Vec<BTreeSet<usize>> = runs.iter().map(|_| BTreeSet::new()).collect();
            for (run, row) in &rows {
                dead[*run].insert(*row);
            }
            let gone = rows.iter().map(|(run, _)| *run).collect();
            match self.tidy_index_files(io, &runs, &gone, &dead).await {
                Ok(_) => {}
                Err(lost) => self.recover_index(io, lost).await?,
            }
        }
        Err(too_many_retries_error())
    }

    // Returns the segments that cover a log from its beginning; none where the log was changed otherwise than by
    // appending.
    async fn find_valid_segments(
        &self,
        io: &Io,
        log: &SessionLog,
        pieces: &[SegmentRef],
        runs: &[IndexFile],
    ) -> Result<Vec<SegmentRef>, Trouble> {
        let chain = covering_segments(runs, pieces, log.size_and_time);
        let Some((run, row)) = chain.last() else { return Ok(chain) };
        let last = &runs[*run].footer.rows[*row];
        let is_same = if last.end == log.size_and_time.0 {
            // A segment made so soon after a change that another one may have gone unseen is valid until the log has
            // settled, and is then indexed once more.
            let is_unsure =
                !log.is_settled && last.changed_us == -log.size_and_time.1 && last.file == log.file_number;
            last.changed_us == log.size_and_time.1 || is_unsure && log.has_same_tail(io, last).await?
        } else if last.file != log.file_number {
            false // An editor has put another one in its place.
        } else {
            log.has_same_tail(io, last).await?
        };
        Ok(if is_same { chain } else { Vec::new() })
    }
}

impl SessionLog {
    async fn has_same_tail(&self, io: &Io, row: &Segment) -> Result<bool, Trouble> {
        let file = self.place.log(MESSAGES);
        Ok(hash_tail(&io.read_tail(&file, row.end).await?) == row.tail)
    }

    fn new(place: Rc<SessionLocation>, key: Rc<str>) -> SessionLog {
        SessionLog {
            place,
            is_searched: true,
            max_indexed_bytes: u64::MAX,
            key,
            size_and_time: (0, 0),
            is_settled: false,
            file_number: 0,
        }
    }

    fn set_stat(&mut self, stat: &Stat, looked_ms: i64) {
        self.size_and_time = (stat.size, stat.changed_us);
        self.file_number = stat.file.as_ref().map_or(0, |file| file.number);
        self.is_settled = file_prints::is_settled(&[Some(self.size_and_time)], looked_ms);
    }

    // Returns the bytes to index now, within the limit. None where they would stay in memory: lost afterwards, they
    // would bring the index no nearer to the whole log.
    fn to_unindexed(&self, from: u64, secrets: u32) -> Option<UnindexedLog> {
        let (whole, changed_us) = self.size_and_time;
        let size = whole.min(from.saturating_add(self.max_indexed_bytes));
        let is_part = size < whole;
        if is_part && self.max_indexed_bytes <= MIN_INDEXED_BYTES {
            return None;
        }
        let changed_us = match (is_part, self.is_settled) {
            (true, _) => 0,
            (false, true) => changed_us,
            (false, false) => -changed_us,
        };
        let (key, place) = (String::from(&*self.key), self.place.clone());
        Some(UnindexedLog {
            key,
            place,
            known_secrets: Some(secrets),
            start: from,
            size,
            is_part,
            changed_us,
            file_number: self.file_number,
        })
    }
}

// The logs that were indexed from their beginning: each is covered by its new segment alone.
fn rebuilt_logs(made: &[IndexFile]) -> BTreeSet<&str> {
    let rows = made.iter().flat_map(|run| &run.footer.rows);
    rows.filter(|row| row.start == 0).map(|row| &*row.key).collect()
}
