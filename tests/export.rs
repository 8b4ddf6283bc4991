//! A session as one text: of JSON nothing is lost, of Markdown no message swallows another.
//! Tries: src/export/
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use leftoff::error::Code;
use leftoff::export::{Export, ExportFormat};
use proptest::prelude::*;
use serde_json::{Value, json};

fn metadata(title: &str) -> Value {
    json!({
        "id": "0190-x", "type": "chat", "lifecycle": "active", "display": { "title": title },
        "timestamps": { "createdAt": "2026-01-01T00:00:00Z" }, "stats": { "messageCount": 2 }, "provider": {},
    })
}

fn export_session(shape: ExportFormat, title: &str, messages: &[Value], executions: &[Value]) -> String {
    let mut export = Export::new(shape, false);
    let mut text = export.begin(&metadata(title).to_string()).expect("metadata");
    for message in messages {
        text.push_str(&export.message(&message.to_string()).expect("a message"));
    }
    for execution in executions {
        text.push_str(&export.execution(&execution.to_string()).expect("a tool execution"));
    }
    text + &export.end()
}

/// The headings of a Markdown text that stand outside of its fences, by the rules of CommonMark.
fn headings(markdown: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut all = Vec::new();
    for line in markdown.lines() {
        let inner = line.trim_start_matches(' ');
        let sign = if inner.starts_with('~') { '~' } else { '`' };
        let run = &inner[..inner.len() - inner.trim_start_matches(sign).len()];
        let is_run = run.len() >= 3 && line.len() - inner.len() <= 3;
        let rest = &inner[run.len()..];
        match fence {
            Some(open) if is_run && run.starts_with(open) && rest.trim().is_empty() => fence = None,
            Some(_) => {}
            None if is_run && !(sign == '`' && rest.contains('`')) => fence = Some(run),
            None if line.starts_with("## ") => all.push(line),
            None => {}
        }
    }
    assert_eq!(fence, None, "what is open at the end swallows what a reader puts behind");
    all
}

/// Texts of what opens something in Markdown.
fn open_text() -> impl Strategy<Value = String> {
    const BITS: [&str; 17] = [
        "```",
        "````js",
        "~~~",
        " ",
        "    ",
        "\n",
        "\r\n",
        "<",
        "!--",
        "<script>",
        "`",
        "text",
        "\u{1b}[2J",
        "\u{202e}",
        "\u{2028}",
        "\0",
        "\u{85}",
    ];
    prop::collection::vec(prop::sample::select(&BITS[..]), 0..12).prop_map(|bits| bits.concat())
}

fn message() -> impl Strategy<Value = Value> {
    let parts = (open_text(), open_text(), prop::option::of(open_text()), any::<bool>());
    parts.prop_map(|(content, name, thought, is_tool)| {
        if is_tool {
            json!({ "id": "t", "role": "tool", "content": content, "tool": { "callId": "c", "name": name } })
        } else {
            json!({
                "id": "a", "role": "assistant", "content": content,
                "assistant": {
                    "toolCalls": [{ "id": "c", "name": name, "arguments": content }],
                    "reasoning": thought.map(|text| json!({ "text": text })).into_iter().collect::<Vec<_>>(),
                },
            })
        }
    })
}

proptest! {
    #[test]
    fn json_says_what_it_was_given(messages in prop::collection::vec(message(), 0..5), title in open_text()) {
        let executions: Vec<Value> = messages.iter().take(2).map(|one| json!({ "id": "e", "of": one, "n": [] })).collect();
        let text = export_session(ExportFormat::Json, &title, &messages, &executions);
        let whole: Value = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(whole, json!({ "metadata": metadata(&title), "messages": messages, "toolExecutions": executions }));
        prop_assert!(text.ends_with("\n}\n"), "a file ends with a line feed");
    }

    #[test]
    fn no_message_swallows_another_and_none_steers_a_terminal(
        messages in prop::collection::vec(message(), 0..6),
        title in open_text(),
    ) {
        let text = export_session(ExportFormat::Markdown, &title, &messages, &[]);
        let roles: Vec<&str> = headings(&text).iter().map(|line| line.split([' ', ',']).nth(1).unwrap_or("")).collect();
        let expected: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
        prop_assert_eq!(roles, expected);
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
        prop_assert!(!text.contains(steers), "{}", text);
        let first = text.lines().next().unwrap_or_default();
        prop_assert!(first.starts_with("# "), "{}", first);
    }
}

#[test]
fn html_that_has_no_end_stands_there_as_it_is() {
    let of = |content: &str| {
        export_session(ExportFormat::Markdown, "x", &[json!({ "role": "user", "content": content })], &[])
    };
    for open in ["<script>alert(1)", "  </PRE>", "<!-- never closed", "<?php", "<textarea"] {
        assert!(of(open).contains(&open.replace('<', "\\<")), "{open}");
    }
    for plain in ["<prelude>", "<b>", "    <pre>", "a <pre>", "```\n<pre>\n```"] {
        assert!(of(plain).contains(&format!("\n\n{plain}\n")), "{plain}");
    }
}

#[test]
fn reasoning_that_nobody_can_read_is_named() {
    let reasoning = json!([{ "text": "I think so.\n```" }, { "text": "", "data": "ab" }, { "text": "" }]);
    let message = json!({ "role": "assistant", "content": "", "assistant": { "reasoning": reasoning } });
    let text = export_session(ExportFormat::Markdown, "x", &[message], &[]);
    assert!(text.ends_with(
        "## assistant\n\n> I think so.\n> ```\n> ```\n\n> [reasoning that only its provider can read]\n"
    ));
}

#[test]
fn a_text_that_lies_in_a_blob_which_is_gone_shows_its_ends() {
    let apart = json!({ "blob": "a".repeat(64), "bytes": 9000, "head": "the beginning", "tail": "the end" });
    let text =
        export_session(ExportFormat::Markdown, "x", &[json!({ "role": "user", "content": apart })], &[]);
    assert!(text.contains("the beginning\n[... 8980 bytes left out ...]\nthe end"), "{text}");
}

#[test]
fn what_other_branches_did_is_not_in_it_unless_all_are() {
    let mut export = Export::new(ExportFormat::Json, false);
    assert!(export.has_message("a", None, true));
    assert!(!export.has_message("b", Some("call-b"), false));
    assert!(export.has_execution(Some("a"), "call-a"));
    assert!(!export.has_execution(Some("b"), "call-c"));
    // Who does not say which message made it is known by the answer.
    assert!(!export.has_execution(None, "call-b") && !export.has_execution(Some(""), "call-b"));
    assert!(export.has_execution(None, "call-a"));
    let mut all = Export::new(ExportFormat::Json, true);
    assert!(all.has_message("b", Some("call-b"), false) && all.has_execution(Some("b"), "call-b"));
}

#[test]
fn another_shape_and_what_is_no_object_are_refused() {
    let refusal = ExportFormat::parse("\"pdf\\\"\"").expect_err("no shape");
    assert_eq!(refusal.code, Code::InvalidRequest);
    assert_eq!(
        refusal.message,
        "expected json, markdown, atif or leftoff to export, but found \"pdf\\\"\" instead"
    );
    let mut export = Export::new(ExportFormat::Markdown, false);
    for bad in ["", "[]", "{\"a\":", "7"] {
        for refused in [export.begin(bad), export.message(bad), export.execution(bad)] {
            assert_eq!(refused.expect_err(bad).code, Code::InvalidJson);
        }
    }
}
