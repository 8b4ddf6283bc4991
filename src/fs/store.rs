//! A store: the sessions of a home folder.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use std::path::{Path, PathBuf};

use super::clock::{Clock, Machine};
use super::host::Host;
use super::session::Session;
use crate::error::{Code, Error};
use crate::json::text::to_json;
use crate::layout::{self, Place};
use crate::operation::{Failure, Live, Trouble};
use crate::project;
use crate::record::id;

/// How a store is opened.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// use leftoff::fs::{Options, Store};
///
/// let options = Options { project: Some(folder.path().into()), ..Options::default() };
/// let store = Store::open_with(folder.path().join("home"), options)?;
/// assert_eq!(store.project(), folder.path().canonicalize()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Options {
    /// The folder that is worked in; the program's own unless given.
    pub project: Option<PathBuf>,
    /// Where time and chance come from; the machine's unless given.
    pub clock: Option<Box<dyn Clock>>,
}

/// The sessions of a home folder. A clone is the same store.
#[derive(Clone, Debug)]
pub struct Store {
    host: Rc<Host>,
}

impl Store {
    /// Opens the store of a home folder, there or not, for the folder that the program works in.
    ///
    /// # Errors
    /// What [`Store::open_with`] refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// assert_eq!(store.home(), home.path());
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(home: impl AsRef<Path>) -> Result<Store, Trouble> {
        Store::open_with(home, Options::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// `not_found` for a project that is no folder.
    pub fn open_with(home: impl AsRef<Path>, options: Options) -> Result<Store, Trouble> {
        let home = std::path::absolute(home.as_ref()).map_err(|error| unfound(home.as_ref(), &error))?;
        let project = options.project.unwrap_or_else(|| PathBuf::from("."));
        let project = project.canonicalize().map_err(|error| unfound(&project, &error))?;
        let clock = options.clock.unwrap_or_else(|| Box::new(Machine));
        Ok(Store { host: Rc::new(Host::new(home, project, clock)) })
    }

    /// The store's folder.
    pub fn home(&self) -> &Path {
        &self.host.home
    }

    /// The folder that is worked in.
    pub fn project(&self) -> &Path {
        &self.host.project
    }

    /// A new session of the project: `{"title","type","agent"}`, all optional.
    ///
    /// # Errors
    /// `invalid_request` for a field of another kind; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create(r#"{"title":"The parser"}"#)?;
    /// assert!(session.metadata().contains("The parser"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(&self, request: &str) -> Result<Session, Trouble> {
        let id = id::new(&self.host.clock.stamp()?, 0);
        let project = self.host.project.to_string_lossy();
        let fields = request.trim().strip_prefix('{').ok_or_else(|| {
            Error::new(Code::InvalidRequest, "expected a request object, but found something else")
        })?;
        let comma = if fields.trim_start().starts_with('}') { "" } else { "," };
        let created = format!("{{\"id\":{},\"project\":{}{comma}{fields}", to_json(&id), to_json(&project));
        let live = self.live(&id);
        self.host.drive(live.begin(created))?;
        Ok(Session { live, host: self.host.clone() })
    }

    /// Opens a session of the project by its id.
    ///
    /// # Errors
    /// `not_found`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let id = store.create("{}")?.id();
    /// assert_eq!(store.session(&id)?.id(), id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(&self, id: &str) -> Result<Session, Trouble> {
        let live = self.live(id);
        if !Path::new(&live.shown()).is_dir() {
            let message = format!("expected a session of the id \"{id}\", but found none");
            return Err(Error::new(Code::NotFound, message).into());
        }
        self.host.drive(live.open())?;
        Ok(Session { live, host: self.host.clone() })
    }

    fn live(&self, id: &str) -> Rc<Live> {
        let project = project::hash(&self.host.project.to_string_lossy());
        let folder = Place::Home { project, id: id.into() }.folder();
        let shown = self.host.home.join(&folder.path).to_string_lossy().into();
        Live::new(folder, shown, layout::cache(), "")
    }
}

fn unfound(path: &Path, error: &std::io::Error) -> Trouble {
    let message = format!("expected a folder at \"{}\", but found none ({error})", path.display());
    Failure { code: "not_found".into(), message, ..Failure::default() }.into()
}
