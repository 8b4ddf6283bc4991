//! VS Code's rules, each by a few changes of a chat.
//! Tries: src/interop/vscode/, src/interop/companion_files.rs

use leftoff::error::Code;
use leftoff::interop::{AgentName, Import, ImportedSession, detect, read, read_with};
use leftoff::record::message::{Message, Role, Usage};
use leftoff::record::scan::ProblemCode;
use serde_json::{Value, json};

use super::{describe_messages, fixture, flags, ids, roles};

const REAL_LOG: &str = "monaco-vscode-api/chatSessions/b9394793-20e4-4dc7-a7ec-8a39c986dc76.jsonl";
const LOG_BY_HAND: &str = "hand/chatSessions/0c8f3a9e-0000-4000-8000-000000000001.jsonl";
const TRANSCRIPT: &str = "hand/transcripts/0c8f3a9e-0000-4000-8000-000000000002.jsonl";

fn import_lines(lines: &[Value]) -> Import {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(detect(text.as_bytes()), Some(AgentName::VsCode));
    read(text.as_bytes(), "x.jsonl", None).expect("a chat")
}

fn session(lines: &[Value]) -> ImportedSession {
    let mut import = import_lines(lines);
    assert_eq!(import.problems, []);
    import.sessions.remove(0)
}

fn first_state(requests: Value) -> Value {
    json!({"kind": 0, "v": {"version": 3, "creationDate": 1000, "sessionId": "s", "responderUsername": "r", "requests": requests}})
}

fn request(id: &str, text: &str, response: Value, more: Value) -> Value {
    let mut request =
        json!({"requestId": id, "timestamp": 2000, "message": {"text": text}, "response": response});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

/// A request with its answer in words.
fn asked(id: &str, text: &str) -> Value {
    request(id, text, json!([{"value": format!("{text}!")}]), json!({"modelState": {"value": 1}}))
}

fn push(at: Option<usize>, values: Value) -> Value {
    let mut change = json!({"kind": 2, "k": ["requests"], "v": values});
    if let Some(at) = at {
        change["i"] = at.into();
    }
    change
}

/// What was said, off and on the path.
fn said(session: &ImportedSession) -> Vec<String> {
    describe_messages(session)
}

#[test]
fn a_real_log_reads_as_it_was_held() {
    let session = read(&fixture(AgentName::VsCode, REAL_LOG), "x", None).unwrap().sessions.remove(0);
    assert_eq!(session.source_id, "b9394793-20e4-4dc7-a7ec-8a39c986dc76");
    assert_eq!((roles(&session.messages).as_str(), session.model.as_deref()), ("uauauaua", Some("toto")));
    assert_eq!((session.created_ms, session.title.as_deref()), (Some(1_771_433_702_512), None));
    let last = &session.messages[6..];
    assert_eq!((last[0].content.as_str(), last[1].content.as_str()), ("lol", "Here's your changes!"));
    assert_eq!(last[0].attachments[0].path.as_deref(), Some("/workspace/test.md"));
    let times: Vec<&str> = last.iter().filter_map(|message| message.timestamp.as_deref()).collect();
    assert_eq!(times, ["2026-02-18T17:03:12.308Z", "2026-02-18T17:03:13.383Z"]);
}

#[test]
fn rounds_say_what_the_model_was_given_and_the_response_how_a_command_ended() {
    let session = read(&fixture(AgentName::VsCode, LOG_BY_HAND), "x", None).unwrap().sessions.remove(0);
    assert_eq!(session.title.as_deref(), Some("A failing test"));
    let [asked, ran, test, file, summary, answer, ..] = &session.messages[..] else { panic!("six") };
    let attached: Vec<_> = asked
        .attachments
        .iter()
        .map(|file| (&*file.mime, file.path.as_deref(), file.data.as_deref()))
        .collect();
    assert_eq!(
        attached,
        [
            ("", Some("/home/dev/project/a.ts"), None),
            ("image/png", None, Some("iVBORw0KGgo=")),
            ("text/plain", None, Some("Y29uc3QgYSA9IDE7")),
        ]
    );
    let calls: Vec<_> = ran.tool_calls().iter().map(|call| (&*call.name, call.arguments.as_str())).collect();
    assert_eq!(
        calls,
        [("run_in_terminal", r#"{"command": "make test"}"#), ("read_file", r#"{"filePath": "a.ts"}"#)]
    );
    let assistant = ran.assistant.as_ref().unwrap();
    let thought = &assistant.reasoning[0];
    assert_eq!((thought.text.as_str(), thought.data.as_deref()), ("First the test.", Some("b3BhcXVl")));
    assert_eq!(assistant.model.as_deref(), Some("gpt-5-mini"));
    let tool = test.tool.as_ref().unwrap();
    assert_eq!(
        (test.content.as_str(), tool.exit_code, &*tool.name),
        ("1 failed", Some(2), "run_in_terminal")
    );
    assert_eq!(file.content.as_str(), "File: a.ts\n(empty)");
    assert_eq!(
        (summary.content.as_str(), &*flags(summary)),
        ("The test fails.", "\"isCompactSummary\":true ")
    );
    assert_eq!(answer.content.as_str(), "It fails as `a.ts` is empty.");
    let usage = Usage { input: Some(1200), output: Some(40), ..Usage::default() };
    assert_eq!(answer.assistant.as_ref().unwrap().usage, Some(usage));
    assert_eq!(answer.timestamp.as_deref(), Some("2026-01-15T18:00:05.000Z"));
}

#[test]
fn a_response_without_rounds_has_the_calls_as_they_were_displayed() {
    let session = read(&fixture(AgentName::VsCode, LOG_BY_HAND), "x", None).unwrap().sessions.remove(0);
    let messages = &session.messages[8..];
    assert_eq!(roles(messages), "uattta");
    let calls: Vec<_> =
        messages[1].tool_calls().iter().map(|call| (&*call.id, call.arguments.as_str())).collect();
    let look = r#"{"description":"look","agentName":"helper","prompt":"Look around"}"#;
    assert_eq!(calls, [("s1", look), ("m1", r#"{"q":1}"#), ("d1", r#"{"command":"rm x"}"#)]);
    let results: Vec<_> = messages[2..5]
        .iter()
        .map(|message| {
            let tool = message.tool.as_ref().unwrap();
            (message.content.as_str(), tool.is_error, tool.not_run)
        })
        .collect();
    assert_eq!(
        results,
        [("Nothing there.", false, false), ("no table", true, false), ("Ran it", true, true)]
    );
}

#[test]
fn a_request_that_was_removed_is_a_branch_and_so_is_one_that_is_hidden() {
    let lines = [
        first_state(json!([asked("1", "one")])),
        push(None, json!([asked("2", "two")])),
        push(Some(1), json!([asked("3", "three")])),
    ];
    assert_eq!(said(&session(&lines)), ["u one", "a one!", "u two", "a two!", "!u three", "a three!"]);
    let note = "!u [What was said after this was taken back.]";
    assert_eq!(
        said(&session(&[&lines[..2], &[push(Some(1), Value::Null)]].concat())),
        ["u one", "a one!", "u two", "a two!", note]
    );
    let hide = json!({"kind": 1, "k": ["requests", 1, "shouldBeRemovedOnSend"], "v": {"requestId": "2"}});
    assert_eq!(
        said(&session(&[&lines[..2], &[hide]].concat())),
        ["u one", "a one!", "u two", "a two!", note]
    );
    // What comes again is the same request.
    let again =
        session(&[&lines[..2], &[push(Some(1), json!([asked("2", "two"), asked("4", "four")]))]].concat());
    assert_eq!(said(&again), ["u one", "a one!", "u two", "a two!", "u four", "a four!"]);
    let all = [first_state(json!([asked("1", "one")])), push(Some(0), json!([]))];
    let text: String = all.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(read(text.as_bytes(), "x", None).unwrap_err().code, Code::EmptyFile);
}

#[test]
fn an_answer_that_has_not_ended_is_marked_and_comes_later_under_other_ids() {
    let call = json!({"kind": "toolInvocationSerialized", "toolCallId": "c", "toolId": "t", "isComplete": true,
        "isConfirmed": {"type": 1}, "pastTenseMessage": "Read a"});
    let waits =
        json!([request("1", "go", json!([{"value": "I look."}, call]), json!({"modelState": {"value": 0}}))]);
    let rounds = json!([
        {"id": "r", "response": "I look.", "toolCalls": [{"id": "m", "name": "read", "arguments": "{}"}]},
        {"id": "q", "response": "Seen.", "toolCalls": []},
    ]);
    let result = json!({"metadata": {"toolCallRounds": rounds, "toolCallResults": {"m": {"content": [{"value": "all"}]}}}});
    let begun = session(&[first_state(waits.clone())]);
    let ended =
        session(&[first_state(waits), json!({"kind": 1, "k": ["requests", 0, "result"], "v": result})]);
    assert_eq!(said(&begun), ["u go", "a I look.", "t Read a"]);
    assert_eq!(said(&ended), ["u go", "a I look.", "t all", "a Seen."]);
    assert_eq!(ids(&begun)[0], ids(&ended)[0]);
    assert!(ids(&begun)[1..].iter().all(|id| !ids(&ended).contains(id)));
    let marks = |session: &ImportedSession| session.messages[1..].iter().map(flags).collect::<Vec<_>>();
    assert_eq!(marks(&begun), ["\"isPending\":true "; 2]);
    assert_eq!(marks(&ended), [""; 3]);
}

#[test]
fn an_answer_that_was_cut_is_partial_and_its_last_words_are_kept() {
    let shown = json!([{"value": "First."}, {"kind": "toolInvocationSerialized", "toolCallId": "c", "toolId": "t", "isComplete": true}, {"value": "Then the"}]);
    let rounds = json!([{"id": "r", "response": "First.", "toolCalls": [{"id": "c", "name": "t", "arguments": "{}"}]}]);
    let check = |state: Value, with_rounds: bool| {
        let mut more =
            json!({"modelState": state, "result": {"errorDetails": {"code": "canceled"}, "metadata": {}}});
        if with_rounds {
            more["result"]["metadata"]["toolCallRounds"] = rounds.clone();
            more["result"]["metadata"]["toolCallResults"] = json!({"c": {"content": [{"value": "ok"}]}});
        }
        session(&[first_state(json!([request("1", "go", shown.clone(), more)]))])
    };
    for (state, with_rounds) in [(2, true), (3, true), (2, false)] {
        let session = check(json!({"value": state}), with_rounds);
        let answers: Vec<&Message> =
            session.messages.iter().filter(|message| message.role == Some(Role::Assistant)).collect();
        let told: Vec<(&str, bool)> =
            answers.iter().map(|answer| (answer.content.as_str(), answer.partial)).collect();
        assert_eq!(told, [("First.", false), ("Then the", true)], "{state} {with_rounds}");
    }
    // What the rounds have is not said again.
    let whole = json!({"isCanceled": true, "result": {"metadata": {"toolCallRounds": [{"id": "r", "response": "Done.", "toolCalls": []}]}}});
    let session = session(&[first_state(json!([request("1", "go", json!([{"value": "Done. "}]), whole)]))]);
    assert_eq!((roles(&session.messages).as_str(), session.messages[1].partial), ("ua", true));
}

#[test]
fn a_change_of_nothing_that_is_there_is_told_and_the_others_count() {
    let deep = json!({"kind": 1, "k": vec!["a"; 20], "v": 1});
    let bad = [
        json!({"kind": 1, "k": ["requests", 7, "result"], "v": {}}),
        json!({"kind": 1, "k": ["a", "b", "c"], "v": 1}),
        json!({"kind": 9, "k": ["requests"], "v": []}),
        json!({"kind": 1, "k": [], "v": {}}),
        deep,
    ];
    let lines = [&[first_state(json!([]))], &bad[..], &[push(None, json!([asked("1", "one")]))]].concat();
    let import = import_lines(&lines);
    assert_eq!(said(&import.sessions[0]), ["u one", "a one!"]);
    let codes: Vec<ProblemCode> = import.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [ProblemCode::Foreign; 5]);
    // A change before the first state, and a line that was torn.
    let torn = format!(
        "{}\n{}\n{}\n{{\"kind\":2,\"k\":[\"req",
        push(None, json!([asked("0", "no")])),
        lines[0],
        lines[6]
    );
    let import = read(torn.as_bytes(), "x.jsonl", None).unwrap();
    let codes: Vec<ProblemCode> = import.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(
        (codes, import.sessions[0].messages.len()),
        (vec![ProblemCode::Foreign, ProblemCode::Damaged], 2)
    );
}

#[test]
fn a_chat_on_one_line_may_be_longer_than_any_line_of_a_log() {
    let mut first = first_state(json!([asked("1", "one")]));
    first["v"]["inputState"] = "x".repeat(17 * 1024 * 1024).into();
    assert_eq!(said(&session(&[first])), ["u one", "a one!"]);
}

#[test]
fn a_chat_is_of_the_folder_that_its_workspace_names() {
    let text = format!("{}\n", first_state(json!([asked("1", "one")])));
    let folder = |workspace: &str| {
        let import = read_with(text.as_bytes(), "/c/chatSessions/s.jsonl", None, Some(workspace.as_bytes()));
        import.unwrap().sessions.remove(0).folder
    };
    assert_eq!(folder(r#"{"folder":"file:///home/dev/a%20b"}"#).as_deref(), Some("/home/dev/a b"));
    assert_eq!(folder(r#"{"folder":"file:///c%3A/dev/a"}"#).as_deref(), Some("c:/dev/a"));
    assert_eq!(folder(r#"{"folder":"vscode-remote://ssh-remote%2Bhost/home/dev"}"#), None);
    assert_eq!(folder(r#"{"workspace":"file:///home/dev/a.code-workspace"}"#), None);
}

#[test]
fn a_transcript_of_copilot_chat_is_vs_codes_and_one_of_copilot_cli_is_not() {
    let bytes = fixture(AgentName::VsCode, TRANSCRIPT);
    let session = read(&bytes, "x", None).unwrap().sessions.remove(0);
    assert_eq!((&*session.agent, roles(&session.messages).as_str()), ("vscode", "uata"));
    assert_eq!(session.folder.as_deref(), Some("/home/dev/project"));
    assert_eq!(session.messages[2].content.as_str(), "a.ts");
    let text = String::from_utf8(bytes).unwrap().replace(r#""vscodeVersion":"1.108.0","#, "");
    assert_eq!(detect(text.as_bytes()), Some(AgentName::Copilot));
}
