//! A session as one text, for JavaScript: see `export::Export`.

use alloc::string::String;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{Answer, bytes, thrown, utf8};
use leftoff::export::{Export, Shape};

/// A text that is being made, a piece with each call; what it is made of crosses as JSON bytes.
#[wasm_bindgen(js_name = Export)]
pub struct ExportHandle(Export);

#[wasm_bindgen(js_class = Export)]
impl ExportHandle {
    /// In a shape, `json` or `markdown`.
    #[wasm_bindgen(constructor)]
    pub fn new(shape: &str, all_branches: bool) -> Answer<ExportHandle> {
        Ok(ExportHandle(Export::new(Shape::parse(shape).map_err(thrown)?, all_branches)))
    }

    /// Whether a message is in it; `answers`: the call that it answers.
    #[wasm_bindgen(js_name = hasMessage)]
    pub fn has_message(&mut self, id: &str, answers: Option<String>, is_on_path: bool) -> bool {
        self.0.has_message(id, answers.as_deref(), is_on_path)
    }

    /// Whether a tool execution is in it.
    #[wasm_bindgen(js_name = hasExecution)]
    pub fn has_execution(&self, message_id: Option<String>, call_id: &str) -> bool {
        self.0.has_execution(message_id.as_deref(), call_id)
    }

    /// How it begins.
    pub fn begin(&mut self, metadata: &[u8]) -> Answer<Uint8Array> {
        self.0.begin(utf8(metadata)?).map(|text| bytes(&text)).map_err(thrown)
    }

    /// The next message.
    pub fn message(&mut self, message: &[u8]) -> Answer<Uint8Array> {
        self.0.message(utf8(message)?).map(|text| bytes(&text)).map_err(thrown)
    }

    /// The next tool execution.
    pub fn execution(&mut self, execution: &[u8]) -> Answer<Uint8Array> {
        self.0.execution(utf8(execution)?).map(|text| bytes(&text)).map_err(thrown)
    }

    /// How it ends.
    pub fn end(&self) -> Uint8Array {
        bytes(&self.0.end())
    }
}
