//! Reads a request for sums of model calls.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::json::fields::{BadValue, Field, reject};
use crate::json::request;
use crate::session::session_list::take_time;
use crate::time::{self, Stamp};

/// By what calls are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageGroup {
    /// The local day.
    Day,
    /// The session.
    Session,
    /// The project's folder.
    Project,
    /// The agent that made the call.
    Agent,
    /// The model.
    Model,
}

/// Which calls are summed, and by what.
#[derive(Debug, Default)]
pub struct UsageRequest {
    /// The calls of all projects.
    pub all_projects: bool,
    /// Those of sessions of this folder.
    pub folder: Option<String>,
    /// Those of the session with this id.
    pub session: Option<String>,
    /// Those of this agent.
    pub agent: Option<String>,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    pub(super) groups: Vec<UsageGroup>,
    // How much later local time is than UTC, in minutes, each from a moment on.
    offsets: Vec<UtcOffset>,
}

#[derive(Clone, Copy, Debug)]
struct UtcOffset {
    from_ms: i64,
    minutes: i32,
}

impl Field for UsageGroup {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<UsageGroup> {
        match raw {
            "\"day\"" => Some(UsageGroup::Day),
            "\"session\"" => Some(UsageGroup::Session),
            "\"project\"" => Some(UsageGroup::Project),
            "\"agent\"" => Some(UsageGroup::Agent),
            "\"model\"" => Some(UsageGroup::Model),
            _ => reject(raw, path, "\"day\", \"session\", \"project\", \"agent\" or \"model\"", bad),
        }
    }
}

impl Field for UtcOffset {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<UtcOffset> {
        let read = serde_json::from_str(raw).ok();
        let offset = read.map(|(from_ms, minutes)| UtcOffset { from_ms, minutes });
        offset.or_else(|| reject(raw, path, "milliseconds since 1970 and minutes", bad))
    }
}

impl UsageRequest {
    /// Reads `{"by","all","folder","session","agent","since","until","offsets"}`, all optional: `by` is an array of `"day"`,
    /// `"session"`, `"project"`, `"agent"`, `"model"`; `since` and `until` are times; `offsets` are pairs of a moment in
    /// milliseconds since 1970, in their order, and the minutes by which local time is later than UTC from then on; as
    /// much as now unless given.
    ///
    /// # Errors
    /// `invalid_request`, naming what is wrong.
    pub fn from_json(json: &str) -> Result<UsageRequest, Error> {
        let mut fields = request::parse(json, "by, all, folder, session, agent, since, until or offsets")?;
        let mut bad = Vec::new();
        let wanted = UsageRequest {
            all_projects: fields.take("all", &mut bad).unwrap_or_default(),
            folder: fields.take("folder", &mut bad),
            session: fields.take("session", &mut bad),
            agent: fields.take("agent", &mut bad),
            since_ms: take_time(&mut fields, "since")?,
            until_ms: take_time(&mut fields, "until")?,
            groups: fields.take("by", &mut bad).unwrap_or_default(),
            offsets: fields.take("offsets", &mut bad).unwrap_or_default(),
        };
        request::reject_bad(&mut bad)?;
        Ok(wanted)
    }

    pub(super) fn includes(&self, ms: Option<i64>) -> bool {
        self.since_ms.is_none_or(|since| ms.is_some_and(|ms| ms >= since))
            && self.until_ms.is_none_or(|until| ms.is_some_and(|ms| ms <= until))
    }

    pub(super) fn local_day(&self, ms: i64, now: &Stamp) -> String {
        let passed = self.offsets.iter().take_while(|offset| offset.from_ms <= ms).last();
        let offset = passed.or(self.offsets.first());
        let offset_minutes = offset.map_or(now.offset_minutes, |offset| offset.minutes);
        time::day(ms, &Stamp { offset_minutes, ..*now })
    }
}
