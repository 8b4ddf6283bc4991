//! Contexts of messages that are nowhere stored: as a session of them would give, without its files.

use alloc::string::String;
use alloc::vec::Vec;

use super::append::Counts;
use super::built::{Holder, built};
use super::context::Asked;
use super::passed::whole;
use super::summarizing::written_of;
use super::summary::{Wanted, Written};
use super::{Io, Operation, Trouble};
use crate::context::{Build, Recollection};
use crate::json::blob::Blob;
use crate::json::request;
use crate::record::message::Message;
use crate::record::span::Span;
use crate::session::handle::{Session, Staged};
use crate::session::needs::Needs;
use crate::session::reader::{Reader, Revisions};
use crate::shapes;

/// What a model call gets of messages, JSON in leftoff's shape, that are nowhere stored. `asked`: as
/// [`Live::context`](super::Live::context) reads it, and the `model` of the conversation, which holds where the request names none; `counts`:
/// how the messages are counted. Answer: as of that one.
///
/// Its needs are counts, a vocabulary and a model's summary.
///
/// ```
/// use leftoff::operation::{Counts, Step, context_of};
/// use leftoff::time::Stamp;
///
/// let messages = r#"[{"role":"user","content":"Hello"}]"#;
/// let asked = r#"{"request":{"window":8000,"encoding":"estimate-1","format":"openai-chat"}}"#;
/// let mut operation = context_of(messages.into(), asked.into(), Counts::Estimate);
/// let stamp = Stamp { now_ms: 1_763_812_800_000, offset_minutes: 0, entropy: [7; 32] };
/// let Step::Done(Ok(context)) = operation.begin(stamp) else { panic!("expected nothing to be needed") };
/// assert!(context.starts_with(r#"{"messages":[{"role":"user","content":"Hello"}],"#));
/// ```
pub fn context_of(messages: String, asked: String, counts: Counts) -> Operation<'static, String> {
    Operation::new(|io| async move {
        let bad = &mut Vec::new();
        let known = "request, model, summarizes, embeds or leaves";
        let model = request::read(&asked, known)?.take("model", bad);
        request::refuse_bad(bad)?;
        let (asked, _) = Asked::read(&asked, model, None, &counts)?;
        let unstored = Unstored::of(shapes::copies(&messages)?, &io, &counts)?;
        let built = built(&unstored, &io, &asked, unstored.session.source()).await?;
        let (messages, rest) = built.write(&asked.request);
        Ok(whole(&messages, &rest))
    })
}

// A session and its log, in memory.
struct Unstored {
    session: Session,
    log: Vec<u8>,
    blobs: Vec<Blob>,
}

impl Unstored {
    fn of(messages: Vec<Message>, io: &Io, counts: &Counts) -> Result<Unstored, Trouble> {
        let mut session = Session::new(None);
        if messages.is_empty() {
            return Ok(Unstored { session, log: Vec::new(), blobs: Vec::new() });
        }
        let Staged { bytes, blobs } = session.stage_messages(messages, &io.stamp(), counts.counting())?;
        session.commit_messages(0)?;
        while let Some(span) = session.unlearned() {
            session.learn(part(&bytes, span));
        }
        Ok(Unstored { session, log: bytes, blobs })
    }

    fn blob_of(&self, id: &str) -> Option<&[u8]> {
        self.blobs.iter().find(|blob| blob.id == id).map(|blob| &*blob.bytes)
    }

    // Those of the current path, each as its highest revision.
    fn within(&self, range: Span) -> Vec<Message> {
        let bytes = part(&self.log, range);
        let mut revisions = Revisions::new(range.start);
        revisions.feed(bytes);
        let mut reader = Reader::oldest_first(range.start, revisions);
        reader.feed(bytes);
        reader.finish();
        let mut messages = Vec::new();
        loop {
            let batch = reader.batch();
            messages.extend(batch.messages);
            match batch.needs {
                Some(Needs::Blob { id }) => reader.blob(&id, self.blob_of(&id)),
                Some(Needs::Bytes { range }) => reader.bytes(range.start, part(&self.log, range)),
                Some(_) | None => break,
            }
        }
        let is_on = self.session.are_on_path(messages.iter().map(|message| message.id.as_str()));
        messages.into_iter().zip(is_on).filter(|(_, is_on)| *is_on).map(|(message, _)| message).collect()
    }
}

impl Holder for Unstored {
    async fn bytes(&self, _: &Io, range: Span) -> Result<Vec<u8>, Trouble> {
        Ok(part(&self.log, range).into())
    }

    async fn looked_up(&self, _: &Io, build: &mut Build) -> Result<(), Trouble> {
        build.scans(true); // It lies in memory, however long it is.
        Ok(())
    }

    fn recalls(&self, _: Option<Recollection>) {}

    async fn blob(&self, _: &Io, id: &str) -> Result<Option<Vec<u8>>, Trouble> {
        Ok(self.blob_of(id).map(Vec::from))
    }

    async fn summary(&self, io: &Io, wanted: Wanted, asked: &Asked) -> Result<Written, Trouble> {
        if !asked.summarizes {
            return Ok(Written::default());
        }
        written_of(io, self.within(wanted.range), wanted.tokens, asked).await
    }
}

fn part(log: &[u8], Span { start, end }: Span) -> &[u8] {
    log.get(start as usize..end as usize).unwrap_or_default()
}
