//! What a session is, apart from its messages: the state that its events add up to.

use alloc::string::String;

use unicode_segmentation::UnicodeSegmentation;

use crate::session::event::{Agent, Change, Event, Imported, Parent, Project};
use crate::session::status::Status;

const LONGEST_TITLE: usize = 80;

/// The state that a session's events add up to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The session's uuid; empty until its `created` event was read.
    pub id: String,
    /// What sort of conversation it is.
    pub session_type: String,
    /// Its name in its workspace.
    pub name: Option<String>,
    /// The title that the user or the agent gave.
    pub given_title: Option<String>,
    /// What it is about, in words.
    pub summary: Option<String>,
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
    /// The newest event.
    pub as_of: Option<String>,
}

impl Metadata {
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
            Change::Status { status } => self.status = *status,
            Change::Summary { summary } => self.summary = Some(summary.clone()),
            Change::Archived => self.archived_at.clone_from(&event.timestamp),
            Change::Unarchived => self.archived_at = None,
            Change::Agent(agent) => self.agent = (**agent).clone(),
            Change::Imported(imported) => self.imported = Some(imported.clone()),
            Change::Pin(_) | Change::Unpin(_) | Change::Leaf(_) | Change::Other(_) => {}
        }
    }

    /// The title: the given one, else the first line of the first user message, 80 graphemes; else the type.
    pub fn title(&self, first_user_line: Option<&str>) -> String {
        let title = self.given_title.as_deref().or(first_user_line).unwrap_or(&self.session_type);
        title.graphemes(true).take(LONGEST_TITLE).collect()
    }
}
