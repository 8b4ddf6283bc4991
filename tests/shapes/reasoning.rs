//! Signed reasoning goes back to the model that waits for the results of its calls, as it came, and to nobody else.
//! Tries: src/shapes/reasoning.rs

use super::{SHAPES, calling};
use leftoff::record::message::{Assistant, Message, OrderPart, Reasoning, Role, Tool};
use leftoff::shapes::{Format, Recipient, render_for_count, report_unsent, write, write_to};
use serde_json::{Value, json};

fn user(text: &str) -> Message {
    Message { role: Some(Role::User), content: text.into(), ..Message::default() }
}

fn result(id: &str) -> Message {
    let tool = Tool { call_id: id.into(), name: "ls".into(), ..Tool::default() };
    Message { role: Some(Role::Tool), content: "a".into(), tool: Some(tool), ..Message::default() }
}

fn thinking(id: &str, model: &str, reasoning: Vec<Reasoning>) -> Message {
    let said = calling(id, "ls");
    let assistant = said.assistant.unwrap_or_default();
    let model = Some(model.into());
    Message {
        id: format!("m{id}"),
        content: "I look.".into(),
        assistant: Some(Assistant { model, reasoning, ..assistant }),
        ..said
    }
}

fn signed_reasoning(text: &str, signature: &str) -> Reasoning {
    Reasoning { text: text.into(), signature: Some(signature.into()), data: None }
}

fn encrypted_reasoning(data: &str) -> Reasoning {
    Reasoning { data: Some(data.into()), ..Reasoning::default() }
}

fn sent_json(messages: &[Message], format: Format, model: Option<&str>) -> Value {
    serde_json::from_str(&write_to(messages, format, Recipient::of(model, false)).json).expect("valid JSON")
}

const CLAUDE: &str = "claude-sonnet-4-5-20250929";

#[test]
fn anthropic_gets_the_thinking_of_each_answer_of_the_loop_first() {
    let messages = [
        user("earlier"),
        thinking("0", CLAUDE, vec![signed_reasoning("old", "OLD")]),
        result("0"),
        Message { role: Some(Role::Assistant), content: "done".into(), ..Message::default() },
        user("list"),
        thinking("1", CLAUDE, vec![signed_reasoning("I think", "SIG1"), encrypted_reasoning("RED")]),
        result("1"),
        thinking("2", CLAUDE, vec![signed_reasoning("", "SIG2")]),
        result("2"),
    ];
    for asked in [Some("claude-sonnet-4-5"), Some("anthropic/claude-sonnet-4-5"), Some(CLAUDE), None] {
        let sent = sent_json(&messages, Format::Anthropic, asked);
        let content = |at: usize| sent[at]["content"].as_array().expect("parts").clone();
        assert_eq!(
            content(5)[..2],
            [
                json!({"type":"thinking","thinking":"I think","signature":"SIG1"}),
                json!({"type":"redacted_thinking","data":"RED"})
            ]
        );
        assert_eq!(content(5)[2]["text"], "I look.");
        assert_eq!(content(5)[3]["type"], "tool_use");
        assert_eq!(content(7)[0], json!({"type":"thinking","thinking":"","signature":"SIG2"}));
        assert!(!sent.to_string().contains("OLD"), "an answer was given");
    }
    let (_, thoughts) = report_unsent(&messages, Format::Anthropic, Recipient::of(None, false));
    let report_unsent: Vec<(&str, bool)> = thoughts.iter().map(|one| (&*one.id, one.is_sent)).collect();
    assert_eq!(report_unsent, [("m1", true), ("m2", true)]);
    let with = render_for_count(&messages, Format::Anthropic, Recipient::of(None, false), None).0;
    assert_eq!(with, write_to(&messages, Format::Anthropic, Recipient::of(None, false)).json);
}

#[test]
fn what_was_sent_in_a_turn_is_sent_again_behind_it() {
    let answer = |text: &str| Message {
        role: Some(Role::Assistant),
        content: text.into(),
        ..thinking("9", CLAUDE, vec![signed_reasoning("closing", "CLOSING")])
    };
    let done = |text: &str| {
        let said = answer(text);
        let assistant = said.assistant.map(|assistant| Assistant { tool_calls: Vec::new(), ..assistant });
        Message { assistant, ..said }
    };
    let messages = [
        Message { id: "u0".into(), ..user("earlier") },
        thinking("0", CLAUDE, vec![signed_reasoning("old", "OLD")]),
        result("0"),
        done("first"),
        Message { id: "u1".into(), ..user("list") },
        thinking("1", CLAUDE, vec![signed_reasoning("I think", "SIG1")]),
        result("1"),
        done("second"),
        Message { id: "u2".into(), ..user("again") },
        thinking("2", CLAUDE, vec![signed_reasoning("more", "SIG2")]),
        result("2"),
    ];
    let to = Recipient::of(Some(CLAUDE), false).with_reasoning_since(Some("u1"));
    let parts = |count: usize| -> Vec<Value> {
        serde_json::from_str(&write_to(&messages[..count], Format::Anthropic, to).json).expect("valid JSON")
    };
    let whole = parts(messages.len());
    // Each time that a model was called.
    for count in [5, 7, 9, 11] {
        let begun = parts(count);
        assert_eq!(begun[..], whole[..begun.len()], "{count} messages");
    }
    let sent = json!(whole).to_string();
    assert!(sent.contains("SIG1") && sent.contains("SIG2"), "{sent}");
    assert!(!sent.contains("OLD") && !sent.contains("CLOSING"), "{sent}");
    let (_, thoughts) = report_unsent(&messages, Format::Anthropic, to);
    let reasons: Vec<(&str, &str)> = thoughts.iter().map(|one| (&*one.id, one.why)).collect();
    assert_eq!(reasons, [("m1", "frame"), ("m2", "open-loop")]);
}

#[test]
fn nobody_else_gets_it_and_why_is_told() {
    let why = |messages: &[Message], format, model| {
        let (_, thoughts) = report_unsent(messages, format, Recipient::of(model, false));
        assert_eq!(write_to(messages, format, Recipient::of(model, false)), write(messages, format));
        thoughts.iter().map(|one| one.why).collect::<Vec<_>>()
    };
    let talk = |reasoning: Reasoning| [user("list"), thinking("1", CLAUDE, vec![reasoning]), result("1")];
    let by_claude = talk(signed_reasoning("I think", "SIG"));
    assert_eq!(why(&by_claude, Format::Anthropic, Some("claude-opus-4-1")), ["other-model"]);
    assert_eq!(why(&by_claude, Format::Gemini, Some("gemini-2.5-pro")), ["other-model"]);
    assert_eq!(why(&by_claude, Format::Gemini, None), ["other-model"]);
    assert_eq!(why(&by_claude, Format::AiSdkUi, None), ["shape"]);
    let unsigned = Reasoning { text: "I think".into(), ..Reasoning::default() };
    assert_eq!(why(&talk(unsigned), Format::Anthropic, Some(CLAUDE)), ["unsigned"]);
    let mut unfinished = by_claude.clone();
    unfinished[1].partial = true;
    assert_eq!(why(&unfinished, Format::Anthropic, Some(CLAUDE)), ["unfinished"]);
    assert_eq!(report_unsent(&by_claude, Format::Anthropic, Recipient::Masked).1[0].why, "secret");
    // An answer ends the loop.
    let mut done = by_claude.to_vec();
    done.push(Message { role: Some(Role::Assistant), content: "done".into(), ..Message::default() });
    assert_eq!(why(&done, Format::Anthropic, Some(CLAUDE)), [""; 0]);
    for format in SHAPES {
        assert!(!write(&by_claude, format).json.contains("SIG"), "{format:?}");
    }
}

#[test]
fn each_provider_gets_its_own_in_its_shape() {
    let google = "gemini-3-pro";
    let by = |model: &str, reasoning: Reasoning| {
        [user("list"), thinking("1", model, vec![reasoning]), result("1")]
    };
    let mut signed_call = by(google, signed_reasoning("", "SIG"));
    if let Some(said) = &mut signed_call[1].assistant {
        said.order = vec![OrderPart::Text(0, 7), OrderPart::Reasoning(0), OrderPart::Call(0)];
    }
    let parts = sent_json(&signed_call, Format::Gemini, Some(google))[1]["parts"].clone();
    assert_eq!(parts[0], json!({"text":"I look."}));
    assert_eq!(parts[1]["thoughtSignature"], "SIG");
    assert_eq!(parts[1]["functionCall"]["name"], "ls");
    let sdk = sent_json(&signed_call, Format::AiSdk, Some(google))[1]["content"].clone();
    assert_eq!(sdk[1]["providerOptions"], json!({"google":{"thoughtSignature":"SIG"}}));
    let items = sent_json(
        &by("gpt-5-2025-08-07", encrypted_reasoning("ENC")),
        Format::OpenaiResponses,
        Some("gpt-5"),
    );
    assert_eq!(items[1], json!({"type":"reasoning","summary":[],"encrypted_content":"ENC"}));
    let plain = Reasoning { text: "I think".into(), ..Reasoning::default() };
    let chat = sent_json(&by("deepseek-reasoner", plain), Format::OpenaiChat, Some("deepseek-reasoner"));
    assert_eq!(chat[1]["reasoning_content"], "I think");
    let sdk =
        sent_json(&by(CLAUDE, signed_reasoning("I think", "SIG")), Format::AiSdk, Some(CLAUDE))[1]["content"]
            .clone();
    assert_eq!(
        sdk[0],
        json!({"type":"reasoning","text":"I think","providerOptions":{"anthropic":{"signature":"SIG"}}})
    );
}
