//! Single things that are stored: what names a file, what nobody knows, and what a line may hold.
//! Tries: src/record/id.rs, src/record/event.rs, src/project/hash.rs, src/layout/
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{append, stamp, text_message};
use leftoff::layout::{File, Root, SessionLocation};
use leftoff::project::hash;
use leftoff::record::blob;
use leftoff::record::event::{self, Change};
use leftoff::record::id;
use leftoff::record::message::{self, Assistant, Attachment, Message, Reasoning, Role, ToolCall};
use leftoff::record::scan::{Record, ScanItem, scan};
use leftoff::record::tool_execution;
use leftoff::session::change_request::ChangeRequest;
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::handle::Session;
use leftoff::session::new_session::NewSession;
use leftoff::tokens::Counting;
use serde_json::{Value, json};

fn record(json: &str) -> Record {
    match scan(format!("{json}\n").as_bytes()).pop() {
        Some(ScanItem::Record(record)) => record,
        other => panic!("{other:?}"),
    }
}

fn stage_message(message: Message) -> (String, usize) {
    let staged = Session::new(None)
        .stage_messages(vec![message], &stamp(1), Counting::with_vocabulary(None))
        .expect("nothing else is staged");
    (String::from_utf8(staged.bytes).expect("lines are text"), staged.blobs.len())
}

#[test]
fn a_checkpoint_is_enough_where_it_says_where_each_pinned_message_lies() {
    let pin = |session: &mut Session, ids: &[&str]| {
        let pins: Vec<Value> = ids.iter().map(|id| json!({ "type": "pin", "messageId": id })).collect();
        let asked = ChangeRequest::from_json(&Value::from(pins).to_string()).expect("pins");
        session.stage_changes(asked, &stamp(1)).expect("nothing else is staged");
        let found = session.events().commit(0).expect("the first bytes");
        session.take_events(found);
    };
    let needs_all = |before: &[&str], after: &[&str]| {
        let mut first = Session::new(None);
        pin(&mut first, before);
        let named = |id: &str| Message { id: id.into(), ..text_message(Role::User, "keep this") };
        append(&mut first, &mut Vec::new(), ["a", "b", "c"].map(named).into());
        let kept = first.checkpoint().expect("no branch").to_json();
        let known = Checkpoint::from_json(kept.as_bytes()).expect("a checkpoint");
        let mut opened = Session::new(Some(known));
        pin(&mut opened, after);
        opened.needs_whole_log()
    };
    for (before, after, expected) in [
        (&["a"][..], &["a"][..], false),
        (&["a", "b"], &["b", "a"], false),
        (&["a", "b"], &["a"], false),
        (&["a"], &["a", "b"], true),
        (&["a"], &["b"], true),
    ] {
        assert_eq!(needs_all(before, after), expected, "{before:?} {after:?}");
    }
}

#[test]
fn a_folder_is_a_sessions_place_where_all_of_its_path_says_so() {
    let home = |path: &str| SessionLocation::of(&File::new(Root::Home, path));
    let beside = |path: &str| SessionLocation::of(&File::new(Root::Workspace("/work".into()), path));
    assert!(
        matches!(home("sessions/projects/0f/session-a"), Some(SessionLocation::Home { project, id }) if project == "0f" && id == "a")
    );
    assert!(home("sessions/projects/none/session-a").is_some());
    for path in [
        "sessions/other/0f/session-a",
        "others/projects/0f/session-a",
        "sessions/projects/0F/session-a",
        "sessions/projects/../session-a",
        "sessions/projects/0f/a",
        "sessions/projects/0f/session-a/b",
        "sessions/projects/0f",
    ] {
        assert_eq!(home(path), None, "{path}");
    }
    assert!(beside("conversations/2026-03-01/001-chat/.session").is_some());
    for path in [
        "talks/2026-03-01/001-chat/.session",
        "conversations/today/001-chat/.session",
        "conversations/2026-03-01/001-chat/session",
        "conversations/2026-03-01/../.session",
        "conversations/2026-03-01/001-chat/.session/x",
    ] {
        assert_eq!(beside(path), None, "{path}");
    }
}

#[test]
fn what_a_session_begins_with_is_a_text_wherever_one_belongs() {
    for word in ["id", "type", "name", "title"] {
        for other in ["null", "7", "[]", "{}", "true"] {
            let refused = NewSession::from_json(&format!("{{\"{word}\":{other}}}")).expect_err(other);
            assert!(refused.message.contains(&format!("expected a string for \"{word}\"")), "{refused:?}");
        }
    }
}

#[test]
fn a_folder_has_one_hash_however_a_drive_is_spelled() {
    assert_eq!(hash("C:\\work\\api"), hash("c:/work/api/"));
    for (one, other) in [("Work/api", "work/api"), ("/:/api", "/api"), ("/Work", "/work"), ("C", "c")] {
        assert_ne!(hash(one), hash(other), "{one}");
    }
}

#[test]
fn a_title_says_something() {
    for title in ["", " ", "\n\t"] {
        assert!(
            ChangeRequest::from_json(&json!([{ "type": "title", "title": title }]).to_string()).is_err(),
            "{title:?}"
        );
    }
    assert!(ChangeRequest::from_json(r#"[{"type":"title","title":"A plan"}]"#).is_ok());
}

#[test]
fn parts_of_an_agent_that_are_said_together_are_all_of_it() {
    let mut log = Vec::new();
    let mut session = Session::new(None).with_id("u");
    let mut says = |asked: &Value| {
        let asked = ChangeRequest::from_json(&asked.to_string()).expect("it may be asked");
        let bytes = session.stage_changes(asked, &stamp(log.len() as u64)).expect("it may happen");
        let found = session.events().commit(log.len() as u64).expect("a batch is open");
        session.take_events(found);
        log.extend(bytes);
        let mut other = Session::new(None).with_id("u");
        let found = other.events().observe(&log, 0).expect("the first bytes");
        other.take_events(found);
        let agent = session.metadata().agent.clone();
        assert_eq!(other.metadata().agent, agent, "who reads the log");
        assert!(!String::from_utf8_lossy(&log).contains("partial"));
        agent
    };
    let agent = says(&json!([
        { "type": "agent", "agent": { "model": "n", "contextWindow": 8000 } },
        { "type": "agent", "agent": { "command": "/one" }, "partial": true },
        { "type": "agent", "tools": ["ls"], "partial": true },
    ]));
    assert_eq!((agent.model.as_deref(), agent.command.as_deref()), (Some("n"), Some("/one")));
    assert_eq!((agent.context_window, agent.tools), (Some(8000), vec!["ls".to_string()]));
    let agent = says(&json!([{ "type": "agent", "agent": { "model": "other" }, "partial": true }]));
    assert_eq!(agent.context_window, None);
}

#[test]
fn an_event_without_an_id_has_one_of_its_bytes_and_its_place() {
    let line = r#"{"type":"title","title":"A plan"}"#;
    let log = format!("{line}\n{line}\n{{\"id\":\"e\",\"type\":\"title\",\"title\":\"A plan\"}}\n");
    let ids = |log: &str| -> Vec<String> {
        let read = |found: ScanItem| match found {
            ScanItem::Record(record) => event::read(&record).0.expect("an event").id,
            other => panic!("{other:?}"),
        };
        scan(log.as_bytes()).into_iter().map(read).collect()
    };
    let found = ids(&log);
    assert!(found[0].len() == 36 && found[1].len() == 36 && found[0] != found[1], "{found:?}");
    assert_eq!(found[2], "e");
    assert_eq!(ids(&log), found);
}

#[test]
fn a_file_lies_in_a_blob_from_the_first_byte_beyond_the_limit() {
    for (bytes, blobs) in
        [(1, 0), (blob::MAX_ATTACHMENT - 1, 0), (blob::MAX_ATTACHMENT, 0), (blob::MAX_ATTACHMENT + 1, 1)]
    {
        let data = Some(STANDARD.encode(vec![7; bytes]));
        let file = Attachment { mime: "application/pdf".into(), data, ..Attachment::default() };
        let (line, found) =
            stage_message(Message { attachments: vec![file], ..text_message(Role::User, "see") });
        assert_eq!(found, blobs, "{bytes} bytes");
        assert_eq!(line.contains("\"data\":"), blobs == 0, "{bytes} bytes");
    }
}

#[test]
fn what_is_too_long_for_a_line_lies_in_a_blob_wherever_it_is_said() {
    let long = "a line of it\n".repeat(100_000);
    let call = ToolCall {
        id: "c".into(),
        name: "Write".into(),
        arguments: json!({ "content": long }).to_string().into(),
    };
    let reasoning = Reasoning { text: long.clone().into(), ..Reasoning::default() };
    let by = |assistant| Message { assistant: Some(assistant), ..text_message(Role::Assistant, "so") };
    for message in [
        text_message(Role::User, &long),
        by(Assistant { tool_calls: vec![call], ..Assistant::default() }),
        by(Assistant { reasoning: vec![reasoning], ..Assistant::default() }),
    ] {
        let (line, blobs) = stage_message(message);
        assert_eq!(blobs, 1);
        assert!(line.len() < long.len() / 2 && line.contains("a line of it"), "{}", line.len());
    }
}

#[test]
fn nothing_but_64_hex_digits_names_a_blob() {
    let path = "../".repeat(21) + "x";
    let upper = "A".repeat(64);
    let letters = "g".repeat(64);
    let long = "a".repeat(65);
    for (id, is_one) in [
        ("a".repeat(64), true),
        ("0123456789abcdef".repeat(4), true),
        (path, false),
        (upper, false),
        (letters, false),
        (long, false),
        ("a".repeat(63), false),
        (String::new(), false),
    ] {
        let large = json!({ "blob": id, "bytes": 3, "head": "h", "tail": "t" });
        let lines = [
            json!({ "v": 1, "id": "m", "role": "user", "content": large }),
            json!({ "v": 1, "id": "m", "role": "user", "content": "c", "attachments": [{ "mime": "a/b", "blob": id }] }),
        ];
        for line in lines {
            let (message, problems) = message::read(&record(&line.to_string()));
            let named = message.as_ref().map(blob::blob_ids).unwrap_or_default();
            assert_eq!(named, if is_one { vec![id.as_str()] } else { vec![] }, "{line}");
            assert_eq!(problems.is_empty(), is_one, "{line}");
        }
    }
}

#[test]
fn an_id_of_128_characters_may_be_given_and_none_longer() {
    assert!(id::check_given(&"a".repeat(128)).is_ok());
    assert!(id::check_given(&"a".repeat(129)).is_err());
}

#[test]
fn what_nobody_knows_of_a_tool_execution_is_read_and_can_be_written_again() {
    let line = json!({
        "v": 1, "id": "e", "toolCallId": "c", "tool": "t", "arguments": { "a": 1 },
        "result": { "success": true, "exitCode": 0 }, "mine": { "deep": [1, null] },
    });
    let (execution, problems) = tool_execution::read(&record(&line.to_string()));
    let execution = execution.expect("a tool execution");
    assert!(problems.is_empty(), "{problems:?}");
    let extra: Vec<(&str, &str)> = execution.extra.iter().collect();
    assert_eq!(extra, [("\"mine\"", r#"{"deep":[1,null]}"#)]);

    let mut session = Session::new(None);
    let draft = json!({ "toolCallId": "c", "tool": "t", "mine": { "deep": [1, null] } });
    let bytes = session.stage_execution(&draft.to_string(), &stamp(1)).expect("nothing else is staged");
    let written: Value = serde_json::from_slice(&bytes).expect("a line is JSON");
    assert_eq!(written["mine"], draft["mine"]);
}

#[test]
fn a_line_breaks_nowhere_whatever_is_in_a_field_that_nobody_knows() {
    // Alone, so that no other of them draws attention to the line.
    for (strange, escape) in [
        ('\u{85}', "\\u0085"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
        ('\n', "\\n"),
        ('\r', "\\r"),
    ] {
        let mut session = Session::new(None);
        let text = format!("before{strange}behind");
        let staged = session
            .stage_messages(vec![text_message(Role::User, &text)], &stamp(1), Counting::with_vocabulary(None))
            .expect("one");
        let line = String::from_utf8(staged.bytes).expect("a line is text");
        let body = line.strip_suffix('\n').expect("it ends with a line feed");
        assert!(!body.contains(strange) && body.contains(escape), "{strange:?}: {line}");
        let draft = format!(r#"{{"toolCallId":"c","tool":"t","mine":{}}}"#, json!(text));
        let line = session.stage_execution(&draft, &stamp(1)).expect("nothing else is staged");
        let line = String::from_utf8(line).expect("a line is text");
        assert!(
            !line.trim_end_matches('\n').contains(strange) && line.contains(escape),
            "{strange:?}: {line}"
        );
    }
}

#[test]
fn the_name_of_a_project_is_that_of_its_folder() {
    for (path, name) in [
        ("/home/ann/api", "api"),
        ("/home/ann/api/", "api"),
        ("C:\\work\\api", "api"),
        ("C:\\work\\api\\", "api"),
        ("api", "api"),
        ("/", ""),
    ] {
        let begin = NewSession::from_json(&json!({ "project": path }).to_string()).expect("it may begin so");
        let named =
            begin.into_changes(&stamp(1)).into_iter().find_map(|ChangeRequest { change, .. }| match change {
                Change::Created(created) => created.project.map(|project| project.name),
                _ => None,
            });
        assert_eq!(named.as_deref(), Some(name), "{path}");
    }
}

#[test]
fn each_role_is_counted_for_itself() {
    let mut session = Session::new(None);
    let mut log = Vec::new();
    for (role, times) in [(Role::System, 1), (Role::User, 2), (Role::Assistant, 4), (Role::Tool, 8)] {
        for place in 0..times {
            common::append(&mut session, &mut log, vec![text_message(role, &format!("{role:?} {place}"))]);
        }
    }
    let known = session.log_state();
    let counts = (known.user_messages, known.assistant_messages, known.tool_messages, known.messages);
    assert_eq!(counts, (2, 4, 8, 15));
}
