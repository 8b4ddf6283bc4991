//! A new session: what a host says of it, as the first events of its log.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::error::Error;
use crate::json::fields::Fields;
use crate::json::request;
use crate::project;
use crate::record::event::{Change, ImportOrigin, Parent, Project, SessionCreation, type_of};
use crate::record::{draft, id};
use crate::session::change_request::ChangeRequest;
use crate::time::Stamp;

/// A new session's description.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    created: SessionCreation,
    // When it began, where that was not now; `Some(None)` where nobody knows.
    began_at: Option<Option<String>>,
    title: Option<String>,
    import_origin: Option<ImportOrigin>,
    later_changes: Vec<ChangeRequest>,
}

impl NewSession {
    /// A session that begins now.
    pub(crate) fn new(created: SessionCreation, title: Option<String>) -> NewSession {
        NewSession { created, began_at: None, title, import_origin: None, later_changes: Vec::new() }
    }

    /// Sets when it began; `None` where nobody knows.
    #[cfg(feature = "interop")]
    pub(crate) fn with_time(self, at: Option<String>) -> NewSession {
        NewSession { began_at: Some(at), ..self }
    }

    /// Sets where it was imported from.
    #[cfg(feature = "interop")]
    pub(crate) fn with_import(self, imported: ImportOrigin) -> NewSession {
        NewSession { import_origin: Some(imported), ..self }
    }

    /// Adds further changes.
    #[cfg(feature = "interop")]
    pub(crate) fn with_changes(self, then: Vec<ChangeRequest>) -> NewSession {
        NewSession { later_changes: then, ..self }
    }

    /// The session's id.
    pub(crate) fn id(&self) -> &str {
        &self.created.session
    }

    /// Reads
    /// `{"id","type","name","title","project","remote","firstCommit","folder","parent","agent","imported","timestamp",
    /// "then"}`; all are optional. `project` is a folder, `timestamp` when it began, null where nobody knows, and now
    /// unless given; `then` further changes, as [`ChangeRequest::from_json`] reads them.
    ///
    /// # Errors
    /// `invalid_request`, naming the field.
    pub fn from_json(json: &str) -> Result<NewSession, Error> {
        let mut bad = Vec::new();
        let mut fields =
            Fields::parse(json).map_err(|_| request::error("expected an object, but found none"))?;
        let path: Option<String> = fields.take("project", &mut bad);
        let project = path.map(|path| Project {
            hash: project::hash(&path),
            name: path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_string(),
            remote: fields.take("remote", &mut bad),
            first_commit: fields.take("firstCommit", &mut bad),
            folder: fields.take("folder", &mut bad),
            path,
        });
        for word in ["id", "type", "name", "title"] {
            draft::check_word(fields.raw(word), word, &mut bad);
        }
        let agent = fields.take_raw("agent").and_then(|raw| draft::parse_agent(raw, &mut bad));
        let then = fields.take_raw("then").map_or(Ok(Vec::new()), ChangeRequest::from_json)?;
        let at = fields.has("timestamp").then(|| fields.take("timestamp", &mut bad));
        let begin = NewSession {
            began_at: at,
            created: SessionCreation {
                session: fields.take("id", &mut bad).unwrap_or_default(),
                session_type: type_of(fields.take("type", &mut bad)),
                name: fields.take("name", &mut bad),
                project,
                parent: fields.take::<Parent>("parent", &mut bad),
                agent,
            },
            title: fields.take("title", &mut bad),
            import_origin: fields.take_raw("imported").and_then(|raw| Fields::parse(raw).ok()).and_then(
                |mut from| {
                    Some(ImportOrigin {
                        agent: from.take("agent", &mut bad)?,
                        source_id: from.take("sourceId", &mut bad)?,
                    })
                },
            ),
            later_changes: then,
        };
        request::reject_bad(&mut bad)?;
        Ok(begin)
    }

    /// Returns the changes that begin it. A session without an id gets one.
    pub fn into_changes(mut self, stamp: &Stamp) -> Vec<ChangeRequest> {
        if self.created.session.is_empty() {
            self.created.session = id::new(stamp, u32::MAX);
        }
        let is_timeless = self.began_at == Some(None);
        let timestamp = self.began_at.flatten();
        let created = Change::Created(self.created.into());
        let mut requests =
            Vec::from([ChangeRequest { timestamp, is_timeless, ..ChangeRequest::from(created) }]);
        let changes = self.import_origin.map(Change::Imported).into_iter();
        let changes = changes.chain(self.title.map(|title| Change::Title { title }));
        requests.extend(changes.map(ChangeRequest::from));
        requests.extend(self.later_changes);
        requests
    }
}
