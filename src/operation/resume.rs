//! Resumes a session in the next run: the block that a model reads first, what changed since it was saved, and the
//! history that fits.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::append::CountingMode;
use super::context::ContextRequest;
use super::lease::PauseReport;
use super::outgoing_context::OutgoingContext;
use super::session_files::SessionFiles;
use super::store::{find_abandoned_outputs, read_cleared_count};
use super::{Io, Operation, Trouble};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::to_json;
use crate::record::event::{Agent, Change};
use crate::record::status::Status;
use crate::resume::{block, drift, history};
use crate::session::change_request::ChangeRequest;
use crate::session::documents::DocumentName;
use crate::session::lease::Lease;
use crate::shapes::{self, Format};
use crate::time;

/// How often a smaller context is tried.
const MAX_ROUNDS: u32 = 6;

/// A resume request besides its context request.
#[derive(Default)]
struct ResumeRequest {
    overrides: bool,
    // The session becomes active.
    revives: bool,
    environment: drift::Environment,
    // The host stamp's offset unless given.
    offset_minutes: Option<i64>,
    max_bytes: Option<u64>,
}

impl ResumeRequest {
    fn parse(request: &str) -> Result<ResumeRequest, Trouble> {
        let known = "request, summarizes, embeds, leaves, override, revives, now, offsetMinutes or maxBytes";
        let (mut fields, bad) = (request::parse(request, known)?, &mut Vec::new());
        let resuming = ResumeRequest {
            overrides: fields.take("override", bad).unwrap_or_default(),
            revives: fields.take("revives", bad).unwrap_or(true),
            environment: fields.take("now", bad).unwrap_or_default(),
            offset_minutes: fields.take("offsetMinutes", bad),
            max_bytes: fields.take("maxBytes", bad),
        };
        request::reject_bad(bad)?;
        Ok(resuming)
    }

    fn drift_warnings(&self, agent: &Agent, is_complete: bool, holders: &[Lease]) -> Vec<String> {
        let status = if is_complete { Status::Completed } else { Status::Active };
        let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
        let holder = |one: &Lease| drift::OtherHolder {
            program: or_empty(&one.program),
            pid: one.pid,
            host: one.host.clone(),
            held_since: or_empty(&one.since),
        };
        let holders: Vec<_> = holders.iter().map(holder).collect();
        drift::warnings(agent, status, &self.environment, &holders)
    }
}

/// The saved session in the terms of `metadata.json`.
struct SavedSession {
    id: String,
    agent: Agent,
    is_completed: bool,
    block: block::ResumeBlock,
}

impl SavedSession {
    fn of(document: &str) -> Result<SavedSession, Trouble> {
        let (mut fields, bad) = (request::parse_object(document)?, &mut Vec::new());
        let inside = |outer: &str| fields.raw(outer).and_then(|raw| Fields::parse(raw).ok());
        let text = |fields: Option<Fields<'_>>, key: &str| -> String {
            fields.and_then(|mut fields| fields.take(key, &mut Vec::new())).unwrap_or_default()
        };
        // A document has an empty model and no window where they are unknown.
        let model = Some(text(inside("provider"), "model")).filter(|model| !model.is_empty());
        let window = inside("provider").and_then(|mut provider| provider.take("contextWindow", bad));
        let title = text(inside("display"), "title");
        let last = time::parse(&text(inside("timestamps"), "lastMessageAt"));
        let count = inside("stats").and_then(|mut stats| stats.take("messageCount", bad));
        let agent: Agent = fields.take("agent", bad).unwrap_or_default();
        let lifecycle: String = fields.take("lifecycle", bad).unwrap_or_default();
        Ok(SavedSession {
            id: fields.take("id", bad).unwrap_or_default(),
            agent: Agent { model, context_window: window.filter(|window| *window > 0), ..agent },
            is_completed: lifecycle == "completed",
            block: block::ResumeBlock {
                session_type: fields.take("type", bad).unwrap_or_default(),
                title,
                last_active_ms: last,
                message_count: count.unwrap_or_default(),
                summary: fields.take("summary", bad),
                ..block::ResumeBlock::default()
            },
        })
    }
}

/// What goes before the history.
#[derive(Serialize)]
struct ResumePreamble {
    command: Option<String>,
    block: String,
    warnings: Vec<String>,
}

impl SessionFiles {
    /// Prepares the session for the next run: `{"request","summarizes","leaves","override","revives","now",
    /// "offsetMinutes","maxBytes"}`, JSON. With `maxBytes`, as much of it as fits so many bytes as text. A paused
    /// session becomes active, unless `revives` is false; a completed one with `override` only. Returns
    /// `{"id","command","block","warnings","context"}`, and `text` with `maxBytes`.
    pub fn resume(
        self: &Rc<SessionFiles>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            let mut resuming = ResumeRequest::parse(&request)?;
            files.run_in_turn(&io, &|| Box::pin(files.refresh_files(&io))).await?;
            let elsewhere = files.holders(&io).await?;
            let (mut request, source) = files.current_request(&io, &request, &counts, false).await?;
            let defined = || drift::tool_names(&request.request.tools);
            resuming.environment.tools = resuming.environment.tools.take().or_else(defined);
            if resuming.max_bytes.is_some() && request.request.shape() != Some(Format::Leftoff) {
                let message =
                    "\"format\" cannot be combined with \"maxBytes\": the text has a format of its own";
                return Err(Trouble::new(Code::InvalidRequest, message));
            }
            let document = files.with_session(|session| session.document(DocumentName::MetadataJson));
            let mut round = 1;
            loop {
                let passed = files.build_outgoing(&io, &request, source.clone()).await?;
                let saved = SavedSession::of(&document)?;
                let is_complete = saved.is_completed && !resuming.overrides;
                let warnings = resuming.drift_warnings(&saved.agent, is_complete, &elsewhere);
                let (mut answer, text) =
                    files.render_response(&io, &request, (&resuming, warnings), saved, &passed).await?;
                // A client takes only so much of a command's output; a longer text is built again from a smaller window.
                let most = resuming.max_bytes.unwrap_or(u64::MAX);
                let bytes = text.len() as u64;
                if bytes <= most || round == MAX_ROUNDS {
                    files.write_report(&io, &request, &passed).await?;
                    if resuming.revives && !is_complete {
                        files.reactivate(&io, &resuming).await?;
                    }
                    answer.push('}');
                    return Ok(answer);
                }
                round += 1;
                // A little less than would fit if every token took the average number of bytes.
                let fitting = u64::from(passed.tokens_used) * most / bytes * 9 / 10;
                request.request.window = fitting as u32;
                request.request.reserve = Some(0);
            }
        })
    }

    // Counts tool outputs that were removed, and those that nobody has any more.
    async fn count_gone_outputs(&self, io: &Io) -> Result<u64, Trouble> {
        let noted = read_cleared_count(io, &self.id()).await?;
        Ok(find_abandoned_outputs(io)
            .await?
            .iter()
            .map(|left| left.count_of_session(&self.id()))
            .sum::<u64>()
            + noted)
    }

    // Makes the session active. An idle one that nobody looked at since is paused first, of which whoever resumes it
    // is told.
    async fn reactivate(&self, io: &Io, resuming: &ResumeRequest) -> Result<(), Trouble> {
        io.take_turn().await?;
        let idle_ms = self.store().map_or(i64::MAX, |store| store.setup().idle_ms);
        let PauseReport { notices, .. } = self.pause_if_idle(io, idle_ms, false).await?;
        let active = ChangeRequest::from(Change::Status { status: Status::Active, reason: None });
        let active = ChangeRequest { has_override: resuming.overrides, ..active };
        self.retry_after_move(io, &|| Box::pin(self.refresh_and_record(io, Vec::from([active.clone()]))))
            .await?;
        io.end_turn();
        notices.iter().for_each(|notice| self.add_notice(to_json(notice)));
        Ok(())
    }

    // Renders the response without its closing brace, and its text.
    async fn render_response(
        &self,
        io: &Io,
        request: &ContextRequest,
        (resuming, warnings): (&ResumeRequest, Vec<String>),
        saved: SavedSession,
        passed: &OutgoingContext,
    ) -> Result<(String, String), Trouble> {
        let id = &saved.id;
        let some = |count: u64, what: &str| (count > 0).then(|| (count, format!("leftoff {what} {id}")));
        let block = block::ResumeBlock {
            omitted: some(passed.omitted_count, "show"),
            missing_texts: some(passed.missing_blob_count, "doctor"),
            gone_output_count: self.count_gone_outputs(io).await?,
            warnings: warnings.clone(),
            ..saved.block
        };
        let mut stamp = io.stamp();
        stamp.offset_minutes = resuming.offset_minutes.map_or(stamp.offset_minutes, |minutes| minutes as i32);
        let block = block::render_block(&block, &stamp);
        let preamble = to_json(&ResumePreamble { command: saved.agent.command, block, warnings });
        let preamble = if request.is_outgoing {
            io.redact_outgoing(preamble.clone()).await?.value.unwrap_or(preamble)
        } else {
            preamble
        };
        let mut answer = format!("{{\"id\":{},{}", to_json(id), &preamble[1..]);
        answer.pop();
        let mut text = String::new();
        if resuming.max_bytes.is_some() {
            let mut fields = request::parse_object(&preamble)?;
            let block: String = fields.take("block", &mut Vec::new()).unwrap_or_default();
            let messages = request::parse_object(&passed.json)?.take_raw("messages").unwrap_or("[]");
            text = format!(
                "{block}\n{}",
                history::render_history(&shapes::read(messages, Format::Leftoff)?, &io.stamp())
            );
            answer.push_str(&format!(",\"text\":{}", to_json(&text)));
        }
        answer.push_str(&format!(",\"context\":{}", passed.json));
        Ok((answer, text))
    }
}
