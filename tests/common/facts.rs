//! Sessions made by chance with facts planted in them, as an exam for summaries: which facts does one keep?
//!
//! A fact is one sentence of at most 20 words, of the kinds that the prompt for summaries lists. Its wording and
//! all that stands around it lie in `tests/fixtures/facts`. Only the templates of the set `tuning` may be looked at by
//! whoever works on summaries; the `unseen` ones say whether what was tuned holds for words that it was not tuned to.
//! A test that uses this module has `mod chance` and `mod common` beside it.
#![allow(dead_code, reason = "each test uses its part of it")]

use std::collections::BTreeMap;

use leftoff::record::message::{Message, Role};
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::common::{call_message, result_message, text_message};

pub const KINDS: [&str; 6] = ["goal", "decision", "files", "state", "error", "constraint"];
pub const FACT_COUNT: usize = 20;

/// Of a slot, so many values occur in one session: what a session is about, it names again and again.
const VALUES_PER_SLOT: usize = 7;
/// A round has one question, at most 8 steps with one or two calls, and one answer.
const MAX_ROUND_MESSAGES: usize = 2 + 8 * 3;

pub struct Session {
    pub messages: Vec<Message>,
    /// In no order.
    pub facts: Vec<Fact>,
}

pub struct Fact {
    /// As it stands in one of the messages.
    pub text: String,
    pub kind: String,
    pub is_unseen: bool,
    /// What its template's slots were filled with.
    pub values: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Template {
    pub is_unseen: bool,
    pub kind: &'static str,
    pub role: Role,
    pub text: &'static str,
}

/// Texts or values by what they are for.
pub type TextsByName = BTreeMap<&'static str, Vec<&'static str>>;

/// The same for the same seed.
pub fn session(seed: u64) -> Session {
    let mut maker = Maker::new(seed);
    let mut drafts = maker.drafts();
    let mut facts = Vec::new();
    for template in maker.choose() {
        let (text, values) = maker.fill(template.text);
        // A conversation begins with what is wanted.
        let is_first = facts.is_empty();
        maker.plant(&mut drafts, template.role, &text, is_first);
        facts.push(Fact { text, kind: template.kind.into(), is_unseen: template.is_unseen, values });
    }
    Session { messages: drafts.into_iter().map(|draft| maker.finish(draft)).collect(), facts }
}

/// Whether one line of a summary holds all values of the fact, and at least 80 percent of its other words.
pub fn is_kept(fact: &Fact, summary: &str) -> bool {
    let mut values: Vec<Vec<String>> = fact.values.iter().map(|value| words(value)).collect();
    // So that no short value is found inside of a long one.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let wanted = remove_values(words(&fact.text), &values).expect("a fact holds its own values");
    summary.lines().any(|line| {
        let Some(mut held) = remove_values(words(line), &values) else { return false };
        let mut kept = 0;
        for word in &wanted {
            if let Some(place) = held.iter().position(|other| other == word) {
                held.swap_remove(place);
                kept += 1;
            }
        }
        kept * 5 >= wanted.len() * 4
    })
}

pub fn templates() -> Vec<Template> {
    let template = |row: &'static str| {
        let [set, kind, speaker, text] =
            row.split('\t').collect::<Vec<_>>().try_into().expect("four fields in templates.tsv");
        let role = match speaker {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            other => panic!("expected a speaker in templates.tsv, but found {other:?} instead"),
        };
        Template { is_unseen: set == "unseen", kind, role, text }
    };
    include_str!("../fixtures/facts/templates.tsv").lines().skip(1).map(template).collect()
}

pub fn slots() -> TextsByName {
    parse_named(include_str!("../fixtures/facts/slots.tsv"))
}

/// Sentences that say nothing worth keeping: by the `user`, by the `assistant` at work, and its `explanation` of what
/// everybody knows; an `item` of a list and the `lead` above it, of either speaker; lines of `code` and of a tool's
/// `output`.
pub fn fillers() -> TextsByName {
    parse_named(include_str!("../fixtures/facts/filler.tsv"))
}

fn parse_named(rows: &'static str) -> TextsByName {
    let mut all = TextsByName::new();
    for row in rows.lines().skip(1) {
        let (name, value) = row.split_once('\t').expect("two fields in each row");
        all.entry(name).or_default().push(value);
    }
    all
}

/// What is between punctuation and spaces, in lower case.
fn words(text: &str) -> Vec<String> {
    let is_between = |c: char| !c.is_alphanumeric() && c != '_';
    text.split(is_between).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The words but for one occurrence of each value, if all of them occur.
fn remove_values(mut words: Vec<String>, values: &[Vec<String>]) -> Option<Vec<String>> {
    for value in values {
        let start = words.windows(value.len()).position(|window| window == value)?;
        words.drain(start..start + value.len());
    }
    Some(words)
}

/// A message whose text is still in parts: sentences, lists and blocks of code.
struct Draft {
    message: Message,
    parts: Vec<String>,
    has_fact: bool,
}

impl Draft {
    fn new(message: Message, parts: Vec<String>) -> Draft {
        Draft { message, parts, has_fact: false }
    }
}

struct Maker {
    chance: Chance,
    fillers: TextsByName,
    cast: TextsByName,
    calls: usize,
}

impl Maker {
    fn new(seed: u64) -> Maker {
        let mut chance = Chance::new(seed);
        let mut cast = slots();
        for values in cast.values_mut() {
            shuffle(&mut chance, values);
            values.truncate(VALUES_PER_SLOT);
        }
        Maker { chance, fillers: fillers(), cast, calls: 0 }
    }

    /// The conversation without its facts.
    fn drafts(&mut self) -> Vec<Draft> {
        let end = 100 + MAX_ROUND_MESSAGES + self.chance.number_below(501 - MAX_ROUND_MESSAGES);
        let mut drafts = Vec::new();
        while drafts.len() + MAX_ROUND_MESSAGES <= end {
            let sentences = 1 + self.chance.number_below(2);
            let question = self.sentences("user", sentences);
            drafts.push(Draft::new(text_message(Role::User, ""), question));
            for _ in 0..self.chance.number_below(9) {
                self.step(&mut drafts);
            }
            let sentences = 1 + self.chance.number_below(6);
            let mut answer = Vec::new();
            for _ in 0..sentences {
                let kind = if self.chance.one_in(3) { "assistant" } else { "explanation" };
                answer.push(self.line(kind));
            }
            if self.chance.one_in(5) {
                let place = self.chance.number_below(answer.len() + 1);
                let lines = 3 + self.chance.number_below(12);
                answer.insert(place, format!("```\n{}\n```", self.lines("code", lines)));
            }
            drafts.push(Draft::new(text_message(Role::Assistant, ""), answer));
        }
        drafts
    }

    /// Appends a message that calls one tool or two, and the results.
    fn step(&mut self, drafts: &mut Vec<Draft>) {
        let many = if self.chance.one_in(6) { 2 } else { 1 };
        let tools: Vec<_> = (0..many).map(|_| self.tool()).collect();
        let ids: Vec<String> = tools.iter().map(|_| self.call_id()).collect();
        let calls: Vec<_> = ids.iter().zip(&tools).map(|(id, tool)| (id.as_str(), tool.0)).collect();
        let mut message = call_message("", &calls);
        let assistant = message.assistant.as_mut().expect("it calls");
        for (call, (_, arguments, _)) in assistant.tool_calls.iter_mut().zip(&tools) {
            call.arguments = arguments.to_string().into();
        }
        let sentences = self.chance.number_below(3);
        drafts.push(Draft::new(message, self.sentences("assistant", sentences)));
        for (id, (name, _, result)) in ids.iter().zip(&tools) {
            drafts.push(Draft::new(result_message(id, name, result), Vec::new()));
        }
    }

    /// A tool, its arguments, and what it answers.
    fn tool(&mut self) -> (&'static str, Value, String) {
        let many = if self.chance.one_in(4) { 196 } else { 30 };
        let lines = 5 + self.chance.number_below(many);
        let file = self.fill("{file}").0;
        let function = self.fill("{function}").0;
        match self.chance.number_below(5) {
            0 => ("Read", json!({ "file_path": file }), self.numbered_lines(lines)),
            1 => {
                let command = self.fill("{command}").0;
                ("Bash", json!({ "command": command }), self.lines("output", lines))
            }
            2 => {
                let (old, new) = (self.lines("code", 2), self.lines("code", 3));
                let arguments = json!({ "file_path": file, "old_string": old, "new_string": new });
                let result =
                    format!("The file {file} has been updated.\n{}", self.numbered_lines(lines.min(30)));
                ("Edit", arguments, result)
            }
            3 => {
                let found = |at| format!("{file}:{}:{}", at * 9 + 4, self.line("code"));
                let found: Vec<_> = (0..lines).map(found).collect();
                ("Grep", json!({ "pattern": function, "path": "." }), found.join("\n"))
            }
            _ => {
                let content = self.lines("code", lines);
                let result = format!("The file {file} has been written.\n{}", self.numbered_lines(5));
                ("Write", json!({ "file_path": file, "content": content }), result)
            }
        }
    }

    fn call_id(&mut self) -> String {
        self.calls += 1;
        format!("call_{}", self.calls)
    }

    /// Ten templates of each set, among them every kind; a goal comes first.
    fn choose(&mut self) -> Vec<Template> {
        let mut all = templates();
        shuffle(&mut self.chance, &mut all);
        let mut chosen = Vec::new();
        for is_unseen in [false, true] {
            let (set, others) = all.into_iter().partition(|template| template.is_unseen == is_unseen);
            all = others;
            chosen.extend(half(set));
        }
        shuffle(&mut self.chance, &mut chosen);
        let goal = chosen.iter().position(|template| template.kind == "goal");
        chosen.swap(0, goal.expect("every kind is among them"));
        chosen
    }

    /// Puts a fact into a message of its speaker: alone, between other sentences, or as an item of a list.
    fn plant(&mut self, drafts: &mut [Draft], role: Role, text: &str, is_first: bool) {
        // Of what an assistant says, half of the facts lie in its answers, which are far fewer than its calls.
        let may_call = self.chance.one_in(2);
        let mut hosts: Vec<&mut Draft> = drafts
            .iter_mut()
            .filter(|draft| {
                draft.message.role == Some(role) && (may_call || draft.message.assistant.is_none())
            })
            .collect();
        let place = if is_first { 0 } else { self.chance.number_below(hosts.len()) };
        let host = &mut hosts[place];
        if !host.has_fact && self.chance.one_in(4) {
            host.parts.clear();
        }
        let list_in = if role == Role::User { 12 } else { 6 };
        let part = match text.strip_prefix("- ") {
            Some(item) if !self.chance.one_in(3) => self.list(role, item),
            None if self.chance.one_in(list_in) => self.list(role, text),
            _ => text.into(),
        };
        let place = self.chance.number_below(host.parts.len() + 1);
        host.parts.insert(place, part);
        host.has_fact = true;
    }

    /// A list that has an item somewhere.
    fn list(&mut self, role: Role, item: &str) -> String {
        let (kind, lead) = if role == Role::User { ("user_item", "user_lead") } else { ("item", "lead") };
        let others = 1 + self.chance.number_below(4);
        let mut items: Vec<String> = (0..others).map(|_| self.line(kind)).collect();
        let place = self.chance.number_below(items.len() + 1);
        items.insert(place, item.into());
        let items: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
        let lead = if self.chance.one_in(2) { self.line(lead) + "\n" } else { String::new() };
        lead + &items.join("\n")
    }

    fn finish(&mut self, draft: Draft) -> Message {
        let Draft { mut message, parts, .. } = draft;
        if message.tool.is_some() {
            return message;
        }
        let mut content = String::new();
        for part in &parts {
            content += self.gap(&content, part);
            content += part;
        }
        message.content = content.into();
        message
    }

    /// What stands between a text and its next part. Who leaves out the period ends a sentence with the line.
    fn gap(&mut self, before: &str, part: &str) -> &'static str {
        let is_block = |text: &str| text.contains('\n') || text.starts_with("- ");
        let last = before.lines().next_back().unwrap_or_default();
        if before.is_empty() {
            ""
        } else if is_block(part) || last.starts_with("- ") || last == "```" {
            "\n\n"
        } else if !last.ends_with(['.', '?', '!']) {
            "\n"
        } else if self.chance.one_in(5) {
            "\n\n"
        } else {
            " "
        }
    }

    fn sentences(&mut self, speaker: &str, count: usize) -> Vec<String> {
        (0..count).map(|_| self.line(speaker)).collect()
    }

    fn lines(&mut self, kind: &str, count: usize) -> String {
        self.sentences(kind, count).join("\n")
    }

    fn numbered_lines(&mut self, count: usize) -> String {
        let line = |number| format!("{number:>6}\t{}", self.line("code"));
        (1..=count).map(line).collect::<Vec<_>>().join("\n")
    }

    fn line(&mut self, kind: &str) -> String {
        let texts = &self.fillers[kind];
        let text = texts[self.chance.number_below(texts.len())];
        self.fill(text).0
    }

    /// A template with its slots filled, no two with the same value, and the values.
    fn fill(&mut self, template: &str) -> (String, Vec<String>) {
        let (mut text, mut values) = (String::new(), Vec::<String>::new());
        let mut rest = template;
        while let Some(start) = rest.find('{') {
            text += &rest[..start];
            rest = &rest[start + 1..];
            // Code has braces that are no slots.
            let Some((name, after)) = rest.split_once('}').filter(|(name, _)| self.cast.contains_key(name))
            else {
                text.push('{');
                continue;
            };
            let left: Vec<_> =
                self.cast[name].iter().filter(|value| !values.contains(&(**value).into())).collect();
            let value = *left[self.chance.number_below(left.len())];
            text += value;
            values.push(value.into());
            rest = after;
        }
        (text + rest, values)
    }
}

/// Half of a session's facts from a set in any order: one of each kind, then the first of the others.
fn half(set: Vec<Template>) -> Vec<Template> {
    let (mut chosen, mut others) = (Vec::<Template>::new(), Vec::new());
    for template in set {
        let is_new = chosen.iter().all(|other| other.kind != template.kind);
        if is_new { &mut chosen } else { &mut others }.push(template);
    }
    others.truncate(FACT_COUNT / 2 - chosen.len());
    chosen.extend(others);
    chosen
}

fn shuffle<T>(chance: &mut Chance, items: &mut [T]) {
    for end in (1..items.len()).rev() {
        items.swap(end, chance.number_below(end + 1));
    }
}
