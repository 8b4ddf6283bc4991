//! What a caller does for an operation, as a script says it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use leftoff::fs::{Helpers, Session, Summary, SummaryPrompt};
use leftoff::json::text::to_json;
use leftoff::operation::Trouble;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Answer;
use crate::sessions::messages;
use crate::step::Step;

/// A model's answers, one after another, the last one again and again.
#[derive(Deserialize)]
struct Model {
    answers: Vec<ModelAnswer>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum ModelAnswer {
    Text(String),
    Throws { throws: String },
    Whole { content: String, model: Option<String> },
}

/// A token for so many bytes, or these numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Counter {
    Bytes { bytes: usize },
    Gives { gives: Vec<u32> },
}

/// A vector of each text, of so many numbers: the farther behind a text stands, the nearer it is to the first one. Or what is given, or
/// nothing.
#[derive(Deserialize)]
#[serde(untagged)]
enum Vectors {
    Backward { backward: usize },
    Gives { gives: Vec<Vec<f32>> },
    Throws { throws: String },
}

impl Vectors {
    fn of(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let backward = |numbers: usize, place: usize| {
            let mut vector = vec![0.0; numbers];
            (vector[0], vector[numbers - 1]) = (1.0, if place == 0 { 0.0 } else { 1.0 / place as f32 });
            vector
        };
        match self {
            Vectors::Backward { backward: numbers } => {
                Ok((0..texts.len()).map(|place| backward(*numbers, place)).collect())
            }
            Vectors::Gives { gives } => Ok(gives.clone()),
            Vectors::Throws { throws } => Err(throws.clone()),
        }
    }
}

/// Does it with vectors, where the step has such.
pub fn with_vectors(step: &Step, work: impl FnOnce(Helpers<'_>) -> Answer) -> Answer {
    let vectors: Option<Vectors> = step.value("embed")?;
    let Some(vectors) = vectors else { return work(Helpers::default()) };
    let mut embed = |texts: &[String]| vectors.of(texts);
    work(Helpers { embed: Some(&mut embed), ..Helpers::default() })
}

/// Does it with a model, a counter and strategies, where the step has them.
pub fn with_helpers(
    step: &Step,
    session: &Session,
    work: impl FnOnce(Helpers<'_>) -> Result<String, Trouble>,
) -> Answer {
    let model: Option<Model> = step.value("summarize")?;
    let counter: Option<Counter> = step.value("count")?;
    let vectors: Option<Vectors> = step.value("embed")?;
    let mut requests: Vec<String> = Vec::new();
    let mut summarize = |asked: &SummaryPrompt<'_>| {
        requests.push(request(asked));
        let answers = &model.as_ref().expect("it is asked where there is one").answers;
        match answers[requests.len().min(answers.len()) - 1].clone() {
            ModelAnswer::Text(text) => Ok(Summary { text, model: None }),
            ModelAnswer::Throws { throws } => Err(throws),
            ModelAnswer::Whole { content, model } => Ok(Summary { text: content, model }),
        }
    };
    let mut count = |texts: &[String], _: &str| {
        Ok(match counter.as_ref().expect("it is asked where there is one") {
            Counter::Bytes { bytes } => texts.iter().map(|text| text.len().div_ceil(*bytes) as u32).collect(),
            Counter::Gives { gives } => gives.clone(),
        })
    };
    let mut embed = |texts: &[String]| vectors.as_ref().expect("it is asked where there is one").of(texts);
    let mut strategy =
        |name: &str, _: u32, _: &str| choose_messages(step, session, name).map_err(|e| e.to_string());
    let answer = work(Helpers {
        summarize: model.is_some().then_some(&mut summarize),
        count: counter.is_some().then_some(&mut count),
        embed: vectors.is_some().then_some(&mut embed),
        strategy: Some(&mut strategy),
        ..Helpers::default()
    })?;
    if model.is_none() {
        return Ok(answer);
    }
    Ok(format!("{{\"answer\":{answer},\"requests\":[{}]}}", requests.join(",")))
}

/// What a model was asked, as JavaScript is.
fn request(asked: &SummaryPrompt<'_>) -> String {
    let message = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":{}}}", to_json(text));
    let mut json = format!(
        "{{\"messages\":[{},{}],\"maxTokens\":{},\"range\":{{\"startMessageId\":{},\"endMessageId\":{},\"messageCount\":{}}}",
        message("system", asked.system),
        message("user", asked.user),
        asked.max_tokens,
        to_json(asked.start_message_id),
        to_json(asked.end_message_id),
        asked.message_count
    );
    if let Some(previous) = asked.previous {
        let _ = write!(json, ",\"previous\":{}", to_json(previous));
    }
    json.push('}');
    json
}

/// A strategy that takes the newest messages, or gives what it is said to.
fn choose_messages(step: &Step, session: &Session, name: &str) -> Answer {
    let all: Vec<BTreeMap<String, Box<RawValue>>> = step.value("strategies")?.unwrap_or_default();
    let one = all.into_iter().map(Step).find(|one| one.text("name").is_ok_and(|found| found == name));
    let one = one.ok_or("expected a strategy, but found none")?;
    if let Some(throws) = one.value::<String>("throws")? {
        return Err(throws.into());
    }
    if let Some(gives) = one.raw("gives") {
        return Ok(if gives.starts_with('{') { gives.into() } else { "{}".into() });
    }
    let newest: usize = one.value("newest")?.unwrap_or_default();
    let said: Vec<Box<RawValue>> = serde_json::from_str(&messages(session, None, "{}")?)?;
    let from = said.len().saturating_sub(newest);
    Ok(format!("{{\"messages\":{}}}", serde_json::to_string(&said[from..])?))
}
