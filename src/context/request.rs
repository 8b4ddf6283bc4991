//! The request for a context.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::context::strategies::ORDER;
use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields, FromFields, ObjectError};
use crate::json::request;
use crate::shapes::Format;
use crate::tokens::prices::{self, Prices};
use crate::tokens::{Encoding, Images, models};

/// The default share, in thousandths: it recalls most of what a question needs, and leaves most of the budget to the
/// newest messages.
const DEFAULT_RECALL_THOUSANDTHS: u32 = 200;
// Up to one half, twice a budget keeps all that the budget keeps.
const MAX_RECALL_THOUSANDTHS: u32 = 500;
/// How far a cut fills the budget: cuts are seldom, and three quarters of what fits are there on average.
const DEFAULT_FILL_THOUSANDTHS: u32 = 500;
const MIN_FILL_THOUSANDTHS: u32 = 300;
const MAX_FILL_THOUSANDTHS: u32 = 900;
// The window of today's usual models.
const USUAL_WINDOW_TOKENS: u32 = 200_000;

/// The request for a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The model's limit, in tokens.
    pub window: u32,
    /// Reserved for the answer, in tokens; a quarter of the window by default.
    pub reserve: Option<u32>,
    /// The system prompt, which the caller sends beside the context.
    pub system: String,
    /// The tool definitions as the caller sends them, JSON.
    pub tools: String,
    /// The counter of tokens.
    pub counter: Counter,
    /// The model that continues, if known.
    pub model: Option<String>,
    /// True if no reasoning is sent: it has a secret, and without that it is not what was signed.
    pub masks_reasoning: bool,
    /// The model's rule for images, if known.
    pub images: Option<Images>,
    /// What was assumed about an unknown model.
    pub assumed: Option<Box<AssumedModel>>,
    /// The shape of the messages.
    pub format: Format,
    /// The share of the budget for recalled messages, in thousandths.
    pub recall: u32,
    /// True if a context in a frame is wanted, which the next one extends: to how much of the budget the messages are
    /// cut then, in thousandths.
    pub fill: Option<u32>,
    /// How long the provider's cache has a prefix, in seconds, if not as usual.
    pub cache_lifetime_s: Option<u32>,
    /// True if the caller knows that the provider's cache has nothing.
    pub is_cache_cold: bool,
    /// True if messages get marks that tell a provider what to keep in its cache.
    pub marks_cache: bool,
    /// The prices of the call's input, if the caller gives them.
    pub prices: Option<Prices>,
    /// True if the host supplies vectors, which order recalled messages beside their words.
    pub embeds: bool,
    /// True to return messages as stored, whatever shape they are counted in.
    pub keeps_stored_shape: bool,
    /// True if the host writes summaries.
    pub summaries: bool,
    /// The host strategies; one replaces the built-in strategy of its name.
    pub strategies: Vec<HostStrategy>,
    /// The names of the strategies tried before the fallback; `None` for all.
    pub only_strategies: Option<Vec<String>>,
}

/// What was assumed about a session's model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Assumed", optional_fields))]
pub struct AssumedModel {
    /// The recorded, unknown model; absent if none is on record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The window assumed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// The encoding assumed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}

// The model and limits given by the caller.
struct GivenModel {
    model: Option<String>,
    window: Option<u32>,
    encoding: Option<String>,
    assumes: bool,
}

// The model and window on record in the session.
#[derive(Default)]
struct RecordedModel {
    model: Option<String>,
    window: Option<u32>,
}

/// A strategy of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostStrategy {
    /// Its name.
    pub name: String,
    /// Its priority; lower is tried first, and ours have 1 to 4.
    pub priority: i64,
    /// The least budget with which it is tried.
    pub min_tokens: u32,
}

/// The counter of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The core, with a vocabulary or by the estimate.
    Core(Encoding),
    /// The host, for an encoding of this name.
    Host(String),
}

impl Counter {
    /// Returns the encoding's name.
    pub fn as_str(&self) -> &str {
        match self {
            Counter::Core(encoding) => encoding.as_str(),
            Counter::Host(name) => name,
        }
    }
}

impl Request {
    /// Creates a request for a window with default values.
    pub fn new(window: u32) -> Request {
        Request {
            window,
            reserve: None,
            system: String::new(),
            tools: String::new(),
            counter: Counter::Core(Encoding::O200kBase),
            model: None,
            masks_reasoning: false,
            images: None,
            assumed: None,
            format: Format::Leftoff,
            recall: DEFAULT_RECALL_THOUSANDTHS,
            fill: None,
            cache_lifetime_s: None,
            is_cache_cold: false,
            marks_cache: false,
            prices: None,
            embeds: false,
            keeps_stored_shape: false,
            summaries: false,
            strategies: Vec::new(),
            only_strategies: None,
        }
    }

    /// Reads `{"window","model","reserve","system","tools","encoding","format","recall","frame","fill",
    /// "cacheLifetime","cold","cacheMarks","prices","stored","summaries","strategies","only","recorded","assumes"}`. Each field overrides only its own default. A window or encoding
    /// that is not given comes from `model`, else from the session's record, `{"model","window"}`. For an unknown
    /// model on record the estimate is assumed as the encoding; with `assumes` the window is assumed, too, if nobody
    /// gives one, and so are the values of an unknown given model. `tools` is any JSON; each strategy is
    /// `{"name","priority","minTokens"}`.
    ///
    /// # Errors
    /// `invalid_request`, naming the field, or the unknown model and what has to be given.
    pub fn from_json(json: &str) -> Result<Request, Error> {
        let mut bad: Vec<BadValue> = Vec::new();
        let mut fields = Fields::parse(json).map_err(|wrong| match wrong {
            ObjectError::Other(kind) => {
                request::error(format!("expected a request object, but found {kind} instead"))
            }
            ObjectError::Invalid | ObjectError::TooDeep => {
                request::error("expected a request object, but found no JSON")
            }
        })?;
        let model: Option<String> = fields.take("model", &mut bad);
        let recorded: RecordedModel = fields.take("recorded", &mut bad).unwrap_or_default();
        let window: Option<u32> = fields.take("window", &mut bad);
        let encoding: Option<String> = fields.take("encoding", &mut bad);
        let assumes = fields.take("assumes", &mut bad).unwrap_or_default();
        let mut request = Request::new(0);
        request.reserve = fields.take("reserve", &mut bad);
        request.system = fields.take("system", &mut bad).unwrap_or_default();
        request.tools = fields.take_raw("tools").filter(|tools| *tools != "null").unwrap_or_default().into();
        if let Some(format) = fields.take::<String>("format", &mut bad) {
            request.format = Format::parse(&format)?;
        }
        if let Some(share) = fields.take_raw("recall").filter(|share| *share != "null") {
            request.recall =
                thousandths(share).filter(|parts| *parts <= MAX_RECALL_THOUSANDTHS).ok_or_else(|| {
                    request::error(format!(
                        "expected a share from 0 to 0.5 for \"recall\", but found {share} instead"
                    ))
                })?;
        }
        request.fill = read_fill(&mut fields, &mut bad)?;
        request.cache_lifetime_s = fields.take("cacheLifetime", &mut bad);
        request.is_cache_cold = fields.take("cold", &mut bad).unwrap_or_default();
        request.marks_cache = fields.take("cacheMarks", &mut bad).unwrap_or_default();
        request.prices = fields.take("prices", &mut bad);
        request.keeps_stored_shape = fields.take("stored", &mut bad).unwrap_or_default();
        request.summaries = fields.take("summaries", &mut bad).unwrap_or_default();
        request.strategies = fields.take("strategies", &mut bad).unwrap_or_default();
        request.only_strategies = fields.take("only", &mut bad);
        request::reject_bad(&mut bad)?;
        if let Some((key, _)) = fields.rest().iter().next() {
            return Err(request::error(format!(
                "unknown option {key}: expected window, model, reserve, system, tools, encoding, assumes, format, recall, frame, fill, cacheLifetime, cold, cacheMarks, prices, count, summarize, embed, strategies or only"
            )));
        }
        request.check_only()?;
        request.apply_model(GivenModel { model, window, encoding, assumes }, recorded)?;
        Ok(request)
    }

    fn check_only(&self) -> Result<(), Error> {
        let names = || {
            ORDER.iter().map(|ours| ours.as_str()).chain(self.strategies.iter().map(|one| one.name.as_str()))
        };
        let unknown =
            self.only_strategies.iter().flatten().find(|only| !names().any(|name| name == only.as_str()));
        let Some(found) = unknown else { return Ok(()) };
        let mut known: Vec<&str> = names().collect();
        known.dedup();
        let message = format!("expected {} for \"only\", but found {found:?} instead", known.join(", "));
        Err(Error::new(Code::InvalidRequest, message))
    }

    // Sets the window, the encoding and the image rule by the model.
    fn apply_model(&mut self, given: GivenModel, recorded: RecordedModel) -> Result<(), Error> {
        let GivenModel { model, window, encoding, assumes } = given;
        let is_given = model.is_some();
        // A window on record belongs to the model on record.
        let of_record = recorded.window.filter(|_| model.is_none() || model == recorded.model);
        let name = model.or(recorded.model);
        let known = name.as_deref().and_then(models::find_model);
        self.model.clone_from(&name);
        let is_unknown = name.is_some() && known.is_none();
        let usual = || assumes.then_some(USUAL_WINDOW_TOKENS);
        let own_window = window.or(of_record).or(known.map(|model| model.window));
        let Some(window) =
            own_window.or_else(usual).filter(|_| !is_given || !is_unknown || encoding.is_some() || assumes)
        else {
            let wanted = match (own_window, &encoding) {
                (Some(_), _) => "\"encoding\", such as o200k_base or estimate-1",
                (None, None) if is_given => "\"window\" and \"encoding\"",
                (None, _) => "\"window\"",
            };
            let message = match name {
                Some(name) => format!("unknown model {name:?}: pass {wanted}"),
                None => "the size of the window is unknown: pass \"window\" or \"model\"".into(),
            };
            return Err(Error::new(Code::InvalidRequest, message));
        };
        let assumed = AssumedModel {
            window: own_window.is_none().then_some(window),
            encoding: (is_unknown && encoding.is_none()).then_some(Encoding::Estimate1),
            model: name,
        };
        let of_model = known.map(|model| model.encoding).or(assumed.encoding);
        self.window = window;
        self.images = known.and_then(|model| model.images);
        self.counter = match encoding {
            Some(name) => Encoding::parse(&name).map_or(Counter::Host(name), Counter::Core),
            None => Counter::Core(of_model.unwrap_or(Encoding::O200kBase)),
        };
        self.assumed =
            Some(assumed).filter(|one| one.window.is_some() || one.encoding.is_some()).map(Box::new);
        Ok(())
    }

    /// Returns the prices of the call: those given, else those on the list for the model.
    pub fn known_prices(&self) -> Option<Prices> {
        self.prices.or_else(|| prices::find_prices(self.model.as_deref()?))
    }

    /// Returns the shape of the messages; `None` if they stay as stored.
    pub fn shape(&self) -> Option<Format> {
        (!self.keeps_stored_shape).then_some(self.format)
    }
}

// Reads whether a frame is wanted, and how far a cut fills the budget.
fn read_fill(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Result<Option<u32>, Error> {
    let is_framed: bool = fields.take("frame", bad).unwrap_or_default();
    let Some(share) = fields.take_raw("fill").filter(|share| *share != "null") else {
        return Ok(is_framed.then_some(DEFAULT_FILL_THOUSANDTHS));
    };
    let is_share = |parts: &u32| (MIN_FILL_THOUSANDTHS..=MAX_FILL_THOUSANDTHS).contains(parts);
    let fill = thousandths(share).filter(is_share).ok_or_else(|| {
        request::error(format!("expected a share from 0.3 to 0.9 for \"fill\", but found {share} instead"))
    })?;
    Ok(is_framed.then_some(fill))
}

// Reads a decimal share, in thousandths.
fn thousandths(share: &str) -> Option<u32> {
    let (whole, decimals) = share.split_once('.').unwrap_or((share, "0"));
    let digits: String = decimals.chars().chain("000".chars()).take(3).collect();
    let parts: u32 = digits.parse().ok()?;
    (whole == "0" && decimals.bytes().all(|byte| byte.is_ascii_digit())).then_some(parts)
}

impl FromFields for RecordedModel {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<RecordedModel> {
        Some(RecordedModel { model: fields.take("model", bad), window: fields.take("window", bad) })
    }
}

impl FromFields for HostStrategy {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<HostStrategy> {
        request::reject_unknown(&fields, "name, priority or minTokens", bad);
        Some(HostStrategy {
            name: fields.take("name", bad)?,
            priority: fields.take("priority", bad)?,
            min_tokens: fields.take("minTokens", bad).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(json: &str) -> String {
        Request::from_json(json).map_err(|error| error.message).unwrap_err()
    }

    #[test]
    fn a_request_with_something_unknown_or_of_another_kind_is_refused_by_name() {
        assert_eq!(Request::from_json(r#"{"window":8000}"#), Ok(Request::new(8000)));
        assert!(error_of("{}").contains("\"window\""));
        assert!(error_of(r#"{"model":"nobody-1"}"#).contains("nobody-1"));
        assert!(error_of("[]").contains("an array"));
        assert!(error_of("{").contains("no JSON"));
        assert!(error_of(r#"{"window":-1}"#).contains("a whole number"));
        assert!(error_of(r#"{"window":1,"reserv":2}"#).contains("\"reserv\""));
        assert!(error_of(r#"{"window":1,"format":"x"}"#).contains("ai-sdk"));
        for share in ["-0.1", "0.501", "1", "2e-1", "\"0.2\"", "true", "[]"] {
            assert!(
                error_of(&format!(r#"{{"window":1,"recall":{share}}}"#)).contains("from 0 to 0.5"),
                "{share}"
            );
        }
        for (share, expected) in [("0", 0), ("0.2", 200), ("0.05", 50), ("0.3333333", 333), ("0.5", 500)] {
            let read = Request::from_json(&format!(r#"{{"window":1,"recall":{share}}}"#));
            assert_eq!(read.map(|request| request.recall), Ok(expected), "{share}");
        }
        assert!(error_of(r#"{"window":1,"only":["mine"]}"#).contains("full-history"));
        let mine = r#"{"window":1,"only":["mine"],"strategies":[{"name":"mine","priority":1}]}"#;
        assert_eq!(
            Request::from_json(mine).map(|request| request.only_strategies),
            Ok(Some(Vec::from(["mine".into()])))
        );
    }
}
