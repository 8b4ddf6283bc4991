//! The place of each of leftoff's files: below a root that the host has opened, by a path with `/`.
//!
//! A host resolves the root and knows no other rule of the layout. [`names`] reads and makes the names that come from
//! outside, a title or a file's name in a folder; [`mentions`] finds the conversation that messages name.

pub mod mentions;
pub mod names;
pub mod pointer;

use alloc::format;
use alloc::string::String;

use serde::Serialize;

/// A tree that the host has opened, and lets nothing out of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Root {
    /// The store's own folder: `$LEFTOFF_HOME`, else `~/.leftoff`.
    Home,
    /// The current project's folder.
    Project,
    /// A workspace, by its folder as the host names it.
    Workspace(String),
    /// All that the host can reach: agents' own files. It is only read, except by a native export.
    Outside,
}

/// A file or a folder: its root, and the path below it, with `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct File {
    /// The tree that it lies in.
    pub root: Root,
    /// The path below the root; empty for the root itself.
    pub path: String,
}

impl File {
    /// Makes a file at a path below a root.
    pub fn new(root: Root, path: impl Into<String>) -> File {
        File { root, path: path.into() }
    }

    /// Returns the file of this name in this folder.
    pub fn child(&self, name: &str) -> File {
        let path = if self.path.is_empty() { name.into() } else { [&self.path, "/", name].concat() };
        File { root: self.root.clone(), path }
    }

    /// Returns the file of this name in the same folder.
    pub fn sibling(&self, name: &str) -> File {
        self.folder().child(name)
    }

    /// Returns the folder that it lies in.
    pub fn folder(&self) -> File {
        let path = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        File { root: self.root.clone(), path: path.into() }
    }

    /// Returns the last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The two ways to keep a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Below the home, with its project.
    Home,
    /// Beside a conversation of a workspace.
    Workspace,
}

impl Placement {
    /// Returns the placement's name, the same everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Placement::Home => "home",
            Placement::Workspace => "workspace",
        }
    }

    /// Returns the placement of this name.
    pub fn from_name(name: &str) -> Option<Placement> {
        [Placement::Home, Placement::Workspace].into_iter().find(|placement| placement.as_str() == name)
    }

    /// Returns the name of a session's document in this placement.
    pub const fn document(self) -> &'static str {
        match self {
            Placement::Home => "metadata.json",
            Placement::Workspace => "session.json",
        }
    }
}

/// The place of a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionLocation {
    /// Below the home.
    Home {
        /// The hash of its project, or [`NO_PROJECT`].
        project: String,
        /// The session's id.
        id: String,
    },
    /// Beside a conversation.
    Workspace {
        /// The workspace's folder.
        root: String,
        /// The day it began, `2026-11-22`.
        day: String,
        /// The conversation's name.
        name: String,
    },
}

impl SessionLocation {
    /// Returns the session's placement.
    pub fn placement(&self) -> Placement {
        match self {
            SessionLocation::Home { .. } => Placement::Home,
            SessionLocation::Workspace { .. } => Placement::Workspace,
        }
    }

    /// Returns the folder of its logs.
    pub fn folder(&self) -> File {
        match self {
            SessionLocation::Home { project, id } => {
                let parts = [SESSIONS, "/", PROJECTS, "/", project, "/", SESSION_PREFIX, id];
                File::new(Root::Home, parts.concat())
            }
            SessionLocation::Workspace { .. } => self.conversation().child(SESSION_FOLDER),
        }
    }

    /// Returns the folder that a person sees: the conversation's, or in the home the session's own.
    pub fn conversation(&self) -> File {
        match self {
            SessionLocation::Home { .. } => self.folder(),
            SessionLocation::Workspace { root, day, name } => {
                File::new(Root::Workspace(root.clone()), format!("{CONVERSATIONS}/{day}/{name}"))
            }
        }
    }

    /// Returns its document.
    pub fn document(&self) -> File {
        self.folder().child(self.placement().document())
    }

    /// Returns one of its logs.
    pub fn log(&self, name: &str) -> File {
        self.folder().child(name)
    }

    /// Returns one of its blobs.
    pub fn blob(&self, id: &str) -> File {
        self.folder().child(BLOBS).child(id)
    }

    /// Returns the location whose folder this is; `None` if no session may lie there.
    pub fn of(folder: &File) -> Option<SessionLocation> {
        let mut parts = folder.path.split('/');
        let mut part = || parts.next().filter(|part| !part.is_empty() && !matches!(*part, "." | ".."));
        let place = match &folder.root {
            Root::Home => {
                let (sessions, projects, project, name) = (part()?, part()?, part()?, part()?);
                let is_hash = project.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                let id = name.strip_prefix(SESSION_PREFIX)?;
                let is_there = SESSIONS == sessions && PROJECTS == projects;
                (is_there && (is_hash || project == NO_PROJECT))
                    .then(|| SessionLocation::Home { project: project.into(), id: id.into() })?
            }
            Root::Workspace(root) => {
                let (conversations, day, name, session) = (part()?, part()?, part()?, part()?);
                (conversations == CONVERSATIONS && names::is_day(day) && session == SESSION_FOLDER).then(
                    || SessionLocation::Workspace { root: root.clone(), day: day.into(), name: name.into() },
                )?
            }
            Root::Project | Root::Outside => return None,
        };
        parts.next().is_none().then_some(place)
    }
}

const SESSIONS: &str = "sessions";
const PROJECTS: &str = "projects";
/// The prefix of a session's folder in the home; the session's id follows.
pub const SESSION_PREFIX: &str = "session-";
/// The folder of sessions without a project.
pub const NO_PROJECT: &str = "none";
/// The folder of a workspace's conversations, with a folder for each day.
pub const CONVERSATIONS: &str = "conversations";
/// The folder of a session's files in its conversation's folder.
pub const SESSION_FOLDER: &str = ".session";
/// The file with the key of a store's placeholders: they differ from any other store's.
pub const REDACTION_KEY: &str = "redaction.key";
/// The log of messages.
pub const MESSAGES: &str = "messages.jsonl";
/// The log of events.
pub const EVENTS: &str = "events.jsonl";
/// The log of tool executions.
pub const TOOLS: &str = "tools.jsonl";
/// The folder of blobs, which hold what is too large for a line.
pub const BLOBS: &str = "blobs";
/// The folder of a session's summaries.
pub const SUMMARIES: &str = "summaries";
/// The file that tells git how to merge the files beside it.
pub const ATTRIBUTES: &str = ".gitattributes";
/// The text of that file.
pub const ATTRIBUTES_TEXT: &str = "\
# Lines are appended on both sides of a merge, and both are kept. The documents are derived: a merge takes no line of
# theirs apart. No filter: a merge of what Git LFS makes of a log would lose the log.
*.jsonl text eol=lf merge=union -filter
*.json text eol=lf -merge -filter
.gitattributes text eol=lf
blobs/** binary
";
/// The cache file of finished imports.
const IMPORTED_FILES: &str = "imported.json";
/// The file that names who reserved a folder for a session that has not begun.
pub const RESERVATION_FILE: &str = ".taken";

/// Returns the folder of all projects' sessions.
pub fn projects() -> File {
    File::new(Root::Home, format!("{SESSIONS}/{PROJECTS}"))
}

/// Returns the folder of a project's sessions, by the hash of the project.
pub fn project_folder(hash: &str) -> File {
    projects().child(hash)
}

/// Returns the session index, which lists are made from.
pub fn index() -> File {
    File::new(Root::Home, format!("{SESSIONS}/index.jsonl"))
}

/// Returns the list of known workspaces.
pub fn workspaces() -> File {
    File::new(Root::Home, "workspaces.jsonl")
}

/// Returns the folder of relocations, a file for each session on its way between placements.
pub fn relocations() -> File {
    File::new(Root::Home, "moving")
}

/// Returns the trash.
pub fn trash() -> File {
    File::new(Root::Home, "trash")
}

/// Returns the file that says where each session in the trash came from.
pub fn trash_origins() -> File {
    File::new(Root::Home, "trash.jsonl")
}

/// Returns the cache of finished imports: their transcripts need not be opened again.
pub fn import_cache() -> File {
    cache().child(IMPORTED_FILES)
}

/// Returns the file that names the session which the agent with this mark goes on with.
pub fn continuation(mark: &str) -> File {
    File::new(Root::Home, format!("continued/{mark}.json"))
}

/// Returns the file with the claims on a program's session that begins.
pub fn claims(session_id: &str) -> File {
    cache().child(&format!("{session_id}.claims"))
}

/// Returns the record of a session's last native export for a client: without it, the session is exported once more.
pub fn native_copy(mark: &str) -> File {
    cache().child(&format!("copies/{mark}.json"))
}

/// Returns the settings file of the home or of a project.
pub fn settings(of: Root) -> File {
    let path = if of == Root::Project { ".leftoff/settings.json" } else { "settings.json" };
    File::new(of, path)
}

/// Returns the cache, the folder of files that can be made again.
pub fn cache() -> File {
    File::new(Root::Home, "cache")
}

/// Returns the folder of the search index's files.
pub fn search_index() -> File {
    cache().child("recall")
}

/// Returns the folder of large tool outputs, kept for the time of a run.
pub fn outputs() -> File {
    File::new(Root::Home, "context")
}

/// Returns the record of the sessions that lists archived because they are too many or too old by a project's settings.
pub fn tidy_record(hash: &str) -> File {
    cache().child(&format!("tidied-{hash}.json"))
}

/// Returns a session's checkpoint: with it, the log need not be read again.
pub fn checkpoint(id: &str) -> File {
    cached_file(id, names::CachedKind::Checkpoint)
}

/// Returns a session's file of this kind in the cache.
pub fn cached_file(id: &str, what: names::CachedKind) -> File {
    cache().child(&names::cached_name(id, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(place: SessionLocation, root: Root, path: &str) {
        let folder = place.folder();
        assert_eq!((&folder.root, folder.path.as_str()), (&root, path));
        assert_eq!(SessionLocation::of(&folder), Some(place));
    }

    #[test]
    fn a_place_is_told_from_its_folder() {
        let home = |project: &str| SessionLocation::Home { project: project.into(), id: "x-1".into() };
        check(home("5dcf1f63d1e20d7e"), Root::Home, "sessions/projects/5dcf1f63d1e20d7e/session-x-1");
        check(home(NO_PROJECT), Root::Home, "sessions/projects/none/session-x-1");
        let root = "/work/space";
        let named = SessionLocation::Workspace {
            root: root.into(),
            day: "2026-11-22".into(),
            name: "001-chat".into(),
        };
        check(named, Root::Workspace(root.into()), "conversations/2026-11-22/001-chat/.session");
    }

    #[test]
    fn no_session_lies_anywhere_else() {
        let home = [
            "",
            "x",
            "sessions/projects/0/session-",
            "sessions/projects/0/x",
            "sessions/projects/0/session-a/b",
        ];
        let more = [
            "sessions/projects/../session-a",
            "sessions/projects//session-a",
            "sessions/projects/X/session-a",
        ];
        for path in home.into_iter().chain(more).filter(|path| !path.ends_with("session-")) {
            assert_eq!(SessionLocation::of(&File::new(Root::Home, path)), None, "{path}");
        }
        for path in [
            "conversations/today/a/.session",
            "conversations/2026-11-22/../.session",
            "conversations/2026-11-22/a",
        ] {
            assert_eq!(SessionLocation::of(&File::new(Root::Workspace("w".into()), path)), None, "{path}");
        }
        assert_eq!(SessionLocation::of(&File::new(Root::Outside, "sessions/projects/0/session-a")), None);
    }

    #[test]
    fn what_lies_beside_shares_the_folder() {
        let file = project_folder("0").child("session-a");
        assert_eq!(file.sibling(".left").path, "sessions/projects/0/.left");
        assert_eq!(trash().sibling("x"), File::new(Root::Home, "x"));
        assert_eq!((trash().name(), file.name()), ("trash", "session-a"));
    }
}
