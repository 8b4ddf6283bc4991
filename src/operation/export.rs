//! Exports a session as one text, in pages: nobody holds a session twice.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::message_pages::{MessagesRequest, PathMessages, message_json};
use super::outgoing::OutgoingRedactor;
use super::outgoing_pieces::OutgoingPieces;
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble};
use crate::error::Error;
use crate::export::{Export, ExportFormat};
use crate::json::request;
use crate::record::message::Message;
use crate::session::documents::DocumentName;

/// Name of the format with all of a session, which [`crate::record::session_file`] reads.
const SESSION_FILE: &str = "\"leftoff\"";

impl SessionFiles {
    /// Exports the session as one text: `{"format","allBranches","metadata"}`, JSON; `format` is `json`, `markdown`,
    /// `atif`, or `leftoff`: all of its files as one, which an import takes in. `metadata` describes a session without
    /// events; else its files do. Each page is a piece of the text.
    pub fn export(
        self: &Rc<SessionFiles>,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, ()> {
        let (files, redactor) = (self.clone(), redactor.clone());
        Operation::new(|io| async move {
            files.reject_if_deleted()?;
            let (mut fields, bad) =
                (request::parse(&request, "format, allBranches or metadata")?, &mut Vec::new());
            let format = fields.take_raw("format").unwrap_or("null");
            let all_branches = fields.take("allBranches", bad).unwrap_or_default();
            request::reject_bad(bad)?;
            if format == SESSION_FILE {
                let is_begun = fields.take_raw("metadata").is_none();
                return files.write_session_file(&io, &redactor, is_begun).await;
            }
            let shape = ExportFormat::parse(format)?;
            files
                .write_export(&io, Export::new(shape, all_branches), fields.take_raw("metadata"), &redactor)
                .await
        })
    }

    async fn write_export(
        &self,
        io: &Io,
        mut export: Export,
        metadata: Option<&str>,
        redactor: &OutgoingRedactor,
    ) -> Result<(), Trouble> {
        let mut messages = PathMessages::begin(
            self,
            io,
            MessagesRequest { all_branches: true, ..MessagesRequest::default() },
        )
        .await?;
        redactor.scan_folder(io, &self.folder()).await?;
        let mut pieces = OutgoingPieces::new(redactor, io);
        let is_json = export.shape() == ExportFormat::Json;
        let is_markdown = export.shape() == ExportFormat::Markdown;
        let written = |text: String| if is_json { unescape_separators(text) } else { text }.into_bytes();
        let known = || self.session().borrow().document(DocumentName::MetadataJson);
        let metadata = pieces.redact_one(metadata.map_or_else(known, String::from)).await?;
        io.write_page(written(export.begin(&metadata)?)).await?;
        while let Some(mut some) = messages.next().await? {
            some.retain(|(message, is_on)| {
                export.has_message(&message.id, answered_call_id(message), *is_on)
            });
            // Without redaction, a message needs no JSON that would be parsed again.
            let text = if is_markdown && !redactor.is_on() {
                some.iter().map(|(message, is_on)| export.section(message, *is_on)).collect()
            } else {
                let some = some.iter().map(|(message, is_on)| message_json(message, *is_on)).collect();
                join_pieces(pieces.redact_all(some).await?, |message| export.message(message))?
            };
            io.write_page(written(text)).await?;
        }
        if is_json {
            let mut executions = Box::pin(self.executions_with_results(io)).await?;
            executions.retain(|(one, _)| export.has_execution(one.message_id.as_deref(), &one.tool_call_id));
            let executions =
                pieces.redact_all(executions.into_iter().map(|(_, json)| json).collect()).await?;
            io.write_page(written(join_pieces(executions, |execution| export.execution(execution))?)).await?;
        }
        io.write_page(export.end().into_bytes()).await
    }
}

// On the one line of a record these have escapes; a text for people has them as they are.
fn unescape_separators(json: String) -> String {
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

fn answered_call_id(message: &Message) -> Option<&str> {
    message.tool.as_ref().map(|tool| tool.call_id.as_str())
}

fn join_pieces(
    items: Vec<String>,
    mut piece: impl FnMut(&str) -> Result<String, Error>,
) -> Result<String, Trouble> {
    let mut text = String::new();
    for item in items {
        text.push_str(&piece(&item)?);
    }
    Ok(text)
}
