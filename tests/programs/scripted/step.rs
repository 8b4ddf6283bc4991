//! A step, as it was written.

use std::collections::BTreeMap;
use std::error::Error;

use leftoff::json::text::to_json;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// What an operation, its store and its session are called.
const NAMES: [&str; 4] = ["op", "as", "session", "store"];

/// The fields of a step, as they were written: a text may have a lone surrogate.
pub struct Step(pub BTreeMap<String, Box<RawValue>>);

impl Step {
    pub fn raw(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|raw| raw.get())
    }

    pub fn value<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, serde_json::Error> {
        self.raw(key).map(serde_json::from_str).transpose()
    }

    pub fn text(&self, key: &str) -> Result<String, Box<dyn Error>> {
        Ok(self.value(key)?.ok_or_else(|| format!("expected \"{key}\", but found none"))?)
    }

    pub fn flag(&self, key: &str) -> Result<bool, serde_json::Error> {
        Ok(self.value(key)?.unwrap_or_default())
    }

    /// What it asks for, without the names of what is asked.
    pub fn rest(&self) -> String {
        self.without_fields(&[])
    }

    /// The same without these fields, too.
    pub fn without_fields(&self, taken: &[&str]) -> String {
        let rest =
            self.0.iter().filter(|(key, _)| !NAMES.contains(&key.as_str()) && !taken.contains(&key.as_str()));
        let fields: Vec<String> =
            rest.map(|(key, raw)| format!("{}:{}", to_json(key), crossing(key, raw))).collect();
        format!("{{{}}}", fields.join(","))
    }
}

// Of a strategy only what it is called and when it is asked crosses; what it does is the caller's.
fn crossing(key: &str, raw: &RawValue) -> String {
    match (key, serde_json::from_str::<Vec<BTreeMap<String, Box<RawValue>>>>(raw.get())) {
        ("strategies", Ok(all)) => {
            let named = all.into_iter().map(|one| Step(one).without_fields(&["newest", "gives", "throws"]));
            format!("[{}]", named.collect::<Vec<_>>().join(","))
        }
        _ => raw.get().into(),
    }
}
