//! Finds sessions by words of their titles and summaries, as typed by somebody who does not know these exactly.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::error::{Code, Error};
use crate::json::fields::{parse_items, parse_objects};
use crate::json::text::Text;

/// The texts that a session is known by: its title first, the rest in any order.
pub type SessionTexts = Vec<String>;

// The least share of a whole word's score that scattered letters must reach, since almost any long text has them.
const MIN_SCATTERED_SHARE: f64 = 0.7;
// The weight of a title, relative to a summary.
const TITLE_WEIGHT: u32 = 2;

/// Returns the indexes of the sessions that have every word, the best first; ties keep their order.
///
/// A word matches if its letters occur in order and close to each other; a capital matches only a capital. If a
/// session has all words exactly as typed, those that only resemble them are left out.
pub fn rank_by_words(words: &str, all: &[SessionTexts]) -> Vec<usize> {
    let mut matcher = Matcher::new(Config::DEFAULT);
    for kind in [AtomKind::Substring, AtomKind::Fuzzy] {
        let atoms: Vec<Atom> = words.split_whitespace().map(|word| atom(word, kind)).collect();
        let mut found: Vec<(u32, usize)> = Vec::new();
        for (place, known) in all.iter().enumerate() {
            let score = (!atoms.is_empty()).then(|| total_score(&atoms, known, &mut matcher)).flatten();
            found.extend(score.map(|score| (score, place)));
        }
        found.sort_by_key(|(score, place)| (core::cmp::Reverse(*score), *place));
        if !found.is_empty() {
            return found.into_iter().map(|(_, place)| place).collect();
        }
    }
    Vec::new()
}

/// Filters the JSON list of a store's sessions by words, the best match first.
///
/// # Errors
/// `invalid_json` if the list is not one.
///
/// ```
/// let listed = r#"[{"title":"The parser","type":"chat"},{"title":"The door","type":"chat","summary":"a parser"}]"#;
/// let found = leftoff::resume::session_match::filter_sessions("door", listed)?;
/// assert_eq!(found, r#"[{"title":"The door","type":"chat","summary":"a parser"}]"#);
/// # Ok::<(), leftoff::error::Error>(())
/// ```
pub fn filter_sessions(words: &str, listed: &str) -> Result<String, Error> {
    let message = "expected sessions as lists have them, but found something else";
    let bad = || Error::new(Code::InvalidJson, message);
    let all = parse_items(listed).ok_or_else(bad)?;
    let mut known = Vec::new();
    for one in parse_objects(listed).ok_or_else(bad)? {
        let text = |key| one.raw(key).and_then(Text::decode).map(Text::into_shown).unwrap_or_default();
        known.push(["title", "summary", "name", "type"].map(text).into());
    }
    let found: Vec<&str> = rank_by_words(words, &known).into_iter().map(|place| all[place]).collect();
    Ok(format!("[{}]", found.join(",")))
}

fn atom(word: &str, kind: AtomKind) -> Atom {
    Atom::new(word, CaseMatching::Smart, Normalization::Smart, kind, false)
}

// Adds the best score of each word; `None` if a word matches nowhere.
fn total_score(atoms: &[Atom], known: &SessionTexts, matcher: &mut Matcher) -> Option<u32> {
    let mut total = 0;
    for atom in atoms {
        let whole = score(atom, &atom.needle_text().chars().collect::<String>(), matcher)?;
        let mut best = None;
        for (place, text) in known.iter().enumerate() {
            let fits = score(atom, text, matcher)
                .filter(|score| f64::from(*score) >= MIN_SCATTERED_SHARE * f64::from(whole));
            best = best.max(fits.map(|score| if place == 0 { TITLE_WEIGHT * score } else { score }));
        }
        total += best?;
    }
    Some(total)
}

fn score(atom: &Atom, text: &str, matcher: &mut Matcher) -> Option<u32> {
    let mut chars = Vec::new();
    atom.score(Utf32Str::new(text, &mut chars), matcher).map(u32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session_texts(all: &[&[&str]]) -> Vec<SessionTexts> {
        all.iter().map(|texts| texts.iter().map(|text| (*text).into()).collect()).collect()
    }

    #[test]
    fn what_has_the_words_comes_before_what_resembles_them() {
        let all = session_texts(&[
            &["Auth Token Expiry Issue", "race condition in token refresh; the api is fine, its design too"],
            &["API Design Discussion", "REST vs GraphQL"],
            &["A pig in a pipe", "determined signals"],
        ]);
        assert_eq!(rank_by_words("api design", &all), [1, 0]);
        assert_eq!(rank_by_words("graphql", &all), [1]);
        assert_eq!(rank_by_words("apidesign", &all).first(), Some(&1));
        assert_eq!(rank_by_words("tkn expry", &all), [0]);
        assert_eq!(rank_by_words("nothing like it", &all), [0_usize; 0]);
        assert_eq!(rank_by_words("  ", &all), [0_usize; 0]);
    }

    #[test]
    fn accents_and_case_are_asked_for_by_typing_them() {
        let all = session_texts(&[&["Über Äpfel"], &["uber apfel"]]);
        assert_eq!(rank_by_words("uber", &all).len(), 2);
        assert_eq!(rank_by_words("über", &all), [0]);
        assert_eq!(rank_by_words("Uber", &all), [0]);
    }
}
