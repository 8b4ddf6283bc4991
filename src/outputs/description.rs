//! Describes an output on one line, for a model that picks from many.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::{Fields, parse_items};
use crate::json::text::{Text, grapheme_boundary};
use crate::outputs::Output;
use crate::plain::harmless::harmless;

/// The longest description, in bytes. A menu shortens it further, once it has been redacted.
const MAX_DESCRIPTION_BYTES: usize = 2000;

/// The argument names for a search pattern, a file, an address or a command.
const PATTERN_ARGUMENTS: &[&str] = &["pattern", "query", "regex", "search", "q"];
const PATH_ARGUMENTS: &[&str] = &["path", "file_path", "filePath", "file", "filename", "directory", "dir"];
const ADDRESS_ARGUMENTS: &[&str] = &["url", "uri"];
const COMMAND_ARGUMENTS: &[&str] = &["command", "cmd"];
/// The field names for the number of matches, and where they occur.
const TOTAL_FIELDS: &[&str] = &["total", "count", "totalMatches", "total_count", "matchCount"];
const LIST_FIELDS: &[&str] = &["matches", "results", "items", "hits", "files"];

/// Returns `Found 150 matches for "TODO"` or `Contents of src/main.ts (2KB)`. `beginning` is that of the result, or
/// all of it.
pub(crate) fn describe_output(output: &Output, beginning: &str) -> String {
    let args = Fields::parse(&output.args).ok();
    let given = |keys: &[&str]| {
        let text = |key: &&str| Text::decode(args.as_ref()?.raw(key)?).filter(|text| !text.is_empty());
        keys.iter().find_map(text).map(|text| shorten(text.as_str()))
    };
    let size = format_size(output.size_bytes);
    if let Some(pattern) = given(PATTERN_ARGUMENTS) {
        let place = given(PATH_ARGUMENTS).map(|path| format!(" in {path}")).unwrap_or_default();
        let whole = (beginning.len() as u64 == output.size_bytes).then_some(beginning);
        return match whole.and_then(count_matches) {
            Some(1) => format!("Found 1 match for \"{pattern}\"{place}"),
            Some(count) => format!("Found {count} matches for \"{pattern}\"{place}"),
            None => format!("Matches for \"{pattern}\"{place} ({size})"),
        };
    }
    if let Some(source) = given(PATH_ARGUMENTS).or_else(|| given(ADDRESS_ARGUMENTS)) {
        return format!("Contents of {source} ({size})");
    }
    if let Some(command) = given(COMMAND_ARGUMENTS) {
        return format!("Output of \"{command}\" ({size})");
    }
    match args.filter(|args| args.iter().next().is_some()) {
        Some(_) => format!("Output for {} ({size})", shorten(&output.args)),
        None => format!("Output ({size})"),
    }
}

fn shorten(text: &str) -> String {
    harmless(&text[..grapheme_boundary(text, MAX_DESCRIPTION_BYTES, false)])
}

// In a text that states no number and is no list, each line counts as a match.
fn count_matches(result: &str) -> Option<u64> {
    match result.as_bytes().first()? {
        b'[' => parse_items(result).map(|items| items.len() as u64),
        b'"' => Text::decode(result).map(|text| count_lines(text.as_str())),
        b'{' => {
            let fields = Fields::parse(result).ok()?;
            let total = TOTAL_FIELDS.iter().find_map(|key| fields.raw(key)?.parse().ok());
            let list = || LIST_FIELDS.iter().find_map(|key| parse_items(fields.raw(key)?));
            total
                .or_else(|| list().map(|items| items.len() as u64))
                .or_else(|| count_in_parts(fields.raw("content")?))
        }
        _ => None,
    }
}

// The form in which MCP servers answer: `{"content":[{"type":"text","text":"…"}]}`.
fn count_in_parts(content: &str) -> Option<u64> {
    let parts: Vec<_> =
        parse_items(content)?.into_iter().map(|part| Fields::parse(part).ok()).collect::<Option<_>>()?;
    let text = |part: &Fields<'_>| Some(count_lines(Text::decode(part.raw("text")?)?.as_str()));
    parts.iter().map(text).sum()
}

fn count_lines(text: &str) -> u64 {
    text.lines().filter(|line| !line.trim().is_empty()).count() as u64
}

/// Formats a size for people.
pub(super) fn format_size(bytes: u64) -> String {
    const BYTES_PER_KIB: u64 = 1024;
    match bytes {
        1 => "1 byte".into(),
        0..BYTES_PER_KIB => format!("{bytes} bytes"),
        _ if bytes < BYTES_PER_KIB * BYTES_PER_KIB => {
            format!("{}KB", (bytes + BYTES_PER_KIB / 2) / BYTES_PER_KIB)
        }
        _ => {
            let tenths = (bytes * 10).div_ceil(BYTES_PER_KIB * BYTES_PER_KIB);
            format!("{}.{}MB", tenths / 10, tenths % 10)
        }
    }
}
