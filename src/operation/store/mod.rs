//! A store: the sessions of a home, and of the workspaces that were met, as the host of one project has them.
//!
//! A [`Store`] is made of what its host knows, and answers with operations. Each kind of them has a file of its own here:
//! an `async fn` of [`Store`] over [`Io`], and a method that makes an [`Operation`] of it. Inside, a session's place is a
//! [`Place`] and a file a [`File`]; a path as people call it stands in what is shown, and in what is stored of it.
//!
//! [`Io`]: super::Io
//! [`Operation`]: super::Operation

mod carrying;
#[cfg(feature = "interop")]
mod committing;
mod create;
mod doctor;
mod finding;
#[cfg(feature = "interop")]
mod fork;
#[cfg(feature = "interop")]
mod handing;
#[cfg(feature = "interop")]
mod import;
mod info;
mod list;
mod listing;
mod moving;
mod opening;
mod outputs;
mod places;
mod pointing;
mod project;
#[cfg(feature = "interop")]
mod recall;
mod relocating;
#[cfg(feature = "interop")]
mod searching;
mod settings;
mod setup;
mod taking;
mod tidying;
mod trash;
mod trashed;
#[cfg(feature = "interop")]
mod turns;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::lease::Notice;
use super::live::Live;
use super::{Io, Stat, Trouble, Work};
use crate::error::{Code, Error};
use crate::json::fields::objects;
use crate::json::text::to_json;
use crate::layout::{self, Place, Placement};
use crate::project::{self as known_by, Aliases};
#[cfg(feature = "interop")]
use crate::recall::run::read::End;
use crate::session::index::Index;

#[cfg(feature = "interop")]
use finding::Finding;
pub use finding::{Candidate, exactly, placed};
pub(super) use outputs::{cleared_outputs, left_outputs};
pub use setup::Setup;

use listing::Pending;

type AtEnd = for<'a> fn(&'a Store, &'a Io) -> Work<'a, ()>;

/// A store, as operations share it: [`Store::create`] and the like begin them.
pub struct Store {
    setup: Setup,
    hash: String,
    // What its repository says, once somebody has asked.
    aliases: RefCell<Option<Aliases>>,
    // Those that the host has open, wherever they were moved since.
    open: RefCell<Vec<Rc<Live>>>,
    // The index as it was read last, and what its file was like then.
    index: RefCell<Option<(Stat, Rc<Index>)>>,
    // Lines for the index.
    pending: RefCell<Pending>,
    // What was found out about sessions that nobody has opened since, by their folders: JSON each.
    unsaid: RefCell<Vec<(String, String)>>,
    // Those of this run.
    outputs: RefCell<outputs::Outputs>,
    // Takes these away at the end: a module that saves none does not have how.
    at_end: Cell<Option<AtEnd>>,
    // When something was put in the trash last: no two have the same moment.
    trashed_ms: Cell<i64>,
    // Itself, for the sessions that it hands out.
    me: Weak<Store>,
    // What could not be looked into, and why; each is told once.
    not_read: RefCell<BTreeMap<String, Trouble>>,
    // The ends of the runs that were asked, by their names; nothing for one that is damaged and cannot be taken away.
    #[cfg(feature = "interop")]
    ends: RefCell<BTreeMap<String, Option<Rc<End>>>>,
    // What the sessions that were asked are called.
    #[cfg(feature = "interop")]
    names: RefCell<recall::Names>,
}

impl Store {
    /// A store of which nothing is read yet.
    pub fn new(setup: Setup) -> Rc<Store> {
        let hash = known_by::hash(&setup.normal_project);
        Rc::new_cyclic(|me| Store {
            me: me.clone(),
            setup,
            hash,
            aliases: RefCell::default(),
            open: RefCell::default(),
            index: RefCell::default(),
            pending: RefCell::default(),
            unsaid: RefCell::default(),
            outputs: RefCell::default(),
            at_end: Cell::default(),
            trashed_ms: Cell::default(),
            not_read: RefCell::default(),
            #[cfg(feature = "interop")]
            ends: RefCell::default(),
            #[cfg(feature = "interop")]
            names: RefCell::default(),
        })
    }

    /// The hash of the project that is worked in: by that its sessions lie in the home.
    pub fn project_hash(&self) -> &str {
        &self.hash
    }

    /// What its host knows.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The session of a folder, as people call it, open until it is forgotten: the one that is, else one of which nothing is
    /// read. `id`: where it was opened before.
    ///
    /// # Errors
    /// `not_found` where no session can lie there.
    pub fn live(&self, shown: &str, placement: Placement, id: &str) -> Result<Rc<Live>, Error> {
        let open = self.open_at(shown);
        if let Some(live) = open.filter(|live| id.is_empty() || live.id() == id) {
            return Ok(live);
        }
        let live = self.apart(shown, placement, id)?;
        // Where another one has come into its place, it finds out where it lies itself.
        if self.open_at(shown).is_none() {
            self.keep(&live);
        }
        Ok(live)
    }

    /// The session is open no longer: whoever asks for it gets another one.
    pub fn forget(&self, live: &Rc<Live>) {
        self.open.borrow_mut().retain(|one| !Rc::ptr_eq(one, live));
    }

    /// Whether the session is open: it is the one that whoever asks for it gets.
    pub fn is_open(&self, live: &Rc<Live>) -> bool {
        self.open.borrow().iter().any(|one| Rc::ptr_eq(one, live))
    }

    /// What was found out about sessions that nobody has opened since, told once: a JSON array of `{"path","notice":{"code","message"}}`.
    /// Whoever opens one hears it as [`Live::notices`], unless it was told here.
    pub fn notices(&self) -> String {
        let told =
            |(path, notice): &(String, String)| format!("{{\"path\":{},\"notice\":{notice}}}", to_json(path));
        let told: Vec<String> = self.unsaid.take().iter().map(told).collect();
        format!("[{}]", told.join(","))
    }

    /// Takes over what another store of the same home was told by its [`Store::notices`], as if it had found it out itself.
    pub fn hear(&self, notices: &str) {
        for told in objects(notices).into_iter().flatten() {
            let path = told.raw("path").and_then(|raw| serde_json::from_str::<String>(raw).ok());
            if let Some((path, notice)) = path.zip(told.raw("notice")) {
                self.say(&path, notice.into());
            }
        }
    }

    /// The session of a folder, as people call it, for one operation: nothing of it is read, and it is nobody else's.
    ///
    /// # Errors
    /// `not_found` where no session can lie there.
    pub fn apart(&self, shown: &str, placement: Placement, id: &str) -> Result<Rc<Live>, Error> {
        Ok(self.unread(&self.session_place(shown, placement)?, id))
    }

    // Who has it open hears it at once, else whoever opens it next.
    fn tell(&self, shown: &str, notices: Vec<Notice>) {
        for notice in &notices {
            self.say(shown, to_json(notice));
        }
    }

    fn say(&self, shown: &str, notice: String) {
        match self.open_at(shown) {
            Some(live) => live.hear(notice),
            None => self.unsaid.borrow_mut().push((shown.into(), notice)),
        }
    }

    // Whoever opens it hears what was found out before.
    fn heard(&self, live: &Live) {
        let shown = live.shown();
        self.unsaid.borrow_mut().retain(|(path, notice)| {
            let is_of_it = *path == shown;
            if is_of_it {
                live.hear(notice.clone());
            }
            !is_of_it
        });
    }

    fn session_place(&self, shown: &str, placement: Placement) -> Result<Place, Error> {
        self.setup.place(shown, placement).ok_or_else(|| {
            let message =
                format!("expected a folder where a session may lie, but found {} instead", to_json(shown));
            Error::new(Code::NotFound, message)
        })
    }

    fn open_at(&self, shown: &str) -> Option<Rc<Live>> {
        self.open.borrow().iter().find(|live| live.shown() == shown).cloned()
    }

    // One of which nothing is read, and nobody else knows.
    fn unread(&self, place: &Place, id: &str) -> Rc<Live> {
        let folder = place.folder();
        let shown = self.setup.shown(&folder);
        let live = Live::new(folder, shown, layout::cache(), id);
        live.be_of(&self.me);
        live
    }

    // It is the one of its folder from now on: one that was open there before has gone.
    fn keep(&self, live: &Rc<Live>) {
        let mut open = self.open.borrow_mut();
        open.retain(|one| one.shown() != live.shown());
        open.push(live.clone());
    }
}

impl core::fmt::Debug for Store {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Store").field("setup", &self.setup).finish_non_exhaustive()
    }
}
