//! Reads Aider's chat history: `.aider.chat.history.md`, Markdown to which each run adds a section.
//!
//! A section is a session. Lines that begin with `#### ` are the user's, those with `> ` Aider's own, and all others
//! the model's; Aider ends its own and the user's with two blanks, which tells them from headings and quotations in an
//! answer. Aider's own words are the result of no call: they are kept, and enter no context. The history says when a
//! section began, in local time, and no other time; it is taken as if it were UTC. A section in which nobody but Aider
//! spoke is no session.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, unique_name};
use crate::interop::lines::{reject_empty, require_sessions};
use crate::interop::object::MAX_NAME_BYTES;
use crate::interop::{AgentName, Coverage, Import, Loss};
use crate::json::text::Text;
use crate::record::message::{Assistant, Message, Role, Tool};
use crate::record::scan::Problem;
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

/// The reader's coverage: there are no fields, and only the marks of the lines are left behind.
pub const COVERAGE: Coverage =
    Coverage { tested_versions: &["0.86.2"], mapped_fields: &[], whole_fields: &[] };

/// The name of Aider's history, in the folder that it works in.
const HISTORY_FILE: &str = "/.aider.chat.history.md";
const HEADER: &str = "# aider chat started at ";

/// True if a section of Aider is in these bytes.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(HEADER.as_bytes()))
}

/// Reads a history. `name` is the file's name; its folder is that of its sessions.
///
/// # Errors
/// `empty_file`, also if nobody spoke in any section; `unknown_format` if it has none.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Aider)?;
    let mut reader = Reader {
        section: Section::new(String::from("before the first"), None),
        start_counts: BTreeMap::new(),
        import: Import::default(),
        silent_sections: 0,
    };
    let is_known = can_read(bytes);
    if is_known {
        let mut start = 0;
        for line in bytes.split(|byte| *byte == b'\n') {
            reader.read_line(&String::from_utf8_lossy(line), start);
            start += line.len() as u64 + 1;
        }
    }
    reader.end_section();
    let Reader { mut import, silent_sections: empty, .. } = reader;
    import.problems.sort_by_key(|problem| problem.start);
    let folder = name.strip_suffix(HISTORY_FILE).filter(|folder| !folder.is_empty()).map(String::from);
    import.sessions.iter_mut().for_each(|session| session.folder.clone_from(&folder));
    if let Some(first) = import.sessions.first_mut()
        && empty > 0
    {
        let why = "a section in which only Aider spoke";
        first.losses.push(Loss::new("record:section".into(), empty, why));
    }
    require_sessions(import, bytes, AgentName::Aider, is_known)
}

/// The speaker of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Aider,
    Model,
}

struct Section {
    talk: ConversationBuilder,
    // The message being said: its speaker, where it began, and its lines.
    pending_message: Option<(Speaker, u64, Vec<String>)>,
    last_byte: u64,
    message_count: u64,
    somebody_spoke: bool,
}

impl Section {
    fn new(began: String, created_ms: Option<i64>) -> Section {
        let mut talk = ConversationBuilder::new(AgentName::Aider);
        talk.session.source_id = began;
        talk.session.created_ms = created_ms;
        Section { talk, pending_message: None, last_byte: 0, message_count: 0, somebody_spoke: false }
    }

    fn add_line(&mut self, voice: Speaker, text: String, start: u64) {
        if self.pending_message.as_ref().is_none_or(|pending| pending.0 != voice) {
            self.finish_message();
            self.pending_message = Some((voice, start, Vec::new()));
        }
        if let Some((.., lines)) = &mut self.pending_message {
            lines.push(text);
        }
    }

    fn finish_message(&mut self) {
        let Some((voice, start, lines)) = self.pending_message.take() else { return };
        let text = lines.join("\n");
        let content: Text = text.trim_matches(['\n', '\r']).trim_end().into();
        if content.is_empty() {
            return;
        }
        self.message_count += 1;
        // A section only grows: its messages keep their numbers, and the last of them may grow.
        let native = format!("{}", self.message_count);
        let origin =
            RecordOrigin { native, ..RecordOrigin::from_place(Span { start, end: self.last_byte }, None) };
        match voice {
            Speaker::User => {
                self.talk.add(Message { role: Some(Role::User), content, ..Message::default() }, origin);
            }
            Speaker::Aider => {
                let tool = Some(Tool { name: "aider".into(), ..Tool::default() });
                self.talk
                    .add(Message { role: Some(Role::Tool), content, tool, ..Message::default() }, origin);
            }
            Speaker::Model => {
                let assistant =
                    Some(Assistant { model: self.talk.session.model.clone(), ..Assistant::default() });
                let message = Message { role: Some(Role::Assistant), assistant, ..Message::default() };
                let at = self.talk.add(message, origin);
                self.talk.extend(at, Vec::from([AnswerPiece::Text(content)]), 0);
            }
        }
        self.somebody_spoke |= voice != Speaker::Aider;
    }

    // The user stopped the message being said; Aider leaves blank lines before it says so.
    fn cut_short(&mut self) {
        let is_said = match &self.pending_message {
            Some((Speaker::Model, ..)) => true,
            Some((Speaker::Aider, _, lines)) => lines.iter().all(|line| line.trim().is_empty()),
            Some((Speaker::User, ..)) | None => false,
        };
        if is_said {
            self.finish_message();
            self.talk.cut_short();
        }
    }
}

struct Reader {
    section: Section,
    // The number of sections that began at each time.
    start_counts: BTreeMap<String, u32>,
    import: Import,
    silent_sections: u64,
}

impl Reader {
    fn read_line(&mut self, line: &str, start: u64) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(began) = line.strip_prefix(HEADER) {
            return self.begin_section(began.trim());
        }
        self.section.last_byte = start + line.len() as u64;
        let is_ended = line.ends_with("  ");
        let goes_on = |voice| self.section.pending_message.as_ref().is_some_and(|pending| pending.0 == voice);
        let of = |mark: &str| {
            line.strip_prefix(mark).or_else(|| (line.trim_end() == mark.trim_end()).then_some(""))
        };
        if let Some(text) = of("#### ").filter(|_| is_ended || goes_on(Speaker::User)) {
            return self.section.add_line(Speaker::User, without_trailing_blanks(text), start);
        }
        if let Some(text) = of("> ").filter(|_| is_ended || goes_on(Speaker::Aider)) {
            let text = without_trailing_blanks(text);
            self.read_client_line(&text);
            return self.section.add_line(Speaker::Aider, text, start);
        }
        if !line.trim().is_empty() || goes_on(Speaker::Model) {
            self.section.add_line(Speaker::Model, line.into(), start);
        }
    }

    // Reads the lines that Aider writes about itself when it begins.
    fn read_client_line(&mut self, text: &str) {
        if text.starts_with("^C") {
            self.section.cut_short();
        }
        let session = &mut self.section.talk.session;
        let model = ["Model: ", "Main model: ", "Models: "].iter().find_map(|mark| text.strip_prefix(mark));
        if let Some(model) = model {
            let name = model.split([' ', ',']).next().filter(|name| name.len() <= MAX_NAME_BYTES);
            session.model = name.map(String::from);
        }
        if let Some(version) = text.strip_prefix("Aider v") {
            self.section.talk.note_version(Some(version.trim().into()), COVERAGE.tested_versions);
        }
    }

    fn begin_section(&mut self, began: &str) {
        let name = unique_name(&mut self.start_counts, began.into());
        let created_ms = time::parse(&format!("{}Z", began.replacen(' ', "T", 1)));
        let next = Section::new(name, created_ms);
        self.end_section();
        self.section = next;
    }

    fn end_section(&mut self) {
        let mut section = core::mem::replace(&mut self.section, Section::new(String::new(), None));
        section.finish_message();
        if !section.somebody_spoke {
            self.silent_sections += u64::from(section.message_count > 0);
            return;
        }
        let problems: &mut Vec<Problem> = &mut self.import.problems;
        let session = section.talk.finish(problems);
        self.import.sessions.push(session);
    }
}

fn without_trailing_blanks(text: &str) -> String {
    text.trim_end_matches(' ').into()
}
