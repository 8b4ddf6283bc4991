//! What a conversation has come to: the task, files changed, commands that failed, open tasks, and the sentences worth
//! keeping. It is extracted from tool calls and texts, without a model.
//!
//! It is folded from the messages one after another, bounded in size, and kept in the checkpoint. So a summary of a
//! million messages is made without reading them again.

#[cfg(feature = "interop")]
pub(crate) mod call_details;
mod cues;
mod errors;
mod one_line_summary;
mod sentences;
mod session_state;
mod shell;
#[cfg(feature = "interop")]
pub mod stopping;
mod tool_effects;

pub(crate) use session_state::relative_path;
pub use session_state::{FailedCommand, ModifiedFile, SessionState};

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Field, Fields, FromFields, reject};
use crate::json::text::{grapheme_boundary, is_default};
use crate::plain::wrapping;
use crate::record::message::{Message, Role, ToolCall};
use crate::state::tool_effects::{has_failed, has_overwritten, is_failure};

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
    pub kind: FactKind,
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
pub enum FactKind {
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

const KINDS: [(FactKind, &str); 22] = [
    (FactKind::Task, "task"),
    (FactKind::Created, "created"),
    (FactKind::Modified, "modified"),
    (FactKind::Deleted, "deleted"),
    (FactKind::Failed, "failed"),
    (FactKind::Passed, "passed"),
    (FactKind::Open, "open"),
    (FactKind::Status, "status"),
    (FactKind::Decision, "decision"),
    (FactKind::Constraint, "constraint"),
    (FactKind::Error, "error"),
    (FactKind::Finding, "finding"),
    (FactKind::Blocker, "blocker"),
    (FactKind::Progress, "progress"),
    (FactKind::Runs, "runs"),
    (FactKind::Writes, "writes"),
    (FactKind::Plans, "plans"),
    (FactKind::Adds, "adds"),
    (FactKind::Closes, "closes"),
    (FactKind::Removes, "removes"),
    (FactKind::Moves, "moves"),
    (FactKind::Folder, "folder"),
];

impl FactKind {
    /// The word as it is written.
    pub fn as_str(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// It is about a file, and which became of that last.
    pub fn is_file(self) -> bool {
        matches!(self, FactKind::Created | FactKind::Modified | FactKind::Deleted)
    }

    // What becomes of a file that was made here does not make it less new; one that is gone is gone.
    fn merge_with(self, before: Option<FactKind>) -> FactKind {
        match (before, self) {
            (Some(FactKind::Created), FactKind::Modified) => FactKind::Created,
            (Some(FactKind::Modified | FactKind::Deleted), FactKind::Created) => FactKind::Modified,
            (_, kind) => kind,
        }
    }

    /// It is about a command that failed once.
    pub fn is_command(self) -> bool {
        matches!(self, FactKind::Failed | FactKind::Passed)
    }

    /// It was said in a sentence.
    pub fn is_sentence(self) -> bool {
        matches!(
            self,
            FactKind::Decision
                | FactKind::Constraint
                | FactKind::Error
                | FactKind::Finding
                | FactKind::Blocker
                | FactKind::Progress
        )
    }
}

impl State {
    /// Takes the next message of the path.
    pub fn take_message(&mut self, message: &Message) {
        let text = message.content.as_str();
        match message.role {
            Some(Role::User) if message.has_source_mark("isMeta") || message.has_source_mark("isIgnored") => {
            }
            // A summary that a client made of what was said before holds no words of the user's own.
            Some(Role::User) if message.is_injected() => self.take_sentences(text, Role::Assistant),
            Some(Role::User) => {
                for said in wrapping::user_words(text) {
                    if self.first_fact(FactKind::Task).is_none() {
                        self.facts.push(Fact::new(FactKind::Task, cut_text(said, LONGEST_TASK)));
                    }
                    self.take_sentences(said, Role::User);
                }
            }
            Some(Role::Assistant) => {
                self.take_calls(message.tool_calls());
                if !text.trim_ascii().is_empty() {
                    self.facts.retain(|fact| fact.kind != FactKind::Status);
                    self.facts.push(Fact::new(FactKind::Status, cut_text(text.trim_ascii(), LONGEST_STATUS)));
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
        self.waiting.extend(calls.iter().flat_map(tool_effects::effects_of));
        let too_many = self.waiting.len().saturating_sub(MOST_WAITING);
        self.waiting.drain(..too_many);
    }

    /// Everything that is known, in the order in which it was learned.
    pub fn facts(&self) -> impl DoubleEndedIterator<Item = &Fact> {
        self.facts.iter()
    }

    /// Those of one kind.
    pub fn facts_of(&self, kind: FactKind) -> impl DoubleEndedIterator<Item = &Fact> {
        self.facts.iter().filter(move |fact| fact.kind == kind)
    }

    /// The first of one kind.
    pub fn first_fact(&self, kind: FactKind) -> Option<&Fact> {
        self.facts_of(kind).next()
    }

    fn take_result(&mut self, message: &Message) {
        let Some(tool) = &message.tool else { return };
        let result = message.content.as_str();
        if tool.not_run {
            return self.waiting.retain(|effect| effect.name != tool.call_id);
        }
        let has_failed = has_failed(tool, result);
        let is_command =
            self.waiting.iter().any(|effect| effect.kind == FactKind::Runs && effect.name == tool.call_id);
        if !is_command && is_failure(tool) {
            self.note_error(&tool.name, result);
        }
        while let Some(place) = self.waiting.iter().position(|effect| effect.name == tool.call_id) {
            let Fact { kind, text, weight, .. } = self.waiting.remove(place);
            match kind {
                FactKind::Runs => {
                    self.facts.retain(|fact| fact.kind != FactKind::Error || fact.name != text);
                    if has_failed {
                        self.note_error(&text, result);
                    }
                    self.record_command(text, has_failed);
                }
                FactKind::Moves => self.change_folder(if has_failed { "" } else { &text }),
                _ if if weight > 0 { has_failed } else { is_failure(tool) } => {}
                FactKind::Plans => self.replace_tasks(&text),
                FactKind::Adds => self.add_task(text, result),
                FactKind::Closes => {
                    self.facts.retain(|fact| fact.kind != FactKind::Open || fact.name != text)
                }
                FactKind::Writes if weight == 0 && has_overwritten(result) => {
                    self.record_file_change(text, FactKind::Modified)
                }
                FactKind::Writes if weight == 0 => self.record_file_change(text, FactKind::Created),
                file if weight == 0 => self.record_file_change(text, file),
                file => self.record_shell_change(&text, file),
            }
        }
        let (folder, others) = tool_effects::parse_shell_notes(tool, result);
        if let Some(folder) = folder {
            self.change_folder(folder.trim_ascii());
        }
        for path in others.split(',').filter(|path| !path.is_empty()) {
            self.record_shell_change(path.trim_ascii(), FactKind::Modified);
        }
    }

    // Where the next command runs.
    fn change_folder(&mut self, to: &str) {
        let before = self.remove_fact(|fact| fact.kind == FactKind::Folder);
        let folder = match before {
            Some(before) if !to.starts_with('/') && before.text.is_empty() => String::new(),
            Some(before) if !to.is_empty() => shell::join_path(&before.text, to).unwrap_or_default(),
            Some(_) | None => to.into(),
        };
        self.facts.push(Fact::new(FactKind::Folder, &folder));
    }

    // A path is seen from the folder in which the command ran; where that is not known, only a whole one says something.
    fn record_shell_change(&mut self, path: &str, kind: FactKind) {
        let path = match self.first_fact(FactKind::Folder) {
            Some(folder) if folder.text.is_empty() && !path.starts_with('/') => return,
            Some(folder) => shell::join_path(&folder.text, path),
            None => Some(path.into()),
        };
        let Some(path) = path else { return };
        let is_it = |fact: &Fact| {
            fact.text.strip_suffix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let is_known = || self.facts.iter().any(|fact| fact.kind.is_file() && is_it(fact));
        match kind {
            FactKind::Removes if !is_known() => {}
            FactKind::Removes => self.record_file_change(path, FactKind::Deleted),
            // It says nothing of what was there before.
            FactKind::Writes => self.record_file_change(path, FactKind::Created),
            kind => self.record_file_change(path, kind),
        }
    }

    fn record_file_change(&mut self, path: String, kind: FactKind) {
        let before = self.remove_fact(|fact| fact.kind.is_file() && fact.text == path);
        self.facts.push(Fact::new(kind.merge_with(before.map(|fact| fact.kind)), &path));
        self.limit_facts(MOST_FILES, FactKind::is_file);
    }

    fn record_command(&mut self, command: String, has_failed: bool) {
        let before = self.remove_fact(|fact| fact.kind.is_command() && fact.text == command);
        let weight = before.as_ref().map_or(0, |fact| fact.weight) + u32::from(has_failed);
        if weight == 0 {
            return;
        }
        let kind = if has_failed { FactKind::Failed } else { FactKind::Passed };
        self.facts.push(Fact { weight, ..Fact::new(kind, &command) });
        self.limit_facts(MOST_COMMANDS, FactKind::is_command);
    }

    fn note_error(&mut self, name: &str, result: &str) {
        let Some(text) = errors::find_error_line(result) else { return };
        self.facts.retain(|fact| fact.kind != FactKind::Error || fact.text != text);
        self.facts.push(Fact { kind: FactKind::Error, text, weight: WORTH_OF_ERROR, name: name.into() });
        self.limit_facts(MOST_ERRORS, |kind| kind == FactKind::Error);
    }

    // The list as a whole takes the place of the last one.
    fn replace_tasks(&mut self, open: &str) {
        self.facts.retain(|fact| fact.kind != FactKind::Open);
        let tasks = open.split('\n').filter(|task| !task.is_empty()).take(MOST_TASKS);
        self.facts.extend(tasks.map(|task| Fact::new(FactKind::Open, task)));
    }

    // The result says which number it got, behind the first `#`.
    fn add_task(&mut self, task: String, result: &str) {
        let digits = result.split('#').nth(1).unwrap_or_default();
        let name: String = digits.chars().take_while(char::is_ascii_digit).collect();
        self.facts.push(Fact { name, ..Fact::new(FactKind::Open, &task) });
        self.limit_facts(MOST_TASKS, |kind| kind == FactKind::Open);
    }

    fn take_sentences(&mut self, text: &str, speaker: Role) {
        sentences::for_each_sentence(text, speaker, &mut |kind, weight, sentence| {
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

    fn limit_facts(&mut self, most: usize, is_of: impl Fn(FactKind) -> bool) {
        if self.facts.iter().filter(|fact| is_of(fact.kind)).count() > most {
            self.remove_fact(|fact| is_of(fact.kind));
        }
    }

    fn remove_fact(&mut self, is_it: impl Fn(&Fact) -> bool) -> Option<Fact> {
        let place = self.facts.iter().position(is_it)?;
        Some(self.facts.remove(place))
    }
}

impl Fact {
    fn new(kind: FactKind, text: &str) -> Fact {
        Fact { kind, text: text.into(), ..Fact::default() }
    }
}

/// The beginning of a text, of at most so many bytes, ending between two graphemes.
pub(crate) fn cut_text(text: &str, bytes: usize) -> &str {
    &text[..grapheme_boundary(text, bytes, false)]
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

impl Field for FactKind {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<FactKind> {
        let word = raw.trim_matches('"');
        let known = KINDS.iter().find(|(_, name)| *name == word).map(|(kind, _)| *kind);
        known.or_else(|| reject(raw, path, "a kind of fact", bad))
    }
}
