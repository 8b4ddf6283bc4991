//! The functions by which a caller helps an operation: models, counters, strategies, progress.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::json::text::to_json;
use crate::operation::{Failure, HostResponse};

/// A caller's functions for an operation, each optional. An error is a sentence for whoever called the operation.
///
/// ```
/// use leftoff::fs::{Helpers, Summary};
///
/// let mut write = |asked: &leftoff::fs::SummaryPrompt<'_>| -> Result<Summary, String> {
///     let text = format!("They said {} characters.", asked.user.len());
///     Ok(Summary { text, model: Some("my-model".into()) })
/// };
/// let helpers = Helpers { summarize: Some(&mut write), ..Helpers::default() };
/// assert!(helpers.count.is_none());
/// ```
#[derive(Default)]
pub struct Helpers<'a> {
    /// Counts tokens in an encoding of the caller's.
    pub count: Option<Count<'a>>,
    /// Makes a vector of each text, by which search hits are ordered beside their words: some dozens of texts at most,
    /// the first of which is the question.
    pub embed: Option<Embed<'a>>,
    /// Asks a model for a summary.
    pub summarize: Option<Summarize<'a>>,
    /// Runs the caller's strategy of a name on the session, within a budget in tokens of an encoding, and returns
    /// `{"messages","includedCount","summarizedCount"}`, JSON.
    pub strategy: Option<Strategy<'a>>,
    /// Finds the command that began a recorded conversation.
    pub command: Option<Command<'a>>,
    /// Receives the progress of an import: `{"path","done","total","bytes","totalBytes"}`, JSON; that of the doctor has
    /// no bytes.
    pub progress: Option<Progress<'a>>,
}

/// Counts texts in an encoding.
pub type Count<'a> = &'a mut dyn FnMut(&[String], &str) -> Result<Vec<u32>, String>;
/// Makes a vector of each text, all of one length.
pub type Embed<'a> = &'a mut dyn FnMut(&[String]) -> Result<Vec<Vec<f32>>, String>;
/// Writes a summary.
pub type Summarize<'a> = &'a mut dyn FnMut(&SummaryPrompt<'_>) -> Result<Summary, String>;
/// Finds the command that began a conversation, from a JSON array of its messages: `{"name","hash"}`, JSON, if it is
/// known.
pub type Command<'a> = &'a mut dyn FnMut(&str) -> Result<Option<String>, String>;
/// Receives progress.
pub type Progress<'a> = &'a mut dyn FnMut(&str);
/// Chooses messages, by the strategy's name, a budget, and the budget's encoding.
pub type Strategy<'a> = &'a mut dyn FnMut(&str, u32, &str) -> Result<String, String>;

/// The prompt for a summary.
#[derive(Clone, Copy, Debug)]
pub struct SummaryPrompt<'a> {
    /// The system's text.
    pub system: &'a str,
    /// The user's text.
    pub user: &'a str,
    /// The summary's most tokens.
    pub max_tokens: u32,
    /// The first message that the summary replaces.
    pub start_message_id: &'a str,
    /// The last message that the summary replaces.
    pub end_message_id: &'a str,
    /// The number of replaced messages.
    pub message_count: u64,
    /// The summary to extend.
    pub previous: Option<&'a str>,
}

/// A model's summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The summary's text.
    pub text: String,
    /// The model that wrote it.
    pub model: Option<String>,
}

impl Helpers<'_> {
    pub(super) fn count_texts(&mut self, texts: &[String], encoding: &str) -> HostResponse {
        let Some(count) = &mut self.count else {
            let message = format!(
                "expected a counter for \"{encoding}\", but found none: give \"count\", or an encoding of o200k_base, cl100k_base or estimate-1"
            );
            return HostResponse::Failed(Failure {
                code: "no_counter".into(),
                message,
                ..Failure::default()
            });
        };
        text_response(count(texts, encoding).map(|counts| to_json(&counts)))
    }

    pub(super) fn embed_texts(&mut self, texts: &[String]) -> HostResponse {
        let Some(embed) = &mut self.embed else { return HostResponse::Bytes(None) };
        let packed = |vector: &Vec<f32>| {
            let length = (vector.len() as u32).to_le_bytes();
            let numbers = vector.iter().flat_map(|number| number.to_le_bytes());
            length.into_iter().chain(numbers).collect::<Vec<u8>>()
        };
        match embed(texts) {
            Ok(vectors) => HostResponse::Bytes(Some(vectors.iter().flat_map(packed).collect())),
            Err(message) => refusal_response(message),
        }
    }

    pub(super) fn write_summary(&mut self, prompt: &SummaryPrompt<'_>) -> HostResponse {
        let Some(summarize) = &mut self.summarize else { return HostResponse::Text("{}".into()) };
        text_response(summarize(prompt).map(|Summary { text, model }| {
            let model = model.map(|model| format!(",\"model\":{}", to_json(&model))).unwrap_or_default();
            format!("{{\"content\":{}{model}}}", to_json(&text))
        }))
    }

    pub(super) fn find_command(&mut self, messages: &[u8]) -> HostResponse {
        let Some(command) = &mut self.command else { return HostResponse::Text("null".into()) };
        text_response(command(&String::from_utf8_lossy(messages)).map(|json| json.unwrap_or("null".into())))
    }

    pub(super) fn report_progress(&mut self, page: &[u8]) -> HostResponse {
        if let Some(progress) = &mut self.progress {
            progress(&String::from_utf8_lossy(page));
        }
        HostResponse::Done
    }

    pub(super) fn choose_messages(&mut self, name: &str, budget: u32, encoding: &str) -> HostResponse {
        let Some(strategy) = &mut self.strategy else { return HostResponse::Text("{}".into()) };
        text_response(strategy(name, budget, encoding))
    }
}

impl fmt::Debug for Helpers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Helpers")
            .field("count", &self.count.is_some())
            .field("embed", &self.embed.is_some())
            .field("summarize", &self.summarize.is_some())
            .field("strategy", &self.strategy.is_some())
            .field("command", &self.command.is_some())
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

// An error of the caller's own code becomes its answer.
pub(super) fn text_response(answer: Result<String, String>) -> HostResponse {
    match answer {
        Ok(json) => HostResponse::Text(json),
        Err(message) => refusal_response(message),
    }
}

fn refusal_response(message: String) -> HostResponse {
    HostResponse::Failed(Failure { code: "invalid_request".into(), message, ..Failure::default() })
}
