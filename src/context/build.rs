//! Builds a context: reads until the budget is covered, has it priced and summarized, and lets the strategies choose.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::Outcome;
use crate::context::budget::{Budget, calculate};
use crate::context::choose::{Choosing, Material};
use crate::context::frame::Frame;
use crate::context::host_strategies::HostStrategies;
use crate::context::price::Prices;
use crate::context::reading::Reading;
use crate::context::recall::{RecallState, Recollection};
use crate::context::report::FrameEnd;
use crate::context::request::Request;
use crate::context::shorten::{self, with_content};
use crate::context::steps::{
    GroupedSteps, Item, Step, build_missing_results, find_newest_user, group_into_steps, required_cost,
};
use crate::error::{Code, Error};
use crate::recall::meaning::measure_nearness;
use crate::recall::question::Question;
use crate::recall::shortlist::Shortlist;
use crate::record::message::{Attachment, Message};
use crate::record::span::Span;
use crate::session::context_source::ContextSource;
use crate::session::input_request::InputRequest;
use crate::tokens::Vocabulary;

const MAX_COUNT_ROUNDS: u32 = 8;
const MIN_USER_TEXT_BYTES: usize = 200;
// The tokens that a cut leaves free at first, since in a provider's shape messages may cost more together than
// separately.
const SPARE_TOKENS: u32 = 16;
// How many times a longer cut is tried.
const MAX_LONGER_CUTS: u32 = 4;
// No prose has more bytes per token: a longer cut is not worth a count.
const MAX_BYTES_PER_TOKEN: usize = 12;
// The most by which one count extends the range to read.
const MAX_RANGE_GROWTH: u64 = 4;

/// A context in the making.
#[derive(Debug)]
pub struct Build {
    pub(super) request: Request,
    pub(super) prices: Prices,
    pub(super) reading: Reading,
    pub(super) recalling: RecallState,
    // The guess up to which to read; a count may raise it above the budget.
    pub(super) aim: u64,
    rounds: u32,
    pub(super) host_summary: HostSummary,
    pub(super) host_strategies: HostStrategies,
    // The steps with their prices, kept until something new is read.
    pub(super) material: Option<Material>,
    // The tokens that a cut leaves free, for what messages cost together.
    spare: u32,
    // The frame to extend, until it has ended.
    pub(super) frame: Option<Box<Frame>>,
    // Why it has ended.
    pub(super) frame_end: Option<FrameEnd>,
}

/// The summary written by the host, if any.
#[derive(Debug, Default)]
pub(super) enum HostSummary {
    #[default]
    Unasked,
    None,
    Some(String),
}

impl Build {
    /// Begins a context.
    pub fn new(request: Request, source: ContextSource) -> Build {
        let prices = Prices::new(&request);
        Build {
            request,
            prices,
            reading: Reading::new(source),
            recalling: RecallState::default(),
            aim: 0,
            rounds: 0,
            host_summary: HostSummary::Unasked,
            host_strategies: HostStrategies::default(),
            material: None,
            spare: 0,
            frame: None,
            frame_end: None,
        }
    }

    /// Extends a frame, if there is one, as long as its messages and what came since fit the budget, and no older message
    /// is revised; then the context is cut anew.
    pub fn with_frame(mut self, frame: Option<Frame>) -> Build {
        let Some(frame) = frame else { return self };
        self.reading = Reading::in_frame(self.reading.source().clone(), &frame);
        // All of it is read, whatever it costs.
        self.aim = u64::MAX;
        let is_masked = self.request.masks_reasoning || frame.masks_reasoning;
        self.prices.set_reasoning(is_masked, frame.reasoning_since.clone());
        self.frame = Some(Box::new(frame));
        self
    }

    /// Returns the context, or the input that it needs.
    ///
    /// # Errors
    /// `budget_too_small`, naming the budget needed, if not even the newest user message fits.
    pub fn next(&mut self, vocabulary: Option<&Vocabulary>) -> Result<Outcome, Error> {
        let budget = match self.budget(vocabulary)? {
            Ok(budget) => budget,
            Err(needs) => return Ok(Outcome::Needs(needs)),
        };
        if let Some(outcome) = self.extend_frame(budget, vocabulary) {
            return Ok(outcome);
        }
        loop {
            let mut material = match self.prepare_material(budget.available_tokens, vocabulary) {
                Ok(material) => material,
                Err(needs) => return Ok(Outcome::Needs(needs)),
            };
            let outcome = self.choose_context(&mut material, budget, vocabulary);
            let may_be_cut_more = material.is_cut && self.prices.has_provider_shape();
            if outcome.is_ok() || !may_be_cut_more || self.spare > budget.available_tokens {
                // A material whose counts are missing is not priced yet, so it is not kept.
                let is_priced = !matches!(outcome, Ok(Outcome::Needs(InputRequest::Counts { .. })))
                    && !self.prices.has_wanted();
                self.material = is_priced.then_some(material);
                return outcome;
            }
            self.spare = more_spare(self.spare);
        }
    }

    // Reads and prices all that the context needs from the log.
    fn prepare_material(
        &mut self,
        available: u32,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Material, InputRequest> {
        if let Some(material) = self.material.take() {
            return Ok(material);
        }
        let mut material = self.read_material(available, vocabulary)?;
        if let Some(range) = self.wanted_beyond(&material.steps, available.into()) {
            return Err(InputRequest::Bytes { range });
        }
        material.is_cut = self.shorten_user(&mut material.steps, available, vocabulary);
        Ok(material)
    }

    /// Reads what is wanted of the log, and prices it.
    pub(super) fn read_material(
        &mut self,
        available: u32,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Material, InputRequest> {
        if let Some(needs) = self.wanted_bytes(available) {
            return Err(needs);
        }
        let material = self.build_material(vocabulary);
        self.wanted_counts().map_or(Ok(material), Err)
    }

    fn choose_context(
        &mut self,
        material: &mut Material,
        budget: Budget,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Outcome, Error> {
        let available = budget.available_tokens;
        if let Some(needs) = self.wanted_recall(&material.steps, available, vocabulary) {
            return Ok(Outcome::Needs(needs));
        }
        if let Some(needs) = self.wanted_summary(&material.steps, available) {
            return Ok(Outcome::Needs(needs));
        }
        material.summary = self.build_summary(&material.steps, available, vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Outcome::Needs(needs));
        }
        let Build { request, reading, recalling, host_strategies, prices, .. } = self;
        let recalled_quotes = recalling.recalled_quotes();
        let choosing =
            Choosing { material, budget, vocabulary, request, reading, recalled_quotes, host_strategies };
        let chosen = match request.fill {
            Some(fill) if request.strategies.is_empty() => choosing.cut_context(fill, prices),
            Some(_) | None => choosing.choose_context(prices),
        };
        match self.wanted_counts() {
            Some(needs) => Ok(Outcome::Needs(needs)),
            None => chosen,
        }
    }

    /// Takes the requested bytes, which begin at offset `start` of the log.
    ///
    /// # Errors
    /// `invalid_request` if other bytes were requested.
    pub fn take_bytes(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let end = start.saturating_add(bytes.len() as u64);
        if self.recalling.next_range() == Some(Span { start, end }) {
            self.recalling.take(bytes, self.reading.source());
            return Ok(());
        }
        self.material = None;
        self.reading.take(start, bytes)
    }

    /// Returns the question to look up in older messages, and the offset that they lie before, until a scan has begun.
    pub(crate) fn pending_question(&self) -> Option<(&Question, u64)> {
        self.recalling.pending_question()
    }

    /// Takes the messages that may answer the question.
    pub(crate) fn take_shortlist(&mut self, shortlist: Shortlist) {
        self.recalling.take_shortlist(shortlist);
    }

    /// Looks for the answer by reading, as no index has it: all of the log, or only its last part.
    pub(crate) fn begin_scan(&mut self, is_all: bool) {
        self.recalling.begin_scan(is_all);
    }

    /// Returns the lines to read of the shortlisted messages, in order.
    pub(crate) fn recalled_lines(&self) -> Vec<Span> {
        self.recalling.lines_to_read()
    }

    /// Returns the recalled quotes, for the next build.
    pub(crate) fn recollection(&self) -> Option<Recollection> {
        self.recalling.recollection(self.reading.source())
    }

    /// Reuses the quotes of an earlier build; false if the question was another, or if they no longer hold.
    pub(crate) fn reuse_recollection(&mut self, known: &Recollection) -> bool {
        self.recalling.reuse_recollection(known, self.reading.source(), self.request.embeds)
    }

    /// Takes the vectors requested by [`InputRequest::Vectors`]; with `None` the order by words stays.
    ///
    /// # Errors
    /// `invalid_request` if they do not have that form; they remain requested.
    pub fn take_vectors(&mut self, vectors: Option<&[u8]>) -> Result<(), Error> {
        let Some(texts) = self.recalling.texts_to_embed(self.request.embeds) else { return Ok(()) };
        let nearness = vectors.map(|bytes| measure_nearness(bytes, texts.len())).transpose();
        let nearness = nearness.map_err(|message| Error::new(Code::InvalidRequest, message))?;
        self.recalling.apply_nearness(nearness.as_deref());
        Ok(())
    }

    /// Takes a requested blob; false if the bytes are not that blob. With `None`, the ends of its text are shown.
    pub fn take_blob(&mut self, id: &str, bytes: Option<&[u8]>) -> bool {
        self.material = None;
        self.reading.take_blob(id, bytes)
    }

    /// Takes the requested counts, in the request's encoding.
    pub fn take_counts(&mut self, counts: Vec<(String, u32)>) {
        self.material = None;
        for (text, tokens) in counts {
            self.prices.insert_count(text, tokens);
        }
    }

    /// Takes the requested summary; with `None` one is made without a model.
    pub fn take_summary(&mut self, summary: Option<String>) {
        self.host_summary = summary.map_or(HostSummary::None, HostSummary::Some);
    }

    /// Takes the messages of a host strategy, or the reason why it made none.
    pub fn take_strategy_result(&mut self, name: &str, messages: Result<Vec<Message>, String>) {
        self.host_strategies.insert_result(name, messages);
    }

    /// Returns why the context does not extend the frame that it was given.
    pub(crate) fn frame_end(&self) -> Option<FrameEnd> {
        self.frame_end
    }

    fn budget(&mut self, vocabulary: Option<&Vocabulary>) -> Result<Result<Budget, InputRequest>, Error> {
        let system = self.prices.price_text(&self.request.system, vocabulary);
        let tools = self.prices.price_text(&self.request.tools, vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Err(needs));
        }
        let uncounted = || {
            Error::new(
                Code::InvalidRequest,
                "expected a count of the system prompt and the tools, but found none",
            )
        };
        let (system, tools) = system.zip(tools).ok_or_else(uncounted)?;
        Ok(Ok(calculate(self.request.window, system, tools, self.request.reserve)))
    }

    fn wanted_bytes(&mut self, budget: u32) -> Option<InputRequest> {
        if let Some(range) = self.reading.next_range(self.aim.max(budget.into())) {
            return Some(InputRequest::Bytes { range });
        }
        let id = self.reading.next_blob(u64::from(budget) * MAX_BYTES_PER_TOKEN as u64)?;
        Some(InputRequest::Blob { id })
    }

    // Returns what recall needs next, if not everything fits: bytes of the log with older messages, or vectors.
    pub(super) fn wanted_recall(
        &mut self,
        steps: &[Step],
        budget: u32,
        vocabulary: Option<&Vocabulary>,
    ) -> Option<InputRequest> {
        let least = steps.iter().fold(0u32, |sum, step| sum.saturating_add(step.least_cost()));
        let is_all = self.reading.is_read_to_start() && least <= budget;
        if is_all || self.request.recall == 0 {
            return None;
        }
        if matches!(self.recalling, RecallState::Unasked) {
            let newest_question = find_newest_user(steps)?;
            let first = self.reading.source().newest_user_first.map(|span| span.start);
            let before = first.or(newest_question.start).unwrap_or_default();
            self.recalling.begin(newest_question.message.content.as_str(), before, self.reading.source().end);
        }
        if let Some(range) = self.recalling.next_range() {
            return Some(InputRequest::Bytes { range });
        }
        if let Some(texts) = self.recalling.texts_to_embed(self.request.embeds) {
            return Some(InputRequest::Vectors { texts });
        }
        self.recalling.price_quotes(&mut self.prices, vocabulary);
        None
    }

    pub(super) fn wanted_counts(&mut self) -> Option<InputRequest> {
        let texts = self.prices.take_wanted();
        if texts.is_empty() || self.rounds == MAX_COUNT_ROUNDS {
            return None;
        }
        self.rounds += 1;
        Some(InputRequest::Counts { encoding: self.request.counter.as_str().into(), texts })
    }

    // The guess said that enough was read. If the count says that all of it would fit, the range grows by as
    // much as the guess was too high.
    fn wanted_beyond(&mut self, steps: &[Step], budget: u64) -> Option<Span> {
        let least: u64 = steps.iter().map(|step| u64::from(step.least_cost())).sum();
        if self.reading.is_complete() || least > budget {
            return None;
        }
        let guess = self.reading.guess();
        let aim = guess.saturating_mul(budget) / least.max(1);
        self.aim = aim.clamp(guess, guess.saturating_mul(MAX_RANGE_GROWTH));
        self.reading.next_range(self.aim)
    }

    fn build_material(&mut self, vocabulary: Option<&Vocabulary>) -> Material {
        for item in self.reading.items() {
            item.price(&mut self.prices, vocabulary);
        }
        let GroupedSteps { mut steps, orphans } = group_into_steps(self.reading.ordered_items());
        for step in &mut steps {
            for message in build_missing_results(step) {
                step.items.push(Item::new(message, None));
            }
            step.set_pins();
        }
        // Results that were added here have no price yet.
        for item in steps.iter_mut().flat_map(|step| step.items.iter_mut().chain(&mut step.pins)) {
            item.price(&mut self.prices, vocabulary);
        }
        Material { steps, orphans, ..Material::default() }
    }

    // Cuts the newest user message to the room left, if the required messages exceed the budget; true if that helped.
    // Otherwise it is left at its shortest, so that the required cost says which budget would do.
    fn shorten_user(&mut self, steps: &mut [Step], budget: u32, vocabulary: Option<&Vocabulary>) -> bool {
        let sum = required_cost(steps);
        let mut items = steps.iter_mut().rev().flat_map(|step| &mut step.items);
        let Some(item) = items.find(|item| item.is_newest_user).filter(|_| sum > budget) else {
            return false;
        };
        let room = budget.saturating_sub(sum.saturating_sub(item.whole_cost())).saturating_sub(self.spare);
        let text = String::from(item.message.content.as_str());
        let whole = item.cost;
        if item.message.attachments.iter().any(|file| file.data.is_some()) {
            let (message, price) = self.without_files(&item.message, room, vocabulary);
            (item.message, item.cost) = (message, None);
            (item.short, item.short_cost) = (Some(text.clone()), price);
            if price.is_some_and(|price| price <= room) {
                return true;
            }
        }
        let mut priced = |bytes: usize| {
            let cut = shorten::cut_middle(&text, bytes);
            // It does not matter by how much a text is far too long.
            if bytes > MIN_USER_TEXT_BYTES * 10 && cut.len() / MAX_BYTES_PER_TOKEN > room as usize {
                return None;
            }
            let price = self.prices.price_message(&with_content(&item.message, &cut), vocabulary);
            price.map(|price| (cut, price))
        };
        let fits = |(_, price): &(String, u32)| *price <= room;
        let (mut least, mut most) = (text.len(), text.len());
        let (mut best, mut cheapest) = (None, item.short.take().zip(item.short_cost));
        while best.is_none() && least > MIN_USER_TEXT_BYTES {
            (most, least) = (least, least / 10 * 9);
            let Some(cut) = priced(least) else { continue };
            if fits(&cut) {
                best = Some(cut);
            } else if cheapest.as_ref().is_none_or(|(_, price)| cut.1 < *price) {
                cheapest = Some(cut);
            }
        }
        for _ in 0..MAX_LONGER_CUTS {
            let middle = least.midpoint(most);
            match priced(middle).filter(fits).filter(|_| best.is_some()) {
                Some(longer) => (least, best) = (middle, Some(longer)),
                None => most = middle,
            }
        }
        let is_cut = best.is_some();
        (item.short, item.short_cost) = best.or(cheapest).unzip();
        // The line that replaces a file may cost more than the file.
        item.cost = item.cost.or(whole.filter(|_| !is_cut));
        is_cut
    }

    // Takes the bytes of files out of the message until it fits, the largest first, and returns it with its price. A
    // line names each file that was taken out.
    fn without_files(
        &mut self,
        message: &Message,
        room: u32,
        vocabulary: Option<&Vocabulary>,
    ) -> (Message, Option<u32>) {
        let mut light = Message { tokens: None, ..message.clone() };
        let size = |file: &Attachment| file.data.as_ref().map_or(0, String::len);
        let mut largest = light.attachments.iter().map(size).max().unwrap_or_default();
        let mut price = None;
        while largest > 0 && price.is_none_or(|price| price > room) {
            largest /= 2;
            for file in light.attachments.iter_mut().filter(|file| size(file) > largest) {
                *file = file.without_data();
            }
            price = self.prices.price_message(&light, vocabulary);
        }
        (light, price)
    }
}

/// Returns the next, larger number of tokens to leave free.
pub(super) fn more_spare(spare: u32) -> u32 {
    spare.saturating_mul(2).saturating_add(SPARE_TOKENS)
}
