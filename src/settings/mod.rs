//! Settings: `<home>/settings.json`, over it `<project>/.leftoff/settings.json`.
//!
//! An unknown key is reported, and so are a value of another kind and a file that cannot be read; none of them stops
//! anything. But what such a file may have forbidden stays forbidden: where its choice is unclear, the strictest holds.
//! Nor does a project's file allow what the home's forbids.
//!
//! Values are JSON as it is written: the reader decides how a number is held.

mod check;
mod specs;
mod write;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::{Code, Error};
use crate::json::fields::{Fields, ObjectError};
use crate::json::syntax_error::{SyntaxError, find_syntax_error};
use crate::nearest::distance;

pub use specs::ENGINES;
pub use write::{render_grouped, write_setting};

use check::{SettingPlace, describe_value, last_entries};
use specs::{SETTING_SPECS, SettingSpec};

// The limits that lists archive sessions by, once a file sets them.
const ARCHIVE_LIMITS: [&str; 2] = ["autoPersist.maxSessionsPerProject", "autoPersist.autoArchiveAfterDays"];
/// The version of the settings files that are written.
const FILE_VERSION: u64 = 1;

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingSource {
    /// No file sets it.
    Default,
    /// The home's file.
    Home,
    /// The project's.
    Project,
}

/// A settings file as the host found it.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// Its path, as a person finds it.
    pub path: String,
    /// Whether it is the home's or the project's.
    pub source: SettingSource,
    /// Its text; `None` if there is no such file.
    pub text: Option<String>,
    /// Why it cannot be read.
    pub problem: Option<String>,
}

/// A setting, and the source of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, such as `autoPersist.debounceMs`.
    pub key: &'static str,
    /// The value, JSON.
    pub value: String,
    /// The file that sets it.
    pub source: SettingSource,
    /// That file's path.
    pub path: Option<String>,
    /// True if the value has an effect: the limits of `autoPersist` have none unless a file sets them.
    pub in_force: bool,
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("key", self.key)?;
        let value = RawValue::from_string(self.value.clone()).map_err(serde::ser::Error::custom)?;
        map.serialize_entry("value", &value)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("inForce", &self.in_force)?;
        map.end()
    }
}

/// The values in force, and the problems of the files.
#[derive(Clone, Debug, Serialize)]
pub struct EffectiveSettings {
    /// Each setting.
    pub all: Vec<Setting>,
    /// The entries that could not be used, a sentence each.
    pub problems: Vec<String>,
}

/// Returns the keys of all settings.
pub fn keys() -> Vec<&'static str> {
    SETTING_SPECS.iter().map(|known| known.key).collect()
}

/// Reads the files; a later one counts more.
pub fn read(files: &[SettingsFile]) -> EffectiveSettings {
    let mut all: Vec<Setting> = SETTING_SPECS.iter().map(default_setting).collect();
    let mut problems = Vec::new();
    // Problems inside a file come before those of what another file forbids.
    let said: Vec<_> = files
        .iter()
        .flat_map(|file| values_in(file, &mut problems).into_iter().map(move |said| (file, said)))
        .collect();
    for (file, (place, value)) in said {
        let (known, before) = (&SETTING_SPECS[place], &mut all[place]);
        // A folder that comes from somebody else must not open what its user has shut.
        let is_of_project = file.source == SettingSource::Project;
        if let Some(refused) = known.project_refusal(&value, &file.path).filter(|_| is_of_project) {
            problems.push(refused);
        } else if before.source != SettingSource::Default && known.rank(&value) < known.rank(&before.value) {
            let [held, found] = [&before.value, &value].map(|value| unquote(value));
            problems.push(format!(
                "\"{}\" in \"{}\" must be \"{held}\", as in the home's settings, or stricter, not \"{found}\"",
                known.key, file.path
            ));
        } else {
            let path = Some(file.path.clone());
            *before = Setting { key: known.key, value, source: file.source, path, in_force: true };
        }
    }
    if all.iter().any(|one| one.key == "autoPersist.enabled" && one.value == "false") {
        all.iter_mut().filter(|one| ARCHIVE_LIMITS.contains(&one.key)).for_each(|one| one.in_force = false);
    }
    EffectiveSettings { all, problems }
}

/// Checks that a value, JSON, may be written as a setting into a file; without one, that the setting may be removed.
///
/// # Errors
/// `invalid_setting` where there is no such setting, the value is none of its, or the file cannot be used.
pub fn check_writing(key: &str, value: Option<&str>, file: &SettingsFile) -> Result<(), Error> {
    let Some(known) = SETTING_SPECS.iter().find(|known| known.key == key) else {
        return reject_problems(&[format!("unknown setting \"{key}\"; known are {}", keys().join(", "))]);
    };
    let mut problems = Vec::new();
    match parse_document(file) {
        Err(problem) => problems.push(problem),
        Ok(document) => {
            problems.extend(document.as_ref().and_then(|fields| version_problem(fields, &file.path)));
            let group = key.split_once('.').map(|(group, _)| group);
            let of_group = group
                .and_then(|group| document.as_ref().and_then(|fields| Some((group, fields.raw(group)?))));
            if let Some((group, raw)) = of_group.filter(|(_, raw)| !raw.starts_with('{')) {
                let found = describe_value(raw, "an object");
                problems.push(format!("\"{group}\" in \"{}\" must be an object, not {found}", file.path));
            }
        }
    }
    if let Some(value) = value {
        let place = SettingPlace { path: "", key };
        problems.extend(place.check_value(known, value).err());
        let is_of_project = file.source == SettingSource::Project;
        problems.extend(known.project_refusal(value, &file.path).filter(|_| is_of_project));
    }
    reject_problems(&problems)
}

/// Applies a configuration that a program gives, JSON, over the defaults; its settings have keys without their group.
///
/// # Errors
/// `invalid_setting` for what could not stand in a file.
pub fn auto_persist(given: &str) -> Result<Vec<Setting>, Error> {
    const AUTO_PERSIST_PREFIX: &str = "autoPersist.";
    let mut problems = Vec::new();
    let file = SettingPlace { path: "the configuration", key: "" };
    let said = match Fields::parse(given) {
        Ok(fields) => file.take_values(&fields, AUTO_PERSIST_PREFIX, &mut problems),
        Err(found) => {
            return reject_problems(&[format!("expected an object, but found {found}")]).map(|()| Vec::new());
        }
    };
    reject_problems(&problems)?;
    let mut all: Vec<Setting> = SETTING_SPECS.iter().map(default_setting).collect();
    for (place, value) in said {
        all[place].value = value;
    }
    let own = all
        .into_iter()
        .filter_map(|one| Some(Setting { key: one.key.strip_prefix(AUTO_PERSIST_PREFIX)?, ..one }));
    Ok(own.collect())
}

fn default_setting(known: &SettingSpec) -> Setting {
    let in_force = !ARCHIVE_LIMITS.contains(&known.key);
    Setting {
        key: known.key,
        value: known.default.into(),
        source: SettingSource::Default,
        path: None,
        in_force,
    }
}

fn reject_problems(problems: &[String]) -> Result<(), Error> {
    if problems.is_empty() { Ok(()) } else { Err(Error::new(Code::InvalidSetting, problems.join("; "))) }
}

// Explains why a file of a newer leftoff is not written; its known settings are still used.
fn version_problem(fields: &Fields<'_>, path: &str) -> Option<String> {
    let raw = fields.raw("version")?;
    match raw.parse::<u64>() {
        Ok(version) if version <= FILE_VERSION => None,
        Ok(version) => Some(format!(
            "\"{path}\" is of version {version}, and this leftoff knows {FILE_VERSION}: what it knows is used, and nothing is written there"
        )),
        Err(_) => Some(format!(
            "\"version\" in \"{path}\" must be a number, not {}",
            describe_value(raw, "a number")
        )),
    }
}

// Reads a file's values, each with its index in `SETTING_SPECS`; where its choice is unclear, the strictest.
fn values_in(file: &SettingsFile, problems: &mut Vec<String>) -> Vec<(usize, String)> {
    let path = &file.path;
    // The settings that protect secrets are reported first.
    let choices = || SETTING_SPECS.iter().enumerate().rev().filter(|(_, known)| !known.choices.is_empty());
    let strictest =
        |(place, known): (usize, &'static SettingSpec)| Some((place, (*known.choices.last()?).into()));
    let fields = match parse_document(file) {
        Ok(Some(fields)) => fields,
        Ok(None) => return Vec::new(),
        Err(problem) => {
            let strict: Vec<_> = choices().filter_map(strictest).collect();
            problems.push(format!("{problem}; {}", describe_strictest(&strict)));
            return strict;
        }
    };
    problems.extend(version_problem(&fields, path));
    let mut said = SettingPlace { path, key: "" }.take_values(&fields, "", problems);
    let strict: Vec<_> =
        choices().filter(|(_, known)| is_unclear(known, &fields)).filter_map(strictest).collect();
    if !strict.is_empty() {
        let keys =
            strict.iter().map(|(place, _)| SETTING_SPECS[*place].key).collect::<Vec<_>>().join("\", \"");
        let held = describe_strictest(&strict);
        problems.push(format!("\"{path}\" does not say clearly what \"{keys}\" is; {held}"));
    }
    said.extend(strict);
    said
}

fn describe_strictest(strict: &[(usize, String)]) -> String {
    let held: Vec<_> =
        strict.iter().map(|(place, value)| format!("\"{}\" is {value}", SETTING_SPECS[*place].key)).collect();
    format!("until that is fixed, {}", held.join(" and "))
}

fn parse_document(file: &SettingsFile) -> Result<Option<Fields<'_>>, String> {
    let path = &file.path;
    let text = match (&file.problem, &file.text) {
        (Some(problem), _) => return Err(problem.clone()),
        (None, None) => return Ok(None),
        (None, Some(text)) => text.strip_prefix('\u{feff}').unwrap_or(text),
    };
    match (Fields::parse(text), find_syntax_error(text)) {
        (Ok(fields), _) => Ok(Some(fields)),
        (Err(ObjectError::Invalid), Some(SyntaxError { line, column, found_char: found })) => {
            let found = found.map_or("the end".to_owned(), |letter| format!("\"{letter}\""));
            Err(format!("expected JSON in \"{path}\", but found {found} at line {line}, column {column}"))
        }
        (Err(found), _) => Err(format!("expected an object in \"{path}\", but found {found} instead")),
    }
}

// True if a choice is set twice, has an unknown value, or its key differs in case or by a letter or two.
fn is_unclear(known: &SettingSpec, fields: &Fields<'_>) -> bool {
    let is_top = |name: &str| SETTING_SPECS.iter().any(|known| known.key.split('.').next() == Some(name));
    let is_repeated = fields.decoded_entries().filter(|(name, _)| *name == known.key).count() > 1;
    let is_other = |(name, value): (&str, &str)| {
        if name == known.key {
            known.canonical(value).is_none()
        } else {
            !is_top(name) && is_like(name, known.key)
        }
    };
    is_repeated || last_entries(fields).any(is_other)
}

fn is_like(name: &str, key: &str) -> bool {
    let bare: String =
        name.chars().map(|letter| letter.to_ascii_lowercase()).filter(char::is_ascii_lowercase).collect();
    bare.contains(key) || distance(&bare, key) <= 2
}

fn unquote(value: &str) -> &str {
    value.trim_matches('"')
}

#[cfg(test)]
mod tests;
