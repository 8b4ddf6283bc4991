//! The handle of a session, for JavaScript; operations share it.

use alloc::rc::Rc;
use alloc::string::String;

#[cfg(feature = "core")]
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

#[cfg(feature = "core")]
use crate::to_js_bytes;
#[cfg(feature = "core")]
use leftoff::layout::Placement;
use leftoff::layout::{File, Root};
use leftoff::operation::SessionFiles;
#[cfg(feature = "core")]
use leftoff::session::documents::DocumentName;

/// A session in step with its files; see `SessionFiles`.
#[wasm_bindgen(js_name = Live)]
pub struct SessionHandle(pub(super) Rc<SessionFiles>);

#[wasm_bindgen(js_class = Live)]
impl SessionHandle {
    /// The session of a folder in the home, or in `workspace` if given; nothing is read yet. `shown`: the folder's path
    /// for people; `cache`: where derived files lie in the home; `id`: given if it was opened before.
    #[wasm_bindgen(constructor)]
    pub fn new(
        workspace: Option<String>,
        path: String,
        shown: String,
        cache: String,
        id: &str,
    ) -> SessionHandle {
        let folder = file(workspace, path);
        SessionHandle(SessionFiles::new(folder, shown, file(None, cache), id))
    }
}

#[cfg(feature = "core")]
#[wasm_bindgen(js_class = Live)]
impl SessionHandle {
    /// The session's id; empty until it was opened or begun.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.0.id()
    }

    /// The folder's path for people; a new one once the session was opened elsewhere.
    #[wasm_bindgen(js_name = shownFolder, getter)]
    pub fn shown_folder(&self) -> String {
        self.0.shown_folder()
    }

    /// Whether it lies in a workspace.
    #[wasm_bindgen(getter, js_name = isInWorkspace)]
    pub fn is_in_workspace(&self) -> bool {
        self.0.placement() == Placement::Workspace
    }

    /// The notices for whoever opened it, as in `SessionFiles::notices`.
    pub fn notices(&self) -> String {
        self.0.notices()
    }

    /// The number of times it was opened.
    #[wasm_bindgen(js_name = openCount, getter)]
    pub fn open_count(&self) -> u32 {
        self.0.opened_times()
    }

    /// The session's metadata, as in `metadata.json`.
    pub fn metadata(&self) -> Uint8Array {
        to_js_bytes(&self.0.session().borrow().document(DocumentName::MetadataJson))
    }

    /// Whether nothing was recorded yet.
    #[wasm_bindgen(getter, js_name = isEmpty)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the last append got as far as staging its messages.
    #[wasm_bindgen(getter, js_name = wasStaged)]
    pub fn was_staged(&self) -> bool {
        self.0.was_staged()
    }
}

fn file(workspace: Option<String>, path: String) -> File {
    File::new(workspace.map_or(Root::Home, Root::Workspace), path)
}
