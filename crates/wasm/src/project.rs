//! By what a project is known, for JavaScript.

use alloc::string::{String, ToString};

use wasm_bindgen::prelude::*;

use crate::small;
use leftoff::project::{self, Aliases, Where};

/// The hash of a project's folder, resolved and in normalization form C.
#[wasm_bindgen(js_name = projectHash)]
pub fn project_hash(path: &str) -> String {
    project::hash(path)
}

/// What git says of where a folder lies: whether its first commit is known there, and the folder from the top; see
/// `Where::read`.
#[wasm_bindgen(js_name = gitWhere, unchecked_return_type = "[hasFirstCommit: boolean, folder: string] | undefined")]
pub fn git_where(answer: &str) -> JsValue {
    match Where::read(answer) {
        Some(Where { has_first_commit, folder }) => small(&(has_first_commit, folder.to_string())),
        None => JsValue::UNDEFINED,
    }
}

/// Of the names of remotes, a line each, the one that counts.
#[wasm_bindgen(js_name = remoteThatCounts)]
pub fn remote_that_counts(names: &str) -> Option<String> {
    project::remote_that_counts(names).map(String::from)
}

/// What a repository is known by; see `Aliases::new`.
#[wasm_bindgen(js_name = projectAliases, unchecked_return_type = "{ remote?: string, firstCommit?: string, folder?: string } | undefined")]
pub fn project_aliases(address: &str, first_commit: &str, folder: &str) -> JsValue {
    Aliases::new(address, first_commit, folder).map_or(JsValue::UNDEFINED, |aliases| small(&aliases))
}

/// A title as the first line of a commit.
#[wasm_bindgen(js_name = commitTitle)]
pub fn commit_title(title: &str) -> String {
    project::commit_title(title)
}
