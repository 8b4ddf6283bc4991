//! What is in quotes: it is required as it stands there, so that logs are read for it; the other words rank what has it. And
//! regular expressions: no index says what they match.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use regex::Regex;

use super::Question;
use super::index::Session;
use super::numbers::MessageNumbers;
use crate::error::Code;
use crate::json::text::to_json;
use crate::operation::pages::array;
use crate::operation::search::Backward;
use crate::operation::store::Store;
use crate::operation::{Io, Leaving, Trouble};
use crate::recall::question::Question as Sought;
use crate::recall::words::{Field, Words};
use crate::resume::search::{Pattern, Search, apart};

/// What is looked for.
struct Exactly<'a> {
    question: &'a Question,
    leaving: &'a Leaving,
    quoted: Vec<&'a str>,
    // The other words, as far as they say something.
    others: Sought,
    shows: Search,
}

#[derive(Debug)]
struct Expression(Regex);

impl Pattern for Expression {
    fn first(&self, text: &str) -> Option<Range<usize>> {
        self.0.find(text).map(|found| found.range())
    }
}

/// Reads a regular expression.
fn expression(text: &str) -> Result<Rc<dyn Pattern>, Trouble> {
    match Regex::new(text) {
        Ok(regex) => Ok(Rc::new(Expression(regex))),
        Err(error) => {
            // Its last line says what is wrong, the others show where.
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let message = format!("expected a regular expression, but found {}: {why}", to_json(&text));
            Err(Trouble::refused(Code::InvalidRequest, message))
        }
    }
}

/// A hit of a session as JSON without that.
struct Hit {
    // How many of the other words it has.
    others: usize,
    json: String,
}

impl<'a> Exactly<'a> {
    fn new(question: &'a Question, leaving: &'a Leaving, words: &mut Words) -> Result<Exactly<'a>, Trouble> {
        if question.is_regex {
            let (pattern, others) = (expression(&question.text)?, Sought::typed("", words));
            let quoted = Vec::from([&*question.text]);
            return Ok(Exactly { question, leaving, quoted, others, shows: Search::matching(pattern) });
        }
        let (mut quoted, others) = apart(&question.text);
        let others = Sought::typed(&others.join(" "), words);
        if quoted.is_empty() && others.terms.is_empty() {
            quoted.push(question.text.trim());
        }
        let shows = Search::of(quoted.iter().copied().chain(others.terms.iter().map(|term| &*term.word)));
        Ok(Exactly { question, leaving, quoted, others, shows })
    }

    fn search(&self) -> Search {
        match self.shows.pattern() {
            Some(pattern) => Search::matching(pattern),
            None => Search::of(self.quoted.iter().copied()),
        }
    }

    fn is_ranked(&self) -> bool {
        !self.others.terms.is_empty()
    }

    // Which of the other words a text has, each once.
    fn has(&self, text: &str, words: &mut Words) -> Vec<&str> {
        let mut has: Vec<&str> = Vec::new();
        words.terms(text, Field::Said, &mut |term| {
            let word = self.others.find(term).map(|place| &*self.others.terms[place].word);
            if let Some(word) = word.filter(|word| !has.contains(word)) {
                has.push(word);
            }
        });
        has
    }

    // The other words that a text has not, as a field with a comma behind it.
    fn missing(&self, has: &[&str]) -> String {
        let mut missing: Vec<&str> = Vec::new();
        for term in &self.others.terms {
            if !has.contains(&&*term.word) && !missing.contains(&&*term.word) {
                missing.push(&term.word);
            }
        }
        if missing.is_empty() { String::new() } else { format!("\"missing\":{},", to_json(&missing)) }
    }
}

impl Store {
    /// The messages that have all that is in quotes. Where there are other words, sessions and messages that have more of them
    /// come first; else the session that was active last, and its newest message, told as they are found.
    pub(super) async fn exact(
        &self,
        io: &Io,
        question: &Question,
        leaving: &Leaving,
        words: &mut Words,
    ) -> Result<(), Trouble> {
        let exactly = Exactly::new(question, leaving, words)?;
        let sessions = self.sessions_asked(io, question).await?;
        let mut ranked: Vec<(&Session, Vec<Hit>)> = Vec::new();
        let mut count = 0;
        for session in sessions.iter().filter(|session| session.log.is_asked) {
            let found = self.exact_in(io, &exactly, session, words).await;
            let (is_told, hits) = self.some_of(&session.log.place.folder(), found)?;
            if !hits.is_empty() {
                ranked.push((session, hits));
            }
            count += usize::from(is_told);
            if count == question.limit {
                return Ok(());
            }
        }
        ranked.sort_by_key(|(_, hits)| Reverse(hits.first().map_or(0, |hit| hit.others)));
        for (session, hits) in ranked.iter().take(question.limit) {
            self.told_exactly(io, &exactly, session, hits).await?;
        }
        Ok(())
    }

    // The best of a session; or, where nothing ranks them, whether any was told.
    async fn exact_in(
        &self,
        io: &Io,
        exactly: &Exactly<'_>,
        session: &Session,
        words: &mut Words,
    ) -> Result<(bool, Vec<Hit>), Trouble> {
        let live = self.unread(&session.log.place, "");
        let mut log = Backward::new(&live, exactly.search(), exactly.leaving);
        let most = exactly.question.most_of_one(exactly.is_ranked());
        let mut numbers = None;
        let (mut best, mut told): (Vec<Hit>, usize) = (Vec::new(), 0);
        while let Some(hits) = log.next(io).await? {
            for hit in hits.into_iter().filter(|hit| exactly.question.has(hit)) {
                let has = exactly.has(&hit.text, words);
                let place = best.partition_point(|other| other.others >= has.len());
                if told + place >= most {
                    continue;
                }
                let words = to_json(&[&exactly.quoted[..], &has[..]].concat());
                let missing = exactly.missing(&has);
                let (id, text) = (hit.id.clone(), hit.text.clone());
                let shown = to_json(&exactly.shows.shown(hit));
                let mut json = format!("{{\"found\":\"exact\",\"words\":{words},{missing}{}", &shown[1..]);
                log.tell(io, &text, &json).await?;
                if numbers.is_none() && exactly.question.has_numbers {
                    numbers = Some(MessageNumbers::read(io, &live).await?);
                }
                numbers.iter().for_each(|numbers| numbers.add_to(&id, &mut json));
                best.insert(place, Hit { others: has.len(), json });
                best.truncate(most);
            }
            if !exactly.is_ranked() && !best.is_empty() {
                self.told_exactly(io, exactly, session, &best).await?;
                told += best.len();
                best.clear();
            }
        }
        Ok((told > 0, best))
    }

    async fn told_exactly(
        &self,
        io: &Io,
        exactly: &Exactly<'_>,
        session: &Session,
        hits: &[Hit],
    ) -> Result<(), Trouble> {
        let listed = self.listed_out(io, &session.listed, exactly.leaving).await?;
        io.page(array(hits.iter().map(|hit| format!("{{\"session\":{listed},{}", &hit.json[1..])))).await
    }
}
