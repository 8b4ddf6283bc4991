//! Finds the sessions of a project to archive; none is deleted.

use alloc::string::String;
use alloc::vec::Vec;

use crate::layout::Placement;
use crate::time;

/// A session to consider.
#[derive(Clone, Debug)]
pub struct TidyCandidate {
    /// Its id.
    pub id: String,
    /// Its placement.
    pub placement: Placement,
    /// Whether anything of it can be read.
    pub is_readable: bool,
    /// When it was active last, RFC 3339.
    pub last_active: String,
}

/// How many sessions a project keeps, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct TidyLimits<'a> {
    /// At most so many stay, those that were active last.
    pub max_sessions: u64,
    /// Those that were inactive for more milliseconds do not stay.
    pub max_age_ms: u64,
    /// The current time.
    pub now_ms: i64,
    /// The id of the current one, which stays.
    pub current: Option<&'a str>,
}

/// Finds the positions of those to archive, in a list with the last active first. What lies in a workspace is the
/// user's, and in git: it is left alone, and so is a session of which nothing can be read.
pub fn find_too_old(listed: &[TidyCandidate], limits: &TidyLimits<'_>) -> Vec<usize> {
    let oldest = limits.now_ms.saturating_sub(i64::try_from(limits.max_age_ms).unwrap_or(i64::MAX));
    let mine =
        listed.iter().enumerate().filter(|(_, one)| one.placement == Placement::Home && one.is_readable);
    let is_old = |one: &TidyCandidate| time::parse(&one.last_active).is_some_and(|ms| ms < oldest);
    let old = mine.enumerate().filter(|(rank, (_, one))| *rank as u64 >= limits.max_sessions || is_old(one));
    old.filter(|(_, (_, one))| limits.current != Some(&one.id)).map(|(_, (place, _))| place).collect()
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60_000;
    const NOW: i64 = 1_763_812_800_000;

    fn tidy_candidate(id: usize, days: i64, placement: Placement, is_readable: bool) -> TidyCandidate {
        let last_active = time::format(NOW - days * DAY_MS as i64);
        TidyCandidate { id: format!("{id}"), placement, is_readable, last_active }
    }

    fn limits(most: u64, days: u64) -> TidyLimits<'static> {
        TidyLimits { max_sessions: most, max_age_ms: days * DAY_MS, now_ms: NOW, current: None }
    }

    #[test]
    fn too_many_and_too_long_inactive_are_archived_but_not_the_current_one() {
        let listed: Vec<_> = [0, 1, 40, 50]
            .iter()
            .enumerate()
            .map(|(id, days)| tidy_candidate(id, *days, Placement::Home, true))
            .collect();
        assert_eq!(find_too_old(&listed, &limits(50, 30)), [2, 3]);
        assert_eq!(find_too_old(&listed, &limits(1, 30)), [1, 2, 3]);
        assert_eq!(find_too_old(&listed, &TidyLimits { current: Some("2"), ..limits(0, 0) }), [0, 1, 3]);
        assert_eq!(find_too_old(&listed, &limits(4, 50)), [] as [usize; 0]);
    }

    #[test]
    fn a_time_that_is_none_makes_nothing_old() {
        let never =
            TidyCandidate { last_active: "yesterday".into(), ..tidy_candidate(0, 0, Placement::Home, true) };
        assert!(find_too_old(&[never], &limits(1, 0)).is_empty());
    }

    proptest! {
        #[test]
        fn what_is_not_the_homes_or_cannot_be_read_is_left_alone(
            kinds in prop::collection::vec((0..99_i64, any::<bool>(), any::<bool>()), 0..20), most in 0..9_u8, days in 0..99_u8,
        ) {
            let placement = |is_home| if is_home { Placement::Home } else { Placement::Workspace };
            let listed: Vec<_> = kinds.iter().enumerate().map(|(id, (days, is_home, is_readable))| tidy_candidate(id, *days, placement(*is_home), *is_readable)).collect();
            let old = find_too_old(&listed, &limits(most.into(), days.into()));
            prop_assert!(old.iter().all(|place| listed[*place].placement == Placement::Home && listed[*place].is_readable));
            let kept = listed.iter().filter(|one| one.placement == Placement::Home && one.is_readable).count() - old.len();
            prop_assert!(kept <= usize::from(most));
        }
    }
}
