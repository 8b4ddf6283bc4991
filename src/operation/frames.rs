//! Frames of contexts in the cache: a context that asks for one extends the last context of the same request, as long
//! as a provider still has that in its cache.
//!
//! A session has several frames beside each other: those of two models, of a preview. They lie in one file, which each
//! process reads and replaces. Of two that replace it at once one wins; the frame of the other is cut anew later, which
//! costs money but is never wrong.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use xxhash_rust::xxh64::xxh64;

use super::context::ContextRequest;
use super::logs::LogName;
use super::outgoing_context::{OutgoingContext, hash_bytes};
use super::session_files::SessionFiles;
use super::{Io, Trouble, unless_bug, unless_other};
use crate::context::{CacheReport, CallCost, Frame, FrameEnd, FrameName, Request};
use crate::json::fields::{Fields, parse_items};
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::names::CachedKind;
use crate::session::context_source::ContextSource;
use crate::shapes::Format;

/// The most frames that are kept of one session.
const MAX_FRAMES: usize = 16;
/// Providers keep a prefix for five minutes, unless they are paid for more.
const CACHE_LIFETIME_S: u32 = 300;
/// The most bytes of a log that are read again to verify a frame of another process.
const MAX_VERIFIED_BYTES: u64 = 1 << 20;
/// Digits of a message's hash.
const HASH_DIGITS: usize = 8;

/// A frame, and the last context that was built in it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct StoredFrame {
    // The hash of the request.
    key: String,
    // When its last context was built, in milliseconds since 1970.
    at: i64,
    frame: Frame,
    // The hashes of the messages that were sent, one behind the other, and the bytes that these took.
    sent: String,
    bytes: u64,
}

impl StoredFrame {
    fn name(&self) -> FrameName {
        FrameName { key: self.key.clone(), start: self.frame.start, end: self.frame.end }
    }

    fn parse(line: &str) -> Option<StoredFrame> {
        let bad = &mut Vec::new();
        let mut fields = Fields::parse(line).ok()?;
        Some(StoredFrame {
            key: fields.take("key", bad)?,
            at: fields.take("at", bad)?,
            frame: Frame::from_json(fields.take_raw("frame")?)?,
            sent: fields.take("sent", bad)?,
            bytes: fields.take("bytes", bad)?,
        })
    }

    // Returns why the frame has ended, if it has, before anything was read.
    fn find_end(&self, asked: &ContextRequest, source: &ContextSource, now_ms: i64) -> Option<FrameEnd> {
        let lifetime_ms = i64::from(asked.request.cache_lifetime_s.unwrap_or(CACHE_LIFETIME_S)) * 1000;
        let compacted = source.compaction.as_ref().map(|one| &one.last_message_id);
        if source.end < self.frame.end {
            return Some(FrameEnd::LogShrunk);
        }
        if compacted != self.frame.compacted.as_ref() {
            return Some(FrameEnd::Compacted);
        }
        if !self.frame.has_pins_of(source) {
            return Some(FrameEnd::Changed);
        }
        let is_cold = asked.request.is_cache_cold || now_ms - self.at > lifetime_ms;
        is_cold.then_some(FrameEnd::Cold)
    }
}

/// The messages of a context as they are sent: their hashes, one behind the other, and how many bytes each takes.
struct SentMessages {
    hashes: String,
    sizes: Vec<u64>,
}

impl SentMessages {
    fn of(json: &str) -> Result<SentMessages, Trouble> {
        let fields = request::parse_object(json)?;
        let items = parse_items(fields.raw("messages").unwrap_or("[]")).unwrap_or_default();
        let hash = |item: &&str| format!("{:08x}", xxh64(item.as_bytes(), 0) as u32);
        Ok(SentMessages {
            hashes: items.iter().map(hash).collect(),
            sizes: items.iter().map(|item| item.len() as u64).collect(),
        })
    }

    fn byte_len(&self) -> u64 {
        self.sizes.iter().sum()
    }

    // Returns how many messages at the beginning are those of the last context.
    fn count_unchanged(&self, last: &str) -> usize {
        let both = self.hashes.as_bytes().chunks(HASH_DIGITS).zip(last.as_bytes().chunks(HASH_DIGITS));
        both.take_while(|(now, then)| now == then).count()
    }
}

impl ContextRequest {
    // Hashes what a frame depends on: all of a request but when its cache is cold.
    fn frame_key(&self) -> String {
        let request = Request {
            cache_lifetime_s: None,
            is_cache_cold: false,
            marks_cache: false,
            prices: None,
            assumed: None,
            ..self.request.clone()
        };
        hash_bytes(format!("{request:?}{}{}", self.is_outgoing, self.summarizes).as_bytes())
    }
}

impl SessionFiles {
    /// Builds a context and redacts it; where a frame is asked for, the context extends the last one of its request.
    pub(super) async fn build_framed(
        &self,
        io: &Io,
        asked: &ContextRequest,
        source: ContextSource,
    ) -> Result<OutgoingContext, Trouble> {
        if asked.request.fill.is_none() || !asked.request.strategies.is_empty() {
            return self.build_outgoing(io, asked, source).await;
        }
        let key = asked.frame_key();
        let mut frames = self.read_frames(io).await?;
        let known = frames.iter().position(|one| one.key == key).map(|place| frames.remove(place));
        let mut ended = match &known {
            Some(known) => known.find_end(asked, &source, io.now_ms()),
            None => Some(FrameEnd::None),
        };
        if let (Some(known), None) = (&known, ended) {
            ended = self.verify_frame(io, known).await?;
        }
        if let (Some(known), None) = (&known, ended) {
            let extending = ContextRequest { frame: Some(known.frame.clone()), ..asked.clone() };
            let mut passed = self.build_outgoing(io, &extending, source.clone()).await?;
            ended = passed.frame_end;
            let sent = SentMessages::of(&passed.json)?;
            let unchanged: u64 = sent.sizes.iter().take(sent.count_unchanged(&known.sent)).sum();
            if ended.is_some() || unchanged * 2 >= known.bytes {
                passed.extended_frame = ended.is_none().then(|| known.name());
                return self.keep_frame(io, asked, (key, frames), (Some(known), ended), passed, sent).await;
            }
            ended = Some(FrameEnd::Changed);
        }
        let passed = self.build_outgoing(io, asked, source).await?;
        let sent = SentMessages::of(&passed.json)?;
        self.keep_frame(io, asked, (key, frames), (known.as_ref(), ended), passed, sent).await
    }

    // Keeps the frame of a context for the next one, and reports what a provider has of it.
    async fn keep_frame(
        &self,
        io: &Io,
        asked: &ContextRequest,
        (key, mut frames): (String, Vec<StoredFrame>),
        (known, ended): (Option<&StoredFrame>, Option<FrameEnd>),
        passed: OutgoingContext,
        sent: SentMessages,
    ) -> Result<OutgoingContext, Trouble> {
        let last = known.filter(|_| ended != Some(FrameEnd::Cold)).map_or("", |known| known.sent.as_str());
        let unchanged = sent.count_unchanged(last);
        let bytes: u64 = sent.sizes.iter().take(unchanged).sum();
        let tokens = u64::from(passed.tokens_used) * bytes / sent.byte_len().max(1);
        let Request { format, marks_cache, .. } = asked.request;
        let is_openai = matches!(format, Format::OpenaiChat | Format::OpenaiResponses);
        let cost = asked.request.known_prices().map(|prices| {
            let used = u64::from(passed.tokens_used);
            let prompt = u64::from(passed.prompt_tokens);
            // What stands before the messages is as it was in the last call of the frame.
            let cached = if last.is_empty() { 0 } else { prompt + tokens };
            CallCost::of(&prices, cached, prompt + used - cached)
        });
        let cache = CacheReport {
            unchanged_messages: unchanged as u64,
            unchanged_tokens: tokens as u32,
            ended,
            prompt_cache_key: is_openai.then(|| self.id()),
            cost,
        };
        let marked_format = Some(format).filter(|_| marks_cache);
        let bytes = sent.byte_len();
        if let Some(frame) = &passed.frame {
            let mut frame = (**frame).clone();
            if frame.has_texts() && frame.log_hash.is_none() {
                frame.log_hash = self.hash_log(io, frame.end).await?;
            }
            let stored = StoredFrame { key, at: io.now_ms(), frame, sent: sent.hashes, bytes };
            self.add_verified(stored.name());
            frames.insert(0, stored);
        }
        frames.truncate(MAX_FRAMES);
        let lines: Vec<String> = frames.iter().map(to_json).collect();
        let file = self.cached_file(CachedKind::Frames);
        unless_bug(io.replace_lazily(&file, lines.join("\n").into_bytes()).await)?;
        passed.with_cache_report(&cache, marked_format)
    }

    // Its texts are those of a log that has not been changed since but at its end: somebody may have masked a secret.
    async fn verify_frame(&self, io: &Io, known: &StoredFrame) -> Result<Option<FrameEnd>, Trouble> {
        if !known.frame.has_texts() || self.is_verified(&known.name()) {
            return Ok(None);
        }
        let Some(hash) = &known.frame.log_hash else { return Ok(Some(FrameEnd::Unverified)) };
        if self.hash_log(io, known.frame.end).await?.as_ref() != Some(hash) {
            return Ok(Some(FrameEnd::Changed));
        }
        self.add_verified(known.name());
        Ok(None)
    }

    // True if that was proved since the log was opened the last time: an editor may have written in it.
    fn is_verified(&self, name: &FrameName) -> bool {
        self.verified_frames.borrow().contains(&(self.opened_times(), name.clone()))
    }

    fn add_verified(&self, name: FrameName) {
        let mut verified = self.verified_frames.borrow_mut();
        verified.retain(|(_, one)| one.key != name.key);
        verified.push((self.opened_times(), name));
    }

    // Hashes the log up to there, if that is short enough.
    async fn hash_log(&self, io: &Io, end: u64) -> Result<Option<String>, Trouble> {
        if end > MAX_VERIFIED_BYTES {
            return Ok(None);
        }
        let bytes = io.read_range(&self.log_file(LogName::Messages), 0, end).await?;
        Ok(Some(hash_bytes(&bytes)))
    }

    /// Returns a frame as it was when the log ended at `end`; `None` where it is gone.
    pub(super) async fn find_frame(
        &self,
        io: &Io,
        name: &FrameName,
        end: u64,
    ) -> Result<Option<Frame>, Trouble> {
        let Some(known) = self.read_frames(io).await?.into_iter().find(|one| one.name() == *name) else {
            return Ok(None);
        };
        if self.verify_frame(io, &known).await?.is_some() {
            return Ok(None);
        }
        let mut frame = known.frame;
        frame.recalled.retain(|one| one.question < end);
        Ok(Some(frame))
    }

    async fn read_frames(&self, io: &Io) -> Result<Vec<StoredFrame>, Trouble> {
        let kept =
            unless_other(io.read_all(&self.cached_file(CachedKind::Frames)).await)?.unwrap_or_default();
        let kept = String::from_utf8(kept).unwrap_or_default();
        Ok(kept.lines().filter_map(StoredFrame::parse).collect())
    }
}
