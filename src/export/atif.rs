//! Writes a session as a trajectory in ATIF, the Agent Trajectory Interchange Format, version 1.8: an answer is a step,
//! with the results of its calls.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use crate::json::text::to_json;
use crate::record::message::{Assistant, Attachment, Message, Role, ToolCall, Usage};
use crate::tokens::prices::{Dollars, PriceLookup};

const SCHEMA_VERSION: &str = "ATIF-v1.8";
/// The images that the format can name, by their media types.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// The format requires what no session knows.
const UNKNOWN: &str = "unknown";

/// A trajectory in progress: a step is written once all results of its calls are known.
#[derive(Debug, Default)]
pub(super) struct Trajectory {
    metadata: String,
    agent: Option<String>,
    open: Option<Map<String, Value>>,
    // The open step's calls without results.
    unanswered: Vec<String>,
    steps: usize,
    sums: Usage,
    prices: PriceLookup,
    // In millionths of a millionth of a dollar; `None` once a call has no price.
    cost: Option<u128>,
    calls: usize,
}

impl Trajectory {
    /// Begins the text.
    pub fn begin(&mut self, metadata: &str) -> String {
        *self = Trajectory { metadata: metadata.into(), cost: Some(0), ..Trajectory::default() };
        ["{\"schema_version\":\"", SCHEMA_VERSION, "\",\"steps\":["].concat()
    }

    /// Takes the next message, and returns the step that it ends.
    pub fn add_message(&mut self, message: &Message, is_on_path: bool) -> String {
        if self.agent.is_none() {
            self.agent = message.source.as_ref().map(|source| source.agent.clone());
        }
        if message.role == Some(Role::Tool) && self.add_result(message) {
            return String::new();
        }
        let closed = self.close_step();
        self.open_step(message, is_on_path);
        closed
    }

    /// Ends the text.
    pub fn end(&mut self) -> String {
        let last = self.close_step();
        let metadata: Value = serde_json::from_str(&self.metadata).unwrap_or_default();
        let text = |path: &str| metadata.pointer(path).filter(|value| **value != json!(""));
        let id = text("/id");
        let agent = without_nulls(json!({
            "name": self.agent.as_deref().unwrap_or("leftoff"),
            "version": UNKNOWN,
            "model_name": text("/provider/model"),
        }));
        let cost = self.cost.filter(|_| self.calls > 0).map(Dollars::from_units);
        let metrics = without_nulls(json!({
            "total_prompt_tokens": (self.calls > 0).then(|| self.sums.sum_input().unwrap_or_default()),
            "total_completion_tokens": self.sums.output,
            "total_cached_tokens": self.sums.cache_read,
            "total_cost_usd": cost,
            "total_steps": self.steps,
        }));
        let extra = unless_empty(json!({ "title": text("/display/title"), "type": text("/type") }));
        let rest = without_nulls(json!({
            "session_id": id,
            "trajectory_id": id,
            "agent": agent,
            "final_metrics": metrics,
            "extra": extra,
        }));
        let rest = to_json(&rest);
        [&last, "],", rest.strip_prefix('{').unwrap_or_default(), "\n"].concat()
    }

    // Adds a result to the open step, if that made the call.
    fn add_result(&mut self, message: &Message) -> bool {
        let Some(tool) = &message.tool else { return false };
        let Some(place) = self.unanswered.iter().position(|id| *id == tool.call_id) else { return false };
        self.unanswered.remove(place);
        let result = result_of(message);
        let Some(step) = &mut self.open else { return false };
        let observation = step.entry("observation").or_insert_with(|| json!({ "results": [] }));
        if let Some(results) = observation["results"].as_array_mut() {
            results.push(result);
        }
        true
    }

    fn open_step(&mut self, message: &Message, is_on_path: bool) {
        self.steps += 1;
        let source = match message.role {
            Some(Role::User) => "user",
            Some(Role::Assistant) => "agent",
            Some(Role::System | Role::Tool) | None => "system",
        };
        let is_result = message.tool.is_some();
        let extra = unless_empty(json!({
            "message_id": message.id,
            "is_on_path": (!is_on_path).then_some(false),
            "is_partial": message.partial.then_some(true),
            "is_injected": message.is_injected().then_some(true),
            "attachments": other_attachments(message),
        }));
        let mut step = without_nulls(json!({
            "step_id": self.steps,
            "timestamp": message.timestamp,
            "source": source,
            "message": if is_result { Value::from("") } else { content_of(message) },
            "observation": is_result.then(|| json!({ "results": [result_of(message)] })),
            "extra": extra,
        }));
        self.unanswered.clear();
        if let Some(assistant) = message.assistant.as_ref().filter(|_| source == "agent")
            && let Value::Object(step) = &mut step
        {
            self.add_answer(step, assistant);
        }
        self.open = match step {
            Value::Object(step) => Some(step),
            _ => None,
        };
    }

    fn add_answer(&mut self, step: &mut Map<String, Value>, assistant: &Assistant) {
        let reasoning: Vec<&str> =
            assistant.reasoning.iter().map(|one| one.text.as_str()).filter(|text| !text.is_empty()).collect();
        self.unanswered = assistant.tool_calls.iter().map(|call| call.id.clone()).collect();
        let calls: Vec<Value> = assistant.tool_calls.iter().map(call_of).collect();
        let fields = without_nulls(json!({
            "model_name": assistant.model,
            "reasoning_content": (!reasoning.is_empty()).then(|| reasoning.join("\n\n")),
            "tool_calls": (!calls.is_empty()).then_some(calls),
            "metrics": assistant.usage.as_ref().map(|usage| self.metrics_of(assistant, usage)),
        }));
        if let Value::Object(fields) = fields {
            step.extend(fields);
        }
    }

    fn metrics_of(&mut self, assistant: &Assistant, usage: &Usage) -> Value {
        let units = self.prices.cost_of_call(assistant.model.as_deref(), usage);
        let units = units.or((usage.sum() == 0).then_some(0));
        self.calls += 1;
        self.cost = self.cost.zip(units).map(|(sum, units)| sum.saturating_add(units));
        self.sums.add(usage);
        let extra = unless_empty(json!({
            "cache_write_tokens": usage.cache_write,
            "reasoning_tokens": usage.reasoning,
        }));
        without_nulls(json!({
            "prompt_tokens": usage.sum_input(),
            "completion_tokens": usage.output,
            "cached_tokens": usage.cache_read,
            "cost_usd": units.map(Dollars::from_units),
            "extra": extra,
        }))
    }

    fn close_step(&mut self) -> String {
        let Some(step) = self.open.take() else { return String::new() };
        let is_first = step.get("step_id").and_then(Value::as_u64) == Some(1);
        [if is_first { "\n" } else { ",\n" }, &to_json(&step)].concat()
    }
}

// An image that lies in a file is a part of its own; a text alone is a string.
fn content_of(message: &Message) -> Value {
    let images: Vec<&Attachment> = message.attachments.iter().filter(|one| is_image_file(one)).collect();
    if images.is_empty() {
        return message.content.as_str().into();
    }
    let image =
        |one: &Attachment| json!({ "type": "image", "source": { "media_type": one.mime, "path": one.path } });
    let text = json!({ "type": "text", "text": message.content.as_str() });
    core::iter::once(text).chain(images.into_iter().map(image)).collect()
}

fn is_image_file(one: &Attachment) -> bool {
    one.path.is_some() && IMAGES.contains(&one.mime.as_str())
}

// The format has no place for others than images in files.
fn other_attachments(message: &Message) -> Option<Value> {
    let others = message.attachments.iter().filter(|one| !is_image_file(one));
    let others: Vec<Value> = others
        .map(|one| without_nulls(json!({ "media_type": one.mime, "name": one.name, "path": one.path })))
        .collect();
    (!others.is_empty()).then(|| others.into())
}

fn result_of(message: &Message) -> Value {
    let tool = message.tool.as_ref();
    let extra = unless_empty(json!({
        "is_error": tool.filter(|tool| tool.is_error).map(|_| true),
        "not_run": tool.filter(|tool| tool.not_run).map(|_| true),
        "exit_code": tool.and_then(|tool| tool.exit_code),
    }));
    without_nulls(json!({
        "source_call_id": tool.map(|tool| &tool.call_id),
        "content": content_of(message),
        "extra": extra,
    }))
}

// Arguments that are no object are kept beside.
fn call_of(call: &ToolCall) -> Value {
    let arguments: Option<Map<String, Value>> = serde_json::from_str(call.arguments.as_str()).ok();
    let raw = arguments.is_none().then(|| json!({ "arguments": call.arguments.as_str() }));
    without_nulls(json!({
        "tool_call_id": call.id,
        "function_name": call.name,
        "arguments": arguments.unwrap_or_default(),
        "extra": raw,
    }))
}

// The format's fields are absent where there is nothing to say.
fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, value| !value.is_null());
    }
    value
}

fn unless_empty(value: Value) -> Option<Value> {
    let value = without_nulls(value);
    value.as_object().is_some_and(|fields| !fields.is_empty()).then_some(value)
}
