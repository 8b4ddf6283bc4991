//! What needs no store.

use leftoff::context::ComparedContext;
use leftoff::fs::{Clock, read_transcript};
use leftoff::interop::Transcript;
use leftoff::json::text::to_json;
use leftoff::resume::{history, listing};
use leftoff::shapes::Format;
use leftoff::state::stopping::find_stop_phrase;
use leftoff::tokens::{self, Encoding, Vocabulary, models, prices};

use crate::Answer;
use crate::clock::SharedClock;
use crate::step::Step;

/// Nothing where it is another operation.
pub fn plain(op: &str, step: &Step, clock: &SharedClock) -> Option<Answer> {
    let raw = |key: &str| step.raw(key).unwrap_or("null");
    Some(match op {
        "compareContexts" => compare_contexts(raw("before"), raw("after")),
        "countTokens" => count_tokens(step),
        "findStopPhrase" => step.text("text").map(|text| to_json(&find_stop_phrase(&text))),
        "historyText" => history_text(raw("messages"), clock),
        "listText" => clock
            .stamp()
            .map_err(Into::into)
            .and_then(|stamp| Ok(to_json(&listing::render_listed(raw("listed"), &stamp)?))),
        "readTranscript" => transcript(step, clock),
        "costOf" => step
            .text("model")
            .and_then(|model| Ok(to_json(&prices::cost_of(&model, step.raw("usage").unwrap_or("null"))?))),
        "pricesOf" => step.text("name").map(|name| to_json(&prices::find_prices(&name))),
        "modelOf" => step.text("name").map(|name| to_json(&models::find_model(&name))),
        _ => return None,
    })
}

fn compare_contexts(before: &str, after: &str) -> Answer {
    let (before, after) = (ComparedContext::from_json(before)?, ComparedContext::from_json(after)?);
    Ok(to_json(&leftoff::context::compare_contexts(&before, &after)))
}

fn history_text(messages: &str, clock: &SharedClock) -> Answer {
    let messages = leftoff::shapes::read(messages, Format::Leftoff)?;
    Ok(to_json(&history::render_history(&messages, &clock.stamp()?)))
}

fn count_tokens(step: &Step) -> Answer {
    let (encoding, model): (Option<String>, Option<String>) = (step.value("encoding")?, step.value("model")?);
    let vocabulary = match Encoding::resolve(encoding.as_deref(), model.as_deref())? {
        Encoding::O200kBase => Some(Vocabulary::o200k_base()),
        Encoding::Cl100kBase => Some(Vocabulary::cl100k_base()),
        Encoding::Estimate1 => None,
    };
    let limit: Option<u32> = step.value("limit")?;
    let count = |text: &String| match (&vocabulary, limit) {
        (Some(vocabulary), Some(limit)) => vocabulary.count_up_to(text, limit),
        (vocabulary, _) => tokens::count(text, vocabulary.as_ref()).tokens,
    };
    match step.value::<String>("text") {
        Ok(text) => Ok(count(&text.unwrap_or_default()).to_string()),
        Err(_) => {
            let texts: Vec<String> = step.value("text")?.unwrap_or_default();
            Ok(to_json(&texts.iter().map(count).collect::<Vec<_>>()))
        }
    }
}

fn transcript(step: &Step, clock: &SharedClock) -> Answer {
    let read = match step.value::<String>("text")? {
        Some(text) => Transcript::read(text.as_bytes(), "transcript.jsonl", None)?,
        None => read_transcript(step.text("path")?)?,
    };
    let messages = read.messages();
    let (session, problems) = (read.session(), to_json(&read.problems()));
    let mut told = format!("{{\"session\":{session},\"problems\":{problems},\"length\":{}", messages.len());
    if let Some(start) = step.value::<i64>("start")? {
        // As JavaScript slices: less than nothing is so far from the end.
        let at = |place: i64| {
            let from_end = if place < 0 { messages.len() as i64 } else { 0 };
            ((place + from_end).max(0) as usize).min(messages.len())
        };
        let end = step.value("end")?.map_or(messages.len(), at);
        told += &format!(",\"messages\":{}", to_json(&messages.get(at(start)..end).unwrap_or_default()));
    }
    if let Some(request) = step.raw("context") {
        let known = [Vocabulary::o200k_base(), Vocabulary::cl100k_base()];
        let known: Vec<&Vocabulary> = known.iter().collect();
        told += &format!(",\"context\":{}", read.context(request, &clock.stamp()?, &known)?);
    }
    if let Some(words) = step.value::<String>("words")? {
        told += &format!(",\"outline\":{},\"found\":{}", read.outline(), read.search(&words));
    }
    Ok(told + "}")
}
