//! Merges index files into one, written part by part. Its name depends on its bytes, so that until all are written it
//! has one that no index file has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use sha2::{Digest, Sha256};

use super::index_files::{
    IndexFile, IndexLost, UNFINISHED_ENDING, index_file_name, index_file_path, read_ranges,
};
use crate::error::Code;
use crate::json::hash::hex;
use crate::layout::File;
use crate::operation::{Io, Trouble, unless_bug};
use crate::recall::index_file::merge::{MergeFiles, MergeSource, OutputPart, merge};
use crate::recall::index_file::read::DamagedIndex;
use crate::record::id;

/// What a merge led to.
pub(super) enum MergeOutcome {
    /// An index file of this name.
    File(String),
    /// One of the files is damaged; which one is not known.
    Damaged,
    /// The merged file cannot be written: the disk may be full.
    Unwritten,
}

enum MergeStop {
    Lost(IndexLost),
    Damaged,
    Unwritten,
}

impl From<DamagedIndex> for MergeStop {
    fn from(_: DamagedIndex) -> MergeStop {
        MergeStop::Damaged
    }
}

impl From<Trouble> for MergeStop {
    fn from(trouble: Trouble) -> MergeStop {
        MergeStop::Lost(trouble.into())
    }
}

/// Merges index files, each given by its number, with which of its segments to keep.
pub(super) async fn merge_files(
    io: &Io,
    runs: &[IndexFile],
    some: &[(usize, Vec<bool>)],
) -> Result<MergeOutcome, IndexLost> {
    let sources: Vec<_> =
        some.iter().map(|(nth, counts)| MergeSource { end: &runs[*nth].footer, counts }).collect();
    let name = id::new(&io.stamp(), 0);
    let files = ["run", "far"].map(|part| index_file_path(&format!("{name}.{part}{UNFINISHED_ENDING}")));
    let mut joining =
        FileMerge { io, index_files: runs, sources: some, part_files: files, hash: Sha256::new(), length: 0 };
    let joined = match merge(&sources, &mut joining).await {
        Ok(()) => joining.publish_file().await,
        Err(stop) => Err(stop),
    };
    for file in &joining.part_files {
        unless_bug(io.remove(file).await)?;
    }
    match joined {
        Ok(name) => Ok(MergeOutcome::File(name)),
        Err(MergeStop::Damaged) => Ok(MergeOutcome::Damaged),
        Err(MergeStop::Unwritten) => Ok(MergeOutcome::Unwritten),
        Err(MergeStop::Lost(lost)) => Err(lost),
    }
}

struct FileMerge<'a> {
    io: &'a Io,
    index_files: &'a [IndexFile],
    sources: &'a [(usize, Vec<bool>)],
    // The merged file, and its far lists, those that are stored apart from their terms.
    part_files: [File; 2],
    hash: Sha256,
    length: u64,
}

impl FileMerge<'_> {
    // Renames the file to its name, once the disk has it.
    async fn publish_file(&mut self) -> Result<String, MergeStop> {
        let [file, _] = &self.part_files;
        let name = index_file_name(self.length, &hex(&self.hash.finalize_reset()));
        if unless_bug(self.io.append(file, Vec::new(), true, None).await)?.is_none() {
            return Err(MergeStop::Unwritten);
        }
        match self.io.rename(file, &index_file_path(&name)).await {
            Err(trouble) if trouble.is_bug() => Err(trouble.into()),
            // Another process made the same file first.
            Err(trouble) if trouble.code() != Code::AlreadyExists.as_str() => Err(MergeStop::Unwritten),
            _ => Ok(name),
        }
    }
}

impl MergeFiles for FileMerge<'_> {
    type Stop = MergeStop;

    async fn read(&mut self, source: usize, range: Range<u64>) -> Result<Vec<u8>, MergeStop> {
        let read = read_ranges(self.io, self.index_files, &[(self.sources[source].0, range)]).await;
        Ok(read.map_err(MergeStop::Lost)?.remove(0))
    }

    async fn read_far(&mut self, range: Range<u64>) -> Result<Vec<u8>, MergeStop> {
        let bytes = self.io.read_range(&self.part_files[1], range.start, range.end).await?;
        if bytes.len() as u64 == range.end - range.start { Ok(bytes) } else { Err(MergeStop::Unwritten) }
    }

    async fn write(&mut self, part: OutputPart, bytes: Vec<u8>) -> Result<(), MergeStop> {
        if part == OutputPart::Run {
            self.hash.update(&bytes);
            self.length += bytes.len() as u64;
        }
        if bytes.is_empty()
            || unless_bug(self.io.append(&self.part_files[part as usize], bytes, false, None).await)?
                .is_some()
        {
            Ok(())
        } else {
            Err(MergeStop::Unwritten)
        }
    }
}
