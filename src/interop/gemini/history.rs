//! The conversation as the client has it: its messages in force, which it may write anew.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::gemini::record::Record;
use crate::interop::gemini::{CONTEXT_TAG, SUMMARY_REPLY, SUMMARY_TAG};
use crate::shapes::answer_pieces::TEXT_SEPARATOR;

/// A client's message, and the messages it became here. The client may name it again and again, so its parts are
/// shared.
#[derive(Clone, Default)]
pub(super) struct HistoryEntry {
    /// The index of its message, unless it only gives results.
    pub message_index: Option<usize>,
    /// The first result that was read in it.
    pub result_index: Option<usize>,
    /// The calls whose results were read in it.
    pub calls: Rc<Vec<String>>,
    /// Its words; see `Record::key`.
    pub key: Rc<str>,
    pub is_answer: bool,
    /// True if it was said where it stands.
    pub is_new: bool,
}

impl HistoryEntry {
    pub fn first(&self) -> Option<usize> {
        self.message_index.into_iter().chain(self.result_index).min()
    }
}

#[derive(Default)]
pub(super) struct History {
    entries: Vec<(String, HistoryEntry)>,
    places: BTreeMap<String, usize>,
    // The next entry that the client writes anew, while it does so line by line.
    rewrite_index: Option<usize>,
    // The number of entries when that began, and the entry of the line that was found last.
    rewrite_end: usize,
    repeated_entry: HistoryEntry,
    /// True if the next message stands for what is left out.
    pub makes_room: bool,
}

/// The meaning of the messages in a `$set`.
pub(super) struct CheckpointPlan {
    /// For each message, the entry that it is already, if any.
    pub known_entries: Vec<Option<HistoryEntry>>,
    pub dropped_end: Vec<HistoryEntry>,
    pub is_rewind: bool,
    pub makes_room: bool,
}

impl History {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    pub fn entry(&self, at: usize) -> Option<&HistoryEntry> {
        self.entries.get(at).map(|(_, entry)| entry)
    }

    pub fn set_entry(&mut self, at: usize, entry: HistoryEntry) {
        if let Some((_, old)) = self.entries.get_mut(at) {
            *old = entry;
        }
    }

    pub fn push(&mut self, id: String, entry: HistoryEntry) {
        if !id.is_empty() {
            self.places.insert(id.clone(), self.entries.len());
        }
        self.entries.push((id, entry));
    }

    /// Adds an entry that says nothing.
    pub fn push_silent(&mut self, id: String) {
        if self.find(&id).is_none() {
            self.push(id, HistoryEntry::default());
        }
    }

    /// Adds the message that `find_repeated` found.
    pub fn push_repeated(&mut self, id: String) {
        let entry = core::mem::take(&mut self.repeated_entry);
        self.push(id, entry);
    }

    /// Removes all entries from an index on.
    pub fn cut_from(&mut self, at: usize) -> Vec<HistoryEntry> {
        self.rewrite_index = None;
        let taken: Vec<(String, HistoryEntry)> = self.entries.split_off(at.min(self.entries.len()));
        taken
            .into_iter()
            .map(|(id, entry)| {
                self.places.remove(&id);
                entry
            })
            .collect()
    }

    /// True if a message under a new id repeats the next of the earlier ones. Repeating begins where the session's
    /// context comes again; the client makes one message of several that a user sent in a row.
    pub fn find_repeated(&mut self, record: &Record) -> bool {
        if !record.is_answer && record.text.as_str().starts_with(CONTEXT_TAG) && !self.entries.is_empty() {
            self.rewrite_index = Some(0);
            self.rewrite_end = self.entries.len();
        }
        // Results are known by their calls.
        let Some(mut at) = self.rewrite_index.filter(|_| record.says_something()) else { return false };
        let key = record.key();
        let mut rest = &*key;
        let mut found = None;
        while at < self.rewrite_end && (found.is_none() || !rest.is_empty()) {
            let HistoryEntry { message_index, key, is_answer, .. } = &self.entries[at].1;
            if message_index.is_some() {
                let behind = rest.strip_prefix(&**key).filter(|_| !key.is_empty() || rest.is_empty());
                let behind = behind.filter(|_| *is_answer == record.is_answer);
                let Some(behind) = behind else { break };
                rest = behind.strip_prefix(TEXT_SEPARATOR).unwrap_or(behind);
                found = found.or(Some(at));
            }
            at += 1;
        }
        let found = found.filter(|_| rest.is_empty());
        self.rewrite_index = found.map(|_| at);
        self.repeated_entry =
            found.map(|found| HistoryEntry { key, ..self.entries[found].1.clone() }).unwrap_or_default();
        found.is_some()
    }

    /// Compares it with the messages of a `$set`.
    pub fn compare(self, read: &[Record]) -> CheckpointPlan {
        let History { entries, places, .. } = self;
        let mut is_kept = Vec::from_iter(entries.iter().map(|_| false));
        let mut known: Vec<Option<usize>> = Vec::new();
        for record in read {
            let at = record.id.as_ref().and_then(|id| places.get(id)).copied();
            if let Some(at) = at {
                is_kept[at] = true;
            }
            known.push(at);
        }
        // A message under another id is one of those that are not there under theirs.
        let keys: Vec<Rc<str>> = read.iter().map(Record::key).collect();
        let mut by_key: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
        for (at, (_, entry)) in entries.iter().enumerate().rev() {
            if entry.message_index.is_some() && !entry.key.is_empty() && !is_kept[at] {
                by_key.entry((entry.is_answer, &entry.key)).or_default().push(at);
            }
        }
        let mut from = 0;
        let unknown = read.iter().zip(&keys).zip(&mut known).filter(|(_, known)| known.is_none());
        for ((record, key), known) in unknown {
            let Some(places) = by_key.get_mut(&(record.is_answer, &**key)) else { continue };
            while places.last().is_some_and(|at| *at < from) {
                places.pop();
            }
            if let Some(at) = places.pop() {
                is_kept[at] = true;
                from = at;
                *known = Some(at);
            }
        }
        let is_new = |place: usize| known[place].is_none() && read[place].says_something();
        let last_known = known.iter().rposition(Option::is_some);
        let makes_room = (0..read.len()).filter(|place| is_new(*place)).any(|place| {
            let text = read[place].text.as_str();
            last_known.is_some_and(|last| place < last)
                || text.starts_with(SUMMARY_TAG)
                || (read[place].is_answer && &*read[place].key() == SUMMARY_REPLY)
        });
        let end = is_kept.iter().rposition(|kept| *kept).map_or(0, |last| last + 1);
        let dropped_end: Vec<HistoryEntry> = entries[end..].iter().map(|(_, entry)| entry.clone()).collect();
        let is_rewind = !makes_room && dropped_end.iter().any(|entry| entry.first().is_some());
        let known = known.into_iter().map(|at| at.map(|at| entries[at].1.clone())).collect();
        CheckpointPlan { known_entries: known, dropped_end, is_rewind, makes_room }
    }
}
