//! What the user typed in Codex while a tool ran stands in the client's history alone until the tool is done; in Gemini CLI, until
//! it is known which model gets it.
//! Tries: src/operation/store/import/typed_prompts.rs, src/interop/typed_prompts.rs

use super::host::Host;
use super::store::{run_to_end, store};
use leftoff::operation::CountingMode;
use serde_json::{Value, json};

const HISTORY: &str = "/home/ann/.codex/history.jsonl";
const ID: &str = "019ca869-5000-76c2-8957-1792014b394a";

fn path(id: &str) -> String {
    format!("/home/ann/.codex/sessions/2026/03/01/rollout-2026-03-01T09-00-00-{id}.jsonl")
}

fn line(second: u32, kind: &str, payload: &Value) -> String {
    let time = format!("2026-03-01T09:{:02}:{:02}.500Z", second / 60, second % 60);
    format!("{}\n", json!({ "timestamp": time, "type": kind, "payload": payload }))
}

fn head(id: &str) -> String {
    line(0, "session_meta", &json!({ "id": id, "cwd": "/p", "cli_version": "0.171.0" }))
}

fn said(second: u32, role: &str, text: &str) -> String {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    let content = json!([{ "type": kind, "text": text }]);
    line(second, "response_item", &json!({ "type": "message", "role": role, "content": content }))
}

fn call(second: u32) -> String {
    let call = json!({ "type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c" });
    line(second, "response_item", &call)
}

fn result(second: u32) -> String {
    let result = json!({ "type": "function_call_output", "call_id": "c", "output": "done" });
    line(second, "response_item", &result)
}

/// So many seconds after nine o'clock.
fn typed(id: &str, second: u32, text: &str) -> String {
    format!("{}\n", json!({ "session_id": id, "ts": 1_772_355_600 + second, "text": text }))
}

fn put(host: &mut Host, path: &str, text: &str) {
    host.files.insert(path.into(), (text.as_bytes().to_vec(), 0));
}

fn import(host: &mut Host, id: &str) -> Value {
    let answer = run_to_end(
        host,
        store().import_file(json!({ "path": path(id) }).to_string(), CountingMode::Estimate),
    );
    serde_json::from_str(&answer).expect("JSON")
}

/// The messages of the path of the one session that there is.
fn shown(host: &mut Host) -> Vec<Value> {
    let listed = run_to_end(host, store().list(r#"{"all":true}"#.into()));
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let live = run_to_end(host, store().session(listed[0]["id"].as_str().expect("an id").into()));
    host.pages.clear();
    run_to_end(host, live.messages("{}".into()));
    let pages = std::mem::take(&mut host.pages);
    pages.iter().flat_map(|page| serde_json::from_str::<Vec<Value>>(page).expect("JSON")).collect()
}

fn texts(host: &mut Host) -> Vec<String> {
    shown(host).iter().map(|one| one["content"].as_str().unwrap_or_default().to_string()).collect()
}

/// A rollout of a client that was killed while a tool ran.
fn killed() -> String {
    [head(ID), said(5, "user", "Mend the login."), call(9)].concat()
}

#[test]
fn what_was_typed_while_a_tool_ran_is_said_last_and_once_however_often_it_is_imported() {
    let mut host = Host::default();
    put(&mut host, &path(ID), &killed());
    let history = [
        typed(ID, 5, "Mend the login."),
        typed(ID, 20, "Leave the tests alone."),
        typed("other", 21, "Something else."),
        typed(ID, 25, "/status"),
        typed(ID, 26, "!git status"),
        typed(ID, 30, "/srv/app is the folder.\nAnd push."),
    ];
    put(&mut host, HISTORY, &history.concat());
    assert_eq!(import(&mut host, ID)["imported"][0]["added"], 4);
    let first = shown(&mut host);
    let expected = ["Mend the login.", "", "Leave the tests alone.", "/srv/app is the folder.\nAnd push."];
    assert_eq!(texts(&mut host), expected);
    assert_eq!(first[2]["timestamp"], "2026-03-01T09:00:20.000Z");
    assert_eq!((&first[2]["role"], &first[2]["source"]["isQueued"]), (&json!("user"), &json!(true)));
    assert_eq!(first[3]["parentId"], first[2]["id"]);
    assert_eq!(import(&mut host, ID)["imported"][0]["added"], 0);
    // The client keeps its history short.
    put(&mut host, HISTORY, &history[1..].concat());
    assert_eq!(import(&mut host, ID)["imported"][0]["added"], 0);
    assert_eq!(shown(&mut host), first);
}

#[test]
fn what_the_client_delivers_later_is_said_once_whatever_was_imported_before() {
    let lines = [
        head(ID),
        said(5, "user", "Mend the login."),
        call(9),
        result(40),
        said(41, "user", "Leave the tests alone."),
        said(41, "user", "And push."),
        said(50, "assistant", "I do."),
        said(60, "user", "And push."),
        said(65, "assistant", "Pushed."),
    ];
    let prompts = [
        typed(ID, 5, "Mend the login."),
        typed(ID, 20, "Leave the tests alone."),
        typed(ID, 30, "And push."),
        typed(ID, 60, "And push."),
    ];
    let expected: Vec<String> = {
        let mut host = Host::default();
        put(&mut host, &path(ID), &lines.concat());
        import(&mut host, ID);
        texts(&mut host)
    };
    for known in 2..=lines.len() {
        for prompts_known in 0..=prompts.len() {
            let mut host = Host::default();
            put(&mut host, &path(ID), &lines[..known].concat());
            put(&mut host, HISTORY, &prompts[..prompts_known].concat());
            import(&mut host, ID);
            put(&mut host, &path(ID), &lines.concat());
            put(&mut host, HISTORY, &prompts.concat());
            import(&mut host, ID);
            assert_eq!(texts(&mut host), expected, "{known} lines, {prompts_known} prompts");
            assert_eq!(import(&mut host, ID)["imported"][0]["added"], 0);
        }
    }
}

#[test]
fn what_was_sent_in_other_words_or_taken_back_is_not_said_again() {
    let about = "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>";
    let wrapped = "# Context from my IDE setup:\n\n## My request for Codex:\nMend the login.";
    for (told, said_so) in [
        ("[$mend](/skills/mend) the login", "$mend the login"),
        ("Mend the login.", wrapped),
        (" Mend the login. ", "Mend the login."),
    ] {
        let mut host = Host::default();
        put(&mut host, &path(ID), &[head(ID), said(0, "user", about), said(20, "user", said_so)].concat());
        // It was sent anew once it was stopped.
        let prompts = [typed(ID, 5, "Do something else."), typed(ID, 10, told), typed(ID, 20, told)];
        put(&mut host, HISTORY, &prompts.concat());
        import(&mut host, ID);
        assert_eq!(texts(&mut host), [about, said_so]);
        put(&mut host, HISTORY, &[&prompts.concat(), "{\"session_id\":\"", ID].concat());
        assert_eq!(import(&mut host, ID)["imported"][0]["added"], 0);
    }
}

#[test]
fn a_session_of_a_client_that_may_be_at_work_is_looked_at_again_until_an_hour_has_passed() {
    let mut host = Host::default();
    let now = host.now_ms() / 1000;
    let recent =
        |ago: i64| killed().replace("2026-03-01T09:00:0", &leftoff::time::format((now - ago) * 1000)[..18]);
    put(&mut host, HISTORY, &typed("other", 1, "Hello."));
    let folder = json!({ "files": [{ "path": path(ID), "size": "1", "bytes": 1 }] });
    let unchanged = |host: &mut Host, rollout: &str| {
        put(host, &path(ID), rollout);
        let answer = run_to_end(host, store().import_files(folder.to_string(), CountingMode::Estimate));
        serde_json::from_str::<Value>(&answer).expect("JSON")["unchanged"].as_u64()
    };
    let rollout = recent(600);
    assert_eq!(unchanged(&mut host, &rollout), Some(0));
    let prompt = json!({ "session_id": ID, "ts": now - 300, "text": "And push." });
    put(&mut host, HISTORY, &format!("{prompt}\n"));
    assert_eq!(unchanged(&mut host, &rollout), Some(0));
    assert_eq!(texts(&mut host).last().map(String::as_str), Some(""), "it may be delivered yet");
}

#[test]
fn the_history_is_read_once_and_no_farther_back_than_the_sessions_began() {
    let mut host = Host::default();
    let old = "x".repeat(1000);
    let mut history: String =
        (0..8000).map(|_| typed("old", 0, &old).replace("17723556", "16723556")).collect();
    let ids: Vec<String> = (0..8).map(|last| format!("{}{last}", &ID[..35])).collect();
    ids.iter().for_each(|id| history.push_str(&typed(id, 20, "And push.")));
    put(&mut host, HISTORY, &history);
    ids.iter().for_each(|id| put(&mut host, &path(id), &killed().replace(ID, id)));
    let files: Vec<Value> =
        ids.iter().map(|id| json!({ "path": path(id), "size": "1", "bytes": 1 })).collect();
    let asked = json!({ "files": files }).to_string();
    let before = host.read;
    let answer = run_to_end(&mut host, store().import_files(asked, CountingMode::Estimate));
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert!(answer["imported"].as_array().expect("all").iter().all(|one| one["added"] == 3), "{answer}");
    assert!(host.read - before < history.len() as u64 / 2, "{} of {}", host.read - before, history.len());
}

#[test]
fn of_a_client_that_was_really_killed_the_last_prompt_is_there() {
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/typed/codex-0.171.0");
    let read = |below: &str| std::fs::read_to_string(format!("{real}/{below}")).expect("a fixture");
    let rollout =
        "sessions/2026/11/28/rollout-2026-11-28T13-49-34-01a2226b-1bcd-72c1-a6d7-8504b220d93d.jsonl";
    let path = format!("/home/ann/.codex/{rollout}");
    let mut host = Host::default();
    put(&mut host, &path, &read(rollout));
    put(&mut host, HISTORY, &read("history.jsonl"));
    let asked = json!({ "path": path }).to_string();
    run_to_end(&mut host, store().import_file(asked, CountingMode::Estimate));
    let said = shown(&mut host);
    let users = said.iter().filter(|one| one["role"] == "user" && one["source"]["isMeta"].is_null());
    let users: Vec<&str> = users.filter_map(|one| one["content"].as_str()).collect();
    assert_eq!(users[users.len() - 2..], ["prompt two", "prompt three steered"]);
    assert_eq!(said.last().expect("one")["source"]["isQueued"], true);
}

const CHAT: &str = "/home/ann/.gemini/tmp/app/chats/session-2026-03-01T09-00-019ca869.jsonl";
const LOGS: &str = "/home/ann/.gemini/tmp/app/logs.json";

fn chat(turns: &[(u32, &str, &str)]) -> String {
    let head = json!({ "sessionId": ID, "projectHash": "p", "startTime": "2026-03-01T09:00:00.000Z" });
    let turn = |(second, kind, text): &(u32, &str, &str)| {
        let time = format!("2026-03-01T09:00:{second:02}.500Z");
        let content = json!([{ "text": text }]);
        format!("{}\n", json!({ "id": time, "timestamp": time, "type": kind, "content": content }))
    };
    [format!("{head}\n"), turns.iter().map(turn).collect()].concat()
}

fn logs(prompts: &[(&str, u32, &str)]) -> String {
    let entry = |(number, (id, second, text)): (usize, &(&str, u32, &str))| {
        let time = format!("2026-03-01T09:00:{second:02}.000Z");
        json!({ "sessionId": id, "messageId": number, "type": "user", "message": text, "timestamp": time })
    };
    json!(prompts.iter().enumerate().map(entry).collect::<Vec<_>>()).to_string()
}

#[test]
fn what_gemini_did_not_send_before_it_was_killed_is_said_last() {
    let turns = [
        (5, "user", "Mend @app.js\n--- Content from referenced files ---\nlet a;"),
        (9, "gemini", "Mended."),
        (12, "user", "I ran the following shell command:\n```sh\nls\n```"),
        (21, "user", "And push."),
        (25, "gemini", "Pushed."),
    ];
    let typed = [
        (ID, 5, "Mend @app.js"),
        (ID, 10, "/stats"),
        (ID, 12, "ls"),
        ("other", 15, "Something else."),
        (ID, 20, "And push."),
    ];
    let more = |rest: &[(&'static str, u32, &'static str)]| logs(&[&typed[..], rest].concat());
    for (history, expected) in [
        (logs(&typed), &[][..]),
        (more(&[(ID, 30, "Tag it."), (ID, 31, "/quit")]), &["Tag it."]),
        // What is typed then is of a session of another id.
        (more(&[(ID, 30, "Tag it."), (ID, 31, "/clear"), (ID, 40, "A new task.")]), &["Tag it."]),
        (more(&[(ID, 30, "/resume"), (ID, 40, "An old task.")]), &[]),
        ("[{\"sessionId\":".into(), &[]),
    ] {
        let mut host = Host::default();
        put(&mut host, CHAT, &chat(&turns));
        put(&mut host, LOGS, &history);
        let asked = || json!({ "path": CHAT }).to_string();
        run_to_end(&mut host, store().import_file(asked(), CountingMode::Estimate));
        let said = texts(&mut host);
        assert_eq!(said[turns.len()..], *expected, "{history}");
        run_to_end(&mut host, store().import_file(asked(), CountingMode::Estimate));
        assert_eq!(texts(&mut host), said, "{history}");
        put(
            &mut host,
            CHAT,
            &chat(&[&turns[..], &[(32, "user", "Tag it."), (33, "gemini", "Tagged.")]].concat()),
        );
        run_to_end(&mut host, store().import_file(asked(), CountingMode::Estimate));
        assert_eq!(texts(&mut host)[turns.len()..], ["Tag it.", "Tagged."], "{history}");
    }
}

#[test]
fn what_was_typed_in_a_session_that_goes_on_in_a_second_file_is_said_once() {
    let [first, second] = ["1", "2"].map(|name| CHAT.replace("019ca869", name));
    let begun = [(5, "user", "Mend it."), (9, "gemini", "Mended.")];
    let more = [(21, "user", "And push."), (25, "gemini", "Pushed.")];
    let expected = ["Mend it.", "Mended.", "And push.", "Pushed."];
    for order in [[&first, &second, &first], [&second, &first, &second], [&first, &first, &second]] {
        let mut host = Host::default();
        put(&mut host, &first, &chat(&begun));
        put(&mut host, &second, &chat(&[begun, more].concat()));
        put(&mut host, LOGS, &logs(&[(ID, 5, "Mend it."), (ID, 20, "And push.")]));
        for path in order {
            run_to_end(
                &mut host,
                store().import_file(json!({ "path": path }).to_string(), CountingMode::Estimate),
            );
        }
        assert_eq!(texts(&mut host), expected, "{order:?}");
    }
}
