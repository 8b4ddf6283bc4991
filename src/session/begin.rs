//! How a session begins: what a host says of it, as the first events of its log.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::error::Error;
use crate::json::fields::Fields;
use crate::json::request;
use crate::project;
use crate::record::event::{Change, Created, Imported, Parent, Project, type_of};
use crate::record::{draft, id};
use crate::session::ask::Ask;
use crate::time::Stamp;

/// How a session begins, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Begin {
    created: Created,
    // When that was, where it was not now; nothing inside where nobody knows.
    at: Option<Option<String>>,
    title: Option<String>,
    imported: Option<Imported>,
    then: Vec<Ask>,
}

impl Begin {
    /// One that begins now.
    pub(crate) fn new(created: Created, title: Option<String>) -> Begin {
        Begin { created, at: None, title, imported: None, then: Vec::new() }
    }

    /// When that was; nothing where nobody knows.
    #[cfg(feature = "interop")]
    pub(crate) fn at(self, at: Option<String>) -> Begin {
        Begin { at: Some(at), ..self }
    }

    /// Where it comes from.
    #[cfg(feature = "interop")]
    pub(crate) fn imported(self, imported: Imported) -> Begin {
        Begin { imported: Some(imported), ..self }
    }

    /// What else happened then.
    #[cfg(feature = "interop")]
    pub(crate) fn then(self, then: Vec<Ask>) -> Begin {
        Begin { then, ..self }
    }

    /// The session's id.
    pub(crate) fn id(&self) -> &str {
        &self.created.session
    }

    /// Reads `{"id","type","name","title","project","remote","firstCommit","folder","parent","agent","imported","timestamp",
    /// "then"}`; all are optional. `project` is a folder, `timestamp` when it began, null where nobody knows, and now unless
    /// given; `then` what else happened, as [`Ask::from_json`] reads it.
    ///
    /// # Errors
    /// `invalid_request`, naming the field.
    pub fn from_json(json: &str) -> Result<Begin, Error> {
        let mut bad = Vec::new();
        let mut fields =
            Fields::parse(json).map_err(|_| request::wrong("expected an object, but found none"))?;
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
        let agent = fields.take_raw("agent").and_then(|raw| draft::agent(raw, &mut bad));
        let then = fields.take_raw("then").map_or(Ok(Vec::new()), Ask::from_json)?;
        let at = fields.has("timestamp").then(|| fields.take("timestamp", &mut bad));
        let begin = Begin {
            at,
            created: Created {
                session: fields.take("id", &mut bad).unwrap_or_default(),
                session_type: type_of(fields.take("type", &mut bad)),
                name: fields.take("name", &mut bad),
                project,
                parent: fields.take::<Parent>("parent", &mut bad),
                agent,
            },
            title: fields.take("title", &mut bad),
            imported: fields.take_raw("imported").and_then(|raw| Fields::parse(raw).ok()).and_then(
                |mut from| {
                    Some(Imported {
                        agent: from.take("agent", &mut bad)?,
                        source_id: from.take("sourceId", &mut bad)?,
                    })
                },
            ),
            then,
        };
        request::refuse_bad(&mut bad)?;
        Ok(begin)
    }

    /// What begins it. A session without an id gets one.
    pub fn asked(mut self, stamp: &Stamp) -> Vec<Ask> {
        if self.created.session.is_empty() {
            self.created.session = id::new(stamp, u32::MAX);
        }
        let is_timeless = self.at == Some(None);
        let timestamp = self.at.flatten();
        let created = Change::Created(self.created.into());
        let mut asked = Vec::from([Ask { timestamp, is_timeless, ..Ask::from(created) }]);
        let changes = self.imported.map(Change::Imported).into_iter();
        let changes = changes.chain(self.title.map(|title| Change::Title { title }));
        asked.extend(changes.map(Ask::from));
        asked.extend(self.then);
        asked
    }
}
