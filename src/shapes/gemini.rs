//! The contents of Gemini's API.

use alloc::format;
use alloc::string::String;

use crate::json::fields::Fields;
use crate::json::text::Text;
use crate::record::message::Role;
#[cfg(feature = "interop")]
use crate::shapes::file::File;
use crate::shapes::json::JsonWriter;
use crate::shapes::message::ProviderKeys;
use crate::shapes::part::read_file;
#[cfg(feature = "interop")]
use crate::shapes::patterns::file_pattern;
use crate::shapes::patterns::{Arguments, Forms, write_call, write_calls, write_content};
use crate::shapes::reading::DraftReader;
use crate::shapes::reasoning::OutgoingPiece;
use crate::shapes::speakers::Speakers;
use crate::shapes::steps::Step;

const FILE: [&str; 2] =
    [r#"{"inlineData":{"mimeType":?1,"data":?0}}"#, r#"{"fileData":{"mimeType":?1,"fileUri":?0}}"#];
const FORMS: Forms = Forms {
    text: r#"{"text":?0}"#,
    image: FILE,
    pdf: FILE,
    sound: "",
    other: FILE,
    other_types: &["image/", "audio/", "video/", "text/", "application/json", "application/rtf"],
    addresses: &["http://", "https://", "gs://"],
    call: r#"{"functionCall":{"id":?0,"name":?1,"args":!2}}"#,
    arguments: Arguments::Object,
};

/// True if Gemini accepts a file, inline or at its address.
#[cfg(feature = "interop")]
pub(crate) fn accepts_file(file: &File<'_>) -> bool {
    !file_pattern(file, &FORMS).is_empty()
}

pub(super) fn write(steps: &[Step<'_>], json: &mut JsonWriter) {
    let mut speakers = Speakers::new(json, "parts");
    for step in steps {
        match step.role {
            Role::System => speakers.system(step, &FORMS),
            Role::User => write_content(step.text, &step.files, &FORMS, speakers.speak("user")),
            Role::Assistant => {
                let json = speakers.speak("model");
                if step.thoughts.is_empty() {
                    write_content(step.text, &step.files, &FORMS, json);
                    write_calls(step, &FORMS, json);
                } else {
                    write_signatures(step, json);
                }
            }
            Role::Tool => {}
        }
        let results = step.results();
        for (call, result) in &results {
            let key = if result.is_error { "error" } else { "output" };
            let words = [&*call.id, &call.name, key, result.text];
            let json = speakers.speak("user");
            match result.value().filter(|value| !result.is_error && value.starts_with('{')) {
                Some(value) => json.put(
                    r#"{"functionResponse":{"id":?0,"name":?1,"response":!2}}"#,
                    &[&call.id, &call.name, &value],
                ),
                None => {
                    json.put(r#"{"functionResponse":{"id":?0,"name":?1,"response":{?2:?3}}}"#, &words);
                }
            }
        }
        // After all results, whose number must equal that of the calls.
        for (_, result) in results {
            write_content("", &result.files, &FORMS, speakers.speak("user"));
        }
    }
    speakers.finish();
}

// The signature of a part is stored before it, as reasoning without a text.
fn write_signatures(step: &Step<'_>, json: &mut JsonWriter) {
    const SIGNED_FORMS: Forms = Forms {
        text: r#"{"text":?0,"thoughtSignature":?1}"#,
        call: r#"{"functionCall":{"id":?0,"name":?1,"args":!2},"thoughtSignature":?3}"#,
        ..FORMS
    };
    let mut signature = "";
    for piece in step.pieces() {
        let forms = if signature.is_empty() { &FORMS } else { &SIGNED_FORMS };
        match piece {
            OutgoingPiece::Thought(thought) => {
                let of_thought = thought.signature.as_deref().unwrap_or_default();
                if thought.text.is_empty() {
                    signature = of_thought;
                    continue;
                }
                let words = [thought.text.as_str(), of_thought];
                json.put(r#"{"text":?0,"thought":true,"thoughtSignature":?1}"#, &words);
            }
            OutgoingPiece::Text(text) => json.put(forms.text, &[text, signature]),
            OutgoingPiece::Call(one) => write_call(one, signature, forms, json),
        }
        signature = "";
    }
    write_content("", &step.files, &FORMS, json);
}

pub(super) const GEMINI_KEYS: ProviderKeys = ProviderKeys {
    answers: ["candidates", "content"],
    content: "parts",
    has_results: false,
    model: "modelVersion",
    finish: "finishReason",
    usage: "usageMetadata",
    counts: [
        "promptTokenCount",
        "candidatesTokenCount",
        "cachedContentTokenCount",
        "",
        "",
        "thoughtsTokenCount",
    ],
    has_cached: true,
    lacks_reasoning: true,
};

/// A part has no type field: its key is its kind.
pub(super) fn read_part(reading: &mut DraftReader, part: &mut Fields<'_>) -> bool {
    let signature = reading.take_word(part, &["thoughtSignature"]);
    let is_thought = part.raw("thought") == Some("true");
    let said = reading.take_text(part, &["text"]);
    let mut is_known = signature.is_some() || said.is_some();
    let (thought, said) = if is_thought { (said.unwrap_or_default(), None) } else { (Text::default(), said) };
    reading.add_reasoning(thought, signature, None);
    reading.add_text(said);
    if let Some(mut call) = reading.inner_object(part, "functionCall") {
        let (id, name) = read_identity(&mut call, reading);
        reading.add_call(id, name, call.raw("args").map(Text::from));
        is_known = true;
    }
    if let Some(mut answer) = reading.inner_object(part, "functionResponse") {
        let (id, name) = read_identity(&mut answer, reading);
        let (is_error, is_json, text) = parse_response(answer.raw("response").unwrap_or("{}"));
        reading.add_result(id, name, is_error, text);
        // Images returned by the function.
        reading.extend_result(&answer, "parts");
        if let Some(tool) = reading.newest_tool() {
            tool.is_json = is_json;
        }
        is_known = true;
    }
    let is_file = part.has("inlineData") || part.has("fileData");
    is_file && read_file(reading, "", part) || is_known
}

// If calls have no ids, the first result of a name answers the first call of it.
fn read_identity(fields: &mut Fields<'_>, reading: &mut DraftReader) -> (String, String) {
    let (mut id, name) =
        (reading.take_word_or_empty(fields, &["id"]), reading.take_required_word(fields, "name"));
    if id.is_empty() {
        reading.names_without_id.push(name.clone());
        let count = reading.names_without_id.iter().filter(|met| **met == name).count();
        // No name has a `#`, though it may end in a number.
        id = if count == 1 { name.clone() } else { format!("{name}#{count}") };
    }
    (id, name)
}

/// Reads Gemini's fields for a function's output and error; any other response is kept as JSON. Returns whether it
/// failed, whether the text is JSON, and the text.
pub(crate) fn parse_response(raw: &str) -> (bool, bool, Text) {
    let only = Fields::parse(raw).ok().filter(|fields| fields.iter().count() == 1);
    let text = |key: &str| Text::decode(only.as_ref()?.raw(key)?);
    match (text("output"), text("error")) {
        (Some(output), _) => (false, false, output),
        (None, Some(error)) => (true, false, error),
        (None, None) => (false, true, raw.into()),
    }
}
