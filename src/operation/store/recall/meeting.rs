//! Search by thing: the sessions that read or changed a file, ran a command, met an error. Logs are read for it, those that have
//! nothing of it no farther than to find that out.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::Serialize;

use super::Question;
use super::hits::log_of;
use super::index::Session;
use super::numbers::MessageNumbers;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::{boundary, to_json};
use crate::operation::live::Live;
use crate::operation::pages::array;
use crate::operation::store::Store;
use crate::operation::{Io, Leaving, Trouble};
use crate::recall::things::{Met, Search, Thing};
use crate::record::message;
use crate::record::scan::{Found, Scanner};
use crate::resume::search::Part;
use crate::time;

// So much of a log is read at once.
const CHUNK: u64 = 1 << 20;
// How much of what was said or printed is shown, in bytes.
const SHOWN: usize = 240;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    id: &'a str,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'a str>,
    excerpt: Vec<Part>,
    found: &'static str,
    words: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    is_changed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Later<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Later<'a> {
    id: &'a str,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
}

impl Thing {
    /// `{"file"}`, `{"command"}` or `{"error"}`, one of them at most.
    pub(super) fn asked(request: &str) -> Result<Option<Thing>, Trouble> {
        let (mut bad, mut things) = (Vec::new(), Vec::new());
        let Ok(mut fields) = Fields::parse(request) else { return Ok(None) };
        for (key, thing) in [
            ("file", Thing::File as fn(String) -> Thing),
            ("command", Thing::Command as fn(String) -> Thing),
            ("error", Thing::Error as fn(String) -> Thing),
        ] {
            things.extend(fields.take::<String>(key, &mut bad).map(thing));
        }
        request::refuse_bad(&mut bad)?;
        if things.len() > 1 {
            let message = "give only one of \"file\", \"command\" and \"error\"";
            return Err(request::wrong(message).into());
        }
        if !things.is_empty() && (fields.raw("role").is_some() || fields.raw("regex") == Some("true")) {
            let message =
                "\"role\" and \"regex\" apply to words only, not to \"file\", \"command\" or \"error\"";
            return Err(request::wrong(message).into());
        }
        Ok(things.pop())
    }
}

impl Store {
    /// The sessions that met a thing: those that changed a file before those that read it, what fits better before what fits less, the
    /// newer before the older.
    pub(super) async fn that_met(
        &self,
        io: &Io,
        question: &Question,
        thing: &Thing,
        leaving: &Leaving,
    ) -> Result<(), Trouble> {
        let sessions = self.sessions_asked(io, question).await?;
        let mut found: Vec<(&Session, Rc<Leaving>, Vec<Met>)> = Vec::new();
        for session in sessions.iter().filter(|session| session.log.is_asked) {
            let live = self.unread(&session.log.place, "");
            let of_log = met_in(io, &live, thing, leaving).await;
            let Some((own, mut met)) = self.some_of(&session.log.place.folder(), of_log)? else { continue };
            met.retain(|one| question.has_met(one));
            met.truncate(question.most_of_one(true));
            if !met.is_empty() {
                found.push((session, own, met));
            }
        }
        // Lists have the session first that was active last.
        let best = |met: &[Met]| met.first().map_or((false, 0), |one| (one.is_changed, one.rank));
        found.sort_by_key(|(.., met)| Reverse(best(met)));
        for (session, own, met) in found.iter().take(question.most_sessions()) {
            let listed = self.listed_out(io, &session.listed, leaving).await?;
            let numbers = match question.has_numbers {
                true => MessageNumbers::read(io, &self.unread(&session.log.place, "")).await?,
                false => MessageNumbers::default(),
            };
            let hit = |one: &Met| {
                let mut json = told(thing, one);
                numbers.add_to(&one.id, &mut json);
                format!("{{\"session\":{listed},{}", &json[1..])
            };
            let told = array(met.iter().map(hit));
            let whole = leaving.reported(&texts_of(met));
            leaving.tell(io, own, (&whole, &String::from_utf8_lossy(&told))).await?;
            io.page(told).await?;
        }
        Ok(())
    }
}

impl Question {
    fn has_met(&self, met: &Met) -> bool {
        let ms = met.timestamp.as_deref().and_then(time::parse);
        self.since.is_none_or(|since| ms.is_some_and(|ms| ms >= since / 1000 * 1000))
            && self.until.is_none_or(|until| ms.is_some_and(|ms| ms <= until))
    }
}

// Whether something is met must not tell what may not leave: it is met in what does.
async fn met_in(
    io: &Io,
    live: &Live,
    thing: &Thing,
    leaving: &Leaving,
) -> Result<Option<(Rc<Leaving>, Vec<Met>)>, Trouble> {
    if !has(io, live, thing.needle().as_bytes()).await? {
        return Ok(None);
    }
    let own = leaving.aside_of(io, &live.folder()).await?;
    let file = log_of(live);
    let size = io.stat(&file).await?.map_or(0, |stat| stat.size);
    let mut search = Search::new(thing);
    let mut scanner = Scanner::forward(0);
    let mut at = 0;
    while at < size {
        let bytes = io.read_range(&file, at, size.min(at + CHUNK)).await?;
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
        scanner.feed(&bytes);
        take_all(io, live, &mut scanner, &own, &mut search).await?;
    }
    scanner.finish();
    take_all(io, live, &mut scanner, &own, &mut search).await?;
    Ok(Some((own, search.into_met())))
}

async fn take_all(
    io: &Io,
    live: &Live,
    scanner: &mut Scanner,
    leaving: &Leaving,
    search: &mut Search<'_>,
) -> Result<(), Trouble> {
    let mut said = Vec::new();
    while let Some(found) = scanner.next() {
        let Found::Record(record) = found else { continue };
        if live.counts_not(io, record.json.as_bytes(), record.start).await? {
            continue;
        }
        said.extend(message::read(&record).0);
    }
    let said = if leaving.replaces() { leaving.messages(io, said).await? } else { said };
    said.iter().for_each(|message| search.take(message));
    Ok(())
}

// Whether a log has these bytes anywhere.
async fn has(io: &Io, live: &Live, needle: &[u8]) -> Result<bool, Trouble> {
    let file = log_of(live);
    let size = io.stat(&file).await?.map_or(0, |stat| stat.size);
    let finder = memchr::memmem::Finder::new(needle);
    let mut at = 0;
    while at < size {
        let bytes = io.read_range(&file, at, size.min(at + CHUNK + needle.len() as u64)).await?;
        if finder.find(&bytes).is_some() {
            return Ok(true);
        }
        if bytes.is_empty() {
            break;
        }
        at += CHUNK;
    }
    Ok(false)
}

// What is told of them, whole.
fn texts_of(met: &[Met]) -> Vec<&str> {
    let texts = met.iter().flat_map(|one| {
        let after = one.after.as_ref().map(|after| after.command.as_str());
        [Some(one.said.as_str()), Some(one.text.as_str()), one.command.as_deref(), after]
    });
    texts.flatten().collect()
}

fn told(thing: &Thing, met: &Met) -> String {
    let cut = |text: &str| String::from(&text[..boundary(text, SHOWN, false)]);
    let mut excerpt = Vec::from([Part { text: cut(&met.text), is_hit: true }]);
    if !met.said.trim().is_empty() {
        excerpt.insert(0, Part { text: cut(met.said.trim()) + "\n", is_hit: false });
    }
    let (found, words, role) = match thing {
        Thing::File(words) => ("file", words, "assistant"),
        Thing::Command(words) => ("command", words, "assistant"),
        Thing::Error(words) => ("error", words, "tool"),
    };
    to_json(&Told {
        id: &met.id,
        role,
        timestamp: met.timestamp.as_deref(),
        excerpt,
        found,
        words: [words],
        is_changed: matches!(thing, Thing::File(_)).then_some(met.is_changed),
        command: met.command.as_deref(),
        exit_code: met.exit_code,
        after: met.after.as_ref().map(|after| Later {
            id: &after.id,
            command: &after.command,
            exit_code: after.exit_code,
        }),
    })
}
