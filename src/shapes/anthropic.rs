//! The messages of Anthropic's Messages API.

use crate::record::message::{Reasoning, Role};
use crate::shapes::json::JsonWriter;
use crate::shapes::message::{PLAIN_KEYS, ProviderKeys};
use crate::shapes::patterns::{Arguments, Forms, write_call, write_calls, write_content};
use crate::shapes::reasoning::OutgoingPiece;
use crate::shapes::speakers::Speakers;
use crate::shapes::steps::Step;

const IMAGE_BY_URL: &str = r#"{"type":"image","source":{"type":"url","url":?0}}"#;
const FORMS: Forms = Forms {
    text: r#"{"type":"text","text":?0}"#,
    image: [r#"{"type":"image","source":{"type":"base64","media_type":?1,"data":?0}}"#, IMAGE_BY_URL],
    pdf: [
        r#"{"type":"document","source":{"type":"base64","media_type":?1,"data":?0}}"#,
        r#"{"type":"document","source":{"type":"url","url":?0}}"#,
    ],
    sound: "",
    other: ["", ""],
    other_types: &[],
    addresses: &["https://"],
    call: r#"{"type":"tool_use","id":?0,"name":?1,"input":!2}"#,
    arguments: Arguments::Object,
};

/// Results come first in the user message after their calls, since they directly follow these in a step.
pub(super) fn write(steps: &[Step<'_>], json: &mut JsonWriter) {
    let mut speakers = Speakers::new(json, "content");
    for (place, step) in steps.iter().enumerate() {
        match step.role {
            // Newer models accept the role `system` at some places, older ones nowhere.
            Role::System => speakers.system(step, &FORMS),
            Role::User => write_content(step.text, &step.files, &FORMS, speakers.speak("user")),
            Role::Assistant => {
                let json = speakers.speak("assistant");
                if step.thoughts.is_empty() {
                    let said = step.text_with_files();
                    // An answer to be continued may not end with blanks.
                    let is_last = place + 1 == steps.len() && step.calls.is_empty();
                    write_content(if is_last { said.trim_end() } else { &said }, &[], &FORMS, json);
                    write_calls(step, &FORMS, json);
                }
                for piece in step.pieces() {
                    match piece {
                        OutgoingPiece::Thought(thought) => write_thinking(thought, json),
                        OutgoingPiece::Text(text) => write_content(text, &[], &FORMS, json),
                        OutgoingPiece::Call(one) => write_call(one, "", &FORMS, json),
                    }
                }
            }
            Role::Tool => {}
        }
        write_results(step, &mut speakers);
    }
    speakers.finish();
}

fn write_thinking(thought: &Reasoning, json: &mut JsonWriter) {
    match (&thought.signature, &thought.data) {
        (Some(signature), _) => json
            .put(r#"{"type":"thinking","thinking":?0,"signature":?1}"#, &[thought.text.as_str(), signature]),
        (None, Some(data)) => json.put(r#"{"type":"redacted_thinking","data":?0}"#, &[data]),
        (None, None) => {}
    }
}

fn write_results(step: &Step<'_>, speakers: &mut Speakers<'_>) {
    for (call, result) in step.results() {
        let json = speakers.speak("user");
        json.put(r#"{"type":"tool_result","tool_use_id":?0"#, &[&call.id]);
        if result.is_error {
            json.put(r#""is_error":true"#, &[]);
        }
        // An error result takes only text.
        let (said, files) = match result.is_error {
            true => (result.text_with_files(), &[][..]),
            false => (result.text.into(), &result.files[..]),
        };
        let text = if said.trim().is_empty() { "" } else { &said };
        if !text.is_empty() || !files.is_empty() {
            json.put(r#""content":["#, &[]);
            write_content(text, files, &FORMS, json);
            json.put("]", &[]);
        }
        json.put("}", &[]);
    }
}

pub(super) const ANTHROPIC_KEYS: ProviderKeys = ProviderKeys {
    finish: "stop_reason",
    counts: [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "ephemeral_1h_input_tokens",
        "thinking_tokens",
    ],
    ..PLAIN_KEYS
};
