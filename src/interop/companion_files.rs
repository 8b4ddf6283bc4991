//! Companion files, in which an agent says more of a session than the transcript does: the folder it was begun in, when
//! that was, or the call that began it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::attachment_address::attachment_from_address;
use crate::interop::{AgentName, Import, ImportedSession, Losses, Object};
use crate::json::fields::parse_items;
use crate::json::hash::sha256;
use crate::time;

/// Fills fields that the sessions of a transcript, called `name`, leave open from its companion file.
///
/// For Claude Code that is a sub-agent's `agent-<id>.meta.json`; for Gemini CLI the project's `.project_root`, a path,
/// or else `projects.json`; for Cline the session's `<id>.json`; for Continue `sessions.json`; for VS Code the
/// workspace's `workspace.json`. Any other file is ignored.
pub(super) fn apply_companion(import: &mut Import, agent: AgentName, name: &str, beside: &[u8]) {
    for session in &mut import.sessions {
        match agent {
            AgentName::ClaudeCode => apply_call(session, beside),
            AgentName::Gemini => {
                let folder = session.folder.take();
                session.folder = folder.or_else(|| find_project(name, beside));
            }
            AgentName::Cline => apply_session_document(session, Object::parse_document("", beside)),
            AgentName::Continue => apply_session_list(session, beside),
            AgentName::VsCode => {
                let folder = session.folder.take();
                session.folder = folder.or_else(|| find_workspace(beside));
            }
            AgentName::Codex
            | AgentName::OpenCode
            | AgentName::Qwen
            | AgentName::Copilot
            | AgentName::Aider
            | AgentName::Nanocoder
            | AgentName::Pi
            | AgentName::Cortext
            | AgentName::Ask
            | AgentName::Leftoff => {}
        }
    }
}

fn apply_call(session: &mut ImportedSession, beside: &[u8]) {
    let Some(parent) = session.parent.as_mut().filter(|parent| parent.call_id.is_none()) else { return };
    let document = Object::parse_document("", beside);
    parent.call_id =
        document.and_then(|mut document| document.take_name("toolUseId", &mut Losses::default()));
}

// Older versions name the project's folder by the hash of its path.
fn find_project(name: &str, beside: &[u8]) -> Option<String> {
    let Some(mut document) = Object::parse_document("", beside) else {
        let path = core::str::from_utf8(beside).ok()?.trim_start_matches('\u{feff}').trim();
        return is_path(path).then(|| path.into());
    };
    let (place, _) = name.rsplit_once("/chats/")?;
    let own = place.rsplit('/').next()?;
    let quiet = &mut Losses::default();
    let mut projects = document.take_object("projects", quiet)?;
    let paths: Vec<String> = projects.names().map(String::from).filter(|path| is_path(path)).collect();
    paths.into_iter().find(|path| {
        let known: Option<String> = projects.take(path, quiet);
        known.as_deref() == Some(own) || sha256(path.as_bytes()) == own
    })
}

// A workspace of several folders has none, and one on another machine is none here.
fn find_workspace(beside: &[u8]) -> Option<String> {
    let folder: String = Object::parse_document("", beside)?.take("folder", &mut Losses::default())?;
    let path = attachment_from_address(&folder, None, None)?.path?;
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    let path = if is_drive { path.trim_start_matches('/') } else { &path };
    is_path(path).then(|| path.into())
}

fn is_path(text: &str) -> bool {
    let is_drive = text.as_bytes().get(1) == Some(&b':');
    (text.starts_with('/') || is_drive) && !text.contains(['\n', '\r', '\0'])
}

fn apply_session_document(session: &mut ImportedSession, document: Option<Object<'_>>) {
    let Some(mut document) = document else { return };
    let quiet = &mut Losses::default();
    session.folder = session.folder.take().or_else(|| document.take("cwd", quiet));
    let begun = document.take_time("started_at", quiet).as_deref().and_then(time::parse);
    session.created_ms = session.created_ms.or(begun);
}

fn apply_session_list(session: &mut ImportedSession, beside: &[u8]) {
    let Ok(list) = core::str::from_utf8(beside) else { return };
    let quiet = &mut Losses::default();
    for item in parse_items(list.trim()).unwrap_or_default() {
        let Ok(mut entry) = Object::parse("", item) else { continue };
        if entry.take::<String>("sessionId", quiet).as_ref() != Some(&session.source_id) {
            continue;
        }
        // Milliseconds, as a text.
        let created: Option<String> = entry.take("dateCreated", quiet);
        let created_ms = created.and_then(|created| created.parse().ok());
        session.created_ms = session.created_ms.or(created_ms);
    }
}
