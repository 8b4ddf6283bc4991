//! Builds contexts of messages that are stored nowhere: the same as a session of them would give, without its files.

use alloc::string::String;
use alloc::vec::Vec;

use super::append::CountingMode;
use super::context::ContextRequest;
use super::context_build::{InputProvider, build_context};
use super::outgoing_context::join_context_json;
use super::stored_summaries::{SummaryRequest, SummaryResponse};
use super::summary_writing::summarize_messages;
use super::{Io, Operation, Trouble};
use crate::context::{Build, Recollection};
use crate::json::blob::Blob;
use crate::json::request;
use crate::record::message::Message;
use crate::record::span::Span;
use crate::session::handle::{Session, StagedBatch};
use crate::session::input_request::InputRequest;
use crate::session::message_reader::{HighestRevisions, MessageReader};
use crate::shapes;

/// Builds what a model call gets from messages, JSON in leftoff's shape, that are stored nowhere. `asked`: as
/// [`SessionFiles::context`](super::SessionFiles::context) reads it, and the conversation's `model`, which holds
/// where the request names none; `counts`: how the messages are counted. Returns what that one does.
///
/// It requests counts, a vocabulary and a model's summary at most.
///
/// ```
/// use leftoff::operation::{CountingMode, Step, context_of};
/// use leftoff::time::Stamp;
///
/// let messages = r#"[{"role":"user","content":"Hello"}]"#;
/// let asked = r#"{"request":{"window":8000,"encoding":"estimate-1","format":"openai-chat"}}"#;
/// let mut operation = context_of(messages.into(), asked.into(), CountingMode::Estimate);
/// let stamp = Stamp { now_ms: 1_763_812_800_000, offset_minutes: 0, entropy: [7; 32] };
/// let Step::Done(Ok(context)) = operation.begin(stamp) else { panic!("expected nothing to be needed") };
/// assert!(context.starts_with(r#"{"messages":[{"role":"user","content":"Hello"}],"#));
/// ```
pub fn context_of(messages: String, request: String, counts: CountingMode) -> Operation<'static, String> {
    Operation::new(|io| async move {
        let bad = &mut Vec::new();
        let known = "request, model, summarizes, embeds or leaves";
        let model = request::parse(&request, known)?.take("model", bad);
        request::reject_bad(bad)?;
        let (request, _) = ContextRequest::parse(&request, model, None, &counts, false)?;
        let unstored = MemorySession::of(shapes::read_copies(&messages)?, &io, &counts)?;
        let built = build_context(&unstored, &io, &request, unstored.session.source()).await?;
        let (messages, rest) = built.render_parts(&request.request);
        Ok(join_context_json(&messages, &rest))
    })
}

// A session and its log, in memory.
struct MemorySession {
    session: Session,
    log: Vec<u8>,
    blobs: Vec<Blob>,
}

impl MemorySession {
    fn of(messages: Vec<Message>, io: &Io, counts: &CountingMode) -> Result<MemorySession, Trouble> {
        let mut session = Session::new(None);
        if messages.is_empty() {
            return Ok(MemorySession { session, log: Vec::new(), blobs: Vec::new() });
        }
        let StagedBatch { bytes, blobs } =
            session.stage_messages(messages, &io.stamp(), counts.counting())?;
        session.commit_messages(0)?;
        while let Some(span) = session.unfolded_span() {
            session.fold_bytes(slice_of(&bytes, span));
        }
        Ok(MemorySession { session, log: bytes, blobs })
    }

    fn blob_of(&self, id: &str) -> Option<&[u8]> {
        self.blobs.iter().find(|blob| blob.id == id).map(|blob| &*blob.bytes)
    }

    // The messages of the current path, each as its highest revision.
    fn messages_in(&self, range: Span) -> Vec<Message> {
        let bytes = slice_of(&self.log, range);
        let mut revisions = HighestRevisions::new(range.start);
        revisions.feed(bytes);
        let mut reader = MessageReader::oldest_first(range.start, revisions);
        reader.feed(bytes);
        reader.finish();
        let mut messages = Vec::new();
        loop {
            let batch = reader.next_batch();
            messages.extend(batch.messages);
            match batch.needs {
                Some(InputRequest::Blob { id }) => reader.take_blob(&id, self.blob_of(&id)),
                Some(InputRequest::Bytes { range }) => {
                    reader.take_bytes(range.start, slice_of(&self.log, range))
                }
                Some(_) | None => break,
            }
        }
        let is_on = self.session.are_on_path(messages.iter().map(|message| message.id.as_str()));
        messages.into_iter().zip(is_on).filter(|(_, is_on)| *is_on).map(|(message, _)| message).collect()
    }
}

impl InputProvider for MemorySession {
    async fn bytes(&self, _: &Io, range: Span) -> Result<Vec<u8>, Trouble> {
        Ok(slice_of(&self.log, range).into())
    }

    async fn look_up_recalled(&self, _: &Io, build: &mut Build) -> Result<(), Trouble> {
        build.begin_scan(true); // The log is in memory, however long it is.
        Ok(())
    }

    fn cache_recollection(&self, _: Option<Recollection>) {}

    async fn blob(&self, _: &Io, id: &str) -> Result<Option<Vec<u8>>, Trouble> {
        Ok(self.blob_of(id).map(Vec::from))
    }

    async fn summary(
        &self,
        io: &Io,
        wanted: SummaryRequest,
        request: &ContextRequest,
    ) -> Result<SummaryResponse, Trouble> {
        if !request.summarizes {
            return Ok(SummaryResponse::default());
        }
        summarize_messages(io, self.messages_in(wanted.range), wanted.tokens, request).await
    }
}

fn slice_of(log: &[u8], Span { start, end }: Span) -> &[u8] {
    log.get(start as usize..end as usize).unwrap_or_default()
}
