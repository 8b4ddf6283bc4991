//! A new session of the project.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::taking::{Conversation, placement};
use crate::error::Error;
use crate::json::fields::kind_of;
use crate::json::request;
use crate::layout::{Place, Placement, names};
use crate::operation::live::Live;
use crate::operation::{Io, Operation, Trouble};
use crate::record::event::{Agent, Created, USUAL_TYPE};
use crate::record::{draft, id};
use crate::session::begin::Begin;

pub(super) struct Request {
    session_type: String,
    title: Option<String>,
    name: Option<String>,
    placement: Placement,
    agent: Option<Agent>,
}

impl Store {
    /// A new session of the project, which is its current one from then on: `{"type","title","name","placement","model",
    /// "agent"}`, JSON, all optional.
    pub fn create(self: &Rc<Store>, request: String) -> Operation<'static, Rc<Live>> {
        let store = self.clone();
        Operation::new(|io| async move { store.created(&io, &request).await })
    }

    pub(super) async fn created(&self, io: &Io, request: &str) -> Result<Rc<Live>, Trouble> {
        let Request { session_type, title, name, placement, agent } = self.asked(request)?;
        let id = id::new(&io.stamp(), 0);
        let mut created = Created { session: id.clone(), session_type, name, agent, ..Created::default() };
        let place = match placement {
            Placement::Home => {
                created.project = Some(self.described(io).await?);
                Place::Home { project: self.hash.clone(), id }
            }
            // What lies in a workspace is the workspace's, wherever it is checked out; and a commit publishes it.
            Placement::Workspace => {
                let (session_type, name) = (created.session_type.clone(), created.name.take());
                let title = title.clone();
                let about = Conversation { id, session_type, title, name, ..Conversation::default() };
                let place = self.new_conversation(io, &about).await?;
                created.name = Some(place.conversation().name().into());
                place
            }
        };
        let live = self.unread(&place, "");
        live.begun(io, Begin::new(created, title)).await?;
        self.meet(io, &place).await?;
        self.keep(&live);
        self.point(io, &live).await?;
        Ok(live)
    }

    pub(super) fn asked(&self, json: &str) -> Result<Request, Error> {
        let mut fields = request::read(json, "type, title, name, placement, model or agent")?;
        let usual = if self.setup.workspace.is_some() { Placement::Workspace } else { Placement::Home };
        let placement =
            fields.take_raw("placement").map_or(Ok(usual), |found| placement(found, "placement"))?;
        let mut bad = Vec::new();
        let mut text = |key: &str| match fields.take_raw(key) {
            Some(found) if !found.starts_with('"') => {
                Err(request::wrong(format!("expected a string for \"{key}\", but found {found} instead")))
            }
            found => {
                draft::check_word(found, key, &mut bad);
                Ok(found.and_then(|raw| serde_json::from_str(raw).ok()))
            }
        };
        let session_type = text("type")?.unwrap_or_else(|| String::from(USUAL_TYPE));
        let (title, name, model) = (text("title")?, text("name")?, text("model")?);
        names::check_type(&session_type)?;
        if let Some(name) = &name {
            id::check_given(name)?;
        }
        // It is taken apart, and what has no fields would be as if it was not given.
        let given = match fields.take_raw("agent") {
            Some(found) if !found.starts_with('{') => {
                let found = if found == "null" || found.starts_with('[') { kind_of(found) } else { found };
                return Err(request::wrong(format!(
                    "expected an object for \"agent\", but found {found} instead"
                )));
            }
            given => given.and_then(|raw| draft::agent(raw, &mut bad)),
        };
        request::refuse_bad(&mut bad)?;
        let agent = match (given, model.filter(|model: &String| !model.is_empty())) {
            (given, Some(model)) => Some(Agent { model: Some(model), ..given.unwrap_or_default() }),
            (given, None) => given.filter(|agent| *agent != Agent::default()),
        };
        Ok(Request { session_type, title, name, placement, agent })
    }
}
