//! Builds the menu from which a model picks outputs, and the prompt that has the picked ones. Both go out, so secrets
//! in them are redacted where that is wanted.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::loading::ResultSource;
use super::saving::HEAD_BYTES;
use super::{Store, StoredOutput, parse_session_id};
use crate::json::fields::parse_items;
use crate::json::request;
use crate::json::text::{Text, grapheme_boundary, to_json};
use crate::layout::File;
use crate::operation::context::{load_vocabulary, parse_max_tokens};
use crate::operation::{Io, Operation, Trouble};
use crate::outputs::answer::{Excerpt, INSTRUCTIONS, PickedOutput, PromptRequest, prompt};
use crate::outputs::{choice, describe_output, file};
use crate::tokens::{Encoding, Vocabulary, count};

/// The most bytes of a token in almost any text; bounds how much of a result is read.
const MAX_BYTES_PER_TOKEN: u64 = 8;
/// The most bytes read of a tool's arguments, in the file of another run.
const MAX_ARGUMENTS_BYTES: u64 = 1 << 16;
/// Bytes next to a cut in which a secret may have been cut; they are dropped once secrets are redacted.
const CUT_MARGIN_BYTES: u64 = 16 << 10;

/// A result for the prompt.
struct ResultText {
    tool: String,
    description: String,
    text: Excerpt,
}

struct OutputPromptRequest {
    prompt: PromptRequest,
    outputs: Vec<String>,
    encoding: Encoding,
}

impl OutputPromptRequest {
    fn from_json(json: &str) -> Result<OutputPromptRequest, Trouble> {
        let (mut fields, bad) = (
            request::parse(json, "question, instructions, outputs, maxTokens, encoding or model")?,
            &mut Vec::new(),
        );
        let max_tokens = parse_max_tokens(&mut fields)?;
        let mut text = |key: &str| fields.take::<String>(key, bad);
        let (question, instructions) = (text("question"), text("instructions"));
        let (encoding, model) = (text("encoding"), text("model"));
        let outputs = fields.take("outputs", bad);
        request::reject_bad(bad)?;
        let needed = |key: &str| request::error(format!("expected \"{key}\", but found none"));
        Ok(OutputPromptRequest {
            prompt: PromptRequest {
                question: question.ok_or_else(|| needed("question"))?,
                instructions: instructions.unwrap_or_else(|| INSTRUCTIONS.into()),
                max_tokens,
            },
            outputs: outputs.ok_or_else(|| needed("outputs"))?,
            encoding: Encoding::resolve(encoding.as_deref(), model.as_deref())?,
        })
    }
}

impl Store {
    /// Builds the menu for a model: `{"sessionId"}`, the outputs of that session, or all. Answer:
    /// `{"text","outputs"}`, JSON: a numbered list, one line each, and the
    /// [`OutputPointer`](crate::outputs::OutputPointer)s of the lines. [`choice::parse_choice`] reads the model's
    /// answer.
    pub fn output_menu(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let session = parse_session_id(&request)?;
            let kept: Vec<StoredOutput> =
                store.outputs.borrow().of_session(session.as_deref()).cloned().collect();
            let labels = kept.iter().flat_map(|kept_output| {
                [kept_output.pointer.tool.clone(), kept_output.pointer.about.clone()]
            });
            let labels = redact_texts(&io, labels.collect()).await?;
            let menu = choice::render_menu(labels.chunks_exact(2).map(|pair| (&*pair[0], &*pair[1])));
            let outputs: Vec<_> = kept.iter().map(|kept_output| &kept_output.pointer).collect();
            Ok(format!("{{\"text\":{},\"outputs\":{}}}", to_json(&menu), to_json(&outputs)))
        })
    }

    /// Builds a prompt with outputs, for a model to answer a question:
    /// `{"question","instructions","outputs","maxTokens","encoding","model"}`, JSON, where `outputs` are paths.
    /// Answer: `{"text","tokens","encoding","outputs":[{"path","isCut"}]}`.
    pub fn output_prompt(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let OutputPromptRequest { prompt: request, outputs, encoding } =
                OutputPromptRequest::from_json(&request)?;
            let vocabulary = load_vocabulary(&io, encoding.as_str()).await?;
            let mut results = Vec::new();
            for path in &outputs {
                results.push(Box::pin(store.read_result_text(&io, path, request.max_tokens)).await?);
            }
            let picked = redact_picked(&io, results).await?;
            let made =
                prompt(&request, &picked, &|text, limit| count_tokens(text, limit, vocabulary.as_deref()))?;
            let cut = outputs.iter().zip(&made.cut);
            let outputs: Vec<_> = cut
                .map(|(path, is_cut)| format!("{{\"path\":{},\"isCut\":{is_cut}}}", to_json(path)))
                .collect();
            Ok(format!(
                "{{\"text\":{},\"tokens\":{},\"encoding\":\"{}\",\"outputs\":[{}]}}",
                to_json(&made.text),
                made.tokens,
                encoding.as_str(),
                outputs.join(",")
            ))
        })
    }

    async fn read_result_text(&self, io: &Io, path: &str, max_tokens: u32) -> Result<ResultText, Trouble> {
        let known = self.outputs.borrow().find(path).map(|kept| kept.pointer.clone());
        match self.find_result(io, path).await? {
            ResultSource::Memory(json) => {
                let (tool, about) = known.map(|pointer| (pointer.tool, pointer.about)).unwrap_or_default();
                Ok(ResultText { tool, description: about, text: Excerpt::from_json(&json) })
            }
            ResultSource::File(file, start, end) => {
                let text = read_excerpt(io, &file, start, end, max_tokens).await?;
                let (tool, about) = match known {
                    Some(pointer) => (pointer.tool, pointer.about),
                    None => describe_saved_output(io, &file, start..end, &text).await?,
                };
                Ok(ResultText { tool, description: about, text })
            }
        }
    }
}

// Describes an output of another run from its file, or else by the file's name.
async fn describe_saved_output(
    io: &Io,
    file: &File,
    result: Range<u64>,
    text: &Excerpt,
) -> Result<(String, String), Trouble> {
    let before = io.read_range(file, 0, result.start.min(MAX_ARGUMENTS_BYTES)).await?;
    let parsed = file::parse_output(&String::from_utf8_lossy(&before), result.end - result.start);
    Ok(parsed.map_or_else(
        || (file.name().into(), "of another run".into()),
        |output| {
            let beginning = &text.head[..grapheme_boundary(&text.head, HEAD_BYTES as usize, false)];
            (output.tool.clone(), describe_output(&output, beginning))
        },
    ))
}

// Reads as much of a result as may fit the tokens: all, or its two ends.
async fn read_excerpt(
    io: &Io,
    file: &File,
    start: u64,
    end: u64,
    max_tokens: u32,
) -> Result<Excerpt, Trouble> {
    // JSON may double the length of a text.
    let window = 2 * (u64::from(max_tokens) * MAX_BYTES_PER_TOKEN + CUT_MARGIN_BYTES);
    if end - start <= 2 * window {
        let json = io.read_range(file, start, end).await?;
        return Ok(Excerpt::from_json(&String::from_utf8_lossy(&json)));
    }
    let first = io.read_range(file, start, start + window).await?;
    let last = io.read_range(file, end - window, end).await?;
    Ok(Excerpt::from_ends(&first, &last, end - start - 2 * window))
}

// Redacts texts that were cut with a margin, then cuts the margin off, so that no cut leaves a part of a secret.
async fn redact_picked(io: &Io, results: Vec<ResultText>) -> Result<Vec<PickedOutput>, Trouble> {
    let left_out: Vec<u64> = results.iter().map(|result| result.text.left_out).collect();
    let texts = results
        .into_iter()
        .flat_map(|ResultText { tool, description: about, text }| [tool, about, text.head, text.tail]);
    let texts = redact_texts(io, texts.collect()).await?;
    let picked = texts.chunks_exact(4).zip(left_out).map(|(texts, left_out)| {
        let text = Excerpt { head: texts[2].clone(), tail: texts[3].clone(), left_out };
        PickedOutput {
            line: choice::menu_line(&texts[0], &texts[1]),
            text: text.without_margin(CUT_MARGIN_BYTES as usize),
        }
    });
    Ok(picked.collect())
}

// Returns texts redacted.
async fn redact_texts(io: &Io, texts: Vec<String>) -> Result<Vec<String>, Trouble> {
    let out = io.redact_outgoing(to_json(&texts)).await?;
    let Some(json) = out.value else { return Ok(texts) };
    let decoded = |json: &str| Text::decode(json).map(|text| String::from(text.as_str()));
    let read =
        parse_items(&json).and_then(|items| items.into_iter().map(decoded).collect::<Option<Vec<_>>>());
    read.filter(|read| read.len() == texts.len()).ok_or_else(|| {
        Trouble::internal("expected as many texts that may leave as were asked about, but found others")
    })
}

fn count_tokens(text: &str, limit: u32, vocabulary: Option<&Vocabulary>) -> u32 {
    match vocabulary {
        Some(known) if limit < u32::MAX => known.count_up_to(text, limit),
        _ => count(text, vocabulary).tokens,
    }
}
