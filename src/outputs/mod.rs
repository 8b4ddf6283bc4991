//! Large tool outputs, kept beside the conversation for the time of a run: their files, the choice of a model among
//! them, and the prompt with those it picked.
//!
//! An output below the limit of the settings stays in memory, a larger one goes to a file. The result itself does not
//! enter the core: it may have a hundred megabytes, and a module's memory never shrinks. The core asks the host for
//! its first 4,096 bytes, says what surrounds it in the file (`WriteSaved`), and has the host pass a part of a file to
//! its caller (`HandRange`).
//!
//! The files are not flushed: after a power cut, nobody is left who was given their paths. No output is part of a
//! session, and all are gone when the run ends. Outputs in memory are in the second module's, since a page that only
//! reads a session needs none. If that module fails, small ones are lost; files are still found by their paths.

pub mod answer;
pub mod choice;
mod description;
pub mod file;
pub mod name;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

pub(crate) use description::describe_output;

use crate::error::Error;
use crate::json::fields::BadValue;

use crate::json::hash::sha256;
use crate::json::request;
use crate::time;

/// The number of hex digits in a query's id.
const QUERY_DIGITS: usize = 12;

/// Returns the id of a query: the same for the same text, in every host and version.
///
/// ```
/// use leftoff::outputs::hash_query;
///
/// assert_eq!(hash_query("Where are retries?"), hash_query("Where are retries?"));
/// assert!(hash_query("Where are retries?").starts_with("query-"));
/// ```
pub fn hash_query(query: &str) -> String {
    format!("query-{}", &sha256(query.as_bytes())[..QUERY_DIGITS])
}

/// A tool output as its caller describes it, without its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The caller's session id.
    pub session: String,
    /// The tool's name.
    pub tool: String,
    /// The tool's arguments, a JSON object.
    pub args: String,
    /// The id of the caller's task.
    pub task_id: Option<String>,
    /// The id of the query, from [`hash_query`].
    pub query_id: Option<String>,
    /// The size of the result's JSON, in bytes.
    pub size_bytes: u64,
}

impl Output {
    /// Reads `{"sessionId","toolName","args","taskId","queryId","sizeBytes"}`; `args`, `taskId` and `queryId` are
    /// optional.
    ///
    /// # Errors
    /// `invalid_request` for a field that is missing, unknown or of another kind.
    pub fn from_json(json: &str) -> Result<Output, Error> {
        let (mut fields, bad) = (request::parse_object(json)?, &mut Vec::new());
        // The host adds it, not the caller.
        let size_bytes = fields.take("sizeBytes", bad).unwrap_or_default();
        request::reject_unknown(&fields, "sessionId, toolName, args, result, taskId or queryId", bad);
        request::reject_bad(bad)?;
        let mut needed = |key: &str, bad: &mut Vec<BadValue>| match fields.take::<String>(key, bad) {
            Some(text) if !text.is_empty() => Ok(text),
            _ if !bad.is_empty() => Ok(String::new()),
            _ => Err(request::error(format!("expected a text for \"{key}\", but found none"))),
        };
        let (session, tool) = (needed("sessionId", bad)?, needed("toolName", bad)?);
        let args = fields.take_raw("args").unwrap_or("{}");
        if !args.starts_with('{') {
            let found = crate::json::fields::kind_of(args);
            return Err(request::error(format!(
                "expected an object for \"args\", but found {found} instead"
            )));
        }
        let (task_id, query_id) = (fields.take("taskId", bad), fields.take("queryId", bad));
        request::reject_bad(bad)?;
        Ok(Output { session, tool, args: args.into(), task_id, query_id, size_bytes })
    }
}

/// The properties of a stored output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputPointer {
    /// The displayed path of its file, which exists only if the output is not in memory.
    pub path: String,
    /// The caller's session id.
    #[serde(rename = "sessionId")]
    pub session: String,
    /// The tool's name.
    #[serde(rename = "toolName")]
    pub tool: String,
    /// The time when it was saved, in milliseconds since 1970; written as RFC 3339.
    #[serde(rename = "timestamp", serialize_with = "moment")]
    pub saved_ms: i64,
    /// The size of the result's JSON, in bytes.
    pub size_bytes: u64,
    /// The id of the caller's task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The id of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// Its description, on one line: `Found 150 matches for "TODO"`.
    pub about: String,
}

impl OutputPointer {
    /// Creates the pointer to an output saved at `saved_ms`. `beginning` is that of the result, or all of it.
    pub fn new(output: &Output, path: String, saved_ms: i64, beginning: &str) -> OutputPointer {
        let Output { session, tool, task_id, query_id, size_bytes, .. } = output.clone();
        let about = describe_output(output, beginning);
        OutputPointer { path, session, tool, saved_ms, size_bytes, task_id, query_id, about }
    }
}

fn moment<S: Serializer>(ms: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time::format(*ms))
}

#[cfg(test)]
mod tests;
