//! What a fuzzer found once, and what it begins with: every law of tests/fuzz_checks/ holds for it.
//! Tries: src/record/scan.rs, src/record/resync.rs, src/session/documents/, src/interop/,
//! src/interop/native/, src/tokens/
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::chance;
use crate::fuzz_checks;

use std::fs;
use std::panic::RefUnwindSafe;
use std::path::{Path, PathBuf};

use chance::print_count;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn check(target: impl Fn(&[u8]) + RefUnwindSafe, path: &Path, before: &[u8]) {
    let bytes = [before, &fs::read(path).expect("the file can be read")].concat();
    assert!(std::panic::catch_unwind(|| target(&bytes)).is_ok(), "{}", path.display());
}

#[test]
fn what_was_found_once_stays_mended() {
    for (name, target) in fuzz_checks::TARGETS.iter().copied() {
        for path in files(&fixtures().join("fuzz").join(name)) {
            check(target, &path, b"");
        }
    }
}

#[test]
#[cfg(feature = "interop")]
fn what_was_found_once_in_a_reader_stays_mended_and_every_fixture_keeps_the_laws() {
    use leftoff::interop::AgentName;
    for agent in AgentName::ALL {
        let found = files(&fixtures().join("fuzz").join(format!("read-{}", agent.as_str())));
        let fixtures = files(&fixtures().join(agent.as_str()));
        assert!(!fixtures.is_empty(), "{agent:?}");
        for path in found.iter().chain(&fixtures) {
            check(|data| fuzz_checks::agents::check(agent, data), path, b"");
        }
    }
}

#[test]
fn every_log_among_the_fixtures_keeps_the_laws() {
    let paths: Vec<PathBuf> = ["format", "documents", "claude-code", "json-test-suite"]
        .iter()
        .flat_map(|folder| files(&fixtures().join(folder)))
        .collect();
    assert!(paths.len() > 400, "{}", paths.len());
    for path in &paths {
        check(fuzz_checks::scan::check, path, b"\x3f");
        check(fuzz_checks::events::check, path, b"\x3f");
        check(fuzz_checks::text::check, path, b"\0");
        check(fuzz_checks::text::check_in_blob, path, b"\0");
        check(fuzz_checks::resync::check, path, b"\x55\x01\0");
    }
    print_count("fixtures as fuzzed bytes", paths.len());
}

// What stands before the records, a record, what stands between two and what behind the last. `NAME` is long, `N` a number.
#[cfg(feature = "interop")]
const REPEATED: [(&str, [&str; 4]); 11] = [
    (
        "claude-code",
        [r#"{"type":"user","uuid":"NAME","message":{"content":["#, r#"{"type":"tool_result"}"#, ",", "]}}"],
    ),
    (
        "claude-code",
        [
            r#"{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"c","name":"NAME"}]}}
{"type":"user","uuid":"v","message":{"content":["#,
            r#"{"type":"tool_result","tool_use_id":"c"}"#,
            ",",
            "]}}",
        ],
    ),
    (
        "claude-code",
        [
            r#"{"type":"user","uuid":"u","timestamp":"2026-01-01T00:00:00.0NAMEZ","message":{"content":["#,
            r#"{"type":"tool_result"}"#,
            ",",
            "]}}",
        ],
    ),
    (
        "claude-code",
        [
            r#"{"type":"user","uuid":"u","sessionId":"NAME","message":{"content":"a"}}"#,
            r#"{"type":"user","uuid":"N","isSidechain":true,"message":{"content":"a"}}"#,
            "\n",
            "",
        ],
    ),
    (
        "claude-code",
        [
            r#"{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"NAME","name":"Task","input":{"prompt":"a"}}]}}"#,
            r#"{"type":"user","uuid":"N","isSidechain":true,"message":{"content":"a"}}"#,
            "\n",
            "",
        ],
    ),
    (
        "codex",
        [
            r#"{"type":"turn_context","payload":{"model":"NAME"}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":"N"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":"N"}}"#,
            "\n",
            "",
        ],
    ),
    (
        "codex",
        [
            r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"NAME","text":"a""#,
            r#","N":0"#,
            "",
            "}]}}}",
        ],
    ),
    (
        "aider",
        ["# aider chat started at 2026-01-01 00:00:00\n> Model: NAME  \n", "#### a  \n\nb", "\n", "\n"],
    ),
    (
        "copilot",
        [
            r#"{"type":"session.start","data":{"sessionId":"NAME"}}"#,
            r#"{"type":"user.message","data":{"parentToolCallId":"N","content":"a"}}"#,
            "\n",
            "",
        ],
    ),
    (
        "qwen",
        [
            r#"{"type":"tool_result","uuid":"u","toolCallResult":{"callId":"NAME"},"message":{"parts":["#,
            r#"{"functionResponse":{}}"#,
            ",",
            "]}}",
        ],
    ),
    (
        "opencode",
        [
            r#"{"info":{"id":"s"},"messages":[{"info":{"id":"NAME","role":"assistant"},"parts":["#,
            r#"{"type":"step-start"},{"type":"text","text":"a"}"#,
            ",",
            "]}]}",
        ],
    ),
];

#[test]
#[cfg(feature = "interop")]
fn a_long_name_is_not_repeated_by_each_of_many_records() {
    use leftoff::interop::AgentName;
    let name = "0".repeat(100_000);
    for (agent, [before, record, between, behind]) in REPEATED {
        let records: Vec<String> = (0..2000).map(|n| record.replace('N', &n.to_string())).collect();
        let before = before.replace("NAME", &name);
        let is_line = between == "\n" && !before.ends_with('\n');
        let file =
            [before.as_str(), if is_line { "\n" } else { "" }, &records.join(between), behind].concat();
        let agent = AgentName::parse(agent).expect("a name");
        assert!(leftoff::interop::read(file.as_bytes(), "x", Some(agent)).is_ok(), "{agent:?}");
        let held = std::panic::catch_unwind(|| fuzz_checks::agents::check(agent, file.as_bytes()));
        assert!(held.is_ok(), "{agent:?}: {record}");
    }
}

#[test]
#[cfg(feature = "tokens")]
fn bytes_that_are_no_text_are_counted_as_what_they_are_read_as() {
    let paths = files(&fixtures().join("json-test-suite"));
    assert!(paths.len() > 300, "{}", paths.len());
    paths.iter().for_each(|path| check(fuzz_checks::tokens::check, path, b"\x40"));
}
