//! The messages of OpenAI's chat completions.

use alloc::vec::Vec;

use crate::record::message::Role;
use crate::shapes::answer_pieces::TEXT_SEPARATOR;
use crate::shapes::json::JsonWriter;
use crate::shapes::message::{PLAIN_KEYS, ProviderKeys};
use crate::shapes::patterns::{Arguments, Forms, write_calls, write_content};
use crate::shapes::reasoning::OutgoingPiece;
use crate::shapes::steps::Step;

const IMAGE: &str = r#"{"type":"image_url","image_url":{"url":?2}}"#;
const FORMS: Forms = Forms {
    text: r#"{"type":"text","text":?0}"#,
    image: [IMAGE, IMAGE],
    pdf: [r#"{"type":"file","file":{"filename":?3,"file_data":?2}}"#, ""],
    sound: r#"{"type":"input_audio","input_audio":{"data":?0,"format":?4}}"#,
    other: ["", ""],
    other_types: &[],
    addresses: &["http://", "https://"],
    call: r#"{"id":?0,"type":"function","function":{"name":?1,"arguments":?2}}"#,
    arguments: Arguments::Text,
};

pub(super) fn write(steps: &[Step<'_>], json: &mut JsonWriter) {
    for step in steps {
        match step.role {
            Role::System => json.put(r#"{"role":"system","content":?0}"#, &[&step.text_with_files()]),
            Role::User if step.files.is_empty() => json.put(r#"{"role":"user","content":?0}"#, &[step.text]),
            Role::User => {
                json.put(r#"{"role":"user","content":["#, &[]);
                write_content(step.text, &step.files, &FORMS, json);
                json.put("]}", &[]);
            }
            Role::Assistant => write_answer(step, json),
            Role::Tool => {}
        }
        for (call, result) in step.results() {
            json.put(
                r#"{"role":"tool","tool_call_id":?0,"content":?1}"#,
                &[&call.id, &result.text_with_files()],
            );
        }
    }
}

fn write_answer(step: &Step<'_>, json: &mut JsonWriter) {
    match &*step.text_with_files() {
        "" => json.put(r#"{"role":"assistant","content":null"#, &[]),
        said => json.put(r#"{"role":"assistant","content":?0"#, &[said]),
    }
    let thoughts = step.pieces().into_iter().filter_map(|piece| match piece {
        OutgoingPiece::Thought(thought) => Some(thought.text.as_str()),
        OutgoingPiece::Text(_) | OutgoingPiece::Call(_) => None,
    });
    let thoughts: Vec<&str> = thoughts.collect();
    if !thoughts.is_empty() {
        json.put(r#""reasoning_content":?0"#, &[&thoughts.join(TEXT_SEPARATOR)]);
    }
    if !step.calls.is_empty() {
        json.put(r#""tool_calls":["#, &[]);
        write_calls(step, &FORMS, json);
        json.put("]", &[]);
    }
    json.put("}", &[]);
}

pub(super) const OPENAI_CHAT_KEYS: ProviderKeys = ProviderKeys {
    answers: ["choices", "message"],
    has_results: true,
    finish: "finish_reason",
    counts: ["prompt_tokens", "completion_tokens", "cached_tokens", "", "", "reasoning_tokens"],
    has_cached: true,
    ..PLAIN_KEYS
};
