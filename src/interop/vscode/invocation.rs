//! A call as VS Code shows it: its input and its output as far as they are displayed.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::table::REASONS;
use super::values::{join_texts, take_text};
use crate::interop::attachment_address::attachment_from_address;
use crate::interop::{Losses, Object};
use crate::json::fields::parse_items;
use crate::json::text::{Text, to_json};
use crate::record::message::{Attachment, Message, Role, Tool, ToolCall};
use crate::shapes::answer_pieces::TEXT_SEPARATOR;

/// VS Code's numbers for calls that the user denied, and for those that were skipped.
const DENIAL_KINDS: [&str; 2] = ["0", "5"];
/// What the client puts behind a model's id of a call.
const CALL_ID_SUFFIX: &str = "__vscode-";

const FILES_READ: &str = "only names the files that the tool read";

/// A call that is displayed.
#[derive(Default)]
pub(super) struct Invocation {
    id: String,
    name: String,
    arguments: Text,
    output: Option<Text>,
    message: Option<Text>,
    attachments: Vec<Attachment>,
    exit_code: Option<i64>,
    is_error: bool,
    is_denied: bool,
    is_complete: bool,
    sub_agent: Option<String>,
}

impl Invocation {
    /// Reads a part of a response.
    pub fn read(part: &mut Object<'_>, losses: &mut Losses) -> Invocation {
        let mut invocation = Invocation {
            id: part.take_name("toolCallId", losses).unwrap_or_default(),
            name: part.take("toolId", losses).unwrap_or_default(),
            arguments: "{}".into(),
            is_complete: part.take("isComplete", losses).unwrap_or_default(),
            sub_agent: part.take_name("subAgentInvocationId", losses),
            ..Invocation::default()
        };
        // A number with what goes with it; older versions have a boolean.
        let confirmation = part.take_raw("isConfirmed");
        let kind = confirmation.and_then(|raw| Object::parse("", raw).ok()).and_then(|kind| kind.raw("type"));
        invocation.is_denied =
            kind.is_some_and(|kind| DENIAL_KINDS.contains(&kind)) || confirmation == Some("false");
        let shown = take_text(part, "invocationMessage", losses);
        invocation.message = take_text(part, "pastTenseMessage", losses).or(shown);
        invocation.read_details(part, losses);
        if let Some(data) = part.take_object("toolSpecificData", losses) {
            invocation.read_tool_data(data, losses);
        }
        invocation
    }

    // Reads what tools of servers were given and gave; of VS Code's own tools it has only the files that they read.
    fn read_details(&mut self, part: &mut Object<'_>, losses: &mut Losses) {
        if part.raw("resultDetails").is_some_and(|raw| raw.starts_with('[')) {
            return part.report_lost("resultDetails", FILES_READ, losses);
        }
        let Some(mut details) = part.take_object("resultDetails", losses) else { return };
        if let Some(input) = details.take::<Text>("input", losses) {
            self.arguments = input;
        }
        self.is_error = details.take("isError", losses).unwrap_or_default();
        let mut texts = Vec::new();
        for (_, mut block) in details.take_blocks("output", losses) {
            let is_text = block.take("isText", losses) == Some(true);
            let mime: Option<String> = block.take("mimeType", losses);
            if is_text {
                texts.extend(block.take::<Text>("value", losses));
            } else if let Some(data) = block.take("value", losses) {
                let mime = mime.unwrap_or_default();
                self.attachments.push(Attachment { mime, data: Some(data), ..Attachment::default() });
            }
            block.report_rest_lost(losses, REASONS);
        }
        if !texts.is_empty() {
            self.output = Some(Text::join(texts, TEXT_SEPARATOR));
        }
        details.report_rest_lost(losses, REASONS);
    }

    fn read_tool_data(&mut self, mut data: Object<'_>, losses: &mut Losses) {
        let kind: Option<String> = data.take("kind", losses);
        match kind.as_deref() {
            Some("input") => {
                self.arguments = data.take_raw("rawInput").map(Text::from).unwrap_or_else(|| "{}".into());
            }
            Some("terminal") => self.read_terminal(&mut data, losses),
            Some("todoList") => self.set_arguments(&[("todoList", data.take_raw("todoList"))]),
            Some("subagent") => {
                let names = ["description", "agentName", "prompt"];
                self.set_arguments(&names.map(|name| (name, data.take_raw(name))));
                self.output = data.take("result", losses);
            }
            Some("simpleToolInvocation") => {
                self.set_arguments(&[("input", data.take_raw("input"))]);
                self.output = data.take("output", losses);
            }
            Some(_) | None => {}
        }
        data.report_rest_lost(losses, REASONS);
    }

    fn read_terminal(&mut self, data: &mut Object<'_>, losses: &mut Losses) {
        let mut command = data.take_raw("command");
        if let Some(mut line) = data.take_object("commandLine", losses) {
            let original = line.take_raw("original");
            // What ran is what the user, or else the tool, made of it.
            command = line.take_raw("userEdited").or(line.take_raw("toolEdited")).or(original);
            line.report_rest_lost(losses, REASONS);
        }
        self.set_arguments(&[("command", command)]);
        if let Some(mut output) = data.take_object("terminalCommandOutput", losses) {
            self.output = output.take("text", losses);
            output.report_rest_lost(losses, REASONS);
        }
        if let Some(mut state) = data.take_object("terminalCommandState", losses) {
            self.exit_code = state.take("exitCode", losses);
            state.report_rest_lost(losses, REASONS);
        }
    }

    fn set_arguments(&mut self, given: &[(&str, Option<&str>)]) {
        let fields =
            given.iter().filter_map(|(name, value)| Some(format!("{}:{}", to_json(name), (*value)?)));
        self.arguments = format!("{{{}}}", fields.collect::<Vec<_>>().join(",")).into();
    }

    /// True if a sub-agent made the call.
    pub fn is_of_sub_agent(&self) -> bool {
        self.sub_agent.as_ref().is_some_and(|agent| *agent != self.id)
    }

    /// Returns the call's id, as it is displayed.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the call.
    pub fn call(&self) -> ToolCall {
        ToolCall { id: self.id.clone(), name: self.name.clone(), arguments: self.arguments.clone() }
    }

    /// Returns the fields of a result that only the display has, for the call of this id.
    pub fn tool(&self, call_id: &str) -> Tool {
        Tool {
            call_id: call_id.into(),
            is_error: self.is_error || self.is_denied,
            not_run: self.is_denied,
            exit_code: self.exit_code,
            ..Tool::default()
        }
    }

    /// Returns the result as it is displayed; none if the call hasn't ended.
    pub fn result_message(&self) -> Option<Message> {
        if !self.is_complete && !self.is_denied && self.output.is_none() {
            return None;
        }
        let content = self.output.clone().or(self.message.clone()).unwrap_or_default();
        let attachments = self.attachments.clone();
        let tool = Some(self.tool(&self.id));
        Some(Message { role: Some(Role::Tool), content, attachments, tool, ..Message::default() })
    }

    /// True if it has what the tool gave, or says that it did not run.
    pub fn has_outcome(&self) -> bool {
        self.output.is_some() || self.is_denied || !self.attachments.is_empty()
    }
}

/// Returns the id that the model gave a call.
pub(super) fn model_call_id(id: &str) -> &str {
    id.split(CALL_ID_SUFFIX).next().unwrap_or(id)
}

/// Returns the words of a result that a model was given: texts, and trees of a prompt with their texts.
pub(super) fn read_result(result: &str) -> (Text, Vec<Attachment>) {
    let quiet = &mut Losses::default();
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    let content = Object::parse("", result).ok().and_then(|mut result| result.take_raw("content"));
    for item in content.and_then(parse_items).unwrap_or_default() {
        let Ok(mut item) = Object::parse("", item) else { continue };
        match item.raw("value") {
            Some(value) if value.starts_with('{') => {
                let tree = item.take_object("value", quiet).and_then(|mut value| value.take_raw("node"));
                let mut words = Vec::new();
                tree.into_iter().for_each(|tree| collect_words(tree, &mut words, &mut attachments));
                texts.push(join_texts(words));
            }
            _ => texts.extend(item.take::<Text>("value", quiet)),
        }
    }
    texts.retain(|text| !text.is_empty());
    (Text::join(texts, TEXT_SEPARATOR), attachments)
}

// Collects the texts of a prompt's tree, whose depth the reader of its line has limited.
fn collect_words(tree: &str, words: &mut Vec<Text>, attachments: &mut Vec<Attachment>) {
    let quiet = &mut Losses::default();
    let Ok(mut node) = Object::parse("", tree) else { return };
    if let Some(text) = node.take::<Text>("text", quiet) {
        let is_break = node.raw("lineBreakBefore").is_some_and(|raw| !matches!(raw, "false" | "0" | "null"));
        if is_break && !words.is_empty() {
            words.push("\n".into());
        }
        words.push(text);
    }
    let image = node.take_object("props", quiet).and_then(|mut props| props.take::<String>("src", quiet));
    let image = image.filter(|image| image.starts_with("data:"));
    attachments.extend(image.and_then(|image| attachment_from_address(&image, None, None)));
    for child in node.take_raw("children").and_then(parse_items).unwrap_or_default() {
        collect_words(child, words, attachments);
    }
}
