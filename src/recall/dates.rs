//! The times that a question names: whoever asks about a day means what was said on it, or soon after.
//!
//! | question | times |
//! |---|---|
//! | `on 8 May, 2023`, `May 8th 2023`, `2023-05-08` | that day |
//! | `in May 2023`, `in 2023` | that month, that year |
//! | `on May 8`, `in May` | of each year in which something was said |
//! | `yesterday`, `last week`, `three days ago` | by the clock of who asks |
//!
//! Months are known by their capitalized English names. A month alone needs a word such as `in` before it, else `May`
//! is no month.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveTime};

use super::english::MONTHS;
use crate::time::Stamp;

/// The first and the last second, since 1970.
pub(crate) type TimeSpan = (i64, i64);

const DAY_SECONDS: i64 = 24 * 60 * 60;
// For this many days after a time, messages may still be about it, the later the less likely.
const MAX_DAYS_AFTER: i64 = 11;

const DATE_PREPOSITIONS: [&str; 12] =
    ["in", "since", "of", "during", "until", "by", "early", "late", "mid", "last", "this", "on"];
const NUMBER_WORDS: [&str; 11] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Finds the times that a question names. `years` are those in which something was said.
pub(crate) fn find_time_spans(question: &str, years: RangeInclusive<i32>, stamp: &Stamp) -> Vec<TimeSpan> {
    let is_part = |char: char| char.is_alphanumeric() || char == '-';
    let words: Vec<&str> = question
        .split(|char| !is_part(char))
        .map(|word| word.trim_matches('-'))
        .filter(|word| !word.is_empty())
        .collect();
    let days = DateFinder { words, years, today: today(stamp) }.find_ranges();
    let offset = i64::from(stamp.offset_minutes) * 60;
    let second = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc().timestamp() - offset;
    days.into_iter().map(|(first, last)| (second(first), second(last) + DAY_SECONDS - 1)).collect()
}

/// Returns how near a session, given its first and last time, is to the named times: 1 within one, less after it.
pub(crate) fn nearness_in_time(spans: &[TimeSpan], (first, last): (u32, u32)) -> f32 {
    let (first, last) = (i64::from(first), i64::from(last));
    let near = |&(from, to): &TimeSpan| match () {
        () if last < from => 0.0,
        () if first <= to => 1.0,
        () => (1.0 - ((first - to) / DAY_SECONDS) as f32 / (MAX_DAYS_AFTER + 1) as f32).max(0.0),
    };
    spans.iter().map(near).fold(0.0, f32::max)
}

fn today(stamp: &Stamp) -> NaiveDate {
    let local = stamp.now_ms.saturating_add(i64::from(stamp.offset_minutes) * 60_000);
    DateTime::from_timestamp_millis(local).unwrap_or_default().date_naive()
}

type DayRange = (NaiveDate, NaiveDate);

struct DateFinder<'a> {
    words: Vec<&'a str>,
    years: RangeInclusive<i32>,
    today: NaiveDate,
}

impl DateFinder<'_> {
    fn find_ranges(&self) -> Vec<DayRange> {
        let mut found = Vec::new();
        for (place, word) in self.words.iter().enumerate() {
            if let Ok(day) = word.parse::<NaiveDate>() {
                found.push((day, day));
            } else if let Some(month) = MONTHS.iter().position(|name| name == word) {
                self.add_month(place, month as u32 + 1, &mut found);
            } else {
                found.extend(self.relative_range(place));
            }
        }
        if found.is_empty() {
            let is_meant = |place: &usize| *place > 0 && self.is_time_word(place - 1);
            let years = (0..self.words.len()).filter(is_meant).filter_map(|place| self.parse_year(place));
            found.extend(years.filter_map(|year| {
                Some((NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?))
            }));
        }
        found
    }

    // Reads `8 May 2023`, `8th of May`, `May 8, 2023`, `May 2023`, `in May`.
    fn add_month(&self, place: usize, month: u32, found: &mut Vec<DayRange>) {
        let is_of = |place: usize| self.words.get(place).is_some_and(|word| *word == "of");
        let before = match place.checked_sub(1) {
            Some(of) if is_of(of) => of.checked_sub(1),
            before => before,
        };
        let (mut day, mut year) =
            (before.and_then(|place| self.parse_day(place)), self.parse_year(place + 1));
        if year.is_none() {
            year = self.parse_year(place + 2);
            match self.parse_day(place + 1) {
                Some(behind) if day.is_none() => day = Some(behind),
                // The number two words on is the month's year only across its day.
                Some(_) => {}
                None => year = None,
            }
        }
        let is_alone = day.is_none() && year.is_none();
        if is_alone && !place.checked_sub(1).is_some_and(|before| self.is_time_word(before)) {
            return;
        }
        let years = year.map_or(self.years.clone(), |year| year..=year);
        found.extend(years.filter_map(|year| match day {
            Some(day) => NaiveDate::from_ymd_opt(year, month, day).map(|day| (day, day)),
            None => month_range(NaiveDate::from_ymd_opt(year, month, 1)?),
        }));
    }

    // Reads `yesterday`, `last week`, `this month`, `three days ago`.
    fn relative_range(&self, place: usize) -> Option<DayRange> {
        let today = self.today;
        let is = |place: usize, names: &[&str]| {
            self.words.get(place).is_some_and(|word| names.iter().any(|name| name.eq_ignore_ascii_case(word)))
        };
        let back = |days: u64| today.checked_sub_days(Days::new(days));
        let week = |weeks: u64| {
            let monday = back(u64::from(today.weekday().num_days_from_monday()) + 7 * weeks)?;
            Some((monday, monday.checked_add_days(Days::new(6))?))
        };
        let first = |months: u32| today.with_day(1)?.checked_sub_months(Months::new(months));
        if is(place, &["yesterday"]) {
            return back(1).map(|day| (day, day));
        }
        if is(place, &["today"]) {
            return Some((today, today));
        }
        if is(place, &["last", "this"]) {
            let ago = u32::from(is(place, &["last"]));
            return match () {
                () if is(place + 1, &["week"]) => week(ago.into()),
                () if is(place + 1, &["month"]) => month_range(first(ago)?),
                () if is(place + 1, &["year"]) => {
                    let year = today.year() - ago.cast_signed();
                    Some((NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?))
                }
                () => None,
            };
        }
        if !is(place + 2, &["ago"]) {
            return None;
        }
        let word = self.words[place].to_lowercase();
        let count = NUMBER_WORDS.iter().position(|name| *name == word).map(|count| count as u64);
        let count = count.or_else(|| word.parse().ok()).or_else(|| (word == "a").then_some(1))?;
        match () {
            () if is(place + 1, &["day", "days"]) => back(count).map(|day| (day, day)),
            () if is(place + 1, &["week", "weeks"]) => week(count),
            () if is(place + 1, &["month", "months"]) => month_range(first(u32::try_from(count).ok()?)?),
            () => None,
        }
    }

    fn is_time_word(&self, place: usize) -> bool {
        DATE_PREPOSITIONS.iter().any(|word| word.eq_ignore_ascii_case(self.words[place]))
    }

    fn parse_year(&self, place: usize) -> Option<i32> {
        let word = self.words.get(place).filter(|word| word.len() == 4)?;
        word.parse().ok().filter(|year| (1970..2100).contains(year))
    }

    fn parse_day(&self, place: usize) -> Option<u32> {
        let word = self.words.get(place)?;
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        digits.parse().ok().filter(|day| digits.len() <= 2 && (1..=31).contains(day))
    }
}

fn month_range(first: NaiveDate) -> Option<DayRange> {
    Some((first, first.checked_add_months(Months::new(1))?.pred_opt()?))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    // A Wednesday, early in the morning for the one who asks.
    const NOW: Stamp = Stamp { now_ms: 1_685_485_800_000, offset_minutes: 120, entropy: [0; 32] };

    fn check(question: &str, expected: &str) {
        let shown = |second: i64| String::from(&crate::time::format((second + 7200) * 1000)[..10]);
        let found = find_time_spans(question, 2022..=2023, &NOW);
        let found: Vec<String> =
            found.iter().map(|(from, to)| format!("{}..{}", shown(*from), shown(*to))).collect();
        assert_eq!(found.join(" "), expected, "{question}");
    }

    #[test]
    fn days_months_and_years_are_named_in_many_ways() {
        let day = "2023-05-08..2023-05-08";
        for question in
            ["on 8 May, 2023?", "May 8, 2023", "the 8th of May 2023", "May 8th 2023", "at 2023-05-08."]
        {
            check(question, day);
        }
        check("in May 2023", "2023-05-01..2023-05-31");
        check("since December 2022", "2022-12-01..2022-12-31");
        check("in 2023", "2023-01-01..2023-12-31");
        check("on May 8", "2022-05-08..2022-05-08 2023-05-08..2023-05-08");
        check("8 May", "2022-05-08..2022-05-08 2023-05-08..2023-05-08");
        check("May 2023", "2023-05-01..2023-05-31");
        check("on 8 May 9 2023", day);
        check("in May", "2022-05-01..2022-05-31 2023-05-01..2023-05-31");
    }

    #[test]
    fn what_only_looks_like_a_time_is_none() {
        for question in [
            "May BeOpen be here?",
            "may 8",
            "error 2023",
            "31 February 2023",
            "March on",
            "a week",
            "E0308",
            "",
        ] {
            check(question, "");
        }
    }

    #[test]
    fn by_the_clock_is_by_that_of_who_asks() {
        check("what broke yesterday?", "2023-05-30..2023-05-30");
        check("Today", "2023-05-31..2023-05-31");
        check("last week", "2023-05-22..2023-05-28");
        check("this month", "2023-05-01..2023-05-31");
        check("last year", "2022-01-01..2022-12-31");
        check("three days ago", "2023-05-28..2023-05-28");
        check("2 months ago", "2023-03-01..2023-03-31");
    }

    #[test]
    fn what_is_said_soon_after_a_time_is_near_it() {
        let day = [(1_000_000, 1_000_000 + DAY_SECONDS - 1)];
        let at = |days: u32| (1_000_000 + days * 86_400, 1_000_000 + days * 86_400 + 60);
        let near: Vec<f32> = [0, 1, 6, 12, 13, 40].map(|days| nearness_in_time(&day, at(days))).into();
        assert!(near[0] == 1.0 && near.is_sorted_by(|one, next| one >= next) && near[4] == 0.0, "{near:?}");
        assert!(near[3] > 0.0);
        assert_eq!(nearness_in_time(&day, (0, 999_999)), 0.0);
        assert_eq!(nearness_in_time(&[], at(0)), 0.0);
    }
}
