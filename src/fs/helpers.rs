//! What a caller does for an operation.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::json::text::to_json;
use crate::operation::{Answer, Failure};

/// What a caller does for an operation, each where it has it. What one refuses is a sentence for whoever called.
///
/// ```
/// use leftoff::fs::{Helpers, Summary};
///
/// let mut write = |asked: &leftoff::fs::Asked<'_>| -> Result<Summary, String> {
///     let text = format!("They said {} characters.", asked.user.len());
///     Ok(Summary { text, model: Some("my-model".into()) })
/// };
/// let helpers = Helpers { summarize: Some(&mut write), ..Helpers::default() };
/// assert!(helpers.count.is_none());
/// ```
#[derive(Default)]
pub struct Helpers<'a> {
    /// How many tokens each of these texts has, in an encoding of the caller's.
    pub count: Option<Count<'a>>,
    /// A vector of each of these texts, by which what answers a question is ordered beside its words: of some dozens of texts at
    /// most, the first of which is the question.
    pub embed: Option<Embed<'a>>,
    /// A model's summary.
    pub summarize: Option<Summarize<'a>>,
    /// What the strategy of a name makes of the session within a budget, in tokens of an encoding:
    /// `{"messages","includedCount","summarizedCount"}`, JSON.
    pub strategy: Option<Strategy<'a>>,
    /// Which command began a conversation that is recorded.
    pub command: Option<Command<'a>>,
    /// Is told how far an import is: `{"path","done","total","bytes","totalBytes"}`, JSON.
    pub progress: Option<Progress<'a>>,
}

/// Counts texts in an encoding.
pub type Count<'a> = &'a mut dyn FnMut(&[String], &str) -> Result<Vec<u32>, String>;
/// Gives a vector of each text, all of one length.
pub type Embed<'a> = &'a mut dyn FnMut(&[String]) -> Result<Vec<Vec<f32>>, String>;
/// Writes a summary.
pub type Summarize<'a> = &'a mut dyn FnMut(&Asked<'_>) -> Result<Summary, String>;
/// Tells which command began a conversation, by what was said there, a JSON array of messages: `{"name","hash"}`, JSON, where it knows.
pub type Command<'a> = &'a mut dyn FnMut(&str) -> Result<Option<String>, String>;
/// Is told how far it is.
pub type Progress<'a> = &'a mut dyn FnMut(&str);
/// Chooses messages: by its name, a budget, and the encoding of that.
pub type Strategy<'a> = &'a mut dyn FnMut(&str, u32, &str) -> Result<String, String>;

/// What a model is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What the system says.
    pub system: &'a str,
    /// What the user says.
    pub user: &'a str,
    /// How long the summary may be, in tokens.
    pub max_tokens: u32,
    /// The first message that it is to stand for.
    pub start_message_id: &'a str,
    /// The last one.
    pub end_message_id: &'a str,
    /// How many they are.
    pub message_count: u64,
    /// The summary that it extends.
    pub previous: Option<&'a str>,
}

/// What a model wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The summary.
    pub text: String,
    /// By which model.
    pub model: Option<String>,
}

impl Helpers<'_> {
    pub(super) fn counts(&mut self, texts: &[String], encoding: &str) -> Answer {
        let Some(count) = &mut self.count else {
            let message = format!(
                "expected a counter for \"{encoding}\", but found none: give \"count\", or an encoding of o200k_base, cl100k_base or estimate-1"
            );
            return Answer::Failed(Failure { code: "no_counter".into(), message, ..Failure::default() });
        };
        made(count(texts, encoding).map(|counts| to_json(&counts)))
    }

    pub(super) fn vectors(&mut self, texts: &[String]) -> Answer {
        let Some(embed) = &mut self.embed else { return Answer::Bytes(None) };
        let packed = |vector: &Vec<f32>| {
            let length = (vector.len() as u32).to_le_bytes();
            let numbers = vector.iter().flat_map(|number| number.to_le_bytes());
            length.into_iter().chain(numbers).collect::<Vec<u8>>()
        };
        match embed(texts) {
            Ok(vectors) => Answer::Bytes(Some(vectors.iter().flat_map(packed).collect())),
            Err(message) => refused(message),
        }
    }

    pub(super) fn summary(&mut self, asked: &Asked<'_>) -> Answer {
        let Some(summarize) = &mut self.summarize else { return Answer::Text("{}".into()) };
        made(summarize(asked).map(|Summary { text, model }| {
            let model = model.map(|model| format!(",\"model\":{}", to_json(&model))).unwrap_or_default();
            format!("{{\"content\":{}{model}}}", to_json(&text))
        }))
    }

    pub(super) fn command(&mut self, said: &[u8]) -> Answer {
        let Some(command) = &mut self.command else { return Answer::Text("null".into()) };
        made(command(&String::from_utf8_lossy(said)).map(|told| told.unwrap_or("null".into())))
    }

    pub(super) fn told(&mut self, page: &[u8]) -> Answer {
        if let Some(progress) = &mut self.progress {
            progress(&String::from_utf8_lossy(page));
        }
        Answer::Done
    }

    pub(super) fn chosen(&mut self, name: &str, budget: u32, encoding: &str) -> Answer {
        let Some(strategy) = &mut self.strategy else { return Answer::Text("{}".into()) };
        made(strategy(name, budget, encoding))
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

// What the caller's own code refuses is its answer.
pub(super) fn made(answer: Result<String, String>) -> Answer {
    match answer {
        Ok(json) => Answer::Text(json),
        Err(message) => refused(message),
    }
}

fn refused(message: String) -> Answer {
    Answer::Failed(Failure { code: "invalid_request".into(), message, ..Failure::default() })
}
