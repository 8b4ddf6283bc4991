//! Sums what the model calls of sessions took.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::places::MAX_PARALLEL_READS;
use crate::operation::join::join_all;
use crate::operation::logs::LogName;
use crate::operation::session_files::READ_BYTES;
use crate::operation::{Io, Operation, OutgoingRedactor, Trouble, Work};
use crate::session::session_list::{ListRequest, ListedSession};
use crate::session::usage::{CountedSession, LogCalls, UsageRequest, UsageTally};

impl UsageTally {
    /// Sums the tokens of the model calls of sessions, sub-agents' and archived ones too, as their providers counted
    /// them, and what they cost. Each call counts once, whatever sessions have it. The request is as in
    /// [`UsageRequest::from_json`], the answer as in [`UsageTally::to_json`].
    pub fn of_store(
        store: &Rc<Store>,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, String> {
        let (store, redactor) = (store.clone(), redactor.clone());
        Operation::new(|io| async move {
            let request = UsageRequest::from_json(&request)?;
            let wanted = ListRequest::for_any_type(request.all_projects, request.folder.clone());
            let mut listed = store.list_matching(&io, &wanted).await?;
            listed.retain(|session| request.session.as_ref().is_none_or(|id| *id == session.entry.id));
            let mut tally = UsageTally::new(request, io.stamp());
            // The first created first: a fork's copy is the later one.
            let places: Vec<usize> = (0..listed.len()).rev().collect();
            for places in places.chunks(MAX_PARALLEL_READS) {
                let works = places.iter().map(|place| -> Work<'_, LogCalls> {
                    Box::pin(read_calls(&store, &io, &listed[*place]))
                });
                for (place, calls) in places.iter().zip(join_all(works.collect()).await) {
                    let ListedSession { entry, folder, last_ms, .. } = &*listed[*place];
                    let counted = CountedSession {
                        agent: entry.agent.clone(),
                        project: folder.clone(),
                        last_ms: *last_ms,
                    };
                    let calls = store.default_if_unreadable(&listed[*place].place.folder(), calls)?;
                    tally.add_log(*place, &counted, calls);
                }
            }
            let mut sessions = BTreeMap::new();
            for place in tally.sessions() {
                let json = store.outgoing_session_json(&io, &listed[place], &redactor).await?;
                sessions.insert(place, json);
            }
            Ok(tally.to_json(&sessions))
        })
    }
}

// Reads the calls of a session's log without opening it, piece by piece.
async fn read_calls(store: &Store, io: &Io, session: &ListedSession) -> Result<LogCalls, Trouble> {
    let files = store.unopened_session(&session.place, "");
    let file = files.log_file(LogName::Messages);
    let (mut calls, mut start, mut rest) = (LogCalls::default(), 0, Vec::new());
    loop {
        let at = start + rest.len() as u64;
        let bytes = io.read(&file, at, Some(at + READ_BYTES)).await?.unwrap_or_default();
        let is_last = bytes.is_empty();
        rest.extend(bytes);
        let whole_lines = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
        let end = if is_last { rest.len() } else { whole_lines };
        for line in LogCalls::candidate_lines(&rest[..end]) {
            if !files.is_skipped_line(io, &rest[line.clone()], start + line.start as u64).await? {
                calls.add_line(&rest[line]);
            }
        }
        if is_last {
            return Ok(calls);
        }
        rest.drain(..end);
        start += end as u64;
    }
}
