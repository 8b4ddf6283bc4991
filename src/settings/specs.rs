//! Which settings there are, and what holds unless a file says otherwise.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::{Text, to_json};

/// The engines that are known, the first of them that is installed unless one is named.
pub const ENGINES: [&str; 5] = ["claude", "gemini", "codex", "opencode", "ollama"];

/// A setting.
pub(super) struct SettingSpec {
    pub(super) key: &'static str,
    /// JSON; its kind is that of all of its values.
    pub(super) default: &'static str,
    /// Where it has one of a few values, all of them, JSON, the laxest first: no file has less than one that counts less, where that
    /// says one.
    pub(super) choices: &'static [&'static str],
    pub(super) of_project: ProjectRule,
}

/// What a project's file may say, which comes with its folder, from whoever that is of.
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

pub(super) static KNOWN: [SettingSpec; 15] = [
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
    /// How strict a value is: 0 of the laxest, and of what is no choice.
    pub(super) fn rank(&self, value: &str) -> usize {
        self.choices.iter().position(|choice| *choice == value).unwrap_or(0)
    }

    /// Its choices, as a sentence lists them.
    pub(super) fn choices_text(&self) -> String {
        let choices: Vec<_> = self.choices.iter().map(|choice| choice.trim_matches('"')).collect();
        match choices.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => choices.concat(),
        }
    }

    /// Why a project's file may not say this.
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
pub(super) fn names_below(prefix: &str) -> Vec<&'static str> {
    let below = |known: &SettingSpec| known.key.strip_prefix(prefix)?.split('.').next();
    let mut names: Vec<_> = KNOWN.iter().filter_map(below).collect();
    names.dedup();
    names
}
