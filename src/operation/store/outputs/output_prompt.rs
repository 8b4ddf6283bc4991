//! Which outputs a model picks, and what it is told of those: both leave, so that secrets in them are replaced where that is wanted.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::loading::ResultSource;
use super::saving::BEGINNING;
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

/// A token has no more bytes, in about any text: so much of a result is read.
const BYTES_A_TOKEN: u64 = 8;
/// So much is read of what a tool was given, where another run has saved what it gave.
const MOST_ARGS: u64 = 1 << 16;
/// So far from where a result was cut no secret is cut.
const MARGIN: u64 = 16 << 10;

/// A result on its way to a model.
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
    /// What a model picks from: `{"sessionId"}`, the outputs of that one, or all. Answer: `{"text","outputs"}`, JSON: a numbered list,
    /// a line for each, and the [`OutputPointer`](crate::outputs::OutputPointer)s that the lines stand for. See [`choice::parse_choice`] for what is picked.
    pub fn output_menu(self: &Rc<Store>, asked: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let session = parse_session_id(&asked)?;
            let kept: Vec<StoredOutput> =
                store.outputs.borrow().of_session(session.as_deref()).cloned().collect();
            let told = kept.iter().flat_map(|one| [one.pointer.tool.clone(), one.pointer.about.clone()]);
            let told = redact_texts(&io, told.collect()).await?;
            let menu = choice::render_menu(told.chunks_exact(2).map(|pair| (&*pair[0], &*pair[1])));
            let outputs: Vec<_> = kept.iter().map(|one| &one.pointer).collect();
            Ok(format!("{{\"text\":{},\"outputs\":{}}}", to_json(&menu), to_json(&outputs)))
        })
    }

    /// What a model is told of outputs, so that it answers a question: `{"question","instructions","outputs","maxTokens","encoding",
    /// "model"}`, JSON, where `outputs` are paths. Answer: `{"text","tokens","encoding","outputs":[{"path","isCut"}]}`.
    pub fn output_prompt(self: &Rc<Store>, asked: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let OutputPromptRequest { prompt: asked, outputs, encoding } =
                OutputPromptRequest::from_json(&asked)?;
            let vocabulary = load_vocabulary(&io, encoding.as_str()).await?;
            let mut told = Vec::new();
            for path in &outputs {
                told.push(Box::pin(store.read_result_text(&io, path, asked.max_tokens)).await?);
            }
            let picked = redact_picked(&io, told).await?;
            let made =
                prompt(&asked, &picked, &|text, limit| count_tokens(text, limit, vocabulary.as_deref()))?;
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

// What its file says of an output that another run has saved, or how that is called.
async fn describe_saved_output(
    io: &Io,
    file: &File,
    result: Range<u64>,
    text: &Excerpt,
) -> Result<(String, String), Trouble> {
    let before = io.read_range(file, 0, result.start.min(MOST_ARGS)).await?;
    let said = file::parse_output(&String::from_utf8_lossy(&before), result.end - result.start);
    Ok(said.map_or_else(
        || (file.name().into(), "of another run".into()),
        |output| {
            let beginning = &text.head[..grapheme_boundary(&text.head, BEGINNING as usize, false)];
            (output.tool.clone(), describe_output(&output, beginning))
        },
    ))
}

// What of a result may fit so many tokens: all, or its two ends.
async fn read_excerpt(
    io: &Io,
    file: &File,
    start: u64,
    end: u64,
    max_tokens: u32,
) -> Result<Excerpt, Trouble> {
    // In JSON a text may be twice as long.
    let window = 2 * (u64::from(max_tokens) * BYTES_A_TOKEN + MARGIN);
    if end - start <= 2 * window {
        let json = io.read_range(file, start, end).await?;
        return Ok(Excerpt::from_json(&String::from_utf8_lossy(&json)));
    }
    let first = io.read_range(file, start, start + window).await?;
    let last = io.read_range(file, end - window, end).await?;
    Ok(Excerpt::from_ends(&first, &last, end - start - 2 * window))
}

// What was cut is cut once more, where no secret was cut by it.
async fn redact_picked(io: &Io, told: Vec<ResultText>) -> Result<Vec<PickedOutput>, Trouble> {
    let left_out: Vec<u64> = told.iter().map(|one| one.text.left_out).collect();
    let texts = told
        .into_iter()
        .flat_map(|ResultText { tool, description: about, text }| [tool, about, text.head, text.tail]);
    let texts = redact_texts(io, texts.collect()).await?;
    let picked = texts.chunks_exact(4).zip(left_out).map(|(one, left_out)| {
        let text = Excerpt { head: one[2].clone(), tail: one[3].clone(), left_out };
        PickedOutput { line: choice::menu_line(&one[0], &one[1]), text: text.without_margin(MARGIN as usize) }
    });
    Ok(picked.collect())
}

// Texts as they may leave.
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
