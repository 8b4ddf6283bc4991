//! Search: which sessions answer a question, ranked, and which of their messages do.
//!
//! What was said is looked up in runs, files in the cache. A session whose log has gone on since is indexed as far as that first,
//! so that no answer is stale; one whose log was written anew, from its beginning.

mod asking;
mod hits;
mod index;
mod making;
mod runs;
mod spaces;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use chrono::{DateTime, Datelike};

use super::Store;
use crate::error::Code;
use crate::json::fields::Fields;
use crate::operation::pages::array;
use crate::operation::{Io, Leaving, Operation, Trouble};
use crate::recall::dates;
use crate::recall::question::{Question as Sought, Term};
use crate::recall::run::read::documents;
use crate::recall::sessions::{Known, Ranking, rank};
use crate::recall::words::Words;
use crate::record::message::Role;
use crate::resume::find;
use crate::resume::search::has_quoted;
use crate::session::listed::Wanted;

use asking::{likes, lists};
use hits::{Asked, has_of};
use index::{Index, Session};
use runs::{Lost, Run, parts};
use spaces::Spaces;

// So many sessions are told at once.
const PAGE: usize = 8;
// So often others make other runs of those there are before a question is answered, and more of them may be damaged.
const TRIES: usize = 64;

/// What is asked.
struct Question {
    text: String,
    wanted: Wanted,
    role: Option<Role>,
    since: Option<i64>,
    until: Option<i64>,
    limit: usize,
}

impl Question {
    fn from_json(text: String, request: &str) -> Result<Question, Trouble> {
        let (wanted, since, until) = Wanted::asked(request)?;
        let mut bad = Vec::new();
        let mut fields = Fields::parse(request).ok();
        let limit = fields.as_mut().and_then(|fields| fields.take::<u64>("limit", &mut bad));
        let role = fields.as_mut().and_then(|fields| fields.take("role", &mut bad));
        if let Some(bad) = bad.into_iter().next() {
            return Err(Trouble::refused(Code::InvalidRequest, bad.message));
        }
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        Ok(Question { text, wanted, role, since, until, limit })
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
}

impl Store {
    /// The sessions that answer a question, the best first, and of each the messages that do; of the sessions that
    /// [`Store::list`] gives. The request is its, but `limit` is how many sessions are told at most, `since` and `until` when
    /// something was said, and `role` whose messages are meant. Each page is a JSON array of `{"session","id","role",
    /// "timestamp","excerpt","found","words"}`. Where the question has something in quotes, what has exactly that is found, of
    /// the session that was active last first.
    pub fn search(
        self: &Rc<Store>,
        question: String,
        request: String,
        leaving: &Rc<Leaving>,
    ) -> Operation<'static, ()> {
        let (store, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            let question = Question::from_json(question, &request)?;
            if has_quoted(&question.text) {
                let Question { text, wanted, limit, .. } = &question;
                return store.scanned(&io, text, wanted, *limit, &leaving).await;
            }
            let mut words = Words::default();
            let mut told = BTreeSet::new();
            for _ in 0..TRIES {
                let answer = store.answer(&io, &question, &mut words).await?;
                match store.told_of(&io, &question, &answer, &leaving, &mut told, &mut words).await {
                    Ok(()) => return Ok(()),
                    // The rest is asked again, and told behind what was told.
                    Err(Lost::Run(name)) => store.without_run(&io, &name).await?,
                    Err(Lost::Others) => {}
                    Err(Lost::Trouble(trouble)) => return Err(trouble),
                }
            }
            Err(too_often())
        })
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
        let Answer { sessions, runs, spaces, terms, ranking } = answer;
        if ranking.sessions.is_empty() {
            return Ok(self.resembling(io, question, sessions, leaving).await?);
        }
        let asked = Asked { runs, spaces, terms, worths: &ranking.worth.terms, leaving };
        let found: Vec<_> = ranking.sessions.iter().take(question.limit).collect();
        for some in found.chunks(PAGE) {
            let mut page = Vec::new();
            let mut paths = Vec::new();
            for one in some {
                let session = &sessions[one.session as usize];
                if told.contains(&session.listed.path) {
                    continue;
                }
                let live = self.unread(&session.place, "");
                let hits = asked.hits(io, one, &live, &session.listed.names(), words).await?;
                if !hits.is_empty() {
                    let listed = self.listed_out(io, &session.listed, leaving).await?;
                    page.extend(hits.iter().map(|hit| format!("{{\"session\":{listed},{}", &hit[1..])));
                    paths.push(session.listed.path.clone());
                }
            }
            if !page.is_empty() {
                io.page(array(page.into_iter())).await?;
                told.extend(paths);
            }
        }
        Ok(())
    }

    // Where nothing has any of the words: what is called about so.
    async fn resembling(
        &self,
        io: &Io,
        question: &Question,
        sessions: &[Session],
        leaving: &Rc<Leaving>,
    ) -> Result<(), Trouble> {
        let asked: Vec<_> =
            sessions.iter().map(|one| &one.listed).filter(|one| question.wanted.has(one)).collect();
        let names: Vec<_> =
            asked.iter().map(|one| one.names().into_iter().map(String::from).collect()).collect();
        let found = if question.is_of_some() { Vec::new() } else { find::ranked(&question.text, &names) };
        let mut page = Vec::new();
        for place in found.into_iter().take(question.limit) {
            let listed = self.listed_out(io, asked[place], leaving).await?;
            let title = Fields::parse(&listed).ok().and_then(|fields| fields.raw("title")).unwrap_or("\"\"");
            let excerpt = format!("[{{\"text\":{title},\"isHit\":false}}]");
            page.push(format!(r#"{{"session":{listed},"excerpt":{excerpt},"found":"title","words":[]}}"#));
        }
        if page.is_empty() { Ok(()) } else { io.page(array(page.into_iter())).await }
    }

    async fn answer(&self, io: &Io, question: &Question, words: &mut Words) -> Result<Answer, Trouble> {
        for _ in 0..TRIES {
            let sessions = self.sessions_asked(io, &question.wanted).await?;
            match self.ranked(io, question, sessions, words).await {
                Ok(answer) => return Ok(answer),
                Err(Lost::Run(name)) => self.without_run(io, &name).await?,
                Err(Lost::Others) => {}
                Err(Lost::Trouble(trouble)) => return Err(trouble),
            }
        }
        Err(too_often())
    }

    async fn ranked(
        &self,
        io: &Io,
        question: &Question,
        sessions: Vec<Session>,
        words: &mut Words,
    ) -> Result<Answer, Lost> {
        let index = self.index_of_words(io, &sessions, question.wanted.all, words).await?;
        let runs = &index.runs;
        let mut sought = Sought::typed(&question.text, words);
        let mut found = lists(io, runs, &sought.terms).await?;
        let mut known = known(io, question, &sessions, &index, &sought.terms, words);
        let is_unmet = |nth: usize| {
            found.iter().all(|lists| lists[nth].counts == [0; 2])
                && known.iter().all(|one| one.title >> nth & 1 == 0)
        };
        let unmet: Vec<&Term> =
            (0..sought.terms.len()).filter(|nth| is_unmet(*nth)).map(|nth| &sought.terms[nth]).collect();
        let like = likes(io, runs, &unmet).await?;
        if !like.is_empty() {
            sought.extend(like);
            found = lists(io, runs, &sought.terms).await?;
            known = self::known(io, question, &sessions, &index, &sought.terms, words);
        }
        let spaces = Spaces::of(runs, &index.sessions, sessions.len());
        let corpus = spaces.corpus(runs, &found, sought.terms.len())?;
        let asked = if question.is_of_some() { Some(only(io, question, runs, &spaces).await?) } else { None };
        let ranking = rank(&sought.terms, &corpus, &known, asked.as_ref());
        Ok(Answer { sessions, runs: index.runs, spaces, terms: sought.terms, ranking })
    }
}

fn too_often() -> Trouble {
    Trouble::internal("expected runs that can be read, but found others each time")
}

// What is known of the sessions beside their messages.
fn known(
    io: &Io,
    question: &Question,
    sessions: &[Session],
    index: &Index,
    terms: &[Term],
    words: &mut Words,
) -> Vec<Known> {
    let times = index.times(sessions.len());
    let year = |seconds: u32| DateTime::from_timestamp_secs(seconds.into()).unwrap_or_default().year();
    let said = times.iter().flatten();
    let years = said.clone().map(|(first, _)| year(*first)).min().unwrap_or_default()
        ..=said.map(|(_, last)| year(*last)).max().unwrap_or_default();
    let spans = dates::spans(&question.text, years, &io.stamp());
    let one = |(session, times): (&Session, &Option<(u32, u32)>)| {
        if !session.is_asked {
            return Known::default();
        }
        let title = has_of(&session.listed.names(), terms, words);
        Known { title, date: times.map_or(0.0, |times| dates::nearness(&spans, times)) }
    };
    sessions.iter().zip(&times).map(one).collect()
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
