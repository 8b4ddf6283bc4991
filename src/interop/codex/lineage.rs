//! Rollouts that continue another one: a fork's and a rewound thread's hold what was said since, and name the rollout
//! that holds what was said before (`history_base`), by the id in its file's name and the byte where their own part
//! begins.
//!
//! A host puts the bytes of that one before those of this one, and so on. A message is named by its place in its own
//! file, so that a thread's messages are the same ones whichever of its rollouts they are read with.

use alloc::string::String;

use crate::interop::Losses;
use crate::interop::codex::{HEAD_LINES, Reader, Record};
use crate::interop::lines::{first_objects, lines, objects};
use crate::interop::loss;
use crate::json::text::Text;
use crate::time;

/// The part of another rollout that one continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseRollout {
    /// The id in the name of its file.
    pub rollout: String,
    // The number of its bytes, and the number of its first record that is no part; either may be missing.
    end_byte: Option<usize>,
    end_ordinal: Option<u64>,
}

impl BaseRollout {
    /// Returns how many bytes of that rollout belong to this one; `None` if it is shorter than it was. If its bytes are
    /// others by now, since it was cleaned of secrets, the numbers of the records decide.
    pub fn part_len(&self, rollout: &[u8]) -> Option<usize> {
        let ends_line = |end: &usize| *end == 0 || rollout.get(end - 1) == Some(&b'\n');
        let by_bytes = self.end_byte.filter(ends_line);
        let Some(first) = self.end_ordinal else { return by_bytes };
        let mut last = None;
        for (place, line) in lines(rollout) {
            let ordinal =
                objects(line).filter_map(|mut object| object.take("ordinal", &mut Losses::default())).max();
            if ordinal >= Some(first) {
                return Some(place);
            }
            last = ordinal.max(last);
        }
        // If it ends before that, all of it is a part, provided that nothing is missing.
        let is_whole = first == 0 || last == first.checked_sub(1);
        if is_whole || self.end_byte.is_none() { Some(rollout.len()) } else { by_bytes }
    }
}

/// Finds the rollout that these bytes continue; `None` if they hold everything, or are a sub-agent's: its caller's
/// earlier messages stand in the caller's session.
pub fn find_base(bytes: &[u8]) -> Option<BaseRollout> {
    let quiet = &mut Losses::default();
    let mut first =
        first_objects(bytes, HEAD_LINES).find(|object| object.raw("type") == Some("\"session_meta\""))?;
    let mut payload = first.take_object("payload", quiet)?;
    let is_agents = payload.raw("source").is_some_and(|source| source.starts_with('{'))
        || payload.raw("parent_thread_id").is_some_and(|parent| parent != "null");
    let mut base = payload.take_object("history_base", quiet).filter(|_| !is_agents)?;
    let end: Option<u64> = base.take("end_byte_offset", quiet);
    Some(BaseRollout {
        rollout: base.take("thread_id", quiet)?,
        end_byte: end.and_then(|end| usize::try_from(end).ok()),
        end_ordinal: base.take("end_ordinal_exclusive", quiet),
    })
}

impl Reader {
    /// Ends the part of the base rollout, which was read so far; if nothing was, that part is lost.
    pub(super) fn continue_base(&mut self, record: &mut Record<'_>, start: u64) {
        let Record { payload, origin } = record;
        let is_based = payload.raw("history_base").is_some_and(|base| base.starts_with('{'));
        if !is_based {
            return;
        }
        payload.take_raw("history_base");
        if !self.is_described {
            return payload.report_lost("history_base", loss::HISTORY_IN_ANOTHER_FILE, &mut self.talk.losses);
        }
        let id = payload.raw("id").and_then(Text::decode).unwrap_or_default();
        if id.as_str() != self.talk.session.source_id {
            self.talk.mark_fork();
            self.talk.note_created(origin.timestamp.as_deref().and_then(time::parse));
        }
        self.talk.losses = Losses::default();
        self.problems.clear();
        self.answer = None;
        self.rollout_start = start;
    }
}
