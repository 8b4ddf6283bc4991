//! The side of the protocol that operations see: what they ask, as if it were at hand.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::{Answer, Entry, Need, Stat, Trouble};
use crate::layout::File;
use crate::record::id;
use crate::time::Stamp;
use crate::tokens::Vocabulary;

/// What lies between an operation and its host: the needs of this step, and the answers to those of the last.
#[derive(Default)]
pub(crate) struct Desk {
    pub asked: Vec<Need>,
    pub stamp: Option<Stamp>,
    answers: Vec<Option<Answer>>,
    stamped: u32,
}

impl Desk {
    pub fn hear(&mut self, now_ms: i64, answers: Vec<Answer>) {
        if let Some(stamp) = &mut self.stamp {
            stamp.now_ms = now_ms;
        }
        self.answers = answers.into_iter().map(Some).collect();
    }
}

/// What an operation asks its host by.
#[derive(Clone)]
pub(crate) struct Io(pub Rc<RefCell<Desk>>);

/// A need on its way: asked when it is polled first, answered when it is polled again.
struct Asked {
    desk: Rc<RefCell<Desk>>,
    need: Option<Need>,
    place: usize,
}

impl Future for Asked {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Answer> {
        let need = self.need.take();
        let desk = self.desk.clone();
        let mut desk = desk.borrow_mut();
        if let Some(need) = need {
            self.place = desk.asked.len();
            desk.asked.push(need);
            return Poll::Pending;
        }
        match desk.answers.get_mut(self.place).and_then(Option::take) {
            Some(answer) => Poll::Ready(answer),
            None => Poll::Pending,
        }
    }
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

    pub fn now_ms(&self) -> i64 {
        self.0.borrow().stamp.map_or(0, |stamp| stamp.now_ms)
    }

    async fn ask(&self, need: Need) -> Answer {
        Asked { desk: self.0.clone(), need: Some(need), place: 0 }.await
    }

    /// May be shorter than asked for.
    pub async fn read(&self, file: &File, start: u64, end: Option<u64>) -> Result<Option<Vec<u8>>, Trouble> {
        match self.ask(Need::Read { file: file.clone(), start, end }).await {
            Answer::Bytes(bytes) => Ok(bytes),
            other => Err(unmeant(other)),
        }
    }

    /// All of a part of a file that is there; empty where no file is.
    pub async fn read_range(&self, file: &File, start: u64, end: u64) -> Result<Vec<u8>, Trouble> {
        let mut all = self.read(file, start, Some(end)).await?.unwrap_or_default();
        while !all.is_empty() && (all.len() as u64) < end - start {
            let more = self.read(file, start + all.len() as u64, Some(end)).await?.unwrap_or_default();
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        Ok(all)
    }

    /// All of a file; nothing where none is.
    pub async fn read_all(&self, file: &File) -> Result<Option<Vec<u8>>, Trouble> {
        self.read(file, 0, None).await
    }

    pub async fn stat(&self, file: &File) -> Result<Option<Stat>, Trouble> {
        match self.ask(Need::Stat { file: file.clone() }).await {
            Answer::Stat(stat) => Ok(stat),
            other => Err(unmeant(other)),
        }
    }

    pub async fn list(&self, folder: &File) -> Result<Option<Vec<Entry>>, Trouble> {
        self.list_with(folder, &[]).await
    }

    /// `names`: of files that are looked at in each folder there.
    pub async fn list_with(
        &self,
        folder: &File,
        names: &[&'static str],
    ) -> Result<Option<Vec<Entry>>, Trouble> {
        match self.ask(Need::List { folder: folder.clone(), names: names.into() }).await {
            Answer::Entries(entries) => Ok(entries),
            other => Err(unmeant(other)),
        }
    }

    /// `within`: a folder that is not made where it is missing.
    pub async fn append(
        &self,
        file: &File,
        bytes: Vec<u8>,
        durable: bool,
        within: Option<&File>,
    ) -> Result<u64, Trouble> {
        let within = within.map(|folder| folder.path.clone());
        match self.ask(Need::Append { file: file.clone(), bytes, durable, within }).await {
            Answer::End(end) => Ok(end),
            other => Err(unmeant(other)),
        }
    }

    /// `within` as in `append`.
    pub async fn replace(&self, file: &File, bytes: Vec<u8>, within: Option<&File>) -> Result<(), Trouble> {
        let within = within.map(|folder| folder.path.clone());
        self.done(Need::Replace { file: file.clone(), bytes, within }).await
    }

    /// The hash of a part of a file; nothing where the file is shorter.
    pub async fn hash(&self, file: &File, start: u64, end: u64) -> Result<Option<String>, Trouble> {
        match self.ask(Need::Hash { file: file.clone(), start, end }).await {
            Answer::Text(hex) => Ok(Some(hex)),
            Answer::Done => Ok(None),
            other => Err(unmeant(other)),
        }
    }

    pub async fn remove(&self, file: &File) -> Result<(), Trouble> {
        self.done(Need::Remove { file: file.clone() }).await
    }

    pub async fn rename(&self, from: &File, to: &File) -> Result<(), Trouble> {
        self.done(Need::Move { from: from.clone(), to: to.clone() }).await
    }

    /// `target`: as people call it.
    pub async fn link(&self, file: &File, target: &str) -> Result<(), Trouble> {
        self.done(Need::Link { file: file.clone(), target: target.into() }).await
    }

    pub async fn git(&self, folder: &str) -> Result<String, Trouble> {
        self.made(Need::Git { folder: folder.into() }).await
    }

    /// The session is this operation's alone until it leaves: what it asks meanwhile is answered soon.
    pub async fn turn(&self) -> Result<(), Trouble> {
        self.done(Need::Turn).await
    }

    pub async fn leave(&self) -> Result<(), Trouble> {
        self.done(Need::Leave).await
    }

    pub async fn vocabulary(&self, encoding: &str) -> Result<Rc<Vocabulary>, Trouble> {
        match self.ask(Need::Vocabulary { encoding: encoding.into() }).await {
            Answer::Vocabulary(vocabulary) => Ok(vocabulary),
            other => Err(unmeant(other)),
        }
    }

    /// What somebody beside the host makes: a counter, a model, a strategy.
    pub async fn made(&self, need: Need) -> Result<String, Trouble> {
        match self.ask(need).await {
            Answer::Text(made) => Ok(made),
            other => Err(unmeant(other)),
        }
    }

    pub async fn wait(&self, ms: u32) -> Result<(), Trouble> {
        self.done(Need::Wait { ms }).await
    }

    /// Where a session lies now, and how people call that.
    pub async fn find(&self, id: &str) -> Result<Option<(File, String)>, Trouble> {
        match self.ask(Need::Find { id: id.into() }).await {
            Answer::Place(place) => Ok(place),
            other => Err(unmeant(other)),
        }
    }

    /// Until whoever reads wants more.
    pub async fn page(&self, bytes: Vec<u8>) -> Result<(), Trouble> {
        self.done(Need::Page { bytes }).await
    }

    async fn done(&self, need: Need) -> Result<(), Trouble> {
        match self.ask(need).await {
            Answer::Done => Ok(()),
            other => Err(unmeant(other)),
        }
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
        Answer::End(_) => "the end of a file",
        Answer::Text(_) => "a text",
        Answer::Vocabulary(_) => "a vocabulary",
        Answer::Place(_) => "a place",
        Answer::Failed(_) => "a failure",
    }
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
