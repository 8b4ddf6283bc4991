//! Two hosts on one session, other processes beside them, and what has to be true whatever they do.

use std::collections::{BTreeMap, BTreeSet};

use leftoff::record::event::{Change, Subject};
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::{Record, ScanItem, scan};
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::handle::Session;
use leftoff::time::Stamp;

use super::host::{Files, Host, Name, Outcome};
use crate::chance::Chance;
use crate::common::{stamp, text_message};
use crate::lines::seal_line;

pub struct World {
    name: String,
    chance: Chance,
    files: Files,
    hosts: Vec<Host>,
    /// The lines of which a host was told that they are in the file.
    pub committed_lines: Vec<String>,
    // Those that a host was told never got in.
    aborted_lines: Vec<String>,
    pub given_up: usize,
    // The highest revision of each committed id, so that two hosts never write the same one.
    revisions: BTreeMap<String, u64>,
    stamps: u64,
}

impl World {
    pub fn new(mut chance: Chance, name: String) -> World {
        let mut files = Files { faults: chance.number_below(6), ..Files::default() };
        let hosts = (0..2).map(|_| Host::open(&mut files, None, &mut chance)).collect();
        World {
            name,
            chance,
            files,
            hosts,
            committed_lines: Vec::new(),
            aborted_lines: Vec::new(),
            given_up: 0,
            revisions: BTreeMap::new(),
            stamps: 0,
        }
    }

    pub fn step(&mut self) {
        let old = [self.files.events.clone(), self.files.messages.clone()];
        let host = self.chance.number_below(2);
        match self.chance.number_below(12) {
            0..=5 => self.append_messages(host),
            6 | 7 => self.append_events(host),
            8 => {
                let bytes = self.by_others(Name::Messages);
                self.files.messages.extend(bytes);
            }
            9 => self.reopen(host),
            10 => self.hosts[host].look_at_all(&mut self.files, &mut self.chance),
            _ => self.knows_what_a_new_host_learns(host),
        }
        for (old, name) in old.iter().zip([Name::Events, Name::Messages]) {
            let new = self.files.of(name);
            assert!(new.starts_with(old), "{}", self.name);
            let (old, new) = (jsons(old), jsons(new));
            assert_eq!(old, new[..old.len()], "{}: what was read before is read again", self.name);
        }
    }

    /// What has to be true at the end of each sequence.
    pub fn end(&mut self) {
        for host in 0..2 {
            self.knows_what_a_new_host_learns(host);
        }
        let lines = jsons(&self.files.messages);
        for line in &self.committed_lines {
            assert!(lines.contains(line), "{}: {line} is lost", self.name);
        }
        for line in &self.aborted_lines {
            assert!(!lines.contains(line), "{}: {line} was said to have never been written", self.name);
        }
        let ids: Vec<String> = lines.iter().map(|line| field(line, "id")).collect();
        let distinct: BTreeSet<&String> = ids.iter().collect();
        let mut session = Session::new(None);
        let mut found = session.messages().observe(&self.files.messages, 0).expect("the first observation");
        found.extend(session.messages().observe_tail());
        session.take_messages(found);
        assert_eq!(session.log_state().messages, distinct.len() as u64, "{}: each is there once", self.name);
    }

    fn stamp(&mut self) -> Stamp {
        self.stamps += 1;
        let Stamp { now_ms, .. } = stamp(0);
        Stamp { now_ms: now_ms + self.stamps as i64, ..stamp(self.stamps) }
    }

    fn append_messages(&mut self, host: usize) {
        let drafts = (0..1 + self.chance.number_below(3)).map(|_| self.draft()).collect();
        self.disturb(Name::Messages);
        let stamp = self.stamp();
        let World { files, hosts, chance, .. } = self;
        let (outcome, lines) = hosts[host].append_messages(files, drafts, &stamp, chance);
        match outcome {
            Outcome::Committed => {
                for line in &lines {
                    let revision = field(line, "rev").parse().unwrap_or(0);
                    self.revisions.insert(field(line, "id"), revision);
                }
                self.committed_lines.extend(lines);
            }
            Outcome::Never => self.aborted_lines.extend(lines),
            Outcome::GivenUp => self.given_up += 1,
            Outcome::Crashed => self.reopen(host),
        }
    }

    fn append_events(&mut self, host: usize) {
        let changes = (0..1 + self.chance.number_below(2)).map(|_| self.change()).collect();
        self.disturb(Name::Events);
        let stamp = self.stamp();
        let World { files, hosts, chance, .. } = self;
        if hosts[host].append_events(files, changes, &stamp, chance) == Outcome::Crashed {
            self.reopen(host);
        }
    }

    // New, or one that was said before and is written again.
    fn draft(&mut self) -> Message {
        let role = [Role::User, Role::Assistant, Role::System][self.chance.number_below(3)];
        let content = ["", "words", "two\nlines", "{\"v\":1,", "ünï 🙂"][self.chance.number_below(5)];
        let draft = text_message(role, content);
        if self.chance.one_in(8)
            && let Some(id) = self.some_id()
        {
            let rev = self.revisions.get(&id).map_or(1, |rev| rev + 1);
            self.revisions.insert(id.clone(), rev);
            return Message { id, rev, ..draft };
        }
        if self.chance.one_in(12) {
            return Message { branch: true, parent_id: self.some_id(), ..draft };
        }
        draft
    }

    fn change(&mut self) -> Change {
        let subject = Subject { message_id: self.some_id().unwrap_or_default() };
        match self.chance.number_below(5) {
            0 => Change::Title { title: format!("title {}", self.stamps) },
            1 => Change::Archived,
            2 => Change::Pin(subject),
            3 => Change::Unpin(subject),
            _ => Change::Leaf(subject),
        }
    }

    fn some_id(&mut self) -> Option<String> {
        let many = self.revisions.len();
        (many > 0)
            .then(|| self.revisions.keys().nth(self.chance.number_below(many)).expect("one of them").clone())
    }

    fn disturb(&mut self, name: Name) {
        if self.chance.one_in(4) {
            self.files.foreign_before = self.by_others(name);
        }
        if self.chance.one_in(4) {
            self.files.foreign_after = self.by_others(name);
        }
    }

    // A whole line, a line behind a seal, a line that was cut, or a mere line feed.
    fn by_others(&mut self, name: Name) -> Vec<u8> {
        self.stamps += 1;
        let line = match name {
            Name::Messages => {
                seal_line(&format!("\"id\":\"other-{}\",\"role\":\"user\",\"content\":\"é\"", self.stamps))
            }
            Name::Events => {
                seal_line(&format!("\"id\":\"other-{}\",\"type\":\"title\",\"title\":\"é\"", self.stamps))
            }
        };
        match self.chance.number_below(4) {
            0 => line.as_bytes()[..1 + self.chance.number_below(line.len() - 1)].to_vec(),
            1 => b"\n".to_vec(),
            2 => format!("\n{line}\n").into_bytes(),
            _ => format!("{line}\n").into_bytes(),
        }
    }

    // Its process ended; another one opens the session, with what the first one kept or without.
    fn reopen(&mut self, host: usize) {
        let kept =
            self.hosts[host].session.checkpoint().filter(|known| known.messages > 0).map(Checkpoint::to_json);
        let kept = kept.filter(|_| self.chance.one_in(2));
        self.hosts[host] = Host::open(&mut self.files, kept, &mut self.chance);
    }

    fn knows_what_a_new_host_learns(&mut self, host: usize) {
        let World { files, hosts, chance, name, .. } = self;
        hosts[host].look_at_all(files, chance);
        hosts[host].complete(files, chance);
        hosts[host].learn(files, chance);
        let mut new = Host::open(files, None, chance);
        new.learn(files, chance);
        let (old, new) = (&mut hosts[host].session, &mut new.session);
        assert_eq!(state(old), state(new), "{name}");
        assert_eq!(old.metadata(), new.metadata(), "{name}");
        assert_eq!(old.checkpoint().is_some(), new.checkpoint().is_some(), "{name}");
        for log in [Session::events, Session::messages] {
            assert_eq!(
                (log(old).observed_end(), log(old).covered_end()),
                (log(new).observed_end(), log(new).covered_end()),
                "{name}"
            );
        }
    }
}

// A torn tail that was reported, and then sealed, is two problems to who saw both; and the version is that of the
// document. Where a message lies that is pinned later, only a handle learns that reads the messages again.
fn state(session: &Session) -> serde_json::Value {
    let mut known: serde_json::Value = serde_json::from_str(&session.log_state().to_json()).expect("JSON");
    let fields = known.as_object_mut().expect("an object");
    for name in ["problems", "version", "pins", "crc"] {
        assert!(fields.remove(name).is_some(), "{name}");
    }
    // What it was called by while they read it.
    fields["titles"].as_object_mut().expect("an object").remove("before");
    known
}

fn jsons(log: &[u8]) -> Vec<String> {
    let json = |found| match found {
        ScanItem::Record(Record { json, .. }) => Some(json),
        ScanItem::Problem(_) => None,
    };
    scan(log).into_iter().filter_map(json).collect()
}

fn field(line: &str, name: &str) -> String {
    let object: serde_json::Value = serde_json::from_str(line).expect("a record is JSON");
    object[name].as_str().map_or_else(|| object[name].to_string(), str::to_owned)
}
