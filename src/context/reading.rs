//! Reads a log backward, and required messages by their place.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::frame::Frame;
use crate::context::report::CompactionStart;
use crate::context::steps::{Item, to_standalone};
use crate::context::summary::SummaryInput;
use crate::error::{Code, Error};
use crate::record::blob::{self, BlobRestoration};
use crate::record::message::{self, Message, Role};
use crate::record::scan::{Record, ScanItem, Scanner};
use crate::record::span::Span;
use crate::session::context_source::{CompactionPoint, ContextSource};
use crate::tokens::cost;

const MIN_READ_BYTES: u64 = 16 * 1024;
const MAX_READ_BYTES: u64 = 1024 * 1024;
// The bytes of a line per token, assumed until a line was read.
const BYTES_PER_TOKEN: u64 = 4;

impl ContextSource {
    /// Returns the input of a summary.
    pub fn summary_input<'a>(&'a self, pins: &'a [String]) -> SummaryInput<'a> {
        SummaryInput { state: &self.state, project: &self.project, pins }
    }
}

/// The part of a log read so far: its end, and required messages far from it.
#[derive(Debug)]
pub(crate) struct Reading {
    source: ContextSource,
    // The offset before which nothing is read, except required messages.
    floor: u64,
    // The lines of messages of whose blobs only the ends are shown.
    folded: BTreeSet<u64>,
    // True if each blob is judged by itself, as in a frame: what stands before it may not change its form.
    judges_alone: bool,
    // The required messages, by the offset of their line.
    required_spans: BTreeMap<u64, Span>,
    scanner: Scanner,
    requested: Option<RequestedRange>,
    // The messages read, newest first.
    read_items: Vec<Item>,
    // The required messages that were read by their place; `None` if no message of the path lies there.
    standalone_items: BTreeMap<u64, Option<Item>>,
    // How far back the bytes were read, and how far the lines: the oldest line may not be whole yet.
    read_from: u64,
    lines_from: u64,
    // The offset after the last compacted message, once it was reached.
    begins_at: Option<u64>,
    bytes_read: u64,
    guess: u64,
    // Messages that name blobs, with the offset of their line, newest first, until it is known whether they may fit.
    unfolding: VecDeque<(u64, BlobRestoration)>,
    blob_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedRange {
    Older(Span),
    Apart(Span),
}

impl RequestedRange {
    fn span(self) -> Span {
        match self {
            RequestedRange::Older(span) | RequestedRange::Apart(span) => span,
        }
    }
}

impl Reading {
    pub fn new(source: ContextSource) -> Reading {
        let user = source.newest_user.iter().chain(&source.newest_user_first);
        let required = source.systems.iter().chain(&source.pins).chain(user);
        Reading {
            required_spans: required.map(|span| (span.start, *span)).collect(),
            scanner: Scanner::backward(source.end),
            requested: None,
            read_items: Vec::new(),
            standalone_items: BTreeMap::new(),
            read_from: source.end,
            lines_from: source.end,
            begins_at: None,
            bytes_read: 0,
            guess: 0,
            unfolding: VecDeque::new(),
            blob_bytes: 0,
            floor: 0,
            folded: BTreeSet::new(),
            judges_alone: false,
            source,
        }
    }

    /// Reads what a frame holds: its required messages, and all from where its run begins.
    pub fn in_frame(source: ContextSource, frame: &Frame) -> Reading {
        let all = Reading::new(source);
        let of_run = all.required_spans.range(frame.start..).map(|(_, span)| span);
        Reading {
            required_spans: frame.required.iter().chain(of_run).map(|span| (span.start, *span)).collect(),
            floor: frame.start,
            folded: frame.folded.clone(),
            judges_alone: true,
            ..all
        }
    }

    /// Returns the lines of required messages before this offset.
    pub fn required_before(&self, start: u64) -> Vec<Span> {
        self.required_spans.range(..start).map(|(_, span)| *span).collect()
    }

    /// Returns where the lines of messages begin of whose blobs only the ends are shown.
    pub fn folded_lines(&self) -> &BTreeSet<u64> {
        &self.folded
    }

    /// Returns where a context that has everything begins.
    pub fn begin(&self) -> u64 {
        self.begins_at.unwrap_or(self.floor)
    }

    /// Returns the source of the log.
    pub fn source(&self) -> &ContextSource {
        &self.source
    }

    /// Returns the number of messages of the path.
    pub fn message_count(&self) -> u64 {
        self.source.message_count
    }

    /// Returns the input of a summary. Pinned messages are in each context, so they need no place in it.
    pub fn summary_input(&self) -> SummaryInput<'_> {
        self.source.summary_input(&[])
    }

    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// True once all was read that a context may have.
    pub fn is_complete(&self) -> bool {
        self.read_from <= self.floor || self.begins_at.is_some()
    }

    /// Returns the offset of the oldest line that was read.
    pub fn lines_from(&self) -> u64 {
        self.lines_from
    }

    /// Returns where the messages of a compacted conversation begin, as far as that was read.
    pub fn compaction_start(&self) -> Option<CompactionStart> {
        let through = self.source.compaction.as_ref()?.last_message_id.clone();
        Some(CompactionStart { through, end_byte: self.begins_at })
    }

    /// Returns the offset of the log's end.
    pub fn end(&self) -> u64 {
        self.source.end
    }

    /// Returns the compaction in force.
    pub fn compaction(&self) -> Option<&CompactionPoint> {
        self.source.compaction.as_ref()
    }

    /// True if no line of an older message lies farther back.
    pub fn is_read_to_start(&self) -> bool {
        self.read_from == 0 && self.begins_at.is_none()
    }

    /// Estimates the least cost of the messages read so far. It decides how much to read, never what fits.
    pub fn guess(&self) -> u64 {
        self.guess
    }

    /// Returns the range to read next: older bytes until the guess exceeds `aim`, then required messages.
    pub fn next_range(&mut self, aim: u64) -> Option<Span> {
        let knows_user = self.source.newest_user.is_some() || self.source.message_count == 0;
        let has_user = || self.read_items.iter().any(|item| item.message.role == Some(Role::User));
        self.requested = if !self.is_complete() && (self.guess <= aim || !(knows_user || has_user())) {
            let size = self.missing_bytes(aim).clamp(MIN_READ_BYTES, MAX_READ_BYTES);
            Some(RequestedRange::Older(Span {
                start: self.read_from.saturating_sub(size).max(self.floor),
                end: self.read_from,
            }))
        } else {
            let mut far = self.required_spans.range(..self.lines_from);
            far.find(|(start, _)| !self.standalone_items.contains_key(start))
                .map(|(_, span)| RequestedRange::Apart(*span))
        };
        self.requested.map(RequestedRange::span)
    }

    // Returns how many bytes to read until the guess exceeds `aim`, if older lines are like those that were read; at
    // least the rest of a line that is not whole, however long it is.
    fn missing_bytes(&self, aim: u64) -> u64 {
        let open = self.lines_from - self.read_from;
        if self.guess > aim {
            return self.bytes_read;
        }
        let lines = self.source.end - self.lines_from;
        let bytes = match self.guess {
            0 => aim.saturating_mul(BYTES_PER_TOKEN),
            guess => (aim - guess).saturating_mul(lines) / guess,
        };
        // A little more, so that the last message seldom takes a read of its own.
        bytes.saturating_add(bytes / 32).saturating_sub(open).max(open)
    }

    /// Takes the requested bytes.
    ///
    /// # Errors
    /// `invalid_request` if another range was requested.
    pub fn take(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let found = Span { start, end: start.saturating_add(bytes.len() as u64) };
        match self.requested.take_if(|requested| requested.span() == found) {
            Some(RequestedRange::Older(_)) => self.take_older(start, bytes),
            Some(RequestedRange::Apart(span)) => self.take_apart(span, bytes),
            None => return Err(unexpected_range_error(self.requested, found)),
        }
        self.bytes_read += bytes.len() as u64;
        Ok(())
    }

    /// Returns the blob to read next. Messages whose blobs exceed `most_bytes` together show only their ends.
    pub fn next_blob(&mut self, most_bytes: u64) -> Option<String> {
        while let Some((start, unfolding)) = self.unfolding.pop_front() {
            let Some(id) = unfolding.next_blob().map(String::from) else {
                self.replace_message(start, unfolding.into_message());
                continue;
            };
            let others = if self.judges_alone { 0 } else { self.blob_bytes };
            if self.folded.contains(&start) || others + unfolding.pending_bytes() > most_bytes {
                self.folded.insert(start);
                continue;
            }
            self.unfolding.push_front((start, unfolding));
            return Some(id);
        }
        None
    }

    /// Takes a requested blob; false if the bytes are not that blob. Without it, the ends of its text stay.
    pub fn take_blob(&mut self, id: &str, bytes: Option<&[u8]>) -> bool {
        let Some((_, unfolding)) = self.unfolding.front_mut() else { return true };
        let before = unfolding.pending_bytes();
        let is_that = unfolding.take(id, bytes).is_ok();
        if is_that {
            self.blob_bytes += before.saturating_sub(unfolding.pending_bytes());
        }
        is_that
    }

    fn replace_message(&mut self, start: u64, message: Message) {
        let is_there = |item: &&mut Item| item.start == Some(start);
        if let Some(item) = self.items().find(is_there) {
            *item = Item::new(message, Some(start));
        }
    }

    /// True if a line from this offset on revises a message whose first line was not read.
    pub fn revises_older(&self, since: u64) -> bool {
        let is_first = |item: &&Item| self.is_first_line(&item.message, item.start.unwrap_or_default());
        let is_later = |item: &&Item| item.start >= Some(since) && !is_first(item);
        let mut later = self.read_items.iter().filter(is_later).peekable();
        if later.peek().is_none() {
            return false;
        }
        let firsts: BTreeSet<&str> =
            self.read_items.iter().filter(is_first).map(|item| item.message.id.as_str()).collect();
        later.any(|item| !firsts.contains(item.message.id.as_str()))
    }

    // True if no earlier line of the log has this message.
    fn is_first_line(&self, message: &Message, start: u64) -> bool {
        message.rev == 0 || Span::any_holds(&self.source.firsts, start)
    }

    /// Returns every message that was read, so that it can be priced.
    pub fn items(&mut self) -> impl Iterator<Item = &mut Item> {
        self.read_items.iter_mut().chain(self.standalone_items.values_mut().flatten())
    }

    /// Returns the messages read, oldest first. A revised message appears once, as its highest revision, in the place
    /// of the first; different lines of that revision are all kept. If the first was not read, it is older than all
    /// that was, and appears only if it is required.
    pub fn ordered_items(&self) -> Vec<Item> {
        let apart = self.standalone_items.range(..self.lines_from).filter_map(|(_, item)| item.as_ref());
        let lines: Vec<&Item> = apart.chain(self.read_items.iter().rev()).collect();
        let mut highest: BTreeMap<&str, u64> = BTreeMap::new();
        let mut required: BTreeSet<&str> = BTreeSet::new();
        for item in &lines {
            let rev = highest.entry(&item.message.id).or_default();
            *rev = item.message.rev.max(*rev);
            required.extend(self.is_required(item).then_some(item.message.id.as_str()));
        }
        let mut placed: Vec<(u64, Option<&Item>)> = Vec::new();
        // For each id, the places of its lines in `placed`; empty if it is left out.
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for item in lines {
            let (id, rev) = (item.message.id.as_str(), item.message.rev);
            let kept = (rev == highest[id]).then_some(item);
            let start = item.start.unwrap_or_default();
            let Some(known) = places.get_mut(id) else {
                let is_older = !self.is_read_to_start() && !self.is_first_line(&item.message, start);
                let is_left_out = is_older && !required.contains(id);
                places.insert(id, if is_left_out { Vec::new() } else { Vec::from([placed.len()]) });
                if !is_left_out {
                    placed.push((if is_older { start.min(self.lines_from) } else { start }, kept));
                }
                continue;
            };
            let Some(first) = known.first().copied().filter(|_| kept.is_some()) else { continue };
            let is_imported = item.message.source.is_some();
            let says_it = |one: &Item| is_imported || one.message.says_the_same(&item.message);
            let is_known = |place: &usize| placed[*place].1.is_some_and(says_it);
            if placed[first].1.is_none() {
                placed[first].1 = kept;
            } else if !known.iter().any(is_known) {
                known.push(placed.len());
                placed.push((start, kept));
            }
        }
        placed.sort_by_key(|(place, _)| *place);
        let mut items: Vec<Item> =
            placed.into_iter().filter_map(|(place, item)| Some(self.place_item(item?, place))).collect();
        if let Some(user) = items.iter_mut().rfind(|item| item.message.role == Some(Role::User)) {
            (user.is_required, user.is_newest_user) = (true, true);
        }
        items
    }

    fn is_required(&self, item: &Item) -> bool {
        item.start.is_some_and(|start| self.required_spans.contains_key(&start))
    }

    fn place_item(&self, item: &Item, place: u64) -> Item {
        Item { is_required: self.is_required(item), place, ..item.clone() }
    }

    fn take_older(&mut self, start: u64, bytes: &[u8]) {
        self.scanner.feed(bytes);
        self.read_from = start;
        self.drain();
        if start <= self.floor {
            self.scanner.finish();
            self.drain();
        }
    }

    fn drain(&mut self) {
        while self.begins_at.is_none()
            && let Some(found) = self.scanner.next()
        {
            let record = match found {
                ScanItem::Record(record) => record,
                ScanItem::Problem(problem) => {
                    self.lines_from = self.lines_from.min(problem.start);
                    continue;
                }
            };
            if Span::any_holds(&self.source.skipped, record.start) {
                self.lines_from = record.start;
                continue;
            }
            let message = self.on_path(&record);
            if let Some(last) =
                message.as_ref().filter(|message| self.is_summed_up_with(message, record.span()))
            {
                // The same line again adds nothing.
                self.read_items.retain(|item| item.message.id != last.id || item.message.rev > last.rev);
                self.begins_at = Some(record.end);
                return;
            }
            self.lines_from = record.start;
            if let Some(message) = message {
                let item = Item::new(self.defer_blobs(record.start, message), Some(record.start));
                self.guess += u64::from(item.guess());
                self.read_items.push(item);
            }
        }
    }

    // The line of a later revision lies behind its message's place.
    fn is_summed_up_with(&self, message: &Message, Span { start, end }: Span) -> bool {
        let is_there = |one: &CompactionPoint| one.end_byte.is_none_or(|own_end| own_end == end);
        let is_first = self.is_first_line(message, start);
        let compacted = self.source.compaction.as_ref();
        compacted.is_some_and(|one| one.last_message_id == message.id && is_first && is_there(one))
    }

    fn take_apart(&mut self, Span { start, end }: Span, bytes: &[u8]) {
        let json = String::from_utf8_lossy(bytes).into_owned();
        let message = self.on_path(&Record { end, ..Record::from_line(start, json) });
        // A result becomes text only where its call is found missing: until then nobody takes it for the user's words.
        let is_result = |message: &Message| message.role == Some(Role::Tool);
        let message =
            message.map(|message| if is_result(&message) { message } else { to_standalone(message) });
        let item = message.map(|message| Item::new(self.defer_blobs(start, message), Some(start)));
        self.standalone_items.insert(start, item);
    }

    // Keeps the ends of texts in blobs; the whole text replaces them if it may fit.
    fn defer_blobs(&mut self, start: u64, message: Message) -> Message {
        if blob::blob_ids(&message).is_empty() {
            return message;
        }
        let folded = blob::truncate_blobs(&message);
        self.unfolding.push_back((start, BlobRestoration::new(message)));
        folded
    }

    fn on_path(&self, record: &Record) -> Option<Message> {
        let path = self.source.path.as_ref();
        let mut message = message::read(record).0?;
        if cost::trusted_count(record, &message).is_none() {
            message.tokens = None;
        }
        path.is_none_or(|(branches, path)| branches.is_on(path, &message.id)).then_some(message)
    }
}

fn unexpected_range_error(requested: Option<RequestedRange>, found: Span) -> Error {
    let requested = requested
        .map(RequestedRange::span)
        .map_or("no bytes".into(), |span| format!("bytes {}..{}", span.start, span.end));
    let message = format!("expected {requested}, but found bytes {}..{} instead", found.start, found.end);
    Error::new(Code::InvalidRequest, message)
}
