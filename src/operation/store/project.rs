//! The project that is worked in: its folder, its hash, and by what else it is known when its folder is another.

use alloc::string::ToString;

use super::Store;
use crate::operation::{Io, Trouble};
use crate::project::Aliases;
use crate::record::event::Project;

impl Store {
    /// What its repository says; asked once.
    pub(super) async fn aliases(&self, io: &Io) -> Result<Aliases, Trouble> {
        if let Some(known) = &*self.aliases.borrow() {
            return Ok(known.clone());
        }
        let found = Aliases::from_json(&io.git(&self.setup.project).await?)?;
        self.aliases.replace(Some(found.clone()));
        Ok(found)
    }

    /// What sessions say of it.
    pub(super) async fn described(&self, io: &Io) -> Result<Project, Trouble> {
        let Aliases { remote, first_commit, folder } = self.aliases(io).await?;
        let path = &self.setup.project;
        let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_string();
        Ok(Project { path: path.clone(), hash: self.hash.clone(), name, remote, first_commit, folder })
    }
}
