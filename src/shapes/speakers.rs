//! Messages of two roles that take turns, for providers that have no others.

use alloc::format;

use crate::shapes::json::JsonWriter;
use crate::shapes::patterns::Forms;
use crate::shapes::steps::Step;

/// Messages on their way: neighbors of one role become one message.
pub(super) struct Speakers<'a> {
    json: &'a mut JsonWriter,
    key: &'static str,
    current_role: &'static str,
}

impl<'a> Speakers<'a> {
    /// `key` is where a message has its parts.
    pub fn new(json: &'a mut JsonWriter, key: &'static str) -> Speakers<'a> {
        Speakers { json, key, current_role: "" }
    }

    /// Who speaks goes on, or begins.
    pub fn speak(&mut self, role: &'static str) -> &mut JsonWriter {
        if self.current_role != role {
            self.finish();
            self.current_role = role;
            self.json.put("{\"role\":?0,?1:[", &[role, self.key]);
        }
        self.json
    }

    /// The user says what a system message does, and that it is one.
    pub fn system(&mut self, step: &Step<'_>, forms: &Forms) {
        self.speak("user").put(forms.text, &[&format!("[System message]\n{}", step.text_with_files())]);
    }

    pub fn finish(&mut self) {
        if !self.current_role.is_empty() {
            self.json.put("]}", &[]);
        }
    }
}
