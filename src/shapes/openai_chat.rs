//! OpenAI's chat completions.

use alloc::vec::Vec;

use crate::record::message::Role;
use crate::shapes::forms::{Arguments, Forms, calls, content};
use crate::shapes::json::Json;
use crate::shapes::message::{PLAIN, Words};
use crate::shapes::pieces::BETWEEN_TEXTS;
use crate::shapes::reasoning::Piece;
use crate::shapes::steps::Step;

const IMAGE: &str = r#"{"type":"image_url","image_url":{"url":?2}}"#;
const FORMS: Forms = Forms {
    text: r#"{"type":"text","text":?0}"#,
    image: [IMAGE, IMAGE],
    pdf: [r#"{"type":"file","file":{"filename":?3,"file_data":?2}}"#, ""],
    sound: r#"{"type":"input_audio","input_audio":{"data":?0,"format":?4}}"#,
    other: ["", ""],
    others: &[],
    addresses: &["http://", "https://"],
    call: r#"{"id":?0,"type":"function","function":{"name":?1,"arguments":?2}}"#,
    arguments: Arguments::Text,
};

pub(super) fn write(steps: &[Step<'_>], json: &mut Json) {
    for step in steps {
        match step.role {
            Role::System => json.put(r#"{"role":"system","content":?0}"#, &[&step.said()]),
            Role::User if step.files.is_empty() => json.put(r#"{"role":"user","content":?0}"#, &[step.text]),
            Role::User => {
                json.put(r#"{"role":"user","content":["#, &[]);
                content(step.text, &step.files, &FORMS, json);
                json.put("]}", &[]);
            }
            Role::Assistant => answer(step, json),
            Role::Tool => {}
        }
        for (call, result) in step.results() {
            json.put(r#"{"role":"tool","tool_call_id":?0,"content":?1}"#, &[&call.id, &result.said()]);
        }
    }
}

fn answer(step: &Step<'_>, json: &mut Json) {
    match &*step.said() {
        "" => json.put(r#"{"role":"assistant","content":null"#, &[]),
        said => json.put(r#"{"role":"assistant","content":?0"#, &[said]),
    }
    let thoughts = step.pieces().into_iter().filter_map(|piece| match piece {
        Piece::Thought(thought) => Some(thought.text.as_str()),
        Piece::Text(_) | Piece::Call(_) => None,
    });
    let thoughts: Vec<&str> = thoughts.collect();
    if !thoughts.is_empty() {
        json.put(r#""reasoning_content":?0"#, &[&thoughts.join(BETWEEN_TEXTS)]);
    }
    if !step.calls.is_empty() {
        json.put(r#""tool_calls":["#, &[]);
        calls(step, &FORMS, json);
        json.put("]", &[]);
    }
    json.put("}", &[]);
}

pub(super) const WORDS: Words = Words {
    answers: ["choices", "message"],
    has_results: true,
    finish: "finish_reason",
    counts: ["prompt_tokens", "completion_tokens", "cached_tokens", "", "reasoning_tokens"],
    has_cached: true,
    ..PLAIN
};
