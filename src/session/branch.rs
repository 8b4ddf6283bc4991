//! Branches: which messages lie on which path of a log.
//!
//! File order is the path. A line that says `"branch":true` begins a branch; it hangs from its parent. A line belongs
//! to the branch of its parent; where it has none, or the parent is missing, to that of the line before it.
//!
//! A log with branches has no checkpoint: its paths need every id, so it is read once at each opening.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use memchr::memmem;
use xxhash_rust::xxh64::{Xxh64, xxh64};

use crate::record::message::Message;
use crate::record::scan::{Problem, ProblemCode, Record};

/// The branches of one log, as far as it was read from its start.
#[derive(Clone, Debug)]
pub struct Branches {
    // Keyed by the hash of the id, since a log may hold a million of them.
    places: BTreeMap<u64, MessagePlace>,
    // Further places of an id that has the same revision twice with other bytes.
    doubles: Vec<MessagePlace>,
    // Lines of an id besides its first one, and first lines that are revisions: the id, the revision and the bytes,
    // the first and the last hashed.
    versions: BTreeSet<(u64, u64, u32)>,
    roots: Vec<BranchRoot>,
    // The last message's id for each branch.
    lasts: Vec<String>,
    current: u32,
}

// Kept for each message of a log, so it is small.
#[derive(Clone, Copy, Debug)]
struct MessagePlace {
    start: u64,
    branch: u32,
    // Hash of the first line; 0 where that is a revision.
    bytes: u32,
}

// Where a branch begins: on which other branch, and after which of its lines.
#[derive(Clone, Copy, Debug)]
struct BranchRoot {
    parent: Option<(u32, u64)>,
}

/// One path through a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPath {
    // Each branch on the path, with the start of its last line on the path.
    branch_ends: Vec<(u32, u64)>,
}

/// What a line means for the branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEffect {
    /// The log lacks the parent that the line names.
    pub parent_is_missing: bool,
    /// The id was there before.
    pub is_repeated: bool,
    /// The id was there before with the same revision and other bytes: both are kept.
    pub is_double: bool,
    /// The id was there before with the same revision, and this line adds nothing: it does not count, wherever it
    /// stands.
    pub is_repetition: bool,
}

impl LineEffect {
    /// The problems of this line's place.
    pub fn problems(&self, record: &Record) -> Vec<Problem> {
        let problem = |code, message: &str| Problem {
            code,
            start: record.start,
            end: record.end,
            message: message.into(),
        };
        let missing = self.parent_is_missing.then(|| {
            let message = "expected the parent of the message before it, but found none";
            problem(ProblemCode::MissingParent, message)
        });
        let double = self.is_double.then(|| {
            let message = "expected the bytes that this id and revision had before, but found others instead";
            problem(ProblemCode::DuplicateId, message)
        });
        missing.into_iter().chain(double).collect()
    }
}

impl Default for Branches {
    fn default() -> Branches {
        let (places, versions) = (BTreeMap::new(), BTreeSet::new());
        let (roots, lasts) = (vec![BranchRoot { parent: None }], vec![String::new()]);
        Branches { places, doubles: Vec::new(), versions, roots, lasts, current: 0 }
    }
}

impl Branches {
    /// Takes the next message of the log, and its record.
    pub fn add_message(&mut self, message: &Message, record: &Record) -> LineEffect {
        let key = hash_text(&message.id);
        // Never 0, which marks a revision.
        let bytes = hash_line_content(&record.json, 0) as u32 | 1;
        let parent =
            message.parent_id.as_deref().and_then(|id| self.places.get(&self::hash_text(id)).copied());
        let parent_is_missing = message.parent_id.is_some() && parent.is_none();
        let start = record.start;
        let line = (key, message.rev, bytes);
        if let Some(first) = self.places.get(&key).copied() {
            let is_known = self.knows_revision(first, line);
            // Processes that import the same file may each have another answer to one question: the first counts.
            let is_again = is_known && (message.source.is_some() || self.has_line(first, line));
            let is_double = is_known && !is_again;
            if !is_again {
                // One of a message before the branch that is read takes nothing of that branch away.
                if !self.path(None).contains(&first) {
                    self.current = first.branch;
                }
                self.versions.insert(line);
            }
            if is_double {
                self.doubles.push(MessagePlace { start, branch: first.branch, bytes });
            }
            return LineEffect { parent_is_missing, is_repeated: true, is_double, is_repetition: is_again };
        }
        let on = parent.map_or(self.current, |place| place.branch);
        self.current = match message.branch {
            true => {
                let last = parent.map_or(start.saturating_sub(1), |place| place.start);
                self.roots.push(BranchRoot { parent: Some((on, last)) });
                self.lasts.push(String::new());
                self.roots.len() as u32 - 1
            }
            false => on,
        };
        self.lasts[self.current as usize].clone_from(&message.id);
        let bytes = if self.keep_revision(line) { 0 } else { bytes };
        self.places.insert(key, MessagePlace { start, branch: self.current, bytes });
        LineEffect { parent_is_missing, is_repeated: false, is_double: false, is_repetition: false }
    }

    // Records the line where the first line of its id is a revision already.
    fn keep_revision(&mut self, line: (u64, u64, u32)) -> bool {
        line.1 > 0 && self.versions.insert(line)
    }

    // Whether this further line of an id has a revision that was there before.
    fn knows_revision(&self, first: MessagePlace, (key, rev, _): (u64, u64, u32)) -> bool {
        let mut others = self.versions.range((key, rev, 0)..=(key, rev, u32::MAX));
        (rev == 0 && first.bytes > 0) || others.next().is_some()
    }

    fn has_line(&self, first: MessagePlace, line: (u64, u64, u32)) -> bool {
        (line.1 == 0 && first.bytes == line.2) || self.versions.contains(&line)
    }

    /// Whether the log has more than file order.
    pub fn is_branched(&self) -> bool {
        self.roots.len() > 1
    }

    /// The path that ends with the branch of this message; without one, of the last line.
    pub fn path(&self, leaf: Option<&str>) -> BranchPath {
        let leaf = leaf.and_then(|id| self.places.get(&hash_text(id)));
        let mut parts = Vec::new();
        let mut next = Some((leaf.map_or(self.current, |place| place.branch), u64::MAX));
        while let Some((branch, last)) = next {
            parts.push((branch, last));
            next = self.roots[branch as usize].parent;
        }
        BranchPath { branch_ends: parts }
    }

    /// The id of the last message on a path.
    pub fn last_id_of(&self, path: &BranchPath) -> &str {
        &self.lasts[path.branch_ends[0].0 as usize]
    }

    /// Whether the log has a message of this id.
    pub fn has_message(&self, id: &str) -> bool {
        self.places.contains_key(&hash_text(id))
    }

    /// Where the first line of a message begins.
    pub(crate) fn first_line_of(&self, id: &str) -> Option<u64> {
        self.places.get(&hash_text(id)).map(|place| place.start)
    }

    /// How many messages lie on a path.
    pub fn count_messages(&self, path: &BranchPath) -> u64 {
        self.places.values().chain(&self.doubles).filter(|place| path.contains(place)).count() as u64
    }

    /// Whether a message lies on a path.
    pub fn is_on(&self, path: &BranchPath, id: &str) -> bool {
        self.places.get(&hash_text(id)).is_some_and(|place| path.contains(place))
    }
}

impl BranchPath {
    fn contains(&self, place: &MessagePlace) -> bool {
        self.branch_ends.iter().any(|(branch, last)| *branch == place.branch && place.start <= *last)
    }
}

/// Hashes a text: that two of a million have the same hash has a chance of one in forty million.
pub(crate) fn hash_text(text: &str) -> u64 {
    xxh64(text.as_bytes(), 0)
}

/// Hashes a line, to give each line of a log once: imported lines of one revision count as the same.
pub(crate) fn hash_line(message: &Message, json: &str) -> u64 {
    let key = hash_text(&message.id);
    if message.source.is_some() {
        xxh64(&message.rev.to_le_bytes(), key)
    } else {
        hash_line_content(json, key)
    }
}

/// Hashes a line of a message without the number, the count and the checksum in it: two processes that write the same
/// message, as an import does, number and count it differently.
pub(crate) fn hash_line_content(json: &str, seed: u64) -> u64 {
    let bytes = json.as_bytes();
    let from = |at: usize, key: &[u8]| memmem::find(&bytes[at..], key).map(|found| at + found);
    let after = |at: usize, end: &[u8]| from(at, end).map_or(bytes.len(), |found| found + end.len() - 1);
    let mut hash = Xxh64::new(seed);
    let mut at = 0;
    for (key, end) in [(&b",\"seq\":"[..], &b","[..]), (b",\"tokens\":{", b"},"), (b",\"crc\":\"", b"\"}")] {
        if let Some(found) = from(at, key) {
            hash.update(&bytes[at..found]);
            at = after(found + key.len(), end);
        }
    }
    hash.update(&bytes[at..]);
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    // Each line: id, its parent, and `*` where it begins a branch.
    fn check(lines: &[&str], leaf: Option<&str>, expected: &str) {
        let mut branches = Branches::default();
        let mut ids: Vec<String> = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            let mut words = line.trim_end_matches('*').split('<');
            let id = words.next().unwrap_or_default().to_string();
            let parent_id = words.next().map(str::to_string);
            let message =
                Message { id: id.clone(), parent_id, branch: line.ends_with('*'), ..Message::default() };
            let start = place as u64 * 10;
            branches.add_message(&message, &Record::from_line(start, (*line).into()));
            ids.push(id);
        }
        let path = branches.path(leaf);
        let on: Vec<String> = ids.into_iter().filter(|id| branches.is_on(&path, id)).collect();
        assert_eq!(on.join(" "), expected, "{lines:?}");
    }

    #[test]
    fn lines_that_merely_share_a_parent_are_all_read_in_file_order() {
        check(&["a", "b<a", "c<a", "d<b"], None, "a b c d");
    }

    #[test]
    fn a_branch_leaves_out_what_came_after_its_parent_and_the_leaf_decides() {
        let lines = ["a", "b<a", "c<b", "d<a*", "e<d"];
        check(&lines, None, "a d e");
        check(&lines, Some("c"), "a b c");
        check(&lines, Some("nobody"), "a d e");
    }

    #[test]
    fn a_missing_parent_is_not_the_end_of_the_path() {
        check(&["a", "b<gone", "c<a*", "d<gone"], None, "a c d");
    }

    #[test]
    fn other_bytes_of_an_id_and_revision_are_another_message_and_the_same_ones_are_not() {
        let mut branches = Branches::default();
        let message = Message { id: "a".into(), ..Message::default() };
        for (place, json) in
            [r#"{"content":"x"}"#, r#"{"content":"y"}"#, r#"{"content":"x"}"#].iter().enumerate()
        {
            branches.add_message(&message, &Record::from_line(place as u64 * 100, (*json).into()));
        }
        assert_eq!(branches.count_messages(&branches.path(None)), 2);
    }

    #[test]
    fn a_revision_of_a_message_before_the_branch_leaves_the_branch_the_current_one() {
        let path_of = |lines: &[(&str, u64, Option<&str>)]| {
            let mut branches = Branches::default();
            for (place, (id, rev, parent)) in lines.iter().enumerate() {
                let message = Message {
                    id: (*id).into(),
                    rev: *rev,
                    parent_id: parent.map(Into::into),
                    branch: parent.is_some(),
                    ..Message::default()
                };
                let record = Record::from_line(place as u64 * 10, alloc::format!("{id}{rev}"));
                branches.add_message(&message, &record);
            }
            let path = branches.path(None);
            let on = |id: &&str| branches.is_on(&path, id);
            ["a", "b", "c", "d"].into_iter().filter(on).collect::<Vec<_>>().concat()
        };
        let before = [("a", 0, None), ("b", 0, None), ("c", 0, Some("a"))];
        assert_eq!(path_of(&before), "ac");
        assert_eq!(path_of(&[&before[..], &[("a", 1, None)]].concat()), "ac");
        assert_eq!(path_of(&[&before[..], &[("a", 1, None), ("d", 0, None)]].concat()), "acd");
        // One of a message that the branch leaves behind goes back to it.
        assert_eq!(path_of(&[&before[..], &[("b", 1, None)]].concat()), "ab");
    }

    #[test]
    fn a_branch_may_hang_from_a_branch() {
        let lines = ["a", "b<a", "c<a*", "d<c", "e<c*", "f<b"];
        check(&lines, Some("e"), "a c e");
        check(&lines, None, "a b f");
    }
}
