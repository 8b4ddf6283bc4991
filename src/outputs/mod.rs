//! Large tool outputs, kept beside the conversation for the time of a run: what their files are called and hold, which of them a
//! model picks, and what it is told of those.
//!
//! An output below the limit of the settings stays in memory, a larger one goes to a file, by the host: the core sees no more of it
//! than its beginning. Nothing of it is part of a session: what is here is gone when the run ends.

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

/// So many digits of a hash name a query.
const QUERY_DIGITS: usize = 12;

/// The id of a query: the same for the same text, in every host and version.
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

/// A tool output as its caller gives it, without its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The session that it is of, as the caller calls it.
    pub session: String,
    /// The tool's name.
    pub tool: String,
    /// What the tool was given, a JSON object.
    pub args: String,
    /// What the caller was at.
    pub task_id: Option<String>,
    /// What was asked, as [`hash_query`] names it.
    pub query_id: Option<String>,
    /// How many bytes the result has, as JSON.
    pub size_bytes: u64,
}

impl Output {
    /// Reads `{"sessionId","toolName","args","taskId","queryId","sizeBytes"}`; `args`, `taskId` and `queryId` may be left out.
    ///
    /// # Errors
    /// `invalid_request` for a field that is missing, not known or of another kind.
    pub fn from_json(json: &str) -> Result<Output, Error> {
        let (mut fields, bad) = (request::parse_object(json)?, &mut Vec::new());
        // The host says it, no caller.
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

/// What is known of an output while it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputPointer {
    /// The file, as people call it; it is only there where the output is none of those in memory.
    pub path: String,
    /// The session that it is of.
    #[serde(rename = "sessionId")]
    pub session: String,
    /// The tool's name.
    #[serde(rename = "toolName")]
    pub tool: String,
    /// When it was saved, milliseconds since 1970; written as RFC 3339.
    #[serde(rename = "timestamp", serialize_with = "moment")]
    pub saved_ms: i64,
    /// How many bytes the result has, as JSON.
    pub size_bytes: u64,
    /// What the caller was at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// What was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// What it is, on one line: `Found 150 matches for "TODO"`.
    pub about: String,
}

impl OutputPointer {
    /// The pointer to an output that was saved at a moment. `beginning`: of its result, or all of that.
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
