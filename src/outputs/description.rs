//! Describes an output on one line, for a model that picks from many.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::{Fields, parse_items};
use crate::json::text::{Text, grapheme_boundary};
use crate::outputs::Output;
use crate::plain::harmless::harmless;

/// The longest description, in bytes. A menu shortens it further, once it has been redacted.
const LONGEST: usize = 2000;

/// The argument names for a search pattern, a file, an address or a command.
const PATTERNS: &[&str] = &["pattern", "query", "regex", "search", "q"];
const PATHS: &[&str] = &["path", "file_path", "filePath", "file", "filename", "directory", "dir"];
const ADDRESSES: &[&str] = &["url", "uri"];
const COMMANDS: &[&str] = &["command", "cmd"];
/// The field names for the number of matches, and where they occur.
const TOTALS: &[&str] = &["total", "count", "totalMatches", "total_count", "matchCount"];
const LISTS: &[&str] = &["matches", "results", "items", "hits", "files"];

/// Returns `Found 150 matches for "TODO"` or `Contents of src/main.ts (2KB)`. `beginning` is that of the result, or
/// all of it.
pub(crate) fn describe_output(output: &Output, beginning: &str) -> String {
    let args = Fields::parse(&output.args).ok();
    let given = |keys: &[&str]| {
        let text = |key: &&str| Text::decode(args.as_ref()?.raw(key)?).filter(|text| !text.is_empty());
        keys.iter().find_map(text).map(|text| shorten(text.as_str()))
    };
    let size = format_size(output.size_bytes);
    if let Some(pattern) = given(PATTERNS) {
        let place = given(PATHS).map(|path| format!(" in {path}")).unwrap_or_default();
        let whole = (beginning.len() as u64 == output.size_bytes).then_some(beginning);
        return match whole.and_then(count_matches) {
            Some(1) => format!("Found 1 match for \"{pattern}\"{place}"),
            Some(count) => format!("Found {count} matches for \"{pattern}\"{place}"),
            None => format!("Matches for \"{pattern}\"{place} ({size})"),
        };
    }
    if let Some(source) = given(PATHS).or_else(|| given(ADDRESSES)) {
        return format!("Contents of {source} ({size})");
    }
    if let Some(command) = given(COMMANDS) {
        return format!("Output of \"{command}\" ({size})");
    }
    match args.filter(|args| args.iter().next().is_some()) {
        Some(_) => format!("Output for {} ({size})", shorten(&output.args)),
        None => format!("Output ({size})"),
    }
}

fn shorten(text: &str) -> String {
    harmless(&text[..grapheme_boundary(text, LONGEST, false)])
}

// In a text that states no number and is no list, each line counts as a match.
fn count_matches(result: &str) -> Option<u64> {
    match result.as_bytes().first()? {
        b'[' => parse_items(result).map(|items| items.len() as u64),
        b'"' => Text::decode(result).map(|text| count_lines(text.as_str())),
        b'{' => {
            let fields = Fields::parse(result).ok()?;
            let total = TOTALS.iter().find_map(|key| fields.raw(key)?.parse().ok());
            let list = || LISTS.iter().find_map(|key| parse_items(fields.raw(key)?));
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
    const KILO: u64 = 1024;
    match bytes {
        1 => "1 byte".into(),
        0..KILO => format!("{bytes} bytes"),
        _ if bytes < KILO * KILO => format!("{}KB", (bytes + KILO / 2) / KILO),
        _ => {
            let tenths = (bytes * 10).div_ceil(KILO * KILO);
            format!("{}.{}MB", tenths / 10, tenths % 10)
        }
    }
}
