//! What a model is told at a turn of a conversation in an agent's client, while that is recorded: what other sessions
//! say to the prompt, that the user seems to stop, and that nothing was saved for long.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Store;
use super::recall::recall_request::RecallRequest;
use crate::json::hash::sha256;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{self, File, names};
use crate::operation::logs::LogName;
use crate::operation::{Io, Operation, OutgoingRedactor, Trouble, unless_bug};
use crate::state::stopping::find_stop_phrase;

/// Turns without a save after which one is offered.
const TURNS_BEFORE_SAVE_OFFER: u64 = 40;
/// The most bytes, and tokens, of other sessions in a prompt.
const MAX_RECALL_LENGTH: u32 = 1500;
/// Attempts to recall something else, where other processes have just given the same.
const MAX_RECALL_ATTEMPTS: usize = 4;
/// First characters of prompts that are commands of the client.
const COMMAND_CHARS: [char; 4] = ['/', '$', '!', '#'];

struct TurnRequest {
    // The user's prompt; none where the client only forgot.
    prompt: Option<String>,
    // The session that the conversation is recorded in.
    session: Option<String>,
    // The client has just dropped most of the conversation, as compaction does.
    has_forgotten: bool,
}

/// How long nothing was saved.
#[derive(Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
struct SaveReminder {
    turns: u64,
    is_offered: bool,
    // The id of the event of the last save.
    since: Option<String>,
}

impl TurnRequest {
    fn from_json(json: &str) -> Result<TurnRequest, Trouble> {
        let (mut fields, bad) = (request::parse(json, "prompt, session or hasForgotten")?, &mut Vec::new());
        let (prompt, session) = (fields.take("prompt", bad), fields.take("session", bad));
        let has_forgotten = fields.take("hasForgotten", bad).unwrap_or_default();
        request::reject_bad(bad)?;
        Ok(TurnRequest { prompt, session, has_forgotten })
    }
}

/// Returns for how many turns, this one first, a model is certainly told neither that its user stops nor that nothing
/// was saved: none where `prompt`, what was typed at this turn, wants to stop. `reminder` is the session's file of
/// unsaved turns; without one nothing was counted yet. A host need not ask [`Store::turn`] for so long, as long as it
/// does so afterwards, and recalls nothing.
pub fn count_quiet_turns(prompt: &str, reminder: Option<&[u8]>) -> u64 {
    if find_stop_phrase(prompt).is_some() {
        return 0;
    }
    let known: SaveReminder =
        reminder.and_then(|reminder| serde_json::from_slice(reminder).ok()).unwrap_or_default();
    // Once an offer was made, the next one comes that many turns after a save.
    let counted = if known.is_offered { 0 } else { known.turns };
    (TURNS_BEFORE_SAVE_OFFER - 1).saturating_sub(counted)
}

impl Store {
    /// Returns what to tell a model at a turn. `conversation` is any word of the client's that identifies it, mostly
    /// its transcript's path.
    ///
    /// Request: `{"prompt","session","hasForgotten"}`, all optional: what was typed, the id of the session that it is
    /// recorded in, and whether the client has just dropped most of it. Answer:
    /// `{"recalled","wantsStop","offersSave"}`, JSON: what other sessions say to the prompt, as the setting `recall`
    /// wants it, within 1,500 bytes, and not the same again until the client has dropped it; whether the user seems to
    /// stop; and whether to offer a save, once, after 40 turns without one.
    pub fn turn(
        self: &Rc<Store>,
        conversation: String,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, String> {
        let (store, redactor) = (self.clone(), redactor.clone());
        Operation::new(|io| async move {
            let turn = TurnRequest::from_json(&request)?;
            let prompt = turn.prompt.as_deref();
            let wants_stop = prompt.is_some_and(|prompt| find_stop_phrase(prompt).is_some());
            let asks = prompt.filter(|prompt| !wants_stop && !prompt.trim_start().starts_with(COMMAND_CHARS));
            let recalled = store.recall_for_turn(&io, &conversation, (asks, &turn), &redactor).await?;
            let session = turn.session.as_deref().filter(|_| prompt.is_some() && !wants_stop);
            let offers_save = match session {
                Some(id) => store.count_unsaved_turn(&io, id).await?,
                None => false,
            };
            let recalled = to_json(&recalled);
            Ok(format!("{{\"recalled\":{recalled},\"wantsStop\":{wants_stop},\"offersSave\":{offers_save}}}"))
        })
    }

    async fn recall_for_turn(
        self: &Rc<Store>,
        io: &Io,
        conversation: &str,
        (asks, turn): (Option<&str>, &TurnRequest),
        redactor: &Rc<OutgoingRedactor>,
    ) -> Result<String, Trouble> {
        if asks.is_none() && !turn.has_forgotten {
            return Ok(String::new());
        }
        let settings = self.setup.read_settings(io).await?;
        let mode = settings.value("recall");
        if mode == "\"off\"" {
            return Ok(String::new());
        }
        let file = layout::cache().child(&format!("told-{}", &sha256(conversation.as_bytes())[..32]));
        if turn.has_forgotten {
            unless_bug(io.remove(&file).await)?;
        }
        let Some(prompt) = asks else { return Ok(String::new()) };
        let mut ledger = RecallLedger { file, own_lines: Vec::new() };
        for _ in 0..MAX_RECALL_ATTEMPTS {
            let known = ledger.read_other_ids(io, None).await?;
            if mode == "\"session\"" && known.is_some() {
                return Ok(String::new());
            }
            let known = turn.session.iter().cloned().chain(known.unwrap_or_default());
            let request = RecallRequest::with_limit(MAX_RECALL_LENGTH, known.collect());
            let recalled = self.recall_sessions(io, prompt, &request, redactor).await?;
            let ids: Vec<String> = recalled.quoted_messages().map(String::from).collect();
            if ids.is_empty() && mode != "\"session\"" {
                return Ok(recalled.text);
            }
            // Without a claim on disk the same would be recalled at every turn.
            let Some(claimed) = ledger.claim(io, &ids).await? else { return Ok(String::new()) };
            let others = ledger.read_other_ids(io, Some(claimed)).await?;
            let is_first = mode != "\"session\"" || others.is_none();
            if is_first && others.is_none_or(|others| !ids.iter().any(|id| others.contains(id))) {
                return Ok(recalled.text);
            }
        }
        Ok(String::new())
    }

    // Counts a turn without a save, and returns whether to offer one, which is done once.
    async fn count_unsaved_turn(&self, io: &Io, id: &str) -> Result<bool, Trouble> {
        let Some(place) = self.find_place(io, id).await? else { return Ok(false) };
        let files = self.unopened_session(&place, id);
        unless_bug(files.observe(io, LogName::Events).await)?;
        let since = files.with_session(|session| session.last_save_event().map(String::from));
        let file = layout::cached_file(id, names::CachedKind::Turns);
        let known = read_json::<SaveReminder>(io, &file).await?.filter(|known| known.since == since);
        let known = known.unwrap_or_default();
        let turns = known.turns + 1;
        let is_due = turns >= TURNS_BEFORE_SAVE_OFFER && !known.is_offered;
        let unsaved = SaveReminder { turns, is_offered: known.is_offered || is_due, since };
        Ok(write_json(io, &file, &unsaved).await? && is_due)
    }
}

// The messages recalled for a conversation: a line of ids for each time. Other processes may recall for it at the same
// time; of lines with the same message the first counts.
struct RecallLedger {
    file: File,
    // Where lines of this turn begin, in bytes.
    own_lines: Vec<u64>,
}

impl RecallLedger {
    /// Reads the ids that other turns claimed before byte `end`; none where there is no claim.
    async fn read_other_ids(&self, io: &Io, end: Option<u64>) -> Result<Option<Vec<String>>, Trouble> {
        let Some(bytes) = unless_bug(io.read_all(&self.file).await)?.flatten() else { return Ok(None) };
        let end = end.map_or(bytes.len(), |end| bytes.len().min(end as usize));
        let (mut at, mut known) = (0, None);
        for line in bytes[..end].split_inclusive(|byte| *byte == b'\n') {
            if !self.own_lines.contains(&at)
                && let Ok(ids) = serde_json::from_slice::<Vec<String>>(line)
            {
                known.get_or_insert_with(Vec::new).extend(ids);
            }
            at += line.len() as u64;
        }
        Ok(known)
    }

    /// Claims messages for this turn. Returns where its line begins, or none where it could not be written.
    async fn claim(&mut self, io: &Io, ids: &[String]) -> Result<Option<u64>, Trouble> {
        // Begins with a line feed, for a process that died while writing may have left none.
        let line = format!("\n{}\n", to_json(&ids));
        let len = line.len() as u64;
        let appended = unless_bug(io.append(&self.file, line.into_bytes(), false, None).await)?;
        let start = appended.map(|appended| appended.end.saturating_sub(len) + 1);
        self.own_lines.extend(start);
        Ok(start)
    }
}

// Reads a derived file; one that cannot be read counts as absent.
async fn read_json<T: DeserializeOwned>(io: &Io, file: &File) -> Result<Option<T>, Trouble> {
    let bytes = unless_bug(io.read_all(file).await)?.flatten();
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

// Returns whether the file was written.
async fn write_json(io: &Io, file: &File, value: &impl Serialize) -> Result<bool, Trouble> {
    Ok(unless_bug(io.replace(file, to_json(value).into_bytes(), None).await)?.is_some())
}
