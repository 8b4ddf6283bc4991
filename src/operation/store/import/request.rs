//! What is asked of an import, as JSON.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::notes::Note;
use crate::error::Code;
use crate::json::fields::{BadValue, Fields, objects};
use crate::json::request;
use crate::operation::Trouble;

/// One file.
pub(super) struct FileRequest {
    pub path: String,
    pub from: Option<String>,
    /// Which sessions of a database, as its host reads it: JSON.
    pub only: String,
    pub size: u64,
    pub tells: bool,
    /// Whoever asked can tell which command began it.
    pub has_command: bool,
}

/// Many files.
pub(super) struct FolderRequest {
    pub files: Vec<Found>,
    /// What was noted before, by a host that keeps notes.
    pub notes: Option<Vec<Note>>,
    pub from: Option<String>,
    pub tells: bool,
}

/// One of them.
pub(super) struct Found {
    pub path: String,
    pub agent: Option<String>,
    /// Another one once it has changed.
    pub size: String,
    pub bytes: u64,
}

impl FileRequest {
    pub fn from_json(json: &str) -> Result<FileRequest, Trouble> {
        let known = "path, from, only, size, tells or hasCommand";
        let (mut fields, bad) = (request::read(json, known)?, &mut Vec::new());
        let only = fields.take_raw("only").unwrap_or("null");
        let folder =
            |only: &str| request::read(only, "folder").ok()?.take::<String>("folder", &mut Vec::new());
        if only != "null" && folder(only).is_none() {
            let message =
                format!("expected an object with \"folder\" for \"only\", but found {only} instead");
            return Err(Trouble::refused(Code::InvalidRequest, message));
        }
        let request = FileRequest {
            path: fields.take("path", bad).unwrap_or_default(),
            from: fields.take("from", bad),
            only: only.into(),
            size: fields.take("size", bad).unwrap_or_default(),
            tells: fields.take("tells", bad).unwrap_or_default(),
            has_command: fields.take("hasCommand", bad).unwrap_or_default(),
        };
        request::refuse_bad(bad)?;
        if request.path.is_empty() {
            return Err(request::wrong("expected the path of a file for \"path\", but found none").into());
        }
        Ok(request)
    }
}

impl FolderRequest {
    pub fn from_json(json: &str) -> Result<FolderRequest, Trouble> {
        let (mut fields, bad) = (request::read(json, "files, from, tells or notes")?, &mut Vec::new());
        let files = fields.take_raw("files").and_then(objects);
        let files = files.ok_or_else(|| {
            Trouble::refused(Code::InvalidRequest, "expected an array of files for \"files\", but found none")
        })?;
        let notes = fields.take_raw("notes").and_then(objects);
        let request = FolderRequest {
            notes: notes.map(|notes| notes.into_iter().map(|note| Note::of(note, bad)).collect()),
            files: files.into_iter().map(|file| Found::of(file, bad)).collect(),
            from: fields.take("from", bad),
            tells: fields.take("tells", bad).unwrap_or_default(),
        };
        request::refuse_bad(bad)?;
        Ok(request)
    }
}

impl Found {
    fn of(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Found {
        request::know(&fields, "path, agent, size or bytes", bad);
        Found {
            path: fields.take("path", bad).unwrap_or_default(),
            agent: fields.take("agent", bad),
            size: fields.take("size", bad).unwrap_or_default(),
            bytes: fields.take("bytes", bad).unwrap_or_default(),
        }
    }
}
