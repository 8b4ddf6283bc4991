//! How Gemini CLI calls a folder: what it has called it before, or what it would call it now.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The file in which a folder under `tmp` says whose it is.
const OWNER: &str = ".project_root";

#[derive(Default, Deserialize)]
struct Registry {
    #[serde(default)]
    projects: BTreeMap<String, String>,
}

/// The name is the project's from then on, as if the client had given it.
pub(in crate::fs) fn place(home: &Path, project: &str) -> std::io::Result<String> {
    let registry = text_of(&home.join("projects.json"))?.unwrap_or_default();
    // The client begins anew, too.
    let known = serde_json::from_str::<Registry>(&registry).unwrap_or_default().projects;
    let bases = [home.join("tmp"), home.join("history")];
    if let Some(own) = known.get(project)
        && is_free(&bases, own, project)?
    {
        return Ok(own.clone());
    }
    for base in &bases {
        for name in names(base)? {
            if owner(base, &name)?.as_deref() == Some(project) {
                return Ok(name);
            }
        }
    }
    let slug = slug(project);
    let free = (0..).map(|number| if number == 0 { slug.clone() } else { format!("{slug}-{number}") });
    for name in free {
        if known.values().all(|taken| *taken != name) && is_free(&bases, &name, project)? {
            let folder = home.join("tmp").join(&name);
            std::fs::create_dir_all(&folder)?;
            let mut file = std::fs::File::create_new(folder.join(OWNER))?;
            file.write_all(project.as_bytes())?;
            return Ok(name);
        }
    }
    Ok(slug)
}

// Whether it is nobody's, or the project's own.
fn is_free(bases: &[PathBuf], name: &str, project: &str) -> std::io::Result<bool> {
    for base in bases {
        if owner(base, name)?.is_some_and(|owner| owner != project) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn owner(base: &Path, name: &str) -> std::io::Result<Option<String>> {
    Ok(text_of(&base.join(name).join(OWNER))?.map(|text| text.trim().into()))
}

fn names(base: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in unless_absent(std::fs::read_dir(base))?.into_iter().flatten() {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    Ok(names)
}

fn text_of(path: &Path) -> std::io::Result<Option<String>> {
    unless_absent(std::fs::read_to_string(path))
}

fn unless_absent<T>(found: std::io::Result<T>) -> std::io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn slug(project: &str) -> String {
    let name = project.rsplit('/').find(|name| !name.is_empty()).unwrap_or_default().to_lowercase();
    let words: Vec<&str> =
        name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "project".into() } else { words.join("-") }
}
