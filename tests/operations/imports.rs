//! Imports of agents' files, driven by a host in memory: what befalls one costs what it would have done, and the next one has it.
//! Tries: src/operation/store/import/

use std::rc::Rc;

use super::host::{Host, Meanwhile};
use super::store::{run_to_end, setup};
use leftoff::operation::{CountingMode, Operation, Store};
use serde_json::{Value, json};

const PATH: &str = "/t/one.jsonl";
/// More than one batch.
const TURNS: usize = 260;

type Begins = fn(&Rc<Store>) -> Operation<'static, String>;

/// A conversation in Claude Code, of so many turns.
fn transcript(turns: usize) -> Vec<u8> {
    let line = |turn: usize| {
        let role = if turn.is_multiple_of(2) { "user" } else { "assistant" };
        let parent = turn.checked_sub(1).map(|turn| format!("{turn}"));
        let message = json!({ "role": role, "content": format!("turn {turn}") });
        let line = json!({
            "type": role, "uuid": format!("{turn}"), "parentUuid": parent, "sessionId": "s", "cwd": "/p",
            "version": "2.1.329", "timestamp": "2026-01-01T10:00:00Z", "message": message,
        });
        format!("{line}\n")
    };
    (0..turns).map(line).collect::<String>().into_bytes()
}

fn store() -> Rc<Store> {
    Store::new(setup(None))
}

/// Each with whether a part of it was imported before.
fn operations() -> Vec<(&'static str, bool, Begins)> {
    vec![
        ("file", false, |store| {
            store.import_file(json!({ "path": PATH }).to_string(), CountingMode::Estimate)
        }),
        ("files", true, |store| {
            let files = json!({ "files": [{ "path": PATH, "size": "1", "bytes": 1 }], "tells": true });
            store.import_files(files.to_string(), CountingMode::Estimate)
        }),
        ("record", true, |store| {
            let asked = json!({ "path": PATH, "from": "claude-code", "hasCommand": true });
            store.record(asked.to_string(), CountingMode::Estimate)
        }),
    ]
}

/// The log of the one session that there is.
fn log(host: &Host) -> Option<String> {
    let logs: Vec<&String> = host.files.keys().filter(|path| path.ends_with("/messages.jsonl")).collect();
    assert!(logs.len() <= 1, "{logs:?}");
    logs.first().map(|log| log.to_string())
}

fn stored_contents(host: &Host) -> Vec<String> {
    let text = log(host).map(|log| host.text(&log)).unwrap_or_default();
    let content =
        |line: &str| Some(serde_json::from_str::<Value>(line).ok()?["content"].as_str()?.to_string());
    text.lines().filter_map(content).collect()
}

/// Whatever befell the one before: an import finds what is missing, once, and no more.
fn is_whole_then(host: &mut Host, about: &str) {
    let imports = |host: &mut Host| {
        let store = store();
        let asked = json!({ "path": PATH }).to_string();
        let answer = run_to_end(host, store.import_file(asked, CountingMode::Estimate));
        serde_json::from_str::<Value>(&answer).expect("JSON")["imported"][0]["added"].as_u64()
    };
    imports(host);
    let said = stored_contents(host);
    for turn in 0..TURNS {
        let count = said.iter().filter(|content| **content == format!("turn {turn}")).count();
        assert!(count >= 1, "{about}: turn {turn} of {said:?}");
    }
    assert_eq!(imports(host), Some(0), "{about}");
    let listed = run_to_end(host, store().list(r#"{"all":true}"#.into()));
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{about}: {listed}");
    assert!(listed[0]["messageCount"].as_u64() >= Some(TURNS as u64), "{about}: {listed}");
}

/// Does something at each step of an import into an empty store, and into one that has a part of it.
fn at_each_step(befalls: impl Fn(Option<&str>) -> Meanwhile, mut then: impl FnMut(&mut Host, &str)) {
    for (name, has_part, begins) in operations() {
        for place in 0.. {
            let mut host = Host::default();
            if has_part {
                host.files.insert(PATH.into(), (transcript(TURNS / 3), 0));
                run_to_end(&mut host, begins(&store()));
                host.files.remove("cache/imported.json");
            }
            host.files.insert(PATH.into(), (transcript(TURNS), 0));
            let mut has_befallen = false;
            let known = log(&host);
            host.drive(begins(&store()), |at| {
                has_befallen |= at == place;
                if at == place { befalls(known.as_deref()) } else { Meanwhile::Nothing }
            });
            if !has_befallen {
                break;
            }
            then(&mut host, &format!("{name}, step {place}, {has_part}"));
        }
    }
}

#[test]
fn an_import_that_fails_at_any_need_is_made_good_by_the_next() {
    at_each_step(|_| Meanwhile::Fails, is_whole_then);
}

#[test]
fn an_import_that_is_dropped_at_any_step_is_made_good_by_the_next() {
    at_each_step(|_| Meanwhile::Dropped, is_whole_then);
}

#[test]
fn what_others_append_before_any_need_of_an_import_is_there_with_it() {
    let line = "{\"id\":\"by-another\",\"role\":\"user\",\"content\":\"by another process\"}\n";
    let befalls = |log: Option<&str>| match log {
        Some(log) => Meanwhile::Others(log.into(), line.into()),
        None => Meanwhile::Nothing,
    };
    at_each_step(befalls, |host, about| {
        let said = stored_contents(host);
        assert!(
            about.ends_with("false") || said.iter().any(|content| content == "by another process"),
            "{about}"
        );
        assert!((0..TURNS).all(|turn| said.contains(&format!("turn {turn}"))), "{about}");
        is_whole_then(host, about);
    });
}

#[test]
fn an_import_says_what_came_of_it_and_how_far_it_is() {
    let mut host = Host::default();
    host.files.insert(PATH.into(), (transcript(TURNS), 0));
    let store = store();
    let files = json!({ "files": [{ "path": PATH, "size": "1", "bytes": 1000 }], "tells": true }).to_string();
    let result = run_to_end(&mut host, store.import_files(files.clone(), CountingMode::Estimate));
    let result: Value = serde_json::from_str(&result).expect("JSON");
    assert_eq!(
        (&result["imported"][0]["added"], &result["problems"], &result["unchanged"]),
        (&json!(TURNS), &json!([]), &json!(0))
    );
    let told: Vec<u64> = host
        .pages
        .iter()
        .map(|page| serde_json::from_str::<Value>(page).expect("JSON")["bytes"].as_u64().expect("a number"))
        .collect();
    assert!(
        told.len() > 2 && told.is_sorted() && told[0] == 0 && told.iter().all(|bytes| *bytes <= 1000),
        "{told:?}"
    );
    let leases: Vec<_> = host.files.keys().filter(|path| path.contains(".open/")).collect();
    assert!(leases.is_empty(), "nobody has it open: {leases:?}");
    let again = run_to_end(&mut host, store.import_files(files, CountingMode::Estimate));
    assert_eq!(again, r#"{"imported":[],"problems":[],"unchanged":1}"#);
}

// A host that keeps notes, and one whose instance ended at any of them: begun again, it comes to the same but for one file.
#[test]
fn an_import_that_is_begun_again_with_its_notes_goes_on_behind_the_file_at_which_it_ended() {
    let paths = ["/t/a.jsonl", "/t/b.jsonl", "/t/none.txt", "/t/c.jsonl"];
    let filled = || {
        let mut host = Host::default();
        for path in paths {
            let text =
                String::from_utf8(transcript(3)).expect("UTF-8").replace("\"s\"", &format!("{path:?}"));
            let text = if path.ends_with(".txt") { "nothing".into() } else { text };
            host.files.insert(path.into(), (text.into_bytes(), 0));
        }
        host
    };
    let asked = |notes: &[Value]| {
        let files = paths.map(|path| json!({ "path": path, "size": "1", "bytes": 10 }));
        json!({ "files": files, "notes": notes }).to_string()
    };
    let pages = |host: &Host| -> Vec<Value> {
        let pages = host.pages.iter().map(|page| serde_json::from_str::<Value>(page).expect("JSON"));
        pages.map(|page| page["note"].clone()).collect()
    };
    let (mut host, store) = (filled(), store());
    let whole: Value =
        serde_json::from_str(&run_to_end(&mut host, store.import_files(asked(&[]), CountingMode::Estimate)))
            .expect("JSON");
    let notes = pages(&host);
    assert_eq!((whole["imported"].as_array().map(Vec::len), notes.len()), (Some(3), 2 * paths.len()));
    for at in 0..=notes.len() {
        let (mut host, store) = (filled(), Store::new(setup(None)));
        let result = run_to_end(&mut host, store.import_files(asked(&notes[..at]), CountingMode::Estimate));
        let result: Value = serde_json::from_str(&result).expect("JSON");
        let trapped = notes[..at].last().filter(|note| note["result"].is_null()).map(|note| &note["path"]);
        let told = |key: &str, value: &Value| -> Vec<Value> {
            value[key].as_array().expect("an array").iter().map(|one| one["path"].clone()).collect()
        };
        let expected: Vec<_> =
            told("imported", &whole).into_iter().filter(|path| Some(path) != trapped).collect();
        assert_eq!(told("imported", &result), expected, "{at}");
        assert_eq!(told("problems", &result), trapped.into_iter().cloned().collect::<Vec<_>>(), "{at}");
        assert!(result["problems"].as_array().expect("an array").iter().all(|one| one["code"] == "internal"));
        assert_eq!(result["unchanged"], 0);
        // What was begun is not read again, and the file that is a problem is no file that was seen.
        assert!(
            pages(&host).iter().all(|page| !notes[..at].iter().any(|note| note["path"] == page["path"])),
            "{at}"
        );
        let again = run_to_end(&mut host, store.import_files(asked(&[]), CountingMode::Estimate));
        let again: Value = serde_json::from_str(&again).expect("JSON");
        assert_eq!(again["unchanged"], paths.len() - usize::from(trapped.is_some()), "{at}");
    }
    // Each of them that came to no end is a problem, however often it is begun again.
    let begun: Vec<Value> = notes.iter().filter(|note| note["result"].is_null()).cloned().collect();
    let (mut host, store) = (filled(), Store::new(setup(None)));
    let result = run_to_end(&mut host, store.import_files(asked(&begun), CountingMode::Estimate));
    let result: Value = serde_json::from_str(&result).expect("JSON");
    assert_eq!(
        (result["problems"].as_array().map(Vec::len), &result["imported"]),
        (Some(paths.len()), &json!([]))
    );
}

/// What a client has on record where a session is resumed in it: what was said before and behind that, each by whom.
fn resumed_transcript(before: &[(&str, &str)], text: &str, behind: &[(&str, &str)]) -> Vec<u8> {
    let said = |(role, text): &(&str, &str)| json!({ "role": role, "content": text });
    let mut messages: Vec<Value> = before.iter().map(said).collect();
    let call =
        json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "leftoff resume" } });
    let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": text });
    messages.push(said(&("user", "Resume the other one.")));
    messages.push(json!({ "role": "assistant", "content": [call] }));
    messages.push(json!({ "role": "user", "content": [result] }));
    messages.extend(behind.iter().map(said));
    let line = |(turn, message): (usize, &Value)| {
        let parent = turn.checked_sub(1).map(|turn| format!("{turn}"));
        let line = json!({
            "type": message["role"], "uuid": format!("{turn}"), "parentUuid": parent, "sessionId": "s", "cwd": "/p",
            "version": "2.1.329", "timestamp": "2026-01-01T10:00:00Z", "message": message,
        });
        format!("{line}\n")
    };
    messages.iter().enumerate().map(line).collect::<String>().into_bytes()
}

#[test]
fn what_was_said_before_a_session_was_resumed_is_the_agents_own_and_what_came_behind_goes_on_with_that() {
    let talk = [("user", "Mend the login."), ("assistant", "It is mended.")];
    let more = [("user", "Go on here."), ("assistant", "It is done.")];
    let greeting = [("assistant", "Welcome.")];
    for (before, behind, own) in [
        (&talk[..], &more[..], &["Mend the login.", "It is mended."][..]),
        (&talk, &[], &["Mend the login.", "It is mended."]),
        (&greeting, &more, &[]),
        (&[], &more, &[]),
    ] {
        let (mut host, store) = (Host::default(), store());
        let live = run_to_end(&mut host, super::store::create(&store, r#"{"title":"A plan"}"#));
        run_to_end(&mut host, live.append_messages(super::drafts("the plan")));
        let asked = json!({ "request": { "window": 4000, "encoding": "estimate-1" }, "maxBytes": 3000 });
        let resuming = run_to_end(&mut host, live.resume(asked.to_string(), CountingMode::Estimate));
        let told: Value = serde_json::from_str(&resuming).expect("JSON");
        let text = told["text"].as_str().expect("a text");
        run_to_end(&mut host, store.note_text(text.into(), live.id()));
        host.files.insert(PATH.into(), (resumed_transcript(before, text, behind), 0));
        run_to_end(&mut host, store.import_file(json!({ "path": PATH }).to_string(), CountingMode::Estimate));
        let is_log = |path: &&String| path.ends_with("/messages.jsonl");
        let (theirs, others): (Vec<_>, Vec<_>) =
            host.files.keys().filter(is_log).partition(|path| path.starts_with(&live.folder().path));
        let said = |path: &&String| -> Vec<String> {
            let content =
                |line: &str| serde_json::from_str::<Value>(line).ok()?["content"].as_str().map(String::from);
            host.text(path).lines().filter_map(content).collect()
        };
        let expected: Vec<&str> =
            ["the plan"].into_iter().chain(behind.iter().map(|(_, text)| *text)).collect();
        assert_eq!(theirs.iter().flat_map(said).collect::<Vec<_>>(), expected, "{before:?}");
        assert_eq!(others.iter().flat_map(said).collect::<Vec<_>>(), own, "{before:?}");
        assert_eq!(others.len(), usize::from(!own.is_empty()), "{before:?}");
    }
}
