//! One message, of whatever shape but that of Responses: a role, a content, and what an answer says of itself.

use alloc::format;
use alloc::string::String;

use crate::json::fields::{BadValue, Fields};
use crate::json::text::Text;
use crate::record::draft;
use crate::record::message::{Assistant, Role, Usage};
use crate::shapes::reading::{Reading, text_or_json};

/// A provider's words.
pub(super) struct Words {
    /// Where an answer has its messages, one of which is inside the first of these.
    pub answers: [&'static str; 2],
    pub content: &'static str,
    /// What a tool says is a message by itself, not a part of one.
    pub has_results: bool,
    pub model: &'static str,
    pub finish: &'static str,
    pub usage: &'static str,
    /// Input, output, from the cache, to the cache, reasoning; there or one object deeper.
    pub counts: [&'static str; 5],
    /// The input has those from the cache in it.
    pub has_cached: bool,
    /// The output has no reasoning in it.
    pub lacks_reasoning: bool,
}

/// The words that all have; none for answers and counts.
pub(super) const PLAIN: Words = Words {
    answers: ["", ""],
    content: "content",
    has_results: false,
    model: "model",
    finish: "",
    usage: "usage",
    counts: [""; 5],
    has_cached: false,
    lacks_reasoning: false,
};

pub(super) fn read(mut fields: Fields<'_>, words: &Words, reading: &mut Reading) {
    about(&mut fields, words, reading);
    let mut usual = None;
    if fields.has(words.answers[0]) {
        let Some(message) = chosen(&fields, words, reading) else { return };
        fields = message;
        usual = Some(Role::Assistant).filter(|_| !fields.has("role"));
    }
    let Some(role) = usual.or_else(|| role(&fields, reading)) else { return };
    refuse_near(&fields, reading);
    thought(&mut fields, reading);
    if role == Role::Tool && (words.has_results || fields.has("tool_call_id")) {
        // What was called before calls had ids is known by its name.
        let key = if fields.raw("role") == Some("\"function\"") { "name" } else { "tool_call_id" };
        let id = reading.needed(&mut fields, key);
        let name = reading.word(&mut fields, &["name"]);
        reading.result(id, name, false, Text::default());
        reading.more_of_result(&fields, "content");
        return reading.end(role);
    }
    said(&mut fields, words, reading);
    for mut call in reading.objects(&fields, "tool_calls") {
        let id = reading.needed(&mut call, "id");
        if !called(reading, &mut call, Some(id)) {
            reading.lacks(&call, "function", "an object");
        }
    }
    called(reading, &mut fields, None);
    reading.end(role);
}

// The message of an answer. Of several only the caller knows with which one the conversation goes on.
fn chosen<'a>(fields: &Fields<'a>, words: &Words, reading: &mut Reading) -> Option<Fields<'a>> {
    let [list, key] = words.answers;
    let mut all = reading.objects(fields, list);
    if all.len() > 1 {
        let message = "expected one answer, but found several".into();
        reading.bad.push(BadValue { message });
    }
    let Some(first) = all.pop() else {
        reading.lacks(fields, list, "an answer");
        return None;
    };
    if let Some(about) = &mut reading.about {
        about.finish_reason = word(&first, words.finish);
    }
    let message = reading.inner(&first, key);
    if message.is_none() {
        reading.lacks(&first, key, "an object");
    }
    message
}

// Some say it under both keys.
fn thought(fields: &mut Fields<'_>, reading: &mut Reading) {
    let said = reading.text_in(fields, &["reasoning_content"]).unwrap_or_default();
    let other = reading.text_in(fields, &["reasoning"]).unwrap_or_default();
    if said != other {
        reading.reasoning(other, None, None);
    }
    reading.reasoning(said, None, None);
}

fn said(fields: &mut Fields<'_>, words: &Words, reading: &mut Reading) {
    let is_there = fields.raw(words.content).is_some_and(|raw| raw != "null");
    let key = if is_there { words.content } else { "content" };
    reading.content(fields.raw(key), &fields.path_to(key));
    // Older messages of the AI SDK have their text under both keys.
    if key != "content" {
        let beside = reading.text_in(fields, &["content"]);
        reading.other_text(beside);
    }
    let refusal = reading.text_in(fields, &["refusal"]);
    reading.text(refusal);
    if let Some(audio) = reading.inner(fields, "audio") {
        reading.part("audio", audio);
    }
}

// By another one of these keys one of them was meant, which then lacks.
fn refuse_near(fields: &Fields<'_>, reading: &mut Reading) {
    const KEYS: [&str; 8] = [
        "content",
        "parts",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "reasoning_content",
        "reasoning",
        "refusal",
    ];
    for (key, _) in fields.named() {
        if let Some(meant) = draft::same_letters(key, &KEYS) {
            let message = format!("expected another key than \"{key}\" (did you mean \"{meant}\"?)");
            reading.bad.push(BadValue { message });
        }
    }
}

// Whether there is a call. What was called before calls had ids is known by its name.
fn called(reading: &mut Reading, fields: &mut Fields<'_>, id: Option<String>) -> bool {
    let mut is_any = false;
    for key in ["function", "custom", "function_call"] {
        let Some(mut call) = reading.inner(fields, key) else { continue };
        let name = reading.needed(&mut call, "name");
        let arguments = call.raw("arguments").or_else(|| call.raw("input"));
        reading.call(id.clone().unwrap_or_else(|| name.clone()), name, arguments.map(text_or_json));
        is_any = true;
    }
    is_any
}

/// Who speaks, by any provider's word for it. A content of Gemini's without a role is the user's.
pub(super) fn role(fields: &Fields<'_>, reading: &mut Reading) -> Option<Role> {
    const ROLES: [(&str, Role); 7] = [
        ("\"user\"", Role::User),
        ("\"assistant\"", Role::Assistant),
        ("\"model\"", Role::Assistant),
        ("\"tool\"", Role::Tool),
        ("\"system\"", Role::System),
        ("\"developer\"", Role::System),
        ("\"function\"", Role::Tool),
    ];
    let raw = fields.raw("role").or_else(|| fields.raw("parts").map(|_| ROLES[0].0)).unwrap_or_default();
    let known = ROLES.iter().find(|(word, _)| *word == raw);
    if known.is_none() {
        let found = match raw.get(..40).unwrap_or(raw) {
            "" => "none".into(),
            raw => format!("{raw} instead"),
        };
        reading.bad.push(BadValue { message: format!("expected a \"role\", but found {found}") });
    }
    known.map(|(_, role)| *role)
}

/// What an answer says of itself, if it does. It is a hint: what is of another kind is left out.
pub(super) fn about(fields: &mut Fields<'_>, words: &Words, reading: &mut Reading) {
    let model = word(fields, words.model);
    let usage =
        fields.raw(words.usage).and_then(|raw| Fields::parse(raw).ok()).map(|counts| usage(&counts, words));
    if model.is_some() || usage.is_some() {
        let finish_reason = word(fields, words.finish);
        reading.about = Some(Assistant { model, finish_reason, usage, ..Assistant::default() });
    }
}

fn word(fields: &Fields<'_>, key: &str) -> Option<String> {
    fields.raw(key).and_then(Text::decode).map(|text| text.as_str().into())
}

fn usage(counts: &Fields<'_>, words: &Words) -> Usage {
    let mut read = [None; 5];
    for (count, name) in read.iter_mut().zip(words.counts) {
        let inside = |(_, value)| Fields::parse(value).ok()?.raw(name);
        let raw = counts.raw(name).or_else(|| counts.iter().find_map(inside));
        *count = raw.and_then(|raw| raw.parse::<u64>().ok());
    }
    let [input, output, cache_read, cache_write, reasoning] = read;
    let or_none = |count: Option<u64>, is_meant: bool| count.filter(|_| is_meant).unwrap_or_default();
    let input = input.map(|input| input.saturating_sub(or_none(cache_read, words.has_cached)));
    let output = output.map(|output| output.saturating_add(or_none(reasoning, words.lacks_reasoning)));
    Usage { input, output, cache_read, cache_write, reasoning, ..Usage::default() }
}
