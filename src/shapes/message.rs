//! One message of any shape but Responses: a role, a content, and an answer's fields about itself.

use alloc::format;
use alloc::string::String;

use crate::json::fields::{BadValue, Fields};
use crate::json::text::Text;
use crate::record::draft;
use crate::record::message::{Assistant, Role, Usage};
use crate::shapes::reading::{DraftReader, text_or_json};

/// The field names of a provider.
pub(super) struct ProviderKeys {
    /// The fields in which an answer has its messages: the list, and in each of its elements the message.
    pub answers: [&'static str; 2],
    pub content: &'static str,
    /// True if a tool's result is a message by itself, not a part of one.
    pub has_results: bool,
    pub model: &'static str,
    pub finish: &'static str,
    pub usage: &'static str,
    /// Tokens of input, output, cache reads, cache writes, those of them for an hour, reasoning; here or one object deeper.
    pub counts: [&'static str; 6],
    /// True if the input count includes cached tokens.
    pub has_cached: bool,
    /// True if the output count excludes reasoning.
    pub lacks_reasoning: bool,
}

/// The names that all providers share; none for answers and counts.
pub(super) const PLAIN_KEYS: ProviderKeys = ProviderKeys {
    answers: ["", ""],
    content: "content",
    has_results: false,
    model: "model",
    finish: "",
    usage: "usage",
    counts: [""; 6],
    has_cached: false,
    lacks_reasoning: false,
};

pub(super) fn read_message(mut fields: Fields<'_>, words: &ProviderKeys, reading: &mut DraftReader) {
    read_answer_fields(&mut fields, words, reading);
    let mut usual = None;
    if fields.has(words.answers[0]) {
        let Some(message) = take_answer_message(&fields, words, reading) else { return };
        fields = message;
        usual = Some(Role::Assistant).filter(|_| !fields.has("role"));
    }
    let Some(role) = usual.or_else(|| read_role(&fields, reading)) else { return };
    reject_near_keys(&fields, reading);
    read_reasoning(&mut fields, reading);
    if role == Role::Tool && (words.has_results || fields.has("tool_call_id")) {
        // A function from the time before call ids is identified by its name.
        let key = if fields.raw("role") == Some("\"function\"") { "name" } else { "tool_call_id" };
        let id = reading.take_required_word(&mut fields, key);
        let name = reading.take_word_or_empty(&mut fields, &["name"]);
        reading.add_result(id, name, false, Text::default());
        reading.extend_result(&fields, "content");
        return reading.end_message(role);
    }
    read_content(&mut fields, words, reading);
    for mut call in reading.inner_objects(&fields, "tool_calls") {
        let id = reading.take_required_word(&mut call, "id");
        if !read_call(reading, &mut call, Some(id)) {
            reading.report_missing(&call, "function", "an object");
        }
    }
    read_call(reading, &mut fields, None);
    reading.end_message(role);
}

// Returns the message of an answer. Only the caller knows which of several continues the conversation.
fn take_answer_message<'a>(
    fields: &Fields<'a>,
    words: &ProviderKeys,
    reading: &mut DraftReader,
) -> Option<Fields<'a>> {
    let [list, key] = words.answers;
    let mut all = reading.inner_objects(fields, list);
    if all.len() > 1 {
        let message = "expected one answer, but found several".into();
        reading.bad.push(BadValue { message });
    }
    let Some(first) = all.pop() else {
        reading.report_missing(fields, list, "an answer");
        return None;
    };
    if let Some(about) = &mut reading.answer_fields {
        about.finish_reason = decode_string(&first, words.finish);
    }
    let message = reading.inner_object(&first, key);
    if message.is_none() {
        reading.report_missing(&first, key, "an object");
    }
    message
}

// Some providers state the same reasoning under both keys.
fn read_reasoning(fields: &mut Fields<'_>, reading: &mut DraftReader) {
    let text = reading.take_text(fields, &["reasoning_content"]).unwrap_or_default();
    let other = reading.take_text(fields, &["reasoning"]).unwrap_or_default();
    if text != other {
        reading.add_reasoning(other, None, None);
    }
    reading.add_reasoning(text, None, None);
}

fn read_content(fields: &mut Fields<'_>, words: &ProviderKeys, reading: &mut DraftReader) {
    let is_there = fields.raw(words.content).is_some_and(|raw| raw != "null");
    let key = if is_there { words.content } else { "content" };
    reading.read_content(fields.raw(key), &fields.path_to(key));
    // Older messages of the AI SDK have their text under both keys.
    if key != "content" {
        let beside = reading.take_text(fields, &["content"]);
        reading.add_text_once(beside);
    }
    let refusal = reading.take_text(fields, &["refusal"]);
    reading.add_text(refusal);
    if let Some(audio) = reading.inner_object(fields, "audio") {
        reading.read_part("audio", audio);
    }
}

// Rejects a key that is nearly one of these: it was meant, and would be missing.
fn reject_near_keys(fields: &Fields<'_>, reading: &mut DraftReader) {
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
    for (key, _) in fields.decoded_entries() {
        if let Some(meant) = draft::find_same_letters(key, &KEYS) {
            let message = format!("expected another key than \"{key}\" (did you mean \"{meant}\"?)");
            reading.bad.push(BadValue { message });
        }
    }
}

// Reads a call and returns whether there is one. A function from the time before call ids is identified by its name.
fn read_call(reading: &mut DraftReader, fields: &mut Fields<'_>, id: Option<String>) -> bool {
    let mut is_any = false;
    for key in ["function", "custom", "function_call"] {
        let Some(mut call) = reading.inner_object(fields, key) else { continue };
        let name = reading.take_required_word(&mut call, "name");
        let arguments = call.raw("arguments").or_else(|| call.raw("input"));
        reading.add_call(id.clone().unwrap_or_else(|| name.clone()), name, arguments.map(text_or_json));
        is_any = true;
    }
    is_any
}

/// Reads the speaker, in any provider's word. Gemini's content without a role is the user's.
pub(super) fn read_role(fields: &Fields<'_>, reading: &mut DraftReader) -> Option<Role> {
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

/// Reads an answer's fields about itself, if any. They are hints: a value of another kind is ignored.
pub(super) fn read_answer_fields(fields: &mut Fields<'_>, words: &ProviderKeys, reading: &mut DraftReader) {
    let model = decode_string(fields, words.model);
    let usage = fields
        .raw(words.usage)
        .and_then(|raw| Fields::parse(raw).ok())
        .map(|counts| parse_usage(&counts, words));
    if model.is_some() || usage.is_some() {
        let finish_reason = decode_string(fields, words.finish);
        reading.answer_fields = Some(Assistant { model, finish_reason, usage, ..Assistant::default() });
    }
}

fn decode_string(fields: &Fields<'_>, key: &str) -> Option<String> {
    fields.raw(key).and_then(Text::decode).map(|text| text.as_str().into())
}

fn parse_usage(counts: &Fields<'_>, words: &ProviderKeys) -> Usage {
    let mut read = [None; 6];
    for (count, name) in read.iter_mut().zip(words.counts) {
        let inside = |(_, value)| Fields::parse(value).ok()?.raw(name);
        let raw = counts.raw(name).or_else(|| counts.iter().find_map(inside));
        *count = raw.and_then(|raw| raw.parse::<u64>().ok());
    }
    let [input, output, cache_read, cache_write, cache_write_hour, reasoning] = read;
    let or_none = |count: Option<u64>, is_meant: bool| count.filter(|_| is_meant).unwrap_or_default();
    let input = input.map(|input| input.saturating_sub(or_none(cache_read, words.has_cached)));
    let output = output.map(|output| output.saturating_add(or_none(reasoning, words.lacks_reasoning)));
    let cache_write_hour = cache_write_hour.filter(|tokens| *tokens > 0);
    Usage { input, output, cache_read, cache_write, cache_write_hour, reasoning, ..Usage::default() }
}
