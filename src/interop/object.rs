//! The objects of a foreign file: each field that no reader takes is listed as lost.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::lines::lines;
use crate::interop::loss::{ANOTHER_KIND, Loss, NO_BLOCK, NO_PLACE};
use crate::json::fields::{Field, Fields, ObjectError, parse_items, parse_objects};
use crate::json::text::Text;
use crate::time;

/// Counts the fields that were not taken, once for each kind of object, since most records lose the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    field_losses: BTreeMap<String, BTreeMap<String, FieldLoss>>,
    met_count: u64,
}

#[derive(Clone, Copy, Debug)]
struct FieldLoss {
    count: u64,
    reason: &'static str,
    // The order in which it was first met; the first reason given for a field stands.
    rank: u64,
}

impl Losses {
    pub fn add(&mut self, field: String, why: &'static str) {
        self.count_fields("", core::iter::once(field.as_str()), |_| why);
    }

    // `why` is called only for a field that is met for the first time.
    fn count_fields<'n>(
        &mut self,
        path: &str,
        names: impl Iterator<Item = &'n str>,
        why: impl Fn(&str) -> &'static str,
    ) {
        if !self.field_losses.contains_key(path) {
            self.field_losses.insert(path.into(), BTreeMap::new());
        }
        let Some(fields) = self.field_losses.get_mut(path) else { return };
        for name in names {
            if let Some(lost) = fields.get_mut(name) {
                lost.count += 1;
            } else {
                fields.insert(name.into(), FieldLoss { count: 1, reason: why(name), rank: self.met_count });
                self.met_count += 1;
            }
        }
    }

    pub fn merge(&mut self, other: Losses) {
        let met = self.met_count;
        for (path, fields) in other.field_losses {
            let known = self.field_losses.entry(path).or_default();
            for (name, lost) in fields {
                let new = FieldLoss { count: 0, rank: met + lost.rank, ..lost };
                known.entry(name).or_insert(new).count += lost.count;
            }
        }
        self.met_count += other.met_count;
    }

    pub fn into_list(self) -> Vec<Loss> {
        let mut whole: BTreeMap<String, FieldLoss> = BTreeMap::new();
        for (path, fields) in self.field_losses {
            for (name, lost) in fields {
                let field = if path.is_empty() { name } else { [&path, ".", &name].concat() };
                let known = whole.entry(field).or_insert(FieldLoss { count: 0, ..lost });
                let count = known.count + lost.count;
                *known = FieldLoss { count, ..if lost.rank < known.rank { lost } else { *known } };
            }
        }
        whole
            .into_iter()
            .map(|(field, FieldLoss { count, reason: why, .. })| Loss::new(field, count, why))
            .collect()
    }
}

/// Reasons why fields are lost, by their paths; all others are lost because leftoff has no place for them.
pub(crate) type LossReasons = &'static [(&'static str, &'static str)];

/// The longest name that is taken, in bytes. What it names repeats it, so that a file of one long name and many short
/// records would become many times its size.
pub(crate) const MAX_NAME_BYTES: usize = 1024;

/// The longest time that is taken: fractions may have any number of digits.
const MAX_TIME_BYTES: usize = 64;

/// Why a longer name is lost.
const NAME_TOO_LONG: &str = "too long for a name";

/// An object of a foreign file, and its path: each field that is not taken is listed as lost.
pub(crate) struct Object<'a> {
    path: String,
    fields: Fields<'a>,
}

impl<'a> Object<'a> {
    pub fn parse(path: impl Into<String>, json: &'a str) -> Result<Object<'a>, ObjectError> {
        Ok(Object { path: path.into(), fields: Fields::parse(json)? })
    }

    /// Parses a file that is one object, without an editor's byte order mark.
    pub fn parse_document(path: &str, bytes: &'a [u8]) -> Option<Object<'a>> {
        // The first line of a long file of lines shows that the file is no document.
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

    /// Returns the names of the fields that nobody took.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.names()
    }

    /// Returns a field's raw slice, and leaves the field in place.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.fields.raw(key)
    }

    /// Lists a field as lost that was taken, but cannot be used.
    pub fn report_lost(&self, key: &str, why: &'static str, losses: &mut Losses) {
        losses.count_fields(&self.path, core::iter::once(key), |_| why);
    }

    /// Lists the whole object as lost.
    pub fn report_whole_lost(self, why: &'static str, losses: &mut Losses) {
        losses.add(self.path, why);
    }

    /// Replaces the path, once the object has told its kind.
    pub fn with_path(self, path: impl Into<String>) -> Object<'a> {
        Object { path: path.into(), ..self }
    }

    pub fn take<T: Field>(&mut self, key: &str, losses: &mut Losses) -> Option<T> {
        let mut bad = Vec::new();
        let value = self.fields.take(key, &mut bad);
        if !bad.is_empty() {
            self.report_lost(key, ANOTHER_KIND, losses);
        }
        value
    }

    /// Takes a name, which is repeated by what it names; see `MAX_NAME_BYTES`.
    pub fn take_name(&mut self, key: &str, losses: &mut Losses) -> Option<String> {
        let name: String = self.take(key, losses)?;
        if name.len() > MAX_NAME_BYTES {
            self.report_lost(key, NAME_TOO_LONG, losses);
            return None;
        }
        Some(name)
    }

    pub fn take_raw(&mut self, key: &str) -> Option<&'a str> {
        self.fields.take_raw(key)
    }

    /// Takes a field that is an object.
    pub fn take_object(&mut self, key: &str, losses: &mut Losses) -> Option<Object<'a>> {
        let raw = self.take_raw(key)?;
        parse_object(format!("{}.{key}", self.path), raw, losses)
    }

    /// Takes an array of objects, each with its `type`, which becomes its path: `path[type]`.
    pub fn take_blocks(&mut self, key: &str, losses: &mut Losses) -> Vec<(String, Object<'a>)> {
        let Some(raw) = self.take_raw(key) else { return Vec::new() };
        let path = format!("{}.{key}", self.path);
        if !raw.starts_with('[') && raw != "null" {
            losses.add(path.clone(), ANOTHER_KIND);
        }
        parse_blocks(&path, raw, losses)
    }

    /// Takes an array of objects without types, each as raw JSON and as an object.
    pub fn take_objects(&mut self, key: &str, losses: &mut Losses) -> Vec<(&'a str, Object<'a>)> {
        let Some(raw) = self.take_raw(key) else { return Vec::new() };
        let path = format!("{}.{key}", self.path);
        let Some(all) = parse_items(raw) else {
            if raw != "null" {
                losses.add(path, ANOTHER_KIND);
            }
            return Vec::new();
        };
        let path = format!("{path}[]");
        let read = |item| Some((item, parse_object(path.clone(), item, losses)?));
        all.into_iter().filter_map(read).collect()
    }

    /// Takes a call's arguments: JSON, in a string or as it stands.
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
        let is_time = written.len() <= MAX_TIME_BYTES && time::parse(&written).is_some();
        if !is_time {
            self.report_lost(key, ANOTHER_KIND, losses);
        }
        Some(written).filter(|_| is_time)
    }

    /// Takes a time in milliseconds since 1970, of a year that RFC 3339 can express.
    pub fn take_ms(&mut self, key: &str, losses: &mut Losses) -> Option<i64> {
        let ms: i64 = self.take(key, losses)?;
        let is_time = time::parse(&time::format(ms)) == Some(ms);
        if !is_time {
            self.report_lost(key, ANOTHER_KIND, losses);
        }
        Some(ms).filter(|_| is_time)
    }

    /// Lists the fields that nobody took.
    pub fn report_rest_lost(self, losses: &mut Losses, reasons: LossReasons) {
        let why = |name: &str| {
            let is = |known: &str| {
                known.strip_prefix(self.path.as_str()).and_then(|rest| rest.strip_prefix('.')) == Some(name)
            };
            reasons.iter().find(|(known, _)| is(known)).map_or(NO_PLACE, |(_, why)| why)
        };
        losses.count_fields(&self.path, self.fields.names(), why);
    }
}

fn is_object(line: &[u8]) -> bool {
    core::str::from_utf8(line).is_ok_and(|line| Fields::check(line).is_ok())
}

/// Splits an array into blocks, each with its `type`, which becomes its path; what is no array has none.
pub(crate) fn parse_blocks<'a>(path: &str, raw: &'a str, losses: &mut Losses) -> Vec<(String, Object<'a>)> {
    let mut blocks = Vec::new();
    // Read once, unless some item is no object.
    let found: Vec<Option<Object<'a>>> = match parse_objects(raw) {
        Some(all) => all.into_iter().map(|fields| Some(Object { path: path.into(), fields })).collect(),
        None => parse_items(raw)
            .unwrap_or_default()
            .into_iter()
            .map(|item| Object::parse(path, item).ok())
            .collect(),
    };
    for block in found {
        let Some(mut block) = block else {
            losses.add(format!("{path}[]"), NO_BLOCK);
            continue;
        };
        let kind = block.take_name("type", losses).unwrap_or_default();
        let path = format!("{path}[{kind}]");
        blocks.push((kind, block.with_path(path)));
    }
    blocks
}

/// Parses the object at a path; anything else but `null` is listed as lost.
pub(crate) fn parse_object<'a>(path: String, raw: &'a str, losses: &mut Losses) -> Option<Object<'a>> {
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
