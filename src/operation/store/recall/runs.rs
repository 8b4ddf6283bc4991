//! The runs of a store: files in its cache, found by listing them, so that no lock and no list of them is needed. Which pieces
//! of a session's log they cover, and whether those are believed, is looked at each time anew.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use xxhash_rust::xxh64::xxh64;

use crate::layout::{self, File};
use crate::operation::io::each;
use crate::operation::store::Store;
use crate::operation::{Io, Kind, Trouble, unless_bug};
use crate::recall::run::Row;
use crate::recall::run::read::{End, Opened, open};
use crate::record::id;
use crate::record::span::Span;
use crate::time::Stamp;

const ENDING: &str = ".run";
/// What the name of a run ends with that is on its way.
pub(super) const PARTS: &str = ".part";
// Whoever was at one for longer is gone.
const LEFT_MS: i64 = 24 * 60 * 60 * 1000;
// Most ends are shorter.
const END: u64 = 64 * 1024;

/// A run: a file, or one that is in memory alone.
#[derive(Clone)]
pub(super) struct Run {
    pub end: Rc<End>,
    pub at: At,
}

#[derive(Clone)]
pub(super) enum At {
    File(String),
    Memory(Rc<Vec<u8>>),
}

/// A run is not what it was: another process has made others of it, or it is damaged. The others are asked.
pub(super) enum Lost {
    Run(String),
    /// This one has made others of them.
    Others,
    Trouble(Trouble),
}

impl From<Trouble> for Lost {
    fn from(trouble: Trouble) -> Lost {
        Lost::Trouble(trouble)
    }
}

impl Run {
    /// One that was made just now.
    pub fn in_memory(bytes: Vec<u8>) -> Option<Run> {
        let end = opened(&bytes)?;
        Some(Run { end: Rc::new(end), at: At::Memory(Rc::new(bytes)) })
    }

    /// Its bytes are others than they were.
    pub fn lost(&self) -> Lost {
        match &self.at {
            At::File(name) => Lost::Run(name.clone()),
            At::Memory(_) => {
                Lost::Trouble(Trouble::internal("expected a run that was made, but found another"))
            }
        }
    }
}

/// What is known of a run that is in memory.
pub(super) fn opened(bytes: &[u8]) -> Option<End> {
    match open(bytes, bytes.len() as u64) {
        Opened::End(end) => Some(end),
        Opened::More(_) | Opened::Broken => None,
    }
}

/// The name of a run says how long it is, and what is in it: who makes the same one again writes the same file.
pub(super) fn name_of(length: u64, sha256: &str) -> String {
    format!("{length}-{}{ENDING}", &sha256[..16])
}

pub(super) fn size_of(name: &str) -> Option<u64> {
    name.strip_suffix(ENDING)?.split_once('-')?.0.parse().ok()
}

pub(super) fn file_of(name: &str) -> File {
    layout::recall().below(name)
}

/// Parts of runs, in the order in which they are wanted.
pub(super) async fn parts(
    io: &Io,
    runs: &[Run],
    wanted: &[(usize, Range<u64>)],
) -> Result<Vec<Vec<u8>>, Lost> {
    let mut sorted = wanted.to_vec();
    sorted.sort_by_key(|(run, range)| (*run, range.start));
    let (mut spans, mut reads) = (Vec::new(), Vec::new());
    for of_run in sorted.chunk_by(|(run, _), (other, _)| run == other) {
        let run = of_run[0].0;
        let At::File(name) = &runs[run].at else { continue };
        for span in
            Span::together(of_run.iter().map(|(_, Range { start, end })| Span { start: *start, end: *end }))
        {
            spans.push((run, span));
            reads.push(io.read(&file_of(name), span.start, Some(span.end)));
        }
    }
    let read = each(reads).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let part = |(run, range): &(usize, Range<u64>)| match &runs[*run].at {
        At::Memory(bytes) => bytes.get(range.start as usize..range.end as usize),
        At::File(_) => {
            let place = spans.partition_point(|(other, span)| (*other, span.start) <= (*run, range.start));
            let place = place.checked_sub(1)?;
            let (_, span) = spans[place];
            read[place].as_ref()?.get((range.start - span.start) as usize..(range.end - span.start) as usize)
        }
    };
    wanted.iter().map(|one| part(one).map(<[u8]>::to_vec).ok_or_else(|| runs[one.0].lost())).collect()
}

impl Store {
    /// The runs that there are. What is none, is damaged, or may have secrets that nobody looked for, is taken away: it is made
    /// again. Where something else stands in the place of their folder there are none.
    pub(super) async fn runs(&self, io: &Io) -> Result<Vec<Run>, Trouble> {
        let entries = unless_bug(io.list(&layout::recall()).await)?.flatten().unwrap_or_default();
        let files = entries.into_iter().filter(|entry| entry.kind == Kind::File);
        let (left, files): (Vec<_>, Vec<_>) = files.partition(|entry| entry.name.ends_with(PARTS));
        self.without_left(io, left.into_iter().map(|entry| entry.name)).await?;
        let names: Vec<(String, u64)> = files
            .into_iter()
            .filter_map(|entry| Some((size_of(&entry.name)?, entry.name)))
            .map(|(size, name)| (name, size))
            .collect();
        self.ends.borrow_mut().retain(|name, _| names.iter().any(|(one, _)| one == name));
        let mut runs = Vec::new();
        for (name, size) in names {
            let known = self.ends.borrow().get(&name).cloned();
            let end = match known {
                Some(None) => continue,
                Some(end) => end,
                None => self.opened_run(io, &name, size).await?,
            };
            match end.filter(|end| end.hides || !self.setup.redacts) {
                Some(end) => runs.push(Run { end, at: At::File(name) }),
                None => self.without_damaged(io, name).await?,
            }
        }
        Ok(runs)
    }

    // What somebody was at who died. Its name begins with when it was begun, as all ids do.
    async fn without_left(&self, io: &Io, names: impl Iterator<Item = String>) -> Result<(), Trouble> {
        let stamp = io.stamp();
        let before = id::new(&Stamp { now_ms: stamp.now_ms - LEFT_MS, ..stamp }, 0);
        for name in names.filter(|name| *name < before) {
            unless_bug(io.remove(&file_of(&name)).await)?;
        }
        Ok(())
    }

    /// Leaves nothing of what somebody is at, or was: who is, does without.
    pub(super) async fn without_parts(&self, io: &Io) -> Result<(), Trouble> {
        let entries = io.list(&layout::recall()).await?.unwrap_or_default();
        for entry in entries.iter().filter(|entry| entry.name.ends_with(PARTS)) {
            io.remove(&file_of(&entry.name)).await?;
        }
        Ok(())
    }

    async fn opened_run(&self, io: &Io, name: &str, size: u64) -> Result<Option<Rc<End>>, Trouble> {
        let mut wanted = END.min(size);
        for _ in 0..3 {
            let tail = io.read_range(&file_of(name), size - wanted, size).await?;
            match open(&tail, size) {
                Opened::End(end) => {
                    let end = Rc::new(end);
                    self.ends.borrow_mut().insert(name.into(), Some(end.clone()));
                    return Ok(Some(end));
                }
                Opened::More(more) if more > wanted && more <= size => wanted = more,
                Opened::More(_) | Opened::Broken => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Has the next try find other runs; where it cannot, that is the trouble.
    pub(super) async fn without_lost(&self, io: &Io, lost: Lost) -> Result<(), Trouble> {
        match lost {
            Lost::Run(name) => self.without_damaged(io, name).await,
            Lost::Others => Ok(()),
            Lost::Trouble(trouble) => Err(trouble),
        }
    }

    // One that cannot be taken away, as of a store that can only be read, is not asked again.
    async fn without_damaged(&self, io: &Io, name: String) -> Result<(), Trouble> {
        if !self.without_run(io, &name).await? {
            self.ends.borrow_mut().insert(name, None);
        }
        Ok(())
    }

    /// Takes away one that is damaged, or that others were made of; whether it could be.
    pub(super) async fn without_run(&self, io: &Io, name: &str) -> Result<bool, Trouble> {
        self.ends.borrow_mut().remove(name);
        Ok(unless_bug(io.remove(&file_of(name)).await)?.is_some())
    }
}

/// The hash by which the end of a piece is known.
pub(super) fn tail_hash(tail: &[u8]) -> u64 {
    xxh64(tail, 0)
}

/// Where a piece of a session's log is: the run and the row.
pub(super) type Piece = (usize, usize);

/// The pieces of each of these logs.
pub(super) fn pieces<'k>(runs: &[Run], keys: impl Iterator<Item = &'k str>) -> Vec<Vec<Piece>> {
    let keys: Vec<&str> = keys.collect();
    let mut pieces = vec![Vec::new(); keys.len()];
    // By their hashes: names of thousands begin alike, and are compared from their beginning.
    let hash = |key: &str| xxh64(key.as_bytes(), 0);
    let numbers: BTreeMap<u64, usize> =
        keys.iter().enumerate().map(|(number, key)| (hash(key), number)).collect();
    for (run, one) in runs.iter().enumerate() {
        for (row, piece) in one.end.rows.iter().enumerate() {
            if let Some(number) = numbers.get(&hash(&piece.key))
                && keys[*number] == piece.key
            {
                pieces[*number].push((run, row));
            }
        }
    }
    pieces
}

/// The pieces that cover a log of so many bytes, changed at that time, one after the other from its beginning.
pub(super) fn chain(runs: &[Run], pieces: &[Piece], (size, changed_us): (u64, i64)) -> Vec<Piece> {
    let row = |&(run, row): &Piece| &runs[run].end.rows[row];
    let is_now = |row: &Row| row.to == size && row.changed_us == changed_us;
    let mut chain = Vec::new();
    let mut at = 0;
    loop {
        let next =
            pieces.iter().filter(|place| row(place).from == at && (at + 1..=size).contains(&row(place).to));
        let best =
            next.max_by_key(|place| (is_now(row(place)), row(place).to, row(place).changed_us, **place));
        let Some(best) = best else { return chain };
        at = row(best).to;
        chain.push(*best);
    }
}
