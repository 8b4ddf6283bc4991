//! Search by target: the sessions that read or changed a file, ran a command, or met an error. It reads logs, but
//! scans only those that have the target's text anywhere.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::Serialize;

use super::SearchRequest;
use super::coverage::SearchedSession;
use super::hits::messages_file;
use super::message_numbers::MessageNumbers;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::{grapheme_boundary, to_json};
use crate::operation::message_pages::json_array;
use crate::operation::session_files::SessionFiles;
use crate::operation::store::Store;
use crate::operation::{Io, OutgoingRedactor, Trouble};
use crate::recall::targets::{SearchTarget, TargetHit, TargetSearch};
use crate::record::message;
use crate::record::scan::{ScanItem, Scanner};
use crate::resume::log_match::ExcerptPart;
use crate::time;

// Bytes of a log that are read at once.
const CHUNK_BYTES: u64 = 1 << 20;
// Bytes of a message or an output that an excerpt shows.
const EXCERPT_BYTES: usize = 240;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetHitJson<'a> {
    id: &'a str,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'a str>,
    excerpt: Vec<ExcerptPart>,
    found: &'static str,
    words: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    is_changed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<LaterCommandJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LaterCommandJson<'a> {
    id: &'a str,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
}

impl SearchTarget {
    /// Reads the target from a request: `{"file"}`, `{"command"}` or `{"error"}`, one of them at most.
    pub(super) fn from_request(request: &str) -> Result<Option<SearchTarget>, Trouble> {
        let (mut bad, mut things) = (Vec::new(), Vec::new());
        let Ok(mut fields) = Fields::parse(request) else { return Ok(None) };
        for (key, thing) in [
            ("file", SearchTarget::File as fn(String) -> SearchTarget),
            ("command", SearchTarget::Command as fn(String) -> SearchTarget),
            ("error", SearchTarget::Error as fn(String) -> SearchTarget),
        ] {
            things.extend(fields.take::<String>(key, &mut bad).map(thing));
        }
        request::reject_bad(&mut bad)?;
        if things.len() > 1 {
            let message = "give only one of \"file\", \"command\" and \"error\"";
            return Err(request::error(message).into());
        }
        if !things.is_empty() && (fields.raw("role").is_some() || fields.raw("regex") == Some("true")) {
            let message =
                "\"role\" and \"regex\" apply to words only, not to \"file\", \"command\" or \"error\"";
            return Err(request::error(message).into());
        }
        Ok(things.pop())
    }
}

impl Store {
    /// Writes the sessions with a target: those that changed a file before those that read it, better matches first,
    /// newer ones before older ones.
    pub(super) async fn search_targets(
        &self,
        io: &Io,
        question: &SearchRequest,
        thing: &SearchTarget,
        redactor: &OutgoingRedactor,
    ) -> Result<(), Trouble> {
        let sessions = self.list_searched(io, question).await?;
        let mut found: Vec<(&SearchedSession, Rc<OutgoingRedactor>, Vec<TargetHit>)> = Vec::new();
        for session in sessions.iter().filter(|session| session.log.is_searched) {
            let files = self.unopened_session(&session.log.place, "");
            let of_log = find_target_hits(io, &files, thing, redactor).await;
            let Some((own, mut met)) = self.default_if_unreadable(&session.log.place.folder(), of_log)?
            else {
                continue;
            };
            met.retain(|hit| question.accepts_target_hit(hit));
            met.truncate(question.max_messages(true));
            if !met.is_empty() {
                found.push((session, own, met));
            }
        }
        // The sort is stable, and the list has the most recently active session first.
        let best = |met: &[TargetHit]| met.first().map_or((false, 0), |hit| (hit.is_changed, hit.rank));
        found.sort_by_key(|(.., met)| Reverse(best(met)));
        for (session, own, met) in found.iter().take(question.max_sessions()) {
            let listed = self.outgoing_session_json(io, &session.listed, redactor).await?;
            let numbers = match question.has_numbers {
                true => MessageNumbers::read(io, &self.unopened_session(&session.log.place, "")).await?,
                false => MessageNumbers::default(),
            };
            let hit = |target: &TargetHit| {
                let mut json = target_hit_json(thing, target);
                numbers.add_to(&target.id, &mut json);
                format!("{{\"session\":{listed},{}", &json[1..])
            };
            let page = json_array(met.iter().map(hit));
            let whole = redactor.json_if_reporting(&matched_texts(met));
            redactor.report_value(io, own, (&whole, &String::from_utf8_lossy(&page))).await?;
            io.write_page(page).await?;
        }
        Ok(())
    }
}

impl SearchRequest {
    fn accepts_target_hit(&self, met: &TargetHit) -> bool {
        let ms = met.timestamp.as_deref().and_then(time::parse);
        self.since_ms.is_none_or(|since| ms.is_some_and(|ms| ms >= since / 1000 * 1000))
            && self.until_ms.is_none_or(|until| ms.is_some_and(|ms| ms <= until))
    }
}

// Searches the text as it may leave, for whether a secret matches would tell what it is.
async fn find_target_hits(
    io: &Io,
    files: &SessionFiles,
    thing: &SearchTarget,
    redactor: &OutgoingRedactor,
) -> Result<Option<(Rc<OutgoingRedactor>, Vec<TargetHit>)>, Trouble> {
    if !log_contains(io, files, thing.literal_part().as_bytes()).await? {
        return Ok(None);
    }
    let own = redactor.unreported_copy_for(io, &files.folder()).await?;
    let file = messages_file(files);
    let size = io.stat(&file).await?.map_or(0, |stat| stat.size);
    let mut search = TargetSearch::new(thing);
    let mut scanner = Scanner::forward(0);
    let mut at = 0;
    while at < size {
        let bytes = io.read_range(&file, at, size.min(at + CHUNK_BYTES)).await?;
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
        scanner.feed(&bytes);
        search_records(io, files, &mut scanner, &own, &mut search).await?;
    }
    scanner.finish();
    search_records(io, files, &mut scanner, &own, &mut search).await?;
    Ok(Some((own, search.into_hits())))
}

async fn search_records(
    io: &Io,
    files: &SessionFiles,
    scanner: &mut Scanner,
    redactor: &OutgoingRedactor,
    search: &mut TargetSearch<'_>,
) -> Result<(), Trouble> {
    let mut messages = Vec::new();
    while let Some(found) = scanner.next() {
        let ScanItem::Record(record) = found else { continue };
        if files.is_skipped_line(io, record.json.as_bytes(), record.start).await? {
            continue;
        }
        messages.extend(message::read(&record).0);
    }
    let messages = if redactor.replaces() { redactor.redact_messages(io, messages).await? } else { messages };
    messages.iter().for_each(|message| search.take(message));
    Ok(())
}

// Whether a log contains these bytes anywhere.
async fn log_contains(io: &Io, files: &SessionFiles, needle: &[u8]) -> Result<bool, Trouble> {
    let file = messages_file(files);
    let size = io.stat(&file).await?.map_or(0, |stat| stat.size);
    let finder = memchr::memmem::Finder::new(needle);
    let mut at = 0;
    while at < size {
        let bytes = io.read_range(&file, at, size.min(at + CHUNK_BYTES + needle.len() as u64)).await?;
        if finder.find(&bytes).is_some() {
            return Ok(true);
        }
        if bytes.is_empty() {
            break;
        }
        at += CHUNK_BYTES;
    }
    Ok(false)
}

// The whole texts of which excerpts are written.
fn matched_texts(met: &[TargetHit]) -> Vec<&str> {
    let texts = met.iter().flat_map(|hit| {
        let after = hit.later_command.as_ref().map(|after| after.command.as_str());
        [Some(hit.message_text.as_str()), Some(hit.text.as_str()), hit.command.as_deref(), after]
    });
    texts.flatten().collect()
}

fn target_hit_json(thing: &SearchTarget, met: &TargetHit) -> String {
    let cut = |text: &str| String::from(&text[..grapheme_boundary(text, EXCERPT_BYTES, false)]);
    let mut excerpt = Vec::from([ExcerptPart { text: cut(&met.text), is_hit: true }]);
    if !met.message_text.trim().is_empty() {
        excerpt.insert(0, ExcerptPart { text: cut(met.message_text.trim()) + "\n", is_hit: false });
    }
    let (found, words, role) = match thing {
        SearchTarget::File(words) => ("file", words, "assistant"),
        SearchTarget::Command(words) => ("command", words, "assistant"),
        SearchTarget::Error(words) => ("error", words, "tool"),
    };
    to_json(&TargetHitJson {
        id: &met.id,
        role,
        timestamp: met.timestamp.as_deref(),
        excerpt,
        found,
        words: [words],
        is_changed: matches!(thing, SearchTarget::File(_)).then_some(met.is_changed),
        command: met.command.as_deref(),
        exit_code: met.exit_code,
        after: met.later_command.as_ref().map(|after| LaterCommandJson {
            id: &after.id,
            command: &after.command,
            exit_code: after.exit_code,
        }),
    })
}
