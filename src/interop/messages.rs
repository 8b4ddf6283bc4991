//! The providers' message shapes, out of a context and into a log. So far: leftoff's own, and Vercel AI SDK's
//! `ModelMessage`.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::context::{Context, Format, Report};
use crate::error::{Code, Error};
use crate::fields::{BadValue, Field, Fields, FromFields, NotFields, items, objects};
use crate::session::message::{Assistant, Attachment, Message, Part, Reasoning, Role, Tool, ToolCall};
use crate::text::{Extra, Text, to_json};

/// The messages of a context as a JSON array of the shape that was asked for.
pub fn write(messages: &[Message], format: Format) -> String {
    match format {
        Format::Leftoff => to_json(&messages.iter().map(plain).collect::<Vec<_>>()),
        Format::AiSdk => to_json(&ai_sdk(messages)),
    }
}

/// A context as document 004's `ContextBuildResult` and the report, JSON.
pub fn write_context(context: &Context, format: Format) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ContextBuildResult<'a> {
        messages: Box<RawValue>,
        strategy: &'a str,
        tokens_used: u32,
        token_budget: u32,
        original_message_count: u64,
        included_message_count: u64,
        summarized_message_count: u64,
        report: &'a Report,
    }
    to_json(&ContextBuildResult {
        messages: RawValue::from_string(write(&context.messages, format)).expect("what is written is JSON"),
        strategy: context.strategy,
        tokens_used: context.tokens_used,
        token_budget: context.token_budget,
        original_message_count: context.original_message_count,
        included_message_count: context.included_message_count,
        summarized_message_count: context.summarized_message_count,
        report: &context.report,
    })
}

/// Reads one message, or an array of them, as drafts for a log.
///
/// # Errors
/// `invalid_json`; `invalid_request`, naming the place and what was expected there. Then nothing is read.
pub fn read(json: &str, format: Format) -> Result<Vec<Message>, Error> {
    let json = json.trim_ascii();
    let all = match objects(json) {
        Some(objects) => objects,
        None => each(json)?,
    };
    let mut drafts = Vec::with_capacity(all.len());
    for (place, fields) in all.into_iter().enumerate() {
        let mut bad = Vec::new();
        let read = match format {
            Format::Leftoff => Message::from_fields(fields, &mut bad).map(|message| Vec::from([message])),
            Format::AiSdk => from_ai_sdk(fields, &mut bad),
        };
        if let Some(bad) = bad.into_iter().next() {
            return Err(invalid(place, &bad.message));
        }
        drafts.extend(read.ok_or_else(|| invalid(place, "expected a \"role\", but found none"))?);
    }
    Ok(drafts)
}

// One value after another, to say which is no object.
fn each(json: &str) -> Result<Vec<Fields<'_>>, Error> {
    let parsed = |(place, value)| {
        Fields::parse(value).map_err(|wrong| match wrong {
            NotFields::Invalid => {
                Error::new(Code::InvalidJson, format!("message {place}: expected JSON, but found none"))
            }
            NotFields::TooDeep => invalid(place, "expected a message, but found one that is nested too deep"),
            NotFields::Other(kind) => {
                invalid(place, &format!("expected a message, but found {kind} instead"))
            }
        })
    };
    items(json).unwrap_or_else(|| Vec::from([json])).into_iter().enumerate().map(parsed).collect()
}

fn invalid(place: usize, what: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("message {place}: {what}"))
}

// Without what only storage needs.
fn plain(message: &Message) -> Message {
    let assistant = message
        .assistant
        .as_ref()
        .map(|assistant| Assistant { tool_calls: assistant.tool_calls.clone(), ..Assistant::default() });
    Message {
        id: message.id.clone(),
        role: message.role,
        content: message.content.clone(),
        tool: message.tool.clone(),
        assistant: assistant.filter(|assistant| !assistant.tool_calls.is_empty()),
        attachments: message.attachments.clone(),
        ..Message::default()
    }
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum ModelMessage<'a> {
    System { content: &'a Text },
    User { content: Content<'a> },
    Assistant { content: Content<'a> },
    Tool { content: Vec<ModelPart<'a>> },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a Text),
    Parts(Vec<ModelPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum ModelPart<'a> {
    Text {
        text: &'a str,
    },
    File {
        data: &'a str,
        media_type: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
    },
    ToolCall {
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_call_id: &'a str,
        tool_name: &'a str,
        output: Output<'a>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", content = "value", rename_all = "kebab-case")]
enum Output<'a> {
    Text(&'a Text),
    ErrorText(&'a Text),
}

// Results that follow each other are parts of one message.
fn ai_sdk(messages: &[Message]) -> Vec<ModelMessage<'_>> {
    let mut shaped: Vec<ModelMessage<'_>> = Vec::new();
    for message in messages {
        let Some(role) = message.role else { continue };
        let next = match role {
            Role::System => ModelMessage::System { content: &message.content },
            Role::User => ModelMessage::User { content: user_content(message) },
            Role::Assistant => ModelMessage::Assistant { content: answer_content(message) },
            Role::Tool => {
                let part = result_part(message);
                if let Some(ModelMessage::Tool { content }) = shaped.last_mut() {
                    content.push(part);
                    continue;
                }
                ModelMessage::Tool { content: Vec::from([part]) }
            }
        };
        shaped.push(next);
    }
    shaped
}

fn user_content(message: &Message) -> Content<'_> {
    if message.attachments.is_empty() {
        return Content::Text(&message.content);
    }
    let text = Some(message.content.as_str()).filter(|text| !text.is_empty());
    let mut parts: Vec<ModelPart<'_>> = text.map(|text| ModelPart::Text { text }).into_iter().collect();
    parts.extend(message.attachments.iter().map(|file| ModelPart::File {
        data: file.data.as_deref().or(file.path.as_deref()).unwrap_or_default(),
        media_type: &file.mime,
        filename: file.name.as_deref(),
    }));
    Content::Parts(parts)
}

fn answer_content(message: &Message) -> Content<'_> {
    let calls = message.tool_calls();
    if calls.is_empty() {
        return Content::Text(&message.content);
    }
    let text = Some(message.content.as_str()).filter(|text| !text.is_empty());
    let mut parts: Vec<ModelPart<'_>> = text.map(|text| ModelPart::Text { text }).into_iter().collect();
    parts.extend(calls.iter().map(|call| ModelPart::ToolCall {
        tool_call_id: &call.id,
        tool_name: &call.name,
        input: input(&call.arguments),
    }));
    Content::Parts(parts)
}

fn result_part(message: &Message) -> ModelPart<'_> {
    let (id, name, is_error) =
        message.tool.as_ref().map_or(("", "", false), |tool| (&tool.call_id, &tool.name, tool.is_error));
    let output = if is_error { Output::ErrorText(&message.content) } else { Output::Text(&message.content) };
    ModelPart::ToolResult { tool_call_id: id, tool_name: name, output }
}

// Arguments that are no JSON are sent as the string they are.
fn input(arguments: &Text) -> Box<RawValue> {
    let valid = RawValue::from_string(arguments.as_str().to_owned());
    valid.unwrap_or_else(|_| RawValue::from_string(to_json(arguments)).expect("a string is JSON"))
}

fn from_ai_sdk(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Vec<Message>> {
    let role: Role = fields.take("role", bad)?;
    let content = fields.take_raw("content").unwrap_or("\"\"");
    let mut message = Message { role: Some(role), ..Message::default() };
    let Some(parts) = items(content) else {
        message.content = Text::read(content, "content", bad)?;
        return Some(Vec::from([message]));
    };
    let mut results = Vec::new();
    for part in parts {
        let Ok(fields) = Fields::parse(part) else {
            bad.push(BadValue {
                message: "expected an object for \"content[]\", but found something else instead".into(),
            });
            return None;
        };
        read_part(&mut message, &mut results, fields, bad)?;
    }
    let is_empty =
        message.content.is_empty() && message.assistant.is_none() && message.attachments.is_empty();
    let mut read = if is_empty && !results.is_empty() { Vec::new() } else { Vec::from([message]) };
    read.append(&mut results);
    Some(read)
}

fn read_part(
    message: &mut Message,
    results: &mut Vec<Message>,
    mut fields: Fields<'_>,
    bad: &mut Vec<BadValue>,
) -> Option<()> {
    let kind: String = fields.take("type", bad).unwrap_or_default();
    match kind.as_str() {
        "text" => {
            let text: Text = fields.take("text", bad).unwrap_or_default();
            let start = message.content.as_str().len() as u32;
            message.content = match message.content.is_empty() {
                true => text,
                false => format!("{}{}", message.content.as_str(), text.as_str()).into(),
            };
            order(message, Part::Text(start, message.content.as_str().len() as u32));
        }
        "reasoning" => {
            let text = fields.take("text", bad).unwrap_or_default();
            let reasoning = &mut message.assistant.get_or_insert_default().reasoning;
            reasoning.push(Reasoning { text, ..Reasoning::default() });
            let place = reasoning.len() as u32 - 1;
            order(message, Part::Reasoning(place));
        }
        "tool-call" => {
            let id = fields.take("toolCallId", bad).unwrap_or_default();
            let name = fields.take("toolName", bad).unwrap_or_default();
            let arguments = fields.take_raw("input").unwrap_or("{}").into();
            let calls = &mut message.assistant.get_or_insert_default().tool_calls;
            calls.push(ToolCall { id, name, arguments });
            let place = calls.len() as u32 - 1;
            order(message, Part::Call(place));
        }
        "tool-result" => results.push(result(fields, bad)),
        "file" | "image" => message.attachments.push(Attachment {
            mime: fields.take("mediaType", bad).unwrap_or_else(|| "image/*".into()),
            name: fields.take("filename", bad),
            data: fields.take(if kind == "file" { "data" } else { "image" }, bad),
            ..Attachment::default()
        }),
        _ => {
            bad.push(BadValue {
                message: format!("expected a part of type text, reasoning, file, tool-call or tool-result, but found {kind:?} instead"),
            });
            return None;
        }
    }
    Some(())
}

fn order(message: &mut Message, part: Part) {
    if message.role == Some(Role::Assistant) {
        message.assistant.get_or_insert_default().order.push(part);
    }
}

fn result(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Message {
    let call_id = fields.take("toolCallId", bad).unwrap_or_default();
    let name = fields.take("toolName", bad).unwrap_or_default();
    let mut output = fields.take_raw("output").and_then(|raw| Fields::parse(raw).ok());
    let mut taken = |key: &str| output.as_mut().and_then(|output| output.take_raw(key));
    let kind = taken("type").unwrap_or_default().trim_matches('"');
    let value = taken("value").or_else(|| taken("reason")).unwrap_or("\"\"");
    // What is no text is kept as the JSON it is.
    let content = match value.starts_with('"') {
        true => Text::read(value, "output.value", bad).unwrap_or_default(),
        false => Text::from(value),
    };
    let is_error = kind.starts_with("error") || kind == "execution-denied";
    let tool = Tool { call_id, name, is_error, extra: Extra::default() };
    Message { role: Some(Role::Tool), content, tool: Some(tool), ..Message::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ai_sdk: &str) {
        let drafts = read(ai_sdk, Format::AiSdk).unwrap();
        assert_eq!(write(&drafts, Format::AiSdk), ai_sdk);
        let plain = write(&drafts, Format::Leftoff);
        assert_eq!(write(&read(&plain, Format::Leftoff).unwrap(), Format::AiSdk), ai_sdk);
    }

    #[test]
    fn what_comes_in_as_the_ai_sdk_has_it_goes_out_again_so() {
        check(r#"[{"role":"system","content":"be brief"},{"role":"user","content":"hi \ud83d"}]"#);
        check(
            r#"[{"role":"user","content":[{"type":"text","text":"see"},{"type":"file","data":"AAAA","mediaType":"image/png"}]}]"#,
        );
        check(concat!(
            r#"[{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool-call","toolCallId":"1","#,
            r#""toolName":"ls","input":{"a":[1, 2]}},{"type":"tool-call","toolCallId":"2","toolName":"cat","input":"x"}]},"#,
            r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"ls","output":{"type":"text","#,
            r#""value":"a"}},{"type":"tool-result","toolCallId":"2","toolName":"cat","output":{"type":"error-text","value":"b"}}]}]"#,
        ));
    }

    #[test]
    fn a_wrong_message_is_refused_with_its_place_and_nothing_is_read() {
        let refused =
            |json: &str, format| read(json, format).map_err(|e| (e.code.as_str(), e.message)).unwrap_err();
        let (code, message) = refused(r#"[{"role":"user","content":"x"},{"role":"boss"}]"#, Format::Leftoff);
        assert_eq!(code, "invalid_request");
        assert!(message.starts_with("message 1: expected \"system\""), "{message}");
        assert_eq!(refused("[", Format::Leftoff).0, "invalid_json");
        assert_eq!(
            refused("7", Format::AiSdk).1,
            "message 0: expected a message, but found a number instead"
        );
        assert_eq!(refused("{}", Format::Leftoff).1, "message 0: expected a \"role\", but found none");
        let odd = r#"{"role":"user","content":[{"type":"hologram"}]}"#;
        assert!(refused(odd, Format::AiSdk).1.contains("hologram"));
    }
}
