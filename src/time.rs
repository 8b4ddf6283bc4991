//! Time as an argument: nothing here reads a clock.

use alloc::format;
use alloc::string::{String, ToString};

use chrono::{DateTime, Duration, FixedOffset, SecondsFormat, Utc};
use serde::Serialize;

use crate::error::{Code, Error};
use crate::json::fields::Fields;

/// The time and the random bytes of a call, given by the host: the core has neither clock nor randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stamp {
    /// Milliseconds since 1970, UTC, in the years 0 to 9999.
    pub now_ms: i64,
    /// Minutes that local time is ahead of UTC; day folders and "yesterday" are local.
    pub offset_minutes: i32,
    /// Random bytes, new for each call; ids of stored records are made from them.
    pub entropy: [u8; 32],
}

impl Stamp {
    /// Reads `{"nowMs","offsetMinutes","entropy"}`; entropy is 64 hex digits.
    ///
    /// # Errors
    /// `invalid_request` where one of the three is missing or of another kind.
    pub fn from_json(json: &str) -> Result<Stamp, Error> {
        let bad_stamp = || {
            Error::new(
                Code::InvalidRequest,
                "expected a stamp of nowMs, offsetMinutes and 64 hex digits of entropy",
            )
        };
        let mut fields = Fields::parse(json).map_err(|_| bad_stamp())?;
        let number = |raw: Option<&str>| raw.and_then(|raw| raw.parse::<i64>().ok()).ok_or_else(bad_stamp);
        let now_ms = number(fields.take_raw("nowMs"))?;
        let offset_minutes =
            i32::try_from(number(fields.take_raw("offsetMinutes"))?).map_err(|_| bad_stamp())?;
        let hex: String = fields.take("entropy", &mut alloc::vec::Vec::new()).ok_or_else(bad_stamp)?;
        check(now_ms)?;
        let mut entropy = [0; 32];
        if hex.len() != 64 || !hex.is_ascii() {
            return Err(bad_stamp());
        }
        for (byte, digits) in entropy.iter_mut().zip(hex.as_bytes().chunks(2)) {
            let digits = core::str::from_utf8(digits).map_err(|_| bad_stamp())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| bad_stamp())?;
        }
        Ok(Stamp { now_ms, offset_minutes, entropy })
    }
}

/// Rejects a time that RFC 3339 cannot express.
///
/// # Errors
/// `invalid_request`.
pub(crate) fn check(now_ms: i64) -> Result<(), Error> {
    const WRITABLE_MS: core::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;
    if WRITABLE_MS.contains(&now_ms) {
        return Ok(());
    }
    let found =
        format!("expected a moment of the years 0 to 9999, but found {now_ms} milliseconds since 1970");
    Err(Error::new(Code::InvalidRequest, found))
}

/// Parses an RFC 3339 time to milliseconds since 1970; `None` for anything else.
pub fn parse(rfc3339: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(rfc3339).ok().map(|time| time.timestamp_millis())
}

/// Formats a time as it is stored: RFC 3339, UTC, milliseconds.
pub fn format(ms: i64) -> String {
    utc(ms).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Says how long ago a time was, as a person does: "2 hours ago", "yesterday", "on 2025-11-22".
pub fn ago(ms: i64, stamp: &Stamp) -> String {
    let passed = stamp.now_ms.saturating_sub(ms) / 1000;
    let days = local(stamp.now_ms, stamp).date_naive() - local(ms, stamp).date_naive();
    let some = |count: i64, unit: &str| format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" });
    match (passed, days.num_days()) {
        (..60, _) => String::from("just now"),
        (60..3600, _) => some(passed / 60, "minute"),
        (3600.., 0) | (3600..43200, _) => some(passed / 3600, "hour"),
        (_, 1) => String::from("yesterday"),
        (_, days @ 2..14) => some(days, "day"),
        (_, _) => format!("on {}", day(ms, stamp)),
    }
}

/// True if the text is a day of the calendar, `2025-11-22`.
pub fn is_day(day: &str) -> bool {
    parse(&[day, "T00:00:00Z"].concat()).is_some()
}

/// Returns the local day, `2025-11-22`.
pub fn day(ms: i64, stamp: &Stamp) -> String {
    local(ms, stamp).date_naive().to_string()
}

fn utc(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}

fn local(ms: i64, stamp: &Stamp) -> DateTime<FixedOffset> {
    let hours = stamp.offset_minutes.clamp(-24 * 60 + 1, 24 * 60 - 1);
    let offset = FixedOffset::east_opt(hours * 60).expect("less than a day either way");
    let floor = DateTime::<Utc>::MIN_UTC + Duration::days(2);
    let ceiling = DateTime::<Utc>::MAX_UTC - Duration::days(2);
    utc(ms).clamp(floor, ceiling).with_timezone(&offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2025-11-22T13:00:00+01:00";

    fn check(then: &str, expected: &str) {
        let stamp = Stamp { now_ms: parse(NOW).unwrap_or_default(), offset_minutes: 60, entropy: [0; 32] };
        assert_eq!(ago(parse(then).unwrap_or_default(), &stamp), expected, "{then}");
    }

    #[test]
    fn a_past_time_is_said_as_a_person_says_it() {
        check("2025-11-22T11:59:30Z", "just now");
        check("2025-11-22T11:58:30Z", "1 minute ago");
        check("2025-11-22T10:00:00Z", "2 hours ago");
        check("2025-11-21T23:30:00Z", "12 hours ago");
        check("2025-11-21T20:00:00Z", "yesterday");
        check("2025-11-20T20:00:00Z", "2 days ago");
        check("2025-01-02T23:30:00Z", "on 2025-01-03");
        check("2026-01-01T00:00:00Z", "just now");
    }

    #[test]
    fn a_day_is_one_of_the_calendars() {
        for (day, expected) in [
            ("2026-02-28", true),
            ("2024-02-29", true),
            ("2000-02-29", true),
            ("2026-02-29", false),
            ("1900-02-29", false),
            ("2026-02-31", false),
            ("2026-04-31", false),
            ("2026-13-01", false),
            ("2026-00-10", false),
            ("2026-01-00", false),
            ("2026-1-01", false),
            ("+026-01-01", false),
            ("2026-01-01T", false),
            ("", false),
        ] {
            assert_eq!(is_day(day), expected, "{day}");
        }
        // Every day of four years is accepted, and nothing else.
        let stamp = Stamp { now_ms: 0, offset_minutes: 0, entropy: [0; 32] };
        let days: alloc::collections::BTreeSet<String> =
            (0..1461).map(|nth| day(1_704_067_200_000 + nth * 86_400_000, &stamp)).collect();
        for (year, month, number) in (2024..2028)
            .flat_map(|year| (0..14).flat_map(move |month| (0..33).map(move |day| (year, month, day))))
        {
            let typed = format!("{year}-{month:02}-{number:02}");
            assert_eq!(is_day(&typed), days.contains(&typed), "{typed}");
        }
    }

    #[test]
    fn every_number_of_milliseconds_has_a_text() {
        for ms in [i64::MIN, -1, 0, i64::MAX] {
            let stamp = Stamp { now_ms: i64::MAX, offset_minutes: i32::MIN, entropy: [0; 32] };
            assert!(!format(ms).is_empty() && !ago(ms, &stamp).is_empty());
        }
        assert_eq!(format(1_763_812_800_123), "2025-11-22T12:00:00.123Z");
    }

    #[test]
    fn a_stamp_without_entropy_is_refused() {
        let good = format!(r#"{{"nowMs":5,"offsetMinutes":-60,"entropy":"{}"}}"#, "ab".repeat(32));
        assert_eq!(Stamp::from_json(&good).map(|stamp| stamp.entropy), Ok([0xab; 32]));
        for bad in
            ["", "{}", &good.replace("ab", "a"), &good.replace("ab", "zz"), &good.replace("-60", "1e9")]
        {
            assert_eq!(Stamp::from_json(bad).map_err(|e| e.code), Err(Code::InvalidRequest), "{bad}");
        }
    }
}
