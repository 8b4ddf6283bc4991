//! Extends the last context of a frame: repeats it, and adds what came since.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::context::budget::Budget;
use crate::context::build::{Build, MAX_BYTES_PER_TOKEN};
use crate::context::choose::{Choosing, Material};
use crate::context::frame::{Frame, FrameRecall, frame_message};
use crate::context::reading::Reading;
use crate::context::recall::RecallBlock;
use crate::context::report::Decision;
use crate::context::steps::Item;
use crate::context::{Context, Outcome};
use crate::record::message::{Message, Role};
use crate::session::input_request::InputRequest;
use crate::tokens::Vocabulary;

// The messages of a frame, in order, and what was decided about each.
#[derive(Default)]
struct FrameMessages {
    messages: Vec<Message>,
    decisions: Vec<Decision>,
    included: BTreeSet<u64>,
    // What they cost; `None` if it could not be counted.
    tokens: Option<u32>,
}

impl FrameMessages {
    fn add_cost(&mut self, cost: Option<u32>) {
        self.tokens = self.tokens.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
    }
}

impl Build {
    /// Returns the context that extends the frame, or the input that it needs; `None` if there is no frame, or once it
    /// has ended because the budget is reached.
    pub(super) fn extend_frame(
        &mut self,
        budget: Budget,
        vocabulary: Option<&Vocabulary>,
    ) -> Option<Outcome> {
        let frame = self.frame.take()?;
        let mut material = match self.prepare_frame(budget.available_tokens, vocabulary) {
            Ok(material) => material,
            Err(needs) => {
                self.frame = Some(frame);
                return Some(Outcome::Needs(needs));
            }
        };
        let outcome = self.build_extension((*frame).clone(), &mut material, budget, vocabulary);
        match outcome {
            Some(Outcome::Needs(InputRequest::Counts { .. })) => self.frame = Some(frame),
            Some(Outcome::Needs(_)) => (self.frame, self.material) = (Some(frame), Some(material)),
            Some(Outcome::Ready(_)) => {}
            None => {
                self.material = None;
                self.reading = Reading::new(self.reading.source().clone());
            }
        }
        outcome
    }

    // Reads and prices the messages of the frame and what came since.
    fn prepare_frame(
        &mut self,
        available: u32,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Material, InputRequest> {
        if let Some(material) = self.material.take() {
            return Ok(material);
        }
        if let Some(range) = self.reading.next_range(u64::MAX) {
            return Err(InputRequest::Bytes { range });
        }
        if let Some(id) = self.reading.next_blob(u64::from(available) * MAX_BYTES_PER_TOKEN as u64) {
            return Err(InputRequest::Blob { id });
        }
        let material = self.build_material(vocabulary);
        self.wanted_counts().map_or(Ok(material), Err)
    }

    fn build_extension(
        &mut self,
        mut frame: Frame,
        material: &mut Material,
        budget: Budget,
        vocabulary: Option<&Vocabulary>,
    ) -> Option<Outcome> {
        // A compaction may begin behind the frame's beginning since.
        if self.reading.begin() > frame.start {
            return None;
        }
        let mut sent = match self.frame_messages(&frame, material, vocabulary) {
            Ok(sent) => sent,
            Err(needs) => return Some(Outcome::Needs(needs)),
        };
        let room = budget.available_tokens.checked_sub(sent.tokens?)?;
        let newest = material.steps.iter().flat_map(|step| &step.items).find(|item| item.is_newest_user);
        let question = newest.map(|item| item.place).filter(|place| frame.recalled_for(*place).is_none());
        let mut quoted = RecallBlock::default();
        if let Some(question) = question {
            if let Some(needs) = self.wanted_recall(&material.steps, budget.available_tokens, vocabulary) {
                return Some(Outcome::Needs(needs));
            }
            quoted = self.quote_in_frame(&mut frame, question, (material, room), budget, vocabulary);
            sent = match self.frame_messages(&frame, material, vocabulary) {
                Ok(sent) => sent,
                Err(needs) => return Some(Outcome::Needs(needs)),
            };
        }
        let tokens = sent.tokens.filter(|tokens| *tokens <= budget.available_tokens)?;
        let context = self.frame_context(&frame, sent, &quoted, (material, budget), vocabulary);
        Some(Outcome::Ready(Context { tokens_used: tokens, frame: Some(Box::new(frame)), ..context }))
    }

    // Adds to the frame what is recalled for a new question: at most its share, and half of the room that is left, for
    // there is more to come.
    fn quote_in_frame(
        &mut self,
        frame: &mut Frame,
        question: u64,
        (material, room): (&Material, u32),
        budget: Budget,
        vocabulary: Option<&Vocabulary>,
    ) -> RecallBlock {
        let Some(recalled) = self.recalling.recalled_quotes() else {
            frame.recalled.push(FrameRecall { question, ..FrameRecall::default() });
            return RecallBlock::default();
        };
        let share = u64::from(budget.available_tokens) * u64::from(self.request.recall) / 1000;
        let items = material.steps.iter().flat_map(|step| &step.items).map(|item| item.message.id.as_str());
        let quoted = frame.recalled.iter().flat_map(|one| &one.ids).map(|id| id.as_str());
        let there: BTreeSet<&str> = items.chain(quoted).collect();
        let quoted = recalled.quote_best(room.min(share as u32) / 2, &there, &mut self.prices, vocabulary);
        let text = (!quoted.quotes.is_empty()).then(|| quoted.item.message.content.as_str().to_string());
        let ids = recalled.quoted_ids(&quoted);
        frame.recalled.push(FrameRecall { question, ids, text });
        quoted
    }

    // Returns the messages of the frame with their price, or the counts that this needs.
    fn frame_messages(
        &mut self,
        frame: &Frame,
        material: &Material,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<FrameMessages, InputRequest> {
        let mut all = FrameMessages { tokens: Some(0), ..FrameMessages::default() };
        let mut summary = frame.summary.as_deref();
        let is_first = |item: &Item| item.message.role == Some(Role::System);
        for step in &material.steps {
            if !step.items.first().is_some_and(is_first)
                && let Some(text) = summary.take()
            {
                self.push_own(&mut all, text, vocabulary);
            }
            for item in &step.items {
                let recalled =
                    frame.recalled_for(item.place).filter(|_| item.message.role == Some(Role::User));
                if let Some(text) = recalled.and_then(|one| one.text.as_deref()) {
                    self.push_own(&mut all, text, vocabulary);
                }
                let is_short = item.start.is_some_and(|start| frame.shortened.contains(&start));
                all.add_cost(if is_short { item.short_cost } else { item.cost });
                all.decisions.push(Decision::of(item, Some(is_short), frame.summary.is_some()));
                all.messages.push(item.as_sent(is_short));
                all.included.extend(item.start);
            }
        }
        if let Some(text) = summary {
            self.push_own(&mut all, text, vocabulary);
        }
        if self.prices.has_provider_shape() {
            all.tokens = self.prices.price_together(&all.messages, vocabulary);
        }
        self.wanted_counts().map_or(Ok(all), Err)
    }

    fn push_own(&mut self, all: &mut FrameMessages, text: &str, vocabulary: Option<&Vocabulary>) {
        let message = frame_message(text);
        let cost = self.prices.price_message(&message, vocabulary);
        all.add_cost(cost);
        all.messages.push(message);
    }

    fn frame_context(
        &mut self,
        frame: &Frame,
        sent: FrameMessages,
        quoted: &RecallBlock,
        (material, budget): (&Material, Budget),
        vocabulary: Option<&Vocabulary>,
    ) -> Context {
        let summary_tokens = frame
            .summary
            .as_deref()
            .and_then(|text| self.prices.price_message(&frame_message(text), vocabulary));
        let Build { request, reading, recalling, host_strategies, .. } = self;
        let recalled_quotes = recalling.recalled_quotes();
        let choosing =
            Choosing { material, budget, vocabulary, request, reading, recalled_quotes, host_strategies };
        let mut report = choosing.report();
        report.messages = sent.decisions;
        report.recall = recalled_quotes.and_then(|all| all.report(quoted, &BTreeSet::new()));
        report.summary_tokens = summary_tokens;
        let summarized = if frame.summary.is_some() { u64::MAX } else { 0 };
        let counts = (sent.included.len() as u64, summarized);
        let context = choosing.finish_context(&frame.strategy, sent.messages, counts, report);
        choosing.complete_report(context, Vec::new())
    }
}
