//! A session as one file: lines of JSON, each a piece of one of the session's files, so that a cut or a damaged line
//! costs only itself. `docs/FORMAT.md` is normative. Nothing here knows what a record means.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::{memchr_iter, memmem};

use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::hash::sha256;
use crate::json::text::to_json;
use crate::layout::{BLOBS, EVENTS, MESSAGES, Placement, TOOLS};
use crate::privacy::blank_placeholders;
use crate::record::event::{self, Change};
use crate::record::line::{self, CRC_KEY, CRC_REST_BYTES, Checksum};
use crate::record::scan::{Problem, ProblemCode, records};

/// The version that is written, and the highest that is read.
pub const VERSION: u64 = 1;

/// The beginning of the first line.
const HEAD_PREFIX: &str = "{\"leftoff\":\"session\"";
/// The beginning of a piece's line.
const PIECE_PREFIX: &str = "{\"file\":\"";
/// The beginning of a page, in any case.
const PAGE_PREFIX: &[u8] = b"<!doctype html>";
/// The tags around the lines in a page that carries them.
const LINES_START: &[u8] = b"<script type=\"application/leftoff\">";
const LINES_END: &[u8] = b"</script>";
const LOGS: [&str; 3] = [EVENTS, MESSAGES, TOOLS];
/// The hex digits in a blob's name.
const BLOB_DIGITS: usize = 64;

/// A session read from one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFile {
    /// The session's id.
    pub id: String,
    /// The placement it had where it comes from.
    pub placement: Option<Placement>,
    /// The session's files, by their paths in its folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Problems of reading, with their places in the file.
    pub problems: Vec<Problem>,
}

/// Renders the first line.
pub(crate) fn head_line(id: &str, placement: Placement) -> String {
    let (id, placement) = (to_json(id), placement.as_str());
    format!("{HEAD_PREFIX},\"version\":{VERSION},\"id\":{id},\"placement\":\"{placement}\"}}")
}

/// Renders the last line; `lines` counts those before it.
pub(crate) fn end_line(lines: usize) -> String {
    format!("{{\"end\":true,\"lines\":{lines}}}")
}

/// Renders a part of a log, which begins with a line, as pieces: one for each line.
pub(crate) fn log_pieces(name: &str, bytes: &[u8]) -> Vec<String> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line_piece(name, line)).collect()
}

/// Renders a file as one piece.
pub(crate) fn whole_piece(name: &str, bytes: &[u8]) -> String {
    let name = to_json(name);
    match core::str::from_utf8(bytes) {
        Ok(text) => format!("{{\"file\":{name},\"text\":{}}}", escape_unsafe(&to_json(text))),
        Err(_) => format!("{{\"file\":{name},\"bytes\":\"{}\"}}", STANDARD.encode(bytes)),
    }
}

fn line_piece(name: &str, line: &[u8]) -> String {
    let object = line.strip_suffix(b"\n").and_then(|line| core::str::from_utf8(line).ok());
    let is_bare = |object: &&str| {
        object.starts_with('{')
            && object.ends_with('}')
            && !object.contains(is_steering)
            && !object.contains('\r')
            && !has_script_tag(object)
    };
    if let Some(object) = object.filter(is_bare) {
        let piece = format!("{{\"file\":{},\"line\":{object}}}", to_json(name));
        if Fields::check(&piece).is_ok() {
            return piece;
        }
    }
    whole_piece(name, line)
}

// Escapes control characters, so that a terminal can show the file as it is, and what begins a tag, so that a page can
// carry it as it is: every byte unchanged.
fn escape_unsafe(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter == '<' || is_steering(letter) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

fn is_steering(letter: char) -> bool {
    matches!(letter, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

// True if a script element of a page could not hold the text: its end would be elsewhere.
fn has_script_tag(text: &str) -> bool {
    memchr_iter(b'<', text.as_bytes()).any(|at| {
        let rest = &text.as_bytes()[at + 1..];
        let name = rest.strip_prefix(b"/").unwrap_or(rest).get(..6);
        rest.starts_with(b"!--") || name.is_some_and(|name| name.eq_ignore_ascii_case(b"script"))
    })
}

/// Rewrites a piece whose values were redacted: a record gets the checksum of its new bytes, a blob the name of its
/// own. `blobs` maps old names to new ones; a blob that changes is added to it.
pub(crate) fn refit_piece(before: &str, after: String, blobs: &mut BTreeMap<String, String>) -> String {
    let Some(piece) = FilePiece::parse(&after) else { return after };
    let bytes = piece.bytes();
    if let Some(name) = blob_name(&piece.file) {
        if after == before {
            return after;
        }
        let renamed = sha256(&bytes);
        blobs.insert(name.to_owned(), renamed.clone());
        return whole_piece(&[BLOBS, "/", &renamed].concat(), &bytes);
    }
    if !LOGS.contains(&&*piece.file) {
        return whole_piece(&piece.file, &bytes);
    }
    let Ok(line) = String::from_utf8(bytes) else { return after };
    let renamed = rename_blobs(&line, blobs);
    if renamed == line && after == before {
        return after;
    }
    let was_sound =
        FilePiece::parse(before).is_some_and(|piece| checksum_of(&piece.bytes()) == Checksum::Right);
    let line = if was_sound { reseal(&renamed) } else { renamed };
    line_piece(&piece.file, line.as_bytes())
}

fn rename_blobs(object: &str, blobs: &BTreeMap<String, String>) -> String {
    blobs.iter().fold(object.to_owned(), |object, (name, renamed)| object.replace(&**name, renamed))
}

fn reseal(line: &str) -> String {
    let object = line.trim_ascii_end();
    if line::checksum(object.as_bytes()) != Checksum::Wrong {
        return line.to_owned();
    }
    let open = &object[..object.len() - CRC_KEY.len() - CRC_REST_BYTES];
    line::seal([open, "}"].concat()) + "\n"
}

fn checksum_of(line: &[u8]) -> Checksum {
    line::checksum(line.trim_ascii_end())
}

/// True if the bytes are such a file, or a page that carries one: by its first line, or, where that was lost, by its
/// pieces.
pub fn is_session_file(bytes: &[u8]) -> bool {
    let bytes = &bytes[lines_range(bytes)];
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if bytes.starts_with(HEAD_PREFIX.as_bytes()) {
        return true;
    }
    let is_piece = |line: &[u8]| {
        let text = core::str::from_utf8(line.trim_ascii()).unwrap_or_default();
        text.starts_with(PIECE_PREFIX) && FilePiece::parse(text).is_some_and(|piece| is_name(&piece.file))
    };
    bytes.split(|byte| *byte == b'\n').take(2).any(is_piece)
}

impl SessionFile {
    /// Reads a file, or a page that carries one, with every complete piece of one that was cut or damaged.
    ///
    /// # Errors
    /// `newer_version`; `damaged` where neither its first line nor an event names the session.
    pub fn read(bytes: &[u8]) -> Result<SessionFile, Error> {
        let mut reading = SessionFileReader::default();
        let range = lines_range(bytes);
        for (start, line) in lines(&bytes[range.clone()]) {
            reading.read_line(range.start + start, line)?;
        }
        reading.finish(bytes.len())
    }

    /// Returns a log's bytes.
    pub fn log(&self, name: &str) -> &[u8] {
        self.files.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns its blobs, by name: those whose bytes match their name.
    pub fn blobs(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().filter_map(|(name, bytes)| Some((blob_name(name)?, bytes.as_slice())))
    }
}

// Returns where the lines are: the whole, or the part of a page that carries them, up to its end where that was cut off.
fn lines_range(bytes: &[u8]) -> Range<usize> {
    let whole = 0..bytes.len();
    if !bytes.get(..PAGE_PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PAGE_PREFIX)) {
        return whole;
    }
    let Some(start) = memmem::find(bytes, LINES_START).map(|at| at + LINES_START.len()) else { return whole };
    start..memmem::find(&bytes[start..], LINES_END).map_or(bytes.len(), |length| start + length)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let ends = memchr_iter(b'\n', bytes).chain([bytes.len()]);
    let mut next = 0;
    ends.filter_map(move |end| {
        let start = core::mem::replace(&mut next, end + 1);
        let line = bytes.get(start..end)?;
        let line = if start == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        Some((start, line.trim_ascii())).filter(|(_, line)| !line.is_empty())
    })
}

#[derive(Default)]
struct SessionFileReader {
    file: SessionFile,
    /// The lines before the current one.
    line_count: u64,
    /// The number of lines that the last line declares.
    declared_lines: Option<u64>,
}

impl SessionFileReader {
    fn read_line(&mut self, start: usize, line: &[u8]) -> Result<(), Error> {
        // Lines after the end belong to another file, appended to this one.
        if self.declared_lines.is_some() {
            return Ok(());
        }
        if !self.read_object(line)? {
            let found = "a damaged line";
            self.report_problem(
                ProblemCode::Damaged,
                (start, line.len()),
                &format!("expected a piece of a session, but found {found}"),
            );
            // A whole piece may stand behind a torn one.
            for at in memmem::find_iter(line, PIECE_PREFIX).skip_while(|at| *at == 0) {
                if self.read_object(&line[at..])? {
                    break;
                }
            }
        }
        self.line_count += 1;
        Ok(())
    }

    fn read_object(&mut self, line: &[u8]) -> Result<bool, Error> {
        let Ok(text) = core::str::from_utf8(line) else { return Ok(false) };
        if let Some(FilePiece { file, content }) = FilePiece::parse(text) {
            if is_name(&file) {
                let into = self.file.files.entry(file).or_default();
                match content {
                    PieceContent::Line(object) => into.extend([object.as_bytes(), b"\n"].concat()),
                    PieceContent::Whole(bytes) => into.extend(bytes),
                }
            }
            return Ok(true);
        }
        let Ok(mut fields) = Fields::parse(text) else { return Ok(false) };
        let bad = &mut Vec::new();
        if fields.has("leftoff") {
            let version: u64 = fields.take("version", bad).unwrap_or_default();
            if version > VERSION {
                let message = format!(
                    "expected a session's file of version {VERSION}, but found version {version}: a newer leftoff wrote it"
                );
                return Err(Error::new(Code::NewerVersion, message));
            }
            self.file.id = fields.take("id", bad).unwrap_or_default();
            let placement: Option<String> = fields.take("placement", bad);
            self.file.placement = placement.and_then(|name| Placement::from_name(&name));
            return Ok(true);
        }
        if fields.has("end") {
            self.declared_lines = Some(fields.take("lines", bad).unwrap_or_default());
        }
        // Fields that a later version adds are no damage.
        Ok(true)
    }

    fn finish(mut self, length: usize) -> Result<SessionFile, Error> {
        match self.declared_lines {
            None => self.report_problem(
                ProblemCode::TornTail,
                (length, 0),
                &format!(
                    "expected the file's last line, but found that it was cut off after {} lines",
                    self.line_count
                ),
            ),
            Some(lines) if lines + 1 != self.line_count => self.report_problem(
                ProblemCode::Damaged,
                (0, length),
                &format!("expected {lines} lines before the last one, but found {}", self.line_count - 1),
            ),
            Some(_) => {}
        }
        let is_other = |(name, bytes): (&String, &Vec<u8>)| {
            let blob = blob_name(name).filter(|id| sha256(bytes) != *id)?;
            Some((name.clone(), blob.to_string()))
        };
        let other: Vec<_> = self.file.files.iter().filter_map(is_other).collect();
        for (name, blob) in other {
            self.file.files.remove(&name);
            self.report_problem(
                ProblemCode::MissingBlob,
                (0, length),
                &format!("expected the bytes of blob {blob}, but found others"),
            );
        }
        if self.file.id.is_empty() {
            self.file.id = created_session(self.file.log(EVENTS)).ok_or_else(|| {
                let message = "expected the file of a session, but found neither its first line nor an event that names the session";
                Error::new(Code::Damaged, message)
            })?;
        }
        Ok(self.file)
    }

    fn report_problem(&mut self, code: ProblemCode, (start, length): (usize, usize), message: &str) {
        let (start, end) = (start as u64, (start + length) as u64);
        self.file.problems.push(Problem { code, start, end, message: message.into() });
    }
}

fn created_session(events: &[u8]) -> Option<String> {
    records(events).find_map(|record| match event::read(&record).0?.change {
        Change::Created(created) => Some(created.session),
        _ => None,
    })
}

/// A line of the file: a piece of one of the session's files.
struct FilePiece<'a> {
    file: String,
    content: PieceContent<'a>,
}

enum PieceContent<'a> {
    /// An object, which a line feed follows.
    Line(&'a str),
    /// Bytes as they are.
    Whole(Vec<u8>),
}

impl<'a> FilePiece<'a> {
    fn parse(json: &'a str) -> Option<FilePiece<'a>> {
        if !json.contains("\"file\"") {
            return None;
        }
        let (mut fields, bad) = (Fields::parse(json).ok()?, &mut Vec::new());
        let file: String = fields.take("file", bad)?;
        let content = if let Some(object) = fields.take_raw("line") {
            PieceContent::Line(object)
        } else if let Some(text) = fields.take::<String>("text", bad) {
            PieceContent::Whole(text.into_bytes())
        } else {
            PieceContent::Whole(STANDARD.decode(fields.take::<String>("bytes", bad)?).ok()?)
        };
        Some(FilePiece { file, content })
    }

    fn bytes(&self) -> Vec<u8> {
        match &self.content {
            PieceContent::Line(object) => [object.as_bytes(), b"\n"].concat(),
            PieceContent::Whole(bytes) => bytes.clone(),
        }
    }
}

/// True if a session has files of this name: nothing else is taken out of a file.
fn is_name(name: &str) -> bool {
    LOGS.contains(&name)
        || [Placement::Home, Placement::Workspace].iter().any(|placement| placement.document() == name)
        || blob_name(name).is_some()
}

fn blob_name(path: &str) -> Option<&str> {
    let name = path.strip_prefix(BLOBS)?.strip_prefix('/')?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (name.len() == BLOB_DIGITS && name.bytes().all(is_digit)).then_some(name)
}

/// Returns the lines of one log that another log of the same session lacks, to be appended there, as git's merge of
/// both would keep them. A record that is known by its id stays as it is, also where placeholders stand for secrets in
/// the other one; two revisions that claim the same number are both kept.
pub fn missing_lines(there: &[u8], here: &[u8]) -> Vec<u8> {
    if let Some(rest) = here.strip_prefix(there) {
        return rest.into();
    }
    if there.starts_with(here) {
        return Vec::new();
    }
    let known: BTreeSet<&[u8]> = there.split(|byte| *byte == b'\n').collect();
    let keys: BTreeSet<String> = known.iter().filter_map(|line| Some(record_key(line)?.0)).collect();
    let mut taken: BTreeSet<&[u8]> = BTreeSet::new();
    let mut missing = Vec::new();
    for line in here.split_inclusive(|byte| *byte == b'\n') {
        let is_whole = line.ends_with(b"\n");
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let is_torn = || !core::str::from_utf8(line).is_ok_and(|line| Fields::check(line).is_ok());
        if line.is_empty() || known.contains(line) || !taken.insert(line) || (!is_whole && is_torn()) {
            continue;
        }
        if let Some((key, is_revision)) = record_key(line)
            && keys.contains(&key)
            && (!is_revision || has_placeholder(line))
        {
            continue;
        }
        missing.extend_from_slice(line);
        missing.push(b'\n');
    }
    if !missing.is_empty() && there.last().is_some_and(|last| *last != b'\n') {
        missing.insert(0, b'\n');
    }
    missing
}

fn has_placeholder(line: &[u8]) -> bool {
    core::str::from_utf8(line).is_ok_and(|line| blank_placeholders(line) != line)
}

// Returns a record's key, and whether it is a revision. The key of a message is its id and revision, of an event its
// id, of a tool execution its call.
fn record_key(line: &[u8]) -> Option<(String, bool)> {
    let fields = Fields::parse(core::str::from_utf8(line).ok()?).ok()?;
    let key = |name: &str| fields.raw(name).unwrap_or_default();
    let parts = ["id", "rev", "toolCallId"].map(key);
    if parts.iter().all(|part| part.is_empty()) {
        return None;
    }
    let is_revision = !matches!(parts[1], "" | "0" | "null");
    // An execution's id belongs to its line.
    let parts = if parts[2].is_empty() { parts } else { ["", key("messageId"), parts[2]] };
    Some((parts.join(" "), is_revision))
}

/// Returns the ids of the messages in a log, each once.
pub(crate) fn message_ids(log: &[u8]) -> BTreeSet<String> {
    let id = |json: &str| Fields::parse(json).ok()?.take::<String>("id", &mut Vec::new());
    records(log).filter_map(|record| id(&record.json)).collect()
}

#[cfg(test)]
mod tests;
