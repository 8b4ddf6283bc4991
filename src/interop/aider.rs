//! Aider's chat history: `.aider.chat.history.md`, Markdown to which each run adds a section.
//!
//! A section is a session. Lines that begin with `#### ` are the user's, those with `> ` Aider's own, and all others the
//! model's; Aider ends its own and the user's with two blanks, which tells them from headings and quotations in an
//! answer. What Aider says itself is the result of no call: it is kept, and enters no context. The history says when a
//! section began, in local time, and nothing else of time; it is taken as if it were UTC. A section in which nobody
//! but Aider spoke is no session.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::{Conversation, Origin, told_apart};
use crate::interop::lines::{refuse_empty, unless_nothing};
use crate::interop::object::LONGEST_NAME;
use crate::interop::{AgentName, Coverage, Import, Loss};
use crate::json::text::Text;
use crate::record::message::{Assistant, Message, Role, Tool};
use crate::record::scan::Problem;
use crate::record::span::Span;
use crate::shapes::pieces::Piece;
use crate::time;

/// What the reader knows: there are no fields, and nothing but the marks of the lines is left behind.
pub const COVERAGE: Coverage = Coverage { tested: &["0.86.2"], mapped: &[], whole: &[] };

/// What Aider calls its history, in the folder that it works in.
const FILE: &str = "/.aider.chat.history.md";
const HEADER: &str = "# aider chat started at ";

/// Whether a section of Aider is in these bytes.
pub(crate) fn knows(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(HEADER.as_bytes()))
}

/// Reads a history. `name` is the file's name; the folder that it lies in is that of its sessions.
///
/// # Errors
/// `empty_file`, also where nobody spoke in any section; `unknown_format` where it has none.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    refuse_empty(bytes, AgentName::Aider)?;
    let mut reader = Reader {
        section: Section::new(String::from("before the first"), None),
        began: BTreeMap::new(),
        import: Import::default(),
        empty: 0,
    };
    let is_known = knows(bytes);
    if is_known {
        let mut start = 0;
        for line in bytes.split(|byte| *byte == b'\n') {
            reader.line(&String::from_utf8_lossy(line), start);
            start += line.len() as u64 + 1;
        }
    }
    reader.end();
    let Reader { mut import, empty, .. } = reader;
    import.problems.sort_by_key(|problem| problem.start);
    let folder = name.strip_suffix(FILE).filter(|folder| !folder.is_empty()).map(String::from);
    import.sessions.iter_mut().for_each(|session| session.folder.clone_from(&folder));
    if let Some(first) = import.sessions.first_mut()
        && empty > 0
    {
        let why = "a section in which only Aider spoke";
        first.losses.push(Loss::new("record:section".into(), empty, why));
    }
    unless_nothing(import, bytes, AgentName::Aider, is_known)
}

/// Who speaks in a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    User,
    Aider,
    Model,
}

struct Section {
    talk: Conversation,
    // What is being said, where it began, and in which lines.
    said: Option<(Voice, u64, Vec<String>)>,
    end: u64,
    messages: u64,
    somebody_spoke: bool,
}

impl Section {
    fn new(began: String, created_ms: Option<i64>) -> Section {
        let mut talk = Conversation::new(AgentName::Aider);
        talk.session.source_id = began;
        talk.session.created_ms = created_ms;
        Section { talk, said: None, end: 0, messages: 0, somebody_spoke: false }
    }

    fn say(&mut self, voice: Voice, text: String, start: u64) {
        if self.said.as_ref().is_none_or(|said| said.0 != voice) {
            self.finish_message();
            self.said = Some((voice, start, Vec::new()));
        }
        if let Some((.., lines)) = &mut self.said {
            lines.push(text);
        }
    }

    fn finish_message(&mut self) {
        let Some((voice, start, lines)) = self.said.take() else { return };
        let text = lines.join("\n");
        let content: Text = text.trim_matches(['\n', '\r']).trim_end().into();
        if content.is_empty() {
            return;
        }
        self.messages += 1;
        // A section only grows: its messages keep their numbers, and the last of them may grow.
        let native = format!("{}", self.messages);
        let origin = Origin { native, ..Origin::at(Span { start, end: self.end }, None) };
        match voice {
            Voice::User => {
                self.talk.add(Message { role: Some(Role::User), content, ..Message::default() }, origin);
            }
            Voice::Aider => {
                let tool = Some(Tool { name: "aider".into(), ..Tool::default() });
                self.talk
                    .add(Message { role: Some(Role::Tool), content, tool, ..Message::default() }, origin);
            }
            Voice::Model => {
                let assistant =
                    Some(Assistant { model: self.talk.session.model.clone(), ..Assistant::default() });
                let message = Message { role: Some(Role::Assistant), assistant, ..Message::default() };
                let at = self.talk.add(message, origin);
                self.talk.extend(at, Vec::from([Piece::Text(content)]), 0);
            }
        }
        self.somebody_spoke |= voice != Voice::Aider;
    }

    // The user stopped what is being said; Aider leaves blank lines before it says so.
    fn cut_short(&mut self) {
        let is_said = match &self.said {
            Some((Voice::Model, ..)) => true,
            Some((Voice::Aider, _, lines)) => lines.iter().all(|line| line.trim().is_empty()),
            Some((Voice::User, ..)) | None => false,
        };
        if is_said {
            self.finish_message();
            self.talk.cut_short();
        }
    }
}

struct Reader {
    section: Section,
    // How many sections began at the same time.
    began: BTreeMap<String, u32>,
    import: Import,
    empty: u64,
}

impl Reader {
    fn line(&mut self, line: &str, start: u64) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(began) = line.strip_prefix(HEADER) {
            return self.begin(began.trim());
        }
        self.section.end = start + line.len() as u64;
        let is_ended = line.ends_with("  ");
        let goes_on = |voice| self.section.said.as_ref().is_some_and(|said| said.0 == voice);
        let of = |mark: &str| {
            line.strip_prefix(mark).or_else(|| (line.trim_end() == mark.trim_end()).then_some(""))
        };
        if let Some(text) = of("#### ").filter(|_| is_ended || goes_on(Voice::User)) {
            return self.section.say(Voice::User, without_end(text), start);
        }
        if let Some(text) = of("> ").filter(|_| is_ended || goes_on(Voice::Aider)) {
            let text = without_end(text);
            self.note(&text);
            return self.section.say(Voice::Aider, text, start);
        }
        if !line.trim().is_empty() || goes_on(Voice::Model) {
            self.section.say(Voice::Model, line.into(), start);
        }
    }

    // What Aider says of itself when it begins.
    fn note(&mut self, text: &str) {
        if text.starts_with("^C") {
            self.section.cut_short();
        }
        let session = &mut self.section.talk.session;
        let model = ["Model: ", "Main model: ", "Models: "].iter().find_map(|mark| text.strip_prefix(mark));
        if let Some(model) = model {
            let name = model.split([' ', ',']).next().filter(|name| name.len() <= LONGEST_NAME);
            session.model = name.map(String::from);
        }
        if let Some(version) = text.strip_prefix("Aider v") {
            self.section.talk.version(Some(version.trim().into()), COVERAGE.tested);
        }
    }

    fn begin(&mut self, began: &str) {
        let name = told_apart(&mut self.began, began.into());
        let created_ms = time::parse(&format!("{}Z", began.replacen(' ', "T", 1)));
        let next = Section::new(name, created_ms);
        self.end();
        self.section = next;
    }

    fn end(&mut self) {
        let mut section = core::mem::replace(&mut self.section, Section::new(String::new(), None));
        section.finish_message();
        if !section.somebody_spoke {
            self.empty += u64::from(section.messages > 0);
            return;
        }
        let problems: &mut Vec<Problem> = &mut self.import.problems;
        let session = section.talk.finish(problems);
        self.import.sessions.push(session);
    }
}

fn without_end(text: &str) -> String {
    text.trim_end_matches(' ').into()
}
