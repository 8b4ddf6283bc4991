//! A store: the sessions of a home, and of the known workspaces, as seen by a host that works in one project.
//!
//! A [`Store`] is made of its host's [`Setup`], and answers with operations. Each kind of operation has a file of its
//! own here: an `async fn` of [`Store`] over [`Io`], and a method that makes an [`Operation`] of it. Inside, a
//! session's place is a [`SessionLocation`] and a file a [`File`]; display paths appear only in output, and in what is
//! stored of it.
//!
//! [`Io`]: super::Io
//! [`Operation`]: super::Operation

#[cfg(feature = "interop")]
mod commit;
mod create;
mod current_session;
mod doctor;
#[cfg(feature = "interop")]
mod fork;
#[cfg(feature = "interop")]
mod import;
mod info;
mod list;
mod lookup;
#[cfg(feature = "interop")]
mod native_export;
mod open_sessions;
#[cfg(feature = "interop")]
mod outgoing_lists;
mod outputs;
mod places;
mod project;
mod project_relocation;
#[cfg(feature = "interop")]
mod recall;
mod relocation;
mod relocation_steps;
mod reservations;
mod restore;
mod session_index;
mod settings;
mod setup;
mod tidy;
mod trash;
#[cfg(feature = "interop")]
mod turns;
#[cfg(feature = "interop")]
mod usage;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::lease::Notice;
use super::session_files::SessionFiles;
use super::{Io, Stat, Trouble, Work};
use crate::error::{Code, Error};
use crate::json::fields::parse_objects;
use crate::json::text::to_json;
use crate::layout::{self, Placement, SessionLocation};
use crate::project::{self as known_by, Aliases};
#[cfg(feature = "interop")]
use crate::recall::index_file::read::IndexFooter;
use crate::session::index::SessionIndex;

#[cfg(feature = "interop")]
pub use import::{ImportableList, LiveRecording};
#[cfg(feature = "interop")]
use lookup::LookupWay;
pub use lookup::{SessionCandidate, find_candidate, place_json};
pub(super) use outputs::{find_abandoned_outputs, read_cleared_count};
pub use setup::Setup;
#[cfg(feature = "interop")]
pub use turns::count_quiet_turns;

use session_index::PendingLines;

type CloseAction = for<'a> fn(&'a Store, &'a Io) -> Work<'a, ()>;

/// A store, shared by its operations, which [`Store::create`] and other methods begin.
pub struct Store {
    setup: Setup,
    project_hash: String,
    // The project's remote and first commit, once its repository was asked.
    cached_aliases: RefCell<Option<Aliases>>,
    // Sessions that the host has open, also those that were moved since.
    open_sessions: RefCell<Vec<Rc<SessionFiles>>>,
    // The session index as last read, and the stat of its file then.
    cached_index: RefCell<Option<(Stat, Rc<SessionIndex>)>>,
    // Lines to be added to the session index.
    pending_lines: RefCell<PendingLines>,
    // Notices about sessions that nobody has opened since, each with its session's folder; JSON.
    pending_notices: RefCell<Vec<(String, String)>>,
    // The tool outputs of this run.
    outputs: RefCell<outputs::Outputs>,
    // Removes this run's outputs at the end; none in a module that saves none, which does not have the code for it.
    close_action: Cell<Option<CloseAction>>,
    // When something was last put into the trash, so that no two entries have the same time.
    last_trash_ms: Cell<i64>,
    // Itself, for the session handles that it gives out.
    weak_self: Weak<Store>,
    // Folders that could not be read, and why; each is reported once.
    unreadable: RefCell<BTreeMap<String, Trouble>>,
    // Footers of index files, by their names; none for a file that is damaged and cannot be removed.
    #[cfg(feature = "interop")]
    index_footers: RefCell<BTreeMap<String, Option<Rc<IndexFooter>>>>,
    // Sessions that a plugin records, by their ids.
    #[cfg(feature = "interop")]
    live_recordings: RefCell<BTreeMap<String, import::LiveRecording>>,
    // The terms of the searched sessions' names.
    #[cfg(feature = "interop")]
    name_terms: RefCell<recall::NameTermCache>,
}

impl Store {
    /// Creates a store; nothing is read yet.
    pub fn new(setup: Setup) -> Rc<Store> {
        let hash = known_by::hash(&setup.normal_project);
        Rc::new_cyclic(|me| Store {
            weak_self: me.clone(),
            setup,
            project_hash: hash,
            cached_aliases: RefCell::default(),
            open_sessions: RefCell::default(),
            cached_index: RefCell::default(),
            pending_lines: RefCell::default(),
            pending_notices: RefCell::default(),
            outputs: RefCell::default(),
            close_action: Cell::default(),
            last_trash_ms: Cell::default(),
            unreadable: RefCell::default(),
            #[cfg(feature = "interop")]
            index_footers: RefCell::default(),
            #[cfg(feature = "interop")]
            live_recordings: RefCell::default(),
            #[cfg(feature = "interop")]
            name_terms: RefCell::default(),
        })
    }

    /// The hash of the current project, which names the folder of its sessions in the home.
    pub fn project_hash(&self) -> &str {
        &self.project_hash
    }

    /// What the host knows.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns the handle of the session in a folder, given by its display path: the open one, else a new one that has
    /// read nothing; it stays open until it is forgotten. `id`: the session's id, where it was opened before.
    ///
    /// # Errors
    /// `not_found` where no session can lie there.
    pub fn session_files(
        &self,
        shown: &str,
        placement: Placement,
        id: &str,
    ) -> Result<Rc<SessionFiles>, Error> {
        let open = self.find_open(shown);
        if let Some(files) = open.filter(|files| id.is_empty() || files.id() == id) {
            return Ok(files);
        }
        let files = self.unopened_session_at(shown, placement, id)?;
        // If another session has taken its folder, it finds its own new place itself.
        if self.find_open(shown).is_none() {
            self.add_open(&files);
        }
        Ok(files)
    }

    /// Drops an open session's handle: whoever asks for the session gets another one.
    pub fn forget(&self, files: &Rc<SessionFiles>) {
        self.open_sessions.borrow_mut().retain(|one| !Rc::ptr_eq(one, files));
    }

    /// Whether this is the handle that whoever asks for the session gets.
    pub fn is_open(&self, files: &Rc<SessionFiles>) -> bool {
        self.open_sessions.borrow().iter().any(|one| Rc::ptr_eq(one, files))
    }

    /// Takes the notices about sessions that nobody has opened since: a JSON array of
    /// `{"path","notice":{"code","message"}}`. Those not taken here are delivered to whoever opens the session, as
    /// [`SessionFiles::notices`].
    pub fn notices(&self) -> String {
        let to_json_notice =
            |(path, notice): &(String, String)| format!("{{\"path\":{},\"notice\":{notice}}}", to_json(path));
        let notices: Vec<String> = self.pending_notices.take().iter().map(to_json_notice).collect();
        format!("[{}]", notices.join(","))
    }

    /// Adds the [`Store::notices`] of another store of the same home, as if this store had found them.
    pub fn add_notices(&self, notices: &str) {
        for fields in parse_objects(notices).into_iter().flatten() {
            let path = fields.raw("path").and_then(|raw| serde_json::from_str::<String>(raw).ok());
            if let Some((path, notice)) = path.zip(fields.raw("notice")) {
                self.report_notice(&path, notice.into());
            }
        }
    }

    /// Returns a new handle of the session in a folder, given by its display path, for one operation: it has read
    /// nothing, and nobody else has it.
    ///
    /// # Errors
    /// `not_found` where no session can lie there.
    pub fn unopened_session_at(
        &self,
        shown: &str,
        placement: Placement,
        id: &str,
    ) -> Result<Rc<SessionFiles>, Error> {
        Ok(self.unopened_session(&self.session_place(shown, placement)?, id))
    }

    // Delivers notices to the open session, or else keeps them for whoever opens it next.
    fn report_notices(&self, shown: &str, notices: Vec<Notice>) {
        for notice in &notices {
            self.report_notice(shown, to_json(notice));
        }
    }

    fn report_notice(&self, shown: &str, notice: String) {
        match self.find_open(shown) {
            Some(files) => files.add_notice(notice),
            None => self.pending_notices.borrow_mut().push((shown.into(), notice)),
        }
    }

    // Delivers the notices that were kept for a session.
    fn deliver_notices(&self, files: &SessionFiles) {
        let shown = files.shown_folder();
        self.pending_notices.borrow_mut().retain(|(path, notice)| {
            let is_of_it = *path == shown;
            if is_of_it {
                files.add_notice(notice.clone());
            }
            !is_of_it
        });
    }

    fn session_place(&self, shown: &str, placement: Placement) -> Result<SessionLocation, Error> {
        self.setup.parse_place(shown, placement).ok_or_else(|| {
            let message =
                format!("expected a folder where a session may lie, but found {} instead", to_json(shown));
            Error::new(Code::NotFound, message)
        })
    }

    fn find_open(&self, shown: &str) -> Option<Rc<SessionFiles>> {
        self.open_sessions.borrow().iter().find(|files| files.shown_folder() == shown).cloned()
    }

    // Returns a new handle, which has read nothing and which nobody else has.
    fn unopened_session(&self, place: &SessionLocation, id: &str) -> Rc<SessionFiles> {
        let folder = place.folder();
        let shown = self.setup.display_path(&folder);
        let files = SessionFiles::new(folder, shown, layout::cache(), id);
        files.set_store(&self.weak_self);
        files
    }

    // Makes this the open handle of its folder; one that was open there before has moved.
    fn add_open(&self, files: &Rc<SessionFiles>) {
        let mut open = self.open_sessions.borrow_mut();
        open.retain(|one| one.shown_folder() != files.shown_folder());
        open.push(files.clone());
    }
}

impl core::fmt::Debug for Store {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Store").field("setup", &self.setup).finish_non_exhaustive()
    }
}
