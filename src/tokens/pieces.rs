//! Cuts a text into the pieces that become tokens, as the vocabularies' patterns do, by a scanner without a regular
//! expression. The patterns are those of tiktoken-rs, with which tests compare.

use crate::tokens::classes::{
    BLANK, CASELESS, Classes, LETTER, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UPPER,
};

/// The pattern of a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// A word ends before an uppercase letter that follows a lowercase one, and includes its contraction.
    O200k,
    /// A word is letters; a contraction is a separate piece.
    Cl100k,
}

/// A text to cut.
pub(crate) struct PieceCutter<'a> {
    pub text: &'a [u8],
    pub classes: &'a Classes,
    pub pattern: Pattern,
}

impl PieceCutter<'_> {
    /// Returns the end of the piece that begins at a byte. It has at least one byte.
    #[inline(always)]
    pub fn piece_end(&self, start: usize) -> usize {
        let (class, length) = self.class_at(start);
        let next = start + length;
        if class & NUMBER != 0 {
            return self.number_end(next);
        }
        let word = match self.pattern {
            Pattern::O200k => self.cased_word_end(start, class, next),
            Pattern::Cl100k => self.word_end(start, class, next),
        };
        if let Some(end) = word {
            return end;
        }
        if class & SPACE == 0 {
            return self.signs_end(next);
        }
        let follows = self.class_at(next).0;
        if self.text[start] == b' ' && follows & (OTHER | MARK) != 0 {
            self.signs_end(next)
        } else {
            self.blanks_end(start)
        }
    }

    #[inline(always)]
    fn class_at(&self, at: usize) -> (u8, usize) {
        self.classes.class_at(self.text, at)
    }

    #[inline(always)]
    fn run_end(&self, mut at: usize, of: u8) -> usize {
        loop {
            let (class, length) = self.class_at(at);
            if class & of == 0 {
                return at;
            }
            at += length;
        }
    }

    // `\p{N}{1,3}`, after the first digit.
    fn number_end(&self, mut at: usize) -> usize {
        for _ in 0..2 {
            let (class, length) = self.class_at(at);
            if class & NUMBER == 0 {
                break;
            }
            at += length;
        }
        at
    }

    // ` ?[^\s\p{L}\p{N}]+[\r\n/]*`, after the first character.
    fn signs_end(&self, at: usize) -> usize {
        let mut end = self.run_end(at, OTHER | MARK);
        let goes_on =
            |byte: u8| matches!(byte, b'\r' | b'\n') || (byte == b'/' && self.pattern == Pattern::O200k);
        while self.text.get(end).is_some_and(|byte| goes_on(*byte)) {
            end += 1;
        }
        end
    }

    // Ends after the last newline of the blanks; without one, before the last blank, which belongs to what follows.
    fn blanks_end(&self, start: usize) -> usize {
        let (mut end, mut last, mut newline) = (start, start, start);
        loop {
            let (class, length) = self.class_at(end);
            if class & SPACE == 0 {
                break;
            }
            last = end;
            end += length;
            if class & NEWLINE != 0 {
                newline = end;
            }
        }
        let is_last = end == self.text.len();
        if newline > start && !(is_last && self.pattern == Pattern::Cl100k) {
            newline
        } else if last > start && !is_last {
            last
        } else {
            end
        }
    }

    // `[^\r\n\p{L}\p{N}]?+\p{L}++`, or before it `'(?i:[sdmt]|ll|ve|re)`.
    #[inline(always)]
    fn word_end(&self, start: usize, class: u8, next: usize) -> Option<usize> {
        if class & LETTER != 0 {
            return Some(self.run_end(next, LETTER));
        }
        if class & NEWLINE != 0 {
            return None;
        }
        let end = self.contraction_end(start).unwrap_or_else(|| self.run_end(next, LETTER));
        (end > next).then_some(end)
    }

    // `[^\r\n\p{L}\p{N}]?U*L+(?i:'s|...)?` or else `[^\r\n\p{L}\p{N}]?U+L*(?i:'s|...)?`: U excludes lowercase letters,
    // L excludes uppercase ones, both include marks.
    #[inline(always)]
    fn cased_word_end(&self, start: usize, class: u8, next: usize) -> Option<usize> {
        let end = if class & LETTER != 0 {
            self.cased_end(start).unwrap_or_else(|upper| upper)
        } else if class & MARK != 0 {
            // A mark leads a word like any other sign, or is a word itself.
            self.cased_end(next).or_else(|_| self.cased_end(start)).ok()?
        } else if class & (OTHER | BLANK) != 0 {
            self.cased_end(next).unwrap_or_else(|upper| upper)
        } else {
            return None;
        };
        let from = if class & LETTER != 0 { start } else { next };
        (end > from || class & MARK != 0).then(|| self.contraction_end(end).unwrap_or(end))
    }

    // `U*L+`; or else, as the error, the end of `U+L*`, which has no lowercase and no caseless letter.
    #[inline(always)]
    fn cased_end(&self, start: usize) -> Result<usize, usize> {
        let mut end = start;
        let mut caseless = start;
        loop {
            let (class, length) = self.class_at(end);
            if class & LOWER != 0 {
                return Ok(self.run_end(end, LOWER | CASELESS | MARK));
            }
            if class & (UPPER | CASELESS | MARK) == 0 {
                break;
            }
            end += length;
            if class & UPPER == 0 {
                caseless = end;
            }
        }
        // L must match something, so U gives back what it took.
        if caseless > start { Ok(caseless) } else { Err(end) }
    }

    #[inline(always)]
    fn contraction_end(&self, at: usize) -> Option<usize> {
        if self.text.get(at) != Some(&b'\'') {
            return None;
        }
        let rest = &self.text[at + 1..];
        let lower = |at: usize| rest.get(at).map(u8::to_ascii_lowercase);
        match (lower(0)?, lower(1)) {
            (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
            (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => Some(at + 3),
            // The long s equals an s when case is ignored.
            (0xc5, Some(0xbf)) => Some(at + 3),
            _ => None,
        }
    }
}
