//! How Gemini CLI calls a folder: what it has called it before, or what it would call it now.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;

use super::{Client, Place};
use crate::error::Code;
use crate::operation::{Kind, Trouble, unless_bug};
use crate::record::id;

/// The folders in which a folder of the project's name is its own.
const BASES: [&str; 2] = ["tmp", "history"];
/// The file in which such a folder says whose it is.
const OWNER: &str = ".project_root";

#[derive(Default, Deserialize)]
struct Registry {
    #[serde(default)]
    projects: BTreeMap<String, String>,
}

impl Client<'_> {
    pub(super) async fn gemini_place(&self, folder: &str) -> Result<Place, Trouble> {
        let project = self.normal(folder);
        let registry = self.text(&self.file(&self.home, "projects.json")).await?.unwrap_or_default();
        // Where it is damaged, the client begins anew, too.
        let known = serde_json::from_str::<Registry>(&registry).unwrap_or_default().projects;
        if let Some(own) = known.get(&project)
            && self.is_free(own, &project).await?
        {
            return Ok(Place { name: own.clone(), is_new: false });
        }
        for base in BASES {
            for name in self.names(base).await? {
                if self.owner(base, &name).await?.as_deref() == Some(&project) {
                    return Ok(Place { name, is_new: false });
                }
            }
        }
        let slug = slug(project.rsplit(self.ends()).next().unwrap_or_default());
        let mut number = 0_u32;
        loop {
            let name = if number == 0 { slug.clone() } else { format!("{slug}-{number}") };
            if known.values().all(|taken| *taken != name) && self.is_free(&name, &project).await? {
                return Ok(Place { name, is_new: true });
            }
            number += 1;
        }
    }

    /// The name is the project's from now on, as if the client had given it; unless somebody else took it first.
    pub(super) async fn take_place(&self, name: &str, folder: &str) -> Result<bool, Trouble> {
        let owner = self.file(&self.home, &format!("tmp/{name}/{OWNER}"));
        let mine = id::new(&self.io.stamp(), 0);
        let mine = self.file(&self.home, &format!("tmp/{name}/{OWNER}.{mine}.tmp"));
        self.io.replace(&mine, self.normal(folder).into_bytes(), None).await?;
        let Err(trouble) = self.io.rename(&mine, &owner).await else { return Ok(true) };
        unless_bug(self.io.remove(&mine).await)?;
        if trouble.code() == Code::AlreadyExists.as_str() { Ok(false) } else { Err(trouble) }
    }

    // Whether it is nobody's, or the project's own.
    async fn is_free(&self, name: &str, project: &str) -> Result<bool, Trouble> {
        for base in BASES {
            if self.owner(base, name).await?.is_some_and(|owner| owner != project) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn owner(&self, base: &str, name: &str) -> Result<Option<String>, Trouble> {
        let text = self.text(&self.file(&self.home, &format!("{base}/{name}/{OWNER}"))).await?;
        Ok(text.map(|text| self.normal(text.trim())))
    }

    async fn names(&self, base: &str) -> Result<Vec<String>, Trouble> {
        let entries = self.io.list(&self.file(&self.home, base)).await?.unwrap_or_default();
        let folders = entries.into_iter().filter(|entry| entry.kind == Kind::Folder);
        Ok(folders.map(|entry| entry.name).collect())
    }

    // A path as the client knows it.
    fn normal(&self, path: &str) -> String {
        let bare = path.trim_end_matches(self.ends());
        let path = if bare.is_empty() || bare.ends_with(':') { path } else { bare };
        if self.is_windows() { path.to_lowercase() } else { path.into() }
    }

    // What stands between the names in a path.
    fn ends(&self) -> &'static [char] {
        if self.is_windows() { &['/', '\\'] } else { &['/'] }
    }
}

fn slug(name: &str) -> String {
    let name = name.to_lowercase();
    let words: Vec<&str> =
        name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "project".into() } else { words.join("-") }
}
