//! What an operation calls to reach its host: each method sends one [`HostRequest`] and awaits its [`HostResponse`],
//! as if the file, the clock or the model were at hand.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

#[cfg(feature = "interop")]
use super::AgentDocument;
use super::redaction_response::RedactionResponse;
use super::{FolderEntry, GitRun, HostRequest, HostResponse, Stat, Trouble, Work};
use crate::error::Code;
use crate::layout::File;
use crate::privacy::{SecretSpan, secrets};
use crate::record::id;
use crate::session::lease::{Lease, Process};
use crate::time::Stamp;
use crate::tokens::Vocabulary;

// This many bytes before an offset tell whether a file still continues as it was read.
#[cfg(feature = "interop")]
const TAIL_BYTES: u64 = 4096;

/// What passes between an operation and its host: the requests of this step, and the responses to those of the last
/// one.
#[derive(Default)]
pub(crate) struct HostExchange {
    pub requests: Vec<HostRequest>,
    pub stamp: Option<Stamp>,
    // Numbers of the first of `requests` and of `responses`: requests are numbered through all steps.
    first_request: usize,
    first_response: usize,
    responses: Vec<Option<HostResponse>>,
    stamp_count: u32,
}

impl HostExchange {
    pub fn accept_responses(&mut self, now_ms: i64, answers: Vec<HostResponse>) {
        if let Some(stamp) = &mut self.stamp {
            stamp.now_ms = now_ms;
        }
        self.first_response = self.first_request;
        self.first_request += answers.len();
        self.responses = answers.into_iter().map(Some).collect();
    }

    fn add_request(&mut self, request: HostRequest) -> usize {
        self.requests.push(request);
        self.first_request + self.requests.len() - 1
    }

    fn take_response(&mut self, number: usize) -> Option<HostResponse> {
        let place = number.checked_sub(self.first_response)?;
        self.responses.get_mut(place)?.take()
    }
}

/// An operation's random bytes, and a weak reference that tells which operation had them.
pub(crate) type Chance = ([u8; 32], Weak<RefCell<HostExchange>>);

/// The handle by which an operation sends requests to its host.
#[derive(Clone)]
pub(crate) struct Io(pub Rc<RefCell<HostExchange>>);

/// A response not yet received. A plain struct, so that the futures waiting for one stay small: the request itself is
/// in the exchange already.
pub(crate) struct PendingResponse<'a, T> {
    io: &'a Io,
    number: usize,
    read: fn(HostResponse) -> Result<T, Trouble>,
}

impl<T> Future for PendingResponse<'_, T> {
    type Output = Result<T, Trouble>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<T, Trouble>> {
        let answer = self.io.0.borrow_mut().take_response(self.number);
        answer.map_or(Poll::Pending, |answer| Poll::Ready((self.read)(answer)))
    }
}

/// A file's length right after an append, and its stat where the host read it then.
pub(crate) struct AppendedFile {
    pub end: u64,
    pub stat: Option<Stat>,
}

impl Io {
    /// Returns the current time and new random bytes on each call: first the host's, then bytes derived from them.
    pub fn stamp(&self) -> Stamp {
        let mut desk = self.0.borrow_mut();
        let mut stamp = desk.stamp.expect("an operation runs only within a step");
        if desk.stamp_count > 0 {
            stamp.entropy = id::chance_after(&stamp.entropy, desk.stamp_count);
        }
        desk.stamp_count += 1;
        stamp
    }

    /// Returns this operation's random bytes. Rejects those that another operation already had: records stored with
    /// them would get the ids of stored records, and be taken for these. `last` has the bytes of the last operation
    /// that stored something.
    pub fn fresh_chance(&self, last: &RefCell<Option<Chance>>) -> Result<Option<Chance>, Trouble> {
        let entropy = self.0.borrow().stamp.map(|stamp| stamp.entropy);
        let is_repeated = |(of, desk): &Chance| Some(*of) == entropy && !desk.ptr_eq(&Rc::downgrade(&self.0));
        if last.borrow().as_ref().is_some_and(is_repeated) {
            let message = "expected new random bytes for each operation, but found those of the last one that stored something";
            return Err(Trouble::new(Code::InvalidRequest, message));
        }
        Ok(entropy.map(|entropy| (entropy, Rc::downgrade(&self.0))))
    }

    pub fn now_ms(&self) -> i64 {
        self.0.borrow().stamp.map_or(0, |stamp| stamp.now_ms)
    }

    fn send_request<T>(
        &self,
        request: HostRequest,
        read: fn(HostResponse) -> Result<T, Trouble>,
    ) -> PendingResponse<'_, T> {
        PendingResponse { io: self, number: self.0.borrow_mut().add_request(request), read }
    }

    /// Reads from `start`; the result may be shorter than asked for.
    pub fn read(&self, file: &File, start: u64, end: Option<u64>) -> PendingResponse<'_, Option<Vec<u8>>> {
        self.send_request(HostRequest::Read { file: file.clone(), start, end }, |answer| match answer {
            HostResponse::Bytes(bytes) => Ok(bytes),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Reads a range of a file, as much of it as exists; empty where the file does not exist.
    pub fn read_range<'a>(&'a self, file: &'a File, start: u64, end: u64) -> Work<'a, Vec<u8>> {
        Box::pin(async move {
            let mut all = self.read(file, start, Some(end)).await?.unwrap_or_default();
            while !all.is_empty() && (all.len() as u64) < end - start {
                let more = self.read(file, start + all.len() as u64, Some(end)).await?.unwrap_or_default();
                if more.is_empty() {
                    break;
                }
                all.extend(more);
            }
            Ok(all)
        })
    }

    /// Reads the bytes before an offset: a file that has other bytes there was written anew.
    #[cfg(feature = "interop")]
    pub fn read_tail<'a>(&'a self, file: &'a File, end: u64) -> Work<'a, Vec<u8>> {
        self.read_range(file, end.saturating_sub(TAIL_BYTES), end)
    }

    /// Reads a whole file; `None` where it does not exist.
    pub fn read_all(&self, file: &File) -> PendingResponse<'_, Option<Vec<u8>>> {
        self.read(file, 0, None)
    }

    pub fn stat(&self, file: &File) -> PendingResponse<'_, Option<Stat>> {
        self.send_request(HostRequest::Stat { file: file.clone() }, |answer| match answer {
            HostResponse::Stat(stat) => Ok(stat),
            other => Err(unexpected_response_error(other)),
        })
    }

    pub fn list(&self, folder: &File) -> PendingResponse<'_, Option<Vec<FolderEntry>>> {
        self.list_with(folder, &[])
    }

    /// Lists a folder. `names`: files to stat in each folder inside it.
    pub fn list_with(
        &self,
        folder: &File,
        names: &[&'static str],
    ) -> PendingResponse<'_, Option<Vec<FolderEntry>>> {
        self.send_request(HostRequest::List { folder: folder.clone(), names: names.into() }, |answer| {
            match answer {
                HostResponse::Entries(entries) => Ok(entries),
                other => Err(unexpected_response_error(other)),
            }
        })
    }

    /// Appends bytes. `within`: a folder that is not created where it is missing.
    pub fn append(
        &self,
        file: &File,
        bytes: Vec<u8>,
        durable: bool,
        within: Option<&File>,
    ) -> PendingResponse<'_, AppendedFile> {
        let within = within.map(|folder| folder.path.clone());
        self.send_request(HostRequest::Append { file: file.clone(), bytes, durable, within }, |answer| {
            match answer {
                HostResponse::End(end, seen) => Ok(AppendedFile { end, stat: seen }),
                other => Err(unexpected_response_error(other)),
            }
        })
    }

    /// Replaces a file; `within` as in `append`.
    pub fn replace(&self, file: &File, bytes: Vec<u8>, within: Option<&File>) -> PendingResponse<'_, ()> {
        let within = within.map(|folder| folder.path.clone());
        self.request_done(HostRequest::Replace { file: file.clone(), bytes, within })
    }

    pub fn replace_lazily(&self, file: &File, bytes: Vec<u8>) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::ReplaceLazily { file: file.clone(), bytes })
    }

    /// Reads the first bytes of what the caller has saved.
    pub fn read_caller_bytes(&self, end: u64) -> PendingResponse<'_, Vec<u8>> {
        self.send_request(HostRequest::ReadSaved { end }, |answer| match answer {
            HostResponse::Bytes(bytes) => Ok(bytes.unwrap_or_default()),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Writes what the caller has saved into a file, with `bytes` around it: `at` of them come before it.
    pub fn write_caller_bytes(&self, file: &File, bytes: Vec<u8>, at: u64) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::WriteSaved { file: file.clone(), bytes, at })
    }

    /// Hands a range of a file to the caller; returns its length, `None` where the file does not exist.
    pub fn hand_to_caller(&self, file: &File, start: u64, end: u64) -> PendingResponse<'_, Option<u64>> {
        self.send_request(HostRequest::HandRange { file: file.clone(), start, end }, |answer| match answer {
            HostResponse::End(length, _) => Ok(Some(length)),
            HostResponse::Bytes(None) => Ok(None),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Hashes a range of a file; `None` where the file is shorter.
    pub fn hash(&self, file: &File, start: u64, end: u64) -> PendingResponse<'_, Option<String>> {
        self.send_request(HostRequest::Hash { file: file.clone(), start, end }, |answer| match answer {
            HostResponse::Text(hash) => Ok(Some(hash)),
            HostResponse::Done => Ok(None),
            other => Err(unexpected_response_error(other)),
        })
    }

    pub fn remove(&self, file: &File) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Remove { file: file.clone() })
    }

    pub fn rename(&self, from: &File, to: &File) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Move { from: from.clone(), to: to.clone() })
    }

    /// Copies a file, or a folder with its content; `missing`: only files that the target lacks. Returns the bytes
    /// copied.
    pub fn copy(&self, from: &File, to: &File, missing: bool) -> PendingResponse<'_, u64> {
        self.send_request(HostRequest::Copy { from: from.clone(), to: to.clone(), missing }, |answer| {
            match answer {
                HostResponse::End(bytes, _) => Ok(bytes),
                other => Err(unexpected_response_error(other)),
            }
        })
    }

    /// Creates a link; `target`: the path as shown to people.
    pub fn link(&self, file: &File, target: &str) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Link { file: file.clone(), target: target.into() })
    }

    /// Runs git; `need`: a [`HostRequest::Git`]. `None` where git cannot be run.
    pub fn git(&self, request: HostRequest) -> PendingResponse<'_, Option<GitRun>> {
        self.send_request(request, |answer| match answer {
            HostResponse::GitRun(ran) => Ok(ran),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Waits until the session is this operation's alone, until `end_turn`. Only what is answered soon may be asked
    /// meanwhile.
    pub fn take_turn(&self) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::TakeTurn { of: None })
    }

    /// Ends the turn without waiting: the request goes to the host with the next ones. An operation that ends leaves
    /// by itself.
    pub fn end_turn(&self) {
        self.0.borrow_mut().add_request(HostRequest::EndTurn { of: None });
    }

    /// Takes a turn for an operation of a store: of a folder's session, open or not; or of a project, for work on it
    /// that must run one after another.
    pub fn take_turn_of(&self, shown: &str) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::TakeTurn { of: Some(shown.into()) })
    }

    pub fn end_turn_of(&self, shown: &str) {
        self.0.borrow_mut().add_request(HostRequest::EndTurn { of: Some(shown.into()) });
    }

    pub fn vocabulary(&self, encoding: &str) -> PendingResponse<'_, Rc<Vocabulary>> {
        self.send_request(HostRequest::Vocabulary { encoding: encoding.into() }, |answer| match answer {
            HostResponse::Vocabulary(vocabulary) => Ok(vocabulary),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Requests a text from somebody beside the host: a counter, a model, a strategy.
    pub fn request_text(&self, request: HostRequest) -> PendingResponse<'_, String> {
        self.send_request(request, |answer| match answer {
            HostResponse::Text(made) => Ok(made),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Requests a vector for each text, as [`HostRequest::Vectors`] says.
    pub fn vectors(&self, texts: Vec<String>) -> PendingResponse<'_, Vec<u8>> {
        self.send_request(HostRequest::Vectors { texts }, |answer| match answer {
            HostResponse::Bytes(vectors) => Ok(vectors.unwrap_or_default()),
            other => Err(unexpected_response_error(other)),
        })
    }

    pub fn wait(&self, ms: u32) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Wait { ms })
    }

    pub fn process(&self) -> PendingResponse<'_, Process> {
        self.send_request(HostRequest::Process, |answer| match answer {
            HostResponse::Process(process) => Ok(process),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Returns for each process whether it is certainly gone.
    pub fn are_gone(&self, processes: Vec<Lease>) -> PendingResponse<'_, Vec<bool>> {
        self.send_request(HostRequest::CheckProcesses { processes }, |answer| match answer {
            HostResponse::Flags(gone) => Ok(gone),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Has the host redact outgoing JSON.
    pub async fn redact_outgoing(&self, json: String) -> Result<RedactionResponse, Trouble> {
        RedactionResponse::from_json(
            &self.request_text(HostRequest::Redact { bytes: json.into_bytes() }).await?,
        )
    }

    /// Finds the secrets in each text, by the core's rules and the host's.
    pub async fn find_secrets(&self, texts: Vec<String>) -> Result<Vec<Vec<SecretSpan>>, Trouble> {
        let texts: Vec<String> = texts.into_iter().map(secrets::normalize_text).collect();
        let mut of_host = SecretSpan::all_from_json(
            &self.request_text(HostRequest::Secrets { texts: texts.clone() }).await?,
        )?;
        if of_host.is_empty() {
            of_host.resize_with(texts.len(), Vec::new);
        }
        let is_place = |text: &str, span: &SecretSpan| {
            span.start <= span.end && text.get(span.start..span.end).is_some()
        };
        let is_in =
            |(text, spans): (&String, &Vec<SecretSpan>)| spans.iter().all(|span| is_place(text, span));
        if of_host.len() == texts.len() && texts.iter().zip(&of_host).all(is_in) {
            return Ok(texts
                .iter()
                .zip(of_host)
                .map(|(text, spans)| secrets::find_secrets(text, spans))
                .collect());
        }
        let message = "expected of each text where its secrets stand in it, but found other places";
        Err(Trouble::new(Code::InvalidRequest, message))
    }

    /// Reads the next document of an agent's file.
    #[cfg(feature = "interop")]
    pub fn next_document(
        &self,
        path: &str,
        only: &str,
        is_first: bool,
    ) -> PendingResponse<'_, Option<AgentDocument>> {
        self.send_request(
            HostRequest::Document { path: path.into(), only: only.into(), is_first },
            |answer| match answer {
                HostResponse::Document(document) => Ok(document),
                other => Err(unexpected_response_error(other)),
            },
        )
    }

    /// Asks the host which command began a conversation; JSON.
    #[cfg(feature = "interop")]
    pub fn find_command(&self, messages: Vec<u8>) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::Command { bytes: messages })
    }

    #[cfg(feature = "interop")]
    pub fn real_path(&self, path: &str) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::RealPath { path: path.into() })
    }

    pub fn normalize_text(&self, path: &str) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::NormalizePath { path: path.into() })
    }

    pub fn strip_marks(&self, text: &str) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::RemoveMarks { text: text.into() })
    }

    /// Hands over a page, and waits until the reader wants more.
    pub fn write_page(&self, bytes: Vec<u8>) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Page { bytes })
    }

    fn request_done(&self, request: HostRequest) -> PendingResponse<'_, ()> {
        self.send_request(request, |answer| match answer {
            HostResponse::Done => Ok(()),
            other => Err(unexpected_response_error(other)),
        })
    }
}

/// Makes the error for a response of another kind: the host's failure, or a bug, since the host mixed responses up.
fn unexpected_response_error(answer: HostResponse) -> Trouble {
    match answer {
        HostResponse::Failed(failure) => failure.into(),
        other => {
            let found = describe_response(&other);
            Trouble::internal(format!("expected an answer to what was needed, but found {found} instead"))
        }
    }
}

// Only the kind: the content may be part of a conversation.
fn describe_response(answer: &HostResponse) -> &'static str {
    match answer {
        HostResponse::Done => "none",
        HostResponse::Bytes(_) => "bytes",
        HostResponse::Stat(_) => "what a file is like",
        HostResponse::Entries(_) => "the entries of a folder",
        HostResponse::End(..) => "the end of a file",
        HostResponse::Process(_) => "a process",
        HostResponse::Flags(_) => "flags",
        HostResponse::Text(_) => "a text",
        HostResponse::Vocabulary(_) => "a vocabulary",
        HostResponse::GitRun(_) => "what git said",
        #[cfg(feature = "interop")]
        HostResponse::Document(_) => "a document",
        HostResponse::Failed(_) => "a failure",
    }
}
