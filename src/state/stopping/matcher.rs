//! Matches patterns of words from all places at once, so that no clause takes long.
//!
//! A pattern is words separated by blanks. `(a|b)` is one of several, `a?` is optional, `a*` repeats any number of
//! times, `<NAME>` is another pattern, `_` any word, `..` any number of words, `#` a number, `~day` a longer word
//! with this ending, `&(a)` a lookahead for `a`, `$` the end.

use super::phrases::PATTERNS;

/// The most words of a clause.
const MAX_CLAUSE_WORDS: usize = 127;

/// Places between words, a bit for each.
type Places = u128;

pub(super) struct Matcher<'w> {
    words: &'w [&'w str],
}

impl<'w> Matcher<'w> {
    pub(super) fn new(words: &'w [&'w str]) -> Matcher<'w> {
        Matcher { words: &words[..words.len().min(MAX_CLAUSE_WORDS)] }
    }

    /// True if the pattern matches from the first word on.
    pub(super) fn is_whole(&self, pattern: &str) -> bool {
        self.match_any(pattern, 1).0 != 0
    }

    // Returns where any of the alternatives may end that begin at these places, and the pattern after them.
    fn match_any<'p>(&self, pattern: &'p str, from: Places) -> (Places, &'p str) {
        let (mut all, mut rest) = (0, pattern);
        loop {
            let (ends, behind) = self.match_sequence(rest, from);
            all |= ends;
            match behind.strip_prefix('|') {
                Some(next) => rest = next,
                None => return (all, behind),
            }
        }
    }

    fn match_sequence<'p>(&self, pattern: &'p str, from: Places) -> (Places, &'p str) {
        let (mut at, mut rest) = (from, pattern.trim_start());
        while at != 0 && !rest.is_empty() && !rest.starts_with([')', '|']) {
            let (ends, behind) = self.match_element(rest, at);
            (at, rest) = match behind.as_bytes().first() {
                Some(b'?') => (at | ends, &behind[1..]),
                Some(b'*') => (self.match_repeated(rest, at), &behind[1..]),
                _ => (ends, behind),
            };
            rest = rest.trim_start();
        }
        (at, if at == 0 { skip_sequence(rest) } else { rest })
    }

    fn match_repeated(&self, element: &str, from: Places) -> Places {
        let mut all = from;
        loop {
            let more = all | self.match_element(element, all).0;
            if more == all {
                return all;
            }
            all = more;
        }
    }

    fn match_element<'p>(&self, pattern: &'p str, from: Places) -> (Places, &'p str) {
        if let Some(inside) = pattern.strip_prefix('(') {
            let (ends, rest) = self.match_any(inside, from);
            return (ends, skip_closing(rest));
        }
        if let Some(ahead) = pattern.strip_prefix("&(") {
            let begins = |place: &usize| from >> place & 1 == 1 && self.match_any(ahead, 1 << place).0 != 0;
            let kept = (0..=self.words.len()).filter(begins).fold(0, |kept, place| kept | 1 << place);
            return (kept, skip_closing(self.match_any(ahead, 0).1));
        }
        let end = pattern.find([' ', '(', ')', '|', '?', '*']).unwrap_or(pattern.len());
        let (token, rest) = pattern.split_at(end);
        (self.match_token(token, from), rest)
    }

    fn match_token(&self, token: &str, from: Places) -> Places {
        match token {
            _ if from == 0 => 0,
            "$" => from & 1 << self.words.len(),
            // All places from the first on.
            ".." => {
                (1 << self.words.len() | ((1 << self.words.len()) - 1)) & !((from & from.wrapping_neg()) - 1)
            }
            _ => match token.strip_prefix('<').and_then(|name| name.strip_suffix('>')) {
                Some(name) => PATTERNS
                    .iter()
                    .filter(|(of, _)| *of == name)
                    .fold(0, |ends, (_, pattern)| ends | self.match_any(pattern, from).0),
                None => (0..self.words.len())
                    .filter(|place| from >> place & 1 == 1 && is_word(token, self.words[*place]))
                    .fold(0, |ends, place| ends | 2 << place),
            },
        }
    }
}

// Returns the pattern after the current alternative.
fn skip_sequence(pattern: &str) -> &str {
    let mut depth = 0_usize;
    let is_end = |byte: u8| {
        match byte {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' | b'|' => return depth == 0,
            _ => {}
        }
        false
    };
    &pattern[pattern.bytes().position(is_end).unwrap_or(pattern.len())..]
}

fn skip_closing(rest: &str) -> &str {
    rest.strip_prefix(')').unwrap_or(rest)
}

fn is_word(token: &str, word: &str) -> bool {
    match token {
        "_" => true,
        "#" => word.bytes().all(|byte| byte.is_ascii_digit()),
        _ => match token.strip_prefix('~') {
            Some(ending) => word.strip_suffix(ending).is_some_and(|head| {
                !head.is_empty() && head.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            }),
            None => token == word,
        },
    }
}
