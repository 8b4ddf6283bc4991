//! A session as one text, in pages: nobody holds a session twice.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::leaving::Leaving;
use super::live::Live;
use super::pages::{OfPath, Reading, json};
use super::pieces::Pieces;
use super::{Io, Operation, Trouble};
use crate::error::Error;
use crate::export::{Export, Shape};
use crate::json::request;
use crate::record::message::Message;
use crate::session::documents::Name;

/// The name of the format that has all of a session, which [`crate::record::session_file`] reads.
const SESSION_FILE: &str = "\"leftoff\"";

impl Live {
    /// The session as one text: `{"format","allBranches","metadata"}`, JSON; `format` is `json`, `markdown`, or `leftoff`: all
    /// of its files as one, which an import takes in. `metadata` is what holds of a session of which
    /// nothing is said yet; else its files say it. Each page is a piece of the text.
    pub fn export(self: &Rc<Live>, asked: String, leaving: &Rc<Leaving>) -> Operation<'static, ()> {
        let (live, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            live.refuse_if_deleted()?;
            let (mut fields, bad) =
                (request::read(&asked, "format, allBranches or metadata")?, &mut Vec::new());
            let format = fields.take_raw("format").unwrap_or("null");
            let all_branches = fields.take("allBranches", bad).unwrap_or_default();
            request::refuse_bad(bad)?;
            if format == SESSION_FILE {
                let is_begun = fields.take_raw("metadata").is_none();
                return live.write_session_file(&io, &leaving, is_begun).await;
            }
            let shape = Shape::parse(format)?;
            live.exported(&io, Export::new(shape, all_branches), fields.take_raw("metadata"), &leaving).await
        })
    }

    async fn exported(
        &self,
        io: &Io,
        mut export: Export,
        metadata: Option<&str>,
        leaving: &Leaving,
    ) -> Result<(), Trouble> {
        let mut messages =
            OfPath::begin(self, io, Reading { all_branches: true, ..Reading::default() }).await?;
        leaving.whole(io, &self.folder()).await?;
        let mut pieces = Pieces::new(leaving, io);
        let is_json = export.shape() == Shape::Json;
        let written = |text: String| if is_json { as_written(text) } else { text }.into_bytes();
        let known = || self.session().borrow().document(Name::MetadataJson);
        let metadata = pieces.out(metadata.map_or_else(known, String::from)).await?;
        io.page(written(export.begin(&metadata)?)).await?;
        while let Some(mut some) = messages.next().await? {
            some.retain(|(message, is_on)| export.has_message(&message.id, answers(message), *is_on));
            // What is not looked at needs not be written as JSON to be read again.
            let text = if !is_json && !leaving.is_on() {
                some.iter().map(|(message, is_on)| export.section(message, *is_on)).collect()
            } else {
                let some = some.iter().map(|(message, is_on)| json(message, *is_on)).collect();
                each(pieces.all(some).await?, |message| export.message(message))?
            };
            io.page(written(text)).await?;
        }
        if is_json {
            let mut executions = Box::pin(self.executed(io)).await?;
            executions.retain(|(one, _)| export.has_execution(one.message_id.as_deref(), &one.tool_call_id));
            let executions = pieces.all(executions.into_iter().map(|(_, json)| json).collect()).await?;
            io.page(written(each(executions, |execution| export.execution(execution))?)).await?;
        }
        io.page(export.end().into_bytes()).await
    }
}

// On the one line of a record these have escapes; a text for people has them as they are.
fn as_written(json: String) -> String {
    if !json.contains("\\u") {
        return json;
    }
    let (mut text, mut done, mut at) = (String::with_capacity(json.len()), 0, 0);
    while let Some(found) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        at += found;
        let sign = match json.get(at..at + 6) {
            Some("\\u2028") => '\u{2028}',
            Some("\\u2029") => '\u{2029}',
            Some("\\u0085") => '\u{85}',
            _ => {
                at += 2;
                continue;
            }
        };
        text.push_str(&json[done..at]);
        text.push(sign);
        at += 6;
        done = at;
    }
    text.push_str(&json[done..]);
    text
}

fn answers(message: &Message) -> Option<&str> {
    message.tool.as_ref().map(|tool| tool.call_id.as_str())
}

fn each(items: Vec<String>, mut piece: impl FnMut(&str) -> Result<String, Error>) -> Result<String, Trouble> {
    let mut text = String::new();
    for item in items {
        text.push_str(&piece(&item)?);
    }
    Ok(text)
}
