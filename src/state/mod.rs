//! What a conversation has come to: the task, files changed, commands that failed, open tasks, and the sentences worth
//! keeping. It is extracted from tool calls and texts, without a model.
//!
//! It is folded from the messages one after another, bounded in size, and kept in the checkpoint. So a summary of a
//! million messages is made without reading them again.

mod cues;
mod errors;
mod line;
mod sentences;
mod shell;
mod shown;
#[cfg(feature = "interop")]
pub mod stopping;
mod tool_effects;
#[cfg(feature = "interop")]
pub(crate) mod tools;

pub(crate) use shown::within;
pub use shown::{FailedCommand, ModifiedFile, SessionState};

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Field, Fields, FromFields, reject};
use crate::json::text::{boundary, is_default};
use crate::plain::wrapping;
use crate::record::message::{Message, Role, ToolCall};
use crate::state::tool_effects::{ended_badly, has_failed, was_there};

const MOST_FILES: usize = 2000;
const MOST_COMMANDS: usize = 100;
const MOST_TASKS: usize = 100;
const MOST_SENTENCES: usize = 200;
const MOST_WAITING: usize = 64;
const MOST_ERRORS: usize = 20;
// What a failed result says is worth as much as a sentence that names two things.
const WORTH_OF_ERROR: u32 = 4;

const LONGEST_TASK: usize = 1200;
const LONGEST_STATUS: usize = 400;

/// What is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct State {
    facts: Vec<Fact>,
    // What calls will have done, once their result says that it went well; each with the id of its call as its name.
    waiting: Vec<Fact>,
}

/// One thing that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is.
    pub kind: Kind,
    /// It in words; of a file the path, of a command the command.
    pub text: String,
    /// Of a sentence how much it is worth; of a command how often it failed; of what a call does 1, where a shell does it.
    #[serde(skip_serializing_if = "is_default")]
    pub weight: u32,
    /// Of an open task its id, where it has one; of what a call does the id of the call; of an error the command or the tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// What a fact is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What the first user message asks for.
    Task,
    /// A file that was made.
    Created,
    /// A file that was changed.
    Modified,
    /// A file that was removed.
    Deleted,
    /// A command whose last run failed.
    Failed,
    /// A command that failed, and passed when it was run again.
    Passed,
    /// An open task.
    Open,
    /// What the assistant said last.
    Status,
    /// What was decided, and why.
    Decision,
    /// What the user wants to hold.
    Constraint,
    /// What a result that failed says; its name is the command or the tool.
    Error,
    /// What somebody says went wrong, and what came of it.
    Finding,
    /// What stands in the way.
    Blocker,
    /// What is done, and what is left.
    #[default]
    Progress,
    /// A call runs a command.
    Runs,
    /// A call writes a file; its result says whether it was there before.
    Writes,
    /// A call lists the open tasks, a line each.
    Plans,
    /// A call adds a task.
    Adds,
    /// A call closes a task, by its id.
    Closes,
    /// A command removes a file, if it is there.
    Removes,
    /// A command goes to another folder; without a text nobody can say to which.
    Moves,
    /// The folder in which the next command runs, where that is another one than at first.
    Folder,
}

const KINDS: [(Kind, &str); 22] = [
    (Kind::Task, "task"),
    (Kind::Created, "created"),
    (Kind::Modified, "modified"),
    (Kind::Deleted, "deleted"),
    (Kind::Failed, "failed"),
    (Kind::Passed, "passed"),
    (Kind::Open, "open"),
    (Kind::Status, "status"),
    (Kind::Decision, "decision"),
    (Kind::Constraint, "constraint"),
    (Kind::Error, "error"),
    (Kind::Finding, "finding"),
    (Kind::Blocker, "blocker"),
    (Kind::Progress, "progress"),
    (Kind::Runs, "runs"),
    (Kind::Writes, "writes"),
    (Kind::Plans, "plans"),
    (Kind::Adds, "adds"),
    (Kind::Closes, "closes"),
    (Kind::Removes, "removes"),
    (Kind::Moves, "moves"),
    (Kind::Folder, "folder"),
];

impl Kind {
    /// The word as it is written.
    pub fn as_str(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// It is about a file, and which became of that last.
    pub fn is_file(self) -> bool {
        matches!(self, Kind::Created | Kind::Modified | Kind::Deleted)
    }

    // What becomes of a file that was made here does not make it less new; one that is gone is gone.
    fn after(self, before: Option<Kind>) -> Kind {
        match (before, self) {
            (Some(Kind::Created), Kind::Modified) => Kind::Created,
            (Some(Kind::Modified | Kind::Deleted), Kind::Created) => Kind::Modified,
            (_, kind) => kind,
        }
    }

    /// It is about a command that failed once.
    pub fn is_command(self) -> bool {
        matches!(self, Kind::Failed | Kind::Passed)
    }

    /// It was said in a sentence.
    pub fn is_sentence(self) -> bool {
        matches!(
            self,
            Kind::Decision | Kind::Constraint | Kind::Error | Kind::Finding | Kind::Blocker | Kind::Progress
        )
    }
}

impl State {
    /// Takes the next message of the path.
    pub fn take(&mut self, message: &Message) {
        let text = message.content.as_str();
        match message.role {
            Some(Role::User) if message.is_marked("isMeta") || message.is_marked("isIgnored") => {}
            // A summary that a client made of what was said before holds no words of the user's own.
            Some(Role::User) if message.is_unsaid() => self.take_sentences(text, Role::Assistant),
            Some(Role::User) => {
                for said in wrapping::said(text) {
                    if self.first(Kind::Task).is_none() {
                        self.facts.push(Fact::new(Kind::Task, cut(said, LONGEST_TASK)));
                    }
                    self.take_sentences(said, Role::User);
                }
            }
            Some(Role::Assistant) => {
                self.take_calls(message.tool_calls());
                if !text.trim_ascii().is_empty() {
                    self.facts.retain(|fact| fact.kind != Kind::Status);
                    self.facts.push(Fact::new(Kind::Status, cut(text.trim_ascii(), LONGEST_STATUS)));
                    self.take_sentences(text, Role::Assistant);
                }
            }
            Some(Role::Tool) => self.take_result(message),
            Some(Role::System) | None => {}
        }
    }

    /// Takes calls that an answer makes.
    pub(crate) fn take_calls(&mut self, calls: &[ToolCall]) {
        self.waiting.retain(|effect| calls.iter().all(|call| call.id != effect.name));
        self.waiting.extend(calls.iter().flat_map(tool_effects::of));
        let too_many = self.waiting.len().saturating_sub(MOST_WAITING);
        self.waiting.drain(..too_many);
    }

    /// Everything that is known, in the order in which it was learned.
    pub fn facts(&self) -> impl DoubleEndedIterator<Item = &Fact> {
        self.facts.iter()
    }

    /// Those of one kind.
    pub fn all(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Fact> {
        self.facts.iter().filter(move |fact| fact.kind == kind)
    }

    /// The first of one kind.
    pub fn first(&self, kind: Kind) -> Option<&Fact> {
        self.all(kind).next()
    }

    fn take_result(&mut self, message: &Message) {
        let Some(tool) = &message.tool else { return };
        let result = message.content.as_str();
        if tool.not_run {
            return self.waiting.retain(|effect| effect.name != tool.call_id);
        }
        let has_failed = has_failed(tool, result);
        let is_command =
            self.waiting.iter().any(|effect| effect.kind == Kind::Runs && effect.name == tool.call_id);
        if !is_command && ended_badly(tool) {
            self.note_error(&tool.name, result);
        }
        while let Some(place) = self.waiting.iter().position(|effect| effect.name == tool.call_id) {
            let Fact { kind, text, weight, .. } = self.waiting.remove(place);
            match kind {
                Kind::Runs => {
                    self.facts.retain(|fact| fact.kind != Kind::Error || fact.name != text);
                    if has_failed {
                        self.note_error(&text, result);
                    }
                    self.ran(text, has_failed);
                }
                Kind::Moves => self.went(if has_failed { "" } else { &text }),
                _ if if weight > 0 { has_failed } else { ended_badly(tool) } => {}
                Kind::Plans => self.plan(&text),
                Kind::Adds => self.add_task(text, result),
                Kind::Closes => self.facts.retain(|fact| fact.kind != Kind::Open || fact.name != text),
                Kind::Writes if weight == 0 && was_there(result) => self.changed(text, Kind::Modified),
                Kind::Writes if weight == 0 => self.changed(text, Kind::Created),
                file if weight == 0 => self.changed(text, file),
                file => self.changed_by_shell(&text, file),
            }
        }
        let (folder, others) = tool_effects::told(tool, result);
        if let Some(folder) = folder {
            self.went(folder.trim_ascii());
        }
        for path in others.split(',').filter(|path| !path.is_empty()) {
            self.changed_by_shell(path.trim_ascii(), Kind::Modified);
        }
    }

    // Where the next command runs.
    fn went(&mut self, to: &str) {
        let before = self.take_out(|fact| fact.kind == Kind::Folder);
        let folder = match before {
            Some(before) if !to.starts_with('/') && before.text.is_empty() => String::new(),
            Some(before) if !to.is_empty() => shell::joined(&before.text, to).unwrap_or_default(),
            Some(_) | None => to.into(),
        };
        self.facts.push(Fact::new(Kind::Folder, &folder));
    }

    // A path is seen from the folder in which the command ran; where that is not known, only a whole one says something.
    fn changed_by_shell(&mut self, path: &str, kind: Kind) {
        let path = match self.first(Kind::Folder) {
            Some(folder) if folder.text.is_empty() && !path.starts_with('/') => return,
            Some(folder) => shell::joined(&folder.text, path),
            None => Some(path.into()),
        };
        let Some(path) = path else { return };
        let is_it = |fact: &Fact| {
            fact.text.strip_suffix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let is_known = || self.facts.iter().any(|fact| fact.kind.is_file() && is_it(fact));
        match kind {
            Kind::Removes if !is_known() => {}
            Kind::Removes => self.changed(path, Kind::Deleted),
            // It says nothing of what was there before.
            Kind::Writes => self.changed(path, Kind::Created),
            kind => self.changed(path, kind),
        }
    }

    fn changed(&mut self, path: String, kind: Kind) {
        let before = self.take_out(|fact| fact.kind.is_file() && fact.text == path);
        self.facts.push(Fact::new(kind.after(before.map(|fact| fact.kind)), &path));
        self.bound(MOST_FILES, Kind::is_file);
    }

    fn ran(&mut self, command: String, has_failed: bool) {
        let before = self.take_out(|fact| fact.kind.is_command() && fact.text == command);
        let weight = before.as_ref().map_or(0, |fact| fact.weight) + u32::from(has_failed);
        if weight == 0 {
            return;
        }
        let kind = if has_failed { Kind::Failed } else { Kind::Passed };
        self.facts.push(Fact { weight, ..Fact::new(kind, &command) });
        self.bound(MOST_COMMANDS, Kind::is_command);
    }

    fn note_error(&mut self, name: &str, result: &str) {
        let Some(text) = errors::find_error_line(result) else { return };
        self.facts.retain(|fact| fact.kind != Kind::Error || fact.text != text);
        self.facts.push(Fact { kind: Kind::Error, text, weight: WORTH_OF_ERROR, name: name.into() });
        self.bound(MOST_ERRORS, |kind| kind == Kind::Error);
    }

    // The list as a whole takes the place of the last one.
    fn plan(&mut self, open: &str) {
        self.facts.retain(|fact| fact.kind != Kind::Open);
        let tasks = open.split('\n').filter(|task| !task.is_empty()).take(MOST_TASKS);
        self.facts.extend(tasks.map(|task| Fact::new(Kind::Open, task)));
    }

    // The result says which number it got, behind the first `#`.
    fn add_task(&mut self, task: String, result: &str) {
        let digits = result.split('#').nth(1).unwrap_or_default();
        let name: String = digits.chars().take_while(char::is_ascii_digit).collect();
        self.facts.push(Fact { name, ..Fact::new(Kind::Open, &task) });
        self.bound(MOST_TASKS, |kind| kind == Kind::Open);
    }

    fn take_sentences(&mut self, text: &str, speaker: Role) {
        sentences::each(text, speaker, &mut |kind, weight, sentence| {
            if !self.facts.iter().any(|fact| fact.kind.is_sentence() && fact.text == sentence) {
                self.facts.push(Fact { weight, ..Fact::new(kind, sentence) });
                self.forget_least();
            }
        });
    }

    // Of equal ones the oldest goes.
    fn forget_least(&mut self) {
        let all = || self.facts.iter().enumerate().filter(|(_, fact)| fact.kind.is_sentence());
        if all().count() > MOST_SENTENCES
            && let Some((place, _)) = all().min_by_key(|(_, fact)| fact.weight)
        {
            self.facts.remove(place);
        }
    }

    fn bound(&mut self, most: usize, is_of: impl Fn(Kind) -> bool) {
        if self.facts.iter().filter(|fact| is_of(fact.kind)).count() > most {
            self.take_out(|fact| is_of(fact.kind));
        }
    }

    fn take_out(&mut self, is_it: impl Fn(&Fact) -> bool) -> Option<Fact> {
        let place = self.facts.iter().position(is_it)?;
        Some(self.facts.remove(place))
    }
}

impl Fact {
    fn new(kind: Kind, text: &str) -> Fact {
        Fact { kind, text: text.into(), ..Fact::default() }
    }
}

/// The beginning of a text, of at most so many bytes, ending between two graphemes.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..boundary(text, bytes, false)]
}

impl FromFields for State {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<State> {
        Some(State { facts: fields.take("facts", bad)?, waiting: fields.take("waiting", bad)? })
    }
}

impl FromFields for Fact {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Fact> {
        Some(Fact {
            kind: fields.take("kind", bad)?,
            text: fields.take("text", bad)?,
            weight: fields.take("weight", bad).unwrap_or_default(),
            name: fields.take("name", bad).unwrap_or_default(),
        })
    }
}

impl Field for Kind {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<Kind> {
        let word = raw.trim_matches('"');
        let known = KINDS.iter().find(|(_, name)| *name == word).map(|(kind, _)| *kind);
        known.or_else(|| reject(raw, path, "a kind of fact", bad))
    }
}
