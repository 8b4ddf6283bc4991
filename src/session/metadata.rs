//! A session's metadata: everything but its messages, as its events add up to it.

use alloc::string::String;
use alloc::vec::Vec;

use unicode_segmentation::UnicodeSegmentation;

use crate::record::document_edit::DocumentEdit;
use crate::record::event::{
    Agent, Change, Event, ForkOrigin, ImportOrigin, Parent, Project, SessionCreation, USUAL_TYPE,
};
use crate::record::status::Status;
use crate::session::change_request::ChangeRequest;
use crate::session::checkpoint::Checkpoint;
use crate::session::title::{self, Titles};
use crate::time;

/// The state that a session's events add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The session's uuid; empty until its `created` event was read.
    pub id: String,
    /// The type of conversation.
    pub session_type: String,
    /// Its name in its workspace.
    pub name: Option<String>,
    /// The title that the user or the agent gave.
    pub given_title: Option<String>,
    /// The first heading of the conversation's Markdown, as the host found it; a title where none was given.
    pub heading: Option<String>,
    /// The summary.
    pub summary: Option<String>,
    /// The part of it that somebody gave; the rest was derived from the messages since.
    pub given_summary: Option<String>,
    /// When the summary was made; unknown for one from a document.
    pub summary_ms: Option<i64>,
    /// Digest of the revised messages when the summary was made.
    pub summary_revision: Option<u32>,
    /// The status.
    pub status: Status,
    /// When it was archived.
    pub archived_at: Option<String>,
    /// When it began.
    pub created_at: Option<String>,
    /// The project it belongs to.
    pub project: Option<Project>,
    /// For a sub-agent's session, the session that called it.
    pub parent: Option<Parent>,
    /// The agent.
    pub agent: Agent,
    /// The agent and session it was imported from.
    pub imported: Option<ImportOrigin>,
    /// The session that it was forked from.
    pub forked_from: Option<ForkOrigin>,
    /// The newest event.
    pub as_of: Option<String>,
}

impl Default for Metadata {
    fn default() -> Metadata {
        Metadata {
            id: String::new(),
            session_type: USUAL_TYPE.into(),
            name: None,
            given_title: None,
            heading: None,
            summary: None,
            given_summary: None,
            summary_ms: None,
            summary_revision: None,
            status: Status::default(),
            archived_at: None,
            created_at: None,
            project: None,
            parent: None,
            agent: Agent::default(),
            imported: None,
            forked_from: None,
            as_of: None,
        }
    }
}

impl Metadata {
    /// The events that would record this state, where none has yet; each with its time.
    pub fn to_changes(&self) -> Vec<ChangeRequest> {
        // Without `..`: a new field does not compile until an event says it.
        let Metadata {
            id,
            session_type,
            name,
            given_title,
            heading: _,
            summary,
            given_summary: _,
            summary_ms: _,
            summary_revision: _,
            status,
            archived_at,
            created_at,
            project,
            parent,
            agent,
            imported,
            forked_from,
            as_of: _,
        } = self.clone();
        let created =
            SessionCreation { session: id, session_type, name, project, parent, agent: Some(agent) };
        let is_timeless = created_at.is_none();
        let began = |change| ChangeRequest {
            timestamp: created_at.clone(),
            is_timeless,
            ..ChangeRequest::from(change)
        };
        let mut changes = Vec::from([began(Change::Created(created.into()))]);
        changes.extend(given_title.map(|title| began(Change::Title { title })));
        // Without a time: nobody knows what was said since.
        let timeless = |change| ChangeRequest { is_timeless: true, ..ChangeRequest::from(change) };
        changes.extend(
            summary.map(|summary| timeless(Change::Summary { summary, is_derived: false, revised: 0 })),
        );
        changes.extend(imported.map(|imported| began(Change::Imported(imported))));
        changes.extend(forked_from.map(|origin| began(Change::Fork(origin))));
        if status != Status::default() {
            changes.push(began(Change::Status { status, reason: None }));
        }
        let archived =
            |since| ChangeRequest { timestamp: Some(since), ..ChangeRequest::from(Change::Archived) };
        changes.extend(archived_at.map(archived));
        changes
    }

    /// Takes the next event. Events about messages change nothing here.
    pub fn apply(&mut self, event: &Event) {
        self.as_of = Some(event.id.clone());
        match &event.change {
            Change::Created(created) => {
                if !created.session.is_empty() {
                    self.id.clone_from(&created.session);
                }
                self.session_type.clone_from(&created.session_type);
                self.name.clone_from(&created.name);
                self.project.clone_from(&created.project);
                self.parent.clone_from(&created.parent);
                self.agent = created.agent.clone().unwrap_or_default();
                self.created_at.clone_from(&event.timestamp);
            }
            Change::Title { title } => self.given_title = Some(title.clone()),
            Change::Status { status, reason: _ } => self.status = *status,
            Change::Summary { summary, is_derived, revised } => {
                self.summary = Some(summary.clone());
                self.summary_ms = event.timestamp.as_deref().and_then(time::parse);
                self.summary_revision = is_derived.then_some(*revised);
                if !is_derived {
                    self.given_summary.clone_from(&self.summary);
                }
            }
            Change::Archived => self.archived_at = Some(archive_time(event.timestamp.as_deref())),
            Change::Unarchived => self.archived_at = None,
            Change::Agent(agent) => self.agent = (**agent).clone(),
            Change::Imported(imported) => self.imported = Some(imported.clone()),
            Change::Fork(origin) => self.forked_from = Some(origin.clone()),
            Change::Relocated { project, name } => {
                self.project.clone_from(project);
                replace_if_some(&mut self.name, name.clone());
            }
            Change::Edited(edited) => self.apply_edit(edited, event.timestamp.as_deref()),
            Change::Pin(_)
            | Change::Unpin(_)
            | Change::Leaf(_)
            | Change::Accepted(_)
            | Change::Compaction(_)
            | Change::Other(_) => {}
        }
    }

    /// Whether no message came since the summary was made.
    pub(crate) fn has_current_summary(&self, known: &Checkpoint) -> bool {
        self.summary.is_some()
            && self.summary_ms.is_none_or(|summed_ms| known.last_message_ms <= Some(summed_ms))
            && !self.has_outdated_summary(known)
    }

    /// Drops a derived summary whose messages were revised since.
    pub(crate) fn drop_outdated_summary(&mut self, known: &Checkpoint) {
        if self.has_outdated_summary(known) {
            self.summary.clone_from(&self.given_summary);
        }
    }

    fn has_outdated_summary(&self, known: &Checkpoint) -> bool {
        self.summary_revision.is_some_and(|summed_after| summed_after != known.revised)
    }

    /// The title: the given one, else the heading of the conversation's Markdown, else the first words that the user
    /// said, else the first command; else the type. 80 graphemes at most.
    pub fn title(&self, titles: &Titles) -> String {
        let found = [self.given_title.as_deref(), self.heading.as_deref(), titles.best()];
        let mut shown =
            found.into_iter().flatten().map(title::shorten_title).filter(|title| !title.is_empty());
        shown.next().unwrap_or_else(|| title::shorten_title(&self.session_type))
    }

    /// Titles that nobody gave, and that a document may have nevertheless: those that the session would have if it
    /// had none of the better ones yet, and those that an older version made of the first line.
    pub(crate) fn derived_titles(&self, known: &Checkpoint) -> Vec<String> {
        let (heading, session_type) = (self.heading.as_deref(), Some(&*self.session_type));
        let now = known.titles.candidates().chain(heading).chain(session_type).map(title::shorten_title);
        let before = [heading, known.titles.first_line(), session_type].into_iter().flatten();
        now.chain(before.map(cut_old_title)).collect()
    }

    /// Whether this title of a document was given.
    pub(crate) fn is_given(&self, title: &str) -> bool {
        let is_so = |given: &String| {
            given == title || title::shorten_title(given) == title || cut_old_title(given) == title
        };
        self.given_title.as_ref().is_some_and(is_so)
    }

    fn apply_edit(&mut self, edited: &DocumentEdit, timestamp: Option<&str>) {
        // Without `..`: a new field does not compile until it has an effect here.
        let DocumentEdit {
            title,
            session_type,
            name,
            summary,
            status,
            archived,
            project,
            parent,
            agent,
            imported,
            without_summary,
            as_of: _,
        } = edited.clone();
        replace_if_some(&mut self.given_title, title);
        replace_if_some(&mut self.name, name);
        if without_summary || summary.is_some() {
            (self.summary, self.summary_ms, self.summary_revision) = (summary, None, None);
            self.given_summary.clone_from(&self.summary);
        }
        replace_if_some(&mut self.project, project);
        replace_if_some(&mut self.parent, parent);
        replace_if_some(&mut self.imported, imported);
        if let Some(session_type) = session_type.filter(|said| !said.is_empty()) {
            self.session_type = session_type;
        }
        self.status = status.unwrap_or(self.status);
        self.agent = agent.unwrap_or_else(|| core::mem::take(&mut self.agent));
        match archived {
            Some(true) => self.archived_at = Some(archive_time(timestamp)),
            Some(false) => self.archived_at = None,
            None => {}
        }
    }
}

fn replace_if_some<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

// An event without a time archives all the same; the date is then nobody's.
fn archive_time(timestamp: Option<&str>) -> String {
    timestamp.map_or_else(|| time::format(0), String::from)
}

/// Whether a title is made from a line.
pub(crate) fn is_made_of(title: &str, line: &str) -> bool {
    title::shorten_title(line) == title || cut_old_title(line) == title
}

// As version 0.1 cut titles.
fn cut_old_title(title: &str) -> String {
    const MAX_TITLE_GRAPHEMES: usize = 80;
    title.graphemes(true).take(MAX_TITLE_GRAPHEMES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_made_of_a_line_whether_it_was_cut_as_now_or_as_once() {
        let line = "née\u{301} and so on ".repeat(20);
        let cut = |letters: usize| line.graphemes(true).take(letters).collect::<String>();
        assert!(is_made_of(&cut(80), &line) && is_made_of(&title::shorten_title(&line), &line));
        assert!(is_made_of("all of it", "all of it"));
        for other in [cut(79), cut(81), String::new(), "and so on".into()] {
            assert!(!is_made_of(&other, &line), "{other}");
        }
    }
}
