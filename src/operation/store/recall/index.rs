//! Which runs cover the logs of the sessions that are asked, so that nothing of these is missing, and nothing is left of others.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::making::{Indexed, LITTLE, Stale, Upkeep, index};
use super::runs::{Lost, Piece, Run, chain, pieces, tail_hash};
use super::{Question, TRIES, too_often};
use crate::layout::{MESSAGES, Place, Placement};
use crate::operation::io::each;
use crate::operation::live::Live;
use crate::operation::store::Store;
use crate::operation::{Io, Kind, Operation, Stat, Trouble, unless_bug};
use crate::recall::run::Row;
use crate::session::listed::Listed;
use crate::session::prints;

/// A session of a list.
pub(super) struct Session {
    pub log: Log,
    pub listed: Rc<Listed>,
}

/// The log of a session, and what it is like.
pub(super) struct Log {
    pub place: Rc<Place>,
    /// Its words are asked for; else it is only known to be there.
    pub is_asked: bool,
    // So many bytes of it are indexed at once; the next ones by whoever asks next.
    most: u64,
    key: Rc<str>,
    // How long it is, and when it was changed last.
    looks: (u64, i64),
    is_settled: bool,
    // Which file it is, where the system can tell.
    file: u64,
}

/// The runs that there are, and where each log is in them.
pub(super) struct Covering {
    runs: Vec<Run>,
    pieces: Vec<Vec<Piece>>,
}

// What of these runs counts.
#[derive(Default)]
struct Standing {
    // Of each log the pieces that cover it.
    chains: Vec<Vec<Piece>>,
    stale: Vec<Stale>,
    is_behind: bool,
    // The runs that have something of what is there no longer.
    gone: BTreeSet<usize>,
    // Of each run the rows that count no more.
    dead: Vec<BTreeSet<usize>>,
}

/// Runs, and of each of their rows the number of the session, where that is asked and the row counts.
pub(super) struct Index {
    pub runs: Vec<Run>,
    pub sessions: Vec<Vec<Option<u32>>>,
    /// No run has all of a log yet, of which too much was to be indexed at once.
    pub is_behind: bool,
}

impl Index {
    /// Without the runs that have nothing of what is asked.
    pub fn of_asked(self) -> Index {
        let some = self.runs.into_iter().zip(self.sessions);
        let (runs, sessions) = some.filter(|(_, rows)| rows.iter().any(Option::is_some)).unzip();
        Index { runs, sessions, ..self }
    }

    /// When something was said in each of so many sessions: the first and the last second.
    pub fn times(&self, count: usize) -> Vec<Option<(u32, u32)>> {
        let mut times: Vec<Option<(u32, u32)>> = vec![None; count];
        for (run, sessions) in self.runs.iter().zip(&self.sessions) {
            for (row, session) in run.end.rows.iter().zip(sessions) {
                let (Some(session), Some(more)) = (session, row.times) else { continue };
                let one = times[*session as usize].get_or_insert(more);
                *one = (one.0.min(more.0), one.1.max(more.1));
            }
        }
        times
    }
}

impl Store {
    /// The sessions of the project or of all, and which of them are asked.
    pub(super) async fn sessions_asked(&self, io: &Io, question: &Question) -> Result<Vec<Session>, Trouble> {
        let Question { wanted, session, .. } = question;
        let mut sessions = Vec::new();
        for listed in self.listed_for(io, question).await? {
            let is_meant = session.as_ref().is_none_or(|id| *id == listed.entry.id);
            let is_asked = is_meant && wanted.has(&listed);
            // What lies beside a session that alone is asked has no say in the order of its messages.
            if session.is_some() && !is_asked {
                continue;
            }
            let key = listed.key.get_or_init(|| self.key(&listed.place).into()).clone();
            let log = Log { is_asked, ..Log::of(listed.place.clone(), key) };
            sessions.push(Session { listed, log });
        }
        Ok(sessions)
    }

    async fn listed_for(
        &self,
        io: &Io,
        Question { wanted, session, .. }: &Question,
    ) -> Result<Vec<Rc<Listed>>, Trouble> {
        let alone = match session {
            Some(id) => self.listed_alone(io, id).await?,
            None => None,
        };
        match alone {
            Some(one) => Ok([one].into()),
            None => self.all_listed(io, &wanted.with_all_others()).await,
        }
    }

    /// The same, with the runs, and with what their logs are like: as a list saw them, where that is what a run has the words of.
    pub(super) async fn sessions_with_logs(
        &self,
        io: &Io,
        question: &Question,
    ) -> Result<(Vec<Session>, Covering), Trouble> {
        let looked_ms = io.now_ms();
        let mut sessions = self.sessions_asked(io, question).await?;
        let covering = self.covering(io, sessions.iter().map(|one| &one.log)).await?;
        let Covering { runs, pieces } = &covering;
        let mut others = Vec::new();
        for (Session { log, listed }, pieces) in sessions.iter_mut().zip(pieces) {
            let is_indexed = |looks: (u64, i64)| {
                let last = chain(runs, pieces, looks).last().map(|(run, row)| &runs[*run].end.rows[*row]);
                last.is_some_and(|last| (last.to, last.changed_us) == looks)
            };
            match listed.log.filter(|looks| is_indexed(*looks)) {
                Some(looks) => log.looks = looks,
                None => others.push(log),
            }
        }
        let files: Vec<_> = others.iter().map(|log| log.place.log(MESSAGES)).collect();
        let looks = files.iter().map(|file| io.stat(file)).collect();
        for (log, stat) in others.into_iter().zip(each(looks).await) {
            // One that cannot be looked at must not cost the rest.
            if let Some(stat) = unless_bug(stat)?.flatten().filter(|stat| stat.kind == Kind::File) {
                log.looked(&stat, looked_ms);
            }
        }
        Ok((sessions, covering))
    }

    /// The runs, and what they have of these logs.
    pub(super) async fn covering<'l>(
        &self,
        io: &Io,
        logs: impl Iterator<Item = &'l Log>,
    ) -> Result<Covering, Trouble> {
        let runs = self.runs(io).await?;
        let pieces = pieces(&runs, logs.map(|log| &*log.key));
        Ok(Covering { runs, pieces })
    }

    /// The log of a session, where it has one; `most`: so many bytes of it may be indexed at once.
    pub(super) async fn log_alone(&self, io: &Io, place: &Place, most: u64) -> Result<Option<Log>, Trouble> {
        let looked_ms = io.now_ms();
        let Some(stat) = io.stat(&place.log(MESSAGES)).await? else { return Ok(None) };
        let key = self.key(place).into();
        let mut log = Log { most, ..Log::of(Rc::new(place.clone()), key) };
        log.looked(&stat, looked_ms);
        Ok(Some(log))
    }

    /// Runs that cover all that is asked of these logs.
    pub(super) async fn index_of_words(
        &self,
        io: &Io,
        logs: &[&Log],
        covering: Covering,
        Upkeep { is_all, hiding, tidying }: Upkeep<'_>,
    ) -> Result<Index, Lost> {
        let Standing { chains, stale, is_behind, gone, dead } =
            self.standing(io, logs, &covering, is_all).await?;
        let mut runs = covering.runs;
        if tidying(self, io, &runs, (&gone, &dead)).await? {
            return Err(Lost::Others);
        }
        let Indexed { runs: made, is_anew } = index(self, io, stale, hiding).await?;
        if is_anew {
            return Err(Lost::Others);
        }
        // They are asked of what was made just now, and most often nothing was.
        let numbered = logs.iter().enumerate().filter(|_| !made.is_empty());
        let numbers: BTreeMap<&str, u32> = numbered.map(|(number, one)| (&*one.key, number as u32)).collect();
        let mut counted: Vec<_> = runs.iter().map(|run| vec![None; run.end.rows.len()]).collect();
        let anew = anew(&made);
        for (number, chain) in chains.iter().enumerate() {
            if logs[number].is_asked && !anew.contains(&*logs[number].key) {
                chain.iter().for_each(|(run, row)| counted[*run][*row] = Some(number as u32));
            }
        }
        for run in &made {
            let of = |row: &Row| numbers.get(&*row.key).copied().filter(|_| row.to > row.from);
            counted.push(run.end.rows.iter().map(of).collect());
        }
        drop(anew);
        runs.extend(made);
        Ok(Index { runs, sessions: counted, is_behind })
    }

    // What of the runs counts, what does not any more, and what has to be indexed.
    async fn standing(
        &self,
        io: &Io,
        logs: &[&Log],
        Covering { runs, pieces }: &Covering,
        is_all: bool,
    ) -> Result<Standing, Trouble> {
        let dead: Vec<BTreeSet<usize>> = runs.iter().map(|_| BTreeSet::new()).collect();
        let mut all = Standing { dead, ..Standing::default() };
        let mut met: Vec<Vec<bool>> = runs.iter().map(|run| vec![!is_all; run.end.rows.len()]).collect();
        for (log, pieces) in logs.iter().zip(pieces) {
            let chain = self.believed(io, log, pieces, runs).await?;
            let row = |(run, row): &Piece| &runs[*run].end.rows[*row];
            let last = chain.last().map(row);
            for place in pieces {
                met[place.0][place.1] = true;
                if !chain.contains(place) {
                    all.dead[place.0].insert(place.1);
                    // It may have words of a secret that was none yet.
                    if last.is_none_or(|last| row(place).secrets < last.secrets) {
                        all.gone.insert(place.0);
                    }
                }
            }
            let (from, secrets) = last.map_or((0, 0), |last| (last.to, last.secrets));
            let unindexed = log.looks.0.saturating_sub(from);
            all.is_behind |= log.is_asked && unindexed > log.most;
            if log.is_asked && unindexed > 0 {
                all.stale.extend(log.stale(from, secrets));
            }
            all.chains.push(chain);
        }
        for (run, met) in met.into_iter().enumerate() {
            for (row, _) in met.into_iter().enumerate().filter(|(_, is_met)| !is_met) {
                all.dead[run].insert(row);
                all.gone.insert(run);
            }
        }
        Ok(all)
    }

    /// Deletes a session as [`Store::delete`] does, and leaves no word of it in the runs.
    pub fn delete_with_words(
        self: &Rc<Store>,
        live: &Rc<Live>,
        purges: bool,
    ) -> Operation<'static, Option<String>> {
        let (store, live) = (self.clone(), live.clone());
        Operation::new(move |io| async move {
            let trash = store.delete_now(&io, &live, purges).await?;
            store.without_words(&io, &live.shown(), live.placement()).await?;
            Ok(trash)
        })
    }

    /// Leaves no word of a session in the runs that was deleted. Who dies before that leaves it to the next search of all projects.
    pub fn forget_words(self: &Rc<Store>, shown: String, placement: Placement) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(move |io| async move { store.without_words(&io, &shown, placement).await })
    }

    async fn without_words(&self, io: &Io, shown: &str, placement: Placement) -> Result<(), Trouble> {
        let Some(place) = self.setup.place(shown, placement) else { return Ok(()) };
        let key = self.key(&place);
        self.without_parts(io).await?;
        for _ in 0..TRIES {
            let runs = self.runs(io).await?;
            let rows = pieces(&runs, core::iter::once(&*key)).remove(0);
            if rows.is_empty() {
                return Ok(());
            }
            let mut dead: Vec<BTreeSet<usize>> = runs.iter().map(|_| BTreeSet::new()).collect();
            for (run, row) in &rows {
                dead[*run].insert(*row);
            }
            let gone = rows.iter().map(|(run, _)| *run).collect();
            match self.tidied_runs(io, &runs, &gone, &dead).await {
                Ok(_) => {}
                Err(lost) => self.without_lost(io, lost).await?,
            }
        }
        Err(too_often())
    }

    // The pieces of a session's log that are still what was indexed.
    async fn believed(
        &self,
        io: &Io,
        log: &Log,
        pieces: &[Piece],
        runs: &[Run],
    ) -> Result<Vec<Piece>, Trouble> {
        let chain = chain(runs, pieces, log.looks);
        let Some((run, row)) = chain.last() else { return Ok(chain) };
        let last = &runs[*run].end.rows[*row];
        let is_same = if last.to == log.looks.0 {
            // What may have changed at that moment unseen is read once more when nothing can any more.
            let is_unsure = !log.is_settled && last.changed_us == -log.looks.1 && last.file == log.file;
            last.changed_us == log.looks.1 || is_unsure && log.ends_so(io, last).await?
        } else if last.file != log.file {
            false // An editor has put another one in its place.
        } else {
            log.ends_so(io, last).await?
        };
        Ok(if is_same { chain } else { Vec::new() })
    }
}

impl Log {
    async fn ends_so(&self, io: &Io, row: &Row) -> Result<bool, Trouble> {
        let file = self.place.log(MESSAGES);
        Ok(tail_hash(&io.read_tail(&file, row.to).await?) == row.tail)
    }

    fn of(place: Rc<Place>, key: Rc<str>) -> Log {
        Log { place, is_asked: true, most: u64::MAX, key, looks: (0, 0), is_settled: false, file: 0 }
    }

    fn looked(&mut self, stat: &Stat, looked_ms: i64) {
        self.looks = (stat.size, stat.changed_us);
        self.file = stat.file.as_ref().map_or(0, |file| file.number);
        self.is_settled = prints::is_settled(&[Some(self.looks)], looked_ms);
    }

    // As much as is indexed at once. What would not be written would be lost, and is no step to the whole.
    fn stale(&self, from: u64, secrets: u32) -> Option<Stale> {
        let (whole, changed_us) = self.looks;
        let size = whole.min(from.saturating_add(self.most));
        let is_part = size < whole;
        if is_part && self.most <= LITTLE {
            return None;
        }
        let changed_us = match (is_part, self.is_settled) {
            (true, _) => 0,
            (false, true) => changed_us,
            (false, false) => -changed_us,
        };
        let (key, place) = (String::from(&*self.key), self.place.clone());
        Some(Stale {
            key,
            place,
            secrets: Some(secrets),
            from,
            size,
            is_part,
            changed_us,
            file_number: self.file,
        })
    }
}

// The logs that had to be read anew: each is covered by that alone.
fn anew(made: &[Run]) -> BTreeSet<&str> {
    let rows = made.iter().flat_map(|run| &run.end.rows);
    rows.filter(|row| row.from == 0).map(|row| &*row.key).collect()
}
