//! The pointer to a project's current session, a file beside the project. It is derived: one that leads nowhere, or is
//! no pointer, counts for nothing.
//!
//! The pointer is a file with a link beside it, since Windows may refuse links. The filesystem's root and the user's
//! home have none: they are no projects.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::{File, Root};
use crate::json::fields::Fields;
use crate::json::text::to_json;

/// The folder of leftoff's own files in a project.
pub const FOLDER: &str = ".leftoff";

/// The ignore rules of that folder: a repository sees only its settings.
pub const IGNORE_RULES: &str = "*\n!settings.json\n";

/// The location of a session, its path as the host names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionPointer {
    /// The session's id.
    pub id: String,
    /// The folder of its logs.
    pub path: String,
}

/// Returns the pointer's file.
pub fn file() -> File {
    file_in_folder("current-session.json")
}

/// Returns the link that leads to the session, for people, on systems that have links.
pub fn link() -> File {
    file_in_folder("current-session")
}

/// Returns the file from which git reads the ignore rules.
pub fn ignore_file() -> File {
    file_in_folder(".gitignore")
}

fn file_in_folder(name: &str) -> File {
    File::new(Root::Project, format!("{FOLDER}/{name}"))
}

/// Renders the pointer's file.
pub fn write(pointer: &SessionPointer) -> String {
    #[derive(Serialize)]
    struct PointerFile<'p> {
        version: u32,
        id: &'p str,
        path: &'p str,
    }
    to_json(&PointerFile { version: 1, id: &pointer.id, path: &pointer.path })
}

/// Reads the pointer's file; the caller checks that the session exists.
pub fn read(json: &str) -> Option<SessionPointer> {
    let mut fields = Fields::parse(json).ok()?;
    let mut bad = Vec::new();
    Some(SessionPointer { id: fields.take("id", &mut bad)?, path: fields.take("path", &mut bad)? })
}

/// True if a folder may have a pointer: a folder that many projects lie in is no project of its own, and its pointer
/// would be everybody's. `parent`: the folder around it, which is the folder itself at the top of all.
pub fn may_have(project: &str, parent: &str, home_of_user: &str) -> bool {
    project != home_of_user && project != parent
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_pointer_is_none() {
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"id":"a"}"#,
            r#"{"path":"/a"}"#,
            r#"{"id":1,"path":"/a"}"#,
            r#"{"id":"a","path":"/a""#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_folder_of_many_projects_has_none() {
        assert!(may_have("/home/ann/code", "/home/ann", "/home/ann"));
        assert!(!may_have("/home/ann", "/home", "/home/ann"));
        assert!(!may_have("/", "/", "/home/ann"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(id: String, path: String) {
            let pointer = SessionPointer { id, path };
            prop_assert_eq!(read(&write(&pointer)), Some(pointer));
        }
    }
}
