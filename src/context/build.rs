//! Reads backward until the budget is covered, then lets the strategies choose.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::budget::{Budget, calculate};
use crate::context::price::Prices;
use crate::context::report::{Action, Decision, Rejection, Report};
use crate::context::request::Request;
use crate::context::strategies::{Choice, ORDER, Selection, Strategy};
use crate::context::turns::{Item, Step, UNFINISHED, group, missing_results};
use crate::context::{Context, Needs, Outcome, shorten};
use crate::error::{Code, Error};
use crate::session::branch::{Branches, Path};
use crate::session::checkpoint::Span;
use crate::session::message::{self, Message, Role};
use crate::session::scan::{Found, Record, Scanner};
use crate::tokens::Vocabulary;

const SMALLEST_READ: u64 = 64 * 1024;
const LARGEST_READ: u64 = 1024 * 1024;
const COUNT_ROUNDS: u32 = 4;
const SHORTEST_USER_TEXT: usize = 200;
// A cut of more bytes a token than any prose has is not worth a count.
const MOST_BYTES_A_TOKEN: usize = 12;

/// What is known of the log that a context is built from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Where the last complete line ends.
    pub end: u64,
    /// How many messages the path has.
    pub message_count: u64,
    /// The system messages.
    pub systems: Vec<Span>,
    /// The pinned messages.
    pub pins: Vec<Span>,
    /// The newest user message, where it is known.
    pub newest_user: Option<Span>,
    /// The path, where the log has more than one.
    pub path: Option<(Branches, Path)>,
}

/// A context that is being built.
#[derive(Debug)]
pub struct Build {
    request: Request,
    source: Source,
    prices: Prices,
    scanner: Scanner,
    // Newest first; each with where its line begins.
    read: Vec<(u64, Message)>,
    // Required messages that lie before everything read.
    apart: BTreeMap<u64, Message>,
    read_from: u64,
    bytes_read: u64,
    rounds: u32,
}

// What the strategies choose from, and what it costs.
struct Material {
    steps: Vec<Step>,
    orphans: Vec<Message>,
    summary: Message,
    summary_cost: Option<u32>,
}

impl Build {
    /// Begins a context.
    pub fn new(request: Request, source: Source) -> Build {
        Build {
            prices: Prices::new(request.counter.clone()),
            scanner: Scanner::backward(source.end),
            read: Vec::new(),
            apart: BTreeMap::new(),
            read_from: source.end,
            bytes_read: 0,
            rounds: 0,
            request,
            source,
        }
    }

    /// The context, or what is needed for it.
    ///
    /// # Errors
    /// `budget_too_small`, saying what is needed, where not even the newest user message fits.
    pub fn next(&mut self, vocabulary: Option<&Vocabulary>) -> Result<Outcome, Error> {
        let system = self.prices.text(&self.request.system, vocabulary);
        let tools = self.prices.text(&self.request.tools, vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Outcome::Needs(needs));
        }
        let uncounted = || {
            Error::new(
                Code::InvalidRequest,
                "expected a count of the system prompt and the tools, but found none",
            )
        };
        let (system, tools) = system.zip(tools).ok_or_else(uncounted)?;
        let budget = calculate(self.request.window, system, tools, self.request.reserve);
        if let Some(range) = self.wanted_bytes(budget.available_tokens) {
            return Ok(Outcome::Needs(Needs::Bytes { range }));
        }
        let mut material = self.material(vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Outcome::Needs(needs));
        }
        self.shorten_user(&mut material, budget.available_tokens, vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Outcome::Needs(needs));
        }
        self.choose(material, budget).map(Outcome::Ready)
    }

    /// Takes the bytes that were needed; `start` is where they lie in the log.
    ///
    /// # Errors
    /// `invalid_request` where other bytes were needed.
    pub fn bytes(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        self.bytes_read += bytes.len() as u64;
        let end = start + bytes.len() as u64;
        if end == self.read_from && start < end {
            self.scanner.feed(bytes);
            self.read_from = start;
            self.drain();
            if start == 0 {
                self.scanner.finish();
                self.drain();
            }
            self.apart.retain(|place, _| *place < start);
            return Ok(());
        }
        if end > self.read_from {
            let message =
                format!("expected bytes before {}, but found bytes up to {end} instead", self.read_from);
            return Err(Error::new(Code::InvalidRequest, message));
        }
        let json = String::from_utf8_lossy(bytes).into_owned();
        let message = message::read(&Record { start, end, json }).0.unwrap_or_default();
        self.apart.insert(start, standing_alone(message));
        Ok(())
    }

    /// Takes the counts of texts that were needed, by the encoding that was asked for.
    pub fn counts(&mut self, counts: Vec<(String, u32)>) {
        for (text, tokens) in counts {
            self.prices.learn(text, tokens);
        }
    }

    fn wanted_counts(&mut self) -> Option<Needs> {
        let texts = self.prices.take_wanted();
        if texts.is_empty() || self.rounds == COUNT_ROUNDS {
            return None;
        }
        self.rounds += 1;
        Some(Needs::Counts { encoding: self.request.counter.as_str().into(), texts })
    }

    fn wanted_bytes(&self, budget: u32) -> Option<Span> {
        let knows_user = self.source.newest_user.is_some() || self.source.message_count == 0;
        let has_user = || self.read.iter().any(|(_, message)| message.role == Some(Role::User));
        let looks_for_user = !knows_user && !has_user();
        if self.read_from > 0 && (looks_for_user || self.floor() <= u64::from(budget)) {
            let size = self.bytes_read.clamp(SMALLEST_READ, LARGEST_READ);
            return Some(Span { start: self.read_from.saturating_sub(size), end: self.read_from });
        }
        let required = self.source.systems.iter().chain(&self.source.pins).chain(&self.source.newest_user);
        let unread =
            |span: &&Span| span.end <= self.first_complete() && !self.apart.contains_key(&span.start);
        required.filter(unread).min().copied()
    }

    // A line may lie across the place up to which the log was read; it is not among the messages yet.
    fn first_complete(&self) -> u64 {
        self.read.last().map_or(self.source.end, |(start, _)| *start)
    }

    // The least that the complete steps read so far can cost.
    fn floor(&self) -> u64 {
        let cost = |step: &Step| step.items.iter().map(|item| u64::from(item.least())).sum::<u64>();
        let items = self
            .placed()
            .into_iter()
            .map(|(start, message)| self.item(start, message, |message| Some(self.prices.floor(message))));
        group(items.collect()).steps.iter().map(cost).sum()
    }

    fn drain(&mut self) {
        while let Some(found) = self.scanner.next() {
            let Found::Record(record) = found else { continue };
            let Some(message) = message::read(&record).0 else { continue };
            let is_on_path = |(branches, path): &(Branches, Path)| branches.is_on(path, &message.id);
            if self.source.path.as_ref().is_none_or(is_on_path) {
                self.read.push((record.start, message));
            }
        }
    }

    // Oldest first; a message that was written again stands once, as its highest revision, in the place of the first.
    // Where the first was not read, it is older than all that was. Different lines of that revision are all kept.
    fn placed(&self) -> Vec<(u64, &Message)> {
        let apart = self.apart.iter().map(|(start, message)| (*start, message));
        let read = self.read.iter().rev().map(|(start, message)| (*start, message));
        let lines: Vec<(u64, &Message)> = apart.chain(read).collect();
        let mut highest: BTreeMap<&str, u64> = BTreeMap::new();
        let mut required = BTreeSet::new();
        for (start, message) in &lines {
            let rev = highest.entry(&message.id).or_default();
            *rev = message.rev.max(*rev);
            if self.is_required(*start) {
                required.insert(message.id.as_str());
            }
        }
        // Each with where it stands, which for all but a revision is where its line begins.
        let mut placed: Vec<(u64, u64, Option<&Message>)> = Vec::new();
        // The places of the first and of the newest line that was kept.
        let mut places: BTreeMap<&str, Option<[usize; 2]>> = BTreeMap::new();
        for (start, message) in lines {
            let id = message.id.as_str();
            let kept = (message.rev == highest[id]).then_some(message);
            let is_older = message.rev > 0 && self.read_from > 0;
            match (places.get(id).copied(), kept) {
                (Some(None), _) | (Some(Some(_)), None) => {}
                (None, _) if is_older && !required.contains(id) => {
                    places.insert(id, None);
                }
                (None, _) => {
                    places.insert(id, Some([placed.len(); 2]));
                    placed.push((if is_older { start.min(self.read_from) } else { start }, start, kept));
                }
                (Some(Some([first, _])), Some(_)) if placed[first].2.is_none() => placed[first].2 = kept,
                (Some(Some(both)), Some(_)) if both.iter().any(|place| placed[*place].2 == kept) => {}
                (Some(Some([first, _])), Some(_)) => {
                    places.insert(id, Some([first, placed.len()]));
                    placed.push((start, start, kept));
                }
            }
        }
        placed.sort_by_key(|(place, ..)| *place);
        placed.into_iter().filter_map(|(_, start, message)| Some((start, message?))).collect()
    }

    fn is_required(&self, start: u64) -> bool {
        let systems_and_pins = self.source.systems.iter().chain(&self.source.pins);
        systems_and_pins.chain(&self.source.newest_user).any(|span| span.start == start)
    }

    fn item(&self, start: u64, message: &Message, mut price: impl FnMut(&Message) -> Option<u32>) -> Item {
        let mut message = message.clone();
        if message.partial && message.role == Some(Role::Assistant) {
            message.content = format!("{}{UNFINISHED}", message.content.as_str()).into();
            message.tokens = None;
        }
        let tool = message.tool.as_ref().filter(|_| message.role == Some(Role::Tool));
        let short = tool.and_then(|tool| shorten::tool_result(message.content.as_str(), &tool.name));
        let short_cost = short.as_ref().and_then(|short| {
            price(&Message { content: short.as_str().into(), tokens: None, ..message.clone() })
        });
        let is_required = self.is_required(start);
        Item { cost: price(&message), short, short_cost, start: Some(start), is_required, message }
    }

    fn material(&mut self, vocabulary: Option<&Vocabulary>) -> Material {
        let mut prices = core::mem::replace(&mut self.prices, Prices::new(self.request.counter.clone()));
        let mut price = |message: &Message| prices.message(message, vocabulary);
        let all = self.placed();
        let newest_user =
            all.iter().rfind(|(_, message)| message.role == Some(Role::User)).map(|(start, _)| *start);
        let items = all.iter().map(|(start, message)| {
            let item = self.item(*start, message, &mut price);
            Item { is_required: item.is_required || Some(*start) == newest_user, ..item }
        });
        let mut grouped = group(items.collect());
        for step in &mut grouped.steps {
            for message in missing_results(step) {
                let cost = price(&message);
                let item =
                    Item { cost, short: None, short_cost: None, start: None, is_required: false, message };
                step.items.push(item);
            }
        }
        let summary = left_out(self.source.message_count);
        let summary_cost = price(&summary);
        self.prices = prices;
        Material { steps: grouped.steps, orphans: grouped.orphans, summary, summary_cost }
    }

    // Where what is required exceeds the budget, the newest user message is cut to what is left.
    fn shorten_user(&mut self, material: &mut Material, budget: u32, vocabulary: Option<&Vocabulary>) {
        let required = |steps: &[Step]| {
            steps
                .iter()
                .filter(|step| step.is_required())
                .fold(0u32, |sum, step| sum.saturating_add(step.least()))
        };
        let sum = required(&material.steps);
        let is_user = |item: &&mut Item| item.message.role == Some(Role::User) && item.is_required;
        let items = material.steps.iter_mut().rev().flat_map(|step| step.items.iter_mut());
        let Some(item) = items.into_iter().find(|item| is_user(item)).filter(|_| sum > budget) else {
            return;
        };
        let room = budget.saturating_sub(sum.saturating_sub(item.whole()));
        let text = String::from(item.message.content.as_str());
        let mut bytes = text.len();
        while bytes > SHORTEST_USER_TEXT {
            bytes = bytes / 10 * 9;
            let cut = shorten::middle(&text, bytes);
            if cut.len() / MOST_BYTES_A_TOKEN > room as usize && bytes > SHORTEST_USER_TEXT * 10 {
                continue;
            }
            let message = Message { content: cut.as_str().into(), tokens: None, ..item.message.clone() };
            let price = self.prices.message(&message, vocabulary);
            if item.short_cost.is_none() && price.is_some_and(|price| price <= room) {
                (item.short, item.short_cost) = (Some(cut), price);
            }
        }
    }

    fn choose(&self, material: Material, budget: Budget) -> Result<Context, Error> {
        let choice = Choice {
            steps: &material.steps,
            budget: budget.available_tokens,
            is_complete: self.read_from == 0,
            summary_cost: material.summary_cost.unwrap_or(u32::MAX),
        };
        let mut rejected = Vec::new();
        for strategy in ORDER {
            match strategy.select(&choice) {
                Ok(selection) => return Ok(self.context(strategy, &selection, &material, budget, rejected)),
                Err(why) => rejected.push(Rejection { strategy: strategy.as_str(), why }),
            }
        }
        let required = material.steps.iter().filter(|step| step.is_required());
        let needed = required.fold(0u32, |sum, step| sum.saturating_add(step.least()));
        let found = budget.available_tokens;
        let message = format!(
            "expected a budget of at least {needed} tokens for what has to be there, but found {found} instead"
        );
        Err(Error::new(Code::BudgetTooSmall, message))
    }

    fn context(
        &self,
        strategy: Strategy,
        selection: &Selection,
        material: &Material,
        budget: Budget,
        rejected: Vec<Rejection>,
    ) -> Context {
        let mut report = Report { budget, rejected, bytes_read: self.bytes_read, ..Report::default() };
        report.encoding = self.request.counter.as_str().into();
        let mut messages: Vec<Message> = Vec::new();
        let mut included = BTreeSet::new();
        let mut placed_summary = !selection.has_summary;
        for (step, kept) in material.steps.iter().zip(&selection.kept) {
            let is_system = step.items.first().is_some_and(|item| item.message.role == Some(Role::System));
            if kept.is_some() && !is_system && !placed_summary {
                messages.push(material.summary.clone());
                placed_summary = true;
            }
            for (place, item) in step.items.iter().enumerate() {
                let is_short = kept.as_ref().map(|flags| flags.get(place).copied().unwrap_or_default());
                report.messages.push(decision(item, is_short));
                if let Some(is_short) = is_short {
                    messages.push(as_sent(item, is_short));
                    included.extend(item.start);
                }
            }
        }
        report.messages.extend(material.orphans.iter().map(orphan));
        let original = self.source.message_count;
        report.unread_message_count =
            original.saturating_sub(report.messages.iter().filter(|d| !d.id.is_empty()).count() as u64);
        let included = included.len() as u64;
        Context {
            messages,
            strategy: strategy.as_str(),
            tokens_used: selection.used,
            token_budget: budget.available_tokens,
            original_message_count: original,
            included_message_count: included,
            summarized_message_count: if selection.has_summary {
                original.saturating_sub(included)
            } else {
                0
            },
            report,
        }
    }
}

fn decision(item: &Item, is_short: Option<bool>) -> Decision {
    let (action, rule, tokens) = match is_short {
        None => (Action::Dropped, "did-not-fit", item.least()),
        Some(true) => (Action::Shortened, "tool-result", item.least()),
        Some(false) if item.is_required => (Action::Kept, "required", item.whole()),
        Some(false) => (Action::Kept, "fits", item.whole()),
    };
    Decision { id: item.message.id.clone(), action, rule, tokens }
}

fn orphan(message: &Message) -> Decision {
    Decision { id: message.id.clone(), action: Action::Dropped, rule: "result-without-call", tokens: 0 }
}

fn as_sent(item: &Item, is_short: bool) -> Message {
    match &item.short {
        Some(short) if is_short => Message { content: short.as_str().into(), ..item.message.clone() },
        Some(_) | None => item.message.clone(),
    }
}

// A required message far from the rest has neither its calls' results nor the call it answers.
fn standing_alone(mut message: Message) -> Message {
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

fn left_out(count: u64) -> Message {
    let text = format!(
        "[EARLIER CONVERSATION]\nOf {count} messages, the older ones are left out here.\n[END EARLIER CONVERSATION]"
    );
    Message { role: Some(Role::User), content: text.into(), ..Message::default() }
}
