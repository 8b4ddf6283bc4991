//! Token counters, for JavaScript.

use alloc::rc::Rc;
#[cfg(any(feature = "core", feature = "context"))]
use alloc::string::String;

use wasm_bindgen::prelude::*;

#[cfg(any(feature = "core", feature = "context"))]
use crate::parse_utf8;
use crate::{JsResult, to_js_error};
use leftoff::operation::CountingMode;
use leftoff::tokens::Vocabulary;
#[cfg(any(feature = "core", feature = "context"))]
use leftoff::tokens::{Encoding, estimate};

/// A token counter: a vocabulary, or the estimate.
#[wasm_bindgen]
pub struct Counter(pub(super) Option<Rc<Vocabulary>>);

#[wasm_bindgen]
impl Counter {
    /// The counter that estimates.
    #[wasm_bindgen(js_name = estimate)]
    pub fn estimate() -> Counter {
        Counter(None)
    }

    /// The counter of a vocabulary, made from its planes.
    #[cfg(any(feature = "tokens", feature = "agents", feature = "context"))]
    #[wasm_bindgen(js_name = fromPlanes)]
    pub fn from_planes(planes: &[u8]) -> JsResult<Counter> {
        Vocabulary::from_bytes(planes).map(|vocabulary| Counter(Some(vocabulary.into()))).map_err(to_js_error)
    }
}

#[cfg(any(feature = "core", feature = "context"))]
#[wasm_bindgen]
impl Counter {
    /// Counts the tokens of a text; above the limit, returns some number above it.
    pub fn count(&self, text: &[u8], limit: Option<u32>) -> JsResult<u32> {
        match &self.0 {
            Some(vocabulary) => Ok(vocabulary.count_bytes(text, limit.unwrap_or(u32::MAX))),
            None => Ok(estimate(parse_utf8(text)?)),
        }
    }

    /// The encoding for a request's encoding or model; see `Encoding::wanted`.
    #[wasm_bindgen(js_name = encodingOf)]
    pub fn encoding_of(name: Option<String>, model: Option<String>) -> JsResult<String> {
        let wanted = Encoding::resolve(name.as_deref(), model.as_deref());
        wanted.map(|encoding| encoding.as_str().into()).map_err(to_js_error)
    }
}

impl Counter {
    /// How messages are counted when they are stored.
    pub(crate) fn counts(&self, count_tokens: bool) -> CountingMode {
        match &self.0 {
            _ if !count_tokens => CountingMode::Off,
            None => CountingMode::Estimate,
            Some(vocabulary) => CountingMode::Exact(vocabulary.clone()),
        }
    }
}
