//! Tidying: archives sessions that are too many or too old.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Error;
use crate::json::fields::Fields;
use crate::json::request;
#[cfg(feature = "interop")]
use crate::json::text::to_json;
#[cfg(feature = "interop")]
use crate::layout;
#[cfg(feature = "interop")]
use crate::operation::lease::Notice;
use crate::operation::{Io, Operation, Trouble, unless_bug};
use crate::record::event::Change;
use crate::session::change_request::ChangeRequest;
use crate::session::session_list::{ListRequest, ListedSession};
use crate::session::tidy::{TidyCandidate, TidyLimits, find_too_old};
use crate::settings::render_grouped;
#[cfg(feature = "interop")]
use crate::settings::{Setting, SettingSource};

// When each session that a list archived was last active, by id: whoever unarchives one wants to see it.
type ArchiveNotes = BTreeMap<String, String>;

const DAY_MS: u64 = 24 * 60 * 60_000;
// All settings of the group are accepted, for a caller may pass the whole group.
const LIMIT_FIELDS: &str = "maxSessionsPerProject, autoArchiveAfterDays, enabled, saveAfterAssistantMessage, saveAfterToolExecution, debounceMs or updateMetadataIntervalMs";

impl Store {
    /// Archives sessions of the project that are too many, or inactive for too long:
    /// `{"maxSessionsPerProject","autoArchiveAfterDays"}`, JSON, or null for the settings. The current session, open
    /// ones, and those of a workspace stay as they are. Answer: the ids of the archived sessions.
    pub fn tidy(self: &Rc<Store>, limits: String) -> Operation<'static, Vec<String>> {
        let store = self.clone();
        Operation::new(|io| async move {
            let limits = if limits == "null" { store.limits_from_settings(&io).await? } else { limits };
            let archived = store.tidy_project(&io, &limits, &ArchiveNotes::new()).await?;
            Ok(archived.iter().map(|session| session.entry.id.clone()).collect())
        })
    }

    async fn tidy_project(
        &self,
        io: &Io,
        limits: &str,
        spared: &ArchiveNotes,
    ) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        let (most, kept_ms) = parse_limits(limits)?;
        let current = self.read_pointer(io).await?.map(|pointer| pointer.id);
        let listed = self.list_matching(io, &ListRequest::usual(false)).await?;
        let about: Vec<TidyCandidate> = listed.iter().map(|session| to_tidy_candidate(session)).collect();
        let limits = TidyLimits {
            max_sessions: most,
            max_age_ms: kept_ms,
            now_ms: io.now_ms(),
            current: current.as_deref(),
        };
        let mut old = find_too_old(&about, &limits);
        let mut archived = Vec::new();
        for (place, session) in listed.into_iter().enumerate() {
            if old.first() == Some(&place) {
                old.remove(0);
                let is_spared =
                    spared.get(&session.entry.id).is_some_and(|last| *last == session.entry.last_active);
                if !is_spared && unless_bug(self.archive_if_free(io, &session).await)? == Some(true) {
                    archived.push(session);
                }
            }
        }
        self.save_index(io).await?;
        Ok(archived)
    }

    // Archives what exceeds the limits of a settings file, before each list that compares files, and reports it as a
    // notice. A session that a user unarchived stays until it has new messages. Default limits apply only when tidying
    // is asked for: a year's sessions that were imported today are not to be hidden tomorrow.
    #[cfg(feature = "interop")]
    pub(super) async fn tidy_by_settings(&self, io: &Io, request: &str) -> Result<(), Trouble> {
        if ListRequest::from_json(request)?.is_unverified {
            return Ok(());
        }
        let read = self.setup.read_settings(io).await?;
        let limits = limit_settings(&read.all);
        let Some(path) = limits.last().and_then(|setting| setting.path.clone()) else { return Ok(()) };
        let (code, message) = match self.archive_and_note(io, &limits).await {
            Ok(Some(message)) => ("archived", message),
            Ok(None) => return Ok(()),
            Err(bug) if bug.is_bug() => return Err(bug),
            // A failure is no reason to give no list.
            Err(trouble) => {
                ("not_archived", format!("could not archive what is too old: {}", trouble.message()))
            }
        };
        self.report_notices(&path, Vec::from([Notice { code, message }]));
        Ok(())
    }

    // Returns a sentence for people that says what was archived; none where nothing was.
    #[cfg(feature = "interop")]
    async fn archive_and_note(&self, io: &Io, limits: &[&Setting]) -> Result<Option<String>, Trouble> {
        let file = layout::tidy_record(&self.project_hash);
        let noted = unless_bug(io.read_all(&file).await)?.flatten().unwrap_or_default();
        let mut spared: ArchiveNotes = serde_json::from_slice(&noted).unwrap_or_default();
        let limits: Vec<String> = limits
            .iter()
            .map(|setting| format!("\"{}\":{}", short_key(setting.key), setting.value))
            .collect();
        let limits = format!("{{{}}}", limits.join(","));
        let archived = self.tidy_project(io, &limits, &spared).await?;
        if archived.is_empty() {
            return Ok(None);
        }
        spared.extend(
            archived.iter().map(|session| (session.entry.id.clone(), session.entry.last_active.clone())),
        );
        unless_bug(io.replace(&file, to_json(&spared).into_bytes(), None).await)?;
        let count = archived.len();
        Ok(Some(format!("sessions of this project that are archived now, by {limits}: {count}")))
    }

    async fn limits_from_settings(&self, io: &Io) -> Result<String, Trouble> {
        let read = Box::pin(self.setup.read_settings(io)).await?;
        let settings = render_grouped(&read.all);
        let limits = Fields::parse(&settings).ok().and_then(|fields| fields.raw("autoPersist"));
        Ok(limits.unwrap_or("{}").into())
    }

    // Archives a session unless somebody has it open, and returns whether it did.
    async fn archive_if_free(&self, io: &Io, session: &ListedSession) -> Result<bool, Trouble> {
        let place = self.setup.parse_place(&session.path, session.entry.placement);
        let Some(place) = place.filter(|_| self.find_open(&session.path).is_none()) else { return Ok(false) };
        let files = self.unopened_session(&place, "");
        files.open_files(io).await?;
        let is_free = files.holders(io).await?.is_empty();
        if is_free {
            files.refresh_and_record(io, Vec::from([ChangeRequest::from(Change::Archived)])).await?;
        }
        files.write_derived(io, true).await?;
        Ok(is_free)
    }
}

// The limits that a settings file sets.
#[cfg(feature = "interop")]
fn limit_settings(all: &[Setting]) -> Vec<&Setting> {
    if all.iter().any(|setting| setting.key == "autoPersist.enabled" && setting.value == "false") {
        return Vec::new();
    }
    let is_limit = |setting: &&Setting| {
        matches!(short_key(setting.key), "maxSessionsPerProject" | "autoArchiveAfterDays")
    };
    all.iter().filter(|setting| setting.source != SettingSource::Default).filter(is_limit).collect()
}

#[cfg(feature = "interop")]
fn short_key(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

fn to_tidy_candidate(session: &ListedSession) -> TidyCandidate {
    let ListedSession { entry, .. } = session;
    let (id, last_active) = (entry.id.clone(), entry.last_active.clone());
    TidyCandidate { id, placement: entry.placement, is_readable: entry.lifecycle.is_some(), last_active }
}

// Reads the most sessions, and their greatest age in milliseconds.
fn parse_limits(json: &str) -> Result<(u64, u64), Error> {
    let mut fields = request::parse(json, LIMIT_FIELDS)?;
    let mut thousandths = |key: &str| match fields.take_raw(key) {
        None => Ok(u64::MAX),
        Some(raw) => parse_thousandths(raw).ok_or_else(|| {
            request::error(format!("expected a number from 0 on for \"{key}\", but found {raw} instead"))
        }),
    };
    let (most, days) = (thousandths("maxSessionsPerProject")?, thousandths("autoArchiveAfterDays")?);
    Ok((most.div_ceil(1000), days.saturating_mul(DAY_MS / 1000)))
}

// Parses a JSON number into thousandths; one that is too large becomes the largest.
fn parse_thousandths(number: &str) -> Option<u64> {
    if let Some((digits, exponent)) = number.split_once(['e', 'E']) {
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit());
        return is_number.then_some(if exponent.starts_with('-') { 0 } else { u64::MAX });
    }
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let is_number =
        !whole.is_empty() && [whole, rest].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let digit = |nth: usize| rest.as_bytes().get(nth).map_or(0, |byte| u64::from(byte - b'0'));
    let whole = whole.parse().unwrap_or(u64::MAX);
    is_number.then(|| whole.saturating_mul(1000).saturating_add(digit(0) * 100 + digit(1) * 10 + digit(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn limits_are_numbers_from_0_on() {
        let read = |json: &str| parse_limits(json).map_err(|error| error.code);
        let limits = |most: &str, days: &str| {
            read(&format!(r#"{{"maxSessionsPerProject":{most},"autoArchiveAfterDays":{days}}}"#))
        };
        assert_eq!(limits("50", "30"), Ok((50, 30 * DAY_MS)));
        assert_eq!(limits("0", "0.5"), Ok((0, DAY_MS / 2)));
        assert_eq!(limits("0", "1.25"), Ok((0, DAY_MS / 4 * 5)));
        assert_eq!(limits("0", "0.125"), Ok((0, DAY_MS / 8)));
        assert_eq!(limits("2.5", "1e+21"), Ok((3, u64::MAX)));
        assert_eq!(limits("5e-7", "99999999999999999999"), Ok((0, u64::MAX)));
        assert_eq!(read("{}").map(|(most, _)| most > 1_000_000_000), Ok(true));
        for odd in ["-1", "\"1\"", "null", "true"] {
            assert_eq!(limits(odd, "1"), Err(Code::InvalidRequest), "{odd}");
        }
    }
}
