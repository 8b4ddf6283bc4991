//! A session on its way into the next run: what that is told first, what changed since it was saved, the history that fits.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::append::Counts;
use super::context::Asked;
use super::lease::TakenUp;
use super::live::Live;
use super::passed::Passed;
use super::store::{cleared_outputs, left_outputs};
use super::{Io, Operation, Trouble};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::to_json;
use crate::record::event::{Agent, Change};
use crate::record::status::Status;
use crate::resume::{block, drift, history};
use crate::session::ask::Ask;
use crate::session::documents::Name;
use crate::session::lease::Lease;
use crate::shapes::{self, Format};
use crate::time;

/// How often less is tried.
const ROUNDS: u32 = 6;

/// What is asked for beside a context.
#[derive(Default)]
struct Resuming {
    overrides: bool,
    // It is active again from then on.
    revives: bool,
    now: drift::Now,
    // As the host's stamp has it unless given.
    offset_minutes: Option<i64>,
    max_bytes: Option<u64>,
}

impl Resuming {
    fn read(asked: &str) -> Result<Resuming, Trouble> {
        let known = "request, summarizes, embeds, leaves, override, revives, now, offsetMinutes or maxBytes";
        let (mut fields, bad) = (request::read(asked, known)?, &mut Vec::new());
        let resuming = Resuming {
            overrides: fields.take("override", bad).unwrap_or_default(),
            revives: fields.take("revives", bad).unwrap_or(true),
            now: fields.take("now", bad).unwrap_or_default(),
            offset_minutes: fields.take("offsetMinutes", bad),
            max_bytes: fields.take("maxBytes", bad),
        };
        request::refuse_bad(bad)?;
        Ok(resuming)
    }

    fn warnings(&self, agent: &Agent, is_complete: bool, holders: &[Lease]) -> Vec<String> {
        let status = if is_complete { Status::Completed } else { Status::Active };
        let said = |text: &Option<String>| text.clone().unwrap_or_default();
        let holder = |one: &Lease| drift::Holder {
            program: said(&one.program),
            pid: one.pid,
            host: one.host.clone(),
            since: said(&one.since),
        };
        let holders: Vec<_> = holders.iter().map(holder).collect();
        drift::warnings(agent, status, &self.now, &holders)
    }
}

/// What holds of the session, in the words of `metadata.json`.
struct Saved {
    id: String,
    agent: Agent,
    is_completed: bool,
    block: block::Block,
}

impl Saved {
    fn of(document: &str) -> Result<Saved, Trouble> {
        let (mut fields, bad) = (request::object(document)?, &mut Vec::new());
        let inside = |outer: &str| fields.raw(outer).and_then(|raw| Fields::parse(raw).ok());
        let text = |fields: Option<Fields<'_>>, key: &str| -> String {
            fields.and_then(|mut fields| fields.take(key, &mut Vec::new())).unwrap_or_default()
        };
        // A document has an empty model and no window where nobody knows them.
        let model = Some(text(inside("provider"), "model")).filter(|model| !model.is_empty());
        let window = inside("provider").and_then(|mut provider| provider.take("contextWindow", bad));
        let title = text(inside("display"), "title");
        let last = time::parse(&text(inside("timestamps"), "lastMessageAt"));
        let count = inside("stats").and_then(|mut stats| stats.take("messageCount", bad));
        let agent: Agent = fields.take("agent", bad).unwrap_or_default();
        let lifecycle: String = fields.take("lifecycle", bad).unwrap_or_default();
        Ok(Saved {
            id: fields.take("id", bad).unwrap_or_default(),
            agent: Agent { model, context_window: window.filter(|window| *window > 0), ..agent },
            is_completed: lifecycle == "completed",
            block: block::Block {
                session_type: fields.take("type", bad).unwrap_or_default(),
                title,
                last_active_ms: last,
                message_count: count.unwrap_or_default(),
                summary: fields.take("summary", bad),
                ..block::Block::default()
            },
        })
    }
}

/// What is told beside the history.
#[derive(Serialize)]
struct Told {
    command: Option<String>,
    block: String,
    warnings: Vec<String>,
}

impl Live {
    /// What hands the session to the next run: `{"request","summarizes","leaves","override","revives","now",
    /// "offsetMinutes","maxBytes"}`, JSON. With `maxBytes`, as much of it as so many bytes hold as text. A paused session is
    /// active again then, unless `revives` is false, and a completed one with `override` only. Answer:
    /// `{"id","command","block","warnings","context"}`, and `text` with `maxBytes`.
    pub fn resume(self: &Rc<Live>, asked: String, counts: Counts) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            let mut resuming = Resuming::read(&asked)?;
            live.in_turn(&io, &|| Box::pin(live.looked(&io))).await?;
            let elsewhere = live.holders(&io).await?;
            let (mut asked, source) = live.learned_request(&io, &asked, &counts).await?;
            let defined = || drift::names_of_tools(&asked.request.tools);
            resuming.now.tools = resuming.now.tools.take().or_else(defined);
            if resuming.max_bytes.is_some() && asked.request.shape() != Some(Format::Leftoff) {
                let message =
                    "\"format\" cannot be combined with \"maxBytes\": the text has a format of its own";
                return Err(Trouble::refused(Code::InvalidRequest, message));
            }
            let document = live.with(|session| session.document(Name::MetadataJson));
            let mut round = 1;
            loop {
                let passed = live.passed(&io, &asked, source.clone()).await?;
                let saved = Saved::of(&document)?;
                let is_complete = saved.is_completed && !resuming.overrides;
                let warnings = resuming.warnings(&saved.agent, is_complete, &elsewhere);
                let (mut answer, text) =
                    live.told(&io, &asked, (&resuming, warnings), saved, &passed).await?;
                let most = resuming.max_bytes.unwrap_or(u64::MAX);
                let bytes = text.len() as u64;
                if bytes <= most || round == ROUNDS {
                    live.keep_report(&io, &asked, &passed).await?;
                    if resuming.revives && !is_complete {
                        live.revived_now(&io, &resuming).await?;
                    }
                    answer.push('}');
                    return Ok(answer);
                }
                round += 1;
                // A little less than what would be right if all were as long as it is on average.
                let fitting = u64::from(passed.tokens_used) * most / bytes * 9 / 10;
                asked.request.window = fitting as u32;
                asked.request.reserve = Some(0);
            }
        })
    }

    // Those that were taken away, and those that nobody has any more.
    async fn gone_outputs(&self, io: &Io) -> Result<u64, Trouble> {
        let noted = cleared_outputs(io, &self.id()).await?;
        Ok(left_outputs(io).await?.iter().map(|left| left.of_session(&self.id())).sum::<u64>() + noted)
    }

    // From now on it is active again; one that rested and that nobody looked at since was paused before, which whoever resumes it
    // hears.
    async fn revived_now(&self, io: &Io, resuming: &Resuming) -> Result<(), Trouble> {
        io.turn().await?;
        let idle_ms = self.store().map_or(i64::MAX, |store| store.setup().idle_ms);
        let TakenUp { notices, .. } = self.taken_up(io, idle_ms, false).await?;
        let active = Ask::from(Change::Status { status: Status::Active, reason: None });
        let active = Ask { has_override: resuming.overrides, ..active };
        self.here(io, &|| Box::pin(self.said(io, Vec::from([active.clone()])))).await?;
        io.leave();
        notices.iter().for_each(|notice| self.hear(to_json(notice)));
        Ok(())
    }

    // The answer without its end, and its text.
    async fn told(
        &self,
        io: &Io,
        asked: &Asked,
        (resuming, warnings): (&Resuming, Vec<String>),
        saved: Saved,
        passed: &Passed,
    ) -> Result<(String, String), Trouble> {
        let id = &saved.id;
        let some = |count: u64, what: &str| (count > 0).then(|| (count, format!("leftoff {what} {id}")));
        let block = block::Block {
            left_out: some(passed.left_out, "show"),
            missing: some(passed.missing_blobs, "doctor"),
            outputs: self.gone_outputs(io).await?,
            warnings: warnings.clone(),
            ..saved.block
        };
        let mut stamp = io.stamp();
        stamp.offset_minutes = resuming.offset_minutes.map_or(stamp.offset_minutes, |minutes| minutes as i32);
        let block = block::render(&block, &stamp);
        let told = to_json(&Told { command: saved.agent.command, block, warnings });
        let told = if asked.leaves { io.out(told.clone()).await?.value.unwrap_or(told) } else { told };
        let mut answer = format!("{{\"id\":{},{}", to_json(id), &told[1..]);
        answer.pop();
        let mut text = String::new();
        if resuming.max_bytes.is_some() {
            let mut fields = request::object(&told)?;
            let block: String = fields.take("block", &mut Vec::new()).unwrap_or_default();
            let messages = request::object(&passed.json)?.take_raw("messages").unwrap_or("[]");
            text = format!(
                "{block}\n{}",
                history::render(&shapes::read(messages, Format::Leftoff)?, &io.stamp())
            );
            answer.push_str(&format!(",\"text\":{}", to_json(&text)));
        }
        answer.push_str(&format!(",\"context\":{}", passed.json));
        Ok((answer, text))
    }
}
