//! What was found, as it is told: each message is read from its log, since what the index says of it is no more than a claim.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::numbers::MessageNumbers;
use super::runs::{Lost, Run};
use super::spaces::Spaces;
use crate::json::text::to_json;
use crate::layout::{File, MESSAGES};
use crate::operation::live::Live;
use crate::operation::vectors::nearness_of;
use crate::operation::{Io, Leaving, Trouble};
use crate::recall::meaning::ordered;
use crate::recall::question::{How, Term};
use crate::recall::sessions;
use crate::recall::texts::texts;
use crate::recall::words::{Field, Words};
use crate::record::message::{self, Message, Role};
use crate::record::scan::Record;
use crate::resume::excerpt::Marked;
use crate::resume::search::Part;

// What is worth less than that of the best is not told.
const LEAST: f32 = 0.5;
// Most lines are shorter.
const LINE: u64 = 16 * 1024;

/// How something was found, from the best to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Found {
    /// The title or the summary has the words.
    Title,
    /// It has all words of the question.
    All,
    /// It has some of them.
    Some,
    /// It has words that begin as those that were asked.
    Prefix,
    /// It has words that are spelled nearly as those that were asked.
    Spelling,
    /// The messages around it have them.
    Near,
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'a str>,
    excerpt: Vec<Part>,
    found: Found,
    words: Vec<&'a str>,
    // Of words that nobody said, those that stand there in their place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instead: Vec<Replacement<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    nowhere: &'a [&'a str],
}

/// A word of the question that nobody said, and the one that is spelled alike.
#[derive(Serialize)]
struct Replacement<'a> {
    word: &'a str,
    found: &'a str,
}

/// A message that was found.
pub(super) struct Hit {
    /// As it is told.
    pub json: String,
    // Of the message; none where a title was found.
    id: Option<String>,
    // What of it is shown, as it may leave.
    text: String,
    // What that is a part of, as [`Leaving::reported`] gives it.
    whole: String,
}

/// Puts sessions, and the hits of each, into an order by words and by meaning. A session is as near as its nearest hit.
pub(super) async fn order_by_meaning<T>(
    io: &Io,
    question: &str,
    found: &mut Vec<(T, Vec<Hit>)>,
) -> Result<(), Trouble> {
    let texts = found.iter().flat_map(|(_, hits)| hits).map(|hit| hit.text.clone());
    let nearness = nearness_of(io, question, texts).await?;
    let mut rest = &*nearness;
    let mut nearest = Vec::new();
    for (_, hits) in found.iter_mut() {
        let (own, others) = rest.split_at(hits.len());
        nearest.push(own.iter().copied().fold(f32::MIN, f32::max));
        ordered(hits, own);
        rest = others;
    }
    ordered(found, &nearest);
    Ok(())
}

/// A question that was asked.
pub(super) struct Asked<'a> {
    pub runs: &'a [Run],
    pub spaces: &'a Spaces,
    pub terms: &'a [Term],
    pub worths: &'a [f32],
    pub leaving: &'a Rc<Leaving>,
    /// So many messages of a session are told.
    pub most: usize,
    /// As many as there are are told, also what matches far worse than the best.
    pub fills: bool,
    /// Each message is told with its number in its session.
    pub has_numbers: bool,
    /// The words that nothing which was asked has.
    pub nowhere: Vec<&'a str>,
}

impl Asked<'_> {
    /// What was found in a session, each as JSON. `names`: its title, its summary.
    pub async fn hits(
        &self,
        io: &Io,
        ranked: &sessions::Session,
        live: &Live,
        names: &[&str],
        words: &mut Words,
    ) -> Result<Vec<Hit>, Lost> {
        if ranked.best.is_empty() {
            return Ok(self.titled(names, words).into_iter().collect());
        }
        let mut hits = Vec::new();
        // Whatever has a single word has all that was asked for.
        let best = self.spaces.order_matches(io, self.runs, self.terms, &ranked.best).await?;
        let first = best.first().filter(|_| !self.fills && !self.is_one_word());
        let least = first.map_or(0.0, |(first, _)| LEAST * first.score);
        let own = self.leaving.aside_of(io, &live.folder()).await?;
        let mut met = Vec::new();
        let mut near = Vec::new();
        for (best, at) in best.into_iter().filter(|(best, _)| best.score >= least) {
            if hits.len() == self.most {
                break;
            }
            if met.contains(&at) {
                continue;
            }
            met.push(at);
            if let Some(message) = read(io, live, at, &own).await? {
                let (found, told) = self.told(&message, best.field, words);
                if found == Found::Near && self.is_one_word() { near.push(told) } else { hits.push(told) }
            }
        }
        // What stands beside a single word seldom answers it: it is told where the word itself is nowhere else.
        let left = if hits.is_empty() { self.most } else { 0 };
        hits.extend(near.into_iter().take(left));
        for hit in &hits {
            self.leaving.tell(io, &own, (&hit.whole, &hit.json)).await?;
        }
        if self.has_numbers {
            let numbers = MessageNumbers::read(io, live).await?;
            hits.iter_mut()
                .for_each(|hit| numbers.add_to(hit.id.as_deref().unwrap_or_default(), &mut hit.json));
        }
        Ok(hits)
    }

    fn titled(&self, names: &[&str], words: &mut Words) -> Option<Hit> {
        let best = names.iter().max_by_key(|name| self.marked(name, words).has().count_ones())?;
        let marked = self.marked(best, words);
        let instead = self.replacements(&marked);
        let told = Told {
            id: None,
            role: None,
            timestamp: None,
            excerpt: marked.excerpt(self.worths),
            found: Found::Title,
            words: self.has(marked.has()),
            missing: self.missed(marked.has()),
            nowhere: &self.nowhere,
            instead,
        };
        Some(self.hit(&told, &best))
    }

    fn told(&self, message: &Message, field: usize, words: &mut Words) -> (Found, Hit) {
        let texts = texts(message);
        let is_of = |one: Field| usize::from(one != Field::Said) == field;
        let (mut all, mut best, mut most) = (0, "", 0);
        for (_, text) in texts.iter().filter(|(one, _)| is_of(*one)) {
            let has = self.marked(text, words).has();
            all |= has;
            if best.is_empty() || has.count_ones() > most {
                (best, most) = (text, has.count_ones());
            }
        }
        let marked = self.marked(best, words);
        let told = Told {
            id: Some(&message.id),
            role: message.role,
            timestamp: message.timestamp.as_deref(),
            excerpt: marked.excerpt(self.worths),
            found: self.how(all),
            words: self.has(all),
            instead: self.replacements(&marked),
            missing: self.missed(all),
            nowhere: &self.nowhere,
        };
        (told.found, self.hit(&told, message))
    }

    fn hit<T: Serialize>(&self, told: &Told<'_>, whole: &T) -> Hit {
        let text = told.excerpt.iter().map(|part| part.text.as_str()).collect();
        let id = told.id.map(String::from);
        Hit { json: to_json(told), id, text, whole: self.leaving.reported(whole) }
    }

    fn marked<'t>(&self, text: &'t str, words: &mut Words) -> Marked<'t> {
        Marked::new(text, &|term| self.terms.iter().position(|one| one.text == term), words)
    }

    fn replacements<'m>(&'m self, marked: &Marked<'m>) -> Vec<Replacement<'m>> {
        let mut all: Vec<Replacement<'m>> = Vec::new();
        for (nth, term) in self.terms.iter().enumerate().filter(|(_, term)| term.how == How::Spelling) {
            if let Some(found) = marked.find_word(nth)
                && all.iter().all(|one| one.word != term.word)
            {
                all.push(Replacement { word: &term.word, found });
            }
        }
        all
    }

    fn is_one_word(&self) -> bool {
        self.has(u64::MAX).len() == 1
    }

    fn how(&self, has: u64) -> Found {
        match self.of(has).map(|term| term.how).max() {
            None => Found::Near,
            Some(How::Prefix) => Found::Prefix,
            Some(How::Spelling) => Found::Spelling,
            Some(How::Word) if self.missed(has).is_empty() => Found::All,
            Some(How::Word) => Found::Some,
        }
    }

    fn of(&self, has: u64) -> impl Iterator<Item = &Term> {
        self.terms.iter().enumerate().filter(move |(nth, _)| has >> nth & 1 == 1).map(|(_, term)| term)
    }

    // The words of the question that these terms stand for, each once.
    fn has(&self, terms: u64) -> Vec<&str> {
        words_of(self.of(terms))
    }

    // Those that none of them stands for.
    fn missed(&self, terms: u64) -> Vec<&str> {
        let has = self.has(terms);
        self.has(u64::MAX).into_iter().filter(|word| !has.contains(word)).collect()
    }
}

fn words_of<'a>(terms: impl Iterator<Item = &'a Term>) -> Vec<&'a str> {
    let mut words: Vec<&str> = Vec::new();
    for term in terms {
        if !words.contains(&&*term.word) {
            words.push(&term.word);
        }
    }
    words
}

/// The words of a question of which nothing has a term. `unmet`: the terms that nothing has, a bit for each.
pub(super) fn words_nowhere(terms: &[Term], unmet: u64) -> Vec<&str> {
    let asked = || terms.iter().enumerate().filter(|(_, term)| term.how == How::Word);
    let met = words_of(asked().filter(|(nth, _)| unmet >> nth & 1 == 0).map(|(_, term)| term));
    words_of(asked().map(|(_, term)| term).filter(|term| !met.contains(&&*term.word)))
}

/// The messages of a session.
pub(super) fn log_of(live: &Live) -> File {
    live.folder().below(MESSAGES)
}

/// The message whose line begins there, where one does, and counts; as it may leave.
pub(super) async fn read(
    io: &Io,
    live: &Live,
    at: u64,
    leaving: &Leaving,
) -> Result<Option<Message>, Trouble> {
    let file = log_of(live);
    let mut length = LINE;
    let line = loop {
        let bytes = io.read_range(&file, at, at + length).await?;
        if let Some(end) = memchr::memchr(b'\n', &bytes) {
            break bytes[..end].to_vec();
        }
        if (bytes.len() as u64) < length {
            break bytes;
        }
        length *= 4;
    };
    let Ok(json) = String::from_utf8(line) else { return Ok(None) };
    if live.counts_not(io, json.as_bytes(), at).await? {
        return Ok(None);
    }
    let Some(message) = message::read(&Record::at(at, json)).0 else { return Ok(None) };
    let whole = live.unfolded(io, message).await?;
    Ok(leaving.messages(io, Vec::from([whole])).await?.pop())
}
