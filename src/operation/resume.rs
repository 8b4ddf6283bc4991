//! A session on its way into the next run: what that is told first, what changed since it was saved, the history that fits.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::append::Counts;
use super::context::{Asked, object};
use super::live::Live;
use super::pages::refuse_bad;
use super::passed::Passed;
use super::{Io, Operation, Trouble};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::record::event::Agent;
use crate::record::status::Status;
use crate::resume::{block, drift, history};
use crate::session::documents::Name;
use crate::shapes::{self, Format};
use crate::time;

/// How often less is tried.
const ROUNDS: u32 = 6;

/// What is asked for beside a context.
#[derive(Default)]
struct Resuming {
    overrides: bool,
    now: drift::Now,
    elsewhere: Vec<drift::Holder>,
    offset_minutes: i32,
    max_bytes: Option<u64>,
}

impl Resuming {
    fn take(fields: &mut Fields<'_>) -> Result<Resuming, Trouble> {
        let bad = &mut Vec::new();
        let resuming = Resuming {
            overrides: fields.take("override", bad).unwrap_or_default(),
            now: fields.take("now", bad).unwrap_or_default(),
            elsewhere: fields.take("elsewhere", bad).unwrap_or_default(),
            offset_minutes: fields.take::<i64>("offsetMinutes", bad).unwrap_or_default() as i32,
            max_bytes: fields.take("maxBytes", bad),
        };
        refuse_bad(bad)?;
        Ok(resuming)
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
        let (mut fields, bad) = (object(document)?, &mut Vec::new());
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
    /// What hands the session to the next run: `{"request","summarizes","leaves","override","now","elsewhere",
    /// "offsetMinutes","maxBytes"}`, JSON. With `maxBytes`, as much of it as so many bytes hold as text. Answer:
    /// `{"id","isComplete","command","block","warnings","context"}`, and `text` with `maxBytes`.
    pub fn resume(self: &Rc<Live>, asked: String, counts: Counts) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            let resuming = Resuming::take(&mut object(&asked)?)?;
            let (mut asked, source) = live.learned_request(&io, &asked, &counts).await?;
            if resuming.max_bytes.is_some() && asked.request.shape() != Some(Format::Leftoff) {
                let message =
                    "expected no format beside \"maxBytes\", since the text has its own, but found one";
                return Err(Trouble::refused(Code::InvalidRequest, message));
            }
            let saved = live.with(|session| session.document(Name::MetadataJson));
            let mut round = 1;
            loop {
                let passed = live.passed(&io, &asked, source.clone()).await?;
                let (answer, text) = live.told(&io, &asked, &resuming, Saved::of(&saved)?, &passed).await?;
                let most = resuming.max_bytes.unwrap_or(u64::MAX);
                let bytes = text.len() as u64;
                if bytes <= most || round == ROUNDS {
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

    async fn told(
        &self,
        io: &Io,
        asked: &Asked,
        resuming: &Resuming,
        saved: Saved,
        passed: &Passed,
    ) -> Result<(String, String), Trouble> {
        let is_complete = saved.is_completed && !resuming.overrides;
        let status = if is_complete { Status::Completed } else { Status::Active };
        let warnings = drift::warnings(&saved.agent, status, &resuming.now, &resuming.elsewhere);
        let id = &saved.id;
        let some = |count: u64, what: &str| (count > 0).then(|| (count, format!("leftoff {what} {id}")));
        let block = block::Block {
            left_out: some(passed.left_out, "show"),
            missing: some(passed.missing_blobs, "doctor"),
            warnings: warnings.clone(),
            ..saved.block
        };
        let mut stamp = io.stamp();
        stamp.offset_minutes = resuming.offset_minutes;
        let block = block::render(&block, &stamp);
        let told = to_json(&Told { command: saved.agent.command, block, warnings });
        let told = if asked.leaves { io.out(told.clone()).await?.value.unwrap_or(told) } else { told };
        let mut answer = format!("{{\"id\":{},\"isComplete\":{is_complete},{}", to_json(id), &told[1..]);
        answer.pop();
        let mut text = String::new();
        if resuming.max_bytes.is_some() {
            let mut fields = object(&told)?;
            let block: String = fields.take("block", &mut Vec::new()).unwrap_or_default();
            let messages = object(&passed.json)?.take_raw("messages").unwrap_or("[]");
            text = format!(
                "{block}\n{}",
                history::render(&shapes::read(messages, Format::Leftoff)?, &io.stamp())
            );
            answer.push_str(&format!(",\"text\":{}", to_json(&text)));
        }
        answer.push_str(&format!(",\"context\":{}}}", passed.json));
        Ok((answer, text))
    }
}
