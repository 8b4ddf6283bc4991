//! The parts of a response: what VS Code shows of an answer and of its calls.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::invocation::Invocation;
use super::table::{DISPLAY_ONLY, REASONS};
use super::values::{join_texts, take_text, uri_name};
use crate::interop::loss::UNKNOWN_BLOCK;
use crate::interop::{Losses, Object};
use crate::json::text::Text;
use crate::record::message::{Message, Reasoning};
use crate::shapes::answer_pieces::AnswerPiece;

const FILE_EDIT: &str = "an edit, as VS Code applied it";
const SUB_AGENT_CALL: &str = "a call of a sub-agent, whose own words are not in the file";
const EDIT_KINDS: [&str; 4] = ["textEditGroup", "notebookEditGroup", "workspaceEdit", "externalEdit"];
// Parts that nobody said.
const DISPLAY_KINDS: [&str; 32] = [
    "autoModeResolution",
    "clearToPreviousToolInvocation",
    "codeCitation",
    "codeblockUri",
    "command",
    "confirmation",
    "disabledClaudeHooks",
    "elicitation",
    "elicitationSerialized",
    "extensions",
    "hook",
    "info",
    "mcpAuthenticationRequired",
    "mcpServersStarting",
    "mcpServersStartingSlow",
    "move",
    "multiDiffData",
    "planReview",
    "prepareToolInvocation",
    "progressMessage",
    "progressTask",
    "progressTaskResult",
    "progressTaskSerialized",
    "pullRequest",
    "questionCarousel",
    "reference",
    "systemNotification",
    "treeData",
    "undoStop",
    "usage",
    "usedContext",
    "warning",
];

/// What a model said in one go, and the results of the calls in it.
#[derive(Default)]
pub(super) struct AnswerSegment {
    pub pieces: Vec<AnswerPiece>,
    pub results: Vec<Message>,
}

/// What a response shows.
#[derive(Default)]
pub(super) struct ResponseParts {
    /// Each answer with its results.
    pub segments: Vec<AnswerSegment>,
    /// All calls but those of sub-agents.
    pub invocations: Vec<Invocation>,
    // Texts that become one piece.
    texts: Vec<Text>,
}

impl ResponseParts {
    /// Reads the parts of a request's response.
    pub fn read(request: &mut Object<'_>, losses: &mut Losses) -> ResponseParts {
        let mut parts = ResponseParts::default();
        for (_, part) in request.take_objects("response", losses) {
            parts.read_part(part, losses);
        }
        parts.flush_texts();
        parts
    }

    fn read_part(&mut self, mut part: Object<'_>, losses: &mut Losses) {
        let kind: Option<String> = part.take("kind", losses);
        match kind.as_deref() {
            None => self.texts.extend(part.take("value", losses)),
            Some("markdownContent" | "markdownVuln") => {
                self.texts.extend(take_text(&mut part, "content", losses));
            }
            Some("inlineReference") => {
                let name: Option<Text> = part.take("name", losses);
                let place = part.take_raw("inlineReference");
                let name = name.or_else(|| place.and_then(uri_name).map(Text::from));
                self.texts.extend(name.map(|name| Text::from(format!("`{}`", name.as_str()))));
            }
            Some("thinking") => {
                let text = take_text(&mut part, "value", losses).filter(|text| !text.is_empty());
                if let Some(text) = text {
                    self.flush_texts();
                    self.push(AnswerPiece::Reasoning(Reasoning { text, ..Reasoning::default() }));
                }
            }
            Some("toolInvocationSerialized") => {
                let invocation = Invocation::read(&mut part, losses);
                if invocation.is_of_sub_agent() {
                    return losses.add("record:toolInvocationSerialized".into(), SUB_AGENT_CALL);
                }
                self.flush_texts();
                self.push(AnswerPiece::Call(invocation.call()));
                if let Some(segment) = self.segments.last_mut() {
                    segment.results.extend(invocation.result_message());
                }
                self.invocations.push(invocation);
            }
            Some(kind) => {
                let why = match kind {
                    _ if EDIT_KINDS.contains(&kind) => FILE_EDIT,
                    _ if DISPLAY_KINDS.contains(&kind) => DISPLAY_ONLY,
                    _ => UNKNOWN_BLOCK,
                };
                return losses.add(format!("record:{kind}"), why);
            }
        }
        part.report_rest_lost(losses, REASONS);
    }

    fn flush_texts(&mut self) {
        let texts: Vec<Text> =
            core::mem::take(&mut self.texts).into_iter().filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            self.push(AnswerPiece::Text(join_texts(texts)));
        }
    }

    // Words behind a call are another answer.
    fn push(&mut self, piece: AnswerPiece) {
        let has_call = |segment: &AnswerSegment| {
            segment.pieces.iter().any(|piece| matches!(piece, AnswerPiece::Call(_)))
        };
        let is_call = matches!(piece, AnswerPiece::Call(_));
        if self.segments.last().is_none_or(|last| !is_call && has_call(last)) {
            self.segments.push(AnswerSegment::default());
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.pieces.push(piece);
        }
    }
}
