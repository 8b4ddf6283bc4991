//! Where each file of leftoff lies: below a root that the host has opened, by a path with `/`.
//!
//! A host resolves the root and knows no other rule of the layout. Names that come from outside, a title or a file's name
//! in a folder, are read and made in [`names`]; what a conversation says of its own place in [`mentions`].

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
    /// The folder that is worked in.
    Project,
    /// A workspace, by its folder as the host names it.
    Workspace(String),
    /// All that the host can reach: agents' own files. It is only read, but for a session that is handed over.
    Outside,
}

/// A file or a folder: what it lies below, and the path from there, with `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct File {
    /// What it lies below.
    pub root: Root,
    /// The path from there; empty for the root itself.
    pub path: String,
}

impl File {
    /// At a path below a root.
    pub fn new(root: Root, path: impl Into<String>) -> File {
        File { root, path: path.into() }
    }

    /// What has this name in this folder.
    pub fn child(&self, name: &str) -> File {
        let path = if self.path.is_empty() { name.into() } else { [&self.path, "/", name].concat() };
        File { root: self.root.clone(), path }
    }

    /// What has this name in the same folder.
    pub fn sibling(&self, name: &str) -> File {
        self.folder().child(name)
    }

    /// The folder that it lies in.
    pub fn folder(&self) -> File {
        let path = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        File { root: self.root.clone(), path: path.into() }
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// In which of two ways a session is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Below the home, with its project.
    Home,
    /// Beside a conversation of a workspace.
    Workspace,
}

impl Placement {
    /// As it is written everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Placement::Home => "home",
            Placement::Workspace => "workspace",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Placement> {
        [Placement::Home, Placement::Workspace].into_iter().find(|placement| placement.as_str() == name)
    }

    /// The document about a session there.
    pub const fn document(self) -> &'static str {
        match self {
            Placement::Home => "metadata.json",
            Placement::Workspace => "session.json",
        }
    }
}

/// Where a session lies.
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
    /// In which way it is kept.
    pub fn placement(&self) -> Placement {
        match self {
            SessionLocation::Home { .. } => Placement::Home,
            SessionLocation::Workspace { .. } => Placement::Workspace,
        }
    }

    /// The folder of its logs.
    pub fn folder(&self) -> File {
        match self {
            SessionLocation::Home { project, id } => {
                let parts = [SESSIONS, "/", PROJECTS, "/", project, "/", SESSION_PREFIX, id];
                File::new(Root::Home, parts.concat())
            }
            SessionLocation::Workspace { .. } => self.conversation().child(SESSION_FOLDER),
        }
    }

    /// The folder that a person sees: the conversation's, or in the home the session's own.
    pub fn conversation(&self) -> File {
        match self {
            SessionLocation::Home { .. } => self.folder(),
            SessionLocation::Workspace { root, day, name } => {
                File::new(Root::Workspace(root.clone()), format!("{CONVERSATIONS}/{day}/{name}"))
            }
        }
    }

    /// The document about it.
    pub fn document(&self) -> File {
        self.folder().child(self.placement().document())
    }

    /// One of its logs.
    pub fn log(&self, name: &str) -> File {
        self.folder().child(name)
    }

    /// One of its blobs.
    pub fn blob(&self, id: &str) -> File {
        self.folder().child(BLOBS).child(id)
    }

    /// The place whose folder this is; nothing where no session may lie there.
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
/// What the folder of a session in the home begins with; its id follows.
pub const SESSION_PREFIX: &str = "session-";
/// The folder of sessions that are no project's.
pub const NO_PROJECT: &str = "none";
/// The folder of a workspace's conversations, a folder for each day in it.
pub const CONVERSATIONS: &str = "conversations";
/// What the folder of a conversation holds of its session.
pub const SESSION_FOLDER: &str = ".session";
/// What makes a store's placeholders for secrets its own.
pub const REDACTION_KEY: &str = "redaction.key";
/// The messages of a session.
pub const MESSAGES: &str = "messages.jsonl";
/// Its events.
pub const EVENTS: &str = "events.jsonl";
/// What tools did for it.
pub const TOOLS: &str = "tools.jsonl";
/// The folder of what is too large for a line.
pub const BLOBS: &str = "blobs";
/// The folder of its summaries.
pub const SUMMARIES: &str = "summaries";
/// How git merges what lies beside it.
pub const ATTRIBUTES: &str = ".gitattributes";
/// What that says.
pub const ATTRIBUTES_TEXT: &str = "\
# Lines are appended on both sides of a merge, and both are kept. The documents are derived: a merge takes no line of
# theirs apart. No filter: a merge of what Git LFS makes of a log would lose the log.
*.jsonl text eol=lf merge=union -filter
*.json text eol=lf -merge -filter
.gitattributes text eol=lf
blobs/** binary
";
/// What was imported, as the cache has it.
const IMPORTED: &str = "imported.json";
/// By whom a place is taken that no session lies in yet.
pub const TAKEN: &str = ".taken";

/// The folder of all projects' sessions.
pub fn projects() -> File {
    File::new(Root::Home, format!("{SESSIONS}/{PROJECTS}"))
}

/// The folder of a project's sessions, by the hash of the project.
pub fn project_folder(hash: &str) -> File {
    projects().child(hash)
}

/// What lists are made from.
pub fn index() -> File {
    File::new(Root::Home, format!("{SESSIONS}/index.jsonl"))
}

/// Which workspaces were met.
pub fn workspaces() -> File {
    File::new(Root::Home, "workspaces.jsonl")
}

/// The folder of sessions that are on their way into the other placement, a file for each.
pub fn relocations() -> File {
    File::new(Root::Home, "moving")
}

/// The folder of what was deleted.
pub fn trash() -> File {
    File::new(Root::Home, "trash")
}

/// Where what is in the trash came from.
pub fn trash_origins() -> File {
    File::new(Root::Home, "trash.jsonl")
}

/// What was imported, so that it need not be opened again.
pub fn import_cache() -> File {
    cache().child(IMPORTED)
}

/// Which session an agent goes on with that has this mark.
pub fn continuation(mark: &str) -> File {
    File::new(Root::Home, format!("continued/{mark}.json"))
}

/// What was written last of a session for a client: without it, it is written once more.
pub fn native_copy(mark: &str) -> File {
    cache().child(&format!("copies/{mark}.json"))
}

/// The user's own settings, or those of a project.
pub fn settings(of: Root) -> File {
    let path = if of == Root::Project { ".leftoff/settings.json" } else { "settings.json" };
    File::new(of, path)
}

/// The folder of what can be made again.
pub fn cache() -> File {
    File::new(Root::Home, "cache")
}

/// The folder of the runs: which words were said where.
pub fn search_index() -> File {
    cache().child("recall")
}

/// The folder of large tool outputs, for the time of a run.
pub fn outputs() -> File {
    File::new(Root::Home, "context")
}

/// Which sessions of a project lists have archived that its settings say are too many or too old.
pub fn tidy_record(hash: &str) -> File {
    cache().child(&format!("tidied-{hash}.json"))
}

/// What is kept of a session so that its log need not be read again.
pub fn checkpoint(id: &str) -> File {
    cached_file(id, names::CachedKind::Checkpoint)
}

/// What is kept of a session in the cache.
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
