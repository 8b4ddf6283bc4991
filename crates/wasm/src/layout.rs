//! Where files lie, for JavaScript: paths below a root with `/`, and names.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::small;
use leftoff::layout::{self, File, Place, Placement, Root, mentioned, names, pointer};
use leftoff::session::documents::Name;

#[derive(Serialize)]
struct Document {
    file: &'static str,
    // What an event calls it.
    key: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Names {
    projects: String,
    session_prefix: &'static str,
    no_project: &'static str,
    index: String,
    workspaces: String,
    moving: String,
    trash: String,
    trash_origins: String,
    coming: &'static str,
    cache: String,
    imported: String,
    conversations: &'static str,
    session_folder: &'static str,
    logs: [&'static str; 3],
    blobs: &'static str,
    summaries: &'static str,
    attributes: &'static str,
    taken: &'static str,
    pointer: String,
    pointer_link: String,
    ignore: String,
    ignored: &'static str,
    home: Document,
    workspace: Document,
}

fn document(name: Name) -> Document {
    match name {
        Name::MetadataJson => Document { file: Placement::Home.document(), key: "metadataJson" },
        Name::SessionJson => Document { file: Placement::Workspace.document(), key: "sessionJson" },
    }
}

/// What files and folders are called; those of the home with the path below it. They never change.
#[wasm_bindgen(js_name = layoutNames, unchecked_return_type = "{ projects: string, sessionPrefix: string, noProject: string, index: string, workspaces: string, moving: string, trash: string, trashOrigins: string, coming: string, cache: string, imported: string, conversations: string, sessionFolder: string, logs: [string, string, string], blobs: string, summaries: string, attributes: string, taken: string, pointer: string, pointerLink: string, ignore: string, ignored: string, home: { file: string, key: string }, workspace: { file: string, key: string } }")]
pub fn layout_names() -> JsValue {
    small(&Names {
        projects: layout::projects().path,
        session_prefix: layout::SESSION_PREFIX,
        no_project: layout::NO_PROJECT,
        index: layout::index().path,
        workspaces: layout::workspaces().path,
        moving: layout::moving().path,
        trash: layout::trash().path,
        trash_origins: layout::trash_origins().path,
        coming: names::COMING,
        cache: layout::cache().path,
        imported: layout::imported().path,
        conversations: layout::CONVERSATIONS,
        session_folder: layout::SESSION_FOLDER,
        logs: [layout::MESSAGES, layout::EVENTS, layout::TOOLS],
        blobs: layout::BLOBS,
        summaries: layout::SUMMARIES,
        attributes: layout::ATTRIBUTES,
        taken: layout::TAKEN,
        pointer: pointer::file().path,
        pointer_link: pointer::link().path,
        ignore: pointer::ignore_file().path,
        ignored: pointer::IGNORED,
        home: document(Name::MetadataJson),
        workspace: document(Name::SessionJson),
    })
}

/// Whether a session may lie at this path, below the home or below a workspace.
#[wasm_bindgen(js_name = isSessionPath)]
pub fn is_session_path(path: &str, is_workspace: bool) -> bool {
    let root = if is_workspace { Root::Workspace(String::new()) } else { Root::Home };
    Place::of(&File::new(root, path)).is_some()
}

/// The type of the conversations that a slash command begins.
#[wasm_bindgen(js_name = commandType)]
pub fn command_type(command: &str) -> Option<String> {
    names::command_type(command).map(String::from)
}

/// Days and names of the conversations that a text names, one behind the other.
#[wasm_bindgen(js_name = conversationsIn)]
pub fn conversations_in(text: &str) -> Vec<String> {
    let found = mentioned::conversations(text).into_iter();
    found.flat_map(|(day, name)| [day, name]).map(String::from).collect()
}

/// What something of this name is called in the trash.
#[wasm_bindgen(js_name = trashName)]
pub fn trash_name(name: &str, now_ms: f64) -> String {
    names::trashed(name, now_ms as i64)
}

/// When something in the trash was deleted, how it was kept, and what it was called: by its name.
#[wasm_bindgen(js_name = readTrashName, unchecked_return_type = "[deleted: string, placement: \"home\" | \"workspace\", name: string] | undefined")]
pub fn read_trash_name(name: &str) -> Option<Vec<String>> {
    let names::Trashed { deleted, placement, name } = names::read_trashed(name)?;
    let placement = match placement {
        Placement::Home => "home",
        Placement::Workspace => "workspace",
    };
    Some([deleted, placement.into(), name.into()].into())
}

/// What a folder is called that is left; see `names::renamed`.
#[wasm_bindgen(js_name = leftName)]
pub fn left_name(id: &str, pid: u32, name: &str) -> String {
    names::renamed(names::Why::Left, id, pid, name)
}

/// What a folder is called that nobody wants any more.
#[wasm_bindgen(js_name = goneName)]
pub fn gone_name(id: &str, pid: u32, name: &str) -> String {
    names::renamed(names::Why::Gone, id, pid, name)
}

/// Why a folder is called so, by which process, and what it was called before.
#[wasm_bindgen(js_name = readRenamed, unchecked_return_type = "[why: \"left\" | \"gone\", pid: string, was: string] | undefined")]
pub fn read_renamed(name: &str) -> Option<Vec<String>> {
    let names::Renamed { why, pid, was } = names::read_renamed(name)?;
    Some([why.as_str(), pid, was].map(String::from).into())
}

/// What a place is called while somebody makes it.
#[wasm_bindgen(js_name = takingName)]
pub fn taking_name(id: &str) -> String {
    names::taking(id)
}

/// Whether a folder of this name may be a place that is taken.
#[wasm_bindgen(js_name = isTaking)]
pub fn is_taking(name: &str) -> bool {
    names::is_taking(name)
}

/// The number of the process that wrote the temporary file of this name.
#[wasm_bindgen(js_name = temporaryOf)]
pub fn temporary_of(name: &str) -> Option<String> {
    names::temporary(name).map(String::from)
}

/// What is kept of a session, as the cache has it.
#[wasm_bindgen(js_name = keptNames)]
pub fn kept_names(id: &str) -> Vec<String> {
    names::Kept::ALL.map(|what| names::kept(id, what)).into()
}

/// Of which session something in the cache is, and whether it says who has that open.
#[wasm_bindgen(js_name = readKept, unchecked_return_type = "[id: string, isLeases: boolean] | undefined")]
pub fn read_kept(name: &str) -> JsValue {
    match names::read_kept(name) {
        Some((id, what)) => small(&(id.to_string(), what == names::Kept::Leases)),
        None => JsValue::UNDEFINED,
    }
}
