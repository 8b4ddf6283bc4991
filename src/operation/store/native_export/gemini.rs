//! Gemini CLI's name for a project folder: the one that it gave, or else the one that it would give.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;

use super::{AgentClient, FolderName};
use crate::error::Code;
use crate::operation::{FileKind, Trouble, unless_bug};
use crate::record::id;

/// The folders in which each project has one of its name.
const BASE_FOLDERS: [&str; 2] = ["tmp", "history"];
/// The file in such a folder that has the project's path.
const OWNER_FILE: &str = ".project_root";

#[derive(Default, Deserialize)]
struct ProjectRegistry {
    #[serde(default)]
    projects: BTreeMap<String, String>,
}

impl AgentClient<'_> {
    pub(super) async fn gemini_folder_name(&self, folder: &str) -> Result<FolderName, Trouble> {
        let project = self.normalize_path(folder);
        let registry =
            self.read_text(&self.outside_file(&self.agent_home, "projects.json")).await?.unwrap_or_default();
        // A damaged registry counts as empty, as it does for the client.
        let known = serde_json::from_str::<ProjectRegistry>(&registry).unwrap_or_default().projects;
        if let Some(own) = known.get(&project)
            && self.is_name_free(own, &project).await?
        {
            return Ok(FolderName { name: own.clone(), is_new: false });
        }
        for base in BASE_FOLDERS {
            for name in self.list_names(base).await? {
                if self.read_owner(base, &name).await?.as_deref() == Some(&project) {
                    return Ok(FolderName { name, is_new: false });
                }
            }
        }
        let slug = to_slug(project.rsplit(self.separators()).next().unwrap_or_default());
        let mut number = 0_u32;
        loop {
            let name = if number == 0 { slug.clone() } else { format!("{slug}-{number}") };
            if known.values().all(|taken| *taken != name) && self.is_name_free(&name, &project).await? {
                return Ok(FolderName { name, is_new: true });
            }
            number += 1;
        }
    }

    /// Gives the name to the project, as the client would. Returns false if another process took it first.
    pub(super) async fn claim_name(&self, name: &str, folder: &str) -> Result<bool, Trouble> {
        let owner = self.outside_file(&self.agent_home, &format!("tmp/{name}/{OWNER_FILE}"));
        let mine = id::new(&self.io.stamp(), 0);
        let mine = self.outside_file(&self.agent_home, &format!("tmp/{name}/{OWNER_FILE}.{mine}.tmp"));
        self.io.replace(&mine, self.normalize_path(folder).into_bytes(), None).await?;
        let Err(trouble) = self.io.rename(&mine, &owner).await else { return Ok(true) };
        unless_bug(self.io.remove(&mine).await)?;
        if trouble.code() == Code::AlreadyExists.as_str() { Ok(false) } else { Err(trouble) }
    }

    // Whether no other project has the name.
    async fn is_name_free(&self, name: &str, project: &str) -> Result<bool, Trouble> {
        for base in BASE_FOLDERS {
            if self.read_owner(base, name).await?.is_some_and(|owner| owner != project) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn read_owner(&self, base: &str, name: &str) -> Result<Option<String>, Trouble> {
        let text = self
            .read_text(&self.outside_file(&self.agent_home, &format!("{base}/{name}/{OWNER_FILE}")))
            .await?;
        Ok(text.map(|text| self.normalize_path(text.trim())))
    }

    async fn list_names(&self, base: &str) -> Result<Vec<String>, Trouble> {
        let entries = self.io.list(&self.outside_file(&self.agent_home, base)).await?.unwrap_or_default();
        let folders = entries.into_iter().filter(|entry| entry.kind == FileKind::Folder);
        Ok(folders.map(|entry| entry.name).collect())
    }

    // Returns a path in the form that the client compares.
    fn normalize_path(&self, path: &str) -> String {
        let bare = path.trim_end_matches(self.separators());
        let path = if bare.is_empty() || bare.ends_with(':') { path } else { bare };
        if self.is_windows() { path.to_lowercase() } else { path.into() }
    }

    // The separators of names in a path.
    fn separators(&self) -> &'static [char] {
        if self.is_windows() { &['/', '\\'] } else { &['/'] }
    }
}

fn to_slug(name: &str) -> String {
    let name = name.to_lowercase();
    let words: Vec<&str> =
        name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "project".into() } else { words.join("-") }
}
