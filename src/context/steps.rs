//! Steps: the units that a context keeps or omits.
//!
//! A step is an assistant message with the results of its calls, or one user or system message. Results that a log
//! holds elsewhere are moved to their call; a call without a result gets one that says so.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::price::Prices;
use crate::context::shorten::{self, with_content};
use crate::json::text::grapheme_boundary;
use crate::record::message::{Message, Role, Tool};
use crate::record::tool_execution::INTERRUPTED_RESULT;
use crate::tokens::{Vocabulary, cost, estimate};

/// Appended to an answer that was not finished.
pub(crate) const UNFINISHED_NOTE: &str = "\n[This answer was interrupted.]";

// The bytes of a text that are estimated; the rest is assumed to be alike, since an estimate takes longer than a
// count.
const SAMPLE_BYTES: usize = 256;
// No token has more bytes, apart from runs of blanks.
const MAX_BYTES_PER_TOKEN: usize = 64;

/// A message as a candidate for a context.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub message: Message,
    /// The content shortened by its tool's rule, if that applies.
    pub short: Option<String>,
    /// The price of the whole message; if unknown, it counts as above any budget.
    pub cost: Option<u32>,
    /// The price when shortened.
    pub short_cost: Option<u32>,
    /// The offset of its line in the log; `None` for a result that was never recorded.
    pub start: Option<u64>,
    /// Where the message stands in the log: the line of its first revision.
    pub place: u64,
    /// True if a context must have it.
    pub is_required: bool,
    /// True if a context must have it, cut if it is too long.
    pub is_newest_user: bool,
}

impl Item {
    /// Creates an item without a price. An unfinished answer is marked as such.
    pub fn new(mut message: Message, start: Option<u64>) -> Item {
        if message.partial && message.role == Some(Role::Assistant) {
            message.content = format!("{}{UNFINISHED_NOTE}", message.content.as_str()).into();
            message.tokens = None;
        }
        Item::of(message, start)
    }

    // Like [`Item::new`], for a message that is marked already.
    fn of(message: Message, start: Option<u64>) -> Item {
        let tool = message.tool.as_ref().filter(|_| message.role == Some(Role::Tool));
        let short = tool.and_then(|tool| shorten::shorten_tool_result(message.content.as_str(), &tool.name));
        Item { message, short, start, ..Item::default() }
    }

    /// Adds missing prices, as far as a counter is at hand.
    pub fn price(&mut self, prices: &mut Prices, vocabulary: Option<&Vocabulary>) {
        self.cost = self.cost.or_else(|| prices.price_message(&self.message, vocabulary));
        if let (Some(short), None) = (&self.short, self.short_cost) {
            self.short_cost = prices.price_with_content(&self.message, short, vocabulary);
        }
    }

    /// Estimates its least cost before anything is counted: from the stored count, whoever made it, else by the
    /// estimate.
    pub fn guess(&self) -> u32 {
        let whole = self.guess_whole();
        let Some(short) = &self.short else { return whole };
        // A shortened text has as many tokens per byte as the whole.
        let share = u64::from(whole) * short.len() as u64 / self.message.content.as_str().len().max(1) as u64;
        whole.min(u32::try_from(share).unwrap_or(u32::MAX).saturating_add(cost::FRAME))
    }

    fn guess_whole(&self) -> u32 {
        let cost::CountedParts { texts, fixed_tokens: fixed } = cost::parts(&self.message, None);
        let tokens = match &self.message.tokens {
            // A made-up count must not cause the whole log to be read.
            Some(tokens) => {
                let bytes: usize = texts.iter().map(|text| text.len()).sum();
                u64::from(tokens.count).max((bytes / MAX_BYTES_PER_TOKEN) as u64)
            }
            None => texts.iter().fold(fixed.into(), |sum, text| sum + estimate_by_sample(text)),
        };
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// Returns the message as it is sent.
    pub fn as_sent(&self, is_short: bool) -> Message {
        match &self.short {
            Some(short) if is_short => with_content(&self.message, short),
            Some(_) | None => self.message.clone(),
        }
    }

    /// Returns the lower of its two prices.
    pub fn least_cost(&self) -> u32 {
        self.cost.unwrap_or(u32::MAX).min(self.short_cost.unwrap_or(u32::MAX))
    }

    /// Returns the price of the whole message.
    pub fn whole_cost(&self) -> u32 {
        self.cost.unwrap_or(u32::MAX)
    }

    /// True if shortening makes it cheaper.
    pub fn can_be_shortened(&self) -> bool {
        self.short_cost.is_some_and(|short| short < self.whole_cost())
    }
}

// Estimates the tokens of a text from its beginning.
fn estimate_by_sample(text: &str) -> u64 {
    let sample = grapheme_boundary(text, SAMPLE_BYTES, false);
    if sample == 0 || sample == text.len() {
        return estimate(text).into();
    }
    u64::from(estimate(&text[..sample])) * text.len() as u64 / sample as u64
}

/// The messages that are kept or omitted together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub items: Vec<Item>,
    /// The items that must be kept even if the rest is omitted.
    pub pins: Vec<Item>,
}

impl Step {
    /// Makes a step of one item.
    pub fn of(item: Item) -> Step {
        Step { items: Vec::from([item]), pins: Vec::new() }
    }

    /// Returns the least cost of its required part: standalone pins, or all of it.
    pub fn least_required_cost(&self) -> u32 {
        let items = if self.pins.is_empty() { &self.items } else { &self.pins };
        items.iter().fold(0, |sum, item| sum.saturating_add(item.least_cost()))
    }

    /// Makes standalone pins: a pinned message must be kept, but calls and results beside it only if the whole step
    /// fits. So it does not matter to a pin how much of the log was read.
    pub fn set_pins(&mut self) {
        let alone = |item: &Item| {
            let alone = Item::of(to_standalone(item.message.clone()), item.start);
            Item { is_required: true, place: item.place, ..alone }
        };
        if self.items.len() > 1 {
            self.pins = self.items.iter().filter(|item| item.is_required).map(alone).collect();
        }
    }

    pub fn least_cost(&self) -> u32 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.least_cost()))
    }

    pub fn whole_cost(&self) -> u32 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.whole_cost()))
    }

    pub fn is_required(&self) -> bool {
        self.items.iter().any(|item| item.is_required)
    }
}

/// The steps of a path, and the messages that belong to none.
#[derive(Debug, Default)]
pub(crate) struct GroupedSteps {
    pub steps: Vec<Step>,
    pub orphans: Vec<Message>,
}

/// Finds the newest user message.
pub(crate) fn find_newest_user(steps: &[Step]) -> Option<&Item> {
    steps.iter().flat_map(|step| &step.items).find(|item| item.is_newest_user)
}

/// Returns the least cost of the required steps.
pub(crate) fn required_cost(steps: &[Step]) -> u32 {
    let required = steps.iter().filter(|step| step.is_required());
    required.fold(0, |sum, step| sum.saturating_add(step.least_required_cost()))
}

/// Groups messages, oldest first, into steps.
pub(crate) fn group_into_steps(items: Vec<Item>) -> GroupedSteps {
    let mut steps: Vec<Step> = Vec::new();
    let mut orphans = Vec::new();
    // The steps that wait for each call's result. Some agents repeat ids; then the newest call counts.
    let mut waiting: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for mut item in items {
        match item.message.role {
            Some(Role::System | Role::User) => steps.push(Step::of(item)),
            Some(Role::Assistant) => {
                for call in item.message.tool_calls() {
                    waiting.entry(call.id.clone()).or_default().push(steps.len());
                }
                steps.push(Step::of(item));
            }
            Some(Role::Tool) => {
                let call = item.message.tool.as_ref().map(|tool| tool.call_id.as_str()).unwrap_or_default();
                match waiting.get_mut(call).and_then(Vec::pop) {
                    Some(step) => steps[step].items.push(item),
                    None if item.is_required => {
                        let alone = Item::of(to_standalone(item.message), item.start);
                        steps.push(Step::of(Item { is_required: true, place: item.place, ..alone }));
                    }
                    None => orphans.push(core::mem::take(&mut item.message)),
                }
            }
            None => orphans.push(item.message),
        }
    }
    GroupedSteps { steps, orphans }
}

/// Makes a required message stand alone: far from the rest, it has neither its calls' results nor the call it answers.
pub(crate) fn to_standalone(mut message: Message) -> Message {
    let Some(role) = message.role else { return message };
    match role {
        Role::System | Role::User => {}
        Role::Assistant => {
            if let Some(assistant) = &mut message.assistant {
                assistant.tool_calls.clear();
                message.tokens = None;
            }
        }
        Role::Tool => {
            let name = message.tool.take().map(|tool| tool.name).unwrap_or_default();
            message.role = Some(Role::User);
            message.content = format!("[Pinned result of {name}]\n{}", message.content.as_str()).into();
            message.tokens = None;
        }
    }
    message
}

/// Builds the results that a step's calls lack.
pub(crate) fn build_missing_results(step: &Step) -> Vec<Message> {
    let results = step.items.iter().filter_map(|item| item.message.tool.as_ref());
    let mut results: Vec<&str> = results.map(|tool| tool.call_id.as_str()).collect();
    let calls = step.items.first().map_or(&[][..], |first| first.message.tool_calls());
    let lacking = calls.iter().filter(|call| match results.iter().position(|id| *id == call.id) {
        Some(place) => {
            results.swap_remove(place);
            false
        }
        None => true,
    });
    lacking
        .map(|call| Message {
            role: Some(Role::Tool),
            content: INTERRUPTED_RESULT.into(),
            tool: Some(Tool {
                call_id: call.id.clone(),
                name: call.name.clone(),
                is_error: true,
                ..Tool::default()
            }),
            ..Message::default()
        })
        .collect()
}
