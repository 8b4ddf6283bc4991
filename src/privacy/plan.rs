//! The redaction of one text: the places of its secrets, also in text that it holds in another form.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use serde_json::value::RawValue;

use crate::privacy::SecretSpan;
use crate::privacy::encodings::{Coding, EncodedText, base64_in, is_like_json, strings_in};
use crate::privacy::known_secrets::KnownSecrets;
use crate::privacy::placeholder::is_placeholder;

/// How deep encodings inside encodings are looked into.
const MAX_ENCODING_DEPTH: usize = 4;
/// The fewest letters of a secret that a rule knows.
const MIN_SECRET_CHARS: usize = 6;
/// Names and values of leftoff's format and of providers', as long as a part of a secret may be: finding one inside a
/// secret is no reason to change what a message is.
const FORMAT_WORDS: &str = "\
    arguments assistant attachments cache_control callProviderMetadata candidates contentBlocks \
    content_filter contents createdAt custom_tool_call custom_tool_call_output data-url developer document \
    durationMs dynamic-tool encrypted_content ephemeral error-json error-text errorText execution-denied \
    exitCode file-data file-url fileData file_data file_url filename finishReason finish_reason function \
    functionCall functionResponse function_call function_call_output image_url inlineData input-available \
    input_audio input_file input_image input_text is_error mediaType media_type messageId messages mimeType \
    output-available output-denied output-error output_text parentId providerExecuted providerMetadata \
    providerOptions rawInput reasoning reasoningEncryptedContent reasoning_content redactedData \
    redacted_thinking response signature step-start stopReason stop_reason summary_text systemInstruction \
    thinking thoughtSignature thought_signature timestamp tool-approval-request tool-approval-response \
    tool-call tool-result toolCallId toolCalls toolName tool_call tool_call_id tool_calls tool_result \
    tool_use tool_use_id";
/// The longest name that is looked at; a longer one tells nothing.
const MAX_NAME_BYTES: usize = 100;

/// A text with the secrets found in it and in its decoded parts.
#[derive(Debug)]
pub(super) struct RedactionPlan {
    text: String,
    /// The bytes before the text in what is looked at; `None` if the text itself is not looked at.
    head: Option<usize>,
    hits: Vec<SecretHit>,
    inner: Vec<(Range<usize>, Coding, RedactionPlan)>,
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretHit {
    place: Range<usize>,
    pub secret: String,
    pub rule: String,
}

impl RedactionPlan {
    /// Plans the redaction of a text that stands under a key. Adds to `told` the texts to look at: with their key,
    /// since `AWS_SECRET_ACCESS_KEY` tells more than the value.
    pub fn new(text: String, key: &str, shown: &mut Vec<String>) -> RedactionPlan {
        RedactionPlan::build_at_depth(text, key, shown, 0)
    }

    fn build_at_depth(text: String, key: &str, shown: &mut Vec<String>, depth: usize) -> RedactionPlan {
        let mut plan = RedactionPlan { text, head: None, hits: Vec::new(), inner: Vec::new() };
        if plan.text.chars().take(MIN_SECRET_CHARS).count() < MIN_SECRET_CHARS {
            return plan;
        }
        let is_json = is_like_json(&plan.text);
        let is_whole = is_json && key == "arguments" && is_valid(&plan.text);
        let is_deepest = depth >= MAX_ENCODING_DEPTH;
        // In JSON, each string is looked at with its key: so it stays JSON, and of a repeated key both values count.
        let strings = if is_json && !is_deepest { strings_in(&plan.text, is_whole) } else { Vec::new() };
        let mut files = if is_whole || is_deepest { Vec::new() } else { base64_in(&plan.text) };
        files.retain(|file| !overlaps_any(&strings, |string| &string.place, &file.place));
        let (mut strings, mut files) = (strings.into_iter().peekable(), files.into_iter().peekable());
        // Strings and files are taken in the order of the text.
        while let Some(EncodedText { place, text, key, coding }) = match (strings.peek(), files.peek()) {
            (Some(string), Some(file)) if file.place.start < string.place.start => files.next(),
            (None, _) => files.next(),
            _ => strings.next(),
        } {
            let inner = RedactionPlan::build_at_depth(text, &key, shown, depth + 1);
            plan.inner.push((place, coding, inner));
        }
        if !is_whole {
            let is_telling = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
            if (1..=MAX_NAME_BYTES).contains(&key.len()) && key.bytes().all(is_telling) {
                plan.head = Some(key.len() + 2);
                shown.push(format!("{key}=\"{}\"", plan.text));
            } else {
                plan.head = Some(0);
                shown.push(plan.text.clone());
            }
        }
        plan
    }

    /// Takes the secrets found in this plan's texts, in order; once `spans` is empty, none were found.
    pub fn take_spans(&mut self, spans: &mut core::slice::Iter<'_, Vec<SecretSpan>>, known: &KnownSecrets) {
        for (_, _, inner) in &mut self.inner {
            inner.take_spans(spans, known);
        }
        if let Some(head) = self.head {
            let spans = spans.next().map(Vec::as_slice).unwrap_or_default();
            self.hits = find_hits(&self.text, spans, head, known);
        }
    }

    /// Returns the text as it was.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Renders the text with another one for each secret; `None` if it has none.
    pub fn render(&self, stands: &mut dyn FnMut(&SecretHit) -> String) -> Option<String> {
        // Where a secret stands in the text itself, it does not matter what of it is encoded.
        let mut inner = self
            .inner
            .iter()
            .filter(|(place, ..)| !overlaps_any(&self.hits, |hit| &hit.place, place))
            .peekable();
        let mut hits = self.hits.iter().peekable();
        let (mut clean, mut done) = (String::new(), 0);
        loop {
            let is_hit = match (hits.peek(), inner.peek()) {
                (None, None) => break,
                (Some(hit), Some((place, ..))) => hit.place.start < place.start,
                (hit, _) => hit.is_some(),
            };
            let stands_there = if is_hit {
                hits.next().map(|hit| (&hit.place, stands(hit)))
            } else {
                inner
                    .next()
                    .and_then(|(place, coding, plan)| Some((place, coding.encode(&plan.render(stands)?))))
            };
            if let Some((place, stands_there)) = stands_there {
                clean.push_str(&self.text[done..place.start]);
                clean.push_str(&stands_there);
                done = place.end;
            }
        }
        (done > 0).then(|| {
            clean.push_str(&self.text[done..]);
            clean
        })
    }
}

/// True if one of these, which are in order, overlaps a range.
fn overlaps_any<T>(all: &[T], place_of: impl Fn(&T) -> &Range<usize>, place: &Range<usize>) -> bool {
    let behind = all.partition_point(|span| place_of(span).end <= place.start);
    all.get(behind).is_some_and(|span| place_of(span).start < place.end)
}

fn is_valid(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Merges secrets that overlap, named by the first: a secret that a rule found by its bytes, a part of a known one by
/// the whole secret.
fn find_hits(text: &str, spans: &[SecretSpan], head: usize, known: &KnownSecrets) -> Vec<SecretHit> {
    let mut places: Vec<(Range<usize>, &str, Option<&str>)> = Vec::new();
    for SecretSpan { start, end, rule } in spans {
        let place =
            floor_to_char(text, start.saturating_sub(head))..ceil_to_char(text, end.saturating_sub(head));
        places.push((place, rule, None));
    }
    let parts = if is_of_formats(text) { Vec::new() } else { known.find(text) };
    places.extend(parts.into_iter().map(|part| (part.place, part.rule, Some(part.secret))));
    places.retain(|(place, ..)| place.start < place.end && !is_placeholder(&text[place.clone()]));
    // Of two at one place the one that a rule found is first.
    places.sort_by(|(a, ..), (b, ..)| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
    let mut all: Vec<(Range<usize>, &str, Option<&str>)> = Vec::new();
    for span in places {
        match all.last_mut().filter(|last| span.0.start < last.0.end) {
            Some(last) => last.0.end = last.0.end.max(span.0.end),
            None => all.push(span),
        }
    }
    let hit = |(place, rule, secret): (Range<usize>, &str, Option<&str>)| {
        let secret = secret.unwrap_or(&text[place.clone()]).into();
        SecretHit { place, secret, rule: rule.into() }
    };
    all.into_iter().map(hit).collect()
}

fn is_of_formats(text: &str) -> bool {
    text.len() < 24 && FORMAT_WORDS.split(' ').any(|name| name == text)
}

// A host may count in other units, and point into a character.
fn floor_to_char(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn ceil_to_char(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
