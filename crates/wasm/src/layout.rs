//! The layout, for JavaScript: paths below a root with `/`, and names of files.

use alloc::string::String;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::to_js_value;
use leftoff::layout::{self, Placement, pointer};

#[derive(Serialize)]
struct PlacementDocument {
    file: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LayoutNames {
    projects: String,
    session_prefix: &'static str,
    cache: String,
    blobs: &'static str,
    summaries: &'static str,
    ignored: &'static str,
    home: PlacementDocument,
    workspace: PlacementDocument,
}

/// The names of files and folders; the home's with their path below it. They never change.
#[wasm_bindgen(js_name = layoutNames, unchecked_return_type = "{ projects: string, sessionPrefix: string, cache: string, blobs: string, summaries: string, ignored: string, home: { file: string }, workspace: { file: string } }")]
pub fn layout_names() -> JsValue {
    to_js_value(&LayoutNames {
        projects: layout::projects().path,
        session_prefix: layout::SESSION_PREFIX,
        cache: layout::cache().path,
        blobs: layout::BLOBS,
        summaries: layout::SUMMARIES,
        ignored: pointer::IGNORE_RULES,
        home: PlacementDocument { file: Placement::Home.document() },
        workspace: PlacementDocument { file: Placement::Workspace.document() },
    })
}
