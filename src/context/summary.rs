//! Makes a summary without a model: facts of the session state, in as many lines as a share of the budget holds.
//!
//! The task, open tasks, failed commands and files come first and may take nine tenths of it; then the sentences of
//! the highest weight; then the rest of the first. If commands are many, the middle of each is left out.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::grapheme_boundary;
use crate::plain::harmless::harmless;
use crate::record::message::{Message, Role};
use crate::session::branch::hash_text;
use crate::state::{Fact, FactKind, State, cut_text, relative_path};

const BEGIN_MARKER: &str = "[EARLIER CONVERSATION]";
const END_MARKER: &str = "[END EARLIER CONVERSATION]";

// The percentage that lines other than sentences may take before the sentences.
const FACTS_SHARE_PERCENT: u32 = 90;
// The percentage that a written summary may take. A model's summary stands beside the facts, in a little
// more than half of the share: what a context names must not depend on what a model leaves out.
const MODEL_SUMMARY_SHARE_PERCENT: u32 = 55;
// The percentage of words shared from which two sentences are alike.
const SAME_WORDS_PERCENT: usize = 70;
// Words that do not change what a sentence says.
const SMALL_WORDS: [&str; 16] = [
    "a", "an", "and", "are", "has", "have", "is", "of", "now", "so", "that", "the", "then", "to", "very",
    "was",
];
// The usual bytes per token of prose.
const BYTES_PER_TOKEN: usize = 4;
// No text has more bytes per token, so the rest of a longer one need not be looked at.
const MAX_BYTES_PER_TOKEN: usize = 8;
// The tokens of a line beside its text: its bullet and the line feed.
const LINE_TOKENS: u32 = 3;
// The most files on one line, so that a line that does not fit drops few.
const MAX_NAMES_PER_LINE: usize = 12;
// Commands are shortened if together they exceed this percentage of the share.
const COMMANDS_SHARE_PERCENT: usize = 20;
const MIN_COMMAND_BYTES: usize = 60;
// The most commands on one line.
const MAX_COMMANDS_PER_LINE: usize = 4;
// The bytes that the task may take, however small the share.
const MIN_TASK_BYTES: usize = 120;

/// The section of a line, in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Written,
    Project,
    Task,
    Pinned,
    Open,
    Files,
    Commands,
    Constraints,
    Decisions,
    Errors,
    Findings,
    Blockers,
    Progress,
    Status,
}

impl Section {
    // The titles, in the words of the conversation's minimal state.
    fn title(self) -> &'static str {
        match self {
            Section::Written => "SUMMARY",
            Section::Project => "PROJECT",
            Section::Task => "ORIGINAL TASK",
            Section::Pinned => "PINNED MESSAGES",
            Section::Open => "OPEN TASKS",
            Section::Files => "FILES MODIFIED THIS SESSION",
            Section::Commands => "COMMANDS THAT FAILED",
            Section::Constraints => "WHAT THE USER WANTS",
            Section::Decisions => "KEY DECISIONS MADE",
            Section::Errors => "ERRORS",
            Section::Findings => "FINDINGS",
            Section::Blockers => "CURRENT BLOCKERS",
            Section::Progress => "PROGRESS",
            Section::Status => "CURRENT STATUS",
        }
    }

    // A section of one line follows its title on the same line.
    fn is_single(self) -> bool {
        matches!(self, Section::Written | Section::Project | Section::Task | Section::Status)
    }
}

/// The input of a summary.
#[derive(Clone, Copy, Debug)]
pub struct SummaryInput<'a> {
    /// The session state.
    pub state: &'a State,
    /// The folder of the project; empty if unknown.
    pub project: &'a str,
    /// The texts of pinned messages that are nowhere else.
    pub pins: &'a [String],
}

/// A candidate line of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SummaryLine {
    section: Section,
    /// The text, as it is counted and written.
    pub text: String,
    pub is_sentence: bool,
    // The place where it was learned, by which sentences are sorted.
    place: usize,
}

/// A written summary, and whether it covers everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenSummary<'a> {
    pub text: &'a str,
    pub is_all: bool,
}

/// Returns the tokens that a written summary may take of a share.
pub(crate) fn written_summary_share(share: u32) -> u32 {
    share_of(share, MODEL_SUMMARY_SHARE_PERCENT)
}

fn share_of(share: u32, hundredths: u32) -> u32 {
    u32::try_from(u64::from(share) * u64::from(hundredths) / 100).unwrap_or(share)
}

/// Returns the candidate lines, the most important first, no more than a share of `share` tokens could hold, and the
/// number of further lines.
pub(crate) fn candidate_lines(
    known: SummaryInput<'_>,
    written: Option<WrittenSummary<'_>>,
    share: u32,
) -> (Vec<SummaryLine>, usize) {
    let SummaryInput { state, project, pins } = known;
    let mut lines = Vec::new();
    let mut add = |section, text: String, is_sentence, place| {
        lines.push(SummaryLine { section, text, is_sentence, place });
    };
    if let Some(WrittenSummary { text, .. }) = written {
        // The summary may have been written for a larger budget.
        let bytes = written_summary_share(share) as usize * BYTES_PER_TOKEN;
        add(Section::Written, harmless(cut_text(text, bytes.max(MIN_TASK_BYTES))), false, 0);
    }
    if !project.is_empty() {
        add(Section::Project, harmless(project), false, 0);
    }
    // A long line is better cut than missing.
    let part = (share as usize / 2).max(MIN_TASK_BYTES);
    for fact in state.facts_of(FactKind::Task) {
        add(Section::Task, harmless(cut_text(&fact.text, part)), false, 0);
    }
    for pin in pins {
        add(Section::Pinned, harmless(cut_text(pin, part)), false, 0);
    }
    for fact in state.facts_of(FactKind::Open) {
        add(Section::Open, harmless(&fact.text), false, 0);
    }
    for text in describe_commands(state, share) {
        add(Section::Commands, text, false, 0);
    }
    for text in describe_files(state, project) {
        add(Section::Files, text, false, 0);
    }
    // What is cut off a long task appears as its own sentences.
    let shown_task = state.first_fact(FactKind::Task).map_or("", |task| cut_text(&task.text, part));
    let says_all = written.is_some_and(|written| written.is_all);
    for (place, fact) in rank_sentences(state, shown_task).into_iter().filter(|_| !says_all) {
        add(section_of(fact.kind), harmless(&fact.text), true, place);
    }
    if let Some(status) = state.first_fact(FactKind::Status) {
        add(Section::Status, harmless(cut_text(&status.text, part / 2)), false, 0);
    }
    let count = lines.len();
    let mut room = share as usize * MAX_BYTES_PER_TOKEN;
    lines.retain(|line| {
        let fits = line.text.len() <= room;
        room = if fits { room - line.text.len() } else { room };
        fits
    });
    let more = count - lines.len();
    (lines, more)
}

/// Chooses the lines that fit a share; `costs` has the cost of each.
pub(crate) fn choose_lines(lines: &[SummaryLine], costs: &[u32], share: u32) -> Vec<SummaryLine> {
    let mut used = 0u32;
    let mut kept: Vec<usize> = Vec::new();
    // A written summary is the first line.
    let has_written = lines.first().is_some_and(|line| line.section == Section::Written);
    let first = if has_written { share } else { share_of(share, FACTS_SHARE_PERCENT) };
    for (is_sentence, limit) in [(false, first), (true, share), (false, share)] {
        for (place, (line, cost)) in lines.iter().zip(costs).enumerate() {
            let sum = used.saturating_add(*cost).saturating_add(LINE_TOKENS);
            if line.is_sentence == is_sentence && sum <= limit && !kept.contains(&place) {
                used = sum;
                kept.push(place);
            }
        }
    }
    let mut kept: Vec<SummaryLine> = kept.into_iter().map(|place| lines[place].clone()).collect();
    kept.sort_by_key(|line| (line.section, line.place));
    kept
}

/// Builds the message that replaces the omitted part of a conversation of `count` messages.
pub(crate) fn summary_message(lines: &[SummaryLine], count: u64) -> Message {
    let mut text = format!("{BEGIN_MARKER}\nOf {count} messages, the older ones are left out here.\n");
    let written = render_lines(lines);
    if !written.is_empty() {
        text.push_str("What they came to:\n");
        text.push_str(&written);
    }
    text.push_str(END_MARKER);
    Message { role: Some(Role::User), content: text.into(), ..Message::default() }
}

/// Renders the lines, each section under its title.
fn render_lines(lines: &[SummaryLine]) -> String {
    let mut text = String::new();
    let mut last = None;
    for line in lines {
        if line.section.is_single() {
            text.push_str(&format!("\n{}: {}\n", line.section.title(), line.text));
            continue;
        }
        if last.replace(line.section) != Some(line.section) {
            text.push_str(&format!("\n{}:\n", line.section.title()));
        }
        text.push_str(&format!("- {}\n", line.text));
    }
    text
}

// Ranks the sentences by weight, each with its place. A sentence with about the words of another comes
// behind all others; one that differs only in small words and marks is dropped.
fn rank_sentences<'a>(state: &'a State, task: &str) -> Vec<(usize, &'a Fact)> {
    let mut all: Vec<(usize, &Fact)> =
        state.facts().enumerate().filter(|(_, fact)| fact.kind.is_sentence()).collect();
    // Of equal weight, the later one says more about the current state.
    all.sort_by_key(|(place, fact)| (core::cmp::Reverse(fact.weight), core::cmp::Reverse(*place)));
    let mut wordings: Vec<Wording> = Vec::new();
    let mut alike: Vec<(usize, &Fact)> = Vec::new();
    all.retain(|(place, fact)| {
        if task.contains(&fact.text) {
            return false;
        }
        let wording = Wording::of(&fact.text);
        let likeness = wordings.iter().map(|other| wording.compare(other)).max().unwrap_or(Likeness::None);
        wordings.push(wording);
        if likeness == Likeness::Alike {
            alike.push((*place, *fact));
        }
        likeness == Likeness::None
    });
    all.extend(alike);
    all
}

/// How much of a sentence another one repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    None,
    Alike,
    Same,
}

/// The words of a sentence as sorted hashes: each sentence is compared with each other.
struct Wording {
    words: Vec<u64>,
    // A bit for each word: most pairs are told apart without comparing words.
    mark: u64,
    // The words that name something: two sentences that differ in one say different things.
    names: Vec<u64>,
    // The words that are not small.
    content: Vec<u64>,
}

impl Wording {
    fn of(text: &str) -> Wording {
        let sorted = |mut hashes: Vec<u64>| {
            hashes.sort_unstable();
            hashes
        };
        let bare: Vec<&str> = text.split_whitespace().map(without_marks).collect();
        let words = sorted(text.split_whitespace().map(hash_text).collect());
        let mark = words.iter().fold(0, |mark, word| mark | 1u64 << (word & 63));
        let named = bare.iter().zip(text.split_whitespace()).enumerate();
        let named = named.filter(|(place, (_, written))| is_telling(written, *place == 0));
        let names = sorted(
            named.map(|(_, (bare, _))| hash_text(bare)).chain(quoted_texts(text).map(hash_text)).collect(),
        );
        let says = bare.iter().filter(|word| !word.is_empty() && !SMALL_WORDS.contains(word));
        let content = sorted(says.map(|word| hash_text(&word.to_lowercase())).collect());
        Wording { words, mark, names, content }
    }

    fn compare(&self, other: &Wording) -> Likeness {
        if self.names != other.names {
            return Likeness::None;
        }
        if self.content == other.content {
            return Likeness::Same;
        }
        let least = self.words.len() * SAME_WORDS_PERCENT;
        let may_share = self.words.len() - (self.mark & !other.mark).count_ones() as usize;
        let is_alike = may_share * 100 > least && count_common(&self.words, &other.words) * 100 > least;
        if is_alike { Likeness::Alike } else { Likeness::None }
    }
}

fn without_marks(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

// True for a word that separates otherwise equal sentences: a number, version, name, path, or identifier.
fn is_telling(word: &str, is_first: bool) -> bool {
    let bare = without_marks(word);
    let inner =
        bare.chars().skip(1).any(|c| c.is_uppercase() || !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
    let is_proper = !is_first && bare.chars().count() > 1 && bare.starts_with(char::is_uppercase);
    inner
        || is_proper
        || bare.chars().any(char::is_numeric)
        || word.contains(['`', '/', '_', '"', '“', '„', '«', '@', '$'])
}

// Returns the quoted parts, of one word or several.
fn quoted_texts(text: &str) -> impl Iterator<Item = &str> {
    let marks = ['"', '`', '“', '”', '„', '«', '»', '「', '」'];
    text.split(marks).skip(1).step_by(2)
}

// Counts the hashes that two sorted lists share.
fn count_common(a: &[u64], b: &[u64]) -> usize {
    let (mut a, mut b, mut count) = (a.iter().peekable(), b.iter().peekable(), 0);
    while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
        let order = left.cmp(right);
        count += usize::from(order.is_eq());
        if order.is_le() {
            a.next();
        }
        if order.is_ge() {
            b.next();
        }
    }
    count
}

fn section_of(kind: FactKind) -> Section {
    match kind {
        FactKind::Constraint => Section::Constraints,
        FactKind::Decision => Section::Decisions,
        FactKind::Error => Section::Errors,
        FactKind::Finding => Section::Findings,
        FactKind::Blocker => Section::Blockers,
        FactKind::Progress => Section::Progress,
        FactKind::Task => Section::Task,
        FactKind::Created | FactKind::Modified | FactKind::Deleted | FactKind::Writes | FactKind::Removes => {
            Section::Files
        }
        FactKind::Failed | FactKind::Passed | FactKind::Runs | FactKind::Moves | FactKind::Folder => {
            Section::Commands
        }
        FactKind::Open | FactKind::Plans | FactKind::Adds | FactKind::Closes => Section::Open,
        FactKind::Status => Section::Status,
    }
}

// Lists the commands, latest first; a few with equal results share a line.
fn describe_commands(state: &State, share: u32) -> Vec<String> {
    let all = || state.facts().rev().filter(|fact| fact.kind.is_command());
    let each = share as usize * BYTES_PER_TOKEN * COMMANDS_SHARE_PERCENT / 100 / all().count().max(1);
    let mut groups: Vec<(FactKind, u32, Vec<String>)> = Vec::new();
    for fact in all() {
        let shown = format!("`{}`", harmless(&cut_to_ends(&fact.text, each.max(MIN_COMMAND_BYTES))));
        let is_its = |(kind, times, shown): &&mut (FactKind, u32, Vec<String>)| {
            *kind == fact.kind && *times == fact.weight && shown.len() < MAX_COMMANDS_PER_LINE
        };
        match groups.iter_mut().find(is_its) {
            Some((_, _, group)) => group.push(shown),
            None => groups.push((fact.kind, fact.weight, Vec::from([shown]))),
        }
    }
    let line = |(kind, times, shown): (FactKind, u32, Vec<String>)| {
        let each = if shown.len() > 1 { " each" } else { "" };
        let times = if times > 1 { format!(" {times} times") } else { String::new() };
        let since =
            if kind == FactKind::Passed { "passed when it was run again" } else { "has not passed since" };
        format!("{}{each} failed{times}, {since}", shown.join(", "))
    };
    groups.into_iter().map(line).collect()
}

// Keeps the beginning and the end of a text that is too long: two commands may differ at either.
fn cut_to_ends(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.into();
    }
    let end = grapheme_boundary(text, text.len() - most / 3, true);
    format!("{} ... {}", cut_text(text, most - most / 3), &text[end..])
}

// Lists the files, latest first; one line for each folder and action, split if the files are many.
fn describe_files(state: &State, project: &str) -> Vec<String> {
    let mut groups: Vec<(String, FactKind, Vec<String>)> = Vec::new();
    for (named, became) in state.changed_files(project).into_iter().rev() {
        let shown = path_in_project(named, project);
        let name_at = shown.rfind(['/', '\\']).map_or(0, |at| at + 1);
        let (folder, name) = shown.split_at(name_at);
        let is_its = |(of, kind, names): &&mut (String, FactKind, Vec<String>)| {
            of == folder && *kind == became && names.len() < MAX_NAMES_PER_LINE
        };
        match groups.iter_mut().find(is_its) {
            Some((_, _, names)) => names.push(name.into()),
            None => groups.push((folder.into(), became, Vec::from([name.into()]))),
        }
    }
    let line = |(folder, kind, names): (String, FactKind, Vec<String>)| {
        let between = if names.len() > 1 && !folder.is_empty() { ": " } else { "" };
        format!("{folder}{between}{} ({})", names.join(", "), kind.as_str())
    };
    groups.into_iter().map(line).collect()
}

// Writes a path relative to the project. Several blanks in a row belong to the path, not to a marker.
fn path_in_project(path: &str, project: &str) -> String {
    let shown = relative_path(path, project);
    let is_plain = shown.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if is_plain && !shown.contains(['[', '<']) { shown.into() } else { harmless(shown) }
}

/// Summarizes a session state in at most `tokens` tokens, as `cost` counts them; empty if nothing is known.
pub fn extract_summary(known: SummaryInput<'_>, tokens: u32, cost: &dyn Fn(&str) -> u32) -> String {
    let (lines, _) = candidate_lines(known, None, tokens);
    let costs: Vec<u32> = lines.iter().map(|line| cost(&line.text)).collect();
    let mut room = tokens;
    loop {
        let written = render_lines(&choose_lines(&lines, &costs, room));
        if written.is_empty() || cost(&written) <= tokens {
            return written.trim_ascii().into();
        }
        room = room / 10 * 9;
    }
}
