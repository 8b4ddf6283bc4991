//! Checks that an entry of a settings file is a setting, and has a value that it may have.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::specs::{SETTING_SPECS, SettingSpec, names_below};
use crate::json::fields::Fields;
pub(super) use crate::json::fields::describe_value;

/// The place of an entry, for the problem that names it.
pub(super) struct SettingPlace<'a> {
    pub(super) path: &'a str,
    /// The key from the outermost object on.
    pub(super) key: &'a str,
}

/// Returns the fields of an object; of a repeated key the last, as parsers do.
pub(super) fn last_entries<'f>(fields: &'f Fields<'_>) -> impl Iterator<Item = (&'f str, &'f str)> {
    let all: Vec<_> = fields.decoded_entries().collect();
    let is_last =
        move |(at, (name, _)): &(usize, (&str, &str))| all[at + 1..].iter().all(|(other, _)| other != name);
    fields.decoded_entries().enumerate().filter(is_last).map(|(_, entry)| entry)
}

impl SettingPlace<'_> {
    /// Takes the valid values of an object, each with its index in `SETTING_SPECS`, and reports the others. `prefix`: the
    /// key of the object, before its fields' names.
    pub(super) fn take_values(
        &self,
        fields: &Fields<'_>,
        prefix: &str,
        problems: &mut Vec<String>,
    ) -> Vec<(usize, String)> {
        let mut said = Vec::new();
        for (name, value) in last_entries(fields) {
            let key = if self.key.is_empty() { name.into() } else { format!("{}.{name}", self.key) };
            let place = SettingPlace { path: self.path, key: &key };
            let full = [prefix, name].concat();
            if full == "version" {
                continue;
            }
            if !names_below(prefix).contains(&name) {
                let known = names_below(prefix).join(", ");
                problems.push(format!("unknown setting \"{key}\" in \"{}\"; known are {known}", self.path));
            } else if let Some(at) = SETTING_SPECS.iter().position(|known| known.key == full) {
                match place.check_value(&SETTING_SPECS[at], value) {
                    Ok(value) => said.push((at, value.into())),
                    Err(problem) => problems.push(problem),
                }
            } else if let Ok(inner) = Fields::parse(value) {
                said.extend(place.take_values(&inner, &[&full, "."].concat(), problems));
            } else {
                problems.push(place.expected_message("an object", describe_value(value, "an object")));
            }
        }
        said
    }

    /// Checks a value that a setting may have, and returns it as it is kept.
    pub(super) fn check_value<'v>(&self, known: &SettingSpec, value: &'v str) -> Result<&'v str, String> {
        let kind = kind_of(known.default);
        if !known.choices.is_empty() {
            return known
                .canonical(value)
                .filter(|_| kind_of(value) == kind)
                .ok_or_else(|| self.expected_message(&known.choices_text(), describe_value(value, "")));
        }
        if kind_of(value) != kind {
            let kind = if kind == "boolean" { "true or false".into() } else { format!("a {kind}") };
            return Err(self.expected_message(&kind, describe_value(value, "")));
        }
        let is_usable = kind != "number" || is_0_or_more(value);
        if is_usable { Ok(value) } else { Err(self.expected_message("0 or more", describe_value(value, ""))) }
    }

    // A value that is about to be written is in no file yet.
    fn file_phrase(&self) -> String {
        if self.path.is_empty() { String::new() } else { format!(" in \"{}\"", self.path) }
    }

    fn expected_message(&self, what: &str, found: &str) -> String {
        format!("\"{}\"{} must be {what}, not {found}", self.key, self.file_phrase())
    }
}

fn kind_of(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'-' | b'0'..=b'9') => "number",
        _ => "other",
    }
}

// And no more than a double holds, as most languages read it.
fn is_0_or_more(number: &str) -> bool {
    const MAX_EXPONENT: i64 = 307;
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) =
        digits.trim_start_matches('-').split_once('.').unwrap_or((digits.trim_start_matches('-'), ""));
    let first = [whole, fraction].concat().find(|digit| digit != '0');
    let Some(first) = first else { return true };
    // An exponent with too many digits to parse still has a sign: a number that does not fit is as far out.
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') {
        i64::MIN / 2
    } else {
        i64::MAX / 2
    });
    let power = whole.len() as i64 - 1 - first as i64 + exponent;
    !number.starts_with('-') && power <= MAX_EXPONENT
}
