//! The known settings and their defaults.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::{Text, to_json};

/// The known engines; the first one installed is used unless one is named.
pub const ENGINES: [&str; 5] = ["claude", "gemini", "codex", "opencode", "ollama"];

/// The specification of a setting.
pub(super) struct SettingSpec {
    pub(super) key: &'static str,
    /// The default, JSON; all its values are of the same kind.
    pub(super) default: &'static str,
    /// All values of a setting that has only a few, JSON, the laxest first: a project's file cannot choose a laxer one
    /// than the home's file sets.
    pub(super) choices: &'static [&'static str],
    pub(super) of_project: ProjectRule,
}

/// The values that a project's file may set; the file comes with its folder, from whoever made that.
pub(super) enum ProjectRule {
    Anything,
    /// One of these names.
    Named(&'static [&'static str]),
    Nothing,
}

const fn plain_spec(key: &'static str, default: &'static str) -> SettingSpec {
    one_of(key, default, &[])
}

const fn one_of(key: &'static str, default: &'static str, choices: &'static [&'static str]) -> SettingSpec {
    SettingSpec { key, default, choices, of_project: ProjectRule::Anything }
}

const fn restricted_spec(key: &'static str, of_project: ProjectRule) -> SettingSpec {
    SettingSpec { key, default: "\"\"", choices: &[], of_project }
}

pub(super) static SETTING_SPECS: [SettingSpec; 15] = [
    plain_spec("autoPersist.enabled", "true"),
    plain_spec("autoPersist.saveAfterAssistantMessage", "true"),
    plain_spec("autoPersist.saveAfterToolExecution", "true"),
    plain_spec("autoPersist.debounceMs", "1000"),
    plain_spec("autoPersist.updateMetadataIntervalMs", "5000"),
    plain_spec("autoPersist.maxSessionsPerProject", "50"),
    plain_spec("autoPersist.autoArchiveAfterDays", "30"),
    plain_spec("idleMinutes", "5"),
    plain_spec("outputs.memoryBytes", "32768"),
    one_of("recall", "\"off\"", &["\"prompt\"", "\"session\"", "\"off\""]),
    one_of("record", "true", &["true", "false"]),
    one_of("redact", "\"off\"", &["\"off\"", "\"report\"", "\"replace\""]),
    plain_spec("agent", "\"\""),
    // A command is run, and a prompt is obeyed.
    restricted_spec("ask.engine", ProjectRule::Named(&ENGINES)),
    restricted_spec("ask.prompt", ProjectRule::Nothing),
];

impl SettingSpec {
    /// Returns how strict a value is: 0 for the laxest, and for a value that is no choice.
    pub(super) fn rank(&self, value: &str) -> usize {
        self.choices.iter().position(|choice| *choice == value).unwrap_or(0)
    }

    /// Lists its choices for a sentence.
    pub(super) fn choices_text(&self) -> String {
        let choices: Vec<_> = self.choices.iter().map(|choice| choice.trim_matches('"')).collect();
        match choices.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => choices.concat(),
        }
    }

    /// Explains why a project's file may not set this value.
    pub(super) fn project_refusal(&self, value: &str, path: &str) -> Option<String> {
        let key = self.key;
        let found = Text::decode(value).unwrap_or_default();
        let found = found.as_str();
        match self.of_project {
            ProjectRule::Anything => None,
            ProjectRule::Named(names) if found.is_empty() || names.contains(&found) => None,
            ProjectRule::Named(names) => Some(format!(
                "\"{key}\" in \"{path}\" must be one of {}, not {}: a project's settings cannot name other commands",
                names.join(", "),
                to_json(found)
            )),
            ProjectRule::Nothing => {
                Some(format!("\"{key}\" can only be set in the settings of the home, not in \"{path}\""))
            }
        }
    }

    /// Returns the choice that a value equals, however it is written.
    pub(super) fn canonical(&self, value: &str) -> Option<&'static str> {
        let decoded = Text::decode(value);
        let is_it = |choice: &&&str| match &decoded {
            Some(text) => choice.trim_matches('"') == text.as_str() && choice.starts_with('"'),
            None => **choice == value,
        };
        self.choices.iter().find(is_it).copied()
    }
}

/// Returns the names below a prefix that ends with a dot, or the outermost ones, each once.
pub(super) fn names_below(prefix: &str) -> Vec<&'static str> {
    let below = |known: &SettingSpec| known.key.strip_prefix(prefix)?.split('.').next();
    let mut names: Vec<_> = SETTING_SPECS.iter().filter_map(below).collect();
    names.dedup();
    names
}
