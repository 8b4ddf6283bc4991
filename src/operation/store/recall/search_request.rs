//! A search request, read from JSON: words, filters and limits.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::request;
use crate::operation::Trouble;
use crate::recall::question::Question;
use crate::recall::terms::TermAnalyzer;
use crate::record::message::Role;
use crate::resume::log_match::MessageHit;
use crate::session::session_list::ListRequest;
use crate::time;

// Default number of messages: of each session, and of one that is searched alone.
const DEFAULT_MESSAGES_PER_SESSION: usize = 3;
const DEFAULT_MESSAGES_OF_SINGLE_SESSION: usize = 20;

/// A search request.
pub(super) struct SearchRequest {
    pub text: String,
    pub list_request: ListRequest,
    pub role: Option<Role>,
    pub since_ms: Option<i64>,
    pub until_ms: Option<i64>,
    pub limit: usize,
    // The id of the session that is searched alone; `limit` then counts messages.
    pub session_id: Option<String>,
    // The question that recall answers, already parsed: only its own words count, without similar ones; one that has
    // no terms finds nothing.
    pub recall_question: Option<Question>,
    // `text` is a regular expression.
    pub is_regex: bool,
    // Each hit has its message's number in the session.
    pub has_numbers: bool,
    // The host has vectors of texts.
    pub has_vectors: bool,
}

impl SearchRequest {
    pub fn for_recall(recall_question: Question, wanted: ListRequest) -> SearchRequest {
        let text = recall_question.text.clone();
        let (role, since, until) = (None, None, None);
        SearchRequest {
            text,
            list_request: wanted,
            role,
            since_ms: since,
            until_ms: until,
            limit: usize::MAX,
            session_id: None,
            recall_question: Some(recall_question),
            is_regex: false,
            has_numbers: false,
            has_vectors: false,
        }
    }

    pub fn to_question(&self, words: &mut TermAnalyzer) -> Question {
        self.recall_question.clone().unwrap_or_else(|| Question::from_query(&self.text, words))
    }

    // `known` names the fields that the request may have.
    pub fn from_json(text: String, request: &str, known: &str) -> Result<SearchRequest, Trouble> {
        let (mut fields, bad) = (request::parse(request, known)?, &mut Vec::new());
        let (wanted, since, until) = ListRequest::parse_search(request)?;
        let (limit, role) = (fields.take::<u64>("limit", bad), fields.take("role", bad));
        let is_regex = fields.take("regex", bad).unwrap_or_default();
        let has_numbers = fields.take("numbers", bad).unwrap_or_default();
        let embeds = fields.take("embeds", bad).unwrap_or_default();
        request::reject_bad(bad)?;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        Ok(SearchRequest {
            text,
            list_request: wanted,
            role,
            since_ms: since,
            until_ms: until,
            limit,
            session_id: None,
            recall_question: None,
            is_regex,
            has_numbers,
            has_vectors: embeds,
        })
    }

    // Narrows the search to one session, of whatever project and status.
    pub fn for_session(self, id: String) -> SearchRequest {
        let mut wanted = ListRequest::usual(true);
        wanted.all_projects = true;
        SearchRequest { list_request: wanted, session_id: Some(id), ..self }
    }

    // The most messages of one session that are written; without `is_best`, where they are not ranked, there is no
    // default limit.
    pub fn max_messages(&self, is_best: bool) -> usize {
        match self.session_id {
            Some(_) if self.limit == usize::MAX => DEFAULT_MESSAGES_OF_SINGLE_SESSION,
            Some(_) => self.limit,
            None if is_best => DEFAULT_MESSAGES_PER_SESSION,
            None => usize::MAX,
        }
    }

    pub fn max_sessions(&self) -> usize {
        if self.session_id.is_some() { 1 } else { self.limit }
    }

    pub fn accepts_hit(&self, hit: &MessageHit) -> bool {
        let ms = hit.timestamp.as_deref().and_then(time::parse);
        self.role.is_none_or(|role| hit.role == Some(role))
            && self.since_ms.is_none_or(|since| ms.is_some_and(|ms| ms >= since / 1000 * 1000))
            && self.until_ms.is_none_or(|until| ms.is_some_and(|ms| ms <= until))
    }

    pub fn has_message_filter(&self) -> bool {
        self.role.is_some() || self.since_ms.is_some() || self.until_ms.is_some()
    }
}
