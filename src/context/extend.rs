//! Extends the last context of a frame: repeats it, and adds what came since.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::context::budget::Budget;
use crate::context::build::Build;
use crate::context::choose::{Choosing, Material};
use crate::context::frame::{Frame, FrameRecall, frame_message};
use crate::context::reading::Reading;
use crate::context::report::{Decision, FrameEnd};
use crate::context::steps::{Item, find_newest_user};
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
    /// has ended.
    pub(super) fn extend_frame(
        &mut self,
        budget: Budget,
        vocabulary: Option<&Vocabulary>,
    ) -> Option<Outcome> {
        let mut frame = self.frame.as_deref()?.clone();
        frame.masks_reasoning |= self.request.masks_reasoning;
        let known = self.material.take();
        let material = match known.map_or_else(|| self.read_material(budget.available_tokens, vocabulary), Ok)
        {
            Ok(material) => material,
            Err(needs) => return Some(Outcome::Needs(needs)),
        };
        let outcome = self.build_extension(frame, &material, budget, vocabulary);
        match outcome {
            Ok(Outcome::Needs(InputRequest::Counts { .. }) | Outcome::Ready(_)) => {}
            Ok(Outcome::Needs(_)) => self.material = Some(material),
            Err(end) => {
                self.reading = Reading::new(self.reading.source().clone());
                self.prices.set_reasoning(self.request.masks_reasoning, None);
                (self.frame, self.frame_end, self.aim) = (None, Some(end), 0);
            }
        }
        outcome.ok()
    }

    // Returns the context, or the input that it needs; or why the frame has ended.
    fn build_extension(
        &mut self,
        mut frame: Frame,
        material: &Material,
        budget: Budget,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Outcome, FrameEnd> {
        if self.reading.begin() > frame.start {
            return Err(FrameEnd::Compacted);
        }
        // The summary, and what is quoted, tell of an older message as it was.
        if self.reading.revises_older(frame.end) {
            return Err(FrameEnd::Changed);
        }
        let mut sent = match self.frame_messages(&frame, material, vocabulary) {
            Ok(sent) => sent,
            Err(needs) => return Ok(Outcome::Needs(needs)),
        };
        let room = sent.tokens.and_then(|tokens| budget.available_tokens.checked_sub(tokens));
        let room = room.ok_or(FrameEnd::Budget)?;
        let question = find_newest_user(&material.steps)
            .map(|item| item.place)
            .filter(|place| frame.recalled_for(*place).is_none());
        if let Some(question) = question {
            if let Some(needs) = self.wanted_recall(&material.steps, budget.available_tokens, vocabulary) {
                return Ok(Outcome::Needs(needs));
            }
            self.quote_in_frame(&mut frame, question, (material, room), budget, vocabulary)?;
            sent = match self.frame_messages(&frame, material, vocabulary) {
                Ok(sent) => sent,
                Err(needs) => return Ok(Outcome::Needs(needs)),
            };
        }
        let tokens = sent.tokens.filter(|tokens| *tokens <= budget.available_tokens);
        let tokens = tokens.ok_or(FrameEnd::Budget)?;
        let context = self.frame_context(frame, sent, (material, budget), vocabulary);
        Ok(Outcome::Ready(Context { tokens_used: tokens, ..context }))
    }

    // Adds to the frame what is recalled for a new question, at most its share. Where less than half of that is left
    // the frame ends: one that is nearly full would recall ever less, and never end.
    fn quote_in_frame(
        &mut self,
        frame: &mut Frame,
        question: u64,
        (material, room): (&Material, u32),
        budget: Budget,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<(), FrameEnd> {
        let share = budget.share(self.request.recall);
        if self.recalling.recalled_quotes().is_some() && room < share / 2 {
            return Err(FrameEnd::Budget);
        }
        let items = material.steps.iter().flat_map(|step| &step.items).map(|item| item.message.id.as_str());
        let quoted = frame.recalled.iter().flat_map(FrameRecall::quoted_ids);
        let there: BTreeSet<&str> = items.chain(quoted).collect();
        let recalled = self.recalling.recalled_quotes();
        let block = recalled.map(|all| all.quote_best(room.min(share), &there, &mut self.prices, vocabulary));
        let block = block.unwrap_or_default();
        let report = recalled.and_then(|all| all.report(&block, &BTreeSet::new()));
        frame.recalled.push(FrameRecall::of(question, &block, report.as_ref()));
        Ok(())
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
        frame: Frame,
        sent: FrameMessages,
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
        report.recall = find_newest_user(&material.steps)
            .and_then(|newest| frame.recalled_for(newest.place))
            .and_then(|one| one.report.clone());
        report.summary_tokens = summary_tokens;
        let summarized = if frame.summary.is_some() { u64::MAX } else { 0 };
        let counts = (sent.included.len() as u64, summarized);
        let context = choosing.finish_context(&frame.strategy, sent.messages, counts, report);
        choosing.complete_report(Context { frame: Some(Box::new(frame)), ..context }, Vec::new())
    }
}
