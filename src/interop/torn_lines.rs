//! Splits a line with several records: a killed client leaves a torn one, and the next writer begins right behind it.
//!
//! An object counts as a record unless what follows it goes on with an array or an object around it. The search is
//! linear: behind a part that is no JSON it begins anew where that was noticed.

use alloc::vec::Vec;
use core::ops::Range;

use serde_json::Deserializer;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::interop::Object;

/// A part of a line: a record, or bytes of a torn one.
pub(super) enum LinePart<'a> {
    Whole(Range<usize>, Object<'a>),
    Torn(Range<usize>),
}

/// How far before the place of an error the next record may begin: its brace, its quote and a key's first letter.
const MAX_ERROR_LAG_BYTES: usize = 4;
/// The beginnings that are tried in a line that is JSON as far as it goes.
const MAX_BEGINNINGS: usize = 8;
const OBJECT_BEGINNING: &[u8] = b"{\"";

/// Splits a line that is no record; empty if no record is in it.
pub(super) fn split_line(line: &[u8]) -> Vec<LinePart<'_>> {
    let mut parts = Vec::new();
    // The end of what was read, and where the next record may begin.
    let (mut torn, mut at) = (0, 0);
    loop {
        let next = match parse_value(line, at) {
            Ok((span, raw)) => {
                let record = Object::parse("", raw).ok().filter(|_| !continues_enclosing(&line[span.end..]));
                let end = span.end;
                if let Some(record) = record {
                    if !line[torn..span.start].trim_ascii().is_empty() {
                        parts.push(LinePart::Torn(torn..span.start));
                    }
                    parts.push(LinePart::Whole(span, record));
                    torn = end;
                }
                end
            }
            Err(noticed) => {
                let behind = noticed.map(|noticed| noticed.saturating_sub(MAX_ERROR_LAG_BYTES).max(at + 1));
                let Some(next) = find_nested(&line[..noticed.unwrap_or(line.len())], at).or(behind) else {
                    break;
                };
                next
            }
        };
        let Some(begins) = line.get(next..).and_then(|rest| memchr::memmem::find(rest, OBJECT_BEGINNING))
        else {
            break;
        };
        at = next + begins;
    }
    if !parts.is_empty() && !line[torn..].trim_ascii().is_empty() {
        parts.push(LinePart::Torn(torn..line.len()));
    }
    parts
}

// Parses the value at a place. The error is where it stops being JSON; `None` if it is JSON as far as it goes.
fn parse_value(line: &[u8], at: usize) -> Result<(Range<usize>, &str), Option<usize>> {
    let mut values = Deserializer::from_slice(&line[at..]).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(raw)) => {
            let (raw, end) = (raw.get(), at + values.byte_offset());
            Ok((end - raw.len()..end, raw))
        }
        Some(Err(error)) if error.classify() != Category::Eof => {
            Err(Some((at + error.column()).min(line.len())))
        }
        Some(Err(_)) | None => Err(None),
    }
}

// True if what follows goes on with the array or the object around this one.
fn continues_enclosing(rest: &[u8]) -> bool {
    matches!(rest.trim_ascii_start().first(), Some(b'}' | b']' | b',' | b':' | b'"'))
}

// If a record was torn before a value, the next record stands as that value: it begins with the same two keys.
fn find_nested(line: &[u8], at: usize) -> Option<usize> {
    let (opening, second) = first_keys(&line[at..])?;
    let begins = memchr::memmem::find_iter(&line[at + 1..], opening).map(|begins| at + 1 + begins);
    begins.take(MAX_BEGINNINGS).find(|begins| {
        let own = first_keys(&line[*begins..]).and_then(|(_, second)| second);
        let is_alike = second.is_none() || own == second;
        is_alike && parse_value(line, *begins).is_ok_and(|(span, _)| !continues_enclosing(&line[span.end..]))
    })
}

// Returns an object's beginning up to its first value, and its second key, if it has one.
fn first_keys(object: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let colon = memchr::memchr(b':', object)?;
    let opening = object.get(..=colon).filter(|opening| opening.starts_with(OBJECT_BEGINNING))?;
    let Ok((first, _)) = parse_value(object, colon + 1) else { return Some((opening, None)) };
    let rest = object[first.end..].trim_ascii_start();
    let second = rest.strip_prefix(b",").and_then(|rest| {
        let rest = rest.trim_ascii_start();
        rest.get(..=memchr::memchr(b':', rest)?)
    });
    Some((opening, second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    const RECORD: &str =
        r#"{"timestamp":"t","type":"a","payload":{"type":"b","list":[{"text":"ü\n"},1.5e3]}}"#;

    // Records as they stand, torn bytes in brackets.
    fn check(line: &[u8], expected: &[&str]) {
        let parts = split_line(line).into_iter().map(|part| match part {
            LinePart::Whole(span, _) => String::from_utf8_lossy(&line[span]).into_owned(),
            LinePart::Torn(span) => alloc::format!("<{}>", String::from_utf8_lossy(&line[span])),
        });
        assert_eq!(parts.collect::<Vec<_>>(), expected, "{}", String::from_utf8_lossy(line));
    }

    #[test]
    fn a_record_behind_one_that_is_torn_anywhere_is_read() {
        for cut in 1..RECORD.len() {
            let torn = &RECORD.as_bytes()[..cut];
            let bytes = String::from_utf8_lossy(torn).into_owned();
            check(&[torn, RECORD.as_bytes()].concat(), &[&alloc::format!("<{bytes}>"), RECORD]);
            let twice = [torn, torn, RECORD.as_bytes(), RECORD.as_bytes(), torn].concat();
            let wholes = split_line(&twice);
            let whole = wholes.iter().filter(|part| matches!(part, LinePart::Whole(..))).count();
            assert_eq!(whole, 2, "cut at {cut}");
        }
    }

    #[test]
    fn bytes_of_a_torn_record_are_no_record() {
        for cut in 1..RECORD.len() {
            check(&RECORD.as_bytes()[..cut], &[]);
        }
        check(br#"{"timestamp":"t","type":!"a","payload":{"type":"message","role":"user"}}"#, &[]);
        check(b"\xff", &[]);
    }

    #[test]
    fn records_without_a_line_feed_between_them_are_read_and_what_power_left_is_torn() {
        check([RECORD, RECORD].concat().as_bytes(), &[RECORD, RECORD]);
        check([RECORD, " ", RECORD].concat().as_bytes(), &[RECORD, RECORD]);
        check([RECORD, "\0\0"].concat().as_bytes(), &[RECORD, "<\0\0>"]);
        check(["{\"a\":\"\0\0\0", RECORD].concat().as_bytes(), &["<{\"a\":\"\0\0\0>", RECORD]);
    }

    #[test]
    fn a_line_of_many_beginnings_is_searched_in_little_time() {
        let many = "{\"a\":".repeat(200_000);
        check(many.as_bytes(), &[]);
        check("{\"a\":[{\"b\":x".repeat(100_000).as_bytes(), &[]);
    }
}
