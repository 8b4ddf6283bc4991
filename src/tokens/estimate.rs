//! `estimate-1`: how many tokens a text has, roughly, without a vocabulary.
//!
//! One pass, whole numbers only, so that it is the same everywhere. It leans upwards: a context that is a little too
//! small serves, one that is too large is refused.

/// Quarters of a token, by class of the character and of the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Blank,
    Break,
    Sign,
    Accented,
    Script,
    Wide,
    Rare,
}

/// Estimates the tokens of a text; nothing costs nothing, anything at least one.
pub fn estimate(text: &str) -> u32 {
    let mut quarters: u64 = 0;
    let mut before = Class::Break;
    let mut run: u64 = 0;
    for c in text.chars() {
        let class = classify(c);
        run = if class == before { run + 1 } else { 1 };
        quarters += match class {
            // A word of up to six letters is one token, each further three about one more.
            Class::Letter if run == 1 => 4,
            Class::Letter if run <= 6 => 0,
            Class::Letter => u64::from(run % 3 == 1) * 4,
            Class::Digit => u64::from(run % 3 == 1) * 4,
            // A blank belongs to the word behind it, a run of them is one token.
            Class::Blank => u64::from(run == 2) * 3,
            Class::Break => u64::from(run == 1) * 2,
            Class::Sign => {
                if run == 1 {
                    3
                } else {
                    2
                }
            }
            Class::Accented => 3,
            Class::Script => 2,
            Class::Wide => 4,
            Class::Rare => 8,
        };
        before = class;
    }
    u32::try_from(quarters.div_ceil(4)).unwrap_or(u32::MAX).max(u32::from(!text.is_empty()))
}

fn classify(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        '0'..='9' => Class::Digit,
        ' ' | '\t' => Class::Blank,
        '\n' | '\r' => Class::Break,
        '\0'..='\u{7f}' => Class::Sign,
        '\u{80}'..='\u{24f}' => Class::Accented,
        '\u{370}'..='\u{1fff}' => Class::Script,
        '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}' => Class::Wide,
        '\u{2000}'..='\u{2bff}' => Class::Wide,
        _ => Class::Rare,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_costs_nothing_and_anything_costs_something() {
        assert_eq!(estimate(""), 0);
        for text in ["a", " ", "\n", "\u{0}", "é", "你", "🙂", "\u{10ffff}"] {
            assert!(estimate(text) >= 1, "{text:?}");
        }
    }
}
