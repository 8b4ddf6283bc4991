//! The side of the protocol that operations see: what they ask, as if it were at hand.

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

// So many bytes before a place say whether a file goes on there as it was.
#[cfg(feature = "interop")]
const TAIL: u64 = 4096;

/// What lies between an operation and its host: the needs of this step, and the answers to those of the last.
#[derive(Default)]
pub(crate) struct HostExchange {
    pub requests: Vec<HostRequest>,
    pub stamp: Option<Stamp>,
    // The number of the first of `asked`, and of `answers`: needs are numbered through all steps.
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

    fn add_request(&mut self, need: HostRequest) -> usize {
        self.requests.push(need);
        self.first_request + self.requests.len() - 1
    }

    fn take_response(&mut self, number: usize) -> Option<HostResponse> {
        let place = number.checked_sub(self.first_response)?;
        self.responses.get_mut(place)?.take()
    }
}

/// The random bytes of an operation, and which one that was.
pub(crate) type Chance = ([u8; 32], Weak<RefCell<HostExchange>>);

/// What an operation asks its host by.
#[derive(Clone)]
pub(crate) struct Io(pub Rc<RefCell<HostExchange>>);

/// An answer on its way. It is plain, so that the futures that wait for one stay small: what is asked lies on the desk already.
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

/// What a file is like right after an append.
pub(crate) struct AppendedFile {
    pub end: u64,
    pub stat: Option<Stat>,
}

impl Io {
    /// The moment, and another chance each time: the host's, then what follows from it.
    pub fn stamp(&self) -> Stamp {
        let mut desk = self.0.borrow_mut();
        let mut stamp = desk.stamp.expect("an operation runs only within a step");
        if desk.stamp_count > 0 {
            stamp.entropy = id::chance_after(&stamp.entropy, desk.stamp_count);
        }
        desk.stamp_count += 1;
        stamp
    }

    /// The chance of this operation; refused where another one had it before: what is stored would have the ids of what is there, and
    /// be taken for it. `last` is that of the last one by which something was stored.
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
        need: HostRequest,
        read: fn(HostResponse) -> Result<T, Trouble>,
    ) -> PendingResponse<'_, T> {
        PendingResponse { io: self, number: self.0.borrow_mut().add_request(need), read }
    }

    /// May be shorter than asked for.
    pub fn read(&self, file: &File, start: u64, end: Option<u64>) -> PendingResponse<'_, Option<Vec<u8>>> {
        self.send_request(HostRequest::Read { file: file.clone(), start, end }, |answer| match answer {
            HostResponse::Bytes(bytes) => Ok(bytes),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// All of a part of a file that is there; empty where no file is.
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

    /// What stands before a place in a file: one that has something else there was written anew.
    #[cfg(feature = "interop")]
    pub fn read_tail<'a>(&'a self, file: &'a File, end: u64) -> Work<'a, Vec<u8>> {
        self.read_range(file, end.saturating_sub(TAIL), end)
    }

    /// All of a file; nothing where none is.
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

    /// `names`: of files that are looked at in each folder there.
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

    /// `within`: a folder that is not made where it is missing.
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

    /// `within` as in `append`.
    pub fn replace(&self, file: &File, bytes: Vec<u8>, within: Option<&File>) -> PendingResponse<'_, ()> {
        let within = within.map(|folder| folder.path.clone());
        self.request_done(HostRequest::Replace { file: file.clone(), bytes, within })
    }

    pub fn replace_lazily(&self, file: &File, bytes: Vec<u8>) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Keep { file: file.clone(), bytes })
    }

    /// The first bytes of what the caller has saved.
    pub fn read_caller_bytes(&self, end: u64) -> PendingResponse<'_, Vec<u8>> {
        self.send_request(HostRequest::Given { end }, |answer| match answer {
            HostResponse::Bytes(bytes) => Ok(bytes.unwrap_or_default()),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// What the caller has saved, into a file; `at`: behind how many of the bytes.
    pub fn write_caller_bytes(&self, file: &File, bytes: Vec<u8>, at: u64) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Put { file: file.clone(), bytes, at })
    }

    /// A part of a file to the caller: how many bytes that are; nothing where no file is.
    pub fn hand_to_caller(&self, file: &File, start: u64, end: u64) -> PendingResponse<'_, Option<u64>> {
        self.send_request(HostRequest::Hand { file: file.clone(), start, end }, |answer| match answer {
            HostResponse::End(length, _) => Ok(Some(length)),
            HostResponse::Bytes(None) => Ok(None),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// The hash of a part of a file; nothing where the file is shorter.
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

    /// All in a folder, or a file; `missing`: only what is not there. How many bytes that were.
    pub fn copy(&self, from: &File, to: &File, missing: bool) -> PendingResponse<'_, u64> {
        self.send_request(HostRequest::Copy { from: from.clone(), to: to.clone(), missing }, |answer| {
            match answer {
                HostResponse::End(bytes, _) => Ok(bytes),
                other => Err(unexpected_response_error(other)),
            }
        })
    }

    /// `target`: as people call it.
    pub fn link(&self, file: &File, target: &str) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Link { file: file.clone(), target: target.into() })
    }

    /// `need`: of git; nothing where it cannot be run.
    pub fn git(&self, need: HostRequest) -> PendingResponse<'_, Option<GitRun>> {
        self.send_request(need, |answer| match answer {
            HostResponse::Ran(ran) => Ok(ran),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// The session is this operation's alone until it leaves: what it asks meanwhile is answered soon.
    pub fn take_turn(&self) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Turn { of: None })
    }

    /// Nobody waits for that: it goes to the host along with what is asked next, and an operation that ends has left.
    pub fn end_turn(&self) {
        self.0.borrow_mut().add_request(HostRequest::Leave { of: None });
    }

    /// The same for an operation of a store: of the session of a folder, open or not; or of the project, of what is asked of that one
    /// after another.
    pub fn take_turn_of(&self, shown: &str) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Turn { of: Some(shown.into()) })
    }

    pub fn end_turn_of(&self, shown: &str) {
        self.0.borrow_mut().add_request(HostRequest::Leave { of: Some(shown.into()) });
    }

    pub fn vocabulary(&self, encoding: &str) -> PendingResponse<'_, Rc<Vocabulary>> {
        self.send_request(HostRequest::Vocabulary { encoding: encoding.into() }, |answer| match answer {
            HostResponse::Vocabulary(vocabulary) => Ok(vocabulary),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// What somebody beside the host makes: a counter, a model, a strategy.
    pub fn request_text(&self, need: HostRequest) -> PendingResponse<'_, String> {
        self.send_request(need, |answer| match answer {
            HostResponse::Text(made) => Ok(made),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// Of each text a vector, as [`HostRequest::Vectors`] says.
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

    /// Of each whether it is certainly gone.
    pub fn are_gone(&self, processes: Vec<Lease>) -> PendingResponse<'_, Vec<bool>> {
        self.send_request(HostRequest::Gone { processes }, |answer| match answer {
            HostResponse::Flags(gone) => Ok(gone),
            other => Err(unexpected_response_error(other)),
        })
    }

    /// What leaves, JSON, as it may.
    pub async fn redact_outgoing(&self, json: String) -> Result<RedactionResponse, Trouble> {
        RedactionResponse::from_json(&self.request_text(HostRequest::Out { bytes: json.into_bytes() }).await?)
    }

    /// The secrets in each of some texts, by the core's rules and the host's.
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

    /// The next document of an agent's file.
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

    /// Which command began a conversation, JSON.
    #[cfg(feature = "interop")]
    pub fn find_command(&self, said: Vec<u8>) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::Command { bytes: said })
    }

    #[cfg(feature = "interop")]
    pub fn real_path(&self, path: &str) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::RealPath { path: path.into() })
    }

    pub fn normalize_text(&self, path: &str) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::Normal { path: path.into() })
    }

    pub fn strip_marks(&self, text: &str) -> PendingResponse<'_, String> {
        self.request_text(HostRequest::Unmarked { text: text.into() })
    }

    /// Until whoever reads wants more.
    pub fn write_page(&self, bytes: Vec<u8>) -> PendingResponse<'_, ()> {
        self.request_done(HostRequest::Page { bytes })
    }

    fn request_done(&self, need: HostRequest) -> PendingResponse<'_, ()> {
        self.send_request(need, |answer| match answer {
            HostResponse::Done => Ok(()),
            other => Err(unexpected_response_error(other)),
        })
    }
}

/// What another answer says: why it failed, or that the host has mixed something up.
fn unexpected_response_error(answer: HostResponse) -> Trouble {
    match answer {
        HostResponse::Failed(failure) => failure.into(),
        other => {
            let found = describe_response(&other);
            Trouble::internal(format!("expected an answer to what was needed, but found {found} instead"))
        }
    }
}

// Only the kind: it may hold what was said.
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
        HostResponse::Ran(_) => "what git said",
        #[cfg(feature = "interop")]
        HostResponse::Document(_) => "a document",
        HostResponse::Failed(_) => "a failure",
    }
}
