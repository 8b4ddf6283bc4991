//! Reads a foreign file as lines.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::iter::once;
use core::ops::Range;

use crate::error::{Code, Error};
use crate::interop::torn_lines::{self, LinePart};
use crate::interop::{AgentName, Import, Losses, Object};
use crate::json::fields::{MAX_DEPTH, ObjectError, is_too_deep};
use crate::record::line::MAX_LINE;
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;

/// The longest line that is read, in bytes.
pub(super) const MAX_SOURCE_LINE: usize = 2 * MAX_LINE;

/// Returns the lines that hold something, each with its offset, without an editor's byte order mark.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    let mut next = 0;
    ends.filter_map(move |end| {
        let here = core::mem::replace(&mut next, end + 1);
        let line = &bytes[here..end];
        let marked = if here == 0 { line.strip_prefix(b"\xef\xbb\xbf") } else { None };
        let text = marked.unwrap_or(line).trim_ascii_start();
        let place = here + line.len() - text.len();
        Some((place, text.trim_ascii_end())).filter(|(_, text)| !text.is_empty())
    })
}

/// Returns the objects on the lines, each with its place; any other line is a problem. A line may hold several objects,
/// and parts of torn ones.
pub(super) fn records(
    bytes: &[u8],
    agent: AgentName,
) -> impl Iterator<Item = Result<(Object<'_>, Span), Problem>> {
    lines(bytes).flat_map(move |(start, line)| {
        let place =
            |part: Range<usize>| Span { start: (start + part.start) as u64, end: (start + part.end) as u64 };
        let (code, found) = match parse_line(line) {
            Ok(object) => return once(Ok((object, place(0..line.len())))).chain(Vec::new()),
            Err(wrong) => wrong,
        };
        let wrong = |code, part, found: &str| {
            let expected = match code {
                ProblemCode::LineTooLong => format!("a line of at most {MAX_SOURCE_LINE} bytes"),
                ProblemCode::InvalidUtf8 => "text".into(),
                _ => format!("a record of {}", agent.as_str()),
            };
            Err(new_problem(code, place(part), format!("expected {expected}, but found {found} instead")))
        };
        let mut parts = parts_of(line, code).into_iter().map(|part| match part {
            LinePart::Whole(part, object) => Ok((object, place(part))),
            LinePart::Torn(part) => wrong(ProblemCode::Damaged, part, "a part of one"),
        });
        let first = parts.next().unwrap_or_else(|| wrong(code, 0..line.len(), &found));
        once(first).chain(parts.collect::<Vec<_>>())
    })
}

/// Returns the objects on the first lines: enough to recognize a format.
pub(super) fn first_objects(bytes: &[u8], count: usize) -> impl Iterator<Item = Object<'_>> {
    lines(bytes).take(count).flat_map(|(_, line)| objects(line))
}

/// Returns the objects on a line.
pub(super) fn objects(line: &[u8]) -> impl Iterator<Item = Object<'_>> {
    let (object, parts) = match parse_line(line) {
        Ok(object) => (Some(object), Vec::new()),
        Err((code, _)) => (None, parts_of(line, code)),
    };
    object.into_iter().chain(parts.into_iter().filter_map(|part| match part {
        LinePart::Whole(_, object) => Some(object),
        LinePart::Torn(_) => None,
    }))
}

// Splits a line that is no record as a whole; empty if no record is in it.
fn parts_of(line: &[u8], code: ProblemCode) -> Vec<LinePart<'_>> {
    match code {
        ProblemCode::Damaged | ProblemCode::InvalidUtf8 => torn_lines::split_line(line),
        _ => Vec::new(),
    }
}

fn parse_line(line: &[u8]) -> Result<Object<'_>, (ProblemCode, String)> {
    if line.len() > MAX_SOURCE_LINE {
        return Err((ProblemCode::LineTooLong, format!("{} bytes", line.len())));
    }
    let Ok(text) = core::str::from_utf8(line) else {
        return Err((ProblemCode::InvalidUtf8, "bytes that are no UTF-8".into()));
    };
    Object::parse("", text).map_err(|wrong| {
        let code = match wrong {
            ObjectError::Invalid => ProblemCode::Damaged,
            ObjectError::TooDeep => ProblemCode::TooDeep,
            ObjectError::Other(_) => ProblemCode::Foreign,
        };
        (code, wrong.to_string())
    })
}

/// Returns the place of a slice of a document in the document's bytes.
pub(super) fn span_of(bytes: &[u8], piece: &str) -> Span {
    let start = (piece.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize) as u64;
    Span { start, end: start + piece.len() as u64 }
}

/// Returns a file's name without its folders and its ending.
pub(super) fn file_stem<'a>(path: &'a str, ending: &str) -> &'a str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(ending).unwrap_or(name)
}

/// Makes a problem with its place.
pub(super) fn new_problem(code: ProblemCode, place: Span, message: impl Into<String>) -> Problem {
    let Span { start, end } = place;
    Problem { code, start, end, message: message.into() }
}

/// Rejects an empty file.
///
/// # Errors
/// `empty_file`.
pub(super) fn reject_empty(bytes: &[u8], agent: AgentName) -> Result<(), Error> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let agent = agent.as_str();
        let message = format!("expected a session of {agent}, but found an empty file instead");
        return Err(Error::new(Code::EmptyFile, message));
    }
    Ok(())
}

/// Returns the sessions that were read; an error if there are none.
///
/// # Errors
/// `line_too_long` if all that there is is too long to be stored; `empty_file` if it is one of the agent's sessions, in
/// which nothing was said; else what [`unknown_format_error`] says.
pub(super) fn require_sessions(
    import: Import,
    bytes: &[u8],
    agent: AgentName,
    is_known: bool,
) -> Result<Import, Error> {
    if is_known && !import.sessions.is_empty() {
        return Ok(import);
    }
    let is_too_long = |problem: &&Problem| problem.code == ProblemCode::LineTooLong;
    if let Some(problem) = import.problems.iter().find(is_too_long) {
        return Err(Error::new(Code::LineTooLong, problem.message.as_str()));
    }
    let expected = format!("expected a session of {}", agent.as_str());
    if is_known {
        return Err(Error::new(Code::EmptyFile, format!("{expected}, but nothing was said in this one")));
    }
    Err(unknown_format_error(bytes, agent.as_str()))
}

/// Makes the error for a file that is no session of this agent: `unknown_format`, or `too_deep` if it may be one.
pub(super) fn unknown_format_error(bytes: &[u8], agent: &str) -> Error {
    let is_json = lines(bytes).next().is_some_and(|(_, line)| matches!(line[0], b'{' | b'['));
    if is_json && core::str::from_utf8(bytes).is_ok_and(is_too_deep) {
        let message = format!(
            "expected a session of {agent} that is nested at most {MAX_DEPTH} deep, but found one that is nested deeper"
        );
        return Error::new(Code::TooDeep, message);
    }
    let first = lines(bytes).next().map_or_else(|| "nothing".into(), |(_, line)| describe_line(line));
    // A list of all agents would tell a person nothing.
    let whose = if agent.contains(", ") { "any known agent" } else { agent };
    let message = format!("not a session of {whose}: the first line is {first}");
    Error::new(Code::UnknownFormat, message)
}

// Describes a line, for an error that expected another.
fn describe_line(line: &[u8]) -> String {
    let Ok(text) = core::str::from_utf8(line) else { return "not UTF-8 text".into() };
    match Object::parse("", text) {
        Ok(mut object) => match object.take::<String>("type", &mut Losses::default()) {
            Some(kind) => {
                let kind: String = kind.chars().take(40).collect();
                format!("an object of type {kind:?}")
            }
            None => "an object without a type".into(),
        },
        Err(no_object) => no_object.to_string(),
    }
}
