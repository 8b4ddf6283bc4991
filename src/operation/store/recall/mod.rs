//! Search: which sessions answer a question, ranked, and which of their messages do.
//!
//! What was said is looked up in runs, files in the cache. A session whose log has gone on since is indexed as far as that first,
//! so that no answer is stale; one whose log was written anew, from its beginning.

mod asking;
mod contexts;
mod exact;
mod hits;
mod index;
mod joining;
mod making;
mod meeting;
mod names;
mod numbers;
mod runs;
mod spaces;
pub(super) mod telling;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use chrono::{DateTime, Datelike};

use super::Store;
use crate::error::Code;
use crate::json::fields::{Fields, items};
use crate::json::request;
use crate::json::text::{Text, to_json};
use crate::operation::leaving::indexed::Hides;
use crate::operation::pages::array;
use crate::operation::pieces::Pieces;
use crate::operation::{Io, Leaving, Operation, Trouble};
use crate::privacy::blanked;
use crate::recall::dates;
use crate::recall::documents::{Corpus, Document};
use crate::recall::question::{Question as Sought, Term};
use crate::recall::rank::Ranked;
use crate::recall::run::read::documents;
use crate::recall::sessions::{Known, Ranking, rank};
use crate::recall::things::Thing;
use crate::recall::words::Words;
use crate::record::message::Role;
use crate::resume::find;
use crate::resume::search::{Hit as Exact, has_quoted};
use crate::session::listed::Wanted;
use crate::time;

use asking::{likes, lists};
use hits::{Asked, Hit, order_by_meaning, words_nowhere};
use index::{Covering, Index, Log, Session};
use making::{Hiding, Upkeep, joins};
pub(super) use names::Names;
use runs::{Lost, Run, parts};
use spaces::Spaces;

// So many sessions are told at once.
const PAGE: usize = 8;
// So many of the best are ordered by meaning, too, where the caller has vectors.
const MEANT: usize = 24;
// So many messages of a session are told, and where that alone is asked, unless another number is wanted.
const OF_SESSION: usize = 3;
const OF_ONE: usize = 20;
// So many are looked at for these.
const OF_SESSION_MET: usize = 16;
const OF_ONE_MET: usize = 64;
// So often others make other runs of those there are before a question is answered, and more of them may be damaged.
const TRIES: usize = 64;
const SEARCHED: &str = "all, type, status, archived, agent, folder, since, until, limit, verify, role, regex, numbers, file, command, error or embeds";
const SEARCHED_IN: &str = "role, since, until, limit, regex, numbers or embeds";

/// What is asked.
struct Question {
    text: String,
    wanted: Wanted,
    role: Option<Role>,
    since: Option<i64>,
    until: Option<i64>,
    limit: usize,
    // The id of the session that alone is asked: then the limit is one of messages.
    session: Option<String>,
    // What is to be answered, not looked for: only its own words count, and what asks for nothing finds nothing.
    recalled: Option<Sought>,
    // The text is a regular expression.
    is_regex: bool,
    // Of each message its number is told.
    has_numbers: bool,
    // The host has vectors of texts.
    embeds: bool,
}

impl Question {
    fn recalling(asked: Sought, wanted: Wanted) -> Question {
        let text = asked.said.clone();
        let (role, since, until) = (None, None, None);
        Question {
            text,
            wanted,
            role,
            since,
            until,
            limit: usize::MAX,
            session: None,
            recalled: Some(asked),
            is_regex: false,
            has_numbers: false,
            embeds: false,
        }
    }

    fn sought(&self, words: &mut Words) -> Sought {
        self.recalled.clone().unwrap_or_else(|| Sought::typed(&self.text, words))
    }

    // `known` names what the request may have.
    fn from_json(text: String, request: &str, known: &str) -> Result<Question, Trouble> {
        let (mut fields, bad) = (request::read(request, known)?, &mut Vec::new());
        let (wanted, since, until) = Wanted::asked(request)?;
        let (limit, role) = (fields.take::<u64>("limit", bad), fields.take("role", bad));
        let is_regex = fields.take("regex", bad).unwrap_or_default();
        let has_numbers = fields.take("numbers", bad).unwrap_or_default();
        let embeds = fields.take("embeds", bad).unwrap_or_default();
        request::refuse_bad(bad)?;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        Ok(Question {
            text,
            wanted,
            role,
            since,
            until,
            limit,
            session: None,
            recalled: None,
            is_regex,
            has_numbers,
            embeds,
        })
    }

    // Of a session alone, whatever it is.
    fn of_session(self, id: String) -> Question {
        let mut wanted = Wanted::usual(true);
        wanted.all = true;
        Question { wanted, session: Some(id), ..self }
    }

    // How many messages of a session are told; `is_best`: the best ones.
    fn most_of_one(&self, is_best: bool) -> usize {
        match self.session {
            Some(_) if self.limit == usize::MAX => OF_ONE,
            Some(_) => self.limit,
            None if is_best => OF_SESSION,
            None => usize::MAX,
        }
    }

    fn most_sessions(&self) -> usize {
        if self.session.is_some() { 1 } else { self.limit }
    }

    fn has(&self, hit: &Exact) -> bool {
        let ms = hit.timestamp.as_deref().and_then(time::parse);
        self.role.is_none_or(|role| hit.role == Some(role))
            && self.since.is_none_or(|since| ms.is_some_and(|ms| ms >= since / 1000 * 1000))
            && self.until.is_none_or(|until| ms.is_some_and(|ms| ms <= until))
    }

    fn is_of_some(&self) -> bool {
        self.role.is_some() || self.since.is_some() || self.until.is_some()
    }
}

/// What was found.
struct Answer {
    sessions: Vec<Session>,
    runs: Vec<Run>,
    spaces: Spaces,
    terms: Vec<Term>,
    ranking: Ranking,
    // What the sessions are called by what may leave, without placeholders, where it is something else.
    names: Option<Vec<Vec<String>>>,
}

impl Answer {
    fn names_of(&self, session: usize) -> Vec<&str> {
        names_of(&self.sessions, self.names.as_deref(), session)
    }

    // Messages that match, best first, each with its document.
    async fn read_matches(&self, io: &Io, best: &[Ranked]) -> Result<Vec<(Ranked, Document)>, Lost> {
        self.spaces.read_matches(io, &self.runs, best).await
    }
}

impl Store {
    /// The sessions that answer a question, the best first, and of each the messages that do; of the sessions that
    /// [`Store::list`] gives. The request is its, but `limit` is how many sessions are told at most, `since` and `until` when
    /// something was said, and `role` whose messages are meant. Each page is a JSON array of `{"session","id","role",
    /// "timestamp","excerpt","found","words","missing","nowhere"}`: `missing` are the words of the question that it lacks, `nowhere`
    /// those that nothing which was asked has. What is in quotes is required exactly as it stands; the other
    /// words rank. With `regex` the question is a regular expression, and all that was said is read. With `numbers` each message
    /// has its `number` in the session, for which its log is read.
    pub fn search(
        self: &Rc<Store>,
        question: String,
        request: String,
        leaving: &Rc<Leaving>,
    ) -> Operation<'static, ()> {
        let (store, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            let question = Question::from_json(question, &request, SEARCHED)?;
            if let Some(thing) = Thing::asked(&request)? {
                return store.that_met(&io, &question, &thing, &leaving).await;
            }
            store.searched(&io, &question, &leaving).await
        })
    }

    /// The same of a session alone, by its id: its best messages, of which `limit` says how many are told at most; 20 unless it
    /// does.
    pub fn search_in(
        self: &Rc<Store>,
        id: String,
        question: String,
        request: String,
        leaving: &Rc<Leaving>,
    ) -> Operation<'static, ()> {
        let (store, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            let question = Question::from_json(question, &request, SEARCHED_IN)?;
            if !store.has_session(&io, &id).await? {
                let message = format!("expected the session {}, but found none", to_json(&id));
                return Err(Trouble::refused(Code::NotFound, message));
            }
            let question = question.of_session(id);
            store.searched(&io, &question, &leaving).await
        })
    }

    async fn searched(&self, io: &Io, question: &Question, leaving: &Rc<Leaving>) -> Result<(), Trouble> {
        let mut words = Words::default();
        // Of words that nobody indexes, as one letter or the commonest ones, it is looked for all that was asked.
        let mut is_unindexed = || Sought::typed(&question.text, &mut words).terms.is_empty();
        if question.is_regex || has_quoted(&question.text) || is_unindexed() {
            return self.exact(io, question, leaving, &mut words).await;
        }
        let mut told = BTreeSet::new();
        for _ in 0..TRIES {
            let answer = self.answer(io, question, leaving, &mut words).await?;
            match self.told_of(io, question, &answer, leaving, &mut told, &mut words).await {
                Ok(()) => return Ok(()),
                // The rest is asked again, and told behind what was told.
                Err(lost) => self.without_lost(io, lost).await?,
            }
        }
        Err(too_often())
    }

    // `told`: the folders of the sessions that are told already.
    async fn told_of(
        &self,
        io: &Io,
        question: &Question,
        answer: &Answer,
        leaving: &Rc<Leaving>,
        told: &mut BTreeSet<String>,
        words: &mut Words,
    ) -> Result<(), Lost> {
        let Answer { sessions, runs, spaces, terms, ranking, .. } = answer;
        if ranking.sessions.is_empty() {
            return Ok(self.resembling(io, question, answer, leaving).await?);
        }
        let asked = Asked {
            runs,
            spaces,
            terms,
            worths: &ranking.worth.terms,
            leaving,
            most: question.most_of_one(true),
            fills: question.session.is_some(),
            has_numbers: question.has_numbers,
            nowhere: words_nowhere(terms, ranking.unmet),
        };
        let found: Vec<_> = ranking.sessions.iter().take(question.most_sessions()).collect();
        for (nth, some) in found.chunks(if question.embeds { MEANT } else { PAGE }).enumerate() {
            let mut page: Vec<(&Session, Vec<Hit>)> = Vec::new();
            for one in some {
                let session = &sessions[one.session as usize];
                if told.contains(&session.listed.path) {
                    continue;
                }
                let live = self.unread(&session.log.place, "");
                let names = answer.names_of(one.session as usize);
                let hits = match asked.hits(io, one, &live, &names, words).await {
                    Err(Lost::Trouble(trouble)) => self.some_of(&session.log.place.folder(), Err(trouble))?,
                    hits => hits?,
                };
                page.extend((!hits.is_empty()).then_some((session, hits)));
            }
            if question.embeds && nth == 0 {
                order_by_meaning(io, &question.text, &mut page).await?;
            }
            let mut json = Vec::new();
            for (session, hits) in &page {
                let listed = self.listed_out(io, &session.listed, leaving).await?;
                json.extend(hits.iter().map(|hit| format!("{{\"session\":{listed},{}", &hit.json[1..])));
            }
            if !page.is_empty() {
                io.page(array(json.into_iter())).await?;
                told.extend(page.into_iter().map(|(session, _)| session.listed.path.clone()));
            }
        }
        Ok(())
    }

    // Where nothing has any of the words: what is called about so.
    async fn resembling(
        &self,
        io: &Io,
        question: &Question,
        answer: &Answer,
        leaving: &Rc<Leaving>,
    ) -> Result<(), Trouble> {
        let sessions = &answer.sessions;
        let asked: Vec<usize> =
            (0..sessions.len()).filter(|nth| question.wanted.has(&sessions[*nth].listed)).collect();
        let names: Vec<Vec<String>> =
            asked.iter().map(|nth| answer.names_of(*nth).into_iter().map(String::from).collect()).collect();
        let found = if question.is_of_some() || question.session.is_some() {
            Vec::new()
        } else {
            find::ranked(&question.text, &names)
        };
        let words = to_json(&words_nowhere(&answer.terms, answer.ranking.unmet));
        let mut page = Vec::new();
        for place in found.into_iter().take(question.limit) {
            let listed = self.listed_out(io, &sessions[asked[place]].listed, leaving).await?;
            let title = Fields::parse(&listed).ok().and_then(|fields| fields.raw("title")).unwrap_or("\"\"");
            let excerpt = format!("[{{\"text\":{title},\"isHit\":false}}]");
            let told = format!(r#""excerpt":{excerpt},"found":"title","words":[]"#);
            page.push(format!(r#"{{"session":{listed},{told},"missing":{words},"nowhere":{words}}}"#));
        }
        if page.is_empty() { Ok(()) } else { io.page(array(page.into_iter())).await }
    }

    async fn answer(
        &self,
        io: &Io,
        question: &Question,
        leaving: &Leaving,
        words: &mut Words,
    ) -> Result<Answer, Trouble> {
        for _ in 0..TRIES {
            let found = self.sessions_with_logs(io, question).await?;
            match self.ranked(io, question, found, leaving, words).await {
                Ok(answer) => return Ok(answer),
                Err(lost) => self.without_lost(io, lost).await?,
            }
        }
        Err(too_often())
    }

    async fn ranked(
        &self,
        io: &Io,
        question: &Question,
        (sessions, covering): (Vec<Session>, Covering),
        leaving: &Leaving,
        words: &mut Words,
    ) -> Result<Answer, Lost> {
        let logs: Vec<&Log> = sessions.iter().map(|one| &one.log).collect();
        let by = self.setup.redacts.then_some(leaving as &dyn Hides);
        let hiding = Hiding { by, hides_little: leaving.replaces() };
        let is_all = question.wanted.all && question.session.is_none();
        let upkeep = Upkeep { is_all, hiding, tidying: joins };
        let index = self.index_of_words(io, &logs, covering, upkeep).await?.of_asked();
        let runs = &index.runs;
        let mut sought = question.sought(words);
        let names = self.names_out(io, &sessions, leaving).await?;
        // Of some messages alone nobody knows what tells little.
        let counted = (!question.is_of_some()).then_some(&*index.sessions);
        let mut found = lists(io, runs, counted, &sought.terms).await?;
        let of = (&*sessions, &index, names.as_deref());
        let mut known = self.known_of(io, question, of, &sought.terms, words);
        let is_unmet = |nth: usize| found.is_unmet(nth) && known.iter().all(|one| one.title >> nth & 1 == 0);
        // What only resembles a word answers nothing.
        let likable = if question.recalled.is_some() { 0 } else { sought.terms.len() };
        let unmet: Vec<&Term> =
            (0..likable).filter(|nth| is_unmet(*nth)).map(|nth| &sought.terms[nth]).collect();
        let like = likes(io, runs, &unmet).await?;
        if !like.is_empty() {
            sought.extend(like);
            found = lists(io, runs, counted, &sought.terms).await?;
            known = self.known_of(io, question, of, &sought.terms, words);
        }
        let spaces = Spaces::of(runs, &index.sessions, sessions.len());
        let asked = if question.is_of_some() { Some(only(io, question, runs, &spaces).await?) } else { None };
        // More than are told: they are put in order by whose they are, too.
        let met = if question.session.is_some() { OF_ONE_MET } else { OF_SESSION_MET };
        let told = question.most_of_one(true).max(met);
        let by = |corpus: Corpus| {
            let ranking = rank(&sought.terms, &corpus, &known, (asked.as_ref(), told));
            let is_any = !ranking.sessions.is_empty();
            (ranking, is_any)
        };
        let ranking = spaces.answering(io, runs, (&sought.terms, found), by).await?;
        Ok(Answer { sessions, runs: index.runs, spaces, terms: sought.terms, ranking, names })
    }

    // What is known of the sessions beside their messages.
    fn known_of(
        &self,
        io: &Io,
        question: &Question,
        (sessions, index, names): (&[Session], &Index, Option<&[Vec<String>]>),
        terms: &[Term],
        words: &mut Words,
    ) -> Vec<Known> {
        let times = index.times(sessions.len());
        let year = |seconds: u32| DateTime::from_timestamp_secs(seconds.into()).unwrap_or_default().year();
        let said = times.iter().flatten();
        let years = said.clone().map(|(first, _)| year(*first)).min().unwrap_or_default()
            ..=said.map(|(_, last)| year(*last)).max().unwrap_or_default();
        let spans = dates::spans(&question.text, years, &io.stamp());
        let terms: Vec<u64> = terms.iter().map(|term| names::hash(&term.text)).collect();
        let mut kept = self.names.borrow_mut();
        let one = |(nth, times): (usize, &Option<(u32, u32)>)| {
            if !sessions[nth].log.is_asked {
                return Known::default();
            }
            let title = kept.has(&names_of(sessions, names, nth), &terms, words);
            Known { title, date: times.map_or(0.0, |times| dates::nearness(&spans, times)) }
        };
        times.iter().enumerate().map(one).collect()
    }

    // What sessions are called as that may leave, where secrets are replaced. Behind a cut, a part of one may be left.
    async fn names_out(
        &self,
        io: &Io,
        sessions: &[Session],
        leaving: &Leaving,
    ) -> Result<Option<Vec<Vec<String>>>, Trouble> {
        if !leaving.replaces() {
            return Ok(None);
        }
        let whole = |name: &str| match name.strip_suffix('…') {
            Some(cut) => cut.rsplit_once(char::is_whitespace).map_or("", |(whole, _)| whole).into(),
            None => String::from(name),
        };
        let names = |one: &Session| one.listed.names().into_iter().map(whole).collect::<Vec<_>>();
        let json = sessions.iter().map(|one| to_json(&names(one))).collect();
        let aside = leaving.aside(io).await?;
        let left = Pieces::new(&aside, io).all(json).await?;
        let read = |json: String| {
            let json = blanked(&json);
            let names = items(&json).unwrap_or_default();
            names.into_iter().filter_map(|name| Text::decode(name).map(Text::into_shown)).collect()
        };
        Ok(Some(left.into_iter().map(read).collect()))
    }
}

fn names_of<'a>(sessions: &'a [Session], left: Option<&'a [Vec<String>]>, nth: usize) -> Vec<&'a str> {
    match left {
        Some(left) => left[nth].iter().map(String::as_str).collect(),
        None => sessions[nth].listed.names(),
    }
}

fn too_often() -> Trouble {
    Trouble::internal("expected runs that can be read, but found others each time")
}

// Of each document whether it is one of the messages that are asked.
async fn only(io: &Io, question: &Question, runs: &[Run], spaces: &Spaces) -> Result<[Vec<bool>; 2], Lost> {
    let mut asked = [Vec::new(), Vec::new()];
    for (field, asked) in asked.iter_mut().enumerate() {
        let wanted: Vec<_> = runs.iter().enumerate().map(|(nth, run)| (nth, run.end.pages(field))).collect();
        let mut all = Vec::new();
        for (run, bytes) in runs.iter().zip(parts(io, runs, &wanted).await?) {
            all.push(documents(&bytes).ok_or_else(|| run.lost())?);
        }
        for one in spaces.documents(runs, field, &all) {
            let ms = i64::from(one.seconds) * 1000;
            let is_then = question.since.is_none_or(|since| ms >= since / 1000 * 1000)
                && question.until.is_none_or(|until| ms <= until);
            asked.push(is_then && question.role.is_none_or(|role| one.role == Some(role)));
        }
    }
    Ok(asked)
}
