//! Several runs that become one file, piece by piece: it is known what it is called when all of it is written, and until then it has
//! a name that no run has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use sha2::{Digest, Sha256};

use super::runs::{Lost, PARTS, Run, file_of, name_of, parts};
use crate::error::Code;
use crate::json::hash::hex;
use crate::layout::File;
use crate::operation::{Io, Trouble, unless_bug};
use crate::recall::run::merge::{Files, Part, Source, merge};
use crate::recall::run::read::Damaged;
use crate::record::id;

/// What became of some runs.
pub(super) enum Joined {
    /// A run of this name.
    Run(String),
    /// One of them is damaged: which one is not told.
    Damaged,
    /// It cannot be written: the disk may be full.
    Unwritten,
}

enum Stop {
    Lost(Lost),
    Damaged,
    Unwritten,
}

impl From<Damaged> for Stop {
    fn from(_: Damaged) -> Stop {
        Stop::Damaged
    }
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Stop {
        Stop::Lost(trouble.into())
    }
}

/// Makes one run of some: by its number each, and which of its rows count.
pub(super) async fn joined(io: &Io, runs: &[Run], some: &[(usize, Vec<bool>)]) -> Result<Joined, Lost> {
    let sources: Vec<_> = some.iter().map(|(nth, counts)| Source { end: &runs[*nth].end, counts }).collect();
    let name = id::new(&io.stamp(), 0);
    let files = ["run", "far"].map(|part| file_of(&format!("{name}.{part}{PARTS}")));
    let mut joining = Joining { io, runs, some, files, hash: Sha256::new(), length: 0 };
    let joined = match merge(&sources, &mut joining).await {
        Ok(()) => joining.named().await,
        Err(stop) => Err(stop),
    };
    for file in &joining.files {
        unless_bug(io.remove(file).await)?;
    }
    match joined {
        Ok(name) => Ok(Joined::Run(name)),
        Err(Stop::Damaged) => Ok(Joined::Damaged),
        Err(Stop::Unwritten) => Ok(Joined::Unwritten),
        Err(Stop::Lost(lost)) => Err(lost),
    }
}

struct Joining<'a> {
    io: &'a Io,
    runs: &'a [Run],
    some: &'a [(usize, Vec<bool>)],
    // The run, and its far lists.
    files: [File; 2],
    hash: Sha256,
    length: u64,
}

impl Joining<'_> {
    // Gives the file its name, once the disk has it.
    async fn named(&mut self) -> Result<String, Stop> {
        let [file, _] = &self.files;
        let name = name_of(self.length, &hex(&self.hash.finalize_reset()));
        if unless_bug(self.io.append(file, Vec::new(), true, None).await)?.is_none() {
            return Err(Stop::Unwritten);
        }
        match self.io.rename(file, &file_of(&name)).await {
            Err(trouble) if trouble.is_bug() => Err(trouble.into()),
            // Whoever made the same one was faster.
            Err(trouble) if trouble.code() != Code::AlreadyExists.as_str() => Err(Stop::Unwritten),
            _ => Ok(name),
        }
    }
}

impl Files for Joining<'_> {
    type Stop = Stop;

    async fn read(&mut self, source: usize, range: Range<u64>) -> Result<Vec<u8>, Stop> {
        let read = parts(self.io, self.runs, &[(self.some[source].0, range)]).await;
        Ok(read.map_err(Stop::Lost)?.remove(0))
    }

    async fn read_far(&mut self, range: Range<u64>) -> Result<Vec<u8>, Stop> {
        let bytes = self.io.read_range(&self.files[1], range.start, range.end).await?;
        if bytes.len() as u64 == range.end - range.start { Ok(bytes) } else { Err(Stop::Unwritten) }
    }

    async fn write(&mut self, part: Part, bytes: Vec<u8>) -> Result<(), Stop> {
        if part == Part::Run {
            self.hash.update(&bytes);
            self.length += bytes.len() as u64;
        }
        if bytes.is_empty()
            || unless_bug(self.io.append(&self.files[part as usize], bytes, false, None).await)?.is_some()
        {
            Ok(())
        } else {
            Err(Stop::Unwritten)
        }
    }
}
