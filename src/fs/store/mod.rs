//! A store: the sessions of a home folder, and of the workspaces that it knows of.

mod agent_export;
mod commit;
mod folders;
mod importing;
mod moving;
mod open_sessions;
mod outputs;
mod queries;
mod redaction;
mod settings;
mod upkeep;

use alloc::boxed::Box;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::clock::{Clock, SystemClock};
use super::helpers::Helpers;
use super::host::Host;
use super::redaction::Rules;
use super::request::with_fields;
use super::session::{OpenSession, Session};
use crate::json::text::to_json;
use crate::operation::{
    Operation, OutgoingGate, OutgoingRedactor, RedactMode, Setup, Store as Core, Trouble,
};
use crate::settings::EffectiveSettings;

pub use agent_export::WriteForAgent;
use folders::{absolute_path, is_folder, path_text, real_folder};
pub use importing::{Conversation, Import, Importable};
pub use outputs::ToolOutputs;

/// The options of opening a store.
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
    /// The project's folder; the program's working folder unless given.
    pub project: Option<PathBuf>,
    /// The workspace, whose `conversations/` new sessions begin in; they begin in the home unless given.
    pub workspace: Option<PathBuf>,
    /// How long a session without activity stays active before it is paused; as the settings say unless given.
    pub idle: Option<Duration>,
    /// Stores messages without token counts; contexts then count for themselves.
    pub is_uncounted: bool,
    /// How secrets in outgoing text are treated; as the settings say unless given.
    pub redact: Option<RedactMode>,
    /// Rules for further secrets, beside leftoff's own.
    pub rules: Option<Box<dyn Rules>>,
    /// The source of time and chance; the machine's unless given.
    pub clock: Option<Box<dyn Clock>>,
}

/// The sessions of a home folder, and of the workspaces that the store knows of. A clone is the same store.
#[derive(Clone, Debug)]
pub struct Store(Rc<StoreState>);

/// The state that a store's clones share.
#[derive(Debug)]
struct StoreState {
    core: Rc<Core>,
    host: Rc<Host>,
    gate: Rc<OutgoingGate>,
    /// Sessions that a caller holds.
    sessions: RefCell<Vec<Weak<OpenSession>>>,
    /// Sessions recorded from an agent's client: they are open as long as the store is.
    recorded_sessions: RefCell<Vec<Session>>,
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

    /// Opens a store with options.
    ///
    /// # Errors
    /// `not_found` and `not_a_folder` for a project or a workspace that is no folder; `invalid_path` for a path that is
    /// no Unicode, which could not be stored.
    pub fn open_with(home: impl AsRef<Path>, options: Options) -> Result<Store, Trouble> {
        let Options { project, workspace, idle, is_uncounted, redact, rules, clock } = options;
        let home = absolute_path(home.as_ref())?;
        is_folder(&home)?;
        let project = real_folder(project.unwrap_or_else(|| PathBuf::from(".")))?;
        let workspace = workspace.map(real_folder).transpose()?;
        let clock = clock.unwrap_or_else(|| Box::new(SystemClock));
        let host = Rc::new(Host::new(home.clone(), project.clone(), is_uncounted, clock, rules));
        let setup = Setup {
            home: path_text(&home)?,
            normal_project: path_text(&project)?.nfc().collect(),
            project: path_text(&project)?,
            workspace: workspace.as_deref().map(path_text).transpose()?,
            user: std::env::home_dir().map(|user| user.to_string_lossy().into()).unwrap_or_default(),
            idle_ms: 0,
            separator: "/".into(),
            redacts: false,
        };
        let settings = host.drive(setup.settings())?;
        let gate = OutgoingGate::new(match redact {
            Some(redact) => redact,
            None => RedactMode::parse(settings.value("redact"))?,
        });
        let redacts = OutgoingRedactor::new(&gate).is_on();
        let of_settings = idle_ms(&settings);
        let idle_ms = idle.map_or(of_settings, |idle| i64::try_from(idle.as_millis()).unwrap_or(i64::MAX));
        let core = Core::new(Setup { idle_ms, redacts, ..setup });
        let (sessions, recorded) = Default::default();
        Ok(Store(Rc::new(StoreState { core, host, gate, sessions, recorded_sessions: recorded })))
    }

    /// The store's folder.
    pub fn home(&self) -> &Path {
        &self.0.host.home
    }

    /// The project's folder.
    pub fn project(&self) -> &Path {
        &self.0.host.project
    }

    /// The workspace, the folder that has `conversations/`: the project's, unless another one was given.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// assert_eq!(store.workspace(), store.project());
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspace(&self) -> &Path {
        Path::new(self.0.core.setup().workspace())
    }

    /// Creates a session of the project, which is its current one from then on:
    /// `{"type","title","name","placement","model", "agent"}`, all optional.
    ///
    /// # Errors
    /// `invalid_request` for a field of another kind; `invalid_id` for a name that is no plain name; `already_exists` where
    /// the workspace has it; those of a storage.
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
        self.drive_to_session(self.0.core.create(request.into()))
    }

    /// Opens the project's current session, or creates one, with this model if given.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.go_on(Some("gpt-5"))?;
    /// assert_eq!(store.go_on(None)?.id(), session.id());
    /// # Ok(())
    /// # }
    /// ```
    pub fn go_on(&self, model: Option<&str>) -> Result<Session, Trouble> {
        self.drive_to_session(self.0.core.go_on(with_fields("{}", &[("model", model.map(to_json))])?))
    }

    /// Opens a session by its id, a unique beginning of one, or its name in a workspace.
    ///
    /// # Errors
    /// `not_found`; `ambiguous` where several begin so; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let id = store.create("{}")?.id();
    /// assert_eq!(store.session(&id[..13])?.id(), id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(&self, id: &str) -> Result<Session, Trouble> {
        self.drive_to_session(self.0.core.session(id.into()))
    }

    /// Opens the project's current session: the one that is pointed to, else the last active one.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path().join("home"))?;
    /// assert!(store.current()?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn current(&self) -> Result<Option<Session>, Trouble> {
        Ok(self.drive(self.0.core.current())?.map(|files| self.session_of(files)))
    }

    /// Makes a session the project's current one, and returns whether the project can have one.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # use leftoff::fs::{Options, Store};
    /// # let options = Options { project: Some(folder.path().into()), ..Options::default() };
    /// # let store = Store::open_with(folder.path().join("home"), options)?;
    /// let first = store.create("{}")?;
    /// store.create("{}")?;
    /// assert!(store.point(&first)?);
    /// assert_eq!(store.current()?.map(|one| one.id()), Some(first.id()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn point(&self, session: &Session) -> Result<bool, Trouble> {
        let path = session.0.files.shown_folder();
        self.drive(self.0.core.point_to(session.id(), path))
    }

    /// Creates a session that begins as a copy of another one, up to a message: `{"at"}`, its id; the newest one unless
    /// given.
    ///
    /// # Errors
    /// `not_found` where the session has no such message; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// assert!(store.fork(&session, "{}")?.metadata().contains(r#""messageCount":1"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork(&self, session: &Session, request: &str) -> Result<Session, Trouble> {
        self.drive_to_session(self.0.core.fork(
            session.0.files.clone(),
            request.into(),
            self.0.host.counting_mode(),
        ))
    }

    /// Archives sessions of the project that are too many, or inactive for too long: `{"maxSessionsPerProject",
    /// "autoArchiveAfterDays"}`, or as the settings say where that is `null`. Returns the ids of the archived sessions.
    ///
    /// # Errors
    /// `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// assert!(store.tidy(r#"{"maxSessionsPerProject":50,"autoArchiveAfterDays":30}"#)?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn tidy(&self, limits: &str) -> Result<Vec<String>, Trouble> {
        self.drive(self.0.core.tidy(limits.into()))
    }

    /// Pauses sessions that are open here and in which nothing happened for [`Options::idle`]: for a program that keeps
    /// sessions open for days, to be called about as often. Each pause is a notice of [`Store::notices`], or of the
    /// session itself.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.rest()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rest(&self) -> Result<(), Trouble> {
        self.drive(self.0.core.pause_idle())
    }

    /// Takes the notices that lists found about sessions not opened since, each once:
    /// `[{"path","notice":{"code","message"}}]`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// assert_eq!(store.notices(), "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn notices(&self) -> String {
        self.0.core.notices()
    }

    /// Closes the open sessions, each as [`Session::close`] does. Any later call to the store or its sessions is
    /// refused with `storage_closed`; closing again does nothing.
    ///
    /// # Errors
    /// Those of a storage: of the first session that could not be closed. The others are.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// store.close()?;
    /// let document = std::fs::read_to_string(session.path().join("metadata.json"))?;
    /// assert!(document.contains(r#""messageCount":1"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn close(self) -> Result<(), Trouble> {
        if self.0.host.has_ended() {
            return Ok(());
        }
        let closed = self.drive(self.0.core.close());
        self.0.recorded_sessions.take();
        self.0.host.end();
        closed
    }

    // Drives an operation of the store.
    fn drive<T>(&self, operation: Operation<'_, T>) -> Result<T, Trouble> {
        self.drive_with(operation, &mut Helpers::default())
    }

    fn drive_with<T>(&self, operation: Operation<'_, T>, helpers: &mut Helpers<'_>) -> Result<T, Trouble> {
        self.0.host.reject_ended()?;
        self.0.host.drive_with(operation, helpers)
    }
}

impl Drop for StoreState {
    fn drop(&mut self) {
        // If this fails, whoever finds this process gone removes the outputs.
        if self.core.has_outputs() {
            let _ = self.host.drive(self.core.clear_outputs("{}".into()));
        }
    }
}

// The idle time after which a session is paused, in milliseconds.
fn idle_ms(settings: &EffectiveSettings) -> i64 {
    let minutes: f64 = settings.value("idleMinutes").parse().unwrap_or(5.0);
    (minutes * 60_000.0) as i64
}

#[cfg(test)]
mod tests;
