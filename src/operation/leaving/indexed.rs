//! What is indexed of a log: its messages as they may leave, without what stands there for a secret.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use super::aside::read;
use super::{Door, Leaving, Redact};
use crate::layout::{File, MESSAGES};
use crate::operation::live::Live;
use crate::operation::{Io, Trouble, Work};
use crate::privacy::blanked;
use crate::recall::documents::Sink;
use crate::recall::lines::Lines;
use crate::record::blob;
use crate::record::message::Message;

/// Finds what messages are to be indexed without.
pub(in crate::operation) trait Hides {
    /// What takes out the secrets of the log in a folder, and how many the log has before a part of it and up to its end.
    fn of_log<'a>(
        &'a self,
        io: &'a Io,
        folder: &'a File,
        part: Range<u64>,
    ) -> Work<'a, (Rc<dyn Hides>, [u32; 2])>;

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
    fn of_log<'a>(
        &'a self,
        io: &'a Io,
        folder: &'a File,
        part: Range<u64>,
    ) -> Work<'a, (Rc<dyn Hides>, [u32; 2])> {
        Box::pin(async move {
            let own = self.door.of_log(io, folder).await?;
            let counts = [part.start, part.end].map(|end| own.count(end));
            Ok((own as Rc<dyn Hides>, counts))
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

    // How many of its secrets are met before that byte of the log.
    fn count(&self, end: u64) -> u32 {
        self.places.borrow().iter().filter(|place| **place < end).count() as u32
    }

    async fn without_secrets(&self, io: &Io, messages: Vec<Message>) -> Result<Vec<Message>, Trouble> {
        let left = self.each_left(io, &messages).await?;
        left.into_iter().map(|json| read(blanked(&json))).collect()
    }
}

impl Door {
    /// What the log in a folder has by now, whose secrets are replaced. As long as it grows it is looked through once.
    pub(super) async fn of_log(&self, io: &Io, folder: &File) -> Result<Rc<Leaving>, Trouble> {
        let looked = io.stat(&folder.below(MESSAGES)).await?;
        let goes_on = |own: &Rc<Leaving>| {
            let before = own.read.borrow().get(MESSAGES).copied();
            before.zip(looked).is_some_and(|(before, now)| before.goes_on(&now))
        };
        let known = self.logs.borrow().get(folder).cloned().filter(goes_on);
        let own = match known {
            Some(own) => own,
            None => Leaving::new(&self.apart(io, Redact::Replace).await?),
        };
        own.file(io, folder, MESSAGES, u64::MAX).await?;
        self.logs.borrow_mut().insert(folder.clone(), own.clone());
        Ok(own)
    }
}
