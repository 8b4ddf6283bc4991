//! Takes down what a context was cut to, as a frame.

use alloc::string::String;
use alloc::vec::Vec;

use crate::context::choose::{Choosing, ContextPlan};
use crate::context::frame::{Frame, FrameRecall, pins_before};
use crate::context::report::Recall;
use crate::context::steps::{Item, Step, find_newest_user};
use crate::context::strategies::StepDecision;
use crate::record::message::{Message, Role};

impl Choosing<'_> {
    /// Returns what the next context extends; `None` where nothing may stand beside the newest user message.
    pub(super) fn cut_frame(
        &self,
        strategy: &str,
        plan: &ContextPlan,
        summary: &Message,
        recall: Option<&Recall>,
    ) -> Option<Frame> {
        if self.material.is_cut {
            return None;
        }
        let (steps, decisions) = (&self.material.steps, &plan.selection.decisions);
        let start = self.find_run(decisions);
        let is_shortened = |(step, kept): (&Step, &StepDecision)| -> Vec<u64> {
            let StepDecision::All(flags) = kept else { return Vec::new() };
            let shortened = step.items.iter().zip(flags).filter(|(_, is_short)| **is_short);
            shortened.filter_map(|(item, _)| item.start).collect()
        };
        let recalled =
            find_newest_user(steps).map(|newest| FrameRecall::of(newest.place, &plan.recall_block, recall));
        Some(Frame {
            strategy: strategy.into(),
            start,
            end: self.reading.end(),
            required: self.reading.required_before(start),
            pins: pins_before(self.reading.source(), start),
            shortened: steps.iter().zip(decisions).flat_map(is_shortened).collect(),
            folded: self.reading.folded_lines().clone(),
            reasoning_since: self.find_reasoning_start(decisions),
            masks_reasoning: self.request.masks_reasoning,
            summary: plan.selection.has_summary.then(|| summary.content.as_str().into()),
            recalled: recalled.into_iter().collect(),
            compacted: self.reading.compaction().map(|one| one.last_message_id.clone()),
            log_hash: None,
        })
    }

    // Returns the id of the message from which on reasoning is sent: the first that is kept of the turn whose reasoning
    // is sent now, or the newest message if none is.
    fn find_reasoning_start(&self, decisions: &[StepDecision]) -> Option<String> {
        let kept = self.material.steps.iter().zip(decisions).filter(|(_, kept)| **kept != StepDecision::No);
        let items = kept.flat_map(|(step, _)| &step.items).filter(|item| item.start.is_some()).rev();
        let is_of = |role: Role| move |item: &&&Item| item.message.role == Some(role);
        let answers = items.clone().skip_while(|item| !is_of(Role::Assistant)(&item));
        let is_open = answers.clone().next().is_some_and(|item| !item.message.tool_calls().is_empty());
        let first = match is_open {
            true => answers.take_while(|item| !is_of(Role::User)(&item)).last(),
            false => items.clone().next(),
        };
        first.map(|item| item.message.id.clone())
    }

    // Returns where the unbroken run of newest messages begins.
    fn find_run(&self, decisions: &[StepDecision]) -> u64 {
        let steps = &self.material.steps;
        let place =
            |step: &Step| step.items.iter().filter(|item| item.start.is_some()).map(|item| item.place).min();
        let kept = decisions.iter().rposition(|kept| !kept.is_all()).map_or(0, |last| last + 1);
        if kept == 0 && self.reading.is_complete() {
            return self.reading.begin();
        }
        let lines_from = self.reading.lines_from();
        let run = steps[kept..].iter().filter_map(place).filter(|place| *place >= lines_from);
        run.min().unwrap_or(self.reading.end())
    }
}
