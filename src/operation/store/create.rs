//! Creates a new session in the project.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::Store;
use super::reservations::{NewConversation, parse_placement};
use crate::error::Error;
use crate::json::fields::kind_of;
use crate::json::request;
use crate::layout::{Placement, SessionLocation, names};
use crate::operation::join::join_all;
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble, Work};
use crate::record::event::{Agent, SessionCreation, USUAL_TYPE};
use crate::record::{draft, id};
use crate::session::new_session::NewSession;

pub(super) struct CreateRequest {
    session_type: String,
    title: Option<String>,
    name: Option<String>,
    placement: Placement,
    agent: Option<Agent>,
}

impl Store {
    /// Creates a session, and makes it the project's current one:
    /// `{"type","title","name","placement","model","agent"}`, JSON, all optional.
    pub fn create(self: &Rc<Store>, request: String) -> Operation<'static, Rc<SessionFiles>> {
        let store = self.clone();
        Operation::new(|io| async move { store.create_session(&io, &request).await })
    }

    pub(super) async fn create_session(&self, io: &Io, request: &str) -> Result<Rc<SessionFiles>, Trouble> {
        let CreateRequest { session_type, title, name, placement, agent } =
            self.parse_create_request(request)?;
        let id = id::new(&io.stamp(), 0);
        let mut created =
            SessionCreation { session: id.clone(), session_type, name, agent, ..SessionCreation::default() };
        let place = match placement {
            Placement::Home => {
                created.project = Some(self.describe_project(io).await?);
                SessionLocation::Home { project: self.project_hash.clone(), id }
            }
            // Without a project: a session in a workspace belongs to it wherever it is checked out, and a commit would
            // publish the path.
            Placement::Workspace => {
                let (session_type, name) = (created.session_type.clone(), created.name.take());
                let title = title.clone();
                let about = NewConversation { id, session_type, title, name, ..NewConversation::default() };
                let place = self.reserve_conversation(io, &about).await?;
                created.name = Some(place.conversation().name().into());
                place
            }
        };
        let files = self.unopened_session(&place, "");
        files.begin_log(io, NewSession::new(created, title)).await?;
        // What follows from the log is written at once: a busy program lets each wait for the disk end late.
        let works: Vec<Work<'_, ()>> = vec![
            Box::pin(files.save_first_document(io)),
            Box::pin(async { self.point_at(io, &files).await.map(drop) }),
        ];
        for done in join_all(works).await {
            done?;
        }
        self.register_workspace(io, &place).await?;
        self.add_open(&files);
        Ok(files)
    }

    pub(super) fn parse_create_request(&self, json: &str) -> Result<CreateRequest, Error> {
        let mut fields = request::parse(json, "type, title, name, placement, model or agent")?;
        let usual = if self.setup.workspace.is_some() { Placement::Workspace } else { Placement::Home };
        let placement =
            fields.take_raw("placement").map_or(Ok(usual), |found| parse_placement(found, "placement"))?;
        let mut bad = Vec::new();
        let mut text = |key: &str| match fields.take_raw(key) {
            Some(found) if !found.starts_with('"') => {
                Err(request::error(format!("expected a string for \"{key}\", but found {found} instead")))
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
        // Check its JSON type here, for parsing takes an object apart, and anything without fields would count as not
        // given.
        let given = match fields.take_raw("agent") {
            Some(found) if !found.starts_with('{') => {
                let found = if found == "null" || found.starts_with('[') { kind_of(found) } else { found };
                return Err(request::error(format!(
                    "expected an object for \"agent\", but found {found} instead"
                )));
            }
            given => given.and_then(|raw| draft::parse_agent(raw, &mut bad)),
        };
        request::reject_bad(&mut bad)?;
        let agent = match (given, model.filter(|model: &String| !model.is_empty())) {
            (given, Some(model)) => Some(Agent { model: Some(model), ..given.unwrap_or_default() }),
            (given, None) => given.filter(|agent| *agent != Agent::default()),
        };
        Ok(CreateRequest { session_type, title, name, placement, agent })
    }
}
