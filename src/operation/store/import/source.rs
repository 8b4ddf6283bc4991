//! The session that one of an agent's is here, found by the id that it has there.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Importing;
use super::arrivals::tail_of;
use super::continued::{name_of, pointed};
use crate::error::Code;
use crate::interop::{AgentName, ImportedSession};
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{self, Place};
use crate::operation::store::{Finding, Store};
use crate::operation::{Counts, Io, Operation, Trouble};
use crate::record::id;

impl Store {
    /// The id of the session that one of an agent's is, `{"agent","id"}`, JSON, by the id that it has there; where a session of
    /// the store was resumed in it, of that one. Refused with `not_found` where nothing of it was imported or recorded.
    pub fn of_source(self: &Rc<Store>, source: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let (mut fields, bad) = (request::read(&source, "agent or id")?, &mut Vec::new());
            let (agent, id): (Option<String>, Option<String>) =
                (fields.take("agent", bad), fields.take("id", bad));
            request::refuse_bad(bad)?;
            let (Some(agent), Some(id)) = (agent, id) else {
                let message =
                    format!("expected a source with \"agent\" and \"id\", but found {source} instead");
                return Err(Trouble::refused(Code::InvalidRequest, message));
            };
            let agent = AgentName::parse(&agent)?.as_str();
            if let Some(pointed) = pointed(&io, &name_of(agent, &id)).await?
                && store.has(&io, &pointed.id).await?
            {
                return Ok(pointed.id);
            }
            let importing = Importing::new(&store, &io, Counts::Off, false);
            match importing.met(&tail_of(&id::imported(agent, &id, "", 0))).await? {
                Some(Place::Home { id, .. }) => Ok(id),
                Some(place) => {
                    let live = store.unread(&place, "");
                    live.opened(&io).await?;
                    Ok(live.id())
                }
                None => {
                    let message = format!("no session was imported from {agent}'s {}", to_json(&id));
                    Err(Trouble::refused(Code::NotFound, message))
                }
            }
        })
    }

    async fn has(&self, io: &Io, id: &str) -> Result<bool, Trouble> {
        for how in [Finding::Placed, Finding::Listed] {
            match self.found_as(io, id, how).await {
                Ok(None) => {}
                Ok(Some(_)) => return Ok(true),
                Err(trouble) if trouble.code() == Code::NotFound.as_str() => return Ok(false),
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(false)
    }
}

impl Importing<'_> {
    /// What is said in an agent's session goes on with the one of this id, whose text was given to it.
    pub(super) async fn note_source(&self, one: &ImportedSession, id: String) -> Result<(), Trouble> {
        let name = name_of(one.agent, &one.source_id);
        let known = pointed(self.io, &name).await?;
        // One that it was written from is known already.
        if known.is_some_and(|known| known.id == id || !known.last.is_empty()) {
            return Ok(());
        }
        let json = format!("{{\"version\":1,\"session\":{}}}", to_json(&id));
        self.io.replace(&layout::continued(&name), json.into_bytes(), None).await
    }
}
