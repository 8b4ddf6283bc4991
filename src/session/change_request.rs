//! What a host asks to have changed about a session, as the events that record it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields, parse_items};
use crate::json::request;
use crate::json::text::Extra;
use crate::record::draft;
use crate::record::event::{self, Change};
use crate::record::status::Status;

/// A requested change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRequest {
    /// The change.
    pub change: Change,
    /// A completed session may become active again.
    pub has_override: bool,
    /// Fields that an agent's description lacks stay as they are.
    pub is_partial: bool,
    /// When it happened, where that was not now.
    pub timestamp: Option<String>,
    /// Nobody knows when it happened.
    pub is_timeless: bool,
    /// Further fields of the event.
    pub extra: Extra,
}

impl ChangeRequest {
    /// Reads an array of `{"type",...}`, each as an event has it in `events.jsonl`. A status may have `"override":
    /// true`, and each a `timestamp`, null where nobody knows when it happened. An agent may stand in a field of its
    /// own, `agent`, and with `"partial": true` the fields that it lacks stay as they are. Unknown fields are kept in
    /// the event.
    ///
    /// # Errors
    /// `invalid_request`, naming the field.
    pub fn from_json(json: &str) -> Result<Vec<ChangeRequest>, Error> {
        let all = parse_items(json)
            .ok_or_else(|| request::error("expected an array of changes, but found none"))?;
        all.into_iter().map(ChangeRequest::parse_one).collect()
    }

    fn parse_one(json: &str) -> Result<ChangeRequest, Error> {
        let mut bad = Vec::new();
        let mut fields = Fields::parse(json)
            .map_err(|found| request::error(format!("expected a change, but found {found} instead")))?;
        let name: String = fields.take("type", &mut bad).unwrap_or_default();
        let has_override = fields.take("override", &mut bad).unwrap_or_default();
        let is_partial = name == "agent" && fields.take("partial", &mut bad).unwrap_or_default();
        let is_timeless = fields.raw("timestamp") == Some("null");
        let timestamp = fields.take("timestamp", &mut bad);
        let change = parse_change(name, &mut fields, &mut bad);
        request::reject_bad(&mut bad)?;
        if let Change::Other(other) = &change {
            return Err(request::error(format!(
                "expected a change that is known, with its fields, but found {:?} instead",
                other.name
            )));
        }
        if let Change::Title { title, .. } = &change
            && title.trim().is_empty()
        {
            return Err(request::error(format!("expected a title, but found {title:?} instead")));
        }
        Ok(ChangeRequest { change, has_override, is_partial, timestamp, is_timeless, extra: fields.rest() })
    }

    /// Whether it changes a session of this status.
    ///
    /// # Errors
    /// `invalid_transition` where the status may not become that one.
    pub fn has_effect_on(&self, now: Status) -> Result<bool, Error> {
        let Change::Status { status, .. } = &self.change else { return Ok(true) };
        if *status == now {
            return Ok(false);
        }
        if now.may_become(*status, self.has_override) {
            return Ok(true);
        }
        let hint = if *status == Status::Active { " without an override" } else { "" };
        Err(Error::new(
            Code::InvalidTransition,
            format!("a {} session cannot become {}{hint}", now.as_str(), status.as_str()),
        ))
    }
}

/// An agent may be given apart from the event's own keys: it may have a `type` by mistake.
fn parse_change(name: String, fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Change {
    let word = match name.as_str() {
        "title" => "title",
        "summary" => "summary",
        "status" => "reason",
        "pin" | "unpin" | "leaf" | "accepted" => "messageId",
        "agent" if fields.has("agent") => {
            let raw = fields.take_raw("agent").unwrap_or_default();
            return Change::Agent(draft::parse_agent(raw, bad).unwrap_or_default().into());
        }
        _ => return event::parse_change(name, fields, bad),
    };
    draft::check_word(fields.raw(word), word, bad);
    event::parse_change(name, fields, bad)
}

impl From<Change> for ChangeRequest {
    fn from(change: Change) -> ChangeRequest {
        let extra = Extra::default();
        ChangeRequest {
            change,
            has_override: false,
            is_partial: false,
            timestamp: None,
            is_timeless: false,
            extra,
        }
    }
}
