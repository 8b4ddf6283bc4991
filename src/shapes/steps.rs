//! Writes messages, in the part common to all shapes: calls and results are paired in steps before any shape is
//! written, so that no shape can write one without the other.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::json::text::to_json;
use crate::record::message::{Message, Role, Tool, ToolCall};
use crate::record::tool_execution::INTERRUPTED_RESULT;
use crate::shapes::file::File;
use crate::shapes::maker::Maker;
use crate::shapes::names::{Ids, NameLimits, mend_name};

/// An assistant message with the results of its calls, or any other message.
pub(crate) struct Step<'a> {
    /// The source message.
    pub message: Option<&'a Message>,
    /// `Tool` for results written alone, for counting.
    pub role: Role,
    /// Empty if it has only blanks, which some providers refuse.
    pub text: &'a str,
    pub files: Vec<File<'a>>,
    pub calls: Vec<Call<'a>>,
    /// The indexes of the reasoning that is sent, and its maker.
    pub thoughts: Vec<usize>,
    pub maker: Option<Maker>,
    // The indexes of calls with a result, in the order of the results.
    answered_calls: Vec<usize>,
}

/// A call; it lacks a result only if it is written alone, for counting.
pub(crate) struct Call<'a> {
    pub id: String,
    pub name: String,
    pub arguments: Cow<'a, str>,
    pub result: Option<ToolAnswer<'a>>,
}

/// A tool's result.
pub(crate) struct ToolAnswer<'a> {
    /// The source message.
    pub message: Option<&'a Message>,
    pub text: &'a str,
    pub is_error: bool,
    pub files: Vec<File<'a>>,
}

/// Pairs messages, oldest first, into steps, and returns the ids of results without a call. A result found elsewhere
/// is moved to its call; if ids repeat, it belongs to the newest step with a waiting call, and there to the first call
/// of its tool's name.
pub(crate) fn pair_steps(messages: &[Message], limits: NameLimits) -> (Vec<Step<'_>>, Vec<String>) {
    let mut ids = Ids::new(limits.id);
    let (mut steps, mut left_out): (Vec<Step<'_>>, Vec<String>) = Default::default();
    let mut waiting: Vec<WaitingCall<'_>> = Vec::new();
    for message in messages {
        let Some(role) = message.role else { continue };
        if role == Role::Tool {
            let (id, name) = message.tool.as_ref().map_or(("", ""), |tool| (&tool.call_id, &tool.name));
            match find_waiting_call(&waiting, id, name).map(|nth| waiting.remove(nth)) {
                Some(WaitingCall { step, call_index: at, .. }) => {
                    steps[step].set_result(at, build_answer(message))
                }
                None => left_out.push(id.into()),
            }
            continue;
        }
        let calls = calls_of(message).iter().enumerate();
        waiting.extend(calls.map(|(at, call)| WaitingCall {
            id: &call.id,
            name: &call.name,
            step: steps.len(),
            call_index: at,
        }));
        let step = build_step(message, role, limits, &mut ids);
        if !(step.text.is_empty() && step.files.is_empty() && step.calls.is_empty()) {
            steps.push(step);
        }
    }
    for WaitingCall { step, call_index: at, .. } in waiting {
        steps[step].set_result(
            at,
            ToolAnswer { message: None, text: INTERRUPTED_RESULT, is_error: true, files: Vec::new() },
        );
    }
    (steps, left_out)
}

// A call that waits for its result, and its place.
struct WaitingCall<'a> {
    id: &'a str,
    name: &'a str,
    step: usize,
    call_index: usize,
}

// Returns the call that a result answers.
fn find_waiting_call(waiting: &[WaitingCall<'_>], id: &str, name: &str) -> Option<usize> {
    let newest = waiting.iter().rfind(|call| call.id == id)?.step;
    let is_meant = |call: &WaitingCall<'_>| call.step == newest && call.id == id;
    let named = waiting.iter().position(|call| is_meant(call) && call.name == name);
    named.or_else(|| waiting.iter().position(is_meant))
}

/// Makes a step of one message, whatever it lacks.
pub(super) fn single_step(message: &Message, limits: NameLimits) -> Option<Step<'_>> {
    let mut ids = Ids::new(limits.id);
    let role = message.role?;
    let mut step = build_step(message, role, limits, &mut ids);
    if let Some(tool) = message.tool.as_ref().filter(|_| role == Role::Tool) {
        let (id, name) = (ids.mend(&tool.call_id), mend_name(&tool.name, limits));
        step.calls.push(Call { id, name, arguments: "{}".into(), result: None });
        step.set_result(0, build_answer(message));
        // Its text is the result.
        step.text = "";
        step.files.clear();
    }
    Some(step)
}

#[inline(never)]
fn build_step<'a>(message: &'a Message, role: Role, limits: NameLimits, ids: &mut Ids) -> Step<'a> {
    let calls = calls_of(message).iter().map(|call| Call {
        id: ids.mend(&call.id),
        name: mend_name(&call.name, limits),
        arguments: Some(call.arguments.as_str())
            .filter(|text| !is_blank(text))
            .map_or("{}".into(), pair_escapes),
        result: None,
    });
    let text = message.content.as_str();
    Step {
        message: Some(message),
        role,
        text: if is_blank(text) { "" } else { text },
        files: message.attachments.iter().map(File::of).collect(),
        calls: calls.collect(),
        thoughts: Vec::new(),
        maker: None,
        answered_calls: Vec::new(),
    }
}

// Only an assistant message has calls, whatever the fields of others say.
fn calls_of(message: &Message) -> &[ToolCall] {
    if message.role == Some(Role::Assistant) { message.tool_calls() } else { &[] }
}

#[inline(never)]
fn build_answer(message: &Message) -> ToolAnswer<'_> {
    ToolAnswer {
        message: Some(message),
        text: message.content.as_str(),
        is_error: message.tool.as_ref().is_some_and(|tool| tool.is_error),
        files: message.attachments.iter().map(File::of).collect(),
    }
}

impl<'a> Step<'a> {
    /// Creates a user's step.
    pub fn user(text: &'a str) -> Step<'a> {
        Step {
            message: None,
            role: Role::User,
            text,
            files: Vec::new(),
            calls: Vec::new(),
            thoughts: Vec::new(),
            maker: None,
            answered_calls: Vec::new(),
        }
    }

    fn set_result(&mut self, call: usize, answer: ToolAnswer<'a>) {
        self.calls[call].result = Some(answer);
        self.answered_calls.push(call);
    }

    /// Returns the text with the names of all files, for places where no file can be sent.
    pub fn text_with_files(&self) -> Cow<'_, str> {
        with_files(self.text, &self.files)
    }

    /// Returns the results with their calls, in the order of the results.
    pub fn results(&self) -> Vec<(&Call<'a>, &ToolAnswer<'a>)> {
        let calls = self.answered_calls.iter().map(|call| &self.calls[*call]);
        calls.filter_map(|call| Some((call, call.result.as_ref()?))).collect()
    }
}

impl ToolAnswer<'_> {
    /// Returns the stored fields of the result.
    pub fn tool(&self) -> Option<&Tool> {
        self.message?.tool.as_ref()
    }

    /// Returns the tool's result as JSON, if it was no text and is whole.
    pub fn value(&self) -> Option<Cow<'_, str>> {
        let is_json = self.tool()?.is_json && serde_json::from_str::<&RawValue>(self.text).is_ok();
        is_json.then(|| pair_escapes(self.text))
    }

    /// Returns the result's text with the names of its files.
    pub fn text_with_files(&self) -> Cow<'_, str> {
        with_files(self.text, &self.files)
    }
}

impl Call<'_> {
    /// Returns the arguments as JSON; text that is none becomes a string.
    pub fn value(&self) -> Cow<'_, str> {
        match serde_json::from_str::<&RawValue>(&self.arguments) {
            Ok(_) => (&*self.arguments).into(),
            Err(_) => to_json(&*self.arguments).into(),
        }
    }

    /// Returns the arguments as an object, which some providers require.
    pub fn object(&self) -> Cow<'_, str> {
        let value = self.value();
        if value.trim_ascii_start().starts_with('{') {
            value
        } else {
            format!("{{\"arguments\":{value}}}").into()
        }
    }
}

#[inline(never)]
fn with_files<'a>(text: &'a str, files: &[File<'_>]) -> Cow<'a, str> {
    if files.is_empty() {
        return text.into();
    }
    let mut said = Vec::from([text.to_string()]);
    said.extend(files.iter().map(File::describe));
    said.retain(|text| !text.is_empty());
    said.join("\n").into()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

// An escaped half of a surrogate pair is valid JSON, but no provider's reader accepts it.
#[inline(never)]
fn pair_escapes(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    // `\ud8` to `\udf`, by the third digit: a high half below `c`, a low one from there.
    let half = |at: usize| match bytes.get(at..at + 6)? {
        [b'\\', b'u', b'd' | b'D', digit, rest @ ..] if rest.iter().all(u8::is_ascii_hexdigit) => match digit
        {
            b'8' | b'9' | b'a' | b'b' | b'A' | b'B' => Some(true),
            b'c'..=b'f' | b'C'..=b'F' => Some(false),
            _ => None,
        },
        _ => None,
    };
    let (mut mended, mut done, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        at += match (half(at), half(at + 6)) {
            (Some(true), Some(false)) => 12,
            (Some(_), _) => {
                mended.push_str(&json[done..at]);
                mended.push_str("\\ufffd");
                done = at + 6;
                6
            }
            // An escaped backslash begins no escape.
            (None, _) => {
                if bytes[at] == b'\\' {
                    2
                } else {
                    1
                }
            }
        };
    }
    if done == 0 { json.into() } else { (mended + &json[done..]).into() }
}
