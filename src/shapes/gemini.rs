//! Gemini's contents.

use alloc::format;
use alloc::string::String;

use crate::json::fields::Fields;
use crate::json::text::Text;
use crate::record::message::Role;
#[cfg(feature = "interop")]
use crate::shapes::file::File;
#[cfg(feature = "interop")]
use crate::shapes::forms::pattern;
use crate::shapes::forms::{Arguments, Forms, call, calls, content};
use crate::shapes::json::Json;
use crate::shapes::message::Words;
use crate::shapes::part::file;
use crate::shapes::reading::Reading;
use crate::shapes::reasoning::Piece;
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
    others: &["image/", "audio/", "video/", "text/", "application/json", "application/rtf"],
    addresses: &["http://", "https://", "gs://"],
    call: r#"{"functionCall":{"id":?0,"name":?1,"args":!2}}"#,
    arguments: Arguments::Object,
};

/// Whether it takes a file, as its bytes or at its address.
#[cfg(feature = "interop")]
pub(crate) fn takes(file: &File<'_>) -> bool {
    !pattern(file, &FORMS).is_empty()
}

pub(super) fn write(steps: &[Step<'_>], json: &mut Json) {
    let mut speakers = Speakers::new(json, "parts");
    for step in steps {
        match step.role {
            Role::System => speakers.system(step, &FORMS),
            Role::User => content(step.text, &step.files, &FORMS, speakers.speak("user")),
            Role::Assistant => {
                let json = speakers.speak("model");
                if step.thoughts.is_empty() {
                    content(step.text, &step.files, &FORMS, json);
                    calls(step, &FORMS, json);
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
        // Behind all results, of which there have to be as many as calls.
        for (_, result) in results {
            content("", &result.files, &FORMS, speakers.speak("user"));
        }
    }
    speakers.finish();
}

// The signature of a part stands before it as reasoning without a text.
fn write_signatures(step: &Step<'_>, json: &mut Json) {
    const SIGNED: Forms = Forms {
        text: r#"{"text":?0,"thoughtSignature":?1}"#,
        call: r#"{"functionCall":{"id":?0,"name":?1,"args":!2},"thoughtSignature":?3}"#,
        ..FORMS
    };
    let mut signature = "";
    for piece in step.pieces() {
        let forms = if signature.is_empty() { &FORMS } else { &SIGNED };
        match piece {
            Piece::Thought(thought) => {
                let of_thought = thought.signature.as_deref().unwrap_or_default();
                if thought.text.is_empty() {
                    signature = of_thought;
                    continue;
                }
                let words = [thought.text.as_str(), of_thought];
                json.put(r#"{"text":?0,"thought":true,"thoughtSignature":?1}"#, &words);
            }
            Piece::Text(text) => json.put(forms.text, &[text, signature]),
            Piece::Call(one) => call(one, signature, forms, json),
        }
        signature = "";
    }
    content("", &step.files, &FORMS, json);
}

pub(super) const WORDS: Words = Words {
    answers: ["candidates", "content"],
    content: "parts",
    has_results: false,
    model: "modelVersion",
    finish: "finishReason",
    usage: "usageMetadata",
    counts: ["promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "", "thoughtsTokenCount"],
    has_cached: true,
    lacks_reasoning: true,
};

/// A part has no type: it has what it is.
pub(super) fn part(reading: &mut Reading, part: &mut Fields<'_>) -> bool {
    let signature = reading.some_word(part, &["thoughtSignature"]);
    let is_thought = part.raw("thought") == Some("true");
    let said = reading.text_in(part, &["text"]);
    let mut is_known = signature.is_some() || said.is_some();
    let (thought, said) = if is_thought { (said.unwrap_or_default(), None) } else { (Text::default(), said) };
    reading.reasoning(thought, signature, None);
    reading.text(said);
    if let Some(mut call) = reading.inner(part, "functionCall") {
        let (id, name) = identity(&mut call, reading);
        reading.call(id, name, call.raw("args").map(Text::from));
        is_known = true;
    }
    if let Some(mut answer) = reading.inner(part, "functionResponse") {
        let (id, name) = identity(&mut answer, reading);
        let (is_error, is_json, text) = response(answer.raw("response").unwrap_or("{}"));
        reading.result(id, name, is_error, text);
        // Images that the function gave.
        reading.more_of_result(&answer, "parts");
        if let Some(tool) = reading.newest() {
            tool.is_json = is_json;
        }
        is_known = true;
    }
    let is_file = part.has("inlineData") || part.has("fileData");
    is_file && file(reading, "", part) || is_known
}

// Where calls have no ids, the first result of a name answers the first call of it.
fn identity(fields: &mut Fields<'_>, reading: &mut Reading) -> (String, String) {
    let (mut id, name) = (reading.word(fields, &["id"]), reading.needed(fields, "name"));
    if id.is_empty() {
        reading.named.push(name.clone());
        let count = reading.named.iter().filter(|met| **met == name).count();
        // No name has a `#`: it may end in a number itself.
        id = if count == 1 { name.clone() } else { format!("{name}#{count}") };
    }
    (id, name)
}

/// Gemini's own words for what a function gave and what went wrong; anything else is kept as the JSON that it is. Whether it
/// went wrong, whether it is JSON, and what it says.
pub(crate) fn response(raw: &str) -> (bool, bool, Text) {
    let only = Fields::parse(raw).ok().filter(|fields| fields.iter().count() == 1);
    let text = |key: &str| Text::decode(only.as_ref()?.raw(key)?);
    match (text("output"), text("error")) {
        (Some(output), _) => (false, false, output),
        (None, Some(error)) => (true, false, error),
        (None, None) => (false, true, raw.into()),
    }
}
