//! A caller's request: an object whose every field must be known.
//!
//! A mistyped name would act like a missing one, and the caller would get something other than was asked for. So it is
//! rejected, in every host.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields};
use crate::json::text::to_json;

/// Reads a request's fields. `known` lists the allowed names as an error shows them: `a, b or c`.
pub(crate) fn parse<'a>(json: &'a str, known: &str) -> Result<Fields<'a>, Error> {
    let (fields, bad) = (parse_object(json)?, &mut Vec::new());
    reject_unknown(&fields, known, bad);
    reject_bad(bad)?;
    Ok(fields)
}

/// Reports unknown fields of an object inside a request.
pub(crate) fn reject_unknown(fields: &Fields<'_>, known: &str, bad: &mut Vec<BadValue>) {
    let is_known = |key: &str| known.split(", ").flat_map(|some| some.split(" or ")).any(|one| one == key);
    if let Some((key, _)) = fields.decoded_entries().find(|(key, _)| !is_known(key)) {
        let found = to_json(&*fields.path_to(key));
        bad.push(BadValue { message: format!("unknown option {found}: expected {known}") });
    }
}

/// Reads a request whose field names the caller checks.
pub(crate) fn parse_object(json: &str) -> Result<Fields<'_>, Error> {
    Fields::parse(json)
        .map_err(|found| error(format!("expected a request object, but found {found} instead")))
}

/// Rejects a request with a value of the wrong kind, naming the first one.
pub(crate) fn reject_bad(bad: &mut Vec<BadValue>) -> Result<(), Error> {
    bad.drain(..).next().map_or(Ok(()), |first| Err(error(first.message)))
}

/// Makes the error of an invalid request.
pub(crate) fn error(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(json: &str, known: &str) -> Option<String> {
        parse(json, known).err().map(|error| error.message)
    }

    #[test]
    fn a_name_that_nobody_knows_is_refused_by_it() {
        assert_eq!(error_of(r#"{"at":1,"to":2}"#, "at, of or to"), None);
        assert_eq!(error_of("{}", "at"), None);
        let message = "unknown option \"att\": expected at, of or to";
        assert_eq!(error_of(r#"{"at":1,"att":2}"#, "at, of or to").as_deref(), Some(message));
        assert_eq!(
            error_of(r#"{"or":1}"#, "at or to").as_deref(),
            Some("unknown option \"or\": expected at or to")
        );
        assert_eq!(error_of(r#"{"":1}"#, "at").as_deref(), Some("unknown option \"\": expected at"));
    }

    #[test]
    fn what_is_no_object_is_no_request() {
        for (json, found) in [("[1]", "an array"), ("\"{}\"", "a string"), ("", "invalid JSON")] {
            let message = format!("expected a request object, but found {found} instead");
            assert_eq!(error_of(json, "at"), Some(message), "{json}");
        }
    }
}
