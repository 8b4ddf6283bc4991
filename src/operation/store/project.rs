//! The current project: its folder, its hash, and its repository's remote and first commit, by which it is known in
//! another folder.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::Store;
use crate::operation::{Io, Trouble, git};
use crate::project::{Aliases, hash};
use crate::record::event::Project;

impl Store {
    /// Reads the project's aliases from its repository, once.
    pub(super) async fn project_aliases(&self, io: &Io) -> Result<Aliases, Trouble> {
        if let Some(known) = &*self.cached_aliases.borrow() {
            return Ok(known.clone());
        }
        let found = Box::pin(git::read_aliases(io, &self.setup.project)).await?;
        self.cached_aliases.replace(Some(found.clone()));
        Ok(found)
    }

    /// Describes the project as sessions record it.
    pub(super) async fn describe_project(&self, io: &Io) -> Result<Project, Trouble> {
        let aliases = self.project_aliases(io).await?;
        Ok(build_project(self.setup.project.clone(), self.project_hash.clone(), aliases))
    }
}

/// Describes the project of a folder as sessions record it.
pub(super) async fn describe_folder_project(io: &Io, path: String, normal: &str) -> Result<Project, Trouble> {
    let aliases = Box::pin(git::read_aliases(io, &path)).await?;
    Ok(build_project(path, hash(normal), aliases))
}

fn build_project(path: String, hash: String, aliases: Aliases) -> Project {
    let Aliases { remote, first_commit, folder } = aliases;
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_string();
    Project { path, hash, name, remote, first_commit, folder }
}
