//! The choice among outputs: a numbered menu for a model, and the parser of its answer.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use unicode_segmentation::UnicodeSegmentation;

use crate::error::Error;
use crate::json::request::error;
use crate::json::text::to_json;

/// The longest description in a menu line.
const MAX_DESCRIPTION_GRAPHEMES: usize = 100;
/// The longest part of a rejected answer that an error repeats.
const MAX_SHOWN_GRAPHEMES: usize = 80;

/// Renders the menu, one line for each output with its tool and description.
///
/// ```
/// use leftoff::outputs::choice::render_menu;
///
/// let told = [("search_code", "Found 150 matches for \"TODO\""), ("read_file", "Contents of src/main.ts (2KB)")];
/// assert_eq!(
///     render_menu(told),
///     "Available contexts:\n1. search_code: Found 150 matches for \"TODO\"\n2. read_file: Contents of src/main.ts (2KB)\n",
/// );
/// ```
pub fn render_menu<'a>(outputs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut menu = String::from("Available contexts:\n");
    for (place, (tool, about)) in outputs.into_iter().enumerate() {
        menu.push_str(&format!("{}. {}\n", place + 1, menu_line(tool, about)));
    }
    menu
}

/// Returns an output's line in the menu.
pub(crate) fn menu_line(tool: &str, about: &str) -> String {
    format!(
        "{}: {}",
        cut_graphemes(tool, MAX_DESCRIPTION_GRAPHEMES),
        cut_graphemes(about, MAX_DESCRIPTION_GRAPHEMES)
    )
}

fn cut_graphemes(text: &str, graphemes: usize) -> String {
    match text.grapheme_indices(true).nth(graphemes) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// Parses a model's answer to a menu of `count` lines: the indexes, from 0 on, in the answer's order, each once.
///
/// It accepts the forms that models use: `[1, 2]`, `1 and 2`, `2-4`, `all`, `all except 3`, `none`, a list of lines
/// that begin with numbers, with sentences around. The last list in brackets overrides all else.
///
/// # Errors
/// `invalid_request` for a number outside the menu, and for an answer that is ambiguous or has no choice.
///
/// ```
/// use leftoff::outputs::choice::parse_choice;
///
/// assert_eq!(parse_choice("I need contexts 1 and 3.", 3)?, [0, 2]);
/// assert!(parse_choice("None of them.", 3)?.is_empty());
/// assert!(parse_choice("[4]", 3).is_err());
/// # Ok::<(), leftoff::error::Error>(())
/// ```
pub fn parse_choice(answer: &str, count: usize) -> Result<Vec<usize>, Error> {
    if let Some(list) = last_list(answer) {
        return parse_places(&list, count);
    }
    let led = leading_numbers(answer);
    if led.len() > 1 {
        return parse_places(&led, count);
    }
    let unquoted = without_quotes(answer);
    let words = split_words(&unquoted);
    let numbers = parse_numbers(&words);
    let has =
        |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|one| word.eq_ignore_ascii_case(one)));
    let (all, none, without) = (has(&["all", "everything"]), has(NONE_WORDS), has(EXCEPTION_WORDS));
    match (numbers.is_empty(), all, none, without) {
        (true, true, false, false) => Ok((0..count).collect()),
        (true, false, true, false) => Ok(Vec::new()),
        (false, true, false, true) => {
            let left_out: BTreeSet<usize> = parse_places(&numbers, count)?.into_iter().collect();
            Ok((0..count).filter(|place| !left_out.contains(place)).collect())
        }
        (false, false, false, false) => parse_places(&numbers, count),
        _ => Err(unreadable_answer_error(answer, count)),
    }
}

const NONE_WORDS: &[&str] = &["none", "nothing"];
const EXCEPTION_WORDS: &[&str] = &["except", "but", "without", "not", "excluding"];
const RANGE_WORDS: &[&str] = &["-", "–", "to", "through"];

fn unreadable_answer_error(answer: &str, count: usize) -> Error {
    let shown = to_json(&cut_graphemes(answer.trim(), MAX_SHOWN_GRAPHEMES));
    error(format!("expected numbers from 1 to {count}, \"all\" or \"none\", but found {shown} instead"))
}

// Returns the indexes, each once.
fn parse_places(numbers: &[NumberRange<'_>], count: usize) -> Result<Vec<usize>, Error> {
    let place = |text: &str| {
        let number = text.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
        number.map(|number| number - 1).ok_or_else(|| {
            let known = match count {
                0 => "no number, since there is no output".into(),
                _ => format!("numbers from 1 to {count}"),
            };
            error(format!("expected {known}, but found {text} instead"))
        })
    };
    let (mut met, mut places) = (BTreeSet::new(), Vec::new());
    for (first, last) in numbers {
        let (first, last) = (place(first)?, place(last)?);
        places.extend((first..=last.max(first)).filter(|place| met.insert(*place)));
        if last < first {
            return Err(error(format!(
                "expected the smaller number first, but found {}-{}",
                first + 1,
                last + 1
            )));
        }
    }
    Ok(places)
}

/// A number, or the first and the last one of a range.
type NumberRange<'a> = (&'a str, &'a str);

// Returns the last brackets that hold only numbers, or nothing.
fn last_list(answer: &str) -> Option<Vec<NumberRange<'_>>> {
    answer.rmatch_indices('[').find_map(|(at, _)| {
        let (inside, _) = answer[at + 1..].split_once(']')?;
        let words = split_words(inside);
        let numbers = parse_numbers(&words);
        let is_list = inside
            .chars()
            .all(|c| c.is_ascii_digit() || c.is_whitespace() || matches!(c, ',' | '-' | '"' | '#'));
        is_list.then_some(numbers)
    })
}

// Returns the numbers that lines begin with, as in the menu.
fn leading_numbers(answer: &str) -> Vec<NumberRange<'_>> {
    let number = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line.trim_start_matches([' ', '\t', '-', '*', '•', '#', '(']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_led = digits > 0
            && rest[digits..].starts_with(['.', ')', ':'])
            && !rest[digits + 1..].starts_with(|c: char| c.is_ascii_digit());
        is_led.then(|| (line.len() - rest.len(), digits))
    };
    let led = |line| number(line).map(|(at, digits): (usize, usize)| &line[at..at + digits]);
    answer.lines().filter_map(led).map(|number| (number, number)).collect()
}

// Quoted text describes an output and chooses none.
fn without_quotes(answer: &str) -> String {
    let mut rest = answer;
    let mut text = String::with_capacity(answer.len());
    while let Some(at) = rest.find(['"', '`', '“']) {
        let opening = rest[at..].chars().next().unwrap_or('"');
        let closing = if opening == '“' { '”' } else { opening };
        let behind = &rest[at + opening.len_utf8()..];
        let Some(end) = behind.find(closing) else { break };
        text.push_str(&rest[..at]);
        // A quoted number is still a number.
        let quoted = &behind[..end];
        text.push_str(if quoted.bytes().all(|byte| byte.is_ascii_digit()) { quoted } else { " " });
        rest = &behind[end + closing.len_utf8()..];
    }
    text.push_str(rest);
    text
}

// Splits into words, numbers, and the dashes between them. A part with both letters and digits is neither: `2KB`,
// `v1`.
fn split_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in text.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | ';' | ':' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | '#' | '/' | '*' | '!' | '?'
            )
    }) {
        let part = part.trim_matches(['.', '\'', '’']);
        if part.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '–')) {
            let mut from = 0;
            for (at, dash) in part.match_indices(['-', '–']) {
                words.extend([&part[from..at], dash].into_iter().filter(|word| !word.is_empty()));
                from = at + dash.len();
            }
            words.extend(Some(&part[from..]).filter(|word| !word.is_empty()));
        } else {
            words.push(part);
        }
    }
    words
}

fn parse_numbers<'a>(words: &[&'a str]) -> Vec<NumberRange<'a>> {
    let is_number = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut numbers: Vec<NumberRange<'a>> = Vec::new();
    let mut places =
        words.iter().enumerate().filter(|(_, word)| is_number(word)).map(|(place, _)| place).peekable();
    while let Some(place) = places.next() {
        let is_range = words.get(place + 1).is_some_and(|word| RANGE_WORDS.contains(word))
            && places.peek() == Some(&(place + 2));
        let last = if is_range { places.next().unwrap_or(place) } else { place };
        numbers.push((words[place], words[last]));
    }
    numbers
}
