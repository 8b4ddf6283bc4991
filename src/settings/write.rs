//! Writes settings: one into a file, or all of them for a program.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{EffectiveSettings, FILE_VERSION, Setting, SettingsFile, check_writing, parse_document};
use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::indent::indent_json;
use crate::json::text::to_json;

/// Returns a file's text with a setting set to a value, JSON, and everything else kept; without a value, with the setting
/// removed, and its group if that is empty then. `None` if there is nothing to write: no file is made to say nothing.
///
/// # Errors
/// What [`check_writing`] refuses.
///
/// ```
/// use leftoff::settings::{SettingSource, SettingsFile, write_setting};
///
/// let text = Some(r#"{"mine":1e3}"#.into());
/// let file = SettingsFile { path: "settings.json".into(), source: SettingSource::Home, text, problem: None };
/// let next = write_setting("agent", Some("\"codex\""), &file)?;
/// assert_eq!(next.as_deref(), Some("{\n  \"version\": 1,\n  \"mine\": 1e3,\n  \"agent\": \"codex\"\n}\n"));
/// # Ok::<(), leftoff::error::Error>(())
/// ```
pub fn write_setting(key: &str, value: Option<&str>, file: &SettingsFile) -> Result<Option<String>, Error> {
    check_writing(key, value, file)?;
    let fields = parse_document(file).map_err(|problem| Error::new(Code::InvalidSetting, problem))?;
    if fields.is_none() && value.is_none() {
        return Ok(None);
    }
    let next = match key.split_once('.') {
        None => put_field(fields.as_ref(), key, value),
        Some((group, name)) => {
            let inner = fields.as_ref().and_then(|fields| Fields::parse(fields.raw(group)?).ok());
            let inner = put_field(inner.as_ref(), name, value);
            put_field(fields.as_ref(), group, Some(&*inner).filter(|inner| *inner != "{}"))
        }
    };
    let is_new = value.is_some() && fields.is_none_or(|fields| fields.raw("version").is_none());
    let next = if is_new { format!("{{\"version\":{FILE_VERSION},{}", &next[1..]) } else { next };
    Ok(Some(format!("{}\n", indent_json(&next, 0))))
}

/// Renders a list of settings as one object, each group as an object of its own.
pub fn render_grouped(all: &[Setting]) -> String {
    let (mut json, mut open) = (String::from("{"), None);
    for Setting { key, value, .. } in all {
        let (group, name) = key.split_once('.').map_or((None, *key), |(group, name)| (Some(group), name));
        if open != group && open.is_some() {
            json.push('}');
        }
        if !json.ends_with('{') {
            json.push(',');
        }
        if let Some(group) = group.filter(|_| open != group) {
            json.push_str(&format!("{}:{{", to_json(group)));
        }
        json.push_str(&format!("{}:{value}", to_json(name)));
        open = group;
    }
    json.push_str(if open.is_some() { "}}" } else { "}" });
    json
}

impl EffectiveSettings {
    /// Renders `{"settings","all","problems"}`, JSON: the values in force as one object; each setting as
    /// `{"key","value","source","path","inForce"}`; and each entry that could not be used as `{"code","message"}`.
    pub fn to_json(&self) -> String {
        let problem = |message: &String| {
            let code = to_json(Code::InvalidSetting.as_str());
            format!("{{\"code\":{code},\"message\":{}}}", to_json(message))
        };
        let problems: Vec<String> = self.problems.iter().map(problem).collect();
        format!(
            "{{\"settings\":{},\"all\":{},\"problems\":[{}]}}",
            render_grouped(&self.all),
            to_json(&self.all),
            problems.join(",")
        )
    }

    /// Returns the value of a setting, JSON; empty if there is no such setting.
    pub fn value(&self, key: &str) -> &str {
        self.all.iter().find(|one| one.key == key).map_or("", |one| one.value.as_str())
    }
}

// Sets a field in its place, or behind the others; without a value, removes it. A different key that stands there twice
// stays so: its user decides which of the values counts.
fn put_field(fields: Option<&Fields<'_>>, key: &str, value: Option<&str>) -> String {
    let mut next: Vec<(&str, &str)> = fields.iter().flat_map(|fields| fields.decoded_entries()).collect();
    let place = next.iter().position(|(name, _)| *name == key).unwrap_or(next.len());
    next.retain(|(name, _)| *name != key);
    if let Some(value) = value {
        next.insert(place, (key, value));
    }
    let next: Vec<String> = next.iter().map(|(name, value)| format!("{}:{value}", to_json(name))).collect();
    format!("{{{}}}", next.join(","))
}
