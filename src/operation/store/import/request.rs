//! Import requests, read from JSON.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::notes::ImportNote;
use crate::error::Code;
use crate::json::fields::{BadValue, Fields, parse_objects};
use crate::json::request;
use crate::operation::Trouble;

/// A request to import one file.
pub(super) struct FileRequest {
    pub path: String,
    pub agent: Option<String>,
    /// Which sessions of a database to read, for the host that reads it: JSON.
    pub session_filter: String,
    pub size: u64,
    pub reports_progress: bool,
    /// The caller can tell which command began a conversation.
    pub has_command: bool,
}

/// A request to import many files.
pub(super) struct FilesRequest {
    pub files: Vec<ImportFile>,
    /// The notes of an earlier attempt, from a host that keeps them.
    pub notes: Option<Vec<ImportNote>>,
    pub agent: Option<String>,
    pub reports_progress: bool,
}

/// One file of many.
pub(super) struct ImportFile {
    pub path: String,
    pub agent: Option<String>,
    /// A text that differs once the file has changed.
    pub change_mark: String,
    pub byte_len: u64,
    /// When it last changed, in milliseconds since 1970, where the host says so.
    pub changed_ms: Option<i64>,
}

/// A request to list what an import of files would take in.
pub(super) struct ImportableRequest {
    pub files: Vec<ImportFile>,
    pub agent: Option<String>,
    /// How many sessions at most.
    pub limit: usize,
    /// The user named the file.
    pub is_named: bool,
    pub reports_progress: bool,
}

impl FileRequest {
    pub fn from_json(json: &str) -> Result<FileRequest, Trouble> {
        let known = "path, from, only, size, tells or hasCommand";
        let (mut fields, bad) = (request::parse(json, known)?, &mut Vec::new());
        let only = fields.take_raw("only").unwrap_or("null");
        let folder =
            |only: &str| request::parse(only, "folder").ok()?.take::<String>("folder", &mut Vec::new());
        if only != "null" && folder(only).is_none() {
            let message =
                format!("expected an object with \"folder\" for \"only\", but found {only} instead");
            return Err(Trouble::new(Code::InvalidRequest, message));
        }
        let request = FileRequest {
            path: fields.take("path", bad).unwrap_or_default(),
            agent: fields.take("from", bad),
            session_filter: only.into(),
            size: fields.take("size", bad).unwrap_or_default(),
            reports_progress: fields.take("tells", bad).unwrap_or_default(),
            has_command: fields.take("hasCommand", bad).unwrap_or_default(),
        };
        request::reject_bad(bad)?;
        if request.path.is_empty() {
            return Err(request::error("expected the path of a file for \"path\", but found none").into());
        }
        Ok(request)
    }
}

impl FilesRequest {
    pub fn from_json(json: &str) -> Result<FilesRequest, Trouble> {
        let (mut fields, bad) = (request::parse(json, "files, from, tells or notes")?, &mut Vec::new());
        let files = take_files(&mut fields, bad)?;
        let notes = fields.take_raw("notes").and_then(parse_objects);
        let request = FilesRequest {
            notes: notes
                .map(|notes| notes.into_iter().map(|note| ImportNote::from_fields(note, bad)).collect()),
            files,
            agent: fields.take("from", bad),
            reports_progress: fields.take("tells", bad).unwrap_or_default(),
        };
        request::reject_bad(bad)?;
        Ok(request)
    }
}

impl ImportableRequest {
    pub fn from_json(json: &str) -> Result<ImportableRequest, Trouble> {
        let known = "files, from, limit, isNamed or tells";
        let (mut fields, bad) = (request::parse(json, known)?, &mut Vec::new());
        let request = ImportableRequest {
            files: take_files(&mut fields, bad)?,
            agent: fields.take("from", bad),
            limit: fields.take::<u32>("limit", bad).map_or(usize::MAX, |limit| limit as usize),
            is_named: fields.take("isNamed", bad).unwrap_or_default(),
            reports_progress: fields.take("tells", bad).unwrap_or_default(),
        };
        request::reject_bad(bad)?;
        Ok(request)
    }
}

fn take_files(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Result<Vec<ImportFile>, Trouble> {
    let files = fields.take_raw("files").and_then(parse_objects).ok_or_else(|| {
        Trouble::new(Code::InvalidRequest, "expected an array of files for \"files\", but found none")
    })?;
    Ok(files.into_iter().map(|file| ImportFile::from_fields(file, bad)).collect())
}

impl ImportFile {
    /// The agent by which the file is read; none where its content decides. `from`: the agent of all files.
    pub fn agent<'a>(&'a self, from: Option<&'a str>) -> Option<&'a str> {
        from.or(self.agent.as_deref()).filter(|agent| !agent.is_empty())
    }

    /// The mark of its state as it is read by that agent.
    pub fn print(&self, from: Option<&str>) -> String {
        format!("{} {}", self.change_mark, self.agent(from).unwrap_or_default())
    }

    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> ImportFile {
        request::reject_unknown(&fields, "path, agent, size, bytes or changed", bad);
        ImportFile {
            path: fields.take("path", bad).unwrap_or_default(),
            agent: fields.take("agent", bad),
            change_mark: fields.take("size", bad).unwrap_or_default(),
            byte_len: fields.take("bytes", bad).unwrap_or_default(),
            changed_ms: fields.take("changed", bad),
        }
    }
}
