//! What is indexed of a log: its messages as they may leave, without what stands there for a secret.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use super::aside::read;
use super::{Batches, Leaving, Redact};
use crate::layout::File;
use crate::operation::live::Live;
use crate::operation::{Io, Trouble, Work};
use crate::record::blob;
use crate::record::message::Message;

/// Finds what messages are to be indexed without.
pub(in crate::operation) trait Hides {
    /// What takes out the secrets of a log up to the end of a part of it, and how many the log has before the part and with it.
    fn of_log<'a>(
        &'a self,
        io: &'a Io,
        log: &'a File,
        part: Range<u64>,
    ) -> Work<'a, (Rc<dyn Hides>, [u32; 2])>;

    /// Messages of that log without them.
    fn hidden<'a>(&'a self, io: &'a Io, live: &'a Live, messages: Vec<Message>) -> Work<'a, Vec<Message>>;
}

impl Hides for Leaving {
    fn of_log<'a>(
        &'a self,
        io: &'a Io,
        log: &'a File,
        part: Range<u64>,
    ) -> Work<'a, (Rc<dyn Hides>, [u32; 2])> {
        Box::pin(async move {
            let own = Leaving::new(&self.door.apart(io, Redact::Replace).await?);
            own.part(io, log, 0..part.start).await?;
            let before = own.count();
            own.part(io, log, part).await?;
            let counts = [before, own.count()];
            Ok((own as Rc<dyn Hides>, counts))
        })
    }

    fn hidden<'a>(&'a self, io: &'a Io, live: &'a Live, messages: Vec<Message>) -> Work<'a, Vec<Message>> {
        Box::pin(async move {
            if self.count() == 0 && messages.iter().all(|message| blob::named(message).is_empty()) {
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
        })
    }
}

impl Leaving {
    async fn part(&self, io: &Io, log: &File, part: Range<u64>) -> Result<(), Trouble> {
        let mut batches = Batches { file: log.clone(), at: part.start, size: part.end };
        while let Some((bytes, _)) = batches.next(io).await? {
            self.keep(io, &bytes, true).await?;
        }
        Ok(())
    }

    fn count(&self) -> u32 {
        self.secrets.borrow().len() as u32
    }

    async fn without_secrets(&self, io: &Io, messages: Vec<Message>) -> Result<Vec<Message>, Trouble> {
        let left = self.each_left(io, &messages).await?;
        left.into_iter().map(|json| self.without_placeholders(json)).map(read).collect()
    }
}
