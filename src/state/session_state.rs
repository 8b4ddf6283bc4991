//! The `SessionState`: what is known of a conversation, in the form for callers.

use alloc::vec::Vec;

use serde::Serialize;

use crate::state::{Fact, FactKind, State};

/// The state of a conversation: its task, files, decisions and blockers, open tasks and failed commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SessionState<'a> {
    /// The folder of the project; empty if unknown.
    pub project_path: &'a str,
    /// The request in the first user message; empty without one.
    pub original_task: &'a str,
    /// The changed files, each once, the last touched at the end.
    pub modified_files: Vec<ModifiedFile<'a>>,
    /// The assistant's last statement.
    pub current_status: &'a str,
    /// The blockers.
    pub blockers: Vec<&'a str>,
    /// The decisions.
    pub key_decisions: Vec<&'a str>,
    /// The open tasks, by the newest task list.
    pub open_tasks: Vec<&'a str>,
    /// The commands that failed, each once.
    pub failed_commands: Vec<FailedCommand<'a>>,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModifiedFile<'a> {
    /// The path, as the tool call named it.
    pub path: &'a str,
    /// `created`, `modified` or `deleted`.
    #[cfg_attr(test, ts(type = "\"created\" | \"modified\" | \"deleted\""))]
    pub action: &'static str,
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FailedCommand<'a> {
    /// The command.
    pub command: &'a str,
    /// The number of its failures.
    pub failures: u32,
    /// True if its last run passed.
    pub has_passed: bool,
}

impl State {
    /// Returns the changed files, the last touched at the end. A command names a file relative to the project, other
    /// calls by its full path; both mean one file.
    pub(crate) fn changed_files<'a>(&'a self, project: &str) -> Vec<(&'a str, FactKind)> {
        let facts = || self.facts().filter(|fact| fact.kind.is_file());
        let is_within = |fact: &Fact| relative_path(&fact.text, project).len() < fact.text.len();
        // Names must be compared only if both forms occur.
        let is_mixed = facts().any(is_within) && facts().any(|fact| !fact.text.starts_with('/'));
        let mut files: Vec<(&str, FactKind)> = Vec::new();
        for Fact { kind, text, .. } in facts() {
            let is_it =
                |(path, _): &(&str, FactKind)| relative_path(path, project) == relative_path(text, project);
            let place = if is_mixed { files.iter().position(is_it) } else { None };
            let before = place.map(|at| files.remove(at));
            let path = before.map(|(path, _)| path).filter(|path| path.len() > text.len()).unwrap_or(text);
            files.push((path, kind.merge_with(before.map(|(_, kind)| kind))));
        }
        files
    }

    /// Returns the state in the form for callers.
    pub fn to_session_state<'a>(&'a self, project_path: &'a str) -> SessionState<'a> {
        let all = |kind| self.facts_of(kind).map(|fact| fact.text.as_str()).collect();
        let first = |kind| self.first_fact(kind).map(|fact| fact.text.as_str()).unwrap_or_default();
        let file = |(path, kind): (&'a str, FactKind)| ModifiedFile { path, action: kind.as_str() };
        let command = |fact: &'a Fact| FailedCommand {
            command: &fact.text,
            failures: fact.weight,
            has_passed: fact.kind == FactKind::Passed,
        };
        SessionState {
            project_path,
            original_task: first(FactKind::Task),
            modified_files: self.changed_files(project_path).into_iter().map(file).collect(),
            current_status: first(FactKind::Status),
            blockers: all(FactKind::Blocker),
            key_decisions: all(FactKind::Decision),
            open_tasks: all(FactKind::Open),
            failed_commands: self.facts().filter(|fact| fact.kind.is_command()).map(command).collect(),
        }
    }
}

/// Returns a path relative to the project, if it lies within.
pub(crate) fn relative_path<'a>(path: &'a str, project: &str) -> &'a str {
    let inner = path.strip_prefix(project).and_then(|rest| rest.strip_prefix(['/', '\\']));
    inner.filter(|_| !project.is_empty()).unwrap_or(path)
}
