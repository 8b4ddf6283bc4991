//! A list of sessions for people, numbered for choosing.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::error::{Code, Error};
use crate::plain::harmless::harmless;
use crate::time::{self, Stamp};

/// The most terminal columns of a title.
const MAX_TITLE_COLUMNS: usize = 80;
/// The most columns of a summary.
const MAX_SUMMARY_COLUMNS: usize = 240;
/// No letter of any language has more bytes with its marks; one column could otherwise have marks without end.
const MAX_BYTES_PER_LETTER: usize = 64;

/// A session in a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListItem {
    /// The session's id.
    pub id: String,
    /// The name of the conversation's folder, if it lies in a workspace.
    pub name: Option<String>,
    /// The type of the conversation.
    #[serde(rename = "type")]
    pub session_type: String,
    /// The title.
    pub title: String,
    /// The last activity, RFC 3339.
    pub last_active: String,
    /// The status.
    pub status: String,
    /// The summary.
    pub summary: Option<String>,
    /// The time when it was hidden from lists.
    pub archived_at: Option<String>,
}

/// Renders the JSON list of a store's sessions like [`render_items`].
///
/// # Errors
/// `invalid_json` if the list is not one.
///
/// ```
/// use leftoff::time::Stamp;
///
/// let listed = r#"[{"id":"a","type":"chat","title":"The parser","status":"active","lastActive":"2025-11-22T10:00:00Z"}]"#;
/// let stamp = Stamp { now_ms: 0, offset_minutes: 0, entropy: [0; 32] };
/// let text = leftoff::resume::listing::render_listed(listed, &stamp)?;
/// assert!(text.starts_with("1. [chat] The parser\n"));
/// # Ok::<(), leftoff::error::Error>(())
/// ```
pub fn render_listed(listed: &str, stamp: &Stamp) -> Result<String, Error> {
    let items: Vec<ListItem> = serde_json::from_str(listed).map_err(|error| {
        let message = format!("expected sessions as lists have them, but found something else: {error}");
        Error::new(Code::InvalidJson, message)
    })?;
    Ok(render_items(&items, stamp))
}

/// Renders the list, numbered from one. Whatever is stored, a session takes its own lines and no others.
pub fn render_items(items: &[ListItem], stamp: &Stamp) -> String {
    let mut text = String::new();
    for (place, item) in items.iter().enumerate() {
        let last = time::parse(&item.last_active).map_or_else(|| "unknown".into(), |ms| time::ago(ms, stamp));
        let ListItem { id, name, session_type, title, status, summary, .. } = item;
        let kind = cut_to_columns(&harmless(session_type), MAX_TITLE_COLUMNS);
        let hidden = if item.archived_at.is_some() { "archived, " } else { "" };
        let (title, status) =
            (cut_to_columns(&harmless(title), MAX_TITLE_COLUMNS), format!("{hidden}{}", harmless(status)));
        text.push_str(&format!("{}. [{kind}] {title}\n", place + 1));
        let name = name
            .as_ref()
            .map(|name| format!("Name: {} | ", cut_to_columns(&harmless(name), MAX_TITLE_COLUMNS)));
        let name = name.unwrap_or_default();
        text.push_str(&format!("   Last active: {last} | Status: {status} | {name}ID: {id}\n"));
        if let Some(summary) = summary {
            text.push_str(&format!(
                "   Summary: {}\n",
                cut_to_columns(&harmless(summary), MAX_SUMMARY_COLUMNS)
            ));
        }
    }
    text
}

/// Cuts a line to this many terminal columns, between letters as a reader sees them.
pub fn cut_to_columns(line: &str, columns: usize) -> String {
    let (mut taken, mut end) = (0, 0);
    for (at, letter) in line.grapheme_indices(true) {
        // A letter without width counts as one column, so that there are never more letters than columns.
        let width = if letter.len() > MAX_BYTES_PER_LETTER { columns + 1 } else { letter.width().max(1) };
        taken += width;
        if taken > columns {
            return format!("{}…", &line[..end]);
        }
        // The ellipsis takes a column, too.
        if taken < columns {
            end = at + letter.len();
        }
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(title: &str, last_active: &str, summary: Option<&str>) -> ListItem {
        ListItem {
            id: "01a2".into(),
            name: Some("001-api-design".into()),
            session_type: "brainstorm".into(),
            title: title.into(),
            last_active: last_active.into(),
            status: "paused".into(),
            summary: summary.map(String::from),
            archived_at: None,
        }
    }

    #[test]
    fn the_list_is_that_of_the_document() {
        let stamp = Stamp {
            now_ms: time::parse("2025-11-22T12:00:00Z").unwrap(),
            offset_minutes: 0,
            entropy: [0; 32],
        };
        let items = [
            item(
                "API Design Discussion",
                "2025-11-22T10:00:00Z",
                Some("Exploring REST vs GraphQL, leaning toward REST"),
            ),
            ListItem { name: None, ..item("One\nline", "2025-11-21T10:00:00Z", None) },
        ];
        let lines: Vec<String> = render_items(&items, &stamp).lines().map(String::from).collect();
        let expected = [
            "1. [brainstorm] API Design Discussion",
            "   Last active: 2 hours ago | Status: paused | Name: 001-api-design | ID: 01a2",
            "   Summary: Exploring REST vs GraphQL, leaning toward REST",
            "2. [brainstorm] One line",
            "   Last active: yesterday | Status: paused | ID: 01a2",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_title_is_cut_by_the_columns_it_takes_between_letters() {
        let check = |line: &str, columns, expected: &str| {
            let found = cut_to_columns(line, columns);
            assert_eq!(found, expected);
            assert!(found.width() <= columns);
        };
        check("title", 5, "title");
        check("titles", 5, "titl…");
        check("日本語の題", 10, "日本語の題");
        check("日本語の題", 9, "日本語の…");
        check("日本語の題", 8, "日本語…");
        check("née\u{301}e", 4, "née\u{301}e");
        check("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 5, "👩‍👩‍👧‍👦👩‍👩‍👧‍👦…");
        // Endless marks are no letter, and letters without width are limited, too.
        check(&format!("ab{}", "\u{301}".repeat(1000)), 5, "a…");
        let marked = |marks: usize| format!("ü{}", "\u{301}".repeat(marks));
        let most = MAX_BYTES_PER_LETTER / 2 - 1;
        check(&marked(most), 5, &marked(most));
        check(&marked(most + 1), 5, "…");
        assert!(cut_to_columns(&"\u{115f}\u{1160}".repeat(1000), 80).len() <= 80 * MAX_BYTES_PER_LETTER);
    }

    #[test]
    fn each_item_has_its_lines_however_long_its_title() {
        let stamp = Stamp { now_ms: 0, offset_minutes: 0, entropy: [0; 32] };
        let text = render_items(&[item(&"題\n".repeat(9_000), "", Some(&"s ".repeat(9_000)))], &stamp);
        let widths: Vec<usize> = text.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths.len(), 3, "{text}");
        assert!(widths[0] <= MAX_TITLE_COLUMNS + 20 && widths[2] <= MAX_SUMMARY_COLUMNS + 20, "{widths:?}");
    }
}
