//! What is indexed of a log: its messages as they may leave, without what stands there for a secret.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::aside::read;
use super::{Batches, Door, Leaving, Redact};
use crate::layout::{File, MESSAGES};
use crate::operation::live::Live;
use crate::operation::{Io, Trouble, Work};
use crate::privacy::{Known, blanked};
use crate::recall::documents::Sink;
use crate::recall::lines::Lines;
use crate::record::blob;
use crate::record::message::Message;

/// What a log has that was looked through, and what it ended with.
#[derive(Clone, Debug)]
pub(super) struct Log {
    own: Rc<Leaving>,
    tail: Vec<u8>,
}

/// Finds what messages are to be indexed without.
pub(in crate::operation) trait Hides {
    /// What takes out the secrets of the log in a folder.
    fn of_log<'a>(&'a self, io: &'a Io, folder: &'a File) -> Work<'a, Rc<dyn Hides>>;

    /// How many of them lines have that begin before that byte.
    fn count(&self, end: u64) -> u32;

    /// Whether the log has parts before that byte of one that only lines behind it tell.
    fn tells_more<'a>(&'a self, io: &'a Io, folder: &'a File, from: u64) -> Work<'a, bool>;

    /// Takes the lines of that log which were scanned, without them.
    fn take_all<'a>(
        &'a self,
        io: &'a Io,
        live: &'a Live,
        lines: &'a mut Lines,
        sink: &'a mut dyn Sink,
    ) -> Work<'a, ()>;
}

impl Hides for Leaving {
    fn of_log<'a>(&'a self, io: &'a Io, folder: &'a File) -> Work<'a, Rc<dyn Hides>> {
        Box::pin(async move { Ok(self.door.of_log(io, folder).await? as Rc<dyn Hides>) })
    }

    fn count(&self, end: u64) -> u32 {
        let end = end.min(self.end());
        self.places.borrow().iter().filter(|place| **place < end).count() as u32
    }

    fn tells_more<'a>(&'a self, io: &'a Io, folder: &'a File, from: u64) -> Work<'a, bool> {
        Box::pin(async move {
            let secrets = self.secrets.borrow().clone().into_iter().zip(self.places.borrow().clone());
            let new = secrets.filter(|(_, place)| (from..self.end()).contains(place));
            let new: Vec<_> = new.map(|(secret, _)| secret).collect();
            if new.is_empty() {
                return Ok(false);
            }
            let known = Known::new(new);
            let mut batches = Batches { file: folder.below(MESSAGES), at: 0, size: from };
            while let Some((bytes, _)) = batches.next(io).await? {
                if !known.find(&String::from_utf8_lossy(&bytes)).is_empty() {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    fn take_all<'a>(
        &'a self,
        io: &'a Io,
        live: &'a Live,
        lines: &'a mut Lines,
        sink: &'a mut dyn Sink,
    ) -> Work<'a, ()> {
        Box::pin(async move {
            let (messages, places): (Vec<_>, Vec<_>) = core::iter::from_fn(|| lines.said()).unzip();
            let hidden = self.hidden(io, live, messages).await?;
            hidden.into_iter().zip(places).for_each(|said| lines.take(said, sink));
            Ok(())
        })
    }
}

impl Leaving {
    async fn goes_on(&self, io: &Io, log: &File) -> Result<bool, Trouble> {
        let before = self.read.borrow().get(MESSAGES).copied();
        Ok(before.zip(io.stat(log).await?).is_some_and(|(before, now)| before.goes_on(&now)))
    }

    // Where the first line begins that is not whole yet: it may still say another secret.
    fn end(&self) -> u64 {
        self.read.borrow().get(MESSAGES).map_or(0, |read| read.end)
    }

    async fn hidden(&self, io: &Io, live: &Live, messages: Vec<Message>) -> Result<Vec<Message>, Trouble> {
        if self.secrets.borrow().is_empty() && messages.iter().all(|message| blob::named(message).is_empty())
        {
            return Ok(messages);
        }
        let mut hidden = Vec::with_capacity(messages.len());
        let mut whole = Vec::new();
        for mut message in messages {
            // Nothing is indexed of them.
            message.attachments.clear();
            if blob::named(&message).is_empty() {
                whole.push(message);
                continue;
            }
            hidden.extend(self.without_secrets(io, core::mem::take(&mut whole)).await?);
            let unfolded = live.unfolded(io, message).await?;
            for mut message in self.without_secrets(io, Vec::from([unfolded])).await? {
                blob::take_out(&mut message);
                hidden.push(message);
            }
        }
        hidden.extend(self.without_secrets(io, whole).await?);
        Ok(hidden)
    }

    async fn without_secrets(&self, io: &Io, messages: Vec<Message>) -> Result<Vec<Message>, Trouble> {
        let left = self.each_left(io, &messages).await?;
        left.into_iter().map(|json| read(blanked(&json))).collect()
    }
}

impl Door {
    /// What the log in a folder has by now, whose secrets are replaced. As long as it grows it is looked through once.
    pub(super) async fn of_log(&self, io: &Io, folder: &File) -> Result<Rc<Leaving>, Trouble> {
        let log = folder.below(MESSAGES);
        let known = self.logs.borrow().get(folder).cloned();
        let own = match known {
            Some(Log { own, tail })
                if own.goes_on(io, &log).await? && io.read_tail(&log, own.end()).await? == tail =>
            {
                own
            }
            _ => Leaving::new(&self.apart(io, Redact::Replace).await?),
        };
        let before = own.end();
        own.file(io, folder, MESSAGES, u64::MAX).await?;
        if own.end() > before {
            let tail = io.read_tail(&log, own.end()).await?;
            self.logs.borrow_mut().insert(folder.clone(), Log { own: own.clone(), tail });
        }
        Ok(own)
    }
}
