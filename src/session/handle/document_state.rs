//! The document beside the logs: its edits that no event has recorded yet.
//!
//! `session.json` and `metadata.json` are written from the events. Someone may edit them nevertheless, agents do; and
//! a session that was typed by hand has no events at all. What a document says beyond the events is in force at once,
//! and becomes an event with the next ones that are written, before the document is written anew.
//!
//! An edit is compared with the state that the document names: an editor open for an hour undoes nothing that was
//! recorded meanwhile, and nothing is adopted twice. Where that state is lost, the edit is compared with the state in
//! which the document was found, and an event says which one that is before any other is written.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use crate::error::Error;
use crate::record::document_edit::DocumentEdit;
use crate::record::event::{Change, Event};
use crate::record::id;
use crate::session::change_request::ChangeRequest;
use crate::session::documents::{Document, DocumentName};
use crate::session::handle::Session;
use crate::session::metadata::Metadata;
use crate::time::{self, Stamp};

/// The document as it was found, and its unrecorded edits.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentState {
    document: Option<Document>,
    unrecorded: Vec<ChangeRequest>,
    // The document's summary, also once it was written anew.
    summary: Option<String>,
}

impl Session {
    /// Takes the document found beside the logs, once both were observed; `None` where there is none.
    pub fn take_document(&mut self, document: Option<Document>) {
        let summary = document.as_ref().and_then(Document::summary).map(String::from);
        self.document_state =
            DocumentState { unrecorded: self.unrecorded_changes(document.as_ref()), document, summary };
        self.is_newer |= self.document_state.document.as_ref().is_some_and(Document::is_newer);
        self.metadata = self.recorded_metadata.clone();
        for ChangeRequest { change, timestamp, extra, .. } in self.document_state.unrecorded.clone() {
            let as_of = self.metadata.as_of.take();
            self.metadata.apply(&Event { id: String::new(), timestamp, change, extra });
            self.metadata.as_of = as_of;
        }
        self.metadata.drop_outdated_summary(&self.log_state);
    }

    /// Compares the known document again with what is known now.
    pub(super) fn compare_document(&mut self) {
        let DocumentState { document, summary, .. } = mem::take(&mut self.document_state);
        self.take_document(document);
        self.document_state.summary = summary;
    }

    /// Notes that the document was written.
    pub(crate) fn mark_document_written(&mut self) {
        self.document_state.summary.clone_from(&self.metadata.summary);
    }

    /// Whether the document's title comes from a message that was revised since.
    pub(crate) fn has_old_title(&self) -> bool {
        let title = self.document_state.document.as_ref().and_then(Document::title);
        title.is_some_and(|title| {
            !self.recorded_metadata.is_given(title) && self.log_state.titles.was_previously(title)
        })
    }

    /// Whether the document's summary comes from such a message.
    pub(crate) fn has_old_summary(&self) -> bool {
        let said = &self.document_state.summary;
        *said != self.metadata.summary && self.is_outdated_summary(said.as_deref())
    }

    // Whether this summary was derived, and its messages have been revised since.
    fn is_outdated_summary(&self, said: Option<&str>) -> bool {
        let is_it = |event: &Event| match &event.change {
            Change::Summary { summary, is_derived: true, revised } => {
                Some(&**summary) == said && *revised != self.log_state.revised
            }
            _ => false,
        };
        said.is_some() && self.event_history.iter().any(is_it)
    }

    /// Whether the document has edits that no event has recorded.
    pub fn has_unrecorded(&self) -> bool {
        !self.document_state.unrecorded.is_empty()
    }

    /// Renders the document to write; fields that only the found document has stay, and so does what it had when the
    /// session lay in this placement before.
    pub fn document(&self, name: DocumentName) -> String {
        let found = self.document_state.document.as_ref().filter(|document| document.name() == name);
        let before = if found.is_none() { self.previous_document(name) } else { None };
        Document::write(name, &self.metadata, &self.log_state, found.or(before.as_ref()))
    }

    // The document that an event kept when the session left its placement, so that fields that only this document has
    // come back with it.
    fn previous_document(&self, name: DocumentName) -> Option<Document> {
        let key = match name {
            DocumentName::SessionJson => "\"sessionJson\"",
            DocumentName::MetadataJson => "\"metadataJson\"",
        };
        let kept = |event: &Event| {
            event.extra.iter().find(|(found, _)| *found == key).map(|(_, json)| String::from(json))
        };
        let json = self.event_history.iter().rev().find_map(kept)?;
        Document::read(name, json.as_bytes()).ok().map(|(document, _)| document)
    }

    /// Stages changes as events, as one batch, behind the document's own edits; returns the bytes to append, empty
    /// where nothing changes.
    ///
    /// # Errors
    /// `invalid_transition` where the status may not become that; `newer_version`; those of
    /// [`crate::session::log::Log`].
    pub fn stage_changes(&mut self, requests: Vec<ChangeRequest>, stamp: &Stamp) -> Result<Vec<u8>, Error> {
        self.reject_newer()?;
        let mut changes = self.document_state.unrecorded.clone();
        let unsaid = changes.len();
        let mut status = self.metadata.status;
        let mut agent = self.metadata.agent.clone();
        for mut ask in requests {
            if ask.has_effect_on(status)? {
                if let Change::Status { status: next, .. } = &ask.change {
                    status = *next;
                }
                if let Change::Agent(said) = &mut ask.change {
                    if ask.is_partial {
                        **said = mem::take(&mut **said).or_known(&agent);
                    }
                    agent.clone_from(said);
                }
                changes.push(ask);
            }
        }
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        // Else the same document would seem, beside the new events, to have taken them back.
        if changes.len() > unsaid
            && let Some(taking_over) = self.takeover_change()
        {
            changes.insert(unsaid, taking_over);
        }
        let now = time::format(stamp.now_ms);
        let event =
            |(place, ChangeRequest { change, timestamp, is_timeless, extra, .. }): (usize, ChangeRequest)| {
                let own = timestamp.filter(|timestamp| time::parse(timestamp).is_some());
                let timestamp = own.or_else(|| (!is_timeless).then(|| now.clone()));
                Event { id: id::new(stamp, place as u32), timestamp, change, extra }
            };
        self.events.stage(&changes.into_iter().enumerate().map(event).collect::<Vec<_>>())
    }

    fn unrecorded_changes(&self, document: Option<&Document>) -> Vec<ChangeRequest> {
        let Some(document) = document else { return Vec::new() };
        if self.recorded_metadata.as_of.is_none() {
            let mut metadata = document.metadata();
            if metadata.id.is_empty() || !self.recorded_metadata.id.is_empty() {
                metadata.id.clone_from(&self.recorded_metadata.id);
            }
            return metadata.to_changes();
        }
        let mut said = document.claims();
        let name = document.document_id();
        let mut state = self.metadata_as_of(&name).unwrap_or_else(|| self.recorded_metadata.clone());
        state.drop_outdated_summary(&self.log_state);
        if self.is_outdated_summary(said.summary.as_deref()) {
            said.summary.clone_from(&state.summary);
        }
        let is_whole = self.event_history.iter().any(|event| event.id == name);
        said.as_of = Some(name);
        let derived = self.metadata.derived_titles(&self.log_state);
        let edited = DocumentEdit::from_claims(&state, said, &derived, is_whole);
        // Whoever adopted it may have died before the document was written anew.
        let left = self.event_history.iter().fold(edited, |left, event| match (&event.change, left) {
            (Change::Edited(before), Some(left)) if before.as_of == left.as_of => {
                left.without_applied(before)
            }
            (_, left) => left,
        });
        left.map(|edited| ChangeRequest::from(Change::Edited(edited.into()))).into_iter().collect()
    }

    // Names the document that all the events up to here agree with, where nothing else does.
    fn takeover_change(&self) -> Option<ChangeRequest> {
        let name = self.document_state.document.as_ref()?.document_id();
        let is_said =
            self.document_state.unrecorded.iter().any(|ask| matches!(ask.change, Change::Edited(_)));
        let edited = DocumentEdit { as_of: Some(name.clone()), ..DocumentEdit::default() };
        (!is_said && self.position_of_event(&name).is_none())
            .then(|| ChangeRequest::from(Change::Edited(edited.into())))
    }

    // What the events up to a document's state add up to, without its edits.
    fn metadata_as_of(&self, document: &str) -> Option<Metadata> {
        let last = self.position_of_event(document)?;
        let mut state = Metadata { heading: self.recorded_metadata.heading.clone(), ..Metadata::default() };
        state.id.clone_from(&self.recorded_metadata.id);
        for event in &self.event_history[..=last] {
            state.apply(event);
        }
        Some(state)
    }

    // Position of the event that a document was written from; else of the one that first adopted it.
    fn position_of_event(&self, document: &str) -> Option<usize> {
        let is_of = |event: &Event| matches!(&event.change, Change::Edited(edited) if edited.as_of.as_deref() == Some(document));
        let written = self.event_history.iter().rposition(|event| event.id == document);
        written.or_else(|| self.event_history.iter().position(is_of))
    }
}
