//! What is done with a session.

use leftoff::fs::{AppendOptions, Compact, Durability, Pages, Resume, Session};
use leftoff::json::text::to_json;
use leftoff::layout::Placement;
use leftoff::operation::Trouble;
use leftoff::session::batch::AppendConditions;
use leftoff::shapes::Format;
use leftoff::tokens::Encoding;
use serde_json::value::RawValue;

use crate::Answer;
use crate::helping::{with_helpers, with_vectors};
use crate::step::Step;

/// What a step that opens a session is answered by.
pub fn render_session(session: &Session) -> Answer {
    let path = session.path();
    let path = path.to_string_lossy();
    let placement = match session.placement() {
        Placement::Home => "home",
        Placement::Workspace => "workspace",
    };
    let (id, path, metadata) = (to_json(&session.id()), to_json(&path), session.metadata());
    Ok(format!(
        "{{\"id\":{id},\"path\":{path},\"placement\":\"{placement}\",\"metadata\":{metadata},\"notices\":{}}}",
        session.notices()
    ))
}

/// What an operation of a session answers.
pub fn run_session_step(session: &Session, op: &str, step: &Step) -> Answer {
    let nothing = |done: Result<(), Trouble>| done.map(|()| "null".to_string());
    let summary = || step.value::<String>("summary");
    Ok(match op {
        "append" => append_messages(session, step)?,
        "appendTool" => session.append_tool(step.raw("execution").unwrap_or("null"))?,
        "archive" => nothing(session.archive())?,
        "closeSession" => nothing(session.clone().close())?,
        "complete" => nothing(session.complete(summary()?.as_deref()))?,
        "examine" => session.examine()?,
        "export" => to_json(&session.export(&step.rest()).collect::<Result<String, _>>()?),
        "flush" => nothing(session.flush())?,
        "messages" => messages(session, step.value("most")?, &step.without_fields(&["most"]))?,
        "metadata" => session.redact_value(&session.metadata())?,
        "others" => {
            let others: Vec<Box<RawValue>> = serde_json::from_str(&session.list_holders()?)?;
            others.len().to_string()
        }
        "pause" => nothing(session.stop(None))?,
        "pin" => nothing(session.pin(&step.text("messageId")?))?,
        "searchIn" => {
            let request = step.without_fields(&["question", "most", "embed"]);
            let question = step.text("question")?;
            with_vectors(step, |helpers| {
                take_items(session.search(&question, &request, helpers)?, step.value("most")?)
            })?
        }
        "pins" => session.pins()?,
        "refresh" => nothing(session.refresh())?,
        "rename" => nothing(session.rename(&step.text("title")?))?,
        "setAgent" => nothing(session.set_agent(step.raw("agent").unwrap_or("null")))?,
        "state" => session.state()?,
        "stop" => nothing(session.stop(summary()?.as_deref()))?,
        "tools" => session.tools()?,
        "unarchive" => nothing(session.unarchive())?,
        "unpin" => nothing(session.unpin(&step.text("messageId")?))?,
        "updateAgent" => nothing(session.update_agent(step.raw("agent").unwrap_or("null")))?,
        op => return of_contexts(session, op, step),
    })
}

fn of_contexts(session: &Session, op: &str, step: &Step) -> Answer {
    Ok(match op {
        "brief" => {
            let encoding: Option<String> = step.value("encoding")?;
            let encoding = encoding.as_deref().map_or(Some(Encoding::O200kBase), Encoding::parse);
            let encoding = encoding.ok_or("expected an encoding, but found none")?;
            to_json(&session.brief(step.value("maxTokens")?.unwrap_or(2000), encoding)?)
        }
        "compact" => {
            let how =
                Compact { apply: step.flag("apply")?, undo: step.flag("undo")?, keep: step.value("keep")? };
            let request = step.without_fields(&["apply", "undo", "keep", "summarize", "count", "embed"]);
            with_helpers(step, session, |helpers| session.compact(&request, how, helpers))?
        }
        "context" => {
            let request = step.without_fields(&["summarize", "count", "embed"]);
            with_helpers(step, session, |helpers| session.context(&request, helpers))?
        }
        "lastContext" if step.flag("full")? => session.sent_context()?,
        "lastContext" => session.last_context()?,
        "resume" => {
            let how = resume(step)?;
            let own = ["override", "revives", "now", "maxBytes", "summarize", "count", "embed"];
            let request = step.without_fields(&own);
            with_helpers(step, session, |helpers| session.resume(&request, how, helpers))?
        }
        "summaryOf" => to_json(&session.summary_of(&step.rest())?),
        op => return Err(format!("expected an operation, but found \"{op}\" instead").into()),
    })
}

/// How a session is resumed.
pub fn resume(step: &Step) -> Result<Resume<'_>, serde_json::Error> {
    Ok(Resume {
        overrides: step.flag("override")?,
        revives: step.value("revives")?.unwrap_or(true),
        now: step.raw("now"),
        max_bytes: step.value("maxBytes")?,
    })
}

fn append_messages(session: &Session, step: &Step) -> Answer {
    let (durability, acknowledged) = match step.value::<String>("durability")?.as_deref() {
        None | Some("durable") => (Durability::Durable, "durable"),
        Some("buffered") => (Durability::Buffered, "buffered"),
        Some(other) => return Err(format!("expected a durability, but found \"{other}\" instead").into()),
    };
    let format = step.value::<String>("format")?.map(|format| Format::parse(&format)).transpose()?;
    let revives = step.value("revives")?.unwrap_or(true);
    let options = AppendOptions { durability, format, revives };
    let messages = step.raw("messages").unwrap_or("null");
    // `null` is what no message before it is called.
    let said = |name: &str| step.raw(name).map(|value| format!("\"{name}\":{value}"));
    let conditions: Vec<String> = ["operation", "expected"].into_iter().filter_map(said).collect();
    let appended = match conditions.is_empty() {
        true => session.append(messages, options)?,
        false => {
            let once = AppendConditions::from_json(&format!("{{{}}}", conditions.join(",")))?;
            session.append_once(messages, options, once)?
        }
    };
    let lines = core::str::from_utf8(appended.lines())?;
    let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
    Ok(format!("{{\"acknowledged\":\"{acknowledged}\",\"records\":[{}]}}", lines.join(",")))
}

/// So many of its messages.
pub fn messages(session: &Session, most: Option<usize>, reading: &str) -> Answer {
    take_items(session.messages(reading), most)
}

/// So many of what comes in pages.
pub fn take_items(pages: Pages<'_>, most: Option<usize>) -> Answer {
    let mut some: Vec<Box<RawValue>> = Vec::new();
    for page in pages {
        some.extend(serde_json::from_str::<Vec<Box<RawValue>>>(&page?)?);
        if most.is_some_and(|most| some.len() >= most) {
            break;
        }
    }
    some.truncate(most.unwrap_or(usize::MAX));
    Ok(serde_json::to_string(&some)?)
}
