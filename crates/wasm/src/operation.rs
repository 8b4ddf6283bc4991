//! Operations, for JavaScript: one table for all of them. It translates, and decides nothing.
//!
//! An operation is an `async fn` of the core that waits for nothing but its host's answers; `next` polls it once and
//! hands out the requests. The compiler makes the state machine, so no operation has a protocol of its own. A step that
//! is one append to the messages crosses without JSON, with the log's stat as the host saw it: most steps are such.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::{Array, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::counter::Counter;
#[cfg(feature = "core")]
use crate::parse_utf8;
#[cfg(feature = "core")]
use crate::session_handle::SessionHandle;
use crate::{JsResult, parse_stamp, to_js_value};
use leftoff::json::text::to_json;
#[cfg(feature = "agents")]
use leftoff::operation::AgentDocument;
#[cfg(feature = "core")]
use leftoff::operation::{AppendRequest, Drafts};
use leftoff::operation::{
    Failure, FileId, FileKind, FolderEntry, GitRun, HostRequest, HostResponse, Operation, Stat, Step, Trouble,
};
#[cfg(feature = "core")]
use leftoff::session::batch::AppendConditions;
use leftoff::session::lease::Process;
#[cfg(feature = "core")]
use leftoff::shapes::{Format, extract_messages};
use leftoff::time::Stamp;
use leftoff::tokens::Vocabulary;

/// The first byte of a step that ended: the answer follows.
const READY_TAG: u8 = b'R';
/// The first byte of a step whose host requests follow.
const REQUESTS_TAG: u8 = b'N';
/// The first byte of a step that is one append to a session's messages: most steps are, so it crosses without JSON.
#[cfg(feature = "core")]
const APPEND_TAG: u8 = b'A';
/// The first byte of a step that ended by an error of the host's, whose number follows.
const FAILURE_TAG: u8 = b'F';

pub(crate) type Running = Operation<'static, Vec<u8>>;

/// The operations under way, each by a number that is never used again. They are few: a list is enough.
#[wasm_bindgen(js_name = Operations)]
#[derive(Default)]
pub struct Operations {
    under_way: Vec<RunningOperation>,
    begun: u32,
}

struct RunningOperation {
    number: u32,
    running: Running,
    // Handed over before the answer that refers to it.
    vocabulary: Option<Rc<Vocabulary>>,
}

#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// An empty table.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Operations {
        Operations::default()
    }

    /// Takes the answers to all requests of a step and returns the next step. Each answer is an array of its kind and
    /// values.
    pub fn next(&mut self, number: u32, now_ms: f64, answers: Vec<Array>) -> JsResult<Uint8Array> {
        let RunningOperation { mut running, vocabulary, .. } = self.take_running(number)?;
        let read = |response: &Array| read_answer(response, vocabulary.as_ref());
        let step = running.next(now_ms as i64, answers.iter().map(read).collect());
        self.encode_step(number, running, step)
    }

    /// Hands over a requested vocabulary; `next` takes the other answers.
    pub fn vocabulary(&mut self, number: u32, counter: &Counter) {
        if let Some(one) = self.under_way.iter_mut().find(|one| one.number == number) {
            one.vocabulary.clone_from(&counter.0);
        }
    }

    /// Drops an operation that has not ended.
    pub fn drop(&mut self, number: u32) {
        self.under_way.retain(|one| one.number != number);
    }
}

/// Detects the format of drafts, JSON bytes, as an append does; refuses another than `format` says.
#[cfg(feature = "core")]
#[wasm_bindgen(js_name = answeredFormat)]
pub fn answered_format(drafts: &[u8], format: Option<String>) -> JsResult<String> {
    let format = parse_format(&format.unwrap_or_default())?;
    let extracted = extract_messages(parse_utf8(drafts)?, format).map_err(|error| to_js_value(&error))?;
    Ok(extracted.0.as_str().into())
}

#[cfg(feature = "core")]
fn parse_format(format: &str) -> JsResult<Option<Format>> {
    let parsed = (!format.is_empty()).then(|| Format::parse(format)).transpose();
    parsed.map_err(|error| to_js_value(&error))
}

#[cfg(feature = "core")]
#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// Begins an append of messages, JSON bytes of a format; without a format they were read from a log, and with an
    /// empty one it is detected. `once`: the conditions, as in `Once::from_json`. `seen`: the log's stat just now, as
    /// in `next`, where the session lay when it was `opened` so often: it may lie elsewhere by now.
    #[allow(clippy::too_many_arguments, reason = "each crosses as it is")]
    pub fn append(
        &mut self,
        handle: &SessionHandle,
        drafts: &[u8],
        format: Option<String>,
        once: Option<String>,
        durable: bool,
        revives: bool,
        counter: &Counter,
        count_tokens: bool,
        opened: u32,
        seen: &[f64],
        now_ms: f64,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let json = String::from(parse_utf8(drafts)?);
        let drafts = match format {
            Some(format) => Drafts::Json(json, parse_format(&format)?),
            None => Drafts::Copies(json),
        };
        let appending =
            AppendRequest { drafts, is_durable: durable, revives, counts: counter.counts(count_tokens) };
        let mut running = match once {
            Some(once) => handle.0.append_once(
                appending,
                AppendConditions::from_json(&once).map_err(|error| to_js_value(&error))?,
            ),
            None => handle.0.append_messages(appending),
        };
        let step = running.begin(parse_stamp(now_ms, entropy)?);
        if handle.0.opened_times() != opened {
            return self.register_step(running, step);
        }
        let step = answer_first_stat(&mut running, step, seen, now_ms);
        let Some((is_durable, bytes)) = only_append(&step) else { return self.register_step(running, step) };
        let number = self.next_number();
        let frame = build_frame(APPEND_TAG, &[&number.to_le_bytes(), &[u8::from(is_durable)], bytes]);
        self.under_way.push(RunningOperation { number, running, vocabulary: None });
        Ok(frame)
    }

    /// `next` for a step that is one append; `seen`: the log's stat after it. Returns nothing where the operation has
    /// ended: the host has the lines that it appended.
    #[wasm_bindgen(js_name = finishAppend)]
    pub fn finish_append(
        &mut self,
        number: u32,
        end: f64,
        seen: &[f64],
        now_ms: f64,
    ) -> JsResult<Option<Uint8Array>> {
        let RunningOperation { mut running, .. } = self.take_running(number)?;
        let ended = HostResponse::End(end as u64, read_stat(seen));
        match running.next(now_ms as i64, Vec::from([ended])) {
            Step::Done(Ok(_)) => Ok(None),
            step => self.encode_step(number, running, step).map(Some),
        }
    }

    /// Begins any other operation of a session, by its name; `request`: JSON mostly.
    #[allow(clippy::too_many_arguments, reason = "each crosses as it is")]
    pub fn begin(
        &mut self,
        handle: &SessionHandle,
        name: &str,
        request: &[u8],
        counter: &Counter,
        count_tokens: bool,
        now_ms: f64,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let handle = &handle.0;
        let text = || parse_utf8(request).map(String::from);
        let running = match name {
            "begin" => handle.begin(text()?).map(null_json),
            "open" => handle.open().map(|id| to_json(&id).into_bytes()),
            "look" => handle.refresh().map(null_json),
            "catchUp" => handle.refresh_logs().map(null_json),
            "say" => handle.record_changes(text()?).map(null_json),
            "others" => handle.list_holders().map(String::into_bytes),
            "flush" => handle.flush(text()? == "true").map(null_json),
            "close" => handle.close().map(null_json),
            "messages" => handle.messages(text()?).map(null_json),
            "follow" => handle.follow().map(null_json),
            "tools" => handle.tools().map(String::into_bytes),
            "appendTool" => handle.append_tool(text()?, counter.counts(count_tokens)).map(String::into_bytes),
            "context" => handle.context(text()?, counter.counts(count_tokens)).map(String::into_bytes),
            "resume" => handle.resume(text()?, counter.counts(count_tokens)).map(String::into_bytes),
            "lastContext" => handle.last_context().map(String::into_bytes),
            "state" => handle.state().map(String::into_bytes),
            "brief" => handle.brief(text()?).map(|brief| to_json(&brief).into_bytes()),
            "pins" => handle.pins().map(String::into_bytes),
            "summaryOf" => {
                let counts = counter.counts(count_tokens);
                handle.summary_of(text()?, counts).map(|summary| to_json(&summary).into_bytes())
            }
            "compact" => handle.compact(text()?, counter.counts(count_tokens)).map(String::into_bytes),
            _ => return Err(to_js_value(&unknown_operation_error())),
        };
        self.start(running, now_ms, entropy)
    }
}

impl Operations {
    fn take_running(&mut self, number: u32) -> JsResult<RunningOperation> {
        match self.under_way.iter().position(|one| one.number == number) {
            Some(place) => Ok(self.under_way.swap_remove(place)),
            None => Err(to_js_value(&no_operation_error(number))),
        }
    }

    pub(crate) fn start(&mut self, running: Running, now_ms: f64, entropy: &[u8]) -> JsResult<Uint8Array> {
        self.start_at(running, parse_stamp(now_ms, entropy)?)
    }

    pub(crate) fn start_at(&mut self, mut running: Running, stamp: Stamp) -> JsResult<Uint8Array> {
        let step = running.begin(stamp);
        self.register_step(running, step)
    }

    fn register_step(&mut self, running: Running, step: Step<Vec<u8>>) -> JsResult<Uint8Array> {
        let number = self.next_number();
        self.encode_step(number, running, step)
    }

    fn next_number(&mut self) -> u32 {
        self.begun = self.begun.wrapping_add(1);
        self.begun
    }

    fn encode_step(&mut self, number: u32, running: Running, step: Step<Vec<u8>>) -> JsResult<Uint8Array> {
        let requests = match step {
            Step::Requests(requests) => requests,
            Step::Done(Ok(ready)) => return Ok(build_frame(READY_TAG, &[&ready])),
            Step::Done(Err(trouble)) => {
                return match trouble.origin() {
                    Some(origin) => Ok(build_frame(FAILURE_TAG, &[&origin.to_le_bytes()])),
                    None => Err(to_js_value(&trouble)),
                };
            }
        };
        let number_of = number.to_le_bytes();
        let json = to_json(&requests);
        let length = (json.len() as u32).to_le_bytes();
        let payloads: Vec<_> = requests.iter().filter_map(HostRequest::payload).collect();
        let parts = [&number_of[..], &length, json.as_bytes()].into_iter();
        let parts: Vec<&[u8]> = parts.chain(payloads.iter().map(|payload| &**payload)).collect();
        let frame = build_frame(REQUESTS_TAG, &parts);
        self.under_way.push(RunningOperation { number, running, vocabulary: None });
        Ok(frame)
    }
}

// A step that appends to a session's messages and does nothing else.
#[cfg(feature = "core")]
fn only_append(step: &Step<Vec<u8>>) -> Option<(bool, &[u8])> {
    let Step::Requests(requests) = step else { return None };
    let [HostRequest::Append { file, bytes, durable, within: Some(within) }] = &requests[..] else {
        return None;
    };
    let is_log = file.path.strip_prefix(within.as_str()) == Some("/messages.jsonl");
    is_log.then_some((*durable, bytes))
}

// `bytes` 1, a file's `stat` 2, `entries` of a folder 3, names with a slash between them and numbers, the `end` of a file 4, and its `stat` then, a `text` 5, a `failure` 7: the host's number for it, its code, message, what was written, whether it is
// unconfirmed, the `vocabulary` that was said before 8, `flags` 9,
// this `process` 10, JSON; what git said 12: its status, or -1 where it was made to end, what it printed, its words, whether it took too long; a `document` 11: its bytes, whether it is alone, and why it cannot be read, as of a failure. What is not there is undefined or null. Anything else is done.
fn read_answer(response: &Array, vocabulary: Option<&Rc<Vocabulary>>) -> HostResponse {
    let number = |at: u32| response.get(at).as_f64();
    let text = |at: u32| response.get(at).as_string();
    let stat = |at: u32| read_stat(&Float64Array::from(response.get(at)).to_vec());
    let is_there = !response.get(1).is_undefined() && !response.get(1).is_null();
    match number(0).unwrap_or_default() as u8 {
        1 => HostResponse::Bytes(is_there.then(|| Uint8Array::from(response.get(1)).to_vec())),
        2 => HostResponse::Stat(stat(1)),
        3 => HostResponse::Entries(
            is_there.then(|| read_entries(&text(1).unwrap_or_default(), response.get(2))),
        ),
        4 => HostResponse::End(number(1).unwrap_or_default() as u64, stat(2)),
        5 => HostResponse::Text(text(1).unwrap_or_default()),
        7 => HostResponse::Failed(Failure {
            origin: number(1).map(|origin| origin as u32),
            code: text(2).unwrap_or_default(),
            message: text(3).unwrap_or_default(),
            written: number(4).map(|written| written as u64),
            is_unconfirmed: response.get(5).is_truthy(),
        }),
        8 => vocabulary.map_or(HostResponse::Done, |vocabulary| HostResponse::Vocabulary(vocabulary.clone())),
        9 => HostResponse::Flags(Array::from(&response.get(1)).iter().map(|flag| flag.is_truthy()).collect()),
        #[cfg(feature = "agents")]
        11 => HostResponse::Document(is_there.then(|| read_document(response))),
        12 => HostResponse::GitRun(is_there.then(|| GitRun {
            status: number(1).map(|status| status as i32).filter(|status| *status >= 0),
            stdout: Uint8Array::from(response.get(2)).to_vec(),
            stderr_text: text(3).unwrap_or_default(),
            has_timed_out: response.get(4).is_truthy(),
        })),
        10 => text(1).and_then(|json| Process::read(&json)).map_or(HostResponse::Done, HostResponse::Process),
        _ => HostResponse::Done,
    }
}

#[cfg(feature = "agents")]
fn read_document(response: &Array) -> AgentDocument {
    let failure = response.get(4).as_string().map(|code| Failure {
        origin: response.get(3).as_f64().map(|origin| origin as u32),
        code,
        message: response.get(5).as_string().unwrap_or_default(),
        ..Failure::default()
    });
    AgentDocument {
        bytes: Uint8Array::from(response.get(1)).to_vec(),
        is_alone: response.get(2).is_truthy(),
        failure,
    }
}

// For each entry its kind, and for each of its files that was asked for four numbers as in `stat`: all 0 where there is
// none, the first -1 where the folder may not be looked into.
fn read_entries(names: &str, numbers: JsValue) -> Vec<FolderEntry> {
    const NUMBERS_PER_STAT: usize = 4;
    let numbers = Float64Array::from(numbers).to_vec();
    let names: Vec<&str> = names.split('/').filter(|name| !name.is_empty()).collect();
    let row = numbers.len().checked_div(names.len()).unwrap_or(1).max(1);
    let read = |(name, numbers): (&&str, &[f64])| {
        let (kind, files) = numbers.split_first().map_or((0.0, numbers), |(kind, files)| (*kind, files));
        let is_looked_at = row > 1 && files.first() != Some(&-1.0);
        let stat = |file: &[f64]| if file[0] == 0.0 { None } else { read_stat(file) };
        let files = is_looked_at.then(|| files.chunks_exact(NUMBERS_PER_STAT).map(stat).collect());
        FolderEntry { name: String::from(*name), kind: kind_of(kind), files }
    };
    names.iter().zip(numbers.chunks(row)).map(read).collect()
}

fn kind_of(number: f64) -> FileKind {
    match number as u8 {
        1 => FileKind::File,
        2 => FileKind::Folder,
        _ => FileKind::Other,
    }
}

#[cfg(feature = "core")]
// Answers the operation's first stat by what the host has seen already.
fn answer_first_stat(running: &mut Running, step: Step<Vec<u8>>, seen: &[f64], now_ms: f64) -> Step<Vec<u8>> {
    match &step {
        Step::Requests(requests) => match &requests[..] {
            [HostRequest::Stat { file }] if file.path.ends_with("/messages.jsonl") => {
                running.next(now_ms as i64, Vec::from([HostResponse::Stat(read_stat(seen))]))
            }
            _ => step,
        },
        Step::Done(_) => step,
    }
}

fn read_stat(stat: &[f64]) -> Option<Stat> {
    let [kind, size, modified_ms, changed_ms, rest @ ..] = stat else { return None };
    let kind = kind_of(*kind);
    let file = match rest {
        [number, made_ms] => Some(FileId { number: *number as u64, made_us: micros(*made_ms) }),
        _ => None,
    };
    let (modified_us, changed_us) = (micros(*modified_ms), micros(*changed_ms));
    Some(Stat { kind, size: *size as u64, modified_us, changed_us, file })
}

fn micros(ms: f64) -> i64 {
    (ms * 1000.0 + 0.5) as i64
}

fn build_frame(kind: u8, parts: &[&[u8]]) -> Uint8Array {
    let mut frame = Vec::with_capacity(1 + parts.iter().map(|part| part.len()).sum::<usize>());
    frame.push(kind);
    parts.iter().for_each(|part| frame.extend_from_slice(part));
    Uint8Array::from(&frame[..])
}

#[cfg(any(feature = "core", feature = "agents"))]
pub(crate) fn null_json((): ()) -> Vec<u8> {
    b"null".into()
}

#[cfg(feature = "core")]
pub(crate) fn bool_json(is: bool) -> Vec<u8> {
    (if is { "true" } else { "false" }).into()
}

#[cfg(any(feature = "core", feature = "agents"))]
pub(crate) fn unknown_operation_error() -> Trouble {
    Trouble::internal("expected the name of an operation, but found another one")
}

fn no_operation_error(number: u32) -> Trouble {
    Trouble::internal(alloc::format!(
        "expected the operation {number} under way, but found that it has ended"
    ))
}
