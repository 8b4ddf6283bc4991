//! What leaves a store, without its secrets.
//!
//! The core knows where texts stand, what they hold in another form, what stands for a secret, and what most secrets look
//! like; a host may have more rules. So a [`Redaction`] is asked for the next [texts](Redaction::next_texts) and
//! [told](Redaction::take_spans) what was found in them, until there are no more.

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
use crate::privacy::walk::{DEEPEST, Walk, WalkItem};

/// So many bytes are looked at together: what costs is to begin with a text.
const TOGETHER: usize = 1 << 18;

/// A secret that a rule found in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SecretSpan {
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The rule.
    pub rule: String,
}

impl SecretSpan {
    /// Reads from JSON what was found in each of some texts: `[[{"start","end","rule"}]]`.
    ///
    /// # Errors
    /// `invalid_json` where it is another one.
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

/// What was found, named by what stands for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Secret {
    /// The rule that found it.
    pub rule: String,
    /// What stands for it.
    pub placeholder: String,
    /// How often it is there.
    pub count: u64,
}

/// A secret as it stands in what is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredSecret {
    /// The secret.
    pub secret: String,
    /// The rule that found it.
    pub rule: String,
    /// The bytes of the line that has it, or of all where there are none.
    pub start: u64,
    /// Where they end.
    pub end: u64,
}

/// Values on their way out.
#[derive(Debug)]
pub struct Redaction {
    source: String,
    known_secrets: Rc<KnownSecrets>,
    key: Vec<u8>,
    /// What is looked at, one after another: where it lies in the source, and where it came from.
    pieces: vec::IntoIter<(Range<usize>, Range<u64>)>,
    source_range: Range<u64>,
    walk: Option<Walk>,
    /// The texts that are being looked at.
    plans: Vec<PlannedText>,
    /// What stands somewhere else in the source by now.
    replacements: Vec<(Range<usize>, String)>,
    changed_texts: Vec<(String, String)>,
    secrets: Vec<Secret>,
    /// Where each is among them, by its placeholder.
    index_by_placeholder: BTreeMap<String, usize>,
    stored_secrets: Vec<StoredSecret>,
}

/// A text that is being looked at.
#[derive(Debug)]
struct PlannedText {
    /// Where it stands in the source as a literal, if it is one.
    place: Option<Range<usize>>,
    source_range: Range<u64>,
    /// Nothing for what is nested too deep to be looked at.
    plan: Option<RedactionPlan>,
}

impl Redaction {
    /// Of a JSON value that is to leave, by the key of its store. `known` are the secrets of the whole texts that it was made of.
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

    /// Of bytes as they are stored, so that the secrets in them are found: of a log, each line by itself. What is no JSON,
    /// damaged or a blob, is a text.
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

    /// The texts that are to be looked at next; none once all were. No secret goes from one to the next.
    pub fn next_texts(&mut self) -> Vec<String> {
        let (mut told, mut size) = (Vec::new(), 0);
        while size < TOGETHER {
            let Some((place, text, name)) = self.next_text() else { break };
            let before = told.len();
            let plan = RedactionPlan::new(text, &name, &mut told);
            size += told[before..].iter().map(String::len).sum::<usize>();
            // What is too short for any rule is too short for a part of a secret.
            if told.len() > before {
                self.plans.push(PlannedText {
                    place,
                    source_range: self.source_range.clone(),
                    plan: Some(plan),
                });
            }
        }
        if told.is_empty() {
            // What stands behind the last text may be nested too deep.
            self.take_spans(&[]);
        }
        told
    }

    /// Takes what was found in the texts that were given last, for each in its place; none of all is clean.
    pub fn take_spans(&mut self, spans: &[Vec<SecretSpan>]) {
        let mut spans = spans.iter();
        for PlannedText { place, source_range: from, plan } in core::mem::take(&mut self.plans) {
            let Some(mut plan) = plan else {
                let stands = format!("\"[not shown: nested deeper than {DEEPEST}]\"");
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

    /// The value as it may leave; nothing where it is the same.
    pub fn value(&self) -> Option<String> {
        let (mut clean, mut done) = (String::new(), 0);
        for (place, text) in &self.replacements {
            clean.push_str(&self.source[done..place.start]);
            clean.push_str(text);
            done = place.end;
        }
        (done > 0).then(|| clean + &self.source[done..])
    }

    /// Each text that is another one now, before and after.
    pub fn changed_texts(&self) -> &[(String, String)] {
        &self.changed_texts
    }

    /// What was found, each once.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// What was found, each as often as it stands there.
    pub fn stored_secrets(&self) -> &[StoredSecret] {
        &self.stored_secrets
    }

    /// The next text, the name that it has, and where it stands as a literal.
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
