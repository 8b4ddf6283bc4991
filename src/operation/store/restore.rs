//! Restores sessions from the trash: byte for byte to where they were, never over something that is there.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::{SessionCandidate, Store, find_candidate};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::layout::{self, File, Placement, SESSION_FOLDER, SESSION_PREFIX, SessionLocation, names};
use crate::operation::{FileKind, Io, Operation, Trouble, unless_bug};
use crate::record::id;
use crate::session::session_list::ListRequest;

/// A session in the trash.
#[derive(Clone, Serialize)]
struct TrashedSession {
    id: String,
    title: String,
    /// When it was deleted, RFC 3339.
    deleted: String,
    /// Its path in the trash.
    path: String,
    placement: &'static str,
    /// The folder that it was in; none where that is not known.
    from: Option<String>,
    #[serde(skip)]
    origin: Option<SessionLocation>,
    #[serde(skip)]
    file: File,
}

impl Store {
    /// Lists the trash, deleted last first: `[{"id","title","deleted","path","placement","from"}]`, JSON.
    pub fn list_trash(self: &Rc<Store>) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move { Ok(to_json(&store.read_trash(&io).await?)) })
    }

    /// Restores a session to where it was, by its id, or a unique beginning of one. Of several with the same id, the
    /// one that was deleted last. Answer: `{"id","title","path"}`, JSON.
    pub fn restore(self: &Rc<Store>, id: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let mut any = ListRequest::usual(true);
            any.all_projects = true;
            let there = store.list_matching(&io, &any).await?;
            let trashed = store.find_trashed(&io, &id).await?;
            if there.iter().any(|there| there.entry.id == trashed.id) {
                let id = &trashed.id;
                let message =
                    format!("the session \"{id}\" exists already; the one in the trash stays there");
                return Err(Trouble::new(Code::AlreadyExists, message));
            }
            let Some(place) = trashed.origin else {
                let path = &trashed.path;
                let message = format!("nothing says where \"{path}\" was; move it back by hand");
                return Err(Trouble::new(Code::NotFound, message));
            };
            match &place {
                SessionLocation::Home { .. } => io.rename(&trashed.file, &place.folder()).await?,
                SessionLocation::Workspace { root, .. } => {
                    restore_to_workspace(&io, &trashed.file, &place.folder(), root).await?
                }
            }
            let path = store.setup.display_path(&place.folder());
            let fields = [to_json(&trashed.id), to_json(&trashed.title), to_json(&path)];
            Ok(format!("{{\"id\":{},\"title\":{},\"path\":{}}}", fields[0], fields[1], fields[2]))
        })
    }

    async fn find_trashed(&self, io: &Io, id: &str) -> Result<TrashedSession, Trouble> {
        let mut met = BTreeSet::new();
        let mut newest = self.read_trash(io).await?;
        newest.retain(|session| met.insert(session.id.clone()));
        let candidate = |session: &TrashedSession| {
            let (id, title, path) = (session.id.clone(), session.title.clone(), session.path.clone());
            SessionCandidate { id, title, path, name: None, day: None }
        };
        let place = find_candidate(id, &newest.iter().map(candidate).collect::<Vec<_>>())?;
        Ok(newest.swap_remove(place))
    }

    async fn read_trash(&self, io: &Io) -> Result<Vec<TrashedSession>, Trouble> {
        let origins = self.read_trash_origins(io).await?;
        let mut found = Vec::new();
        for entry in io.list(&layout::trash()).await?.unwrap_or_default() {
            let Some(read) = names::parse_trash_name(&entry.name).filter(|_| entry.kind == FileKind::Folder)
            else {
                continue;
            };
            let file = layout::trash().child(&entry.name);
            let json = unless_bug(io.read_all(&file.child(read.placement.document())).await)?.flatten();
            let about = TrashedDocument::parse(&json.unwrap_or_default());
            let named = read.name.strip_suffix(SESSION_FOLDER).unwrap_or(read.name);
            let id = match read.placement {
                Placement::Home => read.name.strip_prefix(SESSION_PREFIX).unwrap_or(read.name).into(),
                Placement::Workspace => about.id.unwrap_or_else(|| named.into()),
            };
            // Deleted from the home by an older leftoff, which wrote no origin: its document has the project.
            let by_document = || {
                let place = SessionLocation::Home { project: about.project.clone(), id: id.clone() };
                SessionLocation::of(&place.folder())
            };
            let was = origins.get(&entry.name).cloned().or_else(by_document);
            let (path, placement) = (self.setup.display_path(&file), read.placement.as_str());
            let from = was.as_ref().map(|was| self.setup.display_path(&was.folder()));
            let (title, deleted) = (about.title, read.deleted_at);
            found.push(TrashedSession { id, title, deleted, path, placement, from, origin: was, file });
        }
        found.sort_by(|one, other| other.deleted.cmp(&one.deleted));
        Ok(found)
    }

    // Reads the former places, by names in the trash. Whatever the file says, only places where sessions may lie are
    // returned.
    async fn read_trash_origins(&self, io: &Io) -> Result<BTreeMap<String, SessionLocation>, Trouble> {
        let bytes = io.read_all(&layout::trash_origins()).await?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // A torn line is skipped.
        let origin = |line: &str| {
            let mut bad = Vec::new();
            let mut fields = Fields::parse(line).ok()?;
            let mut word = |key: &str| fields.take::<String>(key, &mut bad);
            let (trash, path, placement) = (word("trash")?, word("path")?, word("placement")?);
            let place = self.setup.parse_place(&path, Placement::from_name(&placement)?)?;
            let is_plain = path.split(&*self.setup.separator).all(|name| !matches!(name, "." | ".."));
            let is_one =
                is_plain && SessionLocation::of(&place.folder()).is_some() && self.setup.is_absolute(&path);
            is_one.then_some((trash, place))
        };
        Ok(text.split('\n').filter_map(origin).collect())
    }
}

/// The fields of a deleted session's document.
#[derive(Default)]
struct TrashedDocument {
    id: Option<String>,
    title: String,
    project: String,
}

impl TrashedDocument {
    fn parse(json: &[u8]) -> TrashedDocument {
        let parse = |json| Fields::parse(json).ok();
        let Some(mut fields) = core::str::from_utf8(json).ok().and_then(parse) else {
            return TrashedDocument::default();
        };
        let mut bad = Vec::new();
        let mut inside = |key: &str, name: &str| {
            fields.take_raw(key).and_then(parse)?.take::<String>(name, &mut Vec::new())
        };
        let (display, project) = (inside("display", "title"), inside("project", "hash"));
        let mut word = |key: &str| fields.take::<String>(key, &mut bad);
        let title = display.or_else(|| word("title")).or_else(|| word("conversation_id"));
        TrashedDocument {
            id: word("id"),
            title: title.unwrap_or_default(),
            project: project.unwrap_or_default(),
        }
    }
}

// Copies to a folder beside, perhaps on another disk, and renames that, so that the session is there in one step.
async fn restore_to_workspace(io: &Io, from: &File, to: &File, workspace: &str) -> Result<(), Trouble> {
    if io.stat(&File::new(to.root.clone(), "")).await?.is_none_or(|stat| stat.kind == FileKind::File) {
        let message = format!("no workspace \"{workspace}\"");
        return Err(Trouble::new(Code::NotFound, message));
    }
    let beside = to.sibling(&format!("{}-{}", to.name(), id::new(&io.stamp(), 0)));
    let there = async {
        io.copy(from, &beside, false).await?;
        io.rename(&beside, to).await
    };
    if let Err(trouble) = there.await {
        unless_bug(io.remove(&beside).await)?;
        return Err(trouble);
    }
    io.remove(from).await
}
