//! Suggestions for a mistyped word: the known words nearest to it.

use alloc::vec::Vec;

/// The largest distance of a suggestion; a word that differs in more letters is another word.
fn max_distance(word: &str) -> usize {
    (word.chars().count() / 3).max(1)
}

/// Returns the indexes of the known words nearest to what was typed; none if all are too far.
pub fn find_nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let mut best = Vec::new();
    let mut least = usize::MAX;
    for (place, word) in known.into_iter().enumerate() {
        let differs = distance(typed, word);
        if differs > max_distance(typed) || differs > least {
            continue;
        }
        if differs < least {
            best.clear();
        }
        least = differs;
        best.push(place);
    }
    best
}

/// Counts the letters to change, add, leave out or swap with their neighbor.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i);
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn swapped_letters_count_once() {
        let cases = [
            ("", "", 0),
            ("", "abc", 3),
            ("list", "lsit", 1),
            ("list", "last", 1),
            ("list", "lists", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
        ];
        for (a, b, expected) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn another_word_is_not_near() {
        assert_eq!(find_nearest("shwo", ["new", "show"]), [1]);
        assert!(find_nearest("xyz", ["show", "new"]).is_empty());
        assert_eq!(find_nearest("lst", ["list", "lost", "last!"]), [0, 1]);
    }

    proptest! {
        #[test]
        fn a_word_is_nearest_to_itself(words in prop::collection::vec("[a-d]{0,5}", 1..5), place: prop::sample::Index) {
            let typed = place.get(&words);
            let near = find_nearest(typed, words.iter().map(String::as_str));
            prop_assert!(!near.is_empty() && near.iter().all(|at| words[*at] == *typed));
        }

        #[test]
        fn no_way_is_shorter_than_the_straight_one(a in "[a-c]{0,6}", b in "[a-c]{0,6}") {
            let differs = distance(&a, &b);
            prop_assert_eq!(differs, distance(&b, &a));
            prop_assert_eq!(differs == 0, a == b);
            prop_assert!(differs >= a.len().abs_diff(b.len()) && differs <= a.len().max(b.len()));
        }
    }
}
