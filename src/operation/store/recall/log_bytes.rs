//! The parts of logs that a question has read already: what was read to be indexed in memory has its hits, too, and the
//! lines of many hits are read at once.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::indexing::LogReader;
use crate::layout::File;
use crate::operation::join::collect_responses;
use crate::operation::{Io, Trouble, Work, unless_bug};
use crate::record::span::Span;

/// Parts of logs.
#[derive(Default)]
pub(super) struct LogBytes(RefCell<Vec<(File, Span, Vec<u8>)>>);

impl LogBytes {
    /// Reads these parts in one step. One that cannot be read is left out: whoever needs it reads it alone, and hears
    /// why.
    pub async fn read(&self, io: &Io, parts: Vec<(File, Span)>) -> Result<(), Trouble> {
        let reads = parts.iter().map(|(file, part)| io.read(file, part.start, Some(part.end))).collect();
        for ((file, part), bytes) in parts.into_iter().zip(collect_responses(reads).await) {
            self.0.borrow_mut().extend(unless_bug(bytes)?.flatten().map(|bytes| (file, part, bytes)));
        }
        Ok(())
    }

    /// Returns the line that begins there, if it was read to its end.
    pub fn line_at(&self, file: &File, start: u64) -> Option<Vec<u8>> {
        self.0.borrow().iter().filter(|(one, _, _)| one == file).find_map(|(_, part, bytes)| {
            let line = bytes.get(usize::try_from(start.checked_sub(part.start)?).ok()?..)?;
            Some(line[..memchr::memchr(b'\n', line)?].into())
        })
    }
}

impl LogReader for LogBytes {
    fn read_part<'a>(&'a self, io: &'a Io, file: &'a File, part: Span) -> Work<'a, Vec<u8>> {
        let known = self.0.borrow().iter().find(|(one, at, _)| (one, *at) == (file, part)).cloned();
        match known {
            Some((_, _, bytes)) => Box::pin(core::future::ready(Ok(bytes))),
            None => io.read_range(file, part.start, part.end),
        }
    }
}
