//! Exact search: quoted text and regular expressions, for which logs are read. Text in quotes must occur as written,
//! and the other words rank the messages that have it; what a regular expression matches no index can tell.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use regex::Regex;

use super::SearchRequest;
use super::coverage::SearchedSession;
use super::message_numbers::MessageNumbers;
use crate::error::Code;
use crate::json::text::to_json;
use crate::operation::log_search::BackwardSearch;
use crate::operation::message_pages::json_array;
use crate::operation::store::Store;
use crate::operation::{Io, OutgoingRedactor, Trouble};
use crate::recall::question::Question;
use crate::recall::terms::{Field, TermAnalyzer};
use crate::resume::log_match::{LogSearch, Pattern, split_quoted};

/// An exact search: the quoted texts, and the words that rank.
struct ExactQuery<'a> {
    question: &'a SearchRequest,
    redactor: &'a OutgoingRedactor,
    quoted_texts: Vec<&'a str>,
    // The words outside quotes, without those that say little.
    other_words: Question,
    excerpt_search: LogSearch,
}

#[derive(Debug)]
struct RegexPattern(Regex);

impl Pattern for RegexPattern {
    fn find_first(&self, text: &str) -> Option<Range<usize>> {
        self.0.find(text).map(|found| found.range())
    }
}

/// Compiles a regular expression.
fn parse_regex(text: &str) -> Result<Rc<dyn Pattern>, Trouble> {
    match Regex::new(text) {
        Ok(regex) => Ok(Rc::new(RegexPattern(regex))),
        Err(error) => {
            // The last line of the error says what is wrong, the others show where.
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let message = format!("expected a regular expression, but found {}: {why}", to_json(&text));
            Err(Trouble::new(Code::InvalidRequest, message))
        }
    }
}

/// A hit as JSON, without its session.
struct ExactHit {
    // How many of the unquoted words the message has.
    word_count: usize,
    json: String,
}

impl<'a> ExactQuery<'a> {
    fn new(
        question: &'a SearchRequest,
        redactor: &'a OutgoingRedactor,
        words: &mut TermAnalyzer,
    ) -> Result<ExactQuery<'a>, Trouble> {
        if question.is_regex {
            let (pattern, others) = (parse_regex(&question.text)?, Question::from_query("", words));
            let quoted = Vec::from([&*question.text]);
            return Ok(ExactQuery {
                question,
                redactor,
                quoted_texts: quoted,
                other_words: others,
                excerpt_search: LogSearch::for_pattern(pattern),
            });
        }
        let (mut quoted, others) = split_quoted(&question.text);
        let others = Question::from_query(&others.join(" "), words);
        if quoted.is_empty() && others.terms.is_empty() {
            quoted.push(question.text.trim());
        }
        let shows =
            LogSearch::of_parts(quoted.iter().copied().chain(others.terms.iter().map(|term| &*term.word)));
        Ok(ExactQuery {
            question,
            redactor,
            quoted_texts: quoted,
            other_words: others,
            excerpt_search: shows,
        })
    }

    fn to_search(&self) -> LogSearch {
        match self.excerpt_search.pattern() {
            Some(pattern) => LogSearch::for_pattern(pattern),
            None => LogSearch::of_parts(self.quoted_texts.iter().copied()),
        }
    }

    fn is_ranked(&self) -> bool {
        !self.other_words.terms.is_empty()
    }

    // The unquoted words that a text has, each once.
    fn matched_words(&self, text: &str, words: &mut TermAnalyzer) -> Vec<&str> {
        let mut has: Vec<&str> = Vec::new();
        words.for_each_term(text, Field::Said, &mut |term| {
            let word = self.other_words.find_term(term).map(|place| &*self.other_words.terms[place].word);
            if let Some(word) = word.filter(|word| !has.contains(word)) {
                has.push(word);
            }
        });
        has
    }

    // The field of unquoted words that a text lacks, with a comma behind it; empty where it has all.
    fn missing_words_field(&self, has: &[&str]) -> String {
        let mut missing: Vec<&str> = Vec::new();
        for term in &self.other_words.terms {
            if !has.contains(&&*term.word) && !missing.contains(&&*term.word) {
                missing.push(&term.word);
            }
        }
        if missing.is_empty() { String::new() } else { format!("\"missing\":{},", to_json(&missing)) }
    }
}

impl Store {
    /// Writes the messages that have all quoted texts. If there are other words, sessions and messages with more of
    /// them come first; else the most recently active session and its newest message, written as they are found.
    pub(super) async fn search_exact(
        &self,
        io: &Io,
        question: &SearchRequest,
        redactor: &OutgoingRedactor,
        words: &mut TermAnalyzer,
    ) -> Result<(), Trouble> {
        let exactly = ExactQuery::new(question, redactor, words)?;
        let sessions = self.list_searched(io, question).await?;
        let mut ranked: Vec<(&SearchedSession, Vec<ExactHit>)> = Vec::new();
        let mut count = 0;
        for session in sessions.iter().filter(|session| session.log.is_searched) {
            let found = self.search_exact_in(io, &exactly, session, words).await;
            let (is_told, hits) = self.default_if_unreadable(&session.log.place.folder(), found)?;
            if !hits.is_empty() {
                ranked.push((session, hits));
            }
            count += usize::from(is_told);
            if count == question.limit {
                return Ok(());
            }
        }
        ranked.sort_by_key(|(_, hits)| Reverse(hits.first().map_or(0, |hit| hit.word_count)));
        for (session, hits) in ranked.iter().take(question.limit) {
            self.write_exact_hits(io, &exactly, session, hits).await?;
        }
        Ok(())
    }

    // Returns a session's best hits. If no words rank them, writes each as it is found, and returns whether there were
    // any.
    async fn search_exact_in(
        &self,
        io: &Io,
        exactly: &ExactQuery<'_>,
        session: &SearchedSession,
        words: &mut TermAnalyzer,
    ) -> Result<(bool, Vec<ExactHit>), Trouble> {
        let files = self.unopened_session(&session.log.place, "");
        let mut log = BackwardSearch::new(&files, exactly.to_search(), exactly.redactor);
        let most = exactly.question.max_messages(exactly.is_ranked());
        let mut numbers = None;
        let (mut best, mut hit_count): (Vec<ExactHit>, usize) = (Vec::new(), 0);
        while let Some(hits) = log.next(io).await? {
            for hit in hits.into_iter().filter(|hit| exactly.question.accepts_hit(hit)) {
                let has = exactly.matched_words(&hit.text, words);
                let place = best.partition_point(|other| other.word_count >= has.len());
                if hit_count + place >= most {
                    continue;
                }
                let words = to_json(&[&exactly.quoted_texts[..], &has[..]].concat());
                let missing = exactly.missing_words_field(&has);
                let (id, text) = (hit.id.clone(), hit.text.clone());
                let shown = to_json(&exactly.excerpt_search.to_shown_hit(hit));
                let mut json = format!("{{\"found\":\"exact\",\"words\":{words},{missing}{}", &shown[1..]);
                log.report_text(io, &text, &json).await?;
                if numbers.is_none() && exactly.question.has_numbers {
                    numbers = Some(MessageNumbers::read(io, &files).await?);
                }
                numbers.iter().for_each(|numbers| numbers.add_to(&id, &mut json));
                best.insert(place, ExactHit { word_count: has.len(), json });
                best.truncate(most);
            }
            if !exactly.is_ranked() && !best.is_empty() {
                self.write_exact_hits(io, exactly, session, &best).await?;
                hit_count += best.len();
                best.clear();
            }
        }
        Ok((hit_count > 0, best))
    }

    async fn write_exact_hits(
        &self,
        io: &Io,
        exactly: &ExactQuery<'_>,
        session: &SearchedSession,
        hits: &[ExactHit],
    ) -> Result<(), Trouble> {
        let listed = self.outgoing_session_json(io, &session.listed, exactly.redactor).await?;
        io.write_page(json_array(hits.iter().map(|hit| format!("{{\"session\":{listed},{}", &hit.json[1..]))))
            .await
    }
}
