//! Messages of two alternating roles, for providers that have no others.

use alloc::format;

use crate::shapes::json::JsonWriter;
use crate::shapes::patterns::Forms;
use crate::shapes::steps::Step;

/// Writes messages, merging neighbors of one role.
pub(super) struct Speakers<'a> {
    json: &'a mut JsonWriter,
    key: &'static str,
    current_role: &'static str,
}

impl<'a> Speakers<'a> {
    /// `key` is the field of a message's parts.
    pub fn new(json: &'a mut JsonWriter, key: &'static str) -> Speakers<'a> {
        Speakers { json, key, current_role: "" }
    }

    /// Continues the current speaker's message, or begins one.
    pub fn speak(&mut self, role: &'static str) -> &mut JsonWriter {
        if self.current_role != role {
            self.finish();
            self.current_role = role;
            self.json.put("{\"role\":?0,?1:[", &[role, self.key]);
        }
        self.json
    }

    /// Writes a system message as a labeled user message: a field beside the messages would be lost by callers who
    /// send only these.
    pub fn system(&mut self, step: &Step<'_>, forms: &Forms) {
        self.speak("user").put(forms.text, &[&format!("[System message]\n{}", step.text_with_files())]);
    }

    pub fn finish(&mut self) {
        if !self.current_role.is_empty() {
            self.json.put("]}", &[]);
        }
    }
}
