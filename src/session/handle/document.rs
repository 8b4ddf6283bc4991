//! The document beside the logs: what in it no event says yet.
//!
//! `session.json` and `metadata.json` are written from the events. Someone may edit them nevertheless, agents do; and a
//! session that was typed by hand has no events at all. What a document says more than the events do is in force at once,
//! and becomes an event with the next ones that are written, before the document is written anew.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use crate::error::Error;
use crate::record::edited::Edited;
use crate::record::event::{Change, Event};
use crate::record::id;
use crate::session::ask::Ask;
use crate::session::documents::{Document, Name};
use crate::session::handle::Session;
use crate::session::metadata::Metadata;
use crate::time::{self, Stamp};

/// What a document says more than the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    document: Option<Document>,
    unsaid: Vec<Ask>,
    // What the document says that the session is about, also once it was written anew.
    summary: Option<String>,
}

impl Session {
    /// Takes the document that was found beside the logs, once both were observed; nothing where there is none.
    pub fn take_document(&mut self, document: Option<Document>) {
        let summary = document.as_ref().and_then(Document::summary).map(String::from);
        self.beside = Beside { unsaid: self.unsaid(document.as_ref()), document, summary };
        self.is_newer |= self.beside.document.as_ref().is_some_and(Document::is_newer);
        self.metadata = self.recorded.clone();
        for Ask { change, timestamp, extra, .. } in self.beside.unsaid.clone() {
            let as_of = self.metadata.as_of.take();
            self.metadata.apply(&Event { id: String::new(), timestamp, change, extra });
            self.metadata.as_of = as_of;
        }
        self.metadata.drop_old_words(&self.known);
    }

    /// Takes the document that is known once more, beside what else is known now.
    pub(super) fn hold_against_document(&mut self) {
        let Beside { document, summary, .. } = mem::take(&mut self.beside);
        self.take_document(document);
        self.beside.summary = summary;
    }

    /// The document was written as it is to be.
    pub(crate) fn document_written(&mut self) {
        self.beside.summary.clone_from(&self.metadata.summary);
    }

    /// Whether the document that was found is called by what a message said before it was said anew.
    pub(crate) fn has_old_title(&self) -> bool {
        let title = self.beside.document.as_ref().and_then(Document::title);
        title.is_some_and(|title| !self.recorded.is_given(title) && self.known.titles.were(title))
    }

    /// Whether the document has a summary that was made of such a message.
    pub(crate) fn has_old_summary(&self) -> bool {
        let said = &self.beside.summary;
        *said != self.metadata.summary && self.was_made(said.as_deref())
    }

    // Whether nobody gave this summary, and messages say something else now.
    fn was_made(&self, said: Option<&str>) -> bool {
        let is_it = |event: &Event| match &event.change {
            Change::Summary { summary, is_derived: true, revised } => {
                Some(&**summary) == said && *revised != self.known.revised
            }
            _ => false,
        };
        said.is_some() && self.history.iter().any(is_it)
    }

    /// Whether the document says what no event says yet.
    pub fn has_unsaid(&self) -> bool {
        !self.beside.unsaid.is_empty()
    }

    /// The document, as it is to be kept; what the one that was found has more, stays, and so does what it had when
    /// the session lay in this placement before.
    pub fn document(&self, name: Name) -> String {
        let found = self.beside.document.as_ref().filter(|document| document.name() == name);
        let before = if found.is_none() { self.left(name) } else { None };
        Document::write(name, &self.metadata, &self.known, found.or(before.as_ref()))
    }

    // The document that an event kept when the session left its placement.
    fn left(&self, name: Name) -> Option<Document> {
        let key = match name {
            Name::SessionJson => "\"sessionJson\"",
            Name::MetadataJson => "\"metadataJson\"",
        };
        let kept = |event: &Event| {
            event.extra.iter().find(|(found, _)| *found == key).map(|(_, json)| String::from(json))
        };
        let json = self.history.iter().rev().find_map(kept)?;
        Document::read(name, json.as_bytes()).ok().map(|(document, _)| document)
    }

    /// The bytes that append what is asked for as events, as one batch, behind what the document said; none where
    /// nothing changes.
    ///
    /// # Errors
    /// `invalid_transition` where the status may not become that; `newer_version`; those of [`crate::session::log::Log`].
    pub fn stage_asked(&mut self, asked: Vec<Ask>, stamp: &Stamp) -> Result<Vec<u8>, Error> {
        self.refuse_newer()?;
        let mut changes = self.beside.unsaid.clone();
        let unsaid = changes.len();
        let mut status = self.metadata.status;
        let mut agent = self.metadata.agent.clone();
        for mut ask in asked {
            if ask.changes(status)? {
                if let Change::Status { status: next, .. } = &ask.change {
                    status = *next;
                }
                if let Change::Agent(said) = &mut ask.change {
                    if ask.is_partial {
                        **said = mem::take(&mut **said).over(&agent);
                    }
                    agent.clone_from(said);
                }
                changes.push(ask);
            }
        }
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        // Else the same document would seem, beside what is said now, to have taken it back.
        if changes.len() > unsaid
            && let Some(taking_over) = self.taking_over()
        {
            changes.insert(unsaid, taking_over);
        }
        let now = time::format(stamp.now_ms);
        let event = |(place, Ask { change, timestamp, is_timeless, extra, .. }): (usize, Ask)| {
            let own = timestamp.filter(|timestamp| time::parse(timestamp).is_some());
            let timestamp = own.or_else(|| (!is_timeless).then(|| now.clone()));
            Event { id: id::new(stamp, place as u32), timestamp, change, extra }
        };
        self.events.stage(&changes.into_iter().enumerate().map(event).collect::<Vec<_>>())
    }

    fn unsaid(&self, document: Option<&Document>) -> Vec<Ask> {
        let Some(document) = document else { return Vec::new() };
        if self.recorded.as_of.is_none() {
            let mut metadata = document.metadata();
            if metadata.id.is_empty() || !self.recorded.id.is_empty() {
                metadata.id.clone_from(&self.recorded.id);
            }
            return metadata.changes();
        }
        let mut said = document.said();
        let name = document.called();
        let mut state = self.state_of(&name).unwrap_or_else(|| self.recorded.clone());
        state.drop_old_words(&self.known);
        if self.was_made(said.summary.as_deref()) {
            said.summary.clone_from(&state.summary);
        }
        let is_whole = self.history.iter().any(|event| event.id == name);
        said.as_of = Some(name);
        let derived = self.metadata.derived_titles(&self.known);
        let edited = Edited::between(&state, said, &derived, is_whole);
        // Whoever took it over may not have come to write the document anew.
        let left = self.history.iter().fold(edited, |left, event| match (&event.change, left) {
            (Change::Edited(before), Some(left)) if before.as_of == left.as_of => left.without(before),
            (_, left) => left,
        });
        left.map(|edited| Ask::from(Change::Edited(edited.into()))).into_iter().collect()
    }

    // Says which document it is that all the events up to here say, where nothing else does.
    fn taking_over(&self) -> Option<Ask> {
        let name = self.beside.document.as_ref()?.called();
        let is_said = self.beside.unsaid.iter().any(|ask| matches!(ask.change, Change::Edited(_)));
        let edited = Edited { as_of: Some(name.clone()), ..Edited::default() };
        (!is_said && self.place_of(&name).is_none()).then(|| Ask::from(Change::Edited(edited.into())))
    }

    // What the events add up to that say what a document says, edits apart.
    fn state_of(&self, document: &str) -> Option<Metadata> {
        let last = self.place_of(document)?;
        let mut state = Metadata { heading: self.recorded.heading.clone(), ..Metadata::default() };
        state.id.clone_from(&self.recorded.id);
        for event in &self.history[..=last] {
            state.apply(event);
        }
        Some(state)
    }

    // That of the event which a document was written from; else of the one by which it was taken over first.
    fn place_of(&self, document: &str) -> Option<usize> {
        let is_of = |event: &Event| matches!(&event.change, Change::Edited(edited) if edited.as_of.as_deref() == Some(document));
        let written = self.history.iter().rposition(|event| event.id == document);
        written.or_else(|| self.history.iter().position(is_of))
    }
}
