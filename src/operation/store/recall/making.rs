//! Making runs, and keeping them few: what was appended since goes into a new one, those of one size become one, and what does
//! not count any more is left out.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::pin::Pin;

use super::joining::{Joined, joined};
use super::runs::{At, Lost, Run, file_of, name_of, size_of, tail_hash};
use crate::json::hash::sha256;
use crate::layout::{File, MESSAGES, Place};
use crate::operation::leaving::indexed::Hides;
use crate::operation::store::Store;
use crate::operation::{Io, Trouble, unless_bug};
use crate::recall::lines::Lines;
use crate::recall::run::Row;
use crate::recall::run::build::Builder;
use crate::recall::words::Words;

// So much of a log is read at once.
const CHUNK: u64 = 1 << 20;
// So much of logs goes into one run at first: it is held in memory.
const TOGETHER: u64 = 16 << 20;
/// So little is not worth a file: it is indexed in memory, each time it is asked.
pub(super) const LITTLE: u64 = 64 << 10;
// So many runs of one size become one; sizes are apart by a factor of eight.
const ALIKE: usize = 8;
const SMALLEST: u64 = 16 << 10;
// A run that is longer stays as it is.
const LONGEST: u64 = 32 << 20;

/// A log with bytes that no run covers.
#[derive(Clone, Debug)]
pub(super) struct Stale {
    pub key: String,
    pub place: Rc<Place>,
    /// How many secrets its rows know; nothing where it does not matter.
    pub secrets: Option<u32>,
    /// Where they begin.
    pub from: u64,
    /// How long it was when it was looked at, and when it was changed last, as [`Row::changed_us`] has it.
    pub size: u64,
    pub changed_us: i64,
    /// It goes on behind that, which is for another time.
    pub is_part: bool,
    /// Which file it is.
    pub file_number: u64,
}

/// Keeps runs few, and leaves out what does not count any more. It is passed on: what joins runs is only where searches are.
/// `gone` and `dead` as in [`Store::tidied_runs`]. Gives whether there are other runs now.
pub(super) type Tidying = for<'a> fn(
    &'a Store,
    &'a Io,
    &'a [Run],
    (&'a BTreeSet<usize>, &'a [BTreeSet<usize>]),
) -> Pin<Box<dyn Future<Output = Result<bool, Lost>> + 'a>>;

/// What is done about the runs that are asked.
#[derive(Clone, Copy)]
pub(super) struct Upkeep<'a> {
    /// There are no sessions but those that are asked.
    pub is_all: bool,
    pub hiding: Hiding<'a>,
    pub tidying: Tidying,
}

/// What finds the secrets without which logs are indexed. It is passed on, since contexts only read what searches wrote: what
/// finds secrets is in no module that they need.
#[derive(Clone, Copy, Default)]
pub(super) struct Hiding<'a> {
    pub by: Option<&'a dyn Hides>,
    /// Also of what stays in memory.
    pub hides_little: bool,
}

/// What was indexed just now.
#[derive(Default)]
pub(super) struct Indexed {
    pub runs: Vec<Run>,
    /// Of some log there are rows that were made without knowing a secret in it. These were made anew, and what is written has to
    /// be looked at once more.
    pub is_anew: bool,
}

/// What was read of a log into a row.
struct Taken {
    bytes: u64,
    /// Where the first line begins that is not whole.
    to: u64,
    is_anew: bool,
}

/// Joins them.
pub(super) fn joins<'a>(
    store: &'a Store,
    io: &'a Io,
    runs: &'a [Run],
    (gone, dead): (&'a BTreeSet<usize>, &'a [BTreeSet<usize>]),
) -> Pin<Box<dyn Future<Output = Result<bool, Lost>> + 'a>> {
    Box::pin(store.tidied_runs(io, runs, gone, dead))
}

/// Indexes what no run covers. What is little stays in memory, and so does a last line that is not whole.
pub(super) async fn index(
    store: &Store,
    io: &Io,
    mut stale: Vec<Stale>,
    hiding: Hiding<'_>,
) -> Result<Indexed, Trouble> {
    if stale.is_empty() {
        return Ok(Indexed::default());
    }
    stale.sort_by(|one, other| one.key.cmp(&other.key));
    let mut is_little = stale.iter().map(|one| one.size - one.from).sum::<u64>() <= LITTLE;
    loop {
        let hides = hiding.by.filter(|_| hiding.hides_little || !is_little);
        let indexed = indexed(store, io, &stale, (is_little, hides)).await?;
        if !is_little || !indexed.is_anew {
            return Ok(indexed);
        }
        // Only what is written takes the place of rows that are.
        is_little = false;
    }
}

async fn indexed(
    store: &Store,
    io: &Io,
    stale: &[Stale],
    (is_little, hides): (bool, Option<&dyn Hides>),
) -> Result<Indexed, Trouble> {
    let mut made = Vec::new();
    let mut words = if is_little { Words::default() } else { Words::of_many() };
    let mut builder = Builder::new(&mut words, hides.is_some());
    let (mut held, mut open, mut is_anew) = (0, Vec::new(), false);
    for one in stale {
        let taken = piece(store, io, one, (is_little, hides), &mut builder).await;
        let Some(taken) = store.some_of(&one.file(), taken.map(Some))? else { continue };
        held += taken.bytes;
        is_anew |= taken.is_anew;
        if taken.to < one.size && !one.is_part {
            open.push(Stale { from: taken.to, secrets: None, ..one.clone() });
        }
        if held >= TOGETHER {
            made.push(kept(io, builder.finish()).await?);
            held = 0;
        }
    }
    if held > 0 {
        let bytes = builder.finish();
        made.push(if is_little { Run::in_memory(bytes) } else { kept(io, bytes).await? });
    }
    // Where nothing can be written, they are asked as they are.
    is_anew &= is_little || made.iter().flatten().all(|run| matches!(run.at, At::File(_)));
    if !is_little && !open.is_empty() {
        let mut rest = Builder::new(&mut words, hides.is_some());
        for one in &open {
            piece(store, io, one, (true, hides), &mut rest).await?;
        }
        made.push(Run::in_memory(rest.finish()));
    }
    Ok(Indexed { runs: made.into_iter().flatten().collect(), is_anew })
}

// One that cannot be written, as on a disk that is full, is asked all the same.
async fn kept(io: &Io, bytes: Vec<u8>) -> Result<Option<Run>, Trouble> {
    let name = name_of(bytes.len() as u64, &sha256(&bytes));
    let Some(run) = Run::in_memory(bytes.clone()) else { return Ok(None) };
    let is_written = unless_bug(io.replace(&file_of(&name), bytes, None).await)?.is_some();
    Ok(Some(if is_written { Run { at: At::File(name), ..run } } else { run }))
}

// Takes the rest of a log into a run, or all of it where its rows know less of its secrets.
async fn piece(
    store: &Store,
    io: &Io,
    one: &Stale,
    (takes_open, hides): (bool, Option<&dyn Hides>),
    builder: &mut Builder<'_>,
) -> Result<Taken, Trouble> {
    let file = one.file();
    let live = store.unread(&one.place, "");
    let own = match hides {
        Some(hides) => Some(hides.of_log(io, &live.folder()).await?),
        None => None,
    };
    let is_anew = match (&own, one.secrets) {
        (Some(own), Some(knows)) if one.from > 0 => {
            // Another process may know more, by rules of its own.
            knows < own.count(one.from) || own.tells_more(io, &live.folder(), one.from).await?
        }
        _ => false,
    };
    let mut from = if is_anew { 0 } else { one.from };
    loop {
        builder.piece(Row { key: one.key.clone(), from, to: from, ..Row::default() });
        let mut lines = Lines::from(from);
        let mut at = from;
        let end = loop {
            let to = one.size.min(at + CHUNK);
            let bytes = if at < to { io.read_range(&file, at, to).await? } else { Vec::new() };
            at += bytes.len() as u64;
            // Where it is shorter by now, whoever asks next finds that out.
            let end = if bytes.is_empty() {
                Some(lines.last(takes_open))
            } else {
                lines.scan(&bytes);
                None
            };
            match &own {
                Some(own) => own.take_all(io, &live, &mut lines, builder).await?,
                None => lines.take_all(builder),
            }
            if end.is_some() || lines.needs_all() {
                break end.filter(|_| !lines.needs_all());
            }
        };
        let Some(to) = end else {
            from = 0; // The piece covers nothing, so that it does not count.
            continue;
        };
        lines.put_held(builder);
        if let Some(row) = builder.row() {
            row.to = if takes_open { at } else { to };
            row.changed_us = if to == one.size { one.changed_us } else { 0 };
            row.file = one.file_number;
            let knows = one.secrets.filter(|_| from > 0).unwrap_or_default();
            row.secrets = own.as_ref().map_or(0, |own| own.count(to).max(knows));
            row.tail = tail_hash(&io.read_tail(&file, to).await?);
        }
        return Ok(Taken { bytes: at - from, to, is_anew });
    }
}

impl Stale {
    fn file(&self) -> File {
        self.place.log(MESSAGES)
    }
}

impl Store {
    /// Leaves out what does not count any more, and makes few runs of many. `gone`: the runs that have words of a session that
    /// is gone, or of a log that was written anew, which are to be nowhere; `dead`: of each run the rows that need not be there.
    /// Gives whether there are other runs now.
    pub(super) async fn tidied_runs(
        &self,
        io: &Io,
        runs: &[Run],
        gone: &BTreeSet<usize>,
        dead: &[BTreeSet<usize>],
    ) -> Result<bool, Lost> {
        let files: Vec<(usize, u64)> = runs
            .iter()
            .enumerate()
            .filter_map(|(nth, run)| match &run.at {
                At::File(name) => Some((nth, size_of(name)?)),
                At::Memory(_) => None,
            })
            .collect();
        for (nth, _) in &files {
            if gone.contains(nth) || 4 * dead[*nth].len() > runs[*nth].end.rows.len() {
                return self.merged_runs(io, runs, &[*nth], dead, gone.contains(nth)).await;
            }
        }
        for class in 0..8 {
            let is_of = |size: u64| class_of(size) == class && size < LONGEST / 2;
            let mut alike: Vec<usize> =
                files.iter().filter(|(_, size)| is_of(*size)).map(|(nth, _)| *nth).collect();
            if alike.len() >= ALIKE {
                let mut sum = 0;
                alike.retain(|nth| {
                    sum += files.iter().find(|(one, _)| one == nth).map_or(0, |(_, size)| *size);
                    sum <= LONGEST
                });
                return self.merged_runs(io, runs, &alike, dead, false).await;
            }
        }
        Ok(false)
    }

    // `must`: what is dead in them has to go, also where nothing can be written.
    async fn merged_runs(
        &self,
        io: &Io,
        runs: &[Run],
        some: &[usize],
        dead: &[BTreeSet<usize>],
        must: bool,
    ) -> Result<bool, Lost> {
        let counts = |nth: &usize| {
            let rows = 0..runs[*nth].end.rows.len();
            (*nth, rows.map(|row| !dead[*nth].contains(&row)).collect::<Vec<_>>())
        };
        let some: Vec<_> = some.iter().map(counts).collect();
        let is_any = some.iter().any(|(_, counts)| counts.contains(&true));
        let made = if is_any { joined(io, runs, &some).await? } else { Joined::Damaged };
        if matches!(made, Joined::Unwritten) && !must {
            return Ok(false); // The disk may be full: what there is stays.
        }
        // Where none can be taken away, as of a store that can only be read, all stay, and what does not count is not asked.
        let mut is_other = false;
        for (nth, _) in &some {
            match (&runs[*nth].at, &made) {
                (At::File(name), Joined::Run(made)) if name == made => {}
                (At::File(name), _) => is_other |= self.without_run(io, name).await?,
                (At::Memory(_), _) => {}
            }
        }
        Ok(is_other)
    }
}

fn class_of(size: u64) -> u32 {
    (size / SMALLEST).checked_ilog2().map_or(0, |log| 1 + log / 3)
}
