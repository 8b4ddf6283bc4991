//! A host as docs and js/ have it: it observes, stages, writes, and says what became of the write.

use leftoff::error::Code;
use leftoff::record::event::Change;
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::ScanItem;
use leftoff::session::change_request::ChangeRequest;
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::handle::Session;
use leftoff::session::log::Log;
use leftoff::time::Stamp;
use leftoff::tokens::Counting;

use crate::chance::Chance;
use crate::common::{stamp, text_message};

/// How often a batch of which nobody can say is written again.
const MAX_ATTEMPTS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Events,
    Messages,
}

/// The two files, which only ever grow, and what a write to them meets.
#[derive(Default)]
pub struct Files {
    pub events: Vec<u8>,
    pub messages: Vec<u8>,
    // What other processes write before and after the next write.
    pub foreign_before: Vec<u8>,
    pub foreign_after: Vec<u8>,
    // Of so many in eight writes nobody knows what became of them.
    pub faults: usize,
}

enum Write {
    Whole { end: usize },
    Never,
    Unknown,
}

impl Files {
    pub fn of(&mut self, name: Name) -> &mut Vec<u8> {
        match name {
            Name::Events => &mut self.events,
            Name::Messages => &mut self.messages,
        }
    }

    fn write(&mut self, name: Name, bytes: &[u8], chance: &mut Chance) -> Write {
        let (before, after) =
            (std::mem::take(&mut self.foreign_before), std::mem::take(&mut self.foreign_after));
        let is_fault = chance.number_below(8) < self.faults;
        let file = self.of(name);
        file.extend(before);
        if !is_fault {
            file.extend(bytes);
            file.extend(after);
            return Write::Whole { end: file.len() };
        }
        let written = match chance.number_below(3) {
            0 => 0,
            1 => chance.number_below(bytes.len()),
            _ => bytes.len(),
        };
        file.extend(&bytes[..written]);
        file.extend(after);
        if written == 0 && chance.one_in(2) { Write::Never } else { Write::Unknown }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    Never,
    GivenUp,
    /// The process ended after a write of which it never learned.
    Crashed,
}

pub struct Host {
    pub session: Session,
    pub is_from_checkpoint: bool,
}

impl Host {
    /// Opens the session as js/session/session.js does: by a checkpoint where there is one, and anew where that is not enough.
    pub fn open(files: &mut Files, checkpoint: Option<String>, chance: &mut Chance) -> Host {
        let read = |json: String| Checkpoint::from_json(json.as_bytes()).expect("it was just written");
        let known = checkpoint.map(read);
        let mut host = Host { is_from_checkpoint: known.is_some(), session: Session::new(known) };
        host.look_at_all(files, chance);
        if host.is_from_checkpoint && host.session.needs_whole_log() {
            return Host::open(files, None, chance);
        }
        host
    }

    /// Reads all where a checkpoint does not carry as far as what came after it.
    pub fn complete(&mut self, files: &mut Files, chance: &mut Chance) {
        if self.session.needs_whole_log() {
            *self = Host::open(files, None, chance);
        }
    }

    fn log(&mut self, name: Name) -> &mut Log {
        match name {
            Name::Events => self.session.events(),
            Name::Messages => self.session.messages(),
        }
    }

    fn take(&mut self, name: Name, found: Vec<ScanItem>) {
        match name {
            Name::Events => self.session.take_events(found),
            Name::Messages => self.session.take_messages(found),
        };
    }

    /// Feeds what a file gained, in pieces.
    pub fn look(&mut self, files: &mut Files, name: Name, chance: &mut Chance) {
        let file = files.of(name).clone();
        loop {
            let at = self.log(name).observed_end() as usize;
            let end = (at + 1 + chance.number_below(2_000)).min(file.len());
            let found = self.log(name).observe(&file[at..end], at as u64).expect("the bytes that follow");
            self.take(name, found);
            if end == file.len() {
                return;
            }
        }
    }

    pub fn look_at_all(&mut self, files: &mut Files, chance: &mut Chance) {
        for name in [Name::Events, Name::Messages] {
            self.look(files, name, chance);
            let found = self.log(name).observe_tail();
            self.take(name, found);
        }
    }

    /// Folds what came since into what it knows of the conversation, in pieces.
    pub fn learn(&mut self, files: &Files, chance: &mut Chance) {
        while let Some(span) = self.session.unfolded_span() {
            let end = (span.start as usize + 1 + chance.number_below(2_000)).min(span.end as usize);
            self.session.fold_bytes(&files.messages[span.start as usize..end]);
        }
    }

    /// What became of the batch, and its lines.
    pub fn append_messages(
        &mut self,
        files: &mut Files,
        drafts: Vec<Message>,
        stamp: &Stamp,
        chance: &mut Chance,
    ) -> (Outcome, Vec<String>) {
        self.look(files, Name::Messages, chance);
        let staged =
            self.session.stage_messages(drafts, stamp, Counting::Estimate).expect("no batch is open");
        let bytes = staged.bytes;
        let text = String::from_utf8(bytes.clone()).expect("leftoff writes UTF-8");
        let lines = text.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect();
        (self.write(files, Name::Messages, bytes, chance), lines)
    }

    pub fn append_events(
        &mut self,
        files: &mut Files,
        changes: Vec<Change>,
        stamp: &Stamp,
        chance: &mut Chance,
    ) -> Outcome {
        self.look(files, Name::Events, chance);
        let asked = changes.into_iter().map(ChangeRequest::from).collect();
        match self.session.stage_changes(asked, stamp) {
            Ok(bytes) if bytes.is_empty() => Outcome::Never,
            Ok(bytes) => self.write(files, Name::Events, bytes, chance),
            Err(error) if error.code == Code::InvalidTransition => Outcome::Never,
            Err(error) => panic!("no batch is open, but {error}"),
        }
    }

    fn write(&mut self, files: &mut Files, name: Name, mut bytes: Vec<u8>, chance: &mut Chance) -> Outcome {
        let start = self.log(name).observed_end() as usize;
        for attempt in 0..MAX_ATTEMPTS {
            self.refuses_another_batch(name, Code::BatchOpen);
            match files.write(name, &bytes, chance) {
                Write::Whole { end } => {
                    let is_alone = attempt == 0 && end == start + bytes.len();
                    if !is_alone {
                        self.look(files, name, chance);
                    }
                    let found = self.log(name).commit(if is_alone { start as u64 } else { 0 });
                    let found = found.unwrap_or_else(|error| panic!("the batch is in the file, but {error}"));
                    self.take(name, found);
                    return Outcome::Committed;
                }
                Write::Never if attempt == 0 => {
                    self.log(name).abort().expect("a batch is open");
                    return Outcome::Never;
                }
                Write::Never | Write::Unknown => {
                    if chance.one_in(6) {
                        return Outcome::Crashed;
                    }
                    bytes = self.log(name).mark_in_doubt().expect("a batch is open");
                    if chance.one_in(3) {
                        self.look(files, name, chance);
                    }
                }
            }
        }
        self.log(name).abort().expect("a batch is open");
        self.refuses_another_batch(name, Code::ObserveFirst);
        Outcome::GivenUp
    }

    fn refuses_another_batch(&mut self, name: Name, why: Code) {
        let stamp = stamp(0);
        let refused = match name {
            Name::Events => {
                self.session.stage_changes(vec![ChangeRequest::from(Change::Archived)], &stamp).err()
            }
            Name::Messages => {
                self.session.stage_messages(vec![text_message(Role::User, "")], &stamp, Counting::Off).err()
            }
        };
        assert_eq!(refused.map(|error| error.code), Some(why));
    }
}
