//! The objects of a foreign file: what is not taken out of one is listed as lost.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::fields::{Field, Fields, NotFields, items};
use crate::interop::Loss;
use crate::interop::lines::lines;
use crate::text::Text;
use crate::time;

/// Counts what is left behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses(BTreeMap<String, (u64, &'static str)>);

impl Losses {
    pub fn add(&mut self, field: String, why: &'static str) {
        self.0.entry(field).or_insert((0, why)).0 += 1;
    }

    pub fn merge(&mut self, other: Losses) {
        for (field, (count, why)) in other.0 {
            self.0.entry(field).or_insert((0, why)).0 += count;
        }
    }

    pub fn list(self) -> Vec<Loss> {
        self.0.into_iter().map(|(field, (count, why))| Loss { field, count, why }).collect()
    }
}

/// Why a field is lost that nobody has a word on.
pub(crate) const NO_PLACE: &str = "leftoff has no place for it";

/// Why a block is lost whose kind nobody knows.
pub(crate) const UNKNOWN_BLOCK: &str = "a kind of block that leftoff does not know here";

/// Why fields are lost, by their paths; of all others it is that there is no place for them.
pub(crate) type Reasons = &'static [(&'static str, &'static str)];

/// The longest name that is taken, in bytes. What is named by it repeats it, so that a file of one long name and many
/// short records would become many times its size.
pub(crate) const LONGEST_NAME: usize = 1024;

/// The longest time that is taken: fractions may have any number of digits.
const LONGEST_TIME: usize = 64;

/// Why a name is lost that is longer.
const TOO_LONG: &str = "it is too long for a name";

/// Why a field is lost whose value cannot be read.
pub(crate) const ANOTHER_KIND: &str = "its value is of another kind than expected";

/// An object of a foreign file, and where it stands: what is not taken out of it is listed as lost.
pub(crate) struct Object<'a> {
    path: String,
    fields: Fields<'a>,
}

impl<'a> Object<'a> {
    pub fn parse(path: impl Into<String>, json: &'a str) -> Result<Object<'a>, NotFields> {
        Ok(Object { path: path.into(), fields: Fields::parse(json)? })
    }

    /// A file that is one object; the byte order mark of an editor does not belong to it.
    pub fn document(path: &str, bytes: &'a [u8]) -> Option<Object<'a>> {
        // Of a long file of lines the first tells that it is none.
        let mut lines = lines(bytes);
        if let (Some((_, first)), Some(_)) = (lines.next(), lines.next())
            && is_object(first)
        {
            return None;
        }
        let json = core::str::from_utf8(bytes).ok()?;
        Object::parse(path, json.trim_start_matches('\u{feff}')).ok()
    }

    pub fn has(&self, key: &str) -> bool {
        self.fields.has(key)
    }

    /// A field as it stands, left where it is.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.fields.raw(key)
    }

    /// Lists a field as lost that was taken, but cannot be used.
    pub fn lose(&self, key: &str, why: &'static str, losses: &mut Losses) {
        losses.add(format!("{}.{key}", self.path), why);
    }

    /// Lists all of it as lost.
    pub fn lose_whole(self, why: &'static str, losses: &mut Losses) {
        losses.add(self.path, why);
    }

    /// Names the place anew, once the object has said what it is.
    pub fn at(self, path: impl Into<String>) -> Object<'a> {
        Object { path: path.into(), ..self }
    }

    pub fn take<T: Field>(&mut self, key: &str, losses: &mut Losses) -> Option<T> {
        let mut bad = Vec::new();
        let value = self.fields.take(key, &mut bad);
        if !bad.is_empty() {
            self.lose(key, ANOTHER_KIND, losses);
        }
        value
    }

    /// Takes what names something, and is repeated by what it names; see `LONGEST_NAME`.
    pub fn take_name(&mut self, key: &str, losses: &mut Losses) -> Option<String> {
        let name: String = self.take(key, losses)?;
        if name.len() > LONGEST_NAME {
            self.lose(key, TOO_LONG, losses);
            return None;
        }
        Some(name)
    }

    pub fn take_raw(&mut self, key: &str) -> Option<&'a str> {
        self.fields.take_raw(key)
    }

    /// The object that a field is.
    pub fn take_object(&mut self, key: &str, losses: &mut Losses) -> Option<Object<'a>> {
        let raw = self.take_raw(key)?;
        object(format!("{}.{key}", self.path), raw, losses)
    }

    /// The items of an array of objects, each with its `type`, by which it is named: `path[type]`.
    pub fn take_blocks(&mut self, key: &str, losses: &mut Losses) -> Vec<(String, Object<'a>)> {
        let Some(raw) = self.take_raw(key) else { return Vec::new() };
        let path = format!("{}.{key}", self.path);
        if !raw.starts_with('[') && raw != "null" {
            losses.add(path.clone(), ANOTHER_KIND);
        }
        blocks(&path, raw, losses)
    }

    /// The items of an array of objects that have no type, each as it stands and as an object.
    pub fn take_objects(&mut self, key: &str, losses: &mut Losses) -> Vec<(&'a str, Object<'a>)> {
        let Some(raw) = self.take_raw(key) else { return Vec::new() };
        let path = format!("{}.{key}", self.path);
        let Some(all) = items(raw) else {
            if raw != "null" {
                losses.add(path, ANOTHER_KIND);
            }
            return Vec::new();
        };
        let path = format!("{path}[]");
        let read = |item| Some((item, object(path.clone(), item, losses)?));
        all.into_iter().filter_map(read).collect()
    }

    /// A call's arguments: JSON, in a string or as it stands.
    pub fn take_arguments(&mut self, key: &str, losses: &mut Losses) -> Text {
        match self.fields.raw(key) {
            Some(raw) if raw.starts_with('"') => self.take(key, losses).unwrap_or_default(),
            Some(raw) if raw != "null" => {
                self.take_raw(key);
                raw.into()
            }
            Some(_) | None => "{}".into(),
        }
    }

    /// Takes a time, RFC 3339.
    pub fn take_time(&mut self, key: &str, losses: &mut Losses) -> Option<String> {
        let written: String = self.take(key, losses)?;
        let is_time = written.len() <= LONGEST_TIME && time::parse(&written).is_some();
        if !is_time {
            self.lose(key, ANOTHER_KIND, losses);
        }
        Some(written).filter(|_| is_time)
    }

    /// Lists what nobody took.
    pub fn leave(self, losses: &mut Losses, reasons: Reasons) {
        for name in self.fields.names() {
            let path = format!("{}.{name}", self.path);
            let why = reasons.iter().find(|(known, _)| *known == path).map_or(NO_PLACE, |(_, why)| why);
            losses.add(path, why);
        }
    }
}

fn is_object(line: &[u8]) -> bool {
    core::str::from_utf8(line).is_ok_and(|line| Fields::check(line).is_ok())
}

/// The blocks of an array, each with its `type`, by which it is named; what is no array has none.
pub(crate) fn blocks<'a>(path: &str, raw: &'a str, losses: &mut Losses) -> Vec<(String, Object<'a>)> {
    let mut blocks = Vec::new();
    for item in items(raw).unwrap_or_default() {
        let Ok(mut block) = Object::parse(path, item) else {
            losses.add(format!("{path}[]"), "an item that is no block");
            continue;
        };
        let kind = block.take_name("type", losses).unwrap_or_default();
        let path = format!("{path}[{kind}]");
        blocks.push((kind, block.at(path)));
    }
    blocks
}

/// The object that stands at a path; anything else but `null` is listed as lost.
pub(crate) fn object<'a>(path: String, raw: &'a str, losses: &mut Losses) -> Option<Object<'a>> {
    match Object::parse(path.as_str(), raw) {
        Ok(object) => Some(object),
        Err(_) => {
            if raw != "null" {
                losses.add(path, ANOTHER_KIND);
            }
            None
        }
    }
}
