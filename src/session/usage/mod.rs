//! Sums what model calls took: tokens as the providers counted them, and what those cost by the list of prices.

mod request;

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use memchr::memmem;
use serde::Serialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh64::xxh64;

use crate::json::text::to_json;
use crate::record::message::{self, Message, Usage};
use crate::record::scan::records;
use crate::session::branch::hash_text;
use crate::time::{self, Stamp};
use crate::tokens::prices::{Dollars, LISTED_ON, PriceLookup};

pub use request::{UsageGroup, UsageRequest};

// Lines without both are of no interest: those of calls, and revisions, which may take counts back.
const USAGE_KEY: &[u8] = b"\"usage\":";
const REVISION_KEY: &[u8] = b"\"rev\":";

/// A session whose calls are summed.
#[derive(Debug)]
pub struct CountedSession {
    /// The agent of calls that do not say who made them.
    pub agent: String,
    /// Its project's folder.
    pub project: String,
    /// When it was active last, for calls without a time.
    pub last_ms: Option<i64>,
}

/// Sums calls, each once: a copy in another session, as forks have them, adds nothing.
#[derive(Debug)]
pub struct UsageTally {
    request: UsageRequest,
    now: Stamp,
    counted: BTreeSet<u64>,
    rows: BTreeMap<RowKey, Sums>,
    prices: PriceLookup,
}

/// The calls of one log, each as its highest revision.
#[derive(Debug, Default)]
pub struct LogCalls(BTreeMap<u64, (u64, Option<ModelCall>)>);

#[derive(Debug)]
struct ModelCall {
    key: u64,
    ms: Option<i64>,
    agent: Option<String>,
    model: Option<String>,
    usage: Usage,
}

// What a group does not ask for is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    day: Option<String>,
    session: Option<usize>,
    project: Option<String>,
    agent: Option<String>,
    model: Option<String>,
}

#[derive(Clone, Debug)]
struct Sums {
    calls: u64,
    unpriced: u64,
    usage: Usage,
    cost: u128,
}

#[derive(Serialize)]
struct UsageReport<'a> {
    rows: Vec<UsageRow<'a>>,
    total: UsageRow<'a>,
    #[serde(rename = "listedOn")]
    listed_on: &'static str,
    unpriced: Vec<&'a str>,
}

#[derive(Serialize)]
struct UsageRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    calls: u64,
    usage: &'a Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Dollars>,
    unpriced: u64,
}

impl LogCalls {
    /// Returns the places of the lines that may tell of a call. `lines` are whole.
    pub fn candidate_lines(lines: &[u8]) -> impl Iterator<Item = core::ops::Range<usize>> + '_ {
        let (usage, revision) = (memmem::Finder::new(USAGE_KEY), memmem::Finder::new(REVISION_KEY));
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', lines).chain(core::iter::once(lines.len()));
        ends.filter_map(move |end| {
            let line = start..end;
            start = end + 1;
            let bytes = lines.get(line.clone())?;
            (usage.find(bytes).is_some() || revision.find(bytes).is_some()).then_some(line)
        })
    }

    /// Takes a line of the log.
    pub fn add_line(&mut self, line: &[u8]) {
        for record in records(line) {
            let Some(message) = message::read(&record).0 else { continue };
            let id = hash_text(&message.id);
            if self.0.get(&id).is_none_or(|(rev, _)| message.rev >= *rev) {
                self.0.insert(id, (message.rev, ModelCall::of(message)));
            }
        }
    }
}

impl ModelCall {
    fn of(message: Message) -> Option<ModelCall> {
        let assistant = message.assistant?;
        // What a client says in a model's name took nothing.
        let (usage, model) = (assistant.usage.filter(|usage| usage.sum() > 0)?, assistant.model);
        let agent = message.source.as_ref().map(|source| source.agent.clone());
        // A copy may have another id, but says when the call was made and what it took.
        let own_id =
            message.timestamp.is_none().then_some(message.source.map_or(message.id, |source| source.id));
        let counts = [usage.input, usage.output, usage.cache_read, usage.cache_write];
        let key = xxh64(to_json(&(&own_id, &message.timestamp, &agent, &model, counts)).as_bytes(), 0);
        Some(ModelCall { key, ms: message.timestamp.as_deref().and_then(time::parse), agent, model, usage })
    }
}

impl UsageTally {
    /// Begins with no calls.
    pub fn new(request: UsageRequest, now: Stamp) -> UsageTally {
        let (counted, rows, prices) = (BTreeSet::new(), BTreeMap::new(), PriceLookup::default());
        UsageTally { request, now, counted, rows, prices }
    }

    /// Adds the calls of a session's log; `place`: the session's among all.
    pub fn add_log(&mut self, place: usize, session: &CountedSession, calls: LogCalls) {
        for call in calls.0.into_values().filter_map(|(_, call)| call) {
            let ms = call.ms.or(session.last_ms);
            let agent = call.agent.as_ref().unwrap_or(&session.agent);
            let is_wanted =
                self.request.includes(ms) && self.request.agent.as_ref().is_none_or(|wanted| wanted == agent);
            if is_wanted && self.counted.insert(call.key) {
                let key = self.row_key(place, session, (ms, agent, call.model.as_deref()));
                let cost = self.prices.cost_of_call(call.model.as_deref(), &call.usage);
                self.rows.entry(key).or_default().add(&call.usage, cost);
            }
        }
    }

    fn row_key(
        &self,
        place: usize,
        session: &CountedSession,
        (ms, agent, model): (Option<i64>, &str, Option<&str>),
    ) -> RowKey {
        let mut key = RowKey::default();
        for group in &self.request.groups {
            match group {
                UsageGroup::Day => {
                    key.day = Some(ms.map_or_else(String::new, |ms| self.request.local_day(ms, &self.now)));
                }
                UsageGroup::Session => key.session = Some(place),
                UsageGroup::Project => key.project = Some(session.project.clone()),
                UsageGroup::Agent => key.agent = Some(agent.to_owned()),
                UsageGroup::Model => key.model = Some(model.unwrap_or_default().to_owned()),
            }
        }
        key
    }

    /// The sessions that have rows, by their places.
    pub fn sessions(&self) -> BTreeSet<usize> {
        self.rows.keys().filter_map(|key| key.session).collect()
    }

    /// Renders `{"rows","total","listedOn","unpriced"}`: days in their order, else what cost most first. `sessions`:
    /// those that have rows, JSON.
    pub fn to_json(&self, sessions: &BTreeMap<usize, String>) -> String {
        let mut total = Sums::default();
        self.rows.values().for_each(|sums| total.add_sums(sums));
        let mut rows: Vec<(&RowKey, &Sums)> = self.rows.iter().collect();
        rows.sort_by_key(|(key, sums)| (key.day.as_deref(), Reverse((sums.cost, sums.usage.sum()))));
        let raw: BTreeMap<usize, &RawValue> = sessions
            .iter()
            .filter_map(|(place, json)| Some((*place, serde_json::from_str(json).ok()?)))
            .collect();
        let nothing = RowKey::default();
        to_json(&UsageReport {
            rows: rows.into_iter().map(|(key, sums)| sums.to_row(key, &raw)).collect(),
            total: total.to_row(&nothing, &raw),
            listed_on: LISTED_ON,
            unpriced: self.prices.unlisted_models().collect(),
        })
    }
}

// A sum says 0 where no call has such a count.
impl Default for Sums {
    fn default() -> Sums {
        let none = Some(0);
        let usage = Usage {
            input: none,
            output: none,
            cache_read: none,
            cache_write: none,
            reasoning: none,
            ..Usage::default()
        };
        Sums { calls: 0, unpriced: 0, usage, cost: 0 }
    }
}

impl Sums {
    fn add(&mut self, usage: &Usage, cost: Option<u128>) {
        self.calls += 1;
        self.unpriced += u64::from(cost.is_none());
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
        self.usage.add(usage);
    }

    fn add_sums(&mut self, other: &Sums) {
        self.calls += other.calls;
        self.unpriced += other.unpriced;
        self.cost = self.cost.saturating_add(other.cost);
        self.usage.add(&other.usage);
    }

    fn to_row<'a>(&'a self, key: &'a RowKey, sessions: &BTreeMap<usize, &'a RawValue>) -> UsageRow<'a> {
        UsageRow {
            day: key.day.as_deref(),
            session: key.session.and_then(|place| sessions.get(&place).copied()),
            project: key.project.as_deref(),
            agent: key.agent.as_deref(),
            model: key.model.as_deref(),
            calls: self.calls,
            usage: &self.usage,
            cost: (self.unpriced < self.calls || self.calls == 0).then(|| Dollars::from_units(self.cost)),
            unpriced: self.unpriced,
        }
    }
}
