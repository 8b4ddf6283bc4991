//! Time and chance: the one place of this host that asks for them.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{Local, Offset, TimeZone};

use crate::operation::{Failure, Trouble};
use crate::time::Stamp;

/// A store's source of time and chance. Equal ones give equal bytes on the disk.
///
/// ```
/// use std::cell::Cell;
///
/// use leftoff::fs::Clock;
/// use leftoff::operation::Trouble;
/// use leftoff::time::Stamp;
///
/// /// It is always the same moment, and chance is counted: of equal chance equal ids are made.
/// #[derive(Debug)]
/// struct FixedClock(i64, Cell<u64>);
///
/// impl Clock for FixedClock {
///     fn now_ms(&self) -> i64 {
///         self.0
///     }
///     fn stamp(&self) -> Result<Stamp, Trouble> {
///         let mut entropy = [0; 32];
///         self.1.set(self.1.get() + 1);
///         entropy[..8].copy_from_slice(&self.1.get().to_le_bytes());
///         Ok(Stamp { now_ms: self.0, offset_minutes: 0, entropy })
///     }
/// }
///
/// let clock: Box<dyn Clock> = Box::new(FixedClock(1_763_812_800_000, Cell::new(0)));
/// assert_eq!(leftoff::time::format(clock.now_ms()), "2025-11-22T12:00:00.000Z");
/// ```
pub trait Clock: Debug {
    /// Milliseconds since 1970, UTC.
    fn now_ms(&self) -> i64;

    /// The current time, with chance that no other call gets.
    ///
    /// # Errors
    /// Where the system gives no chance.
    fn stamp(&self) -> Result<Stamp, Trouble>;

    /// How much later local time is than UTC, in minutes, from which moment on, in milliseconds since 1970; none where
    /// it never changes.
    fn offset_changes(&self) -> Vec<(i64, i32)> {
        Vec::new()
    }
}

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
const YEARS_BACK: i64 = 10;

/// The machine's clock and chance.
#[derive(Debug)]
pub(super) struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        // A clock before 1970 counts as 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn stamp(&self) -> Result<Stamp, Trouble> {
        let now_ms = self.now_ms();
        let offset_minutes = local_offset(now_ms);
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).map_err(|error| {
            let (code, message) = ("storage_failed".into(), error.to_string());
            Failure { code, message, ..Failure::default() }
        })?;
        Ok(Stamp { now_ms, offset_minutes, entropy })
    }
    fn offset_changes(&self) -> Vec<(i64, i32)> {
        let now_ms = self.now_ms();
        let start = now_ms - YEARS_BACK * 366 * DAY_MS;
        let mut changes = Vec::from([(start, local_offset(start))]);
        for from in (start..now_ms).step_by(DAY_MS as usize) {
            let (mut before, mut after) = (from, from + DAY_MS);
            let offset = local_offset(after);
            if local_offset(before) == offset {
                continue;
            }
            while after - before > MINUTE_MS {
                let middle = (before + after) / 2;
                if local_offset(middle) == offset { after = middle } else { before = middle }
            }
            changes.push((after / MINUTE_MS * MINUTE_MS, offset));
        }
        changes
    }
}

fn local_offset(ms: i64) -> i32 {
    let local = Local.timestamp_millis_opt(ms).earliest();
    local.map_or(0, |time| time.offset().fix().local_minus_utc() / 60)
}
