//! Vercel AI SDK's `ModelMessage`, versions 6 and 7.

use crate::record::message::Role;
use crate::shapes::json::JsonWriter;
use crate::shapes::maker::Maker;
use crate::shapes::part::DENIED_RESULT;
use crate::shapes::patterns::{Arguments, Forms, write_call, write_calls, write_content};
use crate::shapes::reasoning::OutgoingPiece;
use crate::shapes::steps::{Step, ToolAnswer};

const TEXT: &str = r#"{"type":"text","text":?0}"#;
const FILE: &str = r#"{"type":"file","data":?0,"mediaType":?1,"filename":?3}"#;
const FORMS: Forms = Forms {
    text: TEXT,
    image: [FILE, FILE],
    pdf: [FILE, FILE],
    sound: "",
    other: [FILE, FILE],
    other_types: &[""],
    addresses: &[""],
    call: r#"{"type":"tool-call","toolCallId":?0,"toolName":?1,"input":!2}"#,
    arguments: Arguments::Value,
};

// The part types in a result; version 7 advises against them, and version 6 knows no others.
const RESULT_PART_FORMS: [&str; 2] =
    [r#"{"type":"file-data","data":?0,"mediaType":?1}"#, r#"{"type":"file-url","url":?0,"mediaType":?1}"#];
const RESULT_FORMS: Forms =
    Forms { image: RESULT_PART_FORMS, pdf: RESULT_PART_FORMS, other: RESULT_PART_FORMS, ..FORMS };

pub(super) fn write(steps: &[Step<'_>], json: &mut JsonWriter) {
    for step in steps {
        match step.role {
            Role::System => json.put(r#"{"role":"system","content":?0}"#, &[&step.text_with_files()]),
            Role::User => write_message("user", step, json),
            Role::Assistant => write_message("assistant", step, json),
            Role::Tool => {}
        }
        let results = step.results();
        if results.is_empty() {
            continue;
        }
        json.put(r#"{"role":"tool","content":["#, &[]);
        for (call, result) in results {
            let words = [&*call.id, &call.name];
            json.put(r#"{"type":"tool-result","toolCallId":?0,"toolName":?1,"output":"#, &words);
            write_output(result, json);
            json.put("}", &[]);
        }
        json.put("]}", &[]);
    }
}

fn write_message(role: &str, step: &Step<'_>, json: &mut JsonWriter) {
    if step.files.is_empty() && step.calls.is_empty() {
        return json.put(r#"{"role":?0,"content":?1}"#, &[role, step.text]);
    }
    json.put(r#"{"role":?0,"content":["#, &[role]);
    if step.thoughts.is_empty() {
        write_content(step.text, &step.files, &FORMS, json);
        write_calls(step, &FORMS, json);
    } else {
        write_reasoning(step, json);
        write_content("", &step.files, &FORMS, json);
    }
    json.put("]}", &[]);
}

// Google's signature of a part is written before it, as reasoning without a text.
fn write_reasoning(step: &Step<'_>, json: &mut JsonWriter) {
    const SIGNED_FORMS: Forms = Forms {
        text: r#"{"type":"text","text":?0,"providerOptions":{"google":{"thoughtSignature":?1}}}"#,
        call: r#"{"type":"tool-call","toolCallId":?0,"toolName":?1,"input":!2,"providerOptions":{"google":{"thoughtSignature":?3}}}"#,
        ..FORMS
    };
    let mut signature = "";
    for piece in step.pieces() {
        let forms = if signature.is_empty() { &FORMS } else { &SIGNED_FORMS };
        match piece {
            OutgoingPiece::Thought(thought) => {
                let (text, is_googles) = (thought.text.as_str(), step.maker == Some(Maker::Google));
                let of_thought = thought.signature.as_deref().unwrap_or_default();
                if is_googles && text.is_empty() {
                    signature = of_thought;
                    continue;
                }
                let (options, word) = match (&thought.signature, &thought.data) {
                    (Some(_), _) if is_googles => (r#"{"google":{"thoughtSignature":?1}}"#, of_thought),
                    (Some(_), _) => (r#"{"anthropic":{"signature":?1}}"#, of_thought),
                    (None, data) => {
                        (r#"{"anthropic":{"redactedData":?1}}"#, data.as_deref().unwrap_or_default())
                    }
                };
                let pattern = [r#"{"type":"reasoning","text":?0,"providerOptions":"#, options, "}"].concat();
                json.put(&pattern, &[text, word]);
            }
            OutgoingPiece::Text(text) => json.put(forms.text, &[text, signature]),
            OutgoingPiece::Call(one) => write_call(one, signature, forms, json),
        }
        signature = "";
    }
}

// An error result has no files.
fn write_output(result: &ToolAnswer<'_>, json: &mut JsonWriter) {
    let has_files = !result.files.is_empty();
    if let Some(value) = result.value().filter(|_| !has_files) {
        let kind = if result.is_error { "error-json" } else { "json" };
        return json.put(r#"{"type":?0,"value":!1}"#, &[kind, &value]);
    }
    if result.tool().is_some_and(|tool| tool.not_run) {
        json.put(r#"{"type":"execution-denied""#, &[]);
        if result.text != DENIED_RESULT {
            json.put(r#""reason":?0"#, &[&result.text_with_files()]);
        }
        return json.put("}", &[]);
    }
    if result.is_error || !has_files {
        let kind = if result.is_error { "error-text" } else { "text" };
        return json.put(r#"{"type":?0,"value":?1}"#, &[kind, &result.text_with_files()]);
    }
    json.put(r#"{"type":"content","value":["#, &[]);
    write_content(result.text, &result.files, &RESULT_FORMS, json);
    json.put("]}", &[]);
}
