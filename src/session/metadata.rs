//! What a session is, apart from its messages: the state that its events add up to.

use alloc::string::String;
use alloc::vec::Vec;

use unicode_segmentation::UnicodeSegmentation;

use crate::record::edited::Edited;
use crate::record::event::{Agent, Change, Created, Event, Imported, Origin, Parent, Project, USUAL_TYPE};
use crate::record::status::Status;
use crate::session::ask::Ask;
use crate::session::checkpoint::Checkpoint;
use crate::session::title::{self, Titles};
use crate::time;

/// The state that a session's events add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The session's uuid; empty until its `created` event was read.
    pub id: String,
    /// What sort of conversation it is.
    pub session_type: String,
    /// Its name in its workspace.
    pub name: Option<String>,
    /// The title that the user or the agent gave.
    pub given_title: Option<String>,
    /// The first heading of the conversation's Markdown, as the host found it; a title where none was given.
    pub heading: Option<String>,
    /// What it is about, in words.
    pub summary: Option<String>,
    /// What of that somebody said; the rest was made of what the conversation came to since.
    pub given_summary: Option<String>,
    /// When it was summed up last; unknown of what a document says.
    pub summed_ms: Option<i64>,
    /// Where its summary was made: which messages said something else than before by then.
    pub summed_after: Option<u32>,
    /// Whether it goes on.
    pub status: Status,
    /// Since when it is hidden from lists.
    pub archived_at: Option<String>,
    /// When it began.
    pub created_at: Option<String>,
    /// The project it belongs to.
    pub project: Option<Project>,
    /// For a sub-agent's session: who called it.
    pub parent: Option<Parent>,
    /// What made the conversation possible.
    pub agent: Agent,
    /// Where it was imported from.
    pub imported: Option<Imported>,
    /// The session that it was forked from.
    pub forked_from: Option<Origin>,
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
            summed_ms: None,
            summed_after: None,
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
    /// The events that would say what this state says, where no event has said it yet; each with its time.
    pub fn changes(&self) -> Vec<Ask> {
        // Without `..`: a new field does not compile until an event says it.
        let Metadata {
            id,
            session_type,
            name,
            given_title,
            heading: _,
            summary,
            given_summary: _,
            summed_ms: _,
            summed_after: _,
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
        let created = Created { session: id, session_type, name, project, parent, agent: Some(agent) };
        let is_timeless = created_at.is_none();
        let began = |change| Ask { timestamp: created_at.clone(), is_timeless, ..Ask::from(change) };
        let mut changes = Vec::from([began(Change::Created(created.into()))]);
        changes.extend(given_title.map(|title| began(Change::Title { title })));
        // Without a time: nobody knows what was said since.
        let timeless = |change| Ask { is_timeless: true, ..Ask::from(change) };
        changes.extend(
            summary.map(|summary| timeless(Change::Summary { summary, is_derived: false, revised: 0 })),
        );
        changes.extend(imported.map(|imported| began(Change::Imported(imported))));
        changes.extend(forked_from.map(|origin| began(Change::Fork(origin))));
        if status != Status::default() {
            changes.push(began(Change::Status { status, reason: None }));
        }
        let archived = |since| Ask { timestamp: Some(since), ..Ask::from(Change::Archived) };
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
                self.summed_ms = event.timestamp.as_deref().and_then(time::parse);
                self.summed_after = is_derived.then_some(*revised);
                if !is_derived {
                    self.given_summary.clone_from(&self.summary);
                }
            }
            Change::Archived => self.archived_at = Some(since(event.timestamp.as_deref())),
            Change::Unarchived => self.archived_at = None,
            Change::Agent(agent) => self.agent = (**agent).clone(),
            Change::Imported(imported) => self.imported = Some(imported.clone()),
            Change::Fork(origin) => self.forked_from = Some(origin.clone()),
            Change::Relocated { project, name } => {
                self.project.clone_from(project);
                set(&mut self.name, name.clone());
            }
            Change::Edited(edited) => self.edit(edited, event.timestamp.as_deref()),
            Change::Pin(_)
            | Change::Unpin(_)
            | Change::Leaf(_)
            | Change::Accepted(_)
            | Change::Compaction(_)
            | Change::Other(_) => {}
        }
    }

    /// Whether nothing was said since it was summed up.
    pub(crate) fn is_summed_up(&self, known: &Checkpoint) -> bool {
        self.summary.is_some()
            && self.summed_ms.is_none_or(|summed_ms| known.last_message_ms <= Some(summed_ms))
            && !self.is_of_old_words(known)
    }

    /// Drops the summary that was made of what messages said before they were said anew.
    pub(crate) fn drop_old_words(&mut self, known: &Checkpoint) {
        if self.is_of_old_words(known) {
            self.summary.clone_from(&self.given_summary);
        }
    }

    fn is_of_old_words(&self, known: &Checkpoint) -> bool {
        self.summed_after.is_some_and(|summed_after| summed_after != known.revised)
    }

    /// The title: the given one, else the heading of the conversation's Markdown, else the first words that the user said,
    /// else the first command; else the type. 80 graphemes at most.
    pub fn title(&self, titles: &Titles) -> String {
        let found = [self.given_title.as_deref(), self.heading.as_deref(), titles.best()];
        let mut shown = found.into_iter().flatten().map(title::shown).filter(|title| !title.is_empty());
        shown.next().unwrap_or_else(|| title::shown(&self.session_type))
    }

    /// The titles that nobody gave, and that a document may have nevertheless: those that the session would have, had it
    /// none of the better ones yet, and those that an older version made of the first line.
    pub(crate) fn derived_titles(&self, known: &Checkpoint) -> Vec<String> {
        let (heading, session_type) = (self.heading.as_deref(), Some(&*self.session_type));
        let now = known.titles.all().chain(heading).chain(session_type).map(title::shown);
        let before = [heading, known.titles.first_line(), session_type].into_iter().flatten();
        now.chain(before.map(cut_before)).collect()
    }

    /// Whether a document with this title says what was given.
    pub(crate) fn is_given(&self, title: &str) -> bool {
        let is_so =
            |given: &String| given == title || title::shown(given) == title || cut_before(given) == title;
        self.given_title.as_ref().is_some_and(is_so)
    }

    fn edit(&mut self, edited: &Edited, timestamp: Option<&str>) {
        // Without `..`: a new field does not compile until it has an effect here.
        let Edited {
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
        set(&mut self.given_title, title);
        set(&mut self.name, name);
        if without_summary || summary.is_some() {
            (self.summary, self.summed_ms, self.summed_after) = (summary, None, None);
            self.given_summary.clone_from(&self.summary);
        }
        set(&mut self.project, project);
        set(&mut self.parent, parent);
        set(&mut self.imported, imported);
        if let Some(session_type) = session_type.filter(|said| !said.is_empty()) {
            self.session_type = session_type;
        }
        self.status = status.unwrap_or(self.status);
        self.agent = agent.unwrap_or_else(|| core::mem::take(&mut self.agent));
        match archived {
            Some(true) => self.archived_at = Some(since(timestamp)),
            Some(false) => self.archived_at = None,
            None => {}
        }
    }
}

fn set<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

// An event without a time archives all the same; the date is then nobody's.
fn since(timestamp: Option<&str>) -> String {
    timestamp.map_or_else(|| time::format(0), String::from)
}

/// Whether a title is what is made of a line.
pub(crate) fn is_made_of(title: &str, line: &str) -> bool {
    title::shown(line) == title || cut_before(line) == title
}

// As version 0.1 cut titles.
fn cut_before(title: &str) -> String {
    const LONGEST: usize = 80;
    title.graphemes(true).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_made_of_a_line_whether_it_was_cut_as_now_or_as_once() {
        let line = "née\u{301} and so on ".repeat(20);
        let cut = |letters: usize| line.graphemes(true).take(letters).collect::<String>();
        assert!(is_made_of(&cut(80), &line) && is_made_of(&title::shown(&line), &line));
        assert!(is_made_of("all of it", "all of it"));
        for other in [cut(79), cut(81), String::new(), "and so on".into()] {
            assert!(!is_made_of(&other, &line), "{other}");
        }
    }
}
