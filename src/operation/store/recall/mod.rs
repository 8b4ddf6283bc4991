//! Search: ranks the sessions that match a question, and the messages in each of them.
//!
//! Terms are looked up in index files, which lie in the store's cache. A session whose log has grown since is first
//! indexed up to its end, so that no answer is stale; one whose log was rewritten is indexed from its beginning.
//!
//! One format serves a single session and a thousand: each message is a document with two fields, what was said, and
//! what was done and shown. So a question reads one block for each term and index file, and its ranking is exact. An
//! index of sessions beside one for each session was measured: it took 211 reads a question, and sessions hid the one
//! message that matched.
//!
//! SQLite and tantivy were measured and not taken: `FTS5` takes 25 percent of the logs' size; tantivy runs only
//! natively, and needs a writer's lock; both would be two engines, each with its own analysis of words.

mod context_shortlist;
mod coverage;
mod document_order;
mod exact;
mod file_merge;
mod hits;
mod index_files;
mod indexing;
mod log_bytes;
mod message_numbers;
mod name_terms;
mod postings;
pub(super) mod recall_block;
pub(super) mod recall_request;
mod search_request;
mod target_search;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use chrono::{DateTime, Datelike};

use super::Store;
use crate::error::Code;
use crate::json::fields::{Fields, parse_items};
use crate::json::text::{Text, to_json};
use crate::layout::MESSAGES;
use crate::operation::message_pages::json_array;
use crate::operation::outgoing::index_redaction::IndexRedactor;
use crate::operation::outgoing_pieces::OutgoingPieces;
use crate::operation::{Io, Operation, OutgoingRedactor, Trouble};
use crate::privacy::blank_placeholders;
use crate::recall::dates;
use crate::recall::documents::{Corpus, Document};
use crate::recall::index_file::read::parse_pages;
use crate::recall::question::{Question, Term};
use crate::recall::rank::RankedDocument;
use crate::recall::sessions::{RankedSession, SessionHints, SessionRanking, rank_sessions};
use crate::recall::targets::SearchTarget;
use crate::recall::terms::TermAnalyzer;
use crate::resume::log_match::has_quotes;
use crate::resume::session_match;

use coverage::{IndexView, LogCoverage, SearchedSession, SessionLog};
use document_order::DocumentOrder;
use hits::{HitReader, SearchHit, absent_words, order_by_meaning};
use index_files::{IndexFile, IndexLost, read_ranges};
use indexing::{IndexRedaction, IndexUpkeep, tidy_by_merging};
use log_bytes::LogBytes;
pub(super) use name_terms::NameTermCache;
use postings::{find_similar_terms, read_postings};
use search_request::SearchRequest;

// Sessions written in one page.
const PAGE_SESSIONS: usize = 8;
// Sessions that are also ordered by meaning, the best ones, where the caller has vectors.
const MEANING_SESSIONS: usize = 24;
// Messages of a session that are ranked to find the best; of a session that is searched alone, more.
const MESSAGES_PER_SESSION: usize = 16;
const MESSAGES_OF_SINGLE_SESSION: usize = 64;
// Attempts to answer a question, for other processes may replace index files meanwhile, and several may be damaged.
const MAX_ATTEMPTS: usize = 64;
const SEARCH_FIELDS: &str = "all, type, status, archived, agent, folder, since, until, limit, verify, role, regex, numbers, file, command, error or embeds";
const SESSION_SEARCH_FIELDS: &str = "role, since, until, limit, regex, numbers or embeds";

/// The ranked sessions, with what is needed to read their hits.
struct SearchResult {
    sessions: Vec<SearchedSession>,
    files: Vec<IndexFile>,
    order: DocumentOrder,
    terms: Vec<Term>,
    ranking: SessionRanking,
    // The sessions' names (title, summary) as they may leave, placeholders blanked; none where nothing is redacted.
    outgoing_names: Option<Vec<Vec<String>>>,
    // What was read of logs to be indexed in memory.
    log_bytes: LogBytes,
}

impl SearchResult {
    fn session_names(&self, session: usize) -> Vec<&str> {
        find_session_names(&self.sessions, self.outgoing_names.as_deref(), session)
    }

    // Returns ranked messages in the order given, each with its document.
    async fn read_matches(
        &self,
        io: &Io,
        best: &[RankedDocument],
    ) -> Result<Vec<(RankedDocument, Document)>, IndexLost> {
        self.order.read_matches(io, &self.files, best).await
    }
}

impl Store {
    /// Searches the sessions that [`Store::list`] gives, and writes them best first, each with its best messages.
    ///
    /// The request is that of a list, but `limit` is the number of sessions, `since` and `until` bound the time of
    /// messages, and `role` selects who said them. Each page is a JSON array of
    /// `{"session","id","role","timestamp","excerpt","found","words","missing","nowhere"}`: `missing` are the words of
    /// the question that the message lacks, `nowhere` those that nothing in the searched sessions has. Text in quotes
    /// must occur exactly as written; the other words rank. With `regex` the question is a regular expression, and all
    /// messages are read. With `numbers` each message has its `number` in the session, for which its log is read.
    pub fn search(
        self: &Rc<Store>,
        question: String,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, ()> {
        let (store, redactor) = (self.clone(), redactor.clone());
        Operation::new(|io| async move {
            let question = SearchRequest::from_json(question, &request, SEARCH_FIELDS)?;
            if let Some(thing) = SearchTarget::from_request(&request)? {
                return store.search_targets(&io, &question, &thing, &redactor).await;
            }
            store.run_search(&io, &question, &redactor).await
        })
    }

    /// Searches one session, given by its id, and writes its best messages: at most `limit`, 20 by default.
    ///
    /// # Errors
    ///
    /// [`Code::NotFound`] where there is no such session.
    pub fn search_in(
        self: &Rc<Store>,
        id: String,
        question: String,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, ()> {
        let (store, redactor) = (self.clone(), redactor.clone());
        Operation::new(|io| async move {
            let question = SearchRequest::from_json(question, &request, SESSION_SEARCH_FIELDS)?;
            if !store.has_session(&io, &id).await? {
                let message = format!("expected the session {}, but found none", to_json(&id));
                return Err(Trouble::new(Code::NotFound, message));
            }
            let question = question.for_session(id);
            store.run_search(&io, &question, &redactor).await
        })
    }

    async fn run_search(
        &self,
        io: &Io,
        question: &SearchRequest,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Result<(), Trouble> {
        let mut words = TermAnalyzer::default();
        // Words that are not indexed, such as single letters or the commonest words, are searched for as the whole
        // text.
        let mut is_unindexed = || Question::from_query(&question.text, &mut words).terms.is_empty();
        if question.is_regex || has_quotes(&question.text) || is_unindexed() {
            return self.search_exact(io, question, redactor, &mut words).await;
        }
        let mut written_paths = BTreeSet::new();
        for _ in 0..MAX_ATTEMPTS {
            let answer = self.answer_with_retries(io, question, redactor, &mut words).await?;
            match self.write_hits(io, question, &answer, redactor, &mut written_paths, &mut words).await {
                Ok(()) => return Ok(()),
                // Asks again for the rest, which follows what was already written.
                Err(lost) => self.recover_index(io, lost).await?,
            }
        }
        Err(too_many_retries_error())
    }

    // Writes the hits page by page. `told`: the folders of the sessions that are already written.
    async fn write_hits(
        &self,
        io: &Io,
        question: &SearchRequest,
        answer: &SearchResult,
        redactor: &Rc<OutgoingRedactor>,
        written_paths: &mut BTreeSet<String>,
        words: &mut TermAnalyzer,
    ) -> Result<(), IndexLost> {
        let SearchResult { sessions, files: runs, order: spaces, terms, ranking, log_bytes, .. } = answer;
        if ranking.sessions.is_empty() {
            return Ok(self.write_similar_titles(io, question, answer, redactor).await?);
        }
        let reader = HitReader {
            files: runs,
            order: spaces,
            log_bytes,
            terms,
            term_weights: &ranking.worth.terms,
            redactor,
            max_messages: question.max_messages(true),
            fills: question.session_id.is_some(),
            has_numbers: question.has_numbers,
            absent_words: absent_words(terms, ranking.unmatched_terms),
        };
        let found: Vec<_> = ranking.sessions.iter().take(question.max_sessions()).collect();
        for (nth, some) in
            found.chunks(if question.has_vectors { MEANING_SESSIONS } else { PAGE_SESSIONS }).enumerate()
        {
            let mut page: Vec<(&SearchedSession, Vec<SearchHit>)> = Vec::new();
            let is_unwritten = |ranked: &&&RankedSession| {
                !written_paths.contains(&sessions[ranked.session as usize].listed.path)
            };
            let unwritten: Vec<&RankedSession> = some.iter().filter(is_unwritten).copied().collect();
            let log = |ranked: &RankedSession| sessions[ranked.session as usize].log.place.log(MESSAGES);
            let matches = reader.read_lines(io, &unwritten, log).await?;
            for (ranked, best) in unwritten.into_iter().zip(matches) {
                let session = &sessions[ranked.session as usize];
                let session_files = self.unopened_session(&session.log.place, "");
                let names = answer.session_names(ranked.session as usize);
                let hits = match reader.read_hits(io, best, &session_files, &names, words).await {
                    Err(IndexLost::Trouble(trouble)) => {
                        self.default_if_unreadable(&session.log.place.folder(), Err(trouble))?
                    }
                    hits => hits?,
                };
                page.extend((!hits.is_empty()).then_some((session, hits)));
            }
            if question.has_vectors && nth == 0 {
                order_by_meaning(io, &question.text, &mut page).await?;
            }
            let mut json = Vec::new();
            for (session, hits) in &page {
                let listed = self.outgoing_session_json(io, &session.listed, redactor).await?;
                json.extend(hits.iter().map(|hit| format!("{{\"session\":{listed},{}", &hit.json[1..])));
            }
            if !page.is_empty() {
                io.write_page(json_array(json.into_iter())).await?;
                written_paths.extend(page.into_iter().map(|(session, _)| session.listed.path.clone()));
            }
        }
        Ok(())
    }

    // Where no session has any of the words, writes sessions whose titles resemble the question.
    async fn write_similar_titles(
        &self,
        io: &Io,
        question: &SearchRequest,
        answer: &SearchResult,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Result<(), Trouble> {
        let sessions = &answer.sessions;
        let meant: Vec<usize> = (0..sessions.len())
            .filter(|nth| question.list_request.includes(&sessions[*nth].listed))
            .collect();
        let names: Vec<Vec<String>> = meant
            .iter()
            .map(|nth| answer.session_names(*nth).into_iter().map(String::from).collect())
            .collect();
        let found = if question.has_message_filter() || question.session_id.is_some() {
            Vec::new()
        } else {
            session_match::rank_by_words(&question.text, &names)
        };
        let words = to_json(&absent_words(&answer.terms, answer.ranking.unmatched_terms));
        let mut page = Vec::new();
        for place in found.into_iter().take(question.limit) {
            let listed = self.outgoing_session_json(io, &sessions[meant[place]].listed, redactor).await?;
            let title = Fields::parse(&listed).ok().and_then(|fields| fields.raw("title")).unwrap_or("\"\"");
            let excerpt = format!("[{{\"text\":{title},\"isHit\":false}}]");
            let hit_fields = format!(r#""excerpt":{excerpt},"found":"title","words":[]"#);
            page.push(format!(r#"{{"session":{listed},{hit_fields},"missing":{words},"nowhere":{words}}}"#));
        }
        if page.is_empty() { Ok(()) } else { io.write_page(json_array(page.into_iter())).await }
    }

    async fn answer_with_retries(
        &self,
        io: &Io,
        question: &SearchRequest,
        redactor: &OutgoingRedactor,
        words: &mut TermAnalyzer,
    ) -> Result<SearchResult, Trouble> {
        for _ in 0..MAX_ATTEMPTS {
            let found = self.list_with_coverage(io, question).await?;
            match self.answer_from_index(io, question, found, redactor, words).await {
                Ok(answer) => return Ok(answer),
                Err(lost) => self.recover_index(io, lost).await?,
            }
        }
        Err(too_many_retries_error())
    }

    async fn answer_from_index(
        &self,
        io: &Io,
        question: &SearchRequest,
        (sessions, covering): (Vec<SearchedSession>, LogCoverage),
        redactor: &OutgoingRedactor,
        words: &mut TermAnalyzer,
    ) -> Result<SearchResult, IndexLost> {
        let logs: Vec<&SessionLog> = sessions.iter().map(|session| &session.log).collect();
        let by = self.setup.redacts.then_some(redactor as &dyn IndexRedactor);
        let hiding = IndexRedaction { redactor: by, redacts_memory: redactor.replaces() };
        let is_all = question.list_request.all_projects && question.session_id.is_none();
        let log_bytes = LogBytes::default();
        log_bytes.read(io, covering.short_parts(&logs)).await?;
        let upkeep = IndexUpkeep {
            covers_all_sessions: is_all,
            redaction: hiding,
            tidy: tidy_by_merging,
            logs: &log_bytes,
        };
        let index = self.update_index(io, &logs, covering, upkeep).await?.only_searched();
        let runs = &index.files;
        let mut sought = question.to_question(words);
        let names = self.outgoing_names(io, &sessions, redactor).await?;
        // With a filter on messages all terms are read, for how rare a term is among only those messages is not known.
        let counted = (!question.has_message_filter()).then_some(&*index.session_numbers);
        let mut found = read_postings(io, runs, counted, &sought.terms).await?;
        let of = (&*sessions, &index, names.as_deref());
        let mut known = self.find_session_hints(io, question, of, &sought.terms, words);
        let is_unmet =
            |nth: usize| found.is_absent(nth) && known.iter().all(|session| session.title >> nth & 1 == 0);
        // Recall takes no similar terms: a word that only resembles the one asked answers nothing.
        let likable = if question.recall_question.is_some() { 0 } else { sought.terms.len() };
        let unmet: Vec<&Term> =
            (0..likable).filter(|nth| is_unmet(*nth)).map(|nth| &sought.terms[nth]).collect();
        let like = find_similar_terms(io, runs, &unmet).await?;
        if !like.is_empty() {
            sought.add_terms(like);
            found = read_postings(io, runs, counted, &sought.terms).await?;
            known = self.find_session_hints(io, question, of, &sought.terms, words);
        }
        let spaces = DocumentOrder::new(runs, &index.session_numbers, sessions.len());
        let eligible = if question.has_message_filter() {
            Some(filter_documents(io, question, runs, &spaces).await?)
        } else {
            None
        };
        // Ranks more than are written, for the role of their speakers reorders them later.
        let met =
            if question.session_id.is_some() { MESSAGES_OF_SINGLE_SESSION } else { MESSAGES_PER_SESSION };
        let max_messages = question.max_messages(true).max(met);
        let by = |corpus: Corpus| {
            let ranking = rank_sessions(&sought.terms, &corpus, &known, (eligible.as_ref(), max_messages));
            let is_any = !ranking.sessions.is_empty();
            (ranking, is_any)
        };
        let ranking = spaces.rank_or_widen(io, runs, (&sought.terms, found), by).await?;
        Ok(SearchResult {
            sessions,
            files: index.files,
            order: spaces,
            terms: sought.terms,
            ranking,
            outgoing_names: names,
            log_bytes,
        })
    }

    // Collects what is known of sessions apart from their messages: which terms their names have, and how near their
    // time is to a date in the question.
    fn find_session_hints(
        &self,
        io: &Io,
        question: &SearchRequest,
        (sessions, index, names): (&[SearchedSession], &IndexView, Option<&[Vec<String>]>),
        terms: &[Term],
        words: &mut TermAnalyzer,
    ) -> Vec<SessionHints> {
        let times = index.session_times(sessions.len());
        let year = |seconds: u32| DateTime::from_timestamp_secs(seconds.into()).unwrap_or_default().year();
        let spans = times.iter().flatten();
        let years = spans.clone().map(|(first, _)| year(*first)).min().unwrap_or_default()
            ..=spans.map(|(_, last)| year(*last)).max().unwrap_or_default();
        let spans = dates::find_time_spans(&question.text, years, &io.stamp());
        let terms: Vec<u64> = terms.iter().map(|term| name_terms::hash_term(&term.text)).collect();
        let mut kept = self.name_terms.borrow_mut();
        let hints = |(nth, times): (usize, &Option<(u32, u32)>)| {
            if !sessions[nth].log.is_searched {
                return SessionHints::default();
            }
            let title = kept.match_terms(&find_session_names(sessions, names, nth), &terms, words);
            SessionHints { title, date: times.map_or(0.0, |times| dates::nearness_in_time(&spans, times)) }
        };
        times.iter().enumerate().map(hints).collect()
    }

    // Returns the sessions' names as they may leave, or none where nothing is redacted. A name that was cut loses its
    // last word, for that may be a part of a secret, which is not recognized.
    async fn outgoing_names(
        &self,
        io: &Io,
        sessions: &[SearchedSession],
        redactor: &OutgoingRedactor,
    ) -> Result<Option<Vec<Vec<String>>>, Trouble> {
        if !redactor.replaces() {
            return Ok(None);
        }
        let whole = |name: &str| match name.strip_suffix('…') {
            Some(cut) => cut.rsplit_once(char::is_whitespace).map_or("", |(whole, _)| whole).into(),
            None => String::from(name),
        };
        let names =
            |session: &SearchedSession| session.listed.names().into_iter().map(whole).collect::<Vec<_>>();
        let json = sessions.iter().map(|session| to_json(&names(session))).collect();
        let aside = redactor.unreported_copy(io).await?;
        let left = OutgoingPieces::new(&aside, io).redact_all(json).await?;
        let read = |json: String| {
            let json = blank_placeholders(&json);
            let names = parse_items(&json).unwrap_or_default();
            names.into_iter().filter_map(|name| Text::decode(name).map(Text::into_shown)).collect()
        };
        Ok(Some(left.into_iter().map(read).collect()))
    }
}

fn find_session_names<'a>(
    sessions: &'a [SearchedSession],
    left: Option<&'a [Vec<String>]>,
    nth: usize,
) -> Vec<&'a str> {
    match left {
        Some(left) => left[nth].iter().map(String::as_str).collect(),
        None => sessions[nth].listed.names(),
    }
}

fn too_many_retries_error() -> Trouble {
    Trouble::internal("expected runs that can be read, but found others each time")
}

// Returns, for each document in order, whether its message passes the filters.
async fn filter_documents(
    io: &Io,
    question: &SearchRequest,
    runs: &[IndexFile],
    spaces: &DocumentOrder,
) -> Result<[Vec<bool>; 2], IndexLost> {
    let mut eligible = [Vec::new(), Vec::new()];
    for (field, eligible) in eligible.iter_mut().enumerate() {
        let wanted: Vec<_> =
            runs.iter().enumerate().map(|(nth, run)| (nth, run.footer.pages(field))).collect();
        let mut all = Vec::new();
        for (run, bytes) in runs.iter().zip(read_ranges(io, runs, &wanted).await?) {
            all.push(parse_pages(&bytes).ok_or_else(|| run.changed_error())?);
        }
        for document in spaces.documents_in_order(runs, field, &all) {
            let ms = i64::from(document.seconds) * 1000;
            let is_then = question.since_ms.is_none_or(|since| ms >= since / 1000 * 1000)
                && question.until_ms.is_none_or(|until| ms <= until);
            eligible.push(is_then && question.role.is_none_or(|role| document.role == Some(role)));
        }
    }
    Ok(eligible)
}
