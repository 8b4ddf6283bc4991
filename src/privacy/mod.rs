//! Redaction: takes the secrets out of what leaves a store.
//!
//! The core knows where texts stand, how they are encoded, which placeholder stands for a secret, and what most secrets
//! look like; a host may add rules. So a [`Redaction`] is asked for the next [texts](Redaction::next_texts) and
//! [told](Redaction::take_spans) what was found in them, until there are no more.
//!
//! Where secrets are replaced, a search matches its question against what may leave, whole messages with their
//! placeholders, never against what is stored. If hits were redacted after the match instead, missing hits would tell a
//! secret letter by letter. It costs a second for some 20 MB, once as long as the store is open; the terms come from
//! index files that were made of what may leave.

mod encodings;
mod known_secrets;
mod placeholder;
mod plan;
pub(crate) mod secrets;
mod walk;

pub use known_secrets::{KnownSecrets, SecretPart};
#[cfg(feature = "interop")]
pub(crate) use placeholder::blank_placeholders;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Field, Fields, FromFields};
use crate::json::text::{Text, to_json};
use crate::privacy::plan::{RedactionPlan, SecretHit};
use crate::privacy::walk::{MAX_WALK_DEPTH, Walk, WalkItem};

/// The bytes that are looked at together: beginning with a text is what costs.
const BATCH_BYTES: usize = 1 << 18;

/// A secret that a rule found in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SecretSpan {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
    /// The name of the rule.
    pub rule: String,
}

impl SecretSpan {
    /// Reads from JSON the secrets found in each of some texts: `[[{"start","end","rule"}]]`.
    ///
    /// # Errors
    /// `invalid_json` where it is anything else.
    pub fn all_from_json(json: &str) -> Result<Vec<Vec<SecretSpan>>, Error> {
        let mut bad = Vec::new();
        let spans = Vec::read(json, "found", &mut bad);
        match (spans, bad.into_iter().next()) {
            (Some(spans), None) => Ok(spans),
            (_, bad) => Err(Error::new(Code::InvalidJson, bad.map(|bad| bad.message).unwrap_or_default())),
        }
    }
}

impl FromFields for SecretSpan {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<SecretSpan> {
        let mut place = |key: &str| fields.take::<u32>(key, bad).unwrap_or_default() as usize;
        let (start, end) = (place("start"), place("end"));
        Some(SecretSpan { start, end, rule: fields.take("rule", bad).unwrap_or_default() })
    }
}

/// A secret that was replaced, named by its placeholder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Secret {
    /// The rule that found it.
    pub rule: String,
    /// The placeholder that stands for it.
    pub placeholder: String,
    /// How often it occurs.
    pub count: u64,
}

/// A secret at its place in stored bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredSecret {
    /// The secret.
    pub secret: String,
    /// The rule that found it.
    pub rule: String,
    /// The first byte of the line that has it; of the whole if the bytes have no lines.
    pub start: u64,
    /// The byte behind that line.
    pub end: u64,
}

/// A value on its way out, whose texts are looked at one after another.
#[derive(Debug)]
pub struct Redaction {
    source: String,
    known_secrets: Rc<KnownSecrets>,
    key: Vec<u8>,
    /// The pieces still to look at: their ranges in the source, and in the bytes that they came from.
    pieces: vec::IntoIter<(Range<usize>, Range<u64>)>,
    source_range: Range<u64>,
    walk: Option<Walk>,
    /// The texts that are being looked at.
    plans: Vec<PlannedText>,
    /// The replacements so far, by their ranges in the source.
    replacements: Vec<(Range<usize>, String)>,
    changed_texts: Vec<(String, String)>,
    secrets: Vec<Secret>,
    /// Each secret's index, by its placeholder.
    index_by_placeholder: BTreeMap<String, usize>,
    stored_secrets: Vec<StoredSecret>,
}

/// A text that is being looked at.
#[derive(Debug)]
struct PlannedText {
    /// The range of its literal in the source, if it is one.
    place: Option<Range<usize>>,
    source_range: Range<u64>,
    /// `None` for a value nested too deep to be looked at.
    plan: Option<RedactionPlan>,
}

impl Redaction {
    /// Begins with a JSON value that is to leave, and the key of its store. `known` are the secrets of the whole texts
    /// that it was made from.
    ///
    /// # Errors
    /// `invalid_json` where it is none.
    pub fn new(json: &str, key: &[u8], known: impl Into<Rc<KnownSecrets>>) -> Result<Redaction, Error> {
        if serde_json::from_str::<&RawValue>(json).is_err() {
            return Err(Error::new(
                Code::InvalidJson,
                "expected a JSON value, but found something else instead",
            ));
        }
        let whole = 0..json.len() as u64;
        Ok(Redaction::with_pieces(json.into(), vec![(0..json.len(), whole)], key, known.into()))
    }

    /// Begins with bytes as they are stored, to find the secrets in them: in a log, each line by itself. Bytes that are
    /// no JSON, damaged or a blob, count as a text.
    pub fn for_stored_bytes(bytes: &[u8], is_log: bool) -> Redaction {
        let mut source = String::with_capacity(bytes.len());
        let mut pieces = Vec::new();
        let lines: Vec<&[u8]> =
            if is_log { bytes.split_inclusive(|byte| *byte == b'\n').collect() } else { vec![bytes] };
        let mut at = 0;
        for line in lines {
            let start = source.len();
            source.push_str(&String::from_utf8_lossy(line));
            pieces.push((start..source.len(), at..at + line.len() as u64));
            at += line.len() as u64;
        }
        Redaction::with_pieces(source, pieces, &[], Rc::default())
    }

    fn with_pieces(
        source: String,
        pieces: Vec<(Range<usize>, Range<u64>)>,
        key: &[u8],
        known: Rc<KnownSecrets>,
    ) -> Redaction {
        Redaction {
            source,
            known_secrets: known,
            key: key.into(),
            pieces: pieces.into_iter(),
            source_range: 0..0,
            walk: None,
            plans: Vec::new(),
            replacements: Vec::new(),
            changed_texts: Vec::new(),
            secrets: Vec::new(),
            index_by_placeholder: BTreeMap::new(),
            stored_secrets: Vec::new(),
        }
    }

    /// Returns the texts to look at next; empty once all were looked at. No secret goes from one text to the next.
    pub fn next_texts(&mut self) -> Vec<String> {
        let (mut shown, mut size) = (Vec::new(), 0);
        while size < BATCH_BYTES {
            let Some((place, text, name)) = self.next_text() else { break };
            let before = shown.len();
            let plan = RedactionPlan::new(text, &name, &mut shown);
            size += shown[before..].iter().map(String::len).sum::<usize>();
            // A text too short for any rule is too short for a part of a secret.
            if shown.len() > before {
                self.plans.push(PlannedText {
                    place,
                    source_range: self.source_range.clone(),
                    plan: Some(plan),
                });
            }
        }
        if shown.is_empty() {
            // The value behind the last text may be nested too deep.
            self.take_spans(&[]);
        }
        shown
    }

    /// Takes the secrets found in the texts given last, each in its place; an empty list means that all are clean.
    pub fn take_spans(&mut self, spans: &[Vec<SecretSpan>]) {
        let mut spans = spans.iter();
        for PlannedText { place, source_range: from, plan } in core::mem::take(&mut self.plans) {
            let Some(mut plan) = plan else {
                let stands = format!("\"[not shown: nested deeper than {MAX_WALK_DEPTH}]\"");
                self.replacements.extend(place.map(|place| (place, stands)));
                continue;
            };
            plan.take_spans(&mut spans, &self.known_secrets);
            let Some(text) = plan.render(&mut |hit| self.add_secret(hit, &from)) else { continue };
            if let Some(place) = place {
                self.replacements.push((place, to_json(&text)));
                self.changed_texts.push((plan.text().to_string(), text));
            }
        }
    }

    /// Returns the value as it may leave; `None` if nothing changed.
    pub fn value(&self) -> Option<String> {
        let (mut clean, mut done) = (String::new(), 0);
        for (place, text) in &self.replacements {
            clean.push_str(&self.source[done..place.start]);
            clean.push_str(text);
            done = place.end;
        }
        (done > 0).then(|| clean + &self.source[done..])
    }

    /// Returns each changed text, before and after.
    pub fn changed_texts(&self) -> &[(String, String)] {
        &self.changed_texts
    }

    /// Returns the replaced secrets, each once.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// Returns the secrets found in stored bytes, each as often as it occurs.
    pub fn stored_secrets(&self) -> &[StoredSecret] {
        &self.stored_secrets
    }

    /// Returns the next text, its key, and its range if it is a literal.
    fn next_text(&mut self) -> Option<(Option<Range<usize>>, String, String)> {
        loop {
            let met = self.walk.as_mut().and_then(|walk| walk.next(&self.source));
            match met {
                Some(WalkItem::Text(place, name)) => {
                    let text = Text::decode(&self.source[place.clone()]);
                    let text = text.expect("a valid value has valid strings").into_shown();
                    return Some((Some(place), text, name));
                }
                Some(WalkItem::TooDeep(place)) => {
                    self.plans.push(PlannedText {
                        place: Some(place),
                        source_range: self.source_range.clone(),
                        plan: None,
                    });
                }
                None => {
                    let (place, from) = self.pieces.next()?;
                    self.source_range = from;
                    let piece = &self.source[place.clone()];
                    if serde_json::from_str::<&RawValue>(piece).is_err() {
                        self.walk = None;
                        return Some((None, piece.into(), String::new()));
                    }
                    self.walk = Some(Walk::new(place));
                }
            }
        }
    }

    fn add_secret(&mut self, SecretHit { secret, rule, .. }: &SecretHit, from: &Range<u64>) -> String {
        let placeholder = placeholder::placeholder_for(secret, rule, &self.key);
        self.stored_secrets.push(StoredSecret {
            secret: secret.clone(),
            rule: rule.clone(),
            start: from.start,
            end: from.end,
        });
        let place = *self.index_by_placeholder.entry(placeholder.clone()).or_insert(self.secrets.len());
        match self.secrets.get_mut(place) {
            Some(known) => known.count += 1,
            None => {
                self.secrets.push(Secret { rule: rule.clone(), placeholder: placeholder.clone(), count: 1 })
            }
        }
        placeholder
    }
}
