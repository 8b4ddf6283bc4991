//! Whole calls from bytes to JSON, the same for every binding; the conformance cases run these.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::context::write_context;
use crate::context::{Build, Counter, Outcome, Request};
use crate::error::Error;
use crate::json::blob::Blob;
use crate::json::fields::{BadValue, Field, Fields, parse_items};
use crate::json::request;
use crate::json::text::{open_all, to_json};
use crate::record::event::{Agent, type_of};
use crate::record::message::{self, Message};
use crate::record::scan::{Problem, ScanItem, scan};
use crate::record::status::Status;
use crate::resume::block::{ResumeBlock, render_block};
use crate::resume::drift;
use crate::session::branch::Branches;
use crate::session::handle::{Session, StagedBatch};
use crate::session::input_request::InputRequest;
use crate::time::{self, Stamp};
use crate::tokens::{Counting, Encoding, Vocabulary};

#[derive(Serialize)]
struct LogScan {
    // Messages with the fields that this version does not know.
    #[serde(serialize_with = "open_all")]
    messages: Vec<Message>,
    problems: Vec<Problem>,
}

/// Reads every message of a log and its problems: `{"messages":[...],"problems":[{"code","start","end","message"}]}`.
pub fn scan_log(log: &[u8]) -> String {
    let mut scanned = LogScan { messages: Vec::new(), problems: Vec::new() };
    let mut branches = Branches::default();
    for found in scan(log) {
        match found {
            ScanItem::Problem(problem) => scanned.problems.push(problem),
            ScanItem::Record(record) => {
                let (message, problems) = message::read(&record);
                scanned.problems.extend(problems);
                if let Some(message) = message {
                    scanned.problems.extend(branches.add_message(&message, &record).problems(&record));
                    scanned.messages.push(message);
                }
            }
        }
    }
    to_json(&scanned)
}

/// Builds the context of a log that is in memory, as [`write_context`] gives it.
///
/// # Errors
/// Those of [`Request::from_json`] and [`Build::next`]; `invalid_request` where a host would have to count.
pub fn context_of_log(log: &[u8], request: &str, vocabulary: Option<&Vocabulary>) -> Result<String, Error> {
    // A log alone has no blobs beside it.
    build_context(log, &[], Request::from_json(request)?, vocabulary)
}

/// Builds the context of messages that are stored nowhere. Each message is counted by the vocabulary of `o200k_base` if
/// it is given, the context by the one that the request names.
///
/// # Errors
/// Those of [`context_of_log`]; `line_too_long`.
pub fn context_of_messages(
    messages: Vec<Message>,
    request: &str,
    stamp: &Stamp,
    vocabularies: &[&Vocabulary],
) -> Result<String, Error> {
    let request = Request::from_json(request)?;
    let of = |encoding| vocabularies.iter().copied().find(|known| known.encoding() == encoding);
    let counting = of(Encoding::O200kBase).map_or(Counting::Estimate, Counting::Exact);
    let StagedBatch { bytes, blobs } = Session::new(None).stage_messages(messages, stamp, counting)?;
    let vocabulary = match request.counter {
        Counter::Core(encoding) => of(encoding),
        Counter::Host(_) => None,
    };
    build_context(&bytes, &blobs, request, vocabulary)
}

fn build_context(
    log: &[u8],
    blobs: &[Blob],
    request: Request,
    vocabulary: Option<&Vocabulary>,
) -> Result<String, Error> {
    let requested = request.clone();
    let mut session = Session::new(None);
    let mut found = session.messages().observe(log, 0)?;
    found.extend(session.messages().observe_tail());
    session.take_messages(found);
    while let Some(span) = session.unfolded_span() {
        session.fold_bytes(log.get(span.start as usize..span.end as usize).unwrap_or_default());
    }
    let mut build = Build::new(request, session.source());
    loop {
        match build.next(vocabulary)? {
            Outcome::Ready(context) => {
                return Ok(write_context(&context, requested.shape(), context.recipient(&requested)));
            }
            Outcome::Needs(InputRequest::Bytes { range }) => {
                let bytes = log.get(range.start as usize..range.end as usize).unwrap_or_default();
                build.take_bytes(range.start, bytes)?;
            }
            Outcome::Needs(InputRequest::Blob { id }) => {
                let known = blobs.iter().find(|blob| blob.id == id);
                build.take_blob(&id, known.map(|blob| &*blob.bytes));
            }
            Outcome::Needs(needs) => return Err(unmet_input_error(&needs)),
        }
    }
}

// Names only the kind of the unmet input, since its value may be the whole conversation.
fn unmet_input_error(needs: &InputRequest) -> Error {
    let kind = match needs {
        InputRequest::Summary { .. } => "a summary",
        InputRequest::Strategy { .. } => "a strategy of the host's",
        InputRequest::Counts { .. } => {
            "counts, and neither a vocabulary for that encoding nor \"estimate-1\""
        }
        InputRequest::Vectors { .. } => "vectors",
        InputRequest::Bytes { .. } | InputRequest::Blob { .. } => "bytes",
    };
    request::error(format!("expected nothing more to be needed, but found {kind}"))
}

/// Parses the counts that a host made: a JSON array of `[text, tokens]`.
///
/// # Errors
/// `invalid_request` where it is none.
pub fn parse_counts(json: &str) -> Result<Vec<(String, u32)>, Error> {
    let read = |pair: &str| {
        let [text, tokens] = parse_items(pair)?[..] else { return None };
        let text = String::read(text, "text", &mut Vec::new())?;
        Some((text, tokens.parse().ok()?))
    };
    let counts = parse_items(json).and_then(|pairs| pairs.into_iter().map(read).collect());
    counts.ok_or_else(|| request::error("expected an array of a text and its count each"))
}

/// Compares the environment that a session was saved in with the current one; returns a JSON array of sentences. Takes
/// `{"agent":{...},"status","now":{"promptHash","model","window","tools","servers"},"elsewhere":[{"program","pid","host","since"}]}`,
/// where `agent` is as events have it. What is not in `now` is not compared; a `promptHash` of null says that the
/// command's file is gone.
///
/// # Errors
/// `invalid_request` where it is not of its shape.
pub fn drift(about: &str) -> Result<String, Error> {
    let mut fields = request::parse(about, "agent, status, now or elsewhere")?;
    let mut bad = Vec::new();
    let saved: Agent = fields.take("agent", &mut bad).unwrap_or_default();
    let status: Status = fields.take("status", &mut bad).unwrap_or_default();
    let now: drift::Environment = fields.take("now", &mut bad).unwrap_or_default();
    let elsewhere: Vec<drift::OtherHolder> = fields.take("elsewhere", &mut bad).unwrap_or_default();
    request::reject_bad(&mut bad)?;
    Ok(to_json(&drift::warnings(&saved, status, &now, &elsewhere)))
}

/// Renders the resume block of a session:
/// `{"type","title","lastActive","messageCount","summary","leftOut":{"count","command"},
/// "missing":{"count","command"},"outputs","warnings":[...]}` and a stamp.
///
/// # Errors
/// `invalid_request` where one of the two is not of its shape.
pub fn resume_block(session: &str, stamp: &str) -> Result<String, Error> {
    let stamp = Stamp::from_json(stamp)?;
    let known = "type, title, lastActive, messageCount, summary, leftOut, missing, outputs or warnings";
    let mut fields = request::parse(session, known)?;
    let mut bad = Vec::new();
    let (left_out, missing) = (
        take_count_and_command(&mut fields, "leftOut", &mut bad),
        take_count_and_command(&mut fields, "missing", &mut bad),
    );
    let block = ResumeBlock {
        session_type: type_of(fields.take("type", &mut bad)),
        title: fields.take("title", &mut bad).unwrap_or_default(),
        last_active_ms: fields
            .take::<String>("lastActive", &mut bad)
            .and_then(|written| time::parse(&written)),
        message_count: fields.take("messageCount", &mut bad).unwrap_or_default(),
        summary: fields.take("summary", &mut bad),
        omitted: left_out,
        missing_texts: missing,
        gone_output_count: fields.take("outputs", &mut bad).unwrap_or_default(),
        warnings: fields.take("warnings", &mut bad).unwrap_or_default(),
    };
    request::reject_bad(&mut bad)?;
    Ok(render_block(&block, &stamp))
}

// Reads how many there are, and the command that shows more of them.
fn take_count_and_command(
    fields: &mut Fields<'_>,
    key: &str,
    bad: &mut Vec<BadValue>,
) -> Option<(u64, String)> {
    let mut counted = Fields::parse_at(key, fields.take_raw(key)?, bad)?;
    request::reject_unknown(&counted, "count or command", bad);
    Some((counted.take("count", bad)?, counted.take("command", bad)?))
}
