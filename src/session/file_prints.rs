//! Prints of a session's files, by size and time: its line in the index holds as long as they are the same.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Longer than a filesystem's clock stands still, which is a tick of the system; microseconds.
const TICK_US: i64 = 20_000;
/// The same where only whole seconds are stored.
const SECOND_US: i64 = 1_020_000;

/// A file's size in bytes, and when anything of it changed last, in microseconds since 1970; `None` where there is no
/// file.
pub type FilePrint = Option<(u64, i64)>;

/// Writes the prints as an index line has them: sizes, and times in milliseconds.
pub fn write_prints(files: &[FilePrint]) -> String {
    let mut text = String::from("[");
    for (nth, file) in files.iter().enumerate() {
        if nth > 0 {
            text.push(',');
        }
        match file {
            None => text.push_str("null"),
            Some((size, us)) => text.extend(["[", &size.to_string(), ",", &in_ms(*us), "]"]),
        }
    }
    text.push(']');
    text
}

fn in_ms(us: i64) -> String {
    let (ms, rest) = (us.div_euclid(1000).to_string(), us.rem_euclid(1000));
    if rest == 0 {
        return ms;
    }
    let digits = (1000 + rest).to_string();
    [&ms, ".", digits[1..].trim_end_matches('0')].concat()
}

/// Whether a line was written for files like these: all of them, or where there is but one, the first. A file that
/// may not be looked at is `None`, and matches nothing.
pub fn matches_files(known: &[FilePrint], files: &[Option<FilePrint>]) -> bool {
    let is_whole = files.len() > 1 && files.len() != known.len();
    !is_whole
        && files.len() <= known.len()
        && !known.is_empty()
        && files.iter().zip(known).all(|(file, known)| *file == Some(*known))
}

/// Parses the prints of a line; `None` where it has something else.
pub fn parse_prints(written: &str) -> Option<Vec<FilePrint>> {
    let mut rest = written.strip_prefix('[')?.strip_suffix(']')?;
    let mut files = Vec::new();
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("null") {
            files.push(None);
            rest = behind;
        } else {
            let (file, behind) = rest.strip_prefix('[')?.split_once(']')?;
            let (size, ms) = file.split_once(',')?;
            files.push(Some((size.parse().ok()?, us_of(ms)?)));
            rest = behind;
        }
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    Some(files)
}

// Milliseconds, perhaps with more digits than we write.
fn us_of(ms: &str) -> Option<i64> {
    let (whole, digits) = ms.split_once('.').unwrap_or((ms, ""));
    let digit = |nth: usize| digits.as_bytes().get(nth).map_or(0, |byte| i64::from(byte.wrapping_sub(b'0')));
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let rest = digit(0) * 100 + digit(1) * 10 + digit(2) + i64::from(digit(3) >= 5);
    is_number.then_some(whole.parse::<i64>().ok()?.checked_mul(1000)? + rest)
}

/// Whether a change from now on would be seen; `looked_ms`: when the files were looked at.
pub fn is_settled(files: &[FilePrint], looked_ms: i64) -> bool {
    files.iter().flatten().all(|(_, us)| {
        let most = if us % 1_000_000 == 0 { SECOND_US } else { TICK_US };
        *us < looked_ms * 1000 - most
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn are(written: &str, files: &[Option<FilePrint>]) -> bool {
        super::matches_files(&parse_prints(written).unwrap_or_default(), files)
    }

    const NOW_US: i64 = 1_763_812_800_123_000;

    #[test]
    fn a_line_of_other_files_is_not_believed() {
        let files = [Some((12, NOW_US + 456)), None, Some((0, NOW_US))];
        let written = write_prints(&files);
        assert_eq!(written, "[[12,1763812800123.456],null,[0,1763812800123]]");
        let some = files.map(Some);
        assert!(are(&written, &some) && are(&written, &some[..1]));
        assert!(
            !are(&written, &some[..2])
                && !are(&written, &[None])
                && !are("[]", &some[..1])
                && !are("null", &[])
        );
        assert!(!are(&written, &[Some(Some((12, NOW_US + 457)))]) && !are(&written, &[Some(None)]));
        // As it was written once, with all digits that a number has.
        assert!(are("[[12,1763812800123.4558]]", &some[..1]));
    }

    #[test]
    fn what_was_changed_just_now_may_be_changed_again_and_look_the_same() {
        let looked_ms = NOW_US / 1000;
        let check = |before_us: i64, expected| {
            assert_eq!(
                is_settled(&[None, Some((1, NOW_US - before_us))], looked_ms),
                expected,
                "{before_us}"
            );
        };
        check(0, false);
        check(TICK_US, false);
        check(TICK_US + 1, true);
        check(123_000, false);
        check(1_123_000, true);
    }

    proptest! {
        #[test]
        fn what_is_written_is_believed(files in prop::collection::vec(prop::option::of((any::<u64>(), 0..1_i64 << 52)), 1..5)) {
            let some: Vec<_> = files.iter().copied().map(Some).collect();
            prop_assert!(are(&write_prints(&files), &some));
        }

        #[test]
        fn nothing_that_stands_there_panics(written: String) {
            are(&written, &[Some(None)]);
        }
    }
}
