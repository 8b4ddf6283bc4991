//! A list of sessions as a person reads it: document 001's, with a number to choose each by.

use alloc::format;
use alloc::string::String;

use serde::Deserialize;

use crate::resume::block::harmless;
use crate::time::{self, Stamp};

/// What a list says of a session.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its id.
    pub id: String,
    /// The type of the conversation.
    #[serde(rename = "type")]
    pub session_type: String,
    /// Its title.
    pub title: String,
    /// When it was last active, RFC 3339.
    pub last_active: String,
    /// Its status, or that it is archived.
    pub status: String,
    /// What it is about.
    pub summary: Option<String>,
}

/// The list, numbered from one. Whatever is stored, a session has its lines and no others.
pub fn render(items: &[Item], stamp: &Stamp) -> String {
    let mut text = String::new();
    for (place, item) in items.iter().enumerate() {
        let last = time::parse(&item.last_active).map_or_else(|| "unknown".into(), |ms| time::ago(ms, stamp));
        let Item { id, session_type, title, status, summary, .. } = item;
        let (kind, title, status) = (harmless(session_type), harmless(title), harmless(status));
        text.push_str(&format!(
            "{}. [{kind}] {title}\n   Last active: {last} | Status: {status} | ID: {id}\n",
            place + 1
        ));
        if let Some(summary) = summary {
            text.push_str(&format!("   Summary: {}\n", harmless(summary)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn item(title: &str, last_active: &str, summary: Option<&str>) -> Item {
        Item {
            id: "001-api-design".into(),
            session_type: "brainstorm".into(),
            title: title.into(),
            last_active: last_active.into(),
            status: "paused".into(),
            summary: summary.map(String::from),
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
            item("One\nline", "2025-11-21T10:00:00Z", None),
        ];
        let lines: Vec<String> = render(&items, &stamp).lines().map(String::from).collect();
        let expected = [
            "1. [brainstorm] API Design Discussion",
            "   Last active: 2 hours ago | Status: paused | ID: 001-api-design",
            "   Summary: Exploring REST vs GraphQL, leaning toward REST",
            "2. [brainstorm] One line",
            "   Last active: yesterday | Status: paused | ID: 001-api-design",
        ];
        assert_eq!(lines, expected);
    }
}
