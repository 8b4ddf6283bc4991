//! Which settings there are, and what holds unless a file says otherwise.

use alloc::vec::Vec;

use crate::json::text::Text;

/// A setting.
pub(super) struct Known {
    pub(super) key: &'static str,
    /// JSON; its kind is that of all of its values.
    pub(super) default: &'static str,
    /// Where it has one of a few values, all of them, JSON, the laxest first: no file has less than one that counts less.
    pub(super) choices: &'static [&'static str],
}

const fn any(key: &'static str, default: &'static str) -> Known {
    Known { key, default, choices: &[] }
}

pub(super) static KNOWN: [Known; 11] = [
    any("autoPersist.enabled", "true"),
    any("autoPersist.saveAfterAssistantMessage", "true"),
    any("autoPersist.saveAfterToolExecution", "true"),
    any("autoPersist.debounceMs", "1000"),
    any("autoPersist.updateMetadataIntervalMs", "5000"),
    any("autoPersist.maxSessionsPerProject", "50"),
    any("autoPersist.autoArchiveAfterDays", "30"),
    any("idleMinutes", "5"),
    Known { key: "record", default: "true", choices: &["true", "false"] },
    Known { key: "redact", default: "\"off\"", choices: &["\"off\"", "\"report\"", "\"replace\""] },
    any("agent", "\"\""),
];

impl Known {
    /// How strict a value is: 0 of the laxest, and of what is no choice.
    pub(super) fn rank(&self, value: &str) -> usize {
        self.choices.iter().position(|choice| *choice == value).unwrap_or(0)
    }

    /// The choice that a value is, however that is written.
    pub(super) fn canonical(&self, value: &str) -> Option<&'static str> {
        let decoded = Text::decode(value);
        let is_it = |choice: &&&str| match &decoded {
            Some(text) => choice.trim_matches('"') == text.as_str() && choice.starts_with('"'),
            None => **choice == value,
        };
        self.choices.iter().find(is_it).copied()
    }
}

/// The names below a prefix that ends with a dot, or the outermost, each once.
pub(super) fn names(prefix: &str) -> Vec<&'static str> {
    let below = |known: &Known| known.key.strip_prefix(prefix)?.split('.').next();
    let mut names: Vec<_> = KNOWN.iter().filter_map(below).collect();
    names.dedup();
    names
}
