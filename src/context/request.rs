//! What a caller asks of a context.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::fields::{BadValue, Fields, FromFields, NotFields};
use crate::tokens::{Encoding, models};

/// What a caller asks of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The model's limit, in tokens.
    pub window: u32,
    /// Kept for the answer, in tokens; a quarter of the window unless given.
    pub reserve: Option<u32>,
    /// The system prompt, which the caller sends beside the context.
    pub system: String,
    /// The tool definitions as the caller sends them, JSON.
    pub tools: String,
    /// Who counts.
    pub counter: Counter,
    /// The shape of the messages.
    pub format: Format,
    /// Messages are given as they are stored, whatever they are counted in.
    pub stored: bool,
    /// The host can be asked for summaries.
    pub summaries: bool,
    /// Strategies of the host's beside ours.
    pub strategies: Vec<Custom>,
}

/// A strategy of the host's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Custom {
    /// What it is called.
    pub name: String,
    /// Lower is tried first; ours have 1 to 4.
    pub priority: i64,
    /// The budget below which it is not tried.
    pub min_tokens: u32,
}

/// Who counts the tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The core, with a vocabulary or by the estimate.
    Core(Encoding),
    /// The host, for an encoding of this name.
    Host(String),
}

/// The shape of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As stored, without what only storage needs.
    Leftoff,
    /// The messages of OpenAI's chat completions.
    OpenaiChat,
    /// The items of OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's contents.
    Gemini,
    /// Vercel AI SDK's `ModelMessage`.
    AiSdk,
    /// Vercel AI SDK's `UIMessage`.
    AiSdkUi,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 7] = [
        Format::Leftoff,
        Format::OpenaiChat,
        Format::OpenaiResponses,
        Format::Anthropic,
        Format::Gemini,
        Format::AiSdk,
        Format::AiSdkUi,
    ];

    /// The word as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Leftoff => "leftoff",
            Format::OpenaiChat => "openai-chat",
            Format::OpenaiResponses => "openai-responses",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::AiSdk => "ai-sdk",
            Format::AiSdkUi => "ai-sdk-ui",
        }
    }

    /// The format of this name.
    ///
    /// # Errors
    /// `invalid_request` for any other word.
    pub fn parse(name: &str) -> Result<Format, Error> {
        let known = Format::ALL.into_iter().find(|format| format.as_str() == name);
        known.ok_or_else(|| {
            let words = Format::ALL.map(Format::as_str).join(", ");
            Error::new(
                Code::InvalidRequest,
                format!("expected a format of {words}, but found {name:?} instead"),
            )
        })
    }
}

impl Counter {
    /// The name of the encoding.
    pub fn as_str(&self) -> &str {
        match self {
            Counter::Core(encoding) => encoding.as_str(),
            Counter::Host(name) => name,
        }
    }
}

impl Request {
    /// A request for a window, everything else as it is unless said.
    pub fn new(window: u32) -> Request {
        Request {
            window,
            reserve: None,
            system: String::new(),
            tools: String::new(),
            counter: Counter::Core(Encoding::O200kBase),
            format: Format::Leftoff,
            stored: false,
            summaries: false,
            strategies: Vec::new(),
        }
    }

    /// Reads `{"window","model","reserve","system","tools","encoding","format","stored","summaries","strategies"}`. Only `window` is
    /// needed, or a `model` whose window is known; it also says the encoding, unless one is given. `tools` is any JSON;
    /// each of the strategies is `{"name","priority","minTokens"}`.
    ///
    /// # Errors
    /// `invalid_request`, naming the field.
    pub fn from_json(json: &str) -> Result<Request, Error> {
        let invalid = |message: String| Error::new(Code::InvalidRequest, message);
        let mut bad: Vec<BadValue> = Vec::new();
        let mut fields = Fields::parse(json).map_err(|wrong| match wrong {
            NotFields::Other(kind) => invalid(format!("expected a request object, but found {kind} instead")),
            NotFields::Invalid | NotFields::TooDeep => {
                invalid("expected a request object, but found no JSON".into())
            }
        })?;
        let model: Option<String> = fields.take("model", &mut bad);
        let known = model.as_deref().and_then(models::find);
        let window = fields.take("window", &mut bad).or(known.map(|model| model.window));
        let mut request = Request::new(window.unwrap_or_default());
        request.counter = known.map_or(request.counter, |model| Counter::Core(model.encoding));
        request.reserve = fields.take("reserve", &mut bad);
        request.system = fields.take("system", &mut bad).unwrap_or_default();
        request.tools = fields.take_raw("tools").filter(|tools| *tools != "null").unwrap_or_default().into();
        if let Some(encoding) = fields.take::<String>("encoding", &mut bad) {
            request.counter = Encoding::parse(&encoding).map_or(Counter::Host(encoding), Counter::Core);
        }
        if let Some(format) = fields.take::<String>("format", &mut bad) {
            request.format = Format::parse(&format)?;
        }
        request.stored = fields.take("stored", &mut bad).unwrap_or_default();
        request.summaries = fields.take("summaries", &mut bad).unwrap_or_default();
        request.strategies = fields.take("strategies", &mut bad).unwrap_or_default();
        if let Some(bad) = bad.into_iter().next() {
            return Err(invalid(bad.message));
        }
        if window.is_none() {
            let found =
                model.map_or("nothing".into(), |model| format!("the model {model:?}, which is not known,"));
            return Err(invalid(format!(
                "expected a number of tokens for \"window\", but found {found} instead"
            )));
        }
        if let Some((key, _)) = fields.rest().iter().next() {
            return Err(invalid(format!(
                "expected window, model, reserve, system, tools, encoding, format, stored or strategies, but found {key} instead"
            )));
        }
        Ok(request)
    }

    /// The shape that messages are given in; none where it is as they are stored.
    pub fn shape(&self) -> Option<Format> {
        (!self.stored).then_some(self.format)
    }
}

impl FromFields for Custom {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Custom> {
        Some(Custom {
            name: fields.take("name", bad)?,
            priority: fields.take("priority", bad)?,
            min_tokens: fields.take("minTokens", bad).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> String {
        Request::from_json(json).map_err(|error| error.message).unwrap_err()
    }

    #[test]
    fn a_request_with_something_unknown_or_of_another_kind_is_refused_by_name() {
        assert_eq!(Request::from_json(r#"{"window":8000}"#), Ok(Request::new(8000)));
        assert!(refused("{}").contains("\"window\""));
        assert!(refused(r#"{"model":"nobody-1"}"#).contains("nobody-1"));
        assert!(refused("[]").contains("an array"));
        assert!(refused("{").contains("no JSON"));
        assert!(refused(r#"{"window":-1}"#).contains("a whole number"));
        assert!(refused(r#"{"window":1,"reserv":2}"#).contains("\"reserv\""));
        assert!(refused(r#"{"window":1,"format":"x"}"#).contains("ai-sdk"));
    }
}
