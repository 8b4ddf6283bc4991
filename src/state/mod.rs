//! The session state: the task, changed files, failed commands, open tasks, and the two hundred best sentences,
//! extracted from tool calls and texts without a model.
//!
//! It is folded from each message once, bounded in size, and kept in the checkpoint. So a summary of a million
//! messages costs what one of a hundred does, and reads no message again. Appending folds nothing; whoever builds a
//! context or closes a session reads what was added since. A branch is folded anew when it becomes the current one: a
//! session with branches is read whole at each opening anyway.

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

const MAX_FILES: usize = 2000;
const MAX_COMMANDS: usize = 100;
const MAX_TASKS: usize = 100;
const MAX_SENTENCES: usize = 200;
const MAX_WAITING_CALLS: usize = 64;
const MAX_ERRORS: usize = 20;
// The weight of a failed result's error line: that of a sentence with two names.
const ERROR_WEIGHT: u32 = 4;

const MAX_TASK_BYTES: usize = 1200;
const MAX_STATUS_BYTES: usize = 400;

/// The state of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct State {
    facts: Vec<Fact>,
    // Effects of calls that wait for a successful result, each named by the call's id.
    waiting: Vec<Fact>,
}

/// A fact of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its kind.
    pub kind: FactKind,
    /// Its text; for a file the path, for a command the command line.
    pub text: String,
    /// For a sentence its weight; for a command its failures; for an effect of a call 1 if a shell runs it.
    #[serde(skip_serializing_if = "is_default")]
    pub weight: u32,
    /// For an open task its id, if any; for an effect the id of the call; for an error the command or the tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// The kinds of facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// The request in the first user message.
    Task,
    /// A file that was created.
    Created,
    /// A file that was changed.
    Modified,
    /// A file that was deleted.
    Deleted,
    /// A command whose last run failed.
    Failed,
    /// A command that failed once and passed in its last run.
    Passed,
    /// An open task.
    Open,
    /// The assistant's last statement.
    Status,
    /// A decision, and its reason.
    Decision,
    /// A lasting wish of the user.
    Constraint,
    /// The error line of a failed result; its name is the command or the tool.
    Error,
    /// A report of something that went wrong, and what came of it.
    Finding,
    /// A blocker.
    Blocker,
    /// A report of what is done, and what is left.
    #[default]
    Progress,
    /// A call runs a command.
    Runs,
    /// A call writes a file; its result says whether the file existed.
    Writes,
    /// A call lists the open tasks, one per line.
    Plans,
    /// A call adds a task.
    Adds,
    /// A call closes a task, by its id.
    Closes,
    /// A command removes a file, if it exists.
    Removes,
    /// A command changes the folder; without a text, to an unknown one.
    Moves,
    /// The folder of the next command, if it is not the first one.
    Folder,
}

const KIND_NAMES: [(FactKind, &str); 22] = [
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
    /// Returns the stored word.
    pub fn as_str(self) -> &'static str {
        KIND_NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// True if the fact says what last became of a file.
    pub fn is_file(self) -> bool {
        matches!(self, FactKind::Created | FactKind::Modified | FactKind::Deleted)
    }

    // A file created in this session stays created when it is changed; a deleted one is deleted.
    fn merge_with(self, before: Option<FactKind>) -> FactKind {
        match (before, self) {
            (Some(FactKind::Created), FactKind::Modified) => FactKind::Created,
            (Some(FactKind::Modified | FactKind::Deleted), FactKind::Created) => FactKind::Modified,
            (_, kind) => kind,
        }
    }

    /// True for a command that failed once.
    pub fn is_command(self) -> bool {
        matches!(self, FactKind::Failed | FactKind::Passed)
    }

    /// True for a fact from a sentence.
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
    /// Folds in the next message of the path.
    pub fn take_message(&mut self, message: &Message) {
        let text = message.content.as_str();
        match message.role {
            Some(Role::User) if message.has_source_mark("isMeta") || message.has_source_mark("isIgnored") => {
            }
            // A client's own summary of the conversation holds no words of the user's.
            Some(Role::User) if message.is_injected() => self.take_sentences(text, Role::Assistant),
            Some(Role::User) => {
                for passage in wrapping::user_words(text) {
                    if self.first_fact(FactKind::Task).is_none() {
                        self.facts.push(Fact::new(FactKind::Task, cut_text(passage, MAX_TASK_BYTES)));
                    }
                    self.take_sentences(passage, Role::User);
                }
            }
            Some(Role::Assistant) => {
                self.take_calls(message.tool_calls());
                if !text.trim_ascii().is_empty() {
                    self.facts.retain(|fact| fact.kind != FactKind::Status);
                    self.facts
                        .push(Fact::new(FactKind::Status, cut_text(text.trim_ascii(), MAX_STATUS_BYTES)));
                    self.take_sentences(text, Role::Assistant);
                }
            }
            Some(Role::Tool) => self.take_result(message),
            Some(Role::System) | None => {}
        }
    }

    /// Folds in the calls of an answer.
    pub(crate) fn take_calls(&mut self, calls: &[ToolCall]) {
        self.waiting.retain(|effect| calls.iter().all(|call| call.id != effect.name));
        self.waiting.extend(calls.iter().flat_map(tool_effects::effects_of));
        let too_many = self.waiting.len().saturating_sub(MAX_WAITING_CALLS);
        self.waiting.drain(..too_many);
    }

    /// Returns all facts, in the order in which they were learned.
    pub fn facts(&self) -> impl DoubleEndedIterator<Item = &Fact> {
        self.facts.iter()
    }

    /// Returns the facts of one kind.
    pub fn facts_of(&self, kind: FactKind) -> impl DoubleEndedIterator<Item = &Fact> {
        self.facts.iter().filter(move |fact| fact.kind == kind)
    }

    /// Returns the first fact of one kind.
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

    // Sets the folder of the next command.
    fn change_folder(&mut self, to: &str) {
        let before = self.remove_fact(|fact| fact.kind == FactKind::Folder);
        let folder = match before {
            Some(before) if !to.starts_with('/') && before.text.is_empty() => String::new(),
            Some(before) if !to.is_empty() => shell::join_path(&before.text, to).unwrap_or_default(),
            Some(_) | None => to.into(),
        };
        self.facts.push(Fact::new(FactKind::Folder, &folder));
    }

    // A path is relative to the command's folder; if that is unknown, only an absolute path means something.
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
            // Such a result does not say whether the file existed.
            FactKind::Writes => self.record_file_change(path, FactKind::Created),
            kind => self.record_file_change(path, kind),
        }
    }

    fn record_file_change(&mut self, path: String, kind: FactKind) {
        let before = self.remove_fact(|fact| fact.kind.is_file() && fact.text == path);
        self.facts.push(Fact::new(kind.merge_with(before.map(|fact| fact.kind)), &path));
        self.limit_facts(MAX_FILES, FactKind::is_file);
    }

    fn record_command(&mut self, command: String, has_failed: bool) {
        let before = self.remove_fact(|fact| fact.kind.is_command() && fact.text == command);
        let weight = before.as_ref().map_or(0, |fact| fact.weight) + u32::from(has_failed);
        if weight == 0 {
            return;
        }
        let kind = if has_failed { FactKind::Failed } else { FactKind::Passed };
        self.facts.push(Fact { weight, ..Fact::new(kind, &command) });
        self.limit_facts(MAX_COMMANDS, FactKind::is_command);
    }

    fn note_error(&mut self, name: &str, result: &str) {
        let Some(text) = errors::find_error_line(result) else { return };
        self.facts.retain(|fact| fact.kind != FactKind::Error || fact.text != text);
        self.facts.push(Fact { kind: FactKind::Error, text, weight: ERROR_WEIGHT, name: name.into() });
        self.limit_facts(MAX_ERRORS, |kind| kind == FactKind::Error);
    }

    // A whole list replaces the one before.
    fn replace_tasks(&mut self, open: &str) {
        self.facts.retain(|fact| fact.kind != FactKind::Open);
        let tasks = open.split('\n').filter(|task| !task.is_empty()).take(MAX_TASKS);
        self.facts.extend(tasks.map(|task| Fact::new(FactKind::Open, task)));
    }

    // The result has the task's number after its first `#`.
    fn add_task(&mut self, task: String, result: &str) {
        let digits = result.split('#').nth(1).unwrap_or_default();
        let name: String = digits.chars().take_while(char::is_ascii_digit).collect();
        self.facts.push(Fact { name, ..Fact::new(FactKind::Open, &task) });
        self.limit_facts(MAX_TASKS, |kind| kind == FactKind::Open);
    }

    fn take_sentences(&mut self, text: &str, speaker: Role) {
        sentences::for_each_sentence(text, speaker, &mut |kind, weight, sentence| {
            if !self.facts.iter().any(|fact| fact.kind.is_sentence() && fact.text == sentence) {
                self.facts.push(Fact { weight, ..Fact::new(kind, sentence) });
                self.forget_least();
            }
        });
    }

    // Of equal weights, the oldest goes.
    fn forget_least(&mut self) {
        let all = || self.facts.iter().enumerate().filter(|(_, fact)| fact.kind.is_sentence());
        if all().count() > MAX_SENTENCES
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

/// Returns the beginning of a text, at most this many bytes, cut between graphemes.
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
        let known = KIND_NAMES.iter().find(|(_, name)| *name == word).map(|(kind, _)| *kind);
        known.or_else(|| reject(raw, path, "a kind of fact", bad))
    }
}
