//! Turns the messages of a log into documents, for an index file or for a question.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use super::documents::{Document, DocumentSink, SAID_FIELD, WORK_FIELD};
use super::portable_math::size_byte;
use super::searchable_texts::searchable_texts;
use super::terms::Field;
use crate::record::blob;
use crate::record::message::{self, Message};
use crate::record::scan::{ScanItem, Scanner};
use crate::time;

/// Reads a segment of a log and hands over its messages; of a revised message, its newest revision.
#[derive(Debug)]
pub(crate) struct DocumentFeed {
    scanner: Scanner,
    // The last message is held back: a revision may follow at once, as with answers that come bit by bit.
    pending: Option<(Message, MessageEntry)>,
    places: BTreeMap<u64, MessageEntry>,
    is_rest: bool,
    needs_all: bool,
}

/// A message and the line that it was read from.
pub(crate) type ReadMessage = (Message, MessageEntry);

/// Where a message was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageEntry {
    line_start: u64,
    rev: u64,
    line: u64,
    size: u8,
    documents: [Option<u32>; 2],
}

impl DocumentFeed {
    /// Starts at a line that begins at offset `from`.
    pub fn starting_at(from: u64) -> DocumentFeed {
        let scanner = Scanner::forward(from);
        DocumentFeed { scanner, pending: None, places: BTreeMap::new(), is_rest: from > 0, needs_all: false }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn DocumentSink) {
        self.feed_bytes(bytes);
        self.take_all(sink);
    }

    /// Ends the segment and returns the offset of the first line that is not whole. `takes_open` takes that line, too,
    /// if it is a record, although an append may still change it.
    pub fn finish(&mut self, takes_open: bool, sink: &mut dyn DocumentSink) -> u64 {
        let position = self.finish_scan(takes_open);
        self.take_all(sink);
        self.flush_held(sink);
        position
    }

    /// Like [`DocumentFeed::feed`], for a caller that looks at each message before it is taken.
    pub fn feed_bytes(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
    }

    /// Like [`DocumentFeed::finish`], but leaves the rest to [`DocumentFeed::next_message`], [`DocumentFeed::take`]
    /// and [`DocumentFeed::flush_held`].
    pub fn finish_scan(&mut self, takes_open: bool) -> u64 {
        let position = self.scanner.position();
        if takes_open {
            self.scanner.finish();
        }
        position
    }

    /// Returns the next line that is a message.
    #[inline]
    pub fn next_message(&mut self) -> Option<ReadMessage> {
        loop {
            if let ScanItem::Record(record) = self.scanner.next()?
                && let Some(message) = message::read(&record).0
            {
                let met = MessageEntry {
                    line_start: record.start,
                    rev: message.rev,
                    line: xxh64(record.json.as_bytes(), 0),
                    size: size_byte(record.span().end + 1 - record.start),
                    documents: [None; 2],
                };
                return Some((message, met));
            }
        }
    }

    /// True if this segment revises a message from before it: then only the whole log has the current text.
    #[cfg(feature = "interop")]
    pub fn needs_whole_log(&self) -> bool {
        self.needs_all
    }

    /// Takes all messages that are left.
    pub fn take_all(&mut self, sink: &mut dyn DocumentSink) {
        while let Some(message) = self.next_message() {
            self.take(message, sink);
        }
    }

    /// Takes one message.
    #[inline]
    pub fn take(&mut self, (message, new): ReadMessage, sink: &mut dyn DocumentSink) {
        if let Some((held, met)) = &mut self.pending
            && held.id == message.id
            && new.rev > met.rev
        {
            (*held, *met) = (message, new);
            return;
        }
        self.flush_held(sink);
        match self.places.get(&xxh64(message.id.as_bytes(), 0)) {
            Some(old) if old.line == new.line || new.rev < old.rev => return,
            Some(old) if new.rev > old.rev => {
                for field in [SAID_FIELD, WORK_FIELD] {
                    old.documents[field].into_iter().for_each(|number| sink.remove_document(field, number));
                }
            }
            Some(_) => {}
            None => self.needs_all |= self.is_rest && new.rev > 0,
        }
        self.pending = Some((message, new));
    }

    /// Hands over the held message: no revision follows.
    pub fn flush_held(&mut self, sink: &mut dyn DocumentSink) {
        let Some((message, mut met)) = self.pending.take() else { return };
        // If the text lies in a blob, the line has its beginning and its end.
        let message =
            if blob::blob_ids(&message).is_empty() { message } else { blob::truncate_blobs(&message) };
        let ms = message.timestamp.as_deref().and_then(time::parse);
        let seconds = ms.and_then(|ms| u32::try_from(ms / 1000).ok()).unwrap_or_default();
        let document = Document { line_start: met.line_start, size: met.size, seconds, role: message.role };
        let mut parts: [Vec<(Field, Cow<'_, str>)>; 2] = Default::default();
        for (field, text) in searchable_texts(&message) {
            parts[usize::from(field != Field::Said)].push((field, text));
        }
        for (field, texts) in parts.iter().enumerate().filter(|(_, texts)| !texts.is_empty()) {
            met.documents[field] = Some(sink.add_document(field, document, texts));
        }
        self.places.insert(xxh64(message.id.as_bytes(), 0), met);
    }
}
