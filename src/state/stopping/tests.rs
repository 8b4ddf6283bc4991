use proptest::prelude::*;

use super::phrases::PATTERNS;
use super::*;

fn check(text: &str, expected: Option<&str>) {
    assert_eq!(find_stop_phrase(text).as_deref(), expected, "{text}");
}

#[test]
fn the_words_that_say_so_are_answered() {
    check("Thanks, that works. Let’s stop here for today!", Some("Let’s stop here for today"));
    check("lte's stpo here", Some("lte's stpo here"));
    check("see you tommorrow", Some("see you tommorrow"));
    check("let's continue tommorow - I'm tired", Some("let's continue tommorow"));
    check("Done (i gotta go)", Some("i gotta go"));
    check("ＬＥＴ’Ｓ ＳＴＯＰ", Some("ＬＥＴ’Ｓ ＳＴＯＰ"));
    check("ok, so... ill go to bed...", Some("ill go to bed"));
}

#[test]
fn what_only_resembles_them_is_not() {
    for text in [
        "",
        "…",
        "stop",
        "stop the server",
        "stop the server until tomorrow",
        "all tests are done, and the docs for now",
        "enough tests for now",
        "let's stop using REST",
        "make it say \"let's stop here\" at the end",
        "rename `goodbye`",
        "```\nlet's stop here\n```",
        "“let's stop here”",
        "done for",
        "because",
        "continue",
        "I will continue with the parser",
        "monkey",
        "i need to go through the list",
    ] {
        check(text, None);
    }
    // Not closed on its line, so it is no quotation.
    check("say \"it\nlet's stop here", Some("let's stop here"));
}

#[test]
fn of_a_long_message_only_its_ends_are_looked_at() {
    let filler = "this is what it is. ".repeat(12);
    check(&[&filler, "Let's stop here. ", &filler].concat(), None);
    check(&[&filler, "Let's stop here. Thanks"].concat(), Some("Let's stop here"));
    check(&["Let's stop here. ", &filler].concat(), Some("Let's stop here"));
    check(&["let's stop because ", &"it is late ".repeat(20)].concat(), None);
}

#[test]
fn a_megabyte_is_answered_at_once() {
    for piece in [
        "ok ",
        "because ",
        "for now ",
        "and i ll continue ",
        "let's stop, ",
        "a\n",
        "\"",
        "(",
        "“",
        "`",
        ".",
        "!.",
        " - ",
        "!x",
    ] {
        let _ = find_stop_phrase(&piece.repeat(1_000_000 / piece.len()));
        let _ = find_stop_phrase(&piece.repeat(180 / piece.len()));
    }
}

// Lists every phrase of a pattern while they are few: each choice in turn, each option with and without.
fn expand_pattern(pattern: &str) -> Vec<String> {
    let (all, rest) = one_of(pattern, 0);
    assert_eq!(rest, "", "{pattern}");
    all
}

fn one_of(pattern: &str, depth: usize) -> (Vec<String>, &str) {
    let (mut all, mut rest) = sequence(pattern, depth);
    while let Some(next) = rest.strip_prefix('|') {
        let (more, behind) = sequence(next, depth);
        all.extend(more);
        rest = behind;
    }
    (all, rest)
}

fn sequence(pattern: &str, depth: usize) -> (Vec<String>, &str) {
    let (mut all, mut rest) = (Vec::from([String::new()]), pattern.trim_start());
    while !rest.is_empty() && !rest.starts_with([')', '|']) {
        let (mut ways, behind) = element(rest, depth);
        rest = behind.trim_start();
        if let Some(next) = behind.strip_prefix(['?', '*']) {
            ways.push(String::new());
            rest = next.trim_start();
        }
        // A few of many: each phrase of the longer list once, with those of the other in turn.
        let most = all.len().max(ways.len());
        all = (0..most)
            .map(|n| [all[n % all.len()].as_str(), ways[n % ways.len()].as_str()].join(" "))
            .collect();
    }
    (all, rest)
}

fn element(pattern: &str, depth: usize) -> (Vec<String>, &str) {
    if let Some(inside) = pattern.strip_prefix("&(").or_else(|| pattern.strip_prefix('(')) {
        let (ways, rest) = one_of(inside, depth);
        return (ways, rest.strip_prefix(')').expect("a group is closed"));
    }
    let (token, rest) =
        pattern.split_at(pattern.find([' ', '(', ')', '|', '?', '*']).unwrap_or(pattern.len()));
    let name = token.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
    let ways = match (token, name) {
        (_, Some(name)) => {
            let named: Vec<_> = PATTERNS.iter().filter(|(of, _)| *of == name).collect();
            assert!(named.len() == 1 && depth < 9, "{token}");
            one_of(named[0].1, depth + 1).0
        }
        ("$" | "..", _) => [String::new()].into(),
        ("_", _) => ["that"].map(String::from).into(),
        ("#", _) => ["10"].map(String::from).into(),
        _ => [token.replace('~', "sun")].into(),
    };
    (ways, rest)
}

#[test]
fn every_word_of_every_phrase_is_needed_by_some_clause() {
    for (name, pattern) in PATTERNS {
        for way in expand_pattern(pattern) {
            let words: Vec<&str> = way.split_whitespace().collect();
            let whole = ["<", name, "> $"].concat();
            // A lookahead consumes nothing, so its words appear twice.
            assert!(Matcher::new(&words).is_whole(&whole) || pattern.contains('&'), "{name}: {way}");
        }
    }
    let farewells = expand_pattern("<OPENERS> <FAREWELL> <CLOSERS>");
    assert!(farewells.len() > 30);
    for way in farewells {
        check(way.trim(), Some(way.trim()));
    }
}

proptest! {
    #[test]
    fn any_text_is_answered_with_a_part_of_it(text in "([a-z’'“”\"`.,!?()—\n -]|let's stop|bye|for now){0,30}") {
        if let Some(clause) = find_stop_phrase(&text) {
            let plain = clauses::without_quotes(&text).into_owned();
            prop_assert!(plain.contains(&clause) && clause.trim() == clause);
        }
    }

    #[test]
    fn a_word_more_in_the_middle_is_another_clause(at in 0..6_usize) {
        let words = ["let's", "wrap", "this", "up", "for", "today"];
        let mut more = words.to_vec();
        more.insert(at.max(1), "parser");
        check(&words.join(" "), Some("let's wrap this up for today"));
        check(&more.join(" "), None);
    }
}
