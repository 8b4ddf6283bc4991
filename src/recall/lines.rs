//! The messages of a log as documents: of a run, or for a question.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use xxhash_rust::xxh64::xxh64;

use super::documents::{Document, SAID, Sink, WORK};
use super::number::size_byte;
use super::texts::texts;
use super::words::Field;
use crate::record::blob;
use crate::record::message::{self, Message};
use crate::record::scan::{Found, Record, Scanner};
use crate::time;

/// Goes through a piece of a log, and hands over its messages: of one that was written again the newest revision.
#[derive(Debug)]
pub(crate) struct Lines {
    scanner: Scanner,
    // The last message: it may be written again at once, as answers are that come bit by bit.
    held: Option<(Message, Met)>,
    met: BTreeMap<u64, Met>,
    is_rest: bool,
    needs_all: bool,
    hide: Option<Rc<dyn Hide>>,
}

/// What is to be found nowhere.
pub(crate) trait Hide: Debug {
    /// A text without it; nothing where the text has none.
    fn without(&self, text: &str) -> Option<String>;
}

#[derive(Clone, Copy, Debug)]
struct Met {
    at: u64,
    rev: u64,
    line: u64,
    size: u8,
    documents: [Option<u32>; 2],
}

impl Lines {
    /// From a line that begins at `from`.
    pub fn from(from: u64) -> Lines {
        let scanner = Scanner::forward(from);
        Lines { scanner, held: None, met: BTreeMap::new(), is_rest: from > 0, needs_all: false, hide: None }
    }

    /// The same, without what is to be found nowhere.
    #[cfg(feature = "interop")]
    pub fn hiding(self, hide: Option<Rc<dyn Hide>>) -> Lines {
        Lines { hide, ..self }
    }

    /// Takes the bytes that follow those before.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        self.scanner.feed(bytes);
        self.read(sink);
    }

    /// There are no more. Gives where the first line begins that is not whole. `takes_open`: also that one is taken, where it
    /// is a record; what is appended may still change it.
    pub fn end(&mut self, takes_open: bool, sink: &mut dyn Sink) -> u64 {
        let position = self.scanner.position();
        if takes_open {
            self.scanner.finish();
            self.read(sink);
        }
        self.put_held(sink);
        position
    }

    /// A message of this piece was said before it, and is written again: only the whole log says what it is now.
    #[cfg(feature = "interop")]
    pub fn needs_all(&self) -> bool {
        self.needs_all
    }

    fn read(&mut self, sink: &mut dyn Sink) {
        while let Some(found) = self.scanner.next() {
            if let Found::Record(record) = found
                && let Some(message) = message::read(&record).0
            {
                self.take(&record, message, sink);
            }
        }
    }

    fn take(&mut self, record: &Record, message: Message, sink: &mut dyn Sink) {
        let new = Met {
            at: record.start,
            rev: message.rev,
            line: xxh64(record.json.as_bytes(), 0),
            size: size_byte(record.span().end + 1 - record.start),
            documents: [None; 2],
        };
        if let Some((held, met)) = &mut self.held
            && held.id == message.id
            && new.rev > met.rev
        {
            (*held, *met) = (message, new);
            return;
        }
        self.put_held(sink);
        match self.met.get(&xxh64(message.id.as_bytes(), 0)) {
            Some(old) if old.line == new.line || new.rev < old.rev => return,
            Some(old) if new.rev > old.rev => {
                for field in [SAID, WORK] {
                    old.documents[field].into_iter().for_each(|number| sink.forget(field, number));
                }
            }
            Some(_) => {}
            None => self.needs_all |= self.is_rest && new.rev > 0,
        }
        self.held = Some((message, new));
    }

    fn put_held(&mut self, sink: &mut dyn Sink) {
        let Some((message, mut met)) = self.held.take() else { return };
        // Of what lies in a blob, the line has the ends.
        let message = if blob::named(&message).is_empty() { message } else { blob::folded(&message) };
        let message = match &self.hide {
            Some(hide) => hidden(message, &**hide),
            None => message,
        };
        let ms = message.timestamp.as_deref().and_then(time::parse);
        let seconds = ms.and_then(|ms| u32::try_from(ms / 1000).ok()).unwrap_or_default();
        let document = Document { at: met.at, size: met.size, seconds, role: message.role };
        let mut parts: [Vec<(Field, Cow<'_, str>)>; 2] = Default::default();
        for (field, text) in texts(&message) {
            let left = self.hide.as_ref().and_then(|hide| hide.without(&text));
            parts[usize::from(field != Field::Said)].push((field, left.map_or(text, Cow::Owned)));
        }
        for (field, texts) in parts.iter().enumerate().filter(|(_, texts)| !texts.is_empty()) {
            met.documents[field] = Some(sink.document(field, document, texts));
        }
        self.met.insert(xxh64(message.id.as_bytes(), 0), met);
    }
}

// Before its texts are cut: of a part that is left nobody can tell what it was.
fn hidden(mut message: Message, hide: &dyn Hide) -> Message {
    let calls = message.assistant.iter_mut().flat_map(|assistant| &mut assistant.tool_calls);
    for text in calls.map(|call| &mut call.arguments).chain([&mut message.content]) {
        if let Some(left) = hide.without(text.as_str()) {
            *text = left.as_str().into();
        }
    }
    message
}
