//! Grown histories: everything that a log may hold, from a seed.
#![allow(dead_code, reason = "each test uses its part of it")]

use leftoff::record::message::{Attachment, Message, Reasoning, Role};
use leftoff::session::handle::Session;

use super::chance::Chance;
use super::common::{append, call_message, learn, result_message, text_message};

/// One letter for the reader, seven code points for whoever cuts: a cut inside shows.
pub const FAMILY: &str = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}";

/// The models whose reasoning a history has.
pub const REASONING_MODELS: [&str; 3] = ["claude-opus-4-5", "gpt-5", "gemini-2.5-pro"];

const TOOLS: [&str; 8] =
    ["Read", "Bash", "Grep", "read_file", "execute_bash", "search", "WebFetch", "mcp__a__b"];

/// A history, and what a context of it has to keep.
pub struct History {
    pub session: Session,
    pub events: Vec<u8>,
    pub log: Vec<u8>,
    /// In the order of the log.
    pub messages: Vec<Message>,
    pub pinned_ids: Vec<String>,
    /// The message that it was compacted through.
    pub compacted_through: Option<String>,
}

/// Of a seed always the same.
pub fn history(seed: u64) -> History {
    make_history(Chance::new(seed), None)
}

/// Likewise, whose answers have reasoning.
pub fn history_with_reasoning(seed: u64) -> History {
    make_history(Chance::new(seed), Some(Chance::new(seed)))
}

fn make_history(chance: Chance, thoughts: Option<Chance>) -> History {
    let mut maker = Maker { chance, thoughts, drafts: Vec::new(), open: Vec::new(), calls: 0 };
    for _ in 0..maker.chance.number_below(9) + 1 {
        maker.turn();
    }
    let Maker { mut chance, drafts, .. } = maker;
    let (mut writer, mut log) = (Session::new(None), Vec::new());
    let mut messages: Vec<Message> = Vec::new();
    for (place, mut draft) in drafts.into_iter().enumerate() {
        draft.id = format!("m{place}");
        messages.push(draft.clone());
        append(&mut writer, &mut log, vec![draft]);
        if chance.one_in(20) {
            let again = revise(&messages, &mut chance);
            append(&mut writer, &mut log, vec![again.clone()]);
            let same = messages.iter_mut().find(|one| one.id == again.id).expect("it is of these");
            *same = again;
        }
    }
    let any = |chance: &mut Chance| messages[chance.number_below(messages.len())].id.clone();
    let mut pinned: Vec<String> = Vec::new();
    while chance.one_in(4) {
        pinned.push(any(&mut chance));
    }
    let through = chance.one_in(4).then(|| any(&mut chance));
    let mut events: String =
        pinned.iter().map(|id| format!("{{\"v\":1,\"type\":\"pin\",\"messageId\":\"{id}\"}}\n")).collect();
    if let Some(through) = &through {
        events.push_str(&compaction(through, chance.one_in(2)));
    }
    History {
        session: open_session(events.as_bytes(), &log),
        events: events.into_bytes(),
        log,
        messages,
        pinned_ids: pinned,
        compacted_through: through,
    }
}

/// A session of two logs that are at hand.
pub fn open_session(events: &[u8], log: &[u8]) -> Session {
    let mut session = Session::new(None);
    let found = session.events().observe(events, 0).expect("nothing is staged");
    assert_eq!(session.take_events(found), []);
    let found = session.messages().observe(log, 0).expect("nothing is staged");
    session.take_messages(found);
    learn(&mut session, log);
    session
}

fn compaction(through: &str, is_written: bool) -> String {
    let range = format!(r#"{{"startMessageId":"m0","endMessageId":"{through}","messageCount":1}}"#);
    let summary = r#","summary":{"content":"They spoke of files.","tokens":5,"model":"some-model"}"#;
    format!(
        "{{\"v\":1,\"type\":\"compaction\",\"range\":{range}{}}}\n",
        if is_written { summary } else { "" }
    )
}

struct Maker {
    chance: Chance,
    // Decides about the reasoning of answers.
    thoughts: Option<Chance>,
    drafts: Vec<Message>,
    // Calls whose results come later.
    open: Vec<(String, &'static str)>,
    calls: usize,
}

impl Maker {
    fn turn(&mut self) {
        if self.chance.one_in(6) {
            let text = self.text(60);
            self.drafts.push(text_message(Role::System, &text));
        }
        let most = if self.chance.one_in(15) { 3000 } else { 60 };
        let asked = self.text(most);
        let data = Some("AAAA".repeat(self.chance.number_below(5_000) + 1));
        let picture = Attachment { mime: "image/png".into(), data, ..Attachment::default() };
        let attachments = if self.chance.one_in(10) { vec![picture] } else { Vec::new() };
        self.drafts.push(Message { attachments, ..text_message(Role::User, &asked) });
        for _ in 0..self.chance.number_below(6) {
            self.step();
        }
    }

    fn step(&mut self) {
        let text = self.text(60);
        let count = [0, 0, 1, 1, 1, 2, 3][self.chance.number_below(7)];
        let tool = TOOLS[self.chance.number_below(TOOLS.len())];
        let ids: Vec<String> = (0..count).map(|_| self.call_id()).collect();
        let calls: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), tool)).collect();
        let mut answer =
            if count == 0 { text_message(Role::Assistant, &text) } else { call_message(&text, &calls) };
        answer.partial = self.chance.one_in(25);
        self.think(&mut answer);
        self.drafts.push(answer);
        self.open.extend(ids.into_iter().map(|id| (id, tool)));
        // Some results come late, some in another order, some never.
        while !self.open.is_empty() && !self.chance.one_in(7) {
            let at = self.chance.number_below(self.open.len());
            let (id, tool) = self.open.remove(at);
            let most = if self.chance.one_in(5) { 400 } else { 60 };
            let text = self.text(most);
            self.drafts.push(result_message(&id, tool, &text));
        }
        if self.chance.one_in(30) {
            let text = self.text(20);
            self.drafts.push(result_message("nobody-called", tool, &text));
        }
    }

    fn think(&mut self, answer: &mut Message) {
        let Some(chance) = &mut self.thoughts else { return };
        if chance.one_in(2) {
            return;
        }
        let model = REASONING_MODELS[chance.number_below(REASONING_MODELS.len())];
        let text = "I look at it first. ".repeat(chance.number_below(40)).as_str().into();
        let is_encrypted = chance.one_in(3);
        let signature = (!is_encrypted).then(|| "c2lnbmVk".to_owned());
        let reasoning = Reasoning { text, signature, data: is_encrypted.then(|| "ZGF0YQ==".to_owned()) };
        let assistant = answer.assistant.get_or_insert_default();
        (assistant.model, assistant.reasoning) = (Some(model.to_owned()), vec![reasoning]);
    }

    // Ids come twice in some agents' logs.
    fn call_id(&mut self) -> String {
        self.calls += usize::from(!self.chance.one_in(40));
        format!("c{}", self.calls)
    }

    fn text(&mut self, most: usize) -> String {
        let words = self.chance.number_below(most);
        match self.chance.number_below(6) {
            0 => FAMILY.repeat(words / 4),
            1 => "a line of a file\n".repeat(words),
            2 => "\"quoted\" \\ \t\u{1} ".repeat(words / 2),
            3 => "日本語の文章".repeat(words / 4),
            _ => "some words follow here ".repeat(words),
        }
    }
}

fn revise(messages: &[Message], chance: &mut Chance) -> Message {
    let of = &messages[chance.number_below(messages.len())];
    Message {
        rev: of.rev + 1,
        partial: false,
        content: format!("again {}", of.content.as_str()).into(),
        tokens: None,
        ..of.clone()
    }
}
