//! Sorts names as a person does.

use alloc::string::String;
use core::cmp::Ordering;

/// Compares names as a person sorts them, the same everywhere: what is neither letter nor digit comes first, then
/// numbers by their value, then letters, ignoring case. Further rules of an alphabet, such as `é` beside `e`, would
/// need its table.
pub fn compare_names(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.chars().peekable(), other.chars().peekable());
    loop {
        let (Some(a), Some(b)) = (one.peek().copied(), other.peek().copied()) else {
            return one.peek().is_some().cmp(&other.peek().is_some());
        };
        let order = if a.is_ascii_digit() && b.is_ascii_digit() {
            let number = |letters: &mut core::iter::Peekable<core::str::Chars<'_>>| {
                let mut digits = String::new();
                while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                    if digit != '0' || !digits.is_empty() {
                        digits.push(digit);
                    }
                }
                (digits.len(), digits)
            };
            number(&mut one).cmp(&number(&mut other))
        } else {
            one.next();
            other.next();
            letter_rank(a).cmp(&letter_rank(b))
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn letter_rank(letter: char) -> (u8, char) {
    let class = match letter {
        '0'..='9' => 1,
        'a'..='z' | 'A'..='Z' | '\u{80}'.. => 2,
        _ => 0,
    };
    (class, lowercase(letter))
}

// Lowercases the Latin, Greek and Cyrillic letters whose small forms lie at a fixed distance from the capitals.
fn lowercase(letter: char) -> char {
    let by = match letter {
        'A'..='Z' | 'À'..='Ö' | 'Ø'..='Þ' | 'Α'..='Ω' | 'А'..='Я' => 32,
        'Ѐ'..='Џ' => 80,
        _ => 0,
    };
    char::from_u32(letter as u32 + by).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_sorted_as_a_person_sorts_them() {
        let sorted = ["", "-a", "1 thing", "2", "10", "Äpfel", "ärzte", "Яблоко"];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|one, other| compare_names(one, other));
        assert_eq!(names, sorted);
        assert_eq!(compare_names("Part 02", "part 2"), Ordering::Equal);
        assert_eq!(compare_names("part 9", "Part 10"), Ordering::Less);
        for (large, small) in
            [("Ärzte", "ärzte"), ("Øre", "øre"), ("Ωμέγα", "ωμέγα"), ("Яблоко", "яблоко"), ("Ёлка", "ёлка")]
        {
            assert_eq!(compare_names(large, small), Ordering::Equal, "{large}");
        }
        assert_eq!(compare_names("a b", "ab"), Ordering::Less);
    }

    proptest! {
        #[test]
        fn the_order_of_names_is_one(one: String, two: String, three: String) {
            prop_assert_eq!(compare_names(&one, &two), compare_names(&two, &one).reverse());
            if compare_names(&one, &two).is_le() && compare_names(&two, &three).is_le() {
                prop_assert!(compare_names(&one, &three).is_le());
            }
            prop_assert_eq!(compare_names(&one, &format!("{one}a")), Ordering::Less);
        }
    }
}
