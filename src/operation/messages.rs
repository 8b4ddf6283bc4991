//! Streams the messages of a session's log, with the content of blobs put back.

#[cfg(feature = "interop")]
use alloc::string::String;
use alloc::vec::Vec;

use super::logs::LogName;
use super::session_files::{READ_BYTES, SessionFiles};
use super::{Io, Trouble, unless_other};
use crate::layout::BLOBS;
#[cfg(feature = "interop")]
use crate::record::blob::BlobRestoration;
use crate::record::message::Message;
use crate::record::scan::Problem;
use crate::record::span::Span;
use crate::session::input_request::InputRequest;
use crate::session::message_reader::{HighestRevisions, MessageReader};

// Length of the first piece backward; each next one is twice as long, since few readers go far back.
const FIRST_READ_BYTES: u64 = 32 * 1024;
// Length of a first piece that is to hold one line: most lines are shorter.
const LINE_READ_BYTES: u64 = 4096;

pub(super) struct MessageStream<'a> {
    files: &'a SessionFiles,
    io: &'a Io,
    reader: MessageReader,
    offset: u64,
    end: u64,
    // The bytes of the whole range, where they fit one piece: they were read to look for revisions.
    whole_range: Option<Vec<u8>>,
    // Length of the next piece backward; `None` when reading forward.
    backward: Option<u64>,
    is_finished: bool,
    /// Problems found on the way.
    pub problems: Vec<Problem>,
}

impl<'a> MessageStream<'a> {
    /// Streams oldest first, up to `end`.
    pub async fn oldest_first(
        files: &'a SessionFiles,
        io: &'a Io,
        end: u64,
    ) -> Result<MessageStream<'a>, Trouble> {
        MessageStream::in_range(files, io, Span { start: 0, end }).await
    }

    /// Streams a range that begins with a line.
    pub async fn in_range(
        files: &'a SessionFiles,
        io: &'a Io,
        Span { start, end }: Span,
    ) -> Result<MessageStream<'a>, Trouble> {
        let passed = files.with_session(|session| session.skipped_lines());
        let mut at = files.with_session(|session| session.unrevised_end()).max(start);
        let mut revisions = HighestRevisions::new(at).with_skipped(passed.clone());
        let mut whole = None;
        while at < end {
            let bytes = read_piece(files, io, at, end.min(at + READ_BYTES)).await?;
            revisions.feed(&bytes);
            at += bytes.len() as u64;
            whole = (bytes.len() as u64 == end - start).then_some(bytes);
        }
        let reader = MessageReader::oldest_first(start, revisions).with_skipped(passed);
        Ok(MessageStream {
            offset: start,
            whole_range: whole,
            ..MessageStream::forward(files, io, reader, end)
        })
    }

    /// The same with every line, revisions unresolved.
    pub fn each_line(files: &'a SessionFiles, io: &'a Io, end: u64) -> MessageStream<'a> {
        MessageStream::forward(files, io, MessageReader::oldest_first(0, HighestRevisions::new(0)), end)
    }

    fn forward(
        session_files: &'a SessionFiles,
        io: &'a Io,
        reader: MessageReader,
        end: u64,
    ) -> MessageStream<'a> {
        let problems = Vec::new();
        MessageStream {
            files: session_files,
            io,
            reader,
            offset: 0,
            end,
            whole_range: None,
            backward: None,
            is_finished: false,
            problems,
        }
    }

    /// Streams from `end` backward.
    pub fn newest_first(files: &'a SessionFiles, io: &'a Io, end: u64) -> MessageStream<'a> {
        let passed = files.with_session(|session| session.skipped_lines());
        let reader = MessageReader::newest_first(end, Vec::new()).with_skipped(passed);
        MessageStream {
            offset: end,
            backward: Some(FIRST_READ_BYTES),
            ..MessageStream::forward(files, io, reader, end)
        }
    }

    /// Streams the last message before `end`, where a line ends: the first piece is as long as most lines are.
    pub fn last_before(files: &'a SessionFiles, io: &'a Io, end: u64) -> MessageStream<'a> {
        let passed = files.with_session(|session| session.skipped_lines());
        let reader = MessageReader::newest_first(end, Vec::new()).with_skipped(passed);
        MessageStream {
            offset: end,
            backward: Some(LINE_READ_BYTES),
            ..MessageStream::forward(files, io, reader, end)
        }
    }

    /// Streams what follows `start`, where a line ends, for a reader that asks again for what was appended since.
    pub fn starting_at(files: &'a SessionFiles, io: &'a Io, start: u64) -> MessageStream<'a> {
        let reader = MessageReader::oldest_first(start, HighestRevisions::new(start));
        MessageStream { offset: start, is_finished: true, ..MessageStream::forward(files, io, reader, start) }
    }

    /// How far it has read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next messages; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<Message>>, Trouble> {
        loop {
            let batch = self.reader.next_batch();
            self.problems.extend(batch.problems);
            match batch.needs {
                Some(InputRequest::Blob { id }) => {
                    let bytes = self.files.read_blob(self.io, &id).await?;
                    self.reader.take_blob(&id, bytes.as_deref());
                }
                Some(InputRequest::Bytes { range }) => {
                    let file = self.files.log_file(LogName::Messages);
                    let bytes = self.io.read_range(&file, range.start, range.end).await?;
                    self.reader.take_bytes(range.start, &bytes);
                }
                Some(_) => {}
                None if !batch.messages.is_empty() => {}
                None if self.is_finished => return Ok(None),
                None => self.feed().await?,
            }
            if !batch.messages.is_empty() {
                return Ok(Some(batch.messages));
            }
        }
    }

    /// Whether it met a batch that is not known to count yet, or a revision that may be the first line of its
    /// message: the session's state does not reach so far.
    #[cfg(feature = "interop")]
    pub fn has_undecided(&self) -> bool {
        self.reader.has_undecided()
    }

    /// Takes more of a log whose counting lines are known up to `end`; false where there is no more.
    pub async fn feed_up_to(&mut self, end: u64) -> Result<bool, Trouble> {
        self.reader.set_skipped(self.files.with_session(|session| session.skipped_lines()));
        self.end = end;
        if self.offset > end {
            return Err(self.files.shrunk_error(LogName::Messages, self.offset, end));
        }
        if self.offset == end {
            return Ok(false);
        }
        self.feed().await?;
        Ok(true)
    }

    async fn feed(&mut self) -> Result<(), Trouble> {
        let (start, end) = match self.backward {
            Some(size) => (self.offset.saturating_sub(size), self.offset),
            None => (self.offset, self.end.min(self.offset + READ_BYTES)),
        };
        if start >= end {
            self.reader.finish();
            self.is_finished = true;
            return Ok(());
        }
        let bytes = if let Some(whole) = self.whole_range.take() {
            whole
        } else if self.backward.is_some() {
            let file = self.files.log_file(LogName::Messages);
            let bytes = self.io.read_range(&file, start, end).await?;
            let found = start + bytes.len() as u64;
            if found < end {
                return Err(self.files.shrunk_error(LogName::Messages, end, found));
            }
            bytes
        } else {
            read_piece(self.files, self.io, start, end).await?
        };
        self.offset = if self.backward.is_some() { start } else { start + bytes.len() as u64 };
        self.backward = self.backward.map(|size| READ_BYTES.min(2 * size));
        self.reader.feed(&bytes);
        Ok(())
    }
}

impl SessionFiles {
    /// Reads a blob; `None` where it is missing or its bytes are others.
    pub(super) async fn read_blob(&self, io: &Io, id: &str) -> Result<Option<Vec<u8>>, Trouble> {
        unless_other(io.read_all(&self.folder().child(BLOBS).child(id)).await)
    }

    /// Puts the content of blobs back into a message; where one is missing, the text keeps its ends alone.
    #[cfg(feature = "interop")]
    pub(super) async fn unfold_message(&self, io: &Io, message: Message) -> Result<Message, Trouble> {
        let mut unfolding = BlobRestoration::new(message);
        while let Some(blob) = unfolding.next_blob().map(String::from) {
            let bytes = self.read_blob(io, &blob).await?;
            // Missing or wrong blobs are reported when the session is examined.
            let _ = unfolding.take(&blob, bytes.as_deref());
        }
        Ok(unfolding.into_message())
    }
}

// Bytes that cannot be read must not look as if they had never been written.
async fn read_piece(files: &SessionFiles, io: &Io, start: u64, end: u64) -> Result<Vec<u8>, Trouble> {
    let bytes = io.read(&files.log_file(LogName::Messages), start, Some(end)).await?.unwrap_or_default();
    if bytes.is_empty() { Err(files.shrunk_error(LogName::Messages, end, start)) } else { Ok(bytes) }
}
