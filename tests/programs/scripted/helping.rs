//! What a caller does for an operation, as a script says it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use leftoff::fs::{Asked, Helpers, Session, Summary};
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

/// Does it with a model, a counter and strategies, where the step has them.
pub fn helped(
    step: &Step,
    session: &Session,
    work: impl FnOnce(Helpers<'_>) -> Result<String, Trouble>,
) -> Answer {
    let model: Option<Model> = step.value("summarize")?;
    let counter: Option<Counter> = step.value("count")?;
    let mut requests: Vec<String> = Vec::new();
    let mut summarize = |asked: &Asked<'_>| {
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
    let mut strategy = |name: &str, _: u32, _: &str| chosen(step, session, name).map_err(|e| e.to_string());
    let answer = work(Helpers {
        summarize: model.is_some().then_some(&mut summarize),
        count: counter.is_some().then_some(&mut count),
        strategy: Some(&mut strategy),
        ..Helpers::default()
    })?;
    if model.is_none() {
        return Ok(answer);
    }
    Ok(format!("{{\"answer\":{answer},\"requests\":[{}]}}", requests.join(",")))
}

/// What a model was asked, as JavaScript is.
fn request(asked: &Asked<'_>) -> String {
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
fn chosen(step: &Step, session: &Session, name: &str) -> Answer {
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
