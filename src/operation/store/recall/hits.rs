//! Search hits as JSON. Each message is read from its log, since what the index says of it is no more than a claim.
//!
//! Vectors reorder hits and find none: the caller's model may be gone tomorrow, or be another one. To find by vectors,
//! each message would need one before anybody asks, some 200 MB for a gigabyte of logs. So the best by words, 64 texts
//! at most, are ordered by both, joined by rank; a message that no word finds is not found, and no file depends on a
//! model.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::document_order::{DocumentOrder, order_matches};
use super::index_files::{IndexFile, IndexLost};
use super::log_bytes::LogBytes;
use super::message_numbers::MessageNumbers;
use crate::json::text::to_json;
use crate::layout::{File, MESSAGES};
use crate::operation::session_files::SessionFiles;
use crate::operation::vectors::request_nearness;
use crate::operation::{Io, OutgoingRedactor, Trouble};
use crate::recall::documents::Document;
use crate::recall::meaning::reorder_by_nearness;
use crate::recall::question::{Term, TermReason};
use crate::recall::rank::RankedDocument;
use crate::recall::searchable_texts::searchable_texts;
use crate::recall::sessions::RankedSession;
use crate::recall::shortlist::line_span;
use crate::recall::terms::{Field, TermAnalyzer};
use crate::record::message::{self, Message, Role};
use crate::record::scan::Record;
use crate::resume::excerpt::MarkedText;
use crate::resume::log_match::ExcerptPart;

// A hit that scores less than this share of the best one is left out.
const MIN_SCORE_SHARE: f32 = 0.5;
// Bytes that are read first for a line; most lines are shorter.
const LINE_READ_BYTES: u64 = 16 * 1024;
// The most bytes of lines that are read at once for a page of hits.
const MAX_PAGE_BYTES: u64 = 1 << 20;

/// A session's ranked messages, the best first, each with its document.
pub(super) type Matches = Vec<(RankedDocument, Document)>;

/// How a hit matches, from the best kind to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MatchKind {
    /// The session's title or summary has the words.
    Title,
    /// The message has all words of the question.
    All,
    /// It has some of them.
    Some,
    /// It has words that begin with those of the question.
    Prefix,
    /// It has words that are spelled nearly like those of the question.
    Spelling,
    /// The messages around it have them.
    Near,
}

#[derive(Serialize)]
struct HitJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'a str>,
    excerpt: Vec<ExcerptPart>,
    found: MatchKind,
    words: Vec<&'a str>,
    // For words of the question that occur nowhere, the similar ones found in their place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instead: Vec<Replacement<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    nowhere: &'a [&'a str],
}

/// A word of the question that occurs nowhere, and the similarly spelled one that was found.
#[derive(Serialize)]
struct Replacement<'a> {
    word: &'a str,
    found: &'a str,
}

/// A search hit: a message, or a session's title.
pub(super) struct SearchHit {
    /// The hit as JSON, without its session.
    pub json: String,
    // The message's id; none for a title.
    id: Option<String>,
    // The excerpt, as it may leave.
    excerpt_text: String,
    // The whole from which the excerpt is cut, as `OutgoingRedactor::json_if_reporting` gives it.
    source_json: String,
}

/// Reorders sessions, and the hits of each, by words and meaning together. A session is as near as its nearest hit.
pub(super) async fn order_by_meaning<T>(
    io: &Io,
    question: &str,
    found: &mut Vec<(T, Vec<SearchHit>)>,
) -> Result<(), Trouble> {
    let texts = found.iter().flat_map(|(_, hits)| hits).map(|hit| hit.excerpt_text.clone());
    let nearness = request_nearness(io, question, texts).await?;
    let mut rest = &*nearness;
    let mut nearest = Vec::new();
    for (_, hits) in found.iter_mut() {
        let (own, others) = rest.split_at(hits.len());
        nearest.push(own.iter().copied().fold(f32::MIN, f32::max));
        reorder_by_nearness(hits, own);
        rest = others;
    }
    reorder_by_nearness(found, &nearest);
    Ok(())
}

/// Reads the hits of ranked sessions: the question's terms, and how its hits are to be shown.
pub(super) struct HitReader<'a> {
    pub files: &'a [IndexFile],
    pub order: &'a DocumentOrder,
    pub log_bytes: &'a LogBytes,
    pub terms: &'a [Term],
    pub term_weights: &'a [f32],
    pub redactor: &'a Rc<OutgoingRedactor>,
    /// The most messages written of one session.
    pub max_messages: usize,
    /// Fills up to `max_messages`, also with messages that match far worse than the best.
    pub fills: bool,
    /// Each hit has its message's number in the session.
    pub has_numbers: bool,
    /// The words of the question that nothing in the searched sessions has.
    pub absent_words: Vec<&'a str>,
}

impl HitReader<'_> {
    /// Reads what matches in these sessions, and the lines of the hits, each in one step. `log`: a session's log.
    pub async fn read_lines(
        &self,
        io: &Io,
        sessions: &[&RankedSession],
        log: impl Fn(&RankedSession) -> File,
    ) -> Result<Vec<Matches>, IndexLost> {
        let best: Vec<RankedDocument> = sessions.iter().flat_map(|ranked| ranked.best.clone()).collect();
        let mut found = self.order.read_matches(io, self.files, &best).await?.into_iter();
        let (mut all, mut lines, mut size) = (Vec::new(), Vec::new(), 0);
        for ranked in sessions {
            let mut matches: Matches = found.by_ref().take(ranked.best.len()).collect();
            order_matches(self.terms, &mut matches);
            self.retain_hits(&mut matches);
            for (_, document) in matches.iter().take(self.max_messages) {
                let (file, line) = (log(ranked), line_span(*document));
                size += line.end - line.start;
                if size <= MAX_PAGE_BYTES && self.log_bytes.line_at(&file, line.start).is_none() {
                    lines.push((file, line));
                }
            }
            all.push(matches);
        }
        self.log_bytes.read(io, lines).await?;
        Ok(all)
    }

    // Keeps the matches that may be hits, each message once.
    fn retain_hits(&self, matches: &mut Matches) {
        // A question of one word has no partial matches: every message with the word has all of it.
        let first = matches.first().filter(|_| !self.fills && !self.is_one_word());
        let least = first.map_or(0.0, |(first, _)| MIN_SCORE_SHARE * first.score);
        let mut met = Vec::new();
        matches.retain(|(ranked, Document { line_start, .. })| {
            let is_hit = ranked.score >= least && !met.contains(line_start);
            met.push(*line_start);
            is_hit
        });
    }

    /// Reads a session's hits, best first. `names`: its title, its summary.
    pub async fn read_hits(
        &self,
        io: &Io,
        best: Matches,
        files: &SessionFiles,
        names: &[&str],
        words: &mut TermAnalyzer,
    ) -> Result<Vec<SearchHit>, IndexLost> {
        if best.is_empty() {
            return Ok(self.title_hit(names, words).into_iter().collect());
        }
        let mut hits = Vec::new();
        let own = self.redactor.unreported_copy_for(io, &files.folder()).await?;
        let mut near = Vec::new();
        for (best, Document { line_start, .. }) in best {
            if hits.len() == self.max_messages {
                break;
            }
            if let Some(message) = read_message(io, (files, self.log_bytes), line_start, &own).await? {
                let (found, hit) = self.message_hit(&message, best.field, words);
                if found == MatchKind::Near && self.is_one_word() { near.push(hit) } else { hits.push(hit) }
            }
        }
        // A message beside one that has the single word seldom answers: it counts only where no other message was
        // found.
        let left = if hits.is_empty() { self.max_messages } else { 0 };
        hits.extend(near.into_iter().take(left));
        for hit in &hits {
            self.redactor.report_value(io, &own, (&hit.source_json, &hit.json)).await?;
        }
        if self.has_numbers {
            let numbers = MessageNumbers::read(io, files).await?;
            hits.iter_mut()
                .for_each(|hit| numbers.add_to(hit.id.as_deref().unwrap_or_default(), &mut hit.json));
        }
        Ok(hits)
    }

    fn title_hit(&self, names: &[&str], words: &mut TermAnalyzer) -> Option<SearchHit> {
        let best = names.iter().max_by_key(|name| self.mark_text(name, words).found_terms().count_ones())?;
        let marked = self.mark_text(best, words);
        let instead = self.find_replacements(&marked);
        let hit_json = HitJson {
            id: None,
            role: None,
            timestamp: None,
            excerpt: marked.excerpt(self.term_weights),
            found: MatchKind::Title,
            words: self.matched_words(marked.found_terms()),
            missing: self.missing_words(marked.found_terms()),
            nowhere: &self.absent_words,
            instead,
        };
        Some(self.build_hit(&hit_json, &best))
    }

    fn message_hit(
        &self,
        message: &Message,
        field: usize,
        words: &mut TermAnalyzer,
    ) -> (MatchKind, SearchHit) {
        let texts = searchable_texts(message);
        let is_of = |one: Field| usize::from(one != Field::Said) == field;
        let (mut all, mut best, mut most) = (0, "", 0);
        for (_, text) in texts.iter().filter(|(one, _)| is_of(*one)) {
            let has = self.mark_text(text, words).found_terms();
            all |= has;
            if best.is_empty() || has.count_ones() > most {
                (best, most) = (text, has.count_ones());
            }
        }
        let marked = self.mark_text(best, words);
        let hit_json = HitJson {
            id: Some(&message.id),
            role: message.role,
            timestamp: message.timestamp.as_deref(),
            excerpt: marked.excerpt(self.term_weights),
            found: self.match_kind(all),
            words: self.matched_words(all),
            instead: self.find_replacements(&marked),
            missing: self.missing_words(all),
            nowhere: &self.absent_words,
        };
        (hit_json.found, self.build_hit(&hit_json, message))
    }

    fn build_hit<T: Serialize>(&self, hit_json: &HitJson<'_>, whole: &T) -> SearchHit {
        let text = hit_json.excerpt.iter().map(|part| part.text.as_str()).collect();
        let id = hit_json.id.map(String::from);
        SearchHit {
            json: to_json(hit_json),
            id,
            excerpt_text: text,
            source_json: self.redactor.json_if_reporting(whole),
        }
    }

    fn mark_text<'t>(&self, text: &'t str, words: &mut TermAnalyzer) -> MarkedText<'t> {
        MarkedText::new(text, &|term| self.terms.iter().position(|one| one.text == term), words)
    }

    fn find_replacements<'m>(&'m self, marked: &MarkedText<'m>) -> Vec<Replacement<'m>> {
        let mut all: Vec<Replacement<'m>> = Vec::new();
        for (nth, term) in
            self.terms.iter().enumerate().filter(|(_, term)| term.reason == TermReason::Spelling)
        {
            if let Some(found) = marked.find_word(nth)
                && all.iter().all(|one| one.word != term.word)
            {
                all.push(Replacement { word: &term.word, found });
            }
        }
        all
    }

    fn is_one_word(&self) -> bool {
        self.matched_words(u64::MAX).len() == 1
    }

    fn match_kind(&self, has: u64) -> MatchKind {
        match self.terms_of(has).map(|term| term.reason).max() {
            None => MatchKind::Near,
            Some(TermReason::Prefix) => MatchKind::Prefix,
            Some(TermReason::Spelling) => MatchKind::Spelling,
            Some(TermReason::Word) if self.missing_words(has).is_empty() => MatchKind::All,
            Some(TermReason::Word) => MatchKind::Some,
        }
    }

    fn terms_of(&self, has: u64) -> impl Iterator<Item = &Term> {
        self.terms.iter().enumerate().filter(move |(nth, _)| has >> nth & 1 == 1).map(|(_, term)| term)
    }

    // The words of the question that these terms stand for, each once.
    fn matched_words(&self, terms: u64) -> Vec<&str> {
        distinct_words(self.terms_of(terms))
    }

    // The words of the question that none of these terms stands for.
    fn missing_words(&self, terms: u64) -> Vec<&str> {
        let has = self.matched_words(terms);
        self.matched_words(u64::MAX).into_iter().filter(|word| !has.contains(word)).collect()
    }
}

fn distinct_words<'a>(terms: impl Iterator<Item = &'a Term>) -> Vec<&'a str> {
    let mut words: Vec<&str> = Vec::new();
    for term in terms {
        if !words.contains(&&*term.word) {
            words.push(&term.word);
        }
    }
    words
}

/// Returns the words of the question of which no term matched. `unmet`: the terms that matched nothing, a bit for
/// each.
pub(super) fn absent_words(terms: &[Term], unmet: u64) -> Vec<&str> {
    let exact_terms = || terms.iter().enumerate().filter(|(_, term)| term.reason == TermReason::Word);
    let met = distinct_words(exact_terms().filter(|(nth, _)| unmet >> nth & 1 == 0).map(|(_, term)| term));
    distinct_words(exact_terms().map(|(_, term)| term).filter(|term| !met.contains(&&*term.word)))
}

/// The session's message log.
pub(super) fn messages_file(files: &SessionFiles) -> File {
    files.folder().child(MESSAGES)
}

async fn read_line(io: &Io, file: &File, at: u64) -> Result<Vec<u8>, Trouble> {
    let mut length = LINE_READ_BYTES;
    loop {
        let mut bytes = io.read_range(file, at, at + length).await?;
        if let Some(end) = memchr::memchr(b'\n', &bytes) {
            bytes.truncate(end);
            return Ok(bytes);
        }
        if (bytes.len() as u64) < length {
            return Ok(bytes);
        }
        length *= 4;
    }
}

/// Reads the message whose line begins at this byte, as it may leave; none where no line does, or the line does not
/// count. `read`: what was read of logs by now.
pub(super) async fn read_message(
    io: &Io,
    (files, read): (&SessionFiles, &LogBytes),
    at: u64,
    redactor: &OutgoingRedactor,
) -> Result<Option<Message>, Trouble> {
    let file = messages_file(files);
    let line = match read.line_at(&file, at) {
        Some(line) => line,
        None => read_line(io, &file, at).await?,
    };
    let Ok(json) = String::from_utf8(line) else { return Ok(None) };
    if files.is_skipped_line(io, json.as_bytes(), at).await? {
        return Ok(None);
    }
    let Some(message) = message::read(&Record::from_line(at, json)).0 else { return Ok(None) };
    let whole = files.unfold_message(io, message).await?;
    Ok(redactor.redact_messages(io, Vec::from([whole])).await?.pop())
}
