//! Parses a transcript, whoever wrote it.
//!
//! A transcript by leftoff is read exactly. One edited by hand still reads: text outside of questions and answers is
//! the user's note, a mark that cannot be parsed is text, and both are reported.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::mark::{self, Mark};
use super::recorder::Recorder;
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::time;

const TAKEN_AS_TEXT: &str = "something else; it is taken as text";

/// A conversation of `leftoff ask`.
///
/// ```
/// use leftoff::ask::{Transcript, Voice};
///
/// let text = "# leftoff ask session_1 in \"/home/ada/app\"\n\n## Question 2026-11-24T09:30:00.000Z\n\nWhere are retries?\n\
///     \n## Answer 2026-11-24T09:30:02.000Z by \"claude\"\n\nIn src/net.rs.\n\n## End 2026-11-24T09:30:09.000Z\n";
/// let transcript = Transcript::parse(text.as_bytes());
/// assert_eq!(transcript.folder.as_deref(), Some("/home/ada/app"));
/// assert_eq!(transcript.turns[1].text, "In src/net.rs.");
/// assert_eq!(transcript.turns[1].voice, Voice::Engine("claude".into()));
/// assert_eq!(transcript.render(), text);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Transcript {
    /// Its name when it began.
    pub name: String,
    /// The folder that it is about.
    pub folder: Option<String>,
    /// The questions, answers and notes.
    pub turns: Vec<Turn>,
    /// The parts that could not be read, with their place.
    pub problems: Vec<Problem>,
    /// The offset of a mark whose writer was stopped; nothing follows it.
    pub torn: Option<u64>,
}

/// A question, an answer or a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// The speaker; in JSON `user`, `{"engine":"claude"}` or `note`.
    pub voice: Voice,
    /// The time when it began, RFC 3339; `None` for a note.
    pub at: Option<String>,
    /// The text.
    pub text: String,
    /// The end of an answer; `None` while it is being written, or if its writer was killed.
    pub end: Option<End>,
    /// Its range in bytes, including its mark; [`Transcript::render`] ignores it.
    pub place: Span,
}

/// The speaker of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Voice {
    /// The user, who asks.
    User,
    /// The engine that answers, by its name or its command.
    Engine(String),
    /// Whoever edited the file by hand.
    Note,
}

/// The end of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// The time, RFC 3339.
    pub at: String,
    /// The reason why it is incomplete.
    pub stopped: Option<String>,
}

impl Transcript {
    /// True if these bytes begin like a transcript.
    pub fn is_transcript(bytes: &[u8]) -> bool {
        let line = without_bom(bytes).split(|byte| *byte == b'\n').next().unwrap_or_default();
        matches!(Mark::read(&String::from_utf8_lossy(line)), Some(Mark::Title { .. }))
    }

    /// Parses a transcript. It never fails: any line that is no mark is text.
    pub fn parse(bytes: &[u8]) -> Transcript {
        let mut reader = TranscriptReader::default();
        let text = without_bom(bytes);
        let mut start = (bytes.len() - text.len()) as u64;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let end = start + line.len() as u64;
            reader.read_line(line, Span { start, end });
            start = end;
        }
        reader.finish_turn(false);
        reader.transcript
    }

    /// Returns the text to write before the next question: the end of an answer whose writer was killed.
    pub fn closing(&self, now_ms: i64) -> String {
        match self.turns.last() {
            Some(Turn { voice: Voice::Engine(_), end: None, .. }) => mark::end(now_ms, Some("killed")),
            Some(Turn { voice: Voice::User | Voice::Note, .. }) => "\n".into(),
            Some(_) | None => String::new(),
        }
    }

    /// Renders the transcript as a host writes it piece by piece. A note is written unchanged.
    pub fn render(&self) -> String {
        let mut text = mark::title(&self.name, self.folder.as_deref().unwrap_or_default());
        let ms = |at: Option<&str>| at.and_then(time::parse).unwrap_or_default();
        let mut is_open = false;
        for turn in &self.turns {
            let at = ms(turn.at.as_deref());
            match &turn.voice {
                Voice::User if is_open => text.push_str(&["\n", &mark::question(at)].concat()),
                Voice::User => text.push_str(&mark::question(at)),
                Voice::Engine(engine) => text.push_str(&mark::answer(at, engine)),
                Voice::Note => text.push('\n'),
            }
            text.push_str(&escape_marks(&turn.text));
            is_open = turn.end.is_none();
            if let Some(end) = &turn.end {
                text.push_str(&mark::end(ms(Some(&end.at)), end.stopped.as_deref()));
            }
        }
        text
    }
}

fn escape_marks(text: &str) -> String {
    let mut recorder = Recorder::default();
    let mut written = recorder.feed(text.as_bytes());
    written.extend(recorder.end());
    String::from_utf8_lossy(&written).into_owned()
}

fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[derive(Default)]
struct TranscriptReader {
    transcript: Transcript,
    turn: Option<OpenTurn>,
}

// A turn whose end was not reached yet.
struct OpenTurn {
    turn: Turn,
    bytes: Vec<u8>,
    // True if its mark ends with CR LF: so do all of its lines.
    is_crlf: bool,
}

impl TranscriptReader {
    fn read_line(&mut self, line: &[u8], place: Span) {
        let shown = String::from_utf8_lossy(line);
        let text = shown.strip_suffix('\n').unwrap_or(&shown);
        let is_whole = text.len() < shown.len();
        let is_crlf = text.ends_with('\r');
        let bare = text.trim_start_matches('\\');
        if !mark::is_like_mark(bare) {
            return self.add_text(line, place);
        }
        if bare.len() < text.len() {
            return self.add_text(&line[1..], place);
        }
        let is_first = place.start <= 3;
        if !is_whole {
            self.report(place, "a whole mark", "its beginning; it says nothing");
            self.transcript.torn = Some(place.start);
            return;
        }
        match Mark::read(text).filter(|mark| is_first || !matches!(mark, Mark::Title { .. })) {
            Some(Mark::Title { name, folder }) => {
                self.transcript.name = name;
                self.transcript.folder = folder.filter(|folder| !folder.is_empty());
            }
            Some(Mark::Question { at }) => self.begin(Voice::User, at, place, is_crlf),
            Some(Mark::Answer { at, engine }) => self.begin(Voice::Engine(engine), at, place, is_crlf),
            Some(Mark::End { at, stopped }) if self.is_answering() => {
                if let Some(open) = &mut self.turn {
                    open.turn.end = Some(End { at, stopped });
                    open.turn.place.end = place.end;
                }
                self.finish_turn(true);
            }
            Some(Mark::End { .. }) | None => {
                self.report(
                    place,
                    "a mark as \"## Question\" and a time, or an end behind an answer",
                    TAKEN_AS_TEXT,
                );
                self.add_text(line, place);
            }
        }
    }

    fn is_answering(&self) -> bool {
        self.turn.as_ref().is_some_and(|open| matches!(open.turn.voice, Voice::Engine(_)))
    }

    fn begin(&mut self, voice: Voice, at: String, place: Span, is_crlf: bool) {
        self.finish_turn(true);
        let turn = Turn { voice, at: Some(at), text: String::new(), end: None, place };
        self.turn = Some(OpenTurn { turn, bytes: Vec::new(), is_crlf });
    }

    fn add_text(&mut self, line: &[u8], place: Span) {
        if self.turn.is_none() {
            if line.iter().all(u8::is_ascii_whitespace) {
                return;
            }
            self.report(place, "a question or an answer for this text to stand in", TAKEN_AS_TEXT);
            let turn = Turn { voice: Voice::Note, at: None, text: String::new(), end: None, place };
            self.turn = Some(OpenTurn { turn, bytes: Vec::new(), is_crlf: line.ends_with(b"\r\n") });
        }
        if let Some(open) = &mut self.turn {
            open.bytes.extend_from_slice(line);
            open.turn.place.end = place.end;
        }
    }

    // `is_closed` says that a mark follows, with the empty line before it.
    fn finish_turn(&mut self, is_closed: bool) {
        let Some(OpenTurn { mut turn, bytes, is_crlf }) = self.turn.take() else { return };
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if is_crlf {
            text = text.replace("\r\n", "\n");
        }
        if turn.voice == Voice::Note {
            turn.text = text.trim().into();
        } else {
            let said = text.strip_prefix('\n').unwrap_or(&text);
            let ended = said.strip_suffix("\n\n").or_else(|| said.strip_suffix('\n'));
            turn.text = ended.filter(|_| is_closed).unwrap_or(said).into();
        }
        self.transcript.turns.push(turn);
    }

    fn report(&mut self, place: Span, expected: &str, found: &str) {
        let Span { start, end } = place;
        let message = format!("expected {expected}, but found {found}");
        self.transcript.problems.push(Problem { code: ProblemCode::Foreign, start, end, message });
    }
}
