//! OpenCode's rules.
//! Tries: src/interop/opencode/

use leftoff::error::Code;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use leftoff::interop::opencode::{paths_to_read_first, session_groups, sessions_of_tree};
use leftoff::interop::{AgentName, Import, ImportedSession, detect, read};
use leftoff::record::message::{Message, OrderPart, Role};
use leftoff::state::{FactKind, State};
use serde_json::{Value, json};

use super::{fixture, flags, roles};

const REAL_SESSION: &str = "real/1.18.33/ses_dff5ee6f5ffeggHC7B1chcgdQA.json";
const CALLER_SESSION: &str = "real/1.18.33/ses_dff5ebac6ffeCeeL51VTPNWZem.json";
const CHILD_SESSION: &str = "real/1.18.33/ses_dff5eb153ffe798a1Dfa7jgPSR.json";
const REVERTED_SESSION: &str = "real/1.18.33/ses_dff5ea03cffeuouve2qHzPid77.json";

fn session(path: &str) -> ImportedSession {
    let bytes = fixture(AgentName::OpenCode, path);
    assert_eq!(detect(&bytes), Some(AgentName::OpenCode));
    read(&bytes, "x.json", None).unwrap().sessions.remove(0)
}

fn import(messages: &[Value]) -> Import {
    let export = json!({"info": {"id": "ses_1", "time": {"created": 1}}, "messages": messages});
    read(export.to_string().as_bytes(), "x", None).unwrap()
}

fn assistant(parts: Value) -> Value {
    let info = json!({"id": "msg_2", "role": "assistant", "modelID": "m", "time": {"created": 2000, "completed": 5000}});
    json!({"info": info, "parts": parts})
}

fn user(parts: Value) -> Value {
    json!({"info": {"id": "msg_1", "role": "user", "time": {"created": 1000}}, "parts": parts})
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let session = session(REAL_SESSION);
    assert_eq!(session.source_id, "ses_dff5ee6f5ffeggHC7B1chcgdQA");
    assert_eq!(session.folder.as_deref(), Some("/home/dev/project"));
    assert_eq!(session.version.as_deref(), Some("1.18.33"));
    assert_eq!(session.model.as_deref(), Some("fake-model"));
    // Bash; two calls at once; one that fails; a write; then a turn with files, a compaction, and one turn more.
    let roles = roles(&session.messages);
    assert!(roles.starts_with("uatattatata"), "{roles}");
    assert!(roles.ends_with("uaua"), "{roles}");
    let two = &session.messages[3];
    let ids: Vec<&str> = two.tool_calls().iter().map(|call| call.id.as_str()).collect();
    for (result, (id, name)) in session.messages[4..6].iter().zip(ids.iter().zip(["read", "bash"])) {
        let tool = result.tool.as_ref().unwrap();
        assert_eq!((tool.call_id.as_str(), tool.name.as_str(), tool.is_error), (*id, name, false));
    }
    let answer = two.assistant.as_ref().unwrap();
    assert_eq!(answer.reasoning[0].text.as_str(), "Fake reasoning.");
    assert_eq!(answer.model.as_deref(), Some("fake-model"));
    assert_eq!(answer.finish_reason.as_deref(), Some("tool-calls"));
    let usage = answer.usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read), (Some(123), Some(17), Some(0)));
    assert!(session.messages[0].content.as_str().contains("Grüße ☃"));
    assert!(session.messages[8].tool_calls()[0].arguments.as_str().contains("üñï ☃"));
    let failed =
        session.messages.iter().filter(|message| message.tool.as_ref().is_some_and(|tool| tool.is_error));
    let failed: Vec<&str> = failed.map(|message| message.content.as_str()).collect();
    assert_eq!(failed, ["File not found: /home/dev/project/nowhere/notes.txt"]);
}

#[test]
fn what_the_client_says_in_the_users_name_is_marked_and_stands_apart() {
    let session = session(REAL_SESSION);
    let said: Vec<&Message> =
        session.messages.iter().filter(|message| message.role == Some(Role::User)).collect();
    let attached = said.iter().find(|message| !message.attachments.is_empty()).unwrap();
    let [note, image] = &attached.attachments[..] else { panic!("two files: {attached:?}") };
    assert_eq!(note.path.as_deref(), Some("/home/dev/project/notes.txt"));
    assert_eq!((image.mime.as_str(), image.name.as_deref()), ("image/png", Some("dot.png")));
    assert!(image.data.as_ref().is_some_and(|data| data.starts_with("iVBOR")), "{image:?}");
    assert!(attached.content.as_str().contains("SAY:attached") && flags(attached).is_empty());
    let synthetic: Vec<_> = said.iter().filter(|message| flags(message).contains("isMeta")).collect();
    assert!(synthetic[0].content.as_str().starts_with("Called the Read tool"));
    assert!(synthetic.last().unwrap().content.as_str().starts_with("Continue if you have next steps"));
}

#[test]
fn a_summary_is_marked_and_what_it_sums_up_stays() {
    let session = session(REAL_SESSION);
    let marked = |message: &&Message| flags(message).contains("isCompactSummary");
    let [summary] = session.messages.iter().filter(marked).collect::<Vec<_>>()[..] else { panic!("one") };
    assert_eq!(summary.role, Some(Role::Assistant));
    assert!(session.losses.iter().any(|loss| loss.field == "message.parts[compaction]"));
}

#[test]
fn a_child_session_and_the_call_that_began_it_name_each_other() {
    let (caller, child) = (session(CALLER_SESSION), session(CHILD_SESSION));
    assert_eq!(child.parent.as_ref().unwrap().session, format!("opencode/{}", caller.source_id));
    let [sub_agent] = &caller.sub_agents[..] else { panic!("one") };
    assert_eq!(sub_agent.source_id, child.source_id);
    let calls = caller.messages.iter().flat_map(Message::tool_calls);
    let call = calls.into_iter().find(|call| call.id == sub_agent.call_id).unwrap();
    assert_eq!(call.name, "task");
    assert_eq!(child.messages[0].content.as_str(), "Say hello, sub-agent.");
}

#[test]
fn what_was_taken_back_stays_with_a_mark() {
    let session = session(REVERTED_SESSION);
    let taken: Vec<bool> =
        session.messages.iter().map(|message| flags(message).contains("isReverted")).collect();
    // The last one says so, and goes on from the last message that stays.
    assert_eq!(roles(&session.messages), "uatauau");
    assert_eq!(taken, [false, false, false, false, true, true, false]);
    let end = &session.messages[6];
    assert!(end.branch && flags(end).contains("isMeta"));
    assert_eq!(end.parent_id.as_ref(), Some(&session.messages[3].id));
    let of = |revert: Value| {
        let tool = json!({"id": "prt_2", "type": "tool", "callID": "c", "tool": "t", "state": {"status": "completed", "output": "o"}});
        let messages = [
            user(json!([{"type": "text", "text": "a"}])),
            assistant(json!([{"id": "prt_1", "type": "text", "text": "b"}, tool])),
        ];
        let export = json!({"info": {"id": "s", "revert": revert}, "messages": messages}).to_string();
        let session = read(export.as_bytes(), "x", None).unwrap().sessions.remove(0);
        session.messages.iter().map(|message| flags(message).contains("isReverted")).collect::<Vec<_>>()
    };
    assert_eq!(of(json!({"messageID": "msg_2", "partID": "prt_2"})), [false, false, true, false]);
    assert_eq!(of(json!({"messageID": "msg_1", "partID": "prt_9"})), [false, true, true, false]);
    assert_eq!(of(json!({"messageID": "msg_2"})), [false, true, true, false]);
    assert_eq!(of(json!({"messageID": "gone"})), [false, false, false]);
}

#[test]
fn each_step_of_a_message_is_an_answer_with_its_results_behind_it() {
    let tool = |id: &str| {
        json!({"id": format!("prt_{id}"), "type": "tool", "callID": id, "tool": "t",
        "state": {"status": "completed", "input": {"n": 1}, "output": id, "time": {"start": 3000, "end": 4000}}})
    };
    let finish = |reason: &str, input: u64| json!({"type": "step-finish", "reason": reason, "tokens": {"input": input}});
    let import = import(&[
        user(json!([{"type": "text", "text": "go"}])),
        assistant(json!([
            {"type": "step-start"}, {"type": "text", "text": "one"}, tool("a"), tool("b"), finish("tool-calls", 7),
            {"type": "step-start"}, {"type": "reasoning", "text": "why"}, {"type": "text", "text": "two"}, finish("stop", 8),
            {"type": "step-start"},
        ])),
    ]);
    let messages = &import.sessions[0].messages;
    assert_eq!(roles(messages), "uatta");
    let said: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(said, ["go", "one", "a", "b", "two"]);
    assert_eq!(messages[2].timestamp.as_deref(), Some("1970-01-01T00:00:04.000Z"));
    let usage = |at: usize| messages[at].assistant.as_ref().unwrap().usage.as_ref().unwrap().input;
    assert_eq!((usage(1), usage(4)), (Some(7), Some(8)));
    let parents: Vec<Option<&str>> = messages.iter().map(|message| message.parent_id.as_deref()).collect();
    let id = |at: usize| Some(messages[at].id.as_str());
    assert_eq!(parents, [None, id(0), id(1), id(2), id(3)]);
}

#[test]
fn a_call_that_waits_or_runs_has_no_result_and_keeps_its_id() {
    let tool = |state: Value| json!([{"id": "prt_1", "type": "tool", "callID": "c", "tool": "bash", "state": state}]);
    let of = |state: Value| import(&[assistant(tool(state))]).sessions.remove(0).messages;
    let waits = of(json!({"status": "pending", "input": {}, "raw": "{\"comm"}));
    let runs = of(json!({"status": "running", "input": {"command": "ls"}, "time": {"start": 3000}}));
    let failed = of(
        json!({"status": "error", "input": {"command": "ls"}, "error": "no", "time": {"start": 3000, "end": 4000}}),
    );
    let pruned = of(
        json!({"status": "completed", "input": {}, "output": "", "time": {"start": 1, "end": 2, "compacted": 3}}),
    );
    let arguments = |messages: &[Message]| messages[0].tool_calls()[0].arguments.as_str().to_owned();
    assert_eq!((waits.len(), arguments(&waits)), (1, "{\"comm".into()));
    assert_eq!((runs.len(), arguments(&runs)), (1, "{\"command\":\"ls\"}".into()));
    assert_eq!((failed.len(), failed[1].tool.as_ref().unwrap().is_error), (2, true));
    assert_eq!((runs[0].id.as_str(), failed[1].content.as_str()), (failed[0].id.as_str(), "no"));
    assert_eq!((pruned.len(), pruned[1].tool.as_ref().unwrap().is_error), (2, false));
    assert!(flags(&pruned[1]).contains("isPruned"));
}

#[test]
fn an_answer_keeps_the_order_signatures_and_files_of_its_parts() {
    let file = json!({"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,AAAA"});
    let away = json!({"type": "file", "mime": "image/png", "url": "https://example.com/a.png"});
    let state = json!({"status": "completed", "input": {}, "output": "o", "attachments": [file, away]});
    let import = import(&[assistant(json!([
        {"type": "text", "text": "one"},
        {"type": "reasoning", "text": "why", "metadata": {"anthropic": {"signature": "sig"}}},
        {"type": "reasoning", "text": "", "metadata": {"openai": {"reasoningEncryptedContent": "enc", "itemId": "i"}}},
        {"type": "tool", "callID": "c", "tool": "t", "state": state},
        {"type": "text", "text": "two"},
    ]))]);
    let session = &import.sessions[0];
    let answer = session.messages[0].assistant.as_ref().unwrap();
    assert_eq!(session.messages[0].content.as_str(), "one\n\ntwo");
    let order = [
        OrderPart::Text(0, 3),
        OrderPart::Reasoning(0),
        OrderPart::Reasoning(1),
        OrderPart::Call(0),
        OrderPart::Text(5, 8),
    ];
    assert_eq!(answer.order, order);
    assert_eq!(answer.reasoning[0].signature.as_deref(), Some("sig"));
    assert_eq!(answer.reasoning[1].data.as_deref(), Some("enc"));
    assert_eq!(answer.duration_ms, Some(3000));
    assert_eq!(session.messages[1].attachments.len(), 1);
    let lost: Vec<&str> = session.losses.iter().map(|loss| loss.field.as_str()).collect();
    assert!(lost.contains(&"message.parts[tool].state.attachments[file].url"), "{lost:?}");
    assert!(lost.contains(&"message.parts[reasoning].metadata.openai.itemId"), "{lost:?}");
}

#[test]
fn what_cannot_be_used_is_listed() {
    let import = import(&[
        json!({"info": "{broken", "parts": []}),
        json!({"info": {"id": "x", "role": "narrator"}, "parts": []}),
        user(json!([])),
        user(json!(["no part", {"type": "new", "text": "t"}, {"type": "text", "text": "said"}])),
    ]);
    let session = &import.sessions[0];
    assert_eq!(roles(&session.messages), "u");
    let lost: Vec<&str> = session.losses.iter().map(|loss| loss.field.as_str()).collect();
    for field in ["message.info", "record:narrator", "message.parts", "message.parts[]", "message.parts[new]"]
    {
        assert!(lost.contains(&field), "{field}: {lost:?}");
    }
    for bad in ["{}", "[]", "{\"info\":{},\"messages\":[]}", "{\"info\":{\"id\":\"x\"},\"messages\":{}}"] {
        assert_eq!(detect(bad.as_bytes()), None);
        let error = read(bad.as_bytes(), "x", Some(AgentName::OpenCode)).unwrap_err();
        assert_eq!(error.code, Code::UnknownFormat);
    }
}

#[test]
fn a_session_that_went_on_keeps_the_ids_it_had() {
    let bytes = fixture(AgentName::OpenCode, REAL_SESSION);
    let whole = session(REAL_SESSION);
    let source: Value = serde_json::from_slice(&bytes).unwrap();
    let messages = source["messages"].as_array().unwrap();
    for end in 1..messages.len() {
        let part = json!({"info": source["info"], "messages": messages[..end]}).to_string();
        let part = read(part.as_bytes(), "x", None).unwrap().sessions.remove(0);
        let ids = |session: &ImportedSession| {
            session.messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(part.id, whole.id);
        assert!(ids(&whole).starts_with(&ids(&part)), "{end}");
    }
}

// Its call is complete, whatever the command ended with.
#[test]
fn a_command_that_ended_with_a_code_failed_and_one_that_was_denied_did_not_run() {
    let ended = |state: Value| {
        let mut state = state;
        state["input"] = json!({"command": "make"});
        let part = json!({"type": "tool", "id": "prt_1", "callID": "c", "tool": "bash", "state": state});
        let session = import(&[assistant(json!([part]))]).sessions.remove(0);
        let tool = session.messages[1].tool.clone().unwrap();
        let mut known = State::default();
        session.messages.iter().for_each(|message| known.take_message(message));
        (tool.exit_code, tool.is_error, tool.not_run, known.facts_of(FactKind::Failed).count())
    };
    let completed = |exit: Value| json!({"status": "completed", "output": "x", "metadata": {"exit": exit}});
    assert_eq!(ended(completed(json!(1))), (Some(1), false, false, 1));
    assert_eq!(ended(completed(json!(0))), (Some(0), false, false, 0));
    assert_eq!(ended(completed(json!(null))), (None, false, false, 0));
    let error = |said: &str| json!({"status": "error", "error": said});
    assert_eq!(
        ended(error("The user rejected permission to use this specific tool call.")),
        (None, true, true, 0)
    );
    assert_eq!(ended(error("Tool execution aborted")), (None, true, true, 0));
    assert_eq!(ended(error("make: not found")), (None, true, false, 1));
}

fn files_below(folder: &Path, root: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path: PathBuf = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, root, all);
        } else {
            let below = path.strip_prefix(root).expect("below").to_string_lossy().replace('\\', "/");
            all.insert(below, fs::read(&path).expect("a file"));
        }
    }
}

// One session after another, by the files of each alone.
fn in_groups(files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let some =
        |paths: Vec<String>| paths.into_iter().map(|path| (path.clone(), files[&path].clone())).collect();
    let paths: Vec<&str> = files.keys().map(String::as_str).collect();
    let groups = session_groups(&paths, &some(paths_to_read_first(&paths)));
    groups.into_iter().flat_map(|group| sessions_of_tree(&some(group))).collect()
}

#[test]
fn older_folders_read_a_session_at_a_time_are_what_they_are_as_a_whole() {
    for tree in ["agent-sessions/storage_v2", "agent-sessions/storage_legacy", "opensession/storage"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode").join(tree);
        let mut files = BTreeMap::new();
        files_below(&root, &root, &mut files);
        assert!(files.len() > 2, "{tree}");
        files.insert("notes/big.bin".into(), Vec::new());
        assert_eq!(in_groups(&files), sessions_of_tree(&files), "{tree}");
    }
}

#[test]
fn a_part_whose_folder_names_no_file_is_found_by_what_it_says() {
    let file = |path: &str, text: &str| (String::from(path), Vec::from(text));
    let files = BTreeMap::from([
        file("session/p/s.json", r#"{"id":"own"}"#),
        file("message/own/m.json", r#"{"id":"named","time":{"created":1}}"#),
        file("message/lost/x.json", r#"{"id":"x"}"#),
        file("part/loose.json", r#"{"messageID":"named","text":"a"}"#),
        file("part/named/p.json", r#"{"messageID":"named","text":"b"}"#),
        file("part/x/p.json", r#"{"text":"c"}"#),
    ]);
    let whole = sessions_of_tree(&files);
    assert_eq!(in_groups(&files), whole);
    assert!(
        whole[0].contains("\"a\"") && whole[0].contains("\"b\"") && whole[1].contains("\"c\""),
        "{whole:?}"
    );
}
