//! Nothing of a secret that is found is in the index of what was said, and no question finds what may not leave.
//! Tries: src/operation/outgoing/index_redaction.rs, src/operation/store/recall/indexing.rs

use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leftoff::operation::{OutgoingGate, OutgoingRedactor, RedactMode, Setup, Store};

use super::host::SECRET;
use super::recalling::{World, context, find_messages, found_by, line};
use super::store::{run_to_end, setup};

/// A session, and a store that looks for secrets.
fn begin_world() -> (World, String, Rc<Store>) {
    let mut world = World::new(1);
    world.begin();
    let session = world.sessions.keys().next().cloned().expect("one was begun");
    (world, session, Store::new(Setup { redacts: true, ..setup(None) }))
}

#[test]
fn no_secret_that_is_found_is_in_the_index_of_a_store_that_looks_for_them() {
    let mut world = World::new(1);
    world.begin();
    world.begin();
    let sessions: Vec<String> = world.sessions.keys().cloned().collect();
    let filler = "lorem ".repeat(12_000);
    for session in &sessions {
        world.write(session, "a", 0, format!("the key is {SECRET} and walnut {filler}"));
    }
    let has = |world: &World| SECRET.split('-').any(|part| part.len() > 3 && world.has(part));
    // A store that looks for none has their words.
    find_messages(&mut world.host, &world.store, "walnut", r#"{"all":true}"#);
    assert!(!world.runs().is_empty() && has(&world));
    let store = Store::new(Setup { redacts: true, ..setup(None) });
    // Neither where it read what another has written, nor as it grows, nor where runs become one.
    for nth in 0..20 {
        let asked = find_messages(&mut world.host, &store, "walnut", r#"{"all":true}"#);
        assert_eq!(asked.len(), 2);
        assert!(!world.runs().is_empty() && !has(&world), "{:?} at {nth}", world.runs());
        let live = world.sessions[&sessions[0]].live.clone();
        world.write(&sessions[nth % 2], &format!("q{nth}"), 0, format!("{SECRET} {filler}"));
        world.write(&sessions[0], &format!("z{nth}"), 0, "What about the walnut?".into());
        let told = run_to_end(&mut world.host, context(&store, &live));
        assert!(told.contains("walnut") && !has(&world), "{:?} at {nth}", world.runs());
    }
}

#[test]
fn what_a_later_message_tells_to_be_a_secret_leaves_the_index_wherever_it_was_said() {
    for (later, is_asked_between) in [("", true), (&*"lorem ".repeat(12_000), true), ("", false)] {
        let mut world = World::new(1);
        world.begin();
        world.begin();
        let sessions: Vec<String> = world.sessions.keys().cloned().collect();
        let store = Store::new(Setup { redacts: true, ..setup(None) });
        // No rule knows a part of one.
        let part = &SECRET[5..17];
        let filler = "lorem ".repeat(12_000);
        for session in &sessions {
            world.write(session, "a", 0, format!("it begins with {part}, and walnut {filler}"));
        }
        if is_asked_between {
            assert_eq!(find_messages(&mut world.host, &store, part, r#"{"all":true}"#).len(), 2);
            assert!(world.has(part));
        }
        world.write(&sessions[0], "b", 0, format!("{SECRET} it was, said the falcon {later}"));
        let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Replace));
        let mut asked = |question: &str| {
            let search = store.search(question.into(), r#"{"all":true}"#.into(), &leaving);
            found_by(&mut world.host, search).into_iter().map(|(session, _)| session).collect::<Vec<_>>()
        };
        assert_eq!(asked("falcon"), [&*sessions[0]]);
        // The other session says it, too, and nobody told it that it is one.
        assert_eq!(asked(part), [&*sessions[1]]);
        assert_eq!(asked("walnut").len(), 2);
        world.write(&sessions[1], "b", 0, format!("{SECRET} it was, said the falcon"));
        let found = found_by(&mut world.host, store.search("falcon".into(), "{}".into(), &leaving));
        assert!(found.len() == 2 && !world.has(part), "{:?}", world.runs());
    }
}

#[test]
fn a_secret_that_is_encoded_is_not_in_the_index_either() {
    let (mut world, session, store) = begin_world();
    let encoded = STANDARD.encode(format!(r#"{{"token":"{SECRET}"}}"#));
    let filler = "lorem ".repeat(12_000);
    world.write(&session, "a", 0, format!("walnut {encoded} {filler}"));
    assert_eq!(find_messages(&mut world.host, &store, "walnut", r#"{"all":true}"#).len(), 1);
    assert!(world.has("walnut"));
    for part in encoded.as_bytes().windows(12) {
        let part = std::str::from_utf8(part).expect("ASCII");
        // What stands before the secret is none.
        assert!(encoded.starts_with(part) || !world.has(part), "{part}");
    }
}

#[test]
fn no_search_tells_by_what_it_finds_what_may_not_leave() {
    let mut world = World::new(1);
    world.begin();
    let session = world.sessions.keys().next().cloned().expect("one was begun");
    world.write(&session, "a", 0, format!("the key is {SECRET} and walnut"));
    let mut asked = |question: &str, request: &str, redact: RedactMode| {
        let leaving = OutgoingRedactor::new(&OutgoingGate::new(redact));
        let all = found_by(&mut world.host, world.store.search(question.into(), request.into(), &leaving));
        let one = found_by(
            &mut world.host,
            world.store.search_in(session.clone(), question.into(), request.into(), &leaving),
        );
        (all.len(), one.len())
    };
    let start = &SECRET[..9];
    for (question, request) in [
        (format!("\"{start}\""), "{}"),
        (format!("walnut \"{start}\""), "{}"),
        (format!("\"walnut\" \"{start}\""), "{}"),
        (format!("(?-i){start}."), r#"{"regex":true}"#),
        (format!("{start}.* and"), r#"{"regex":true}"#),
    ] {
        assert_eq!(asked(&question, request, RedactMode::Off), (1, 1), "{question}");
        assert_eq!(asked(&question, request, RedactMode::Report), (1, 1), "{question}");
        assert_eq!(asked(&question, request, RedactMode::Replace), (0, 0), "{question}");
    }
    for (question, request) in [("\"the key\" \"walnut\"", "{}"), ("key is .* and", r#"{"regex":true}"#)] {
        assert_eq!(asked(question, request, RedactMode::Replace), (1, 1), "{question}");
    }
}

#[test]
fn a_log_that_grows_is_looked_through_for_secrets_once() {
    let (mut world, session, store) = begin_world();
    let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Replace));
    for nth in 0..40 {
        let filler = "lorem ".repeat(5_000);
        world.write(&session, &format!("a{nth}"), 0, format!("{SECRET} {nth} walnut {filler}"));
    }
    let length = world.host.files[&world.sessions[&session].log].0.len() as u64;
    let read = |world: &mut World, question: &str| {
        let before = world.host.read;
        let search = store.search(question.into(), r#"{"limit":1}"#.into(), &leaving);
        assert_eq!(found_by(&mut world.host, search).len(), 1, "{question}");
        world.host.read - before
    };
    assert!(read(&mut world, "walnut") > length);
    assert!(read(&mut world, "walnut") < length / 2);
    world.write(&session, "b", 0, "a zephyr".into());
    // A list reads what it cannot know yet; the log is looked through for that once.
    assert!(read(&mut world, "zephyr") < 2 * length);
    assert!(read(&mut world, "walnut") < length / 2);
}

#[test]
fn a_line_that_is_not_whole_yet_costs_no_search_whatever_secret_it_has() {
    let (mut world, session, store) = begin_world();
    let filler = "lorem ".repeat(12_000);
    world.write(&session, "a", 0, format!("{} is a part, and walnut {filler}", &SECRET[5..17]));
    let log = world.sessions[&session].log.clone();
    let line = line("b", 0, &format!("{SECRET} falcon {filler}"));
    for redact in [RedactMode::Report, RedactMode::Replace] {
        let leaving = OutgoingRedactor::new(&OutgoingGate::new(redact));
        let asked = |world: &mut World, question: &str| {
            let search = store.search(question.into(), "{}".into(), &leaving);
            found_by(&mut world.host, search).len()
        };
        assert_eq!(asked(&mut world, "walnut"), 1);
        let whole = world.host.files[&log].clone();
        for cut in [line.len() / 2, line.len() - 1] {
            world.host.append(&log, &line[..cut]);
            assert_eq!(asked(&mut world, "walnut"), 1, "{redact:?} {cut}");
            world.host.append(&log, &line[cut..]);
            assert_eq!(asked(&mut world, "falcon"), 1, "{redact:?} {cut}");
            assert!(!world.has(&SECRET[5..17]));
            world.host.files.insert(log.clone(), whole.clone());
        }
    }
}
