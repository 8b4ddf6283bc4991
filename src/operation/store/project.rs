//! The project that is worked in: its folder, its hash, and by what else it is known when its folder is another.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::Store;
use crate::operation::{Io, Trouble, git};
use crate::project::{Aliases, hash};
use crate::record::event::Project;

impl Store {
    /// What its repository says; asked once.
    pub(super) async fn project_aliases(&self, io: &Io) -> Result<Aliases, Trouble> {
        if let Some(known) = &*self.cached_aliases.borrow() {
            return Ok(known.clone());
        }
        let found = Box::pin(git::read_aliases(io, &self.setup.project)).await?;
        self.cached_aliases.replace(Some(found.clone()));
        Ok(found)
    }

    /// What sessions say of it.
    pub(super) async fn describe_project(&self, io: &Io) -> Result<Project, Trouble> {
        let aliases = self.project_aliases(io).await?;
        Ok(build_project(self.setup.project.clone(), self.project_hash.clone(), aliases))
    }
}

/// What sessions say of the project of a folder.
pub(super) async fn describe_folder_project(io: &Io, path: String, normal: &str) -> Result<Project, Trouble> {
    let aliases = Box::pin(git::read_aliases(io, &path)).await?;
    Ok(build_project(path, hash(normal), aliases))
}

fn build_project(path: String, hash: String, aliases: Aliases) -> Project {
    let Aliases { remote, first_commit, folder } = aliases;
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_string();
    Project { path, hash, name, remote, first_commit, folder }
}
