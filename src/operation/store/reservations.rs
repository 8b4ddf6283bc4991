//! Reservations: folders taken for new sessions, and the list of known workspaces.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{
    self, ATTRIBUTES, ATTRIBUTES_TEXT, CONVERSATIONS, File, Placement, RESERVATION_FILE, Root,
    SessionLocation, names,
};
use crate::operation::{FileKind, Io, Trouble, unless_bug};
use crate::record::id;
use crate::time;

/// A conversation to be made.
#[derive(Default)]
pub(super) struct NewConversation {
    /// The id of its session.
    pub id: String,
    pub session_type: String,
    /// Its name is made from this.
    pub title: Option<String>,
    /// Its name; made from the title and type unless given.
    pub name: Option<String>,
    /// Its day; today unless given.
    pub day: Option<String>,
    /// The lease of the process that reserves the place for a session on its way there: JSON.
    pub lease_json: Option<String>,
}

impl NewConversation {
    /// The fields of a request; `to` is the placement.
    pub const REQUEST_FIELDS: &str = "to, name, day or title";

    /// Reads `{"name","day","title"}`, JSON, all optional, for the session of an id.
    pub fn from_json(json: &str, id: String, session_type: String) -> Result<NewConversation, Error> {
        let (mut fields, mut bad) = (request::parse(json, NewConversation::REQUEST_FIELDS)?, Vec::new());
        let mut text = |key: &str| fields.take::<String>(key, &mut bad);
        let (title, name, day) = (text("title"), text("name"), text("day"));
        request::reject_bad(&mut bad)?;
        Ok(NewConversation { id, session_type, title, name, day, lease_json: None })
    }
}

/// Reads the placement from a field of a request, given as JSON, with its key for the error.
pub(super) fn parse_placement(found: &str, key: &str) -> Result<Placement, Error> {
    let name = found.strip_prefix('"').and_then(|found| found.strip_suffix('"'));
    name.and_then(Placement::from_name).ok_or_else(|| {
        let message = format!("expected \"home\" or \"workspace\" for \"{key}\", but found {found} instead");
        Error::new(Code::InvalidRequest, message)
    })
}

impl Store {
    /// Reserves a place in the home, in the project, for a session on its way there.
    pub(super) async fn reserve_home_place(
        &self,
        io: &Io,
        about: &NewConversation,
    ) -> Result<SessionLocation, Trouble> {
        let place = SessionLocation::Home { project: self.project_hash.clone(), id: about.id.clone() };
        let folder = place.folder();
        self.free_folder(io, &folder).await?;
        let own = folder.sibling(&names::reserved_name(&id::new(&io.stamp(), 0)));
        let by = about.lease_json.clone().unwrap_or_default();
        if reserve_folder(io, &folder, &own, &[(RESERVATION_FILE, by.into_bytes())]).await? {
            return Ok(place);
        }
        let message = format!("\"{}\" holds a session already", self.setup.display_path(&folder));
        Err(Trouble::new(Code::AlreadyExists, message))
    }

    /// Reserves a folder for the session of a new conversation in the workspace.
    ///
    /// # Errors
    /// `invalid_id` for a name with other than plain characters; `invalid_request` for a malformed day;
    /// `already_exists` where the conversation of this name has a session.
    pub(super) async fn reserve_conversation(
        &self,
        io: &Io,
        about: &NewConversation,
    ) -> Result<SessionLocation, Trouble> {
        let taken = about.lease_json.iter().map(|by| (RESERVATION_FILE, by.clone().into_bytes()));
        let files: Vec<_> = taken.chain([(ATTRIBUTES, ATTRIBUTES_TEXT.into())]).collect();
        let day: String = match &about.day {
            Some(day) if time::is_day(day) => day.clone(),
            Some(day) => {
                let message = format!("expected a day as 2026-11-22, but found {} instead", to_json(day));
                return Err(Trouble::new(Code::InvalidRequest, message));
            }
            None => today(io),
        };
        if let Some(name) = &about.name {
            id::check_given(name)?;
        }
        loop {
            let name = match &about.name {
                Some(name) => name.clone(),
                None => self.next_conversation_name(io, &day, about).await?,
            };
            let place =
                SessionLocation::Workspace { root: self.setup.workspace().into(), day: day.clone(), name };
            let folder = place.folder();
            let own = folder.sibling(&format!("{}-{}", folder.name(), about.id));
            // A relocation or reservation that was cut off does not keep the place.
            if about.name.is_some() {
                self.free_folder(io, &folder).await?;
            }
            if reserve_folder(io, &folder, &own, &files).await? {
                return Ok(place);
            }
            if about.name.is_some() {
                let found = self.setup.display_path(&place.conversation());
                let message = format!("\"{found}\" holds a session already");
                return Err(Trouble::new(Code::AlreadyExists, message));
            }
        }
    }

    async fn next_conversation_name(
        &self,
        io: &Io,
        day: &str,
        about: &NewConversation,
    ) -> Result<String, Trouble> {
        let root = Root::Workspace(self.setup.workspace().into());
        let found = io.list(&File::new(root, format!("{CONVERSATIONS}/{day}"))).await?.unwrap_or_default();
        let folders = found.iter().filter(|entry| entry.kind == FileKind::Folder);
        let words = io.strip_marks(about.title.as_deref().unwrap_or_default()).await?;
        Ok(names::conversation_name(folders.map(|entry| &*entry.name), &about.session_type, &words))
    }

    /// Adds the place's workspace to the known ones, so that all lists have its sessions from now on.
    pub(super) async fn register_workspace(&self, io: &Io, place: &SessionLocation) -> Result<(), Trouble> {
        let SessionLocation::Workspace { root, .. } = place else { return Ok(()) };
        if self.read_workspaces(io).await?.contains(root) {
            return Ok(());
        }
        let line = format!("{{\"v\":1,\"root\":{}}}\n", to_json(root));
        unless_bug(io.append(&layout::workspaces(), line.into_bytes(), false, None).await)?;
        Ok(())
    }

    /// Reads the known workspaces.
    pub(super) async fn read_workspaces(&self, io: &Io) -> Result<Vec<String>, Trouble> {
        let bytes = unless_bug(io.read_all(&layout::workspaces()).await)?.flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // Skips torn lines and other text: a workspace is registered again when it is next used.
        let root = |line: &str| Fields::parse(line).ok()?.take::<String>("root", &mut Vec::new());
        Ok(text.split('\n').filter_map(root).filter(|root| self.setup.is_absolute(root)).collect())
    }
}

// Today, in local time.
fn today(io: &Io) -> String {
    let stamp = io.stamp();
    time::day(stamp.now_ms, &stamp)
}

/// Reserves a folder, unless it is taken: by a rename to where nothing is, the one thing that only one of two
/// processes can do. `own` is a folder of a name that nobody else uses.
pub(super) async fn reserve_folder(
    io: &Io,
    folder: &File,
    own: &File,
    files: &[(&str, Vec<u8>)],
) -> Result<bool, Trouble> {
    if io.stat(folder).await?.is_some() {
        return Ok(false);
    }
    for (name, bytes) in files {
        io.replace(&own.child(name), bytes.clone(), None).await?;
    }
    let Err(trouble) = io.rename(own, folder).await else { return Ok(true) };
    unless_bug(io.remove(own).await)?;
    if trouble.code() == Code::AlreadyExists.as_str() { Ok(false) } else { Err(trouble) }
}
