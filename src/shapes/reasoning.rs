//! Sends reasoning back to the model that made it, as long as that waits for results of its calls; there it is
//! counted. All other reasoning is stored, and neither sent nor counted. In a frame, what was sent once is sent again:
//! a provider has it in its cache.
//!
//! Anthropic refuses a turn whose thinking is missing or changed, Gemini a call without its signature; other models
//! can read neither. So signed reasoning is sent unchanged or not at all: with a secret in it, it is kept back.

use alloc::string::String;
use alloc::vec::Vec;
use core::iter::once;
use core::ops::Range;

use serde::Serialize;

use crate::record::message::{Assistant, Message, OrderPart, Reasoning, Role};
use crate::shapes::maker::{Maker, bare_name};
use crate::shapes::steps::{Call, Step};
use crate::shapes::{Format, Recipient};

/// The decision about the reasoning of an answer whose calls led to the newest results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReasoningReport {
    /// The message's id.
    pub id: String,
    /// True if the reasoning is in the context.
    pub is_sent: bool,
    /// The reason: `open-loop`, or `frame` for an earlier turn's, if it is sent; else `other-model`, `unfinished`,
    /// `unsigned`, `secret`, `unknown-provider`, or `shape`, which takes none.
    pub why: &'static str,
}

/// A piece of an answer, in the model's order.
pub(super) enum OutgoingPiece<'s, 'a> {
    Thought(&'a Reasoning),
    Text(&'a str),
    Call(&'s Call<'a>),
}

/// Attaches to the steps of an open loop the reasoning for this model, or for the newest answer's model if none is
/// named.
pub(super) fn attach(
    messages: &[Message],
    steps: &mut [Step<'_>],
    format: Format,
    to: Recipient<'_>,
) -> Vec<ReasoningReport> {
    let (model, since) = if let Recipient::Model { name, since } = to { (name, since) } else { (None, None) };
    let since = since.and_then(|id| messages.iter().find(|message| message.id == id));
    // A message without a text has no step: the next one stands for it.
    let is_since = |first: &Message, step: &Step<'_>| {
        step.message.is_some_and(|one| core::ptr::from_ref(one) >= core::ptr::from_ref(first))
    };
    let sent_from = since.and_then(|first| steps.iter().position(|step| is_since(first, step)));
    let loops = find_loops(steps, sent_from);
    let Some(newest) = loops.last().cloned() else { return Vec::new() };
    let of_newest = steps[newest.clone()].iter().rev();
    let mut models = of_newest.filter_map(|step| step.message?.assistant.as_ref()?.model.as_deref());
    let target_model = model.or_else(|| models.next());
    let mut all = Vec::new();
    for place in loops.into_iter().flatten() {
        let step = &mut steps[place];
        let sent = if place < newest.start { "frame" } else { "open-loop" };
        let Some((message, assistant)) =
            step.message.zip(step.message.and_then(|said| said.assistant.as_ref()))
        else {
            continue;
        };
        if assistant.reasoning.is_empty() {
            continue;
        }
        let (thoughts, why) = match find_sendable(message, assistant, format, target_model) {
            Ok(_) if to == Recipient::Masked => (Vec::new(), "secret"),
            Ok((maker, thoughts)) => {
                step.maker = Some(maker);
                (thoughts, sent)
            }
            Err(why) => (Vec::new(), why),
        };
        all.push(ReasoningReport { id: message.id.clone(), is_sent: !thoughts.is_empty(), why });
        step.thoughts = thoughts;
    }
    all
}

// Returns the answers that lead to calls: those of the newest turn, if the results of its calls are what the model
// waits for; from a given step on, those of each turn.
fn find_loops(steps: &[Step<'_>], sent_from: Option<usize>) -> Vec<Range<usize>> {
    let first = sent_from.unwrap_or(0);
    let users = (first..steps.len()).filter(|place| steps[*place].role == Role::User);
    let starts = once(first).chain(users.clone().map(|user| user + 1));
    let turns = starts.zip(users.chain(once(steps.len()))).map(|(start, end)| start..end);
    let is_answer = |place: &usize| steps[*place].role == Role::Assistant;
    let has_calls = |place: &usize| is_answer(place) && !steps[*place].calls.is_empty();
    let up_to = |start: usize, last: Option<usize>| last.map(|last| start..last + 1);
    match sent_from {
        Some(_) => turns.filter_map(|turn| up_to(turn.start, turn.rev().find(has_calls))).collect(),
        None => {
            let answered = turns.filter_map(|turn| up_to(turn.start, turn.rev().find(is_answer)));
            answered.last().filter(|turn| has_calls(&(turn.end - 1))).into_iter().collect()
        }
    }
}

// Returns the indexes of an answer's reasoning that can be sent, and its maker; or why none can.
fn find_sendable(
    message: &Message,
    assistant: &Assistant,
    format: Format,
    target_model: Option<&str>,
) -> Result<(Maker, Vec<usize>), &'static str> {
    let made = assistant.model.as_deref().or(target_model);
    if let (Some(made), Some(target_model)) = (made, target_model)
        && bare_name(made) != bare_name(target_model)
    {
        return Err("other-model");
    }
    let maker = made.map(Maker::of);
    let theirs = match format {
        Format::Anthropic => Maker::Anthropic,
        Format::Gemini => Maker::Google,
        Format::OpenaiResponses => Maker::OpenAi,
        // Only other makers' models take it in this shape, and only if the maker is known.
        Format::OpenaiChat if maker == Some(Maker::Other) => Maker::Other,
        Format::AiSdk if matches!(maker, Some(Maker::Anthropic | Maker::Google)) => {
            maker.unwrap_or(Maker::Other)
        }
        Format::AiSdk if maker.is_none() => return Err("unknown-provider"),
        _ => return Err("shape"),
    };
    // A name that indicates no maker may be the caller's alias.
    if maker.is_some_and(|maker| maker != theirs && maker != Maker::Other) {
        return Err("other-model");
    }
    if message.partial {
        return Err("unfinished");
    }
    let is_sendable = |block: &Reasoning| {
        let is_whole = !block.text.has_lone_surrogates();
        let is_signed = block.signature.as_deref().is_some_and(|signature| !signature.is_empty());
        let is_encrypted = block.data.as_deref().is_some_and(|data| !data.is_empty());
        is_whole
            && match theirs {
                Maker::Anthropic => is_signed || is_encrypted,
                Maker::Google => is_signed,
                Maker::OpenAi => is_encrypted,
                Maker::Other => !block.text.is_empty() && !is_signed && !is_encrypted,
            }
    };
    let all = assistant.reasoning.iter().enumerate();
    let thoughts: Vec<usize> = all.filter(|(_, block)| is_sendable(block)).map(|(place, _)| place).collect();
    if thoughts.is_empty() { Err("unsigned") } else { Ok((theirs, thoughts)) }
}

impl<'a> Step<'a> {
    /// Returns the pieces of an answer whose reasoning is sent, in order; empty for any other.
    pub(super) fn pieces(&self) -> Vec<OutgoingPiece<'_, 'a>> {
        let Some(assistant) = self.message.and_then(|message| message.assistant.as_ref()) else {
            return Vec::new();
        };
        if self.thoughts.is_empty() {
            return Vec::new();
        }
        self.pieces_in_order(assistant).unwrap_or_else(|| {
            let thoughts =
                self.thoughts.iter().map(|place| OutgoingPiece::Thought(&assistant.reasoning[*place]));
            let text = Some(OutgoingPiece::Text(self.text)).filter(|_| !self.text.is_empty());
            thoughts.chain(text).chain(self.calls.iter().map(OutgoingPiece::Call)).collect()
        })
    }

    // Returns the pieces in the stored order, if that names each piece once.
    fn pieces_in_order(&self, assistant: &'a Assistant) -> Option<Vec<OutgoingPiece<'_, 'a>>> {
        let (mut pieces, mut calls, mut thoughts) = (Vec::new(), 0, 0);
        for part in &assistant.order {
            match part {
                OrderPart::Text(from, to) => {
                    let text = self.message?.content.as_str().get(*from as usize..*to as usize)?;
                    pieces.extend(Some(OutgoingPiece::Text(text)).filter(|_| !text.trim().is_empty()));
                }
                OrderPart::Call(place) if *place as usize == calls => {
                    pieces.push(OutgoingPiece::Call(self.calls.get(calls)?));
                    calls += 1;
                }
                OrderPart::Reasoning(place) if *place as usize == thoughts => {
                    thoughts += 1;
                    if self.thoughts.contains(&(*place as usize)) {
                        pieces.push(OutgoingPiece::Thought(assistant.reasoning.get(*place as usize)?));
                    }
                }
                OrderPart::Call(_) | OrderPart::Reasoning(_) => return None,
            }
        }
        (calls == self.calls.len() && thoughts == assistant.reasoning.len()).then_some(pieces)
    }
}
