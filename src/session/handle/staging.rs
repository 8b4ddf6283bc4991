//! Stages messages: gives each an id, a time, a parent and a count.

use alloc::vec::Vec;

use crate::error::Error;
use crate::json::text::Extra;
use crate::record::batch::Batch;
use crate::record::blob;
use crate::record::id;
use crate::record::message::{Message, Tokens};
use crate::session::handle::{Session, StagedBatch};
use crate::time::{self, Stamp};
use crate::tokens::{Count, Counting};

impl Session {
    /// Stages messages as one batch and returns the bytes to append. A draft without an id gets one, and follows the
    /// last message; one without a time is of now, unless it comes from elsewhere: there nobody knows when it was
    /// said.
    ///
    /// # Errors
    /// Those of [`Log`](crate::session::log::Log): `batch_open`, `observe_first`, `line_too_long`.
    pub fn stage_messages(
        &mut self,
        drafts: Vec<Message>,
        stamp: &Stamp,
        counting: Counting<'_>,
    ) -> Result<StagedBatch, Error> {
        self.stage_batch(drafts, stamp, counting, None)
    }

    /// The same, as a batch with conditions.
    ///
    /// # Errors
    /// Those of [`Session::stage_messages`].
    pub(crate) fn stage_batch(
        &mut self,
        drafts: Vec<Message>,
        stamp: &Stamp,
        counting: Counting<'_>,
        of: Option<&Batch>,
    ) -> Result<StagedBatch, Error> {
        self.reject_newer()?;
        let mut cumulative = self.log_state.tokens;
        let chosen = self.current_last_id();
        let mut is_chosen = chosen.is_some();
        let mut last = chosen.or_else(|| self.log_state.last_id.clone());
        let mut records = Vec::with_capacity(drafts.len());
        let mut blobs = Vec::new();
        for (place, mut message) in drafts.into_iter().enumerate() {
            let has_id = !message.id.is_empty();
            if !has_id {
                let own = |batch: &Batch| batch.id_of(&self.metadata.id, place);
                message.id = of.map_or_else(|| id::new(stamp, place as u32), own);
            }
            let is_known = self.branches.has_message(&message.id);
            // Without a parent, a message with an id would belong to the branch of the line before it.
            if !has_id || is_chosen && !is_known {
                message.parent_id = message.parent_id.or_else(|| last.clone());
            }
            message.seq = Some(self.log_state.messages + place as u64);
            let is_of_now = message.timestamp.is_none() && message.source.is_none();
            message.timestamp = if is_of_now { Some(time::format(stamp.now_ms)) } else { message.timestamp };
            message.tokens = counting.count_message(&message).map(|Count { tokens, encoding: by }| {
                cumulative += u64::from(tokens);
                let (cumulative, by) = (Some(cumulative), Some(by.as_str().into()));
                Tokens { count: tokens, cumulative, by, extra: Extra::default() }
            });
            // A revision takes the place of its message. A session begun at a checkpoint does not know all messages.
            let is_anew = is_known
                || message.rev > 0
                    && (self.is_from_checkpoint || records.iter().any(|one: &Message| one.id == message.id));
            if is_anew {
                // It may be of another branch, and its line is then the last one.
                is_chosen |= self.is_branched();
            } else {
                last = Some(message.id.clone());
            }
            blobs.extend(blob::move_to_blobs(&mut message));
            records.push(message);
        }
        let bytes = self.messages.stage_batch(&records, of)?;
        self.staged_messages = records;
        Ok(StagedBatch { bytes, blobs })
    }
}
