//! A session on disk, as operations share it.

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

/// A session, and what is known of its files; see `SessionFiles`.
#[wasm_bindgen(js_name = Live)]
pub struct SessionHandle(pub(super) Rc<SessionFiles>);

#[wasm_bindgen(js_class = Live)]
impl SessionHandle {
    /// The session of a folder of the home, or of a workspace where there is one: nothing of it is read. `shown`: how people
    /// call the folder; `cache`: where derived things lie in the home; `id`: where it was opened before.
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
    /// Its id; empty until it was opened or begun.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.0.id()
    }

    /// The folder it lies in, as people call it; another one, once it was opened there.
    #[wasm_bindgen(js_name = shownFolder, getter)]
    pub fn shown_folder(&self) -> String {
        self.0.shown_folder()
    }

    /// It lies in a workspace.
    #[wasm_bindgen(getter, js_name = isInWorkspace)]
    pub fn is_in_workspace(&self) -> bool {
        self.0.placement() == Placement::Workspace
    }

    /// What whoever opened it should hear, as in `SessionFiles::notices`.
    pub fn notices(&self) -> String {
        self.0.notices()
    }

    /// How often it was opened.
    #[wasm_bindgen(js_name = openCount, getter)]
    pub fn open_count(&self) -> u32 {
        self.0.opened_times()
    }

    /// What is known of the session, in the words of `metadata.json`.
    pub fn metadata(&self) -> Uint8Array {
        to_js_bytes(&self.0.session().borrow().document(DocumentName::MetadataJson))
    }

    /// Nobody said anything of it yet.
    #[wasm_bindgen(getter, js_name = isEmpty)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last append came as far as to stage its messages.
    #[wasm_bindgen(getter, js_name = wasStaged)]
    pub fn was_staged(&self) -> bool {
        self.0.was_staged()
    }
}

fn file(workspace: Option<String>, path: String) -> File {
    File::new(workspace.map_or(Root::Home, Root::Workspace), path)
}
