//! Reads a caller's list request.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::request;
use crate::record::status::Status;
use crate::session::session_list::{ListRequest, SortOrder, TypeFilter};
use crate::time;

// Not a real status: it asks for archived sessions of any status.
const ARCHIVED_STATUS: &str = "\"archived\"";

impl ListRequest {
    /// Reads `{"all","type","status","archived","agent","folder","since","until","sort","limit","verify"}`, all
    /// optional: `type` and `archived` are null for any, `since` and `until` times.
    ///
    /// # Errors
    /// `invalid_request`, naming what is wrong.
    pub fn from_json(json: &str) -> Result<ListRequest, Error> {
        let mut bad = Vec::new();
        let mut fields = Fields::parse(json)
            .map_err(|found| invalid_request_error("an object", None, &found.to_string()))?;
        let session_type = match fields.take_raw("type") {
            None => TypeFilter::NoSubagent,
            Some("null") => TypeFilter::Any,
            Some(raw) => TypeFilter::Of(
                parse_string(raw)
                    .ok_or_else(|| invalid_request_error("a string or null", Some("type"), raw))?,
            ),
        };
        let status = fields.take_raw("status");
        let lifecycle = parse_lifecycle(status)?;
        let archived = match fields.take_raw("archived") {
            None => Some(status == Some(ARCHIVED_STATUS)),
            Some("null") => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(raw) => return Err(invalid_request_error("true, false or null", Some("archived"), raw)),
        };
        let sort = fields.take_raw("sort").map_or(Ok(SortOrder::Active), SortOrder::parse)?;
        let limit = match fields.take_raw("limit") {
            None => None,
            Some(raw) => Some(
                raw.parse().map_err(|_| invalid_request_error("a number of sessions", Some("limit"), raw))?,
            ),
        };
        let (since, until) = (take_time(&mut fields, "since")?, take_time(&mut fields, "until")?);
        let wanted = ListRequest {
            all_projects: fields.take("all", &mut bad).unwrap_or_default(),
            is_unverified: fields.take("verify", &mut bad) == Some(false),
            agent: fields.take("agent", &mut bad),
            folder: fields.take("folder", &mut bad),
            limit,
            sort,
            session_type,
            lifecycle,
            archived_filter: archived,
            since_ms: since,
            until_ms: until,
            counts_own_as_foreign: false,
            keeps_idle: false,
        };
        request::reject_bad(&mut bad)?;
        Ok(wanted)
    }

    /// Reads which sessions to search: any of all there are, in the usual order; and the times between which messages
    /// were said.
    ///
    /// # Errors
    /// Those of [`ListRequest::from_json`].
    #[cfg(feature = "interop")]
    pub fn parse_search(json: &str) -> Result<(ListRequest, Option<i64>, Option<i64>), Error> {
        let mut wanted = ListRequest::from_json(json)?;
        let (since, until) = (wanted.since_ms.take(), wanted.until_ms.take());
        Ok((ListRequest { limit: None, sort: SortOrder::Active, ..wanted }, since, until))
    }
}

fn parse_lifecycle(status: Option<&str>) -> Result<Option<Option<Status>>, Error> {
    Ok(match status {
        None | Some(ARCHIVED_STATUS) => None,
        Some("\"unreadable\"") => Some(None),
        Some(raw) => {
            let found = parse_string(raw).and_then(|name| Status::from_name(&name));
            let expected = "active, paused, completed, unreadable or archived";
            Some(Some(found.ok_or_else(|| invalid_request_error(expected, Some("status"), raw))?))
        }
    })
}

impl SortOrder {
    fn parse(raw: &str) -> Result<SortOrder, Error> {
        Ok(match raw {
            "\"active\"" => SortOrder::Active,
            "\"created\"" => SortOrder::Created,
            "\"title\"" => SortOrder::Title,
            "\"messages\"" => SortOrder::Messages,
            "\"agent\"" => SortOrder::Agent,
            "\"project\"" => SortOrder::Project,
            _ => {
                return Err(invalid_request_error(
                    "active, created, title, messages, agent or project",
                    Some("sort"),
                    raw,
                ));
            }
        })
    }
}

/// Takes a time from a request, in milliseconds since 1970.
pub(crate) fn take_time(fields: &mut Fields<'_>, key: &str) -> Result<Option<i64>, Error> {
    let Some(raw) = fields.take_raw(key) else { return Ok(None) };
    let ms = parse_string(raw).and_then(|text| time::parse(&text));
    ms.map(Some).ok_or_else(|| invalid_request_error("a time", Some(key), raw))
}

fn parse_string(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

fn invalid_request_error(expected: &str, key: Option<&str>, found: &str) -> Error {
    let key = key.map(|key| [" for \"", key, "\""].concat()).unwrap_or_default();
    Error::new(
        Code::InvalidRequest,
        ["expected ", expected, &key, ", but found ", found, " instead"].concat(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_cannot_be_meant_is_refused_by_what_is_wrong() {
        for (json, found) in [
            ("[]", "an array"),
            (r#"{"sort":"odd"}"#, "sort"),
            (r#"{"limit":-1}"#, "limit"),
            (r#"{"limit":1.5}"#, "limit"),
            (r#"{"type":7}"#, "type"),
            (r#"{"status":"gone"}"#, "status"),
            (r#"{"archived":1}"#, "archived"),
            (r#"{"since":"soon"}"#, "since"),
            (r#"{"until":7}"#, "until"),
            (r#"{"all":"yes"}"#, "all"),
            (r#"{"agent":7}"#, "agent"),
        ] {
            let error = ListRequest::from_json(json).expect_err(json);
            assert_eq!(error.code, Code::InvalidRequest, "{json}");
            assert!(error.message.contains(found), "{json}: {}", error.message);
        }
        let wanted = r#"{"sort":"title","limit":0,"type":null,"status":"unreadable","archived":null,"since":"2026-11-22T00:00:00.000Z","verify":false}"#;
        let wanted = ListRequest::from_json(wanted);
        assert!(wanted.is_ok_and(|wanted| wanted.is_unverified && wanted.sort == SortOrder::Title));
    }
}
