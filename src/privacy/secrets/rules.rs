//! Finds secrets by rules: a word that has to be there, a regular expression, and the least entropy of the secret.
//!
//! A rule whose secrets begin with its word is tried around that word, from 1 KB before it to the blank behind 4 KB:
//! most texts have many words that few rules want. Trying each rule on all of a text that has its word took a quarter
//! longer.
//!
//! `regex-automata` has no lookaround: characters that may not stand beside a secret are a part of the expression, the
//! secret is a group of it, and the next search begins at the secret's end. Expressions match bytes and ASCII; blanks
//! of other scripts are plain ones by then, each byte in its place.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use once_cell::race::OnceBox;
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use regex_automata::{Input, util::syntax};

use super::hints::{Hint, Hints};
use super::random::entropy;
use super::{gitleaks, own_rules};
use crate::privacy::SecretSpan;

/// A generic key without a digit is a name, not a secret.
const GENERIC_RULE: &str = "generic-api-key";

/// The most bytes that a secret begins before the word of its rule.
const MAX_BYTES_BEFORE_WORD: usize = 1 << 10;
/// The bytes that a rule looks at behind its word; it goes on from there to the next blank.
const MAX_BYTES_AFTER_WORD: usize = 1 << 12;

/// A rule for a kind of secrets.
#[derive(Debug)]
pub(super) struct Rule {
    pub id: &'static str,
    /// The expression, of bytes and of ASCII alone: other letters are no letters to it.
    pub pattern: &'static str,
    /// The entropy that a secret exceeds, in bits a letter.
    pub entropy: f64,
    /// Words, one of which a text with the secret has, in either case; none if any text may have it.
    pub words: &'static [&'static str],
    /// True if the word stands in what is found; false if it may stand anywhere in the text.
    pub is_near: bool,
    /// The group that is the secret; by default the first group that matched, else the whole match.
    pub group: Option<usize>,
    /// Expressions that a secret must match, too.
    pub and: &'static [&'static str],
    pub except: &'static [Except],
}

/// An exception: a match that is no secret.
#[derive(Debug)]
pub(super) struct Except {
    pub patterns: &'static [&'static str],
    pub words: &'static [&'static str],
    pub of: ExceptionTarget,
}

/// The text that an exception looks at.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExceptionTarget {
    Secret,
    Match,
    Line,
}

/// All rules; each is compiled when a text may have something for it.
#[derive(Debug)]
struct Rules {
    words: AhoCorasick,
    /// The uses of each word.
    of_word: Vec<Vec<WordUse>>,
    wordless_rules: Vec<usize>,
    rules: Vec<LazyRule>,
    global_exception: OnceBox<Exception>,
}

/// The rule or the hint that a word belongs to.
#[derive(Clone, Copy, Debug)]
enum WordUse {
    Rule(usize),
    Hint(Hint),
}

#[derive(Debug)]
struct LazyRule {
    rule: &'static Rule,
    patterns: OnceBox<RulePatterns>,
}

#[derive(Debug)]
struct RulePatterns {
    pattern: Regex,
    and: Vec<Regex>,
    except: Vec<Exception>,
}

#[derive(Debug)]
struct Exception {
    patterns: Vec<Regex>,
    words: &'static [&'static str],
    of: ExceptionTarget,
}

/// Finds the secrets of a text, in the order of the rules.
pub(super) fn find_by_rules(text: &str) -> Vec<SecretSpan> {
    static RULES: OnceBox<Rules> = OnceBox::new();
    RULES.get_or_init(|| Box::new(Rules::new())).find_all(text)
}

impl Rules {
    fn new() -> Rules {
        let all: Vec<LazyRule> = gitleaks::RULES
            .iter()
            .chain(own_rules::RULES)
            .map(|rule| LazyRule { rule, patterns: OnceBox::new() })
            .collect();
        let mut of_word: BTreeMap<String, Vec<WordUse>> = BTreeMap::new();
        let mut bare = Vec::new();
        for (at, LazyRule { rule, .. }) in all.iter().enumerate() {
            for word in rule.words {
                of_word.entry((*word).into()).or_default().push(WordUse::Rule(at));
            }
            if rule.words.is_empty() {
                bare.push(at);
            }
        }
        for (word, hint) in Hint::all_with_words() {
            of_word.entry(word).or_default().push(WordUse::Hint(hint));
        }
        let mut words = AhoCorasick::builder();
        words.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        let words = words.build(of_word.keys()).expect("these words fit");
        Rules {
            words,
            of_word: of_word.into_values().collect(),
            wordless_rules: bare,
            rules: all,
            global_exception: OnceBox::new(),
        }
    }

    fn find_all(&self, text: &str) -> Vec<SecretSpan> {
        let whole = 0..text.len();
        // The ranges in which each rule may find something: most find nothing in most texts.
        let mut due: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
        due.extend(self.wordless_rules.iter().map(|at| (*at, Vec::from([whole.clone()]))));
        let mut hints = Hints::new(text);
        for word in self.words.find_overlapping_iter(text) {
            let start = word.start().saturating_sub(MAX_BYTES_BEFORE_WORD);
            let end = text.len().min(word.end() + MAX_BYTES_AFTER_WORD);
            for one in &self.of_word[word.pattern().as_usize()] {
                let at = match one {
                    WordUse::Rule(at) => at,
                    WordUse::Hint(hint) => {
                        hints.find_secret(*hint, word.range());
                        continue;
                    }
                };
                let places = due.entry(*at).or_default();
                match places.last_mut() {
                    Some(last) if end <= last.end => {}
                    Some(last) if start <= last.end => last.end = behind_blank(text, end),
                    _ if self.rules[*at].rule.is_near => places.push(start..behind_blank(text, end)),
                    _ => places.push(whole.clone()),
                }
            }
        }
        let never = self.global_exception.get_or_init(|| Box::new(Exception::new(&gitleaks::EXCEPTIONS)));
        let by_rules =
            due.into_iter().flat_map(|(at, places)| self.rules[at].find_in_places(text, places, never));
        by_rules.chain(hints.into_spans()).collect()
    }
}

impl LazyRule {
    fn find_in_places(&self, text: &str, places: Vec<Range<usize>>, never: &Exception) -> Vec<SecretSpan> {
        let mut found = Vec::new();
        for place in places {
            self.find_in_place(text, place, never, &mut found);
        }
        found
    }

    fn find_in_place(
        &self,
        text: &str,
        Range { start, end }: Range<usize>,
        never: &Exception,
        found: &mut Vec<SecretSpan>,
    ) {
        let rule = self.rule;
        let RulePatterns { pattern, and, except } =
            self.patterns.get_or_init(|| Box::new(RulePatterns::new(rule)));
        let bytes = text.as_bytes();
        let mut captures = pattern.create_captures();
        let mut at = start;
        while at <= end {
            pattern.search_captures(&Input::new(bytes).span(at..end), &mut captures);
            let Some(whole) = captures.get_match().map(|whole| whole.range()) else { break };
            let place = whole_letters(text, secret_in(&captures, rule.group).unwrap_or(whole.clone()));
            // The character behind a secret may stand before the next one, and so may a sign that ends it.
            let is_ended = !bytes[..place.end].last().is_some_and(u8::is_ascii_alphanumeric);
            at = (place.end - usize::from(is_ended)).max(whole.start + 1);
            let secret = &text[place.clone()];
            let is_random = entropy(secret) > rule.entropy
                && (rule.id != GENERIC_RULE || secret.bytes().any(|byte| byte.is_ascii_digit()))
                && and.iter().all(|one| one.is_match(secret));
            let is_excepted =
                || except.iter().chain([never]).any(|one| one.applies_to(bytes, &place, &whole));
            if is_random && !is_excepted() {
                found.push(SecretSpan { start: place.start, end: place.end, rule: rule.id.into() });
            }
        }
    }
}

impl RulePatterns {
    fn new(rule: &Rule) -> RulePatterns {
        RulePatterns {
            pattern: compile_pattern(rule.pattern),
            and: rule.and.iter().map(|pattern| compile_pattern(pattern)).collect(),
            except: rule.except.iter().map(Exception::new).collect(),
        }
    }
}

impl Exception {
    fn new(except: &Except) -> Exception {
        let patterns = except.patterns.iter().map(|pattern| compile_pattern(pattern)).collect();
        Exception { patterns, words: except.words, of: except.of }
    }

    fn applies_to(&self, text: &[u8], secret: &Range<usize>, whole: &Range<usize>) -> bool {
        let target = match self.of {
            ExceptionTarget::Secret => secret.clone(),
            ExceptionTarget::Match => whole.clone(),
            ExceptionTarget::Line => line_of(text, whole),
        };
        let small = String::from_utf8_lossy(&text[secret.clone()]).to_ascii_lowercase();
        self.patterns.iter().any(|one| one.is_match(&text[target.clone()]))
            || self.words.iter().any(|word| small.contains(word))
    }
}

/// Compiles an expression of bytes and ASCII.
pub(super) fn compile_pattern(pattern: &str) -> Regex {
    let made = Regex::builder().syntax(syntax::Config::new().unicode(false).utf8(false)).build(pattern);
    made.unwrap_or_else(|error| panic!("{error}"))
}

fn secret_in(captures: &Captures, group: Option<usize>) -> Option<Range<usize>> {
    let mut groups = captures.iter().skip(1).flatten().filter(|group| !group.is_empty());
    let found = match group {
        Some(group) => captures.get_group(group),
        None => groups.next(),
    };
    found.map(|group| group.range())
}

// The blank is included: some rules look at what follows a secret.
fn behind_blank(text: &str, at: usize) -> usize {
    let blank = text.as_bytes()[at..].iter().position(u8::is_ascii_whitespace);
    blank.map_or(text.len(), |blank| at + blank + 1)
}

// An expression of bytes may end within a character.
fn whole_letters(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

fn line_of(text: &[u8], whole: &Range<usize>) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..whole.start]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &text[whole.end..]).map_or(text.len(), |at| whole.end + at);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        for rule in gitleaks::RULES.iter().chain(own_rules::RULES) {
            RulePatterns::new(rule);
        }
        Exception::new(&gitleaks::EXCEPTIONS);
        assert!(gitleaks::RULES.len() > 200);
    }

    #[test]
    fn what_begins_or_ends_within_a_letter_has_all_of_it() {
        let text = "aü€😀.";
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for start in 0..=text.len() {
            for end in start..=text.len() {
                let first = ends.iter().rfind(|at| **at <= start).expect("the text begins");
                let last = ends.iter().find(|at| **at >= end).expect("the text ends");
                assert_eq!(whole_letters(text, start..end), *first..*last, "{start}..{end}");
            }
        }
    }

    #[test]
    fn one_secret_stands_right_behind_another() {
        let token = |last: &str| ["sq0", "csp-", "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vWxYzAbCdEfG", last].concat();
        let text = [token("1"), token("2")].join(" ");
        let found = find_by_rules(&text).into_iter().filter(|span| span.rule == "square-secret");
        assert_eq!(found.map(|span| span.start).collect::<Vec<_>>(), [0, 51]);
    }

    #[test]
    fn two_secrets_of_a_rule_are_found_however_far_apart_they_stand() {
        let mut rules = gitleaks::RULES.iter().chain(own_rules::RULES);
        let rule = rules.find(|rule| rule.id == "square-secret").expect("there is one");
        assert!(rule.is_near, "only what stands near its words is looked at");
        let token = |last: &str| ["sq0", "csp-", "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vWxYzAbCdEfG", last].concat();
        for between in [1, 20_000] {
            let text = [token("1"), "a ".repeat(between), token("2")].join(" ");
            let found = find_by_rules(&text).into_iter().filter(|span| span.rule == "square-secret");
            assert_eq!(found.count(), 2, "{between}");
        }
    }

    /// Returns the parts of a text that no rule takes.
    fn left_of(text: &str) -> String {
        let mut left: Vec<char> = text.chars().collect();
        for SecretSpan { start, end, .. } in find_by_rules(text) {
            let letters = text[..start].chars().count()..text[..end].chars().count();
            left[letters].fill('_');
        }
        left.into_iter().collect()
    }

    #[test]
    fn a_secret_is_found_wherever_the_text_around_its_word_is_cut() {
        let token = ["ABSK", &"aB3dE5fG7h".repeat(12), "+tailTAIL12tailTAIL34x"].concat();
        // The part looked at for the first word ends near the end of the secret, which belongs to the second one.
        for length in (5100..5300).step_by(7) {
            let text = alloc::format!("absk!{}!{token} end", "x".repeat(length));
            assert!(!left_of(&text).contains("tailTAIL"), "{length}");
        }
        let header =
            ["eyJ", &"a1B2".repeat(375), ".eyJ", &"c3D4".repeat(50), ".", &"e5F6g7H8".repeat(625)].concat();
        for behind in [" ", "\n", "\"", ""] {
            assert!(!left_of(&[&header, behind, "end"].concat()).contains("e5F6g7H8"), "{behind:?}");
        }
    }

    #[test]
    fn letters_are_counted_whatever_script_they_are_of() {
        let token = "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW";
        for before in ["日本語の説明".repeat(20), "x".repeat(120)] {
            let text = alloc::format!("curl {before} -H \"Authorization: Bearer {token}\" https://x.y");
            assert!(!left_of(&text).contains(token), "{before}");
        }
    }

    #[test]
    fn one_token_stands_right_behind_the_sign_that_ends_another() {
        let token =
            ["eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9", ".eyJuYW1lIjoiYW5uIiwiaWQiOjE3NjU0MzIxMH0="].concat();
        assert!(!left_of(&[&*token, &token].concat()).contains("eyJ"));
    }

    #[test]
    fn a_password_may_have_any_sign() {
        for secret in ["abcdefgHIJKLMnopqrstuvwx$9", "abcdefghijklmnopqrsTUVWX(y)1"] {
            assert!(!left_of(&["client_secret: ", secret, " there"].concat()).contains(&secret[..20]));
        }
    }

    #[test]
    fn whatever_a_line_says_is_looked_at_where_a_rule_says_so() {
        let text = "one\ntwo three\nfour";
        let line = |start, end| &text[line_of(text.as_bytes(), &(start..end))];
        assert_eq!([line(4, 7), line(0, 2), line(15, 18)], ["two three", "one", "four"]);
    }

    // Returns the rules by which something in a text is a secret, whatever is found beside them.
    fn rules(text: &str) -> Vec<String> {
        let is_rule =
            |name: &String| gitleaks::RULES.iter().chain(own_rules::RULES).any(|rule| rule.id == *name);
        find_by_rules(text).into_iter().map(|span| span.rule).filter(is_rule).collect()
    }

    #[test]
    fn letters_alone_are_a_secret_by_a_rule_of_their_own_and_none_by_the_general_one() {
        let letters = "qWmZxNbVcLkJhGfDsApOiUyTrEwQmZnXbCvL";
        assert_eq!(rules(&["gh", "p_", letters].concat()), ["github-pat"]);
        let key = |value: &str| ["api_", "key = \"", value, "\""].concat();
        assert_eq!(rules(&key(letters)), [""; 0]);
        assert_eq!(rules(&key(&letters.replace('Z', "7"))), [GENERIC_RULE]);
    }

    #[test]
    fn what_is_excepted_by_how_it_looks_or_by_a_word_alone_is_no_secret() {
        let value = "q7Xw0Lk2Zt9Bv4Ym6Rn8";
        let named = |name: &str, value: &str| [name, " = \"", value, "\""].concat();
        assert_eq!(rules(&named("api_key", value)), [GENERIC_RULE]);
        assert_eq!(rules(&named("api_version", value)), [""; 0]);
        assert_eq!(rules(&named("api_key", "014df517-39d1-4453-b7b3-9930c563627c")), [""; 0]);
    }
}
