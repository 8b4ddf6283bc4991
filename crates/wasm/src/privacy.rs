//! What leaves without its secrets, for JavaScript: see `privacy::Redaction`.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{Answer, bytes, thrown, utf8};
use leftoff::json::text::to_json;
use leftoff::privacy::{Known, Part, Redaction, Span};

/// Between two texts: no secret goes over it.
const BETWEEN: &str = "\n\0\n";

/// Values on their way out.
#[wasm_bindgen(js_name = Redaction)]
pub struct RedactionHandle {
    redaction: Redaction,
    texts: Vec<String>,
}

#[wasm_bindgen(js_class = Redaction)]
impl RedactionHandle {
    /// Of a value, JSON bytes. `known`: the secrets of the whole texts that it was made of, JSON, `[[secret,rule]]`.
    #[wasm_bindgen(constructor)]
    pub fn new(value: &[u8], key: &[u8], known: &[u8]) -> Answer<RedactionHandle> {
        let redaction = Redaction::new(utf8(value)?, key, known_of(known)?).map_err(thrown)?;
        Ok(RedactionHandle { redaction, texts: Vec::new() })
    }

    /// Of bytes as they are stored, a log or something else.
    pub fn stored(stored: &[u8], is_log: bool) -> RedactionHandle {
        RedactionHandle { redaction: Redaction::stored(stored, is_log), texts: Vec::new() }
    }

    /// The texts that are to be looked at next, as one; nothing once all were.
    pub fn texts(&mut self) -> Option<String> {
        self.texts = self.redaction.texts();
        (!self.texts.is_empty()).then(|| self.texts.join(BETWEEN))
    }

    /// Each of them.
    pub fn each(&self) -> Vec<String> {
        self.texts.clone()
    }

    /// None of them has a secret.
    pub fn clean(&mut self) {
        self.redaction.found(&[]);
    }

    /// What was found in each of them: JSON bytes, `[[{"start","end","rule"}]]`, in bytes.
    pub fn found(&mut self, spans: &[u8]) -> Answer<()> {
        Span::all_from_json(utf8(spans)?).map(|spans| self.redaction.found(&spans)).map_err(thrown)
    }

    /// The value as it may leave, JSON; nothing where it is the same.
    pub fn value(&self) -> Option<Uint8Array> {
        self.redaction.value().map(|value| bytes(&value))
    }

    /// Each text that is another one now: `[[before,after]]`, JSON.
    pub fn changed(&self) -> Uint8Array {
        bytes(&to_json(self.redaction.changed()))
    }

    /// What was found, each once: `[{"rule","placeholder","count"}]`, JSON.
    pub fn secrets(&self) -> Uint8Array {
        bytes(&to_json(self.redaction.secrets()))
    }

    /// What was found, each as often as it stands there: `[{"secret","rule","start","end"}]`, JSON.
    pub fn all(&self) -> Uint8Array {
        bytes(&to_json(self.redaction.all()))
    }
}

/// Where parts of secrets stand that are known: JSON, `[{"start","end","rule"}]`, in bytes.
#[wasm_bindgen(js_name = knownIn)]
pub fn known_in(text: &str, known: &[u8]) -> Answer<Uint8Array> {
    let known = known_of(known)?;
    let span = |part: Part<'_>| Span { start: part.place.start, end: part.place.end, rule: part.rule.into() };
    Ok(bytes(&to_json(&known.find(text).into_iter().map(span).collect::<Vec<_>>())))
}

fn known_of(known: &[u8]) -> Answer<Known> {
    Known::from_json(utf8(known)?).map_err(thrown)
}
