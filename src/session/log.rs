//! A log as its writer knows it: how far it was read, and the one batch that is on its way to it.
//!
//! The host reads and writes; the handle says what to write and learns what was read. [`Log::observe`] takes what the
//! file gained, by us or by others. `stage` gives the bytes of a batch; then exactly one of [`Log::commit`] (they are
//! in the file), [`Log::abort`] (no byte of them is) or [`Log::mark_in_doubt`] (nobody can say) follows. It never
//! asks to truncate: a torn tail is sealed with a line feed by the next batch.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::text::Open;
use crate::record::batch::Batch;
use crate::record::line;
use crate::record::scan::{ScanItem, Scanner};

/// The handle of one log file.
#[derive(Debug)]
pub struct Log {
    scanner: Scanner,
    observed_end: u64,
    ends_line: bool,
    batch: Option<PendingBatch>,
    must_observe: bool,
}

#[derive(Debug)]
struct PendingBatch {
    lines: String,
    // The lines that no observation has met yet; `None` before the first one: most batches need no look-up.
    missing: Option<BTreeSet<String>>,
    in_doubt: bool,
}

impl PendingBatch {
    fn mark_found(&mut self, line: &str) {
        let all = || self.lines.split('\n').filter(|line| !line.is_empty()).map(String::from).collect();
        self.missing.get_or_insert_with(all).remove(line);
    }

    fn is_complete(&self) -> bool {
        self.missing.as_ref().map_or_else(|| self.lines.trim_ascii().is_empty(), BTreeSet::is_empty)
    }
}

impl Log {
    /// A log of which everything before `offset` is known; a line begins there.
    pub fn new(offset: u64) -> Log {
        Log::with_open_line(offset, true)
    }

    /// The same, where a last line without a line feed may lie before `offset`.
    pub(crate) fn with_open_line(offset: u64, ends_line: bool) -> Log {
        let scanner = Scanner::forward(offset);
        Log { scanner, observed_end: offset, ends_line, batch: None, must_observe: false }
    }

    /// How far the log is observed, in bytes.
    pub fn observed_end(&self) -> u64 {
        self.observed_end
    }

    /// How far the log's lines were given out: the end of its last complete line, or of a tail that is a record.
    pub fn covered_end(&self) -> u64 {
        self.scanner.position()
    }

    /// Whether what was given out ends inside a line: nobody can read on from there as if a line began.
    pub(crate) fn is_inside_line(&self) -> bool {
        self.scanner.is_inside_line()
    }

    /// Takes the bytes that the file has from `offset` on, and returns what is complete.
    ///
    /// # Errors
    /// `observe_first` where `offset` is not where the last observation ended.
    pub fn observe(&mut self, bytes: &[u8], offset: u64) -> Result<Vec<ScanItem>, Error> {
        if offset != self.observed_end {
            let message = format!(
                "expected bytes from {} on, but found bytes from {offset} on instead",
                self.observed_end
            );
            return Err(Error::new(Code::ObserveFirst, message));
        }
        self.must_observe = false;
        Ok(self.take(bytes))
    }

    /// Returns the last line although no line feed ends it, if it is a record; else reports it as torn.
    pub fn observe_tail(&mut self) -> Vec<ScanItem> {
        self.scanner.finish();
        self.drain()
    }

    /// Stages records as one batch, and returns the bytes to append. Nothing is written by this.
    ///
    /// # Errors
    /// `batch_open` where a batch is on its way, `observe_first` where an unknown one was given up, `line_too_long`
    /// where a record does not fit a line; then none is staged.
    pub(crate) fn stage<T: Open>(&mut self, records: &[T]) -> Result<Vec<u8>, Error> {
        self.stage_batch(records, None)
    }

    /// The same, each line naming its batch.
    ///
    /// # Errors
    /// Those of [`Log::stage`]; `line_too_long` where they are too many bytes, too.
    pub(crate) fn stage_batch<T: Open>(
        &mut self,
        records: &[T],
        of: Option<&Batch>,
    ) -> Result<Vec<u8>, Error> {
        if self.batch.is_some() {
            return Err(Error::new(Code::BatchOpen, "expected no open batch, but found one instead"));
        }
        if self.must_observe {
            return Err(Error::new(
                Code::ObserveFirst,
                "expected an observation after an unknown batch, but found none",
            ));
        }
        let mut lines = String::from(if self.ends_line { "" } else { "\n" });
        for (place, record) in records.iter().enumerate() {
            let front = of.map(|batch| batch.line_prefix(place, records.len())).unwrap_or_default();
            lines.push_str(&line::write_behind(&front, record)?);
        }
        if of.is_some() {
            Batch::check_length(lines.len())?;
        }
        let bytes = lines.as_bytes().to_vec();
        self.batch = Some(PendingBatch { lines, missing: None, in_doubt: false });
        Ok(bytes)
    }

    /// Notes that the batch is in the file. `offset` is where its bytes begin, if the file grew by exactly them; they
    /// are then observed, too. Else the host has fed the gap to [`Log::observe`], and any offset before its end will
    /// do.
    ///
    /// # Errors
    /// `no_batch` without one; `observe_first` where the batch is neither at the end of what is observed nor in it.
    pub fn commit(&mut self, offset: u64) -> Result<Vec<ScanItem>, Error> {
        let batch = self.batch.take().ok_or_else(no_batch_error)?;
        if batch.is_complete() && offset <= self.observed_end {
            return Ok(Vec::new());
        }
        if offset == self.observed_end && !batch.in_doubt {
            return Ok(self.take_own(batch.lines));
        }
        self.batch = Some(batch);
        let message = format!(
            "expected the log to be observed from byte {} on, but found a gap instead",
            self.observed_end
        );
        Err(Error::new(Code::ObserveFirst, message))
    }

    /// Notes that not one byte of the batch was written; or gives up a batch in doubt.
    ///
    /// # Errors
    /// `no_batch` without one.
    pub fn abort(&mut self) -> Result<(), Error> {
        let batch = self.batch.take().ok_or_else(no_batch_error)?;
        self.must_observe = batch.in_doubt;
        Ok(())
    }

    /// Notes that nobody can say how much of the batch was written. Returns the bytes to append again, behind a line
    /// feed that seals what a first attempt may have left; readers keep one of two equal records. The batch stays
    /// open: the host observes what the file gained, then commits, or aborts to give up.
    ///
    /// # Errors
    /// `no_batch` without one.
    pub fn mark_in_doubt(&mut self) -> Result<Vec<u8>, Error> {
        let batch = self.batch.as_mut().ok_or_else(no_batch_error)?;
        if !batch.in_doubt && !batch.lines.starts_with('\n') {
            batch.lines.insert(0, '\n');
        }
        batch.in_doubt = true;
        Ok(batch.lines.as_bytes().to_vec())
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<ScanItem> {
        self.observed_end += bytes.len() as u64;
        if let Some(last) = bytes.last() {
            self.ends_line = *last == b'\n';
        }
        self.scanner.feed(bytes);
        self.drain()
    }

    // What was written just now need not be read again.
    fn take_own(&mut self, lines: String) -> Vec<ScanItem> {
        if !self.ends_line || !self.scanner.is_between_lines() {
            return self.take(lines.as_bytes());
        }
        self.observed_end += lines.len() as u64;
        self.scanner.take_records(lines)
    }

    fn drain(&mut self) -> Vec<ScanItem> {
        let found: Vec<ScanItem> = core::iter::from_fn(|| self.scanner.next()).collect();
        if let Some(batch) = &mut self.batch {
            for one in &found {
                if let ScanItem::Record(record) = one {
                    batch.mark_found(&record.json);
                }
            }
        }
        found
    }
}

fn no_batch_error() -> Error {
    Error::new(Code::NoBatch, "expected an open batch, but found none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::batch::MAX_BATCH;
    use crate::record::message::Message;

    #[test]
    fn a_batch_that_no_reader_would_hold_is_not_staged() {
        let of = Batch { operation: "o".into(), hash: "h".into(), expected_message: None };
        let record = Message { content: "x".repeat(7 << 20).into(), ..Message::default() };
        let records = alloc::vec![record; (MAX_BATCH >> 20) as usize / 7 + 1];
        let staged = |count: usize| {
            Log::new(0).stage_batch(&records[..count], Some(&of)).map(drop).map_err(|error| error.code)
        };
        assert_eq!(staged(records.len() - 1), Ok(()));
        assert_eq!(staged(records.len()), Err(Code::LineTooLong));
    }
}
