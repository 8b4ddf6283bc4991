//! The side of the protocol that operations see: what they ask, as if it were at hand.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

#[cfg(feature = "interop")]
use super::Document;
use super::passed::Out;
use super::{Answer, Entry, Need, Ran, Stat, Trouble, Work};
use crate::error::Code;
use crate::layout::File;
use crate::privacy::{Span, secrets};
use crate::record::id;
use crate::session::lease::{Lease, Process};
use crate::time::Stamp;
use crate::tokens::Vocabulary;

// So many bytes before a place say whether a file goes on there as it was.
#[cfg(feature = "interop")]
const TAIL: u64 = 4096;

/// What lies between an operation and its host: the needs of this step, and the answers to those of the last.
#[derive(Default)]
pub(crate) struct Desk {
    pub asked: Vec<Need>,
    pub stamp: Option<Stamp>,
    // The number of the first of `asked`, and of `answers`: needs are numbered through all steps.
    asked_from: usize,
    answers_from: usize,
    answers: Vec<Option<Answer>>,
    stamped: u32,
}

impl Desk {
    pub fn hear(&mut self, now_ms: i64, answers: Vec<Answer>) {
        if let Some(stamp) = &mut self.stamp {
            stamp.now_ms = now_ms;
        }
        self.answers_from = self.asked_from;
        self.asked_from += answers.len();
        self.answers = answers.into_iter().map(Some).collect();
    }

    fn ask(&mut self, need: Need) -> usize {
        self.asked.push(need);
        self.asked_from + self.asked.len() - 1
    }

    fn answer(&mut self, number: usize) -> Option<Answer> {
        let place = number.checked_sub(self.answers_from)?;
        self.answers.get_mut(place)?.take()
    }
}

/// The random bytes of an operation, and which one that was.
pub(crate) type Chance = ([u8; 32], Weak<RefCell<Desk>>);

/// What an operation asks its host by.
#[derive(Clone)]
pub(crate) struct Io(pub Rc<RefCell<Desk>>);

/// An answer on its way. It is plain, so that the futures that wait for one stay small: what is asked lies on the desk already.
pub(crate) struct Reply<'a, T> {
    io: &'a Io,
    number: usize,
    read: fn(Answer) -> Result<T, Trouble>,
}

impl<T> Future for Reply<'_, T> {
    type Output = Result<T, Trouble>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<T, Trouble>> {
        let answer = self.io.0.borrow_mut().answer(self.number);
        answer.map_or(Poll::Pending, |answer| Poll::Ready((self.read)(answer)))
    }
}

/// What a file is like right after an append.
pub(crate) struct Appended {
    pub end: u64,
    pub seen: Option<Stat>,
}

impl Io {
    /// The moment, and another chance each time: the host's, then what follows from it.
    pub fn stamp(&self) -> Stamp {
        let mut desk = self.0.borrow_mut();
        let mut stamp = desk.stamp.expect("an operation runs only within a step");
        if desk.stamped > 0 {
            stamp.entropy = id::chance_after(&stamp.entropy, desk.stamped);
        }
        desk.stamped += 1;
        stamp
    }

    /// The chance of this operation; refused where another one had it before: what is stored would have the ids of what is there, and
    /// be taken for it. `last` is that of the last one by which something was stored.
    pub fn fresh_chance(&self, last: &RefCell<Option<Chance>>) -> Result<Option<Chance>, Trouble> {
        let entropy = self.0.borrow().stamp.map(|stamp| stamp.entropy);
        let is_repeated = |(of, desk): &Chance| Some(*of) == entropy && !desk.ptr_eq(&Rc::downgrade(&self.0));
        if last.borrow().as_ref().is_some_and(is_repeated) {
            let message = "expected new random bytes for each operation, but found those of the last one that stored something";
            return Err(Trouble::refused(Code::InvalidRequest, message));
        }
        Ok(entropy.map(|entropy| (entropy, Rc::downgrade(&self.0))))
    }

    pub fn now_ms(&self) -> i64 {
        self.0.borrow().stamp.map_or(0, |stamp| stamp.now_ms)
    }

    fn ask<T>(&self, need: Need, read: fn(Answer) -> Result<T, Trouble>) -> Reply<'_, T> {
        Reply { io: self, number: self.0.borrow_mut().ask(need), read }
    }

    /// May be shorter than asked for.
    pub fn read(&self, file: &File, start: u64, end: Option<u64>) -> Reply<'_, Option<Vec<u8>>> {
        self.ask(Need::Read { file: file.clone(), start, end }, |answer| match answer {
            Answer::Bytes(bytes) => Ok(bytes),
            other => Err(unmeant(other)),
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
    pub fn read_all(&self, file: &File) -> Reply<'_, Option<Vec<u8>>> {
        self.read(file, 0, None)
    }

    pub fn stat(&self, file: &File) -> Reply<'_, Option<Stat>> {
        self.ask(Need::Stat { file: file.clone() }, |answer| match answer {
            Answer::Stat(stat) => Ok(stat),
            other => Err(unmeant(other)),
        })
    }

    pub fn list(&self, folder: &File) -> Reply<'_, Option<Vec<Entry>>> {
        self.list_with(folder, &[])
    }

    /// `names`: of files that are looked at in each folder there.
    pub fn list_with(&self, folder: &File, names: &[&'static str]) -> Reply<'_, Option<Vec<Entry>>> {
        self.ask(Need::List { folder: folder.clone(), names: names.into() }, |answer| match answer {
            Answer::Entries(entries) => Ok(entries),
            other => Err(unmeant(other)),
        })
    }

    /// `within`: a folder that is not made where it is missing.
    pub fn append(
        &self,
        file: &File,
        bytes: Vec<u8>,
        durable: bool,
        within: Option<&File>,
    ) -> Reply<'_, Appended> {
        let within = within.map(|folder| folder.path.clone());
        self.ask(Need::Append { file: file.clone(), bytes, durable, within }, |answer| match answer {
            Answer::End(end, seen) => Ok(Appended { end, seen }),
            other => Err(unmeant(other)),
        })
    }

    /// `within` as in `append`.
    pub fn replace(&self, file: &File, bytes: Vec<u8>, within: Option<&File>) -> Reply<'_, ()> {
        let within = within.map(|folder| folder.path.clone());
        self.done(Need::Replace { file: file.clone(), bytes, within })
    }

    pub fn keep(&self, file: &File, bytes: Vec<u8>) -> Reply<'_, ()> {
        self.done(Need::Keep { file: file.clone(), bytes })
    }

    /// The first bytes of what the caller has saved.
    pub fn given(&self, end: u64) -> Reply<'_, Vec<u8>> {
        self.ask(Need::Given { end }, |answer| match answer {
            Answer::Bytes(bytes) => Ok(bytes.unwrap_or_default()),
            other => Err(unmeant(other)),
        })
    }

    /// What the caller has saved, into a file; `at`: behind how many of the bytes.
    pub fn put(&self, file: &File, bytes: Vec<u8>, at: u64) -> Reply<'_, ()> {
        self.done(Need::Put { file: file.clone(), bytes, at })
    }

    /// A part of a file to the caller: how many bytes that are; nothing where no file is.
    pub fn hand(&self, file: &File, start: u64, end: u64) -> Reply<'_, Option<u64>> {
        self.ask(Need::Hand { file: file.clone(), start, end }, |answer| match answer {
            Answer::End(length, _) => Ok(Some(length)),
            Answer::Bytes(None) => Ok(None),
            other => Err(unmeant(other)),
        })
    }

    /// The hash of a part of a file; nothing where the file is shorter.
    pub fn hash(&self, file: &File, start: u64, end: u64) -> Reply<'_, Option<String>> {
        self.ask(Need::Hash { file: file.clone(), start, end }, |answer| match answer {
            Answer::Text(hash) => Ok(Some(hash)),
            Answer::Done => Ok(None),
            other => Err(unmeant(other)),
        })
    }

    pub fn remove(&self, file: &File) -> Reply<'_, ()> {
        self.done(Need::Remove { file: file.clone() })
    }

    pub fn rename(&self, from: &File, to: &File) -> Reply<'_, ()> {
        self.done(Need::Move { from: from.clone(), to: to.clone() })
    }

    /// All in a folder, or a file; `missing`: only what is not there. How many bytes that were.
    pub fn copy(&self, from: &File, to: &File, missing: bool) -> Reply<'_, u64> {
        self.ask(Need::Copy { from: from.clone(), to: to.clone(), missing }, |answer| match answer {
            Answer::End(bytes, _) => Ok(bytes),
            other => Err(unmeant(other)),
        })
    }

    /// `target`: as people call it.
    pub fn link(&self, file: &File, target: &str) -> Reply<'_, ()> {
        self.done(Need::Link { file: file.clone(), target: target.into() })
    }

    /// `need`: of git; nothing where it cannot be run.
    pub fn git(&self, need: Need) -> Reply<'_, Option<Ran>> {
        self.ask(need, |answer| match answer {
            Answer::Ran(ran) => Ok(ran),
            other => Err(unmeant(other)),
        })
    }

    /// The session is this operation's alone until it leaves: what it asks meanwhile is answered soon.
    pub fn turn(&self) -> Reply<'_, ()> {
        self.done(Need::Turn { of: None })
    }

    /// Nobody waits for that: it goes to the host along with what is asked next, and an operation that ends has left.
    pub fn leave(&self) {
        self.0.borrow_mut().ask(Need::Leave { of: None });
    }

    /// The same for an operation of a store: of the session of a folder, open or not; or of the project, of what is asked of that one
    /// after another.
    pub fn turn_of(&self, shown: &str) -> Reply<'_, ()> {
        self.done(Need::Turn { of: Some(shown.into()) })
    }

    pub fn leave_of(&self, shown: &str) {
        self.0.borrow_mut().ask(Need::Leave { of: Some(shown.into()) });
    }

    pub fn vocabulary(&self, encoding: &str) -> Reply<'_, Rc<Vocabulary>> {
        self.ask(Need::Vocabulary { encoding: encoding.into() }, |answer| match answer {
            Answer::Vocabulary(vocabulary) => Ok(vocabulary),
            other => Err(unmeant(other)),
        })
    }

    /// What somebody beside the host makes: a counter, a model, a strategy.
    pub fn made(&self, need: Need) -> Reply<'_, String> {
        self.ask(need, |answer| match answer {
            Answer::Text(made) => Ok(made),
            other => Err(unmeant(other)),
        })
    }

    /// Of each text a vector, as [`Need::Vectors`] says.
    pub fn vectors(&self, texts: Vec<String>) -> Reply<'_, Vec<u8>> {
        self.ask(Need::Vectors { texts }, |answer| match answer {
            Answer::Bytes(vectors) => Ok(vectors.unwrap_or_default()),
            other => Err(unmeant(other)),
        })
    }

    pub fn wait(&self, ms: u32) -> Reply<'_, ()> {
        self.done(Need::Wait { ms })
    }

    pub fn process(&self) -> Reply<'_, Process> {
        self.ask(Need::Process, |answer| match answer {
            Answer::Process(process) => Ok(process),
            other => Err(unmeant(other)),
        })
    }

    /// Of each whether it is certainly gone.
    pub fn gone(&self, processes: Vec<Lease>) -> Reply<'_, Vec<bool>> {
        self.ask(Need::Gone { processes }, |answer| match answer {
            Answer::Flags(gone) => Ok(gone),
            other => Err(unmeant(other)),
        })
    }

    /// What leaves, JSON, as it may.
    pub async fn out(&self, json: String) -> Result<Out, Trouble> {
        Out::from_json(&self.made(Need::Out { bytes: json.into_bytes() }).await?)
    }

    /// The secrets in each of some texts, by the core's rules and the host's.
    pub async fn secrets(&self, texts: Vec<String>) -> Result<Vec<Vec<Span>>, Trouble> {
        let texts: Vec<String> = texts.into_iter().map(secrets::bare).collect();
        let mut of_host = Span::all_from_json(&self.made(Need::Secrets { texts: texts.clone() }).await?)?;
        if of_host.is_empty() {
            of_host.resize_with(texts.len(), Vec::new);
        }
        let is_place =
            |text: &str, span: &Span| span.start <= span.end && text.get(span.start..span.end).is_some();
        let is_in = |(text, spans): (&String, &Vec<Span>)| spans.iter().all(|span| is_place(text, span));
        if of_host.len() == texts.len() && texts.iter().zip(&of_host).all(is_in) {
            return Ok(texts.iter().zip(of_host).map(|(text, spans)| secrets::found(text, spans)).collect());
        }
        let message = "expected of each text where its secrets stand in it, but found other places";
        Err(Trouble::refused(Code::InvalidRequest, message))
    }

    /// The next document of an agent's file.
    #[cfg(feature = "interop")]
    pub fn document(&self, path: &str, only: &str, is_first: bool) -> Reply<'_, Option<Document>> {
        self.ask(Need::Document { path: path.into(), only: only.into(), is_first }, |answer| match answer {
            Answer::Document(document) => Ok(document),
            other => Err(unmeant(other)),
        })
    }

    /// Which command began a conversation, JSON.
    #[cfg(feature = "interop")]
    pub fn command(&self, said: Vec<u8>) -> Reply<'_, String> {
        self.made(Need::Command { bytes: said })
    }

    #[cfg(feature = "interop")]
    pub fn real_path(&self, path: &str) -> Reply<'_, String> {
        self.made(Need::RealPath { path: path.into() })
    }

    pub fn normal(&self, path: &str) -> Reply<'_, String> {
        self.made(Need::Normal { path: path.into() })
    }

    pub fn unmarked(&self, text: &str) -> Reply<'_, String> {
        self.made(Need::Unmarked { text: text.into() })
    }

    /// Until whoever reads wants more.
    pub fn page(&self, bytes: Vec<u8>) -> Reply<'_, ()> {
        self.done(Need::Page { bytes })
    }

    fn done(&self, need: Need) -> Reply<'_, ()> {
        self.ask(need, |answer| match answer {
            Answer::Done => Ok(()),
            other => Err(unmeant(other)),
        })
    }
}

/// What another answer says: why it failed, or that the host has mixed something up.
fn unmeant(answer: Answer) -> Trouble {
    match answer {
        Answer::Failed(failure) => failure.into(),
        other => {
            let found = kind(&other);
            Trouble::internal(format!("expected an answer to what was needed, but found {found} instead"))
        }
    }
}

// Only the kind: it may hold what was said.
fn kind(answer: &Answer) -> &'static str {
    match answer {
        Answer::Done => "none",
        Answer::Bytes(_) => "bytes",
        Answer::Stat(_) => "what a file is like",
        Answer::Entries(_) => "the entries of a folder",
        Answer::End(..) => "the end of a file",
        Answer::Process(_) => "a process",
        Answer::Flags(_) => "flags",
        Answer::Text(_) => "a text",
        Answer::Vocabulary(_) => "a vocabulary",
        Answer::Ran(_) => "what git said",
        #[cfg(feature = "interop")]
        Answer::Document(_) => "a document",
        Answer::Failed(_) => "a failure",
    }
}

/// Answers that were asked for in one step, and come in one.
pub(crate) async fn each<T>(replies: Vec<Reply<'_, T>>) -> Vec<Result<T, Trouble>> {
    let mut answers = Vec::new();
    for reply in replies {
        answers.push(reply.await);
    }
    answers
}

/// All of these at once: what they need comes in one step.
pub(crate) async fn all<'a, T>(mut works: Vec<Pin<Box<dyn Future<Output = T> + 'a>>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = works.iter().map(|_| None).collect();
    core::future::poll_fn(|context| {
        for (work, done) in works.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(value) = work.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// The same, so many at a time; what failed first ends it.
pub(crate) async fn some<'a, T>(
    mut works: impl Iterator<Item = Work<'a, T>>,
    most: usize,
) -> Result<Vec<T>, Trouble> {
    let mut done = Vec::new();
    loop {
        let next: Vec<_> = works.by_ref().take(most).collect();
        if next.is_empty() {
            return Ok(done);
        }
        for one in all(next).await {
            done.push(one?);
        }
    }
}

/// Both at once.
pub(crate) async fn both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (None, None);
    core::future::poll_fn(|context| {
        if first.is_none()
            && let Poll::Ready(value) = one.as_mut().poll(context)
        {
            first = Some(value);
        }
        if second.is_none()
            && let Poll::Ready(value) = other.as_mut().poll(context)
        {
            second = Some(value);
        }
        match (first.take(), second.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (first, second) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}
