//! Recall from other sessions: quotes what they say to a question, with its sources, within a limit of tokens.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::coverage::SearchedSession;
use super::hits::{messages_file, read_message};
use super::index_files::IndexLost;
use super::log_bytes::LogBytes;
use super::recall_request::RecallRequest;
use super::{MAX_ATTEMPTS, SearchRequest, SearchResult, too_many_retries_error};
use crate::json::fields::Fields;
use crate::json::text::{Text, grapheme_boundary, to_json};
use crate::operation::context::load_vocabulary;
use crate::operation::session_files::SessionFiles;
use crate::operation::store::Store;
use crate::operation::vectors::request_nearness;
use crate::operation::{Io, Operation, OutgoingRedactor, Trouble};
use crate::recall::meaning;
use crate::recall::passages::find_passages;
use crate::recall::question::Question;
use crate::recall::rank::TermWeights;
use crate::recall::recall_sources::{
    RecallSource, SourcePassage, fit_sources, forgets, is_question, render_block,
};
use crate::recall::searchable_texts::{render_call, searchable_texts};
use crate::recall::sessions;
use crate::recall::terms::{Field, TermAnalyzer};
use crate::record::message::{self, Message, Role, ToolCall};
use crate::record::scan::records;
use crate::time;
use crate::tokens::{Encoding, count};

// Sessions that are looked into, and messages quoted of each.
const MAX_SESSIONS: usize = 12;
const MAX_MESSAGES_PER_SESSION: usize = 4;
// Passages quoted of one message.
const MAX_PASSAGES_PER_MESSAGE: usize = 4;
// A session whose best passage scores less than this share of the best one is no answer.
const MIN_BEST_SHARE: f32 = 0.4;
// Bytes before a result in which its call is looked for, and bytes from a question on in which its answer is.
const CALL_LOOKBACK_BYTES: u64 = 32 * 1024;
const ANSWER_LOOKAHEAD_BYTES: u64 = 128 * 1024;
// Bytes of a call that are shown with its result.
const MAX_CALL_BYTES: usize = 200;

/// What recall gives: the block, and where it is from.
pub(in crate::operation::store) struct RecallResponse {
    /// The recall block, for a model to read; empty where nothing answers.
    pub text: String,
    tokens: u32,
    encoding: Encoding,
    // The words of the question that are in the block.
    words: Vec<String>,
    sources: Vec<RecallSource>,
    // Why the host's vectors were not used.
    vector_refusal: Option<String>,
}

impl RecallResponse {
    /// The ids of the quoted messages.
    pub fn quoted_messages(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().flat_map(quoted_ids)
    }

    fn to_json(&self) -> String {
        let RecallResponse { text, tokens, encoding, words, sources, vector_refusal: refused } = self;
        format!(
            "{{\"text\":{},\"tokens\":{tokens},\"encoding\":\"{}\",\"words\":{},\"sources\":[{}]{}}}",
            to_json(text),
            encoding.as_str(),
            to_json(words),
            sources.iter().map(source_json).collect::<Vec<_>>().join(","),
            refused.as_ref().map(|why| format!(",\"embedRefused\":{}", to_json(why))).unwrap_or_default()
        )
    }
}

impl Store {
    /// Quotes what other sessions say to a question, as a recall block with its sources.
    ///
    /// Request: `{"maxTokens","maxBytes","project","all","exclude","encoding","model","embeds"}`, all optional. The
    /// store's project is searched, unless `project` names another one, or `all` is set; sessions and messages whose
    /// ids are in `exclude` are left out. Answer:
    /// `{"text","tokens","encoding","words","sources":[{"session","title","agent","timestamp","messages"}]}`, as JSON,
    /// with `embedRefused` where the host was asked for vectors that were not used. The text is empty where nothing
    /// answers.
    pub fn recall(
        self: &Rc<Store>,
        question: String,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, String> {
        let (store, redactor) = (self.clone(), redactor.clone());
        Operation::new(|io| async move {
            let request = RecallRequest::from_json(&request)?;
            Ok(store.recall_sessions(&io, &question, &request, &redactor).await?.to_json())
        })
    }

    pub(in crate::operation::store) async fn recall_sessions(
        &self,
        io: &Io,
        question: &str,
        request: &RecallRequest,
        redactor: &OutgoingRedactor,
    ) -> Result<RecallResponse, Trouble> {
        let RecallRequest { encoding, has_vectors: embeds, .. } = *request;
        let vocabulary = load_vocabulary(io, encoding.as_str()).await?;
        let mut words = TermAnalyzer::default();
        let recall_question = Question::new(question, &mut words);
        let mut sources =
            self.find_sources(io, recall_question.clone(), request, redactor, &mut words).await?;
        let refused =
            if embeds { refusal_message(score_by_meaning(io, question, &mut sources).await)? } else { None };
        let counted = |text: &str| count(text, vocabulary.as_deref()).tokens;
        let fits = |text: &str| text.len() <= request.max_bytes && counted(text) <= request.max_tokens;
        let sources = fit_sources(sources, &fits);
        let text = render_block(&sources);
        let tokens = if text.is_empty() { 0 } else { counted(&text) };
        let words = find_quoted_words(&recall_question, &sources, &mut words);
        Ok(RecallResponse { text, tokens, encoding, words, sources, vector_refusal: refused })
    }

    async fn find_sources(
        &self,
        io: &Io,
        recall_question: Question,
        request: &RecallRequest,
        redactor: &OutgoingRedactor,
        words: &mut TermAnalyzer,
    ) -> Result<Vec<RecallSource>, Trouble> {
        if recall_question.terms.is_empty() {
            return Ok(Vec::new());
        }
        let question = SearchRequest::for_recall(recall_question, request.list_request.clone());
        for _ in 0..MAX_ATTEMPTS {
            let answer = self.answer_with_retries(io, &question, redactor, words).await?;
            match self.collect_sources(io, &question, &answer, request, redactor, words).await {
                Ok(sources) => return Ok(sources),
                Err(lost) => self.recover_index(io, lost).await?,
            }
        }
        Err(too_many_retries_error())
    }

    async fn collect_sources(
        &self,
        io: &Io,
        question: &SearchRequest,
        answer: &SearchResult,
        request: &RecallRequest,
        redactor: &OutgoingRedactor,
        words: &mut TermAnalyzer,
    ) -> Result<Vec<RecallSource>, IndexLost> {
        let Some(recall_question) = &question.recall_question else { return Ok(Vec::new()) };
        let worth = answer.ranking.worth.for_many_documents(&recall_question.terms);
        let Some(least) = worth.least_score(recall_question) else { return Ok(Vec::new()) };
        let mut sources: Vec<RecallSource> = Vec::new();
        let mut best = 0.0_f32;
        for ranked in answer.ranking.sessions.iter().take(MAX_SESSIONS) {
            let session = &answer.sessions[ranked.session as usize];
            if request.excluded_ids.contains(&session.listed.entry.id) {
                continue;
            }
            let files = self.unopened_session(&session.log.place, "");
            let own = redactor.unreported_copy_for(io, &files.folder()).await?;
            let quoting = SourceQuoter {
                io,
                log_bytes: &answer.log_bytes,
                redactor: &own,
                question: recall_question,
                term_weights: &worth,
                excluded_ids: &request.excluded_ids,
            };
            let mut source = quoting.quote_session(answer, ranked, &files, words).await?;
            source.passages.retain(|passage| worth.normalize_score(passage.score) >= least);
            let score = source.passages.iter().map(|passage| passage.score).fold(0.0, f32::max);
            best = best.max(score);
            if source.passages.is_empty() || score < MIN_BEST_SHARE * best {
                continue;
            }
            source.passages.iter().for_each(|passage| {
                redactor.report_from(&own, &[&*passage.speaker, &*passage.text].concat())
            });
            self.describe_source(io, session, redactor, &mut source).await?;
            sources.push(source);
        }
        Ok(sources)
    }

    async fn describe_source(
        &self,
        io: &Io,
        session: &SearchedSession,
        redactor: &OutgoingRedactor,
        source: &mut RecallSource,
    ) -> Result<(), Trouble> {
        let listed = self.outgoing_session_json(io, &session.listed, redactor).await?;
        let title = Fields::parse(&listed).ok().and_then(|fields| Text::decode(fields.raw("title")?));
        source.title = title.map(Text::into_shown).unwrap_or_default();
        source.id = session.listed.entry.id.clone();
        source.agent = session.listed.entry.agent.clone();
        Ok(())
    }
}

// Reorders passages by words and meaning together, by giving the scores that there are to others.
async fn score_by_meaning(io: &Io, question: &str, sources: &mut [RecallSource]) -> Result<(), Trouble> {
    let mut passages: Vec<&mut SourcePassage> =
        sources.iter_mut().flat_map(|source| &mut source.passages).collect();
    passages.sort_by(|a, b| b.score.total_cmp(&a.score));
    passages.truncate(meaning::MAX_TEXTS);
    let scores: Vec<f32> = passages.iter().map(|passage| passage.score).collect();
    let nearness =
        request_nearness(io, question, passages.iter().map(|passage| passage.text.clone())).await?;
    meaning::reorder_by_nearness(&mut passages, &nearness);
    passages.into_iter().zip(scores).for_each(|(passage, score)| passage.score = score);
    Ok(())
}

// Turns a failure of the host's vectors into the reason to report; the order by words then stays.
fn refusal_message(scored: Result<(), Trouble>) -> Result<Option<String>, Trouble> {
    match scored {
        Ok(()) => Ok(None),
        Err(trouble) if trouble.is_bug() => Err(trouble),
        Err(trouble) => Ok(Some(trouble.message().into())),
    }
}

// The ids of a session's quoted messages, each once.
fn quoted_ids(source: &RecallSource) -> Vec<&str> {
    let mut messages: Vec<&str> = Vec::new();
    for passage in &source.passages {
        if !messages.contains(&&*passage.id) {
            messages.push(&passage.id);
        }
    }
    messages
}

fn source_json(source: &RecallSource) -> String {
    let agent = if source.agent.is_empty() {
        String::new()
    } else {
        format!("\"agent\":{},", to_json(&source.agent))
    };
    format!(
        "{{\"session\":{},\"title\":{},{agent}\"timestamp\":{},\"messages\":{}}}",
        to_json(&source.id),
        to_json(&source.title),
        to_json(&source.timestamp),
        to_json(&quoted_ids(source))
    )
}

// The words of the question that are in the quotes, each once.
fn find_quoted_words(
    recall_question: &Question,
    sources: &[RecallSource],
    words: &mut TermAnalyzer,
) -> Vec<String> {
    let mut has: Vec<usize> = Vec::new();
    for passage in sources.iter().flat_map(|source| &source.passages) {
        for text in [&passage.text, &passage.speaker] {
            words.for_each_term(text, Field::Said, &mut |term| has.extend(recall_question.find_term(term)));
        }
    }
    has.sort_unstable();
    let mut found: Vec<String> = Vec::new();
    for term in has {
        let word = &recall_question.terms[term].word;
        if !found.contains(word) {
            found.push(word.clone());
        }
    }
    found
}

/// Quotes a session's passages for a question.
struct SourceQuoter<'a> {
    io: &'a Io,
    log_bytes: &'a LogBytes,
    redactor: &'a OutgoingRedactor,
    question: &'a Question,
    term_weights: &'a TermWeights,
    excluded_ids: &'a [String],
}

impl SourceQuoter<'_> {
    async fn quote_session(
        &self,
        answer: &SearchResult,
        ranked: &sessions::RankedSession,
        files: &SessionFiles,
        words: &mut TermAnalyzer,
    ) -> Result<RecallSource, IndexLost> {
        let mut source = RecallSource { ms: i64::MIN, ..RecallSource::default() };
        let mut passages: Vec<(u64, SourcePassage)> = Vec::new();
        let mut terms: Vec<usize> = Vec::new();
        // Ordered by score alone, not by role: what answers a question about work stands in the model's long answers.
        let best = &ranked.best[..ranked.best.len().min(MAX_MESSAGES_PER_SESSION)];
        for (best, document) in answer.read_matches(self.io, best).await? {
            let at = document.line_start;
            if passages.iter().any(|(other, _)| *other == at) {
                continue;
            }
            let Some(message) = read_message(self.io, (files, self.log_bytes), at, self.redactor).await?
            else {
                continue;
            };
            let found = self.with_answer(files, at, message).await?;
            // An excluded answer excludes its question, and the other way round.
            if found.iter().any(|(_, message)| self.excluded_ids.contains(&message.id)) {
                continue;
            }
            let mut score = best.score;
            for (at, message) in found {
                if passages.iter().any(|(other, _)| *other == at) {
                    continue;
                }
                let quotes = self.quote_message(files, at, &message, score, words).await?;
                // An answer is worth as much as its question, whatever words it has.
                score = quotes.iter().map(|(quote, _)| quote.score).fold(score, f32::max);
                if message.content.as_str().trim() == self.question.text {
                    continue;
                }
                if let Some((_, has)) = quotes.first() {
                    terms.extend(has);
                    let when = message.timestamp.as_deref().and_then(|text| Some((text, time::parse(text)?)));
                    if let Some((text, ms)) = when.filter(|(_, ms)| *ms > source.ms) {
                        (source.timestamp, source.ms) = (text.into(), ms);
                    }
                }
                passages.extend(quotes.into_iter().map(|(passage, _)| (at, passage)));
            }
        }
        passages.sort_by_key(|(at, _)| *at);
        source.passages = passages.into_iter().map(|(_, passage)| passage).collect();
        terms.sort_unstable();
        terms.dedup();
        let sum: f32 = terms.iter().map(|term| self.term_weights.terms[*term]).sum();
        source.share = sum / self.term_weights.sum.max(f32::MIN_POSITIVE);
        Ok(source)
    }

    // Returns a message, a question together with its answer: of the assistant's next messages the one with most of
    // the question's words. Returns nothing where the assistant said that it does not remember.
    async fn with_answer(
        &self,
        files: &SessionFiles,
        at: u64,
        message: Message,
    ) -> Result<Vec<(u64, Message)>, Trouble> {
        if message.role == Some(Role::Assistant) && forgets(message.content.as_str()) {
            return Ok(Vec::new());
        }
        if message.role != Some(Role::User) || !is_question(message.content.as_str()) {
            return Ok(Vec::from([(at, message)]));
        }
        let bytes = self.io.read_range(&messages_file(files), at, at + ANSWER_LOOKAHEAD_BYTES).await?;
        let mut answers: Vec<(u64, Message)> = Vec::new();
        for record in records(&bytes).skip(1) {
            let Some(next) = message::read(&record).0 else { continue };
            match next.role {
                Some(Role::User) if !next.is_injected() => break,
                Some(Role::Assistant) if !next.content.as_str().trim().is_empty() => {
                    answers.push((at + record.start, next));
                }
                _ => {}
            }
        }
        let (places, passages): (Vec<u64>, Vec<Message>) = answers.into_iter().unzip();
        let passages = self.redactor.redact_messages(self.io, passages).await?;
        let mut answers: Vec<(u64, Message)> = places.into_iter().zip(passages).collect();
        let mut words = TermAnalyzer::default();
        let weight = |(_, answer): &(u64, Message)| self.weigh_text(answer.content.as_str(), &mut words);
        let mut weights: Vec<f32> = answers.iter().map(weight).collect();
        // Among equals the last message, which says what came of it.
        if let Some(last) = weights.last_mut() {
            *last += f32::MIN_POSITIVE;
        }
        let best = (0..answers.len()).max_by(|a, b| weights[*a].total_cmp(&weights[*b]));
        let Some(best) = best.map(|best| answers.swap_remove(best)) else {
            return Ok(Vec::from([(at, message)]));
        };
        if forgets(best.1.content.as_str()) {
            return Ok(Vec::new());
        }
        let whole = read_message(self.io, (files, self.log_bytes), best.0, self.redactor).await?;
        Ok([Some((at, message)), whole.map(|whole| (best.0, whole))].into_iter().flatten().collect())
    }

    // The summed weights of the question's terms that a text has.
    fn weigh_text(&self, text: &str, words: &mut TermAnalyzer) -> f32 {
        let mut has: Vec<usize> = Vec::new();
        words.for_each_term(text, Field::Said, &mut |term| has.extend(self.question.find_term(term)));
        has.sort_unstable();
        has.dedup();
        has.into_iter().map(|term| self.term_weights.terms[term]).sum()
    }

    // Returns the best passages of a message in their order, each with all terms that the message has. `score`: the
    // message's own.
    async fn quote_message(
        &self,
        files: &SessionFiles,
        at: u64,
        message: &Message,
        score: f32,
        words: &mut TermAnalyzer,
    ) -> Result<Vec<(SourcePassage, Vec<usize>)>, Trouble> {
        let Some(speaker) = self.find_speaker(files, at, message).await? else { return Ok(Vec::new()) };
        let texts = searchable_texts(message);
        let mut all: Vec<(f32, usize, SourcePassage, Vec<usize>)> = Vec::new();
        for (nth, (field, text)) in texts.iter().enumerate() {
            let passages = find_passages(text, *field, self.question, self.term_weights, words);
            let is_whole = passages.len() == 1;
            let is_answer = nth == 0 && message.role == Some(Role::Assistant);
            // Of an answer with none of the words its beginning is quoted.
            let is_wordless = is_answer && passages.iter().all(|passage| passage.terms.is_empty());
            for (place, passage) in passages.into_iter().enumerate() {
                let is_needed = is_wordless && place == 0;
                if passage.terms.is_empty() && !is_needed {
                    continue;
                }
                let quoted = SourcePassage {
                    id: message.id.clone(),
                    speaker: speaker.clone(),
                    text: text[passage.place.clone()].into(),
                    is_cut: [passage.place.start > 0, passage.place.end < text.len()],
                    asks: message.role == Some(Role::User) && is_question(message.content.as_str()),
                    // A short message was ranked together with those around it.
                    score: if is_whole || is_needed { passage.score.max(score) } else { passage.score },
                };
                let is_named = passage.terms.iter().any(|term| self.question.terms[*term].is_name);
                if !self.question.is_order || is_named {
                    all.push((passage.score, nth * 10_000 + passage.place.start, quoted, passage.terms));
                }
            }
        }
        let terms: Vec<usize> = all.iter().flat_map(|(_, _, _, terms)| terms.iter().copied()).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.truncate(MAX_PASSAGES_PER_MESSAGE);
        all.sort_by_key(|(_, place, _, _)| *place);
        Ok(all.into_iter().map(|(_, _, quoted, _)| (quoted, terms.clone())).collect())
    }

    // Names the speaker; for a result that is its call. None where the call is not known.
    async fn find_speaker(
        &self,
        files: &SessionFiles,
        at: u64,
        message: &Message,
    ) -> Result<Option<String>, Trouble> {
        Ok(match message.role {
            Some(Role::User) => Some("user".into()),
            Some(Role::Assistant) => Some("assistant".into()),
            Some(Role::Tool) => {
                let Some(tool) = &message.tool else { return Ok(None) };
                let start = at.saturating_sub(CALL_LOOKBACK_BYTES);
                let bytes = self.io.read_range(&messages_file(files), start, at).await?;
                let from =
                    if start == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(0, |feed| feed + 1) };
                let messages = records(&bytes[from..]).filter_map(|record| message::read(&record).0);
                let is_it = |call: &&ToolCall| call.id == tool.call_id;
                let asking = messages.filter(|message| message.tool_calls().iter().any(|call| is_it(&call)));
                let left =
                    self.redactor.redact_messages(self.io, asking.last().into_iter().collect()).await?;
                let call = left.first().and_then(|message| message.tool_calls().iter().find(is_it));
                let named =
                    call.map_or_else(|| tool.name.clone(), |call| render_call(call).replace('\n', " "));
                Some(named[..grapheme_boundary(&named, MAX_CALL_BYTES, false)].to_string())
            }
            Some(Role::System) | None => None,
        })
    }
}
