//! Assembles an answer from the ordered pieces that providers and agents give.

use alloc::vec::Vec;

use crate::json::text::Text;
use crate::record::message::{Message, OrderPart, Reasoning, ToolCall};

/// The separator of two text blocks in one content.
pub(crate) const TEXT_SEPARATOR: &str = "\n\n";

/// A block of an answer. Some agents spread an answer over several records, so its blocks are collected first.
pub(crate) enum AnswerPiece {
    Text(Text),
    Reasoning(Reasoning),
    Call(ToolCall),
}

/// Stores the pieces of an answer, and their order if it is not the usual one.
pub(crate) fn assemble(message: &mut Message, pieces: Vec<AnswerPiece>) {
    let assistant = message.assistant.get_or_insert_default();
    let (mut texts, mut order, mut end) = (Vec::new(), Vec::new(), 0);
    for piece in pieces {
        match piece {
            AnswerPiece::Text(text) if text.is_empty() => {}
            AnswerPiece::Text(text) => {
                let start = if texts.is_empty() { 0 } else { end + TEXT_SEPARATOR.len() };
                end = start + text.as_str().len();
                order.push(OrderPart::Text(start as u32, end as u32));
                texts.push(text);
            }
            AnswerPiece::Reasoning(reasoning) => {
                order.push(OrderPart::Reasoning(assistant.reasoning.len() as u32));
                assistant.reasoning.push(reasoning);
            }
            AnswerPiece::Call(call) => {
                order.push(OrderPart::Call(assistant.tool_calls.len() as u32));
                assistant.tool_calls.push(call);
            }
        }
    }
    let rank = |part: &OrderPart| match part {
        OrderPart::Reasoning(_) => 0,
        OrderPart::Text(..) => 1,
        OrderPart::Call(_) => 2,
    };
    let is_usual = texts.len() < 2 && order.is_sorted_by_key(rank);
    // A span that does not fit 32 bits is left out together with the order.
    if !is_usual && u32::try_from(end).is_ok() {
        assistant.order = order;
    }
    message.content = Text::join(texts, TEXT_SEPARATOR);
}
