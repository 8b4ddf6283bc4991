//! The places of transcripts: where each agent keeps its sessions, which files hold them, and what lies beside one, for
//! a host that looks for them. It only makes names; it looks at no file.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::AgentName;
use crate::time;

/// The folders below Codex's own that hold rollouts; archived ones lie in one folder.
pub const ROLLOUTS: [&str; 2] = ["sessions", "archived_sessions"];
const DAY_MS: i64 = 86_400_000;
/// Editors in which extensions run, by the names of their folders.
const EDITORS: [&str; 4] = ["Code", "Code - Insiders", "VSCodium", "Cursor"];
/// The first of them keep chats of their own; Cursor's are in a database.
const CHAT_EDITORS: usize = 3;
/// VS Code's servers, by the folders in which they keep what belongs to a user.
const EDITOR_SERVERS: [&str; 3] =
    [".vscode-server/data/User", ".vscode-server-insiders/data/User", ".local/share/code-server/User"];

/// A place where an agent keeps sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TranscriptLocation {
    /// The agent.
    pub agent: AgentName,
    /// A folder, or a file; it may not exist.
    pub path: String,
    /// The files in it that hold sessions.
    pub names: FilePattern,
}

/// The patterns of files that hold sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FilePattern {
    /// Lines of JSON.
    Lines,
    /// Lines of JSON, or a document, in folders for chats.
    Chats,
    /// Lines of JSON in folders for chats.
    ChatLines,
    /// A session's file of events; its folder has other files, too.
    Events,
    /// Cline's files of messages.
    Messages,
    /// The histories of Cline in an editor.
    History,
    /// Codex's rollouts, compressed or not.
    Rollouts,
    /// OpenCode's databases.
    Databases,
    /// VS Code's chats in its storage of workspaces.
    WorkspaceChats,
    /// VS Code's chats of windows without a folder.
    WindowChats,
    /// Copilot Chat's transcripts in VS Code's storage of workspaces.
    Transcripts,
    /// All documents but the list of them.
    Listed,
    /// The file itself.
    Itself,
}

/// The kind of operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum System {
    /// Apple's macOS.
    #[serde(rename = "darwin")]
    MacOs,
    /// Microsoft's Windows.
    #[serde(rename = "win32")]
    Windows,
    /// Any other.
    #[default]
    #[serde(other)]
    Other,
}

impl FilePattern {
    /// True if a file holds a session, by its path below the location, with `/`.
    pub fn matches(self, below: &str) -> bool {
        let name = below.rsplit('/').next().unwrap_or_default();
        let is_chat = || below.starts_with("chats/") || below.contains("/chats/");
        match self {
            FilePattern::Lines => below.ends_with(".jsonl"),
            FilePattern::Chats => is_chat() && (below.ends_with(".json") || below.ends_with(".jsonl")),
            FilePattern::ChatLines => is_chat() && below.ends_with(".jsonl"),
            FilePattern::Events => name == "events.jsonl",
            FilePattern::Messages => below.ends_with(".messages.json"),
            FilePattern::History => below.ends_with("/api_conversation_history.json"),
            FilePattern::Rollouts => {
                name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
            }
            FilePattern::Databases => {
                !below.contains('/') && name.starts_with("opencode") && name.ends_with(".db")
            }
            FilePattern::WorkspaceChats => {
                let mut parts = below.split('/').skip(1);
                parts.next() == Some("chatSessions") && parts.count() == 1 && is_chat_file(name)
            }
            FilePattern::WindowChats => !below.contains('/') && is_chat_file(name),
            FilePattern::Transcripts => {
                below.to_ascii_lowercase().contains("/github.copilot-chat/transcripts/")
                    && name.ends_with(".jsonl")
            }
            FilePattern::Listed => below.ends_with(".json") && below != "sessions.json",
            FilePattern::Itself => true,
        }
    }
}

fn is_chat_file(name: &str) -> bool {
    name.ends_with(".json") || name.ends_with(".jsonl")
}

/// Returns the folder in which an agent keeps its files; `None` if it keeps them in projects, or nowhere known. `user`
/// is the user's home folder, `variables` the environment of the program.
pub fn home_of(agent: AgentName, user: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
    let home = |name: &str, usual: &str| Some(set(name).unwrap_or_else(|| format!("{user}/{usual}")));
    let data = |name: &str| format!("{}/{name}", home("XDG_DATA_HOME", ".local/share").unwrap_or_default());
    match agent {
        AgentName::ClaudeCode => home("CLAUDE_CONFIG_DIR", ".claude"),
        AgentName::Codex => home("CODEX_HOME", ".codex"),
        AgentName::OpenCode => Some(data("opencode")),
        AgentName::Gemini => {
            Some(format!("{}/.gemini", set("GEMINI_CLI_HOME").unwrap_or_else(|| user.into())))
        }
        AgentName::Qwen => home("QWEN_HOME", ".qwen"),
        AgentName::Copilot => home("COPILOT_HOME", ".copilot"),
        AgentName::Cline => Some(format!("{user}/.cline")),
        AgentName::Continue => home("CONTINUE_GLOBAL_DIR", ".continue"),
        AgentName::Nanocoder => set("NANOCODER_DATA_DIR").or_else(|| Some(data("nanocoder"))),
        AgentName::Pi => home("PI_CODING_AGENT_DIR", ".pi/agent"),
        AgentName::Aider | AgentName::Cortext | AgentName::VsCode | AgentName::Ask | AgentName::Leftoff => {
            None
        }
    }
}

/// Returns a part of the path of the transcript in whose conversation a program was started, if its client tells it.
pub fn running_session_marker(agent: AgentName, variables: &BTreeMap<String, String>) -> Option<String> {
    let name = match agent {
        AgentName::ClaudeCode => "CLAUDE_CODE_SESSION_ID",
        AgentName::Codex => "CODEX_THREAD_ID",
        AgentName::Gemini => "GEMINI_SESSION_ID",
        _ => return None,
    };
    let id = variables.get(name).filter(|id| !id.is_empty())?;
    // Gemini CLI's file names have only the beginning of the id.
    let short = |id: &str| format!("-{}.", id.chars().take(8).collect::<String>());
    Some(if agent == AgentName::Gemini { short(id) } else { id.clone() })
}

/// True if an agent takes two paths for one folder: Gemini CLI ignores case on Windows.
pub fn is_same_folder(agent: AgentName, one: &str, other: &str, system: System) -> bool {
    one == other
        || (agent == AgentName::Gemini
            && system == System::Windows
            && one.to_lowercase() == other.to_lowercase())
}

/// Returns the places of all agents.
pub fn transcript_locations(
    project: &str,
    user: &str,
    variables: &BTreeMap<String, String>,
    system: System,
) -> Vec<TranscriptLocation> {
    let below = |agent, names, folder: &str| {
        let home = home_of(agent, user, variables).unwrap_or_default();
        let path = if folder.is_empty() { home } else { format!("{home}/{folder}") };
        TranscriptLocation { agent, path, names }
    };
    let history = FilePattern::History;
    let tasks = EDITORS.map(|editor| {
        let folder = editor_folder(user, system, editor);
        let path = format!("{folder}/globalStorage/saoudrizwan.claude-dev/tasks");
        TranscriptLocation { agent: AgentName::Cline, path, names: history }
    });
    let aider = format!("{project}/.aider.chat.history.md");
    let first = [
        below(AgentName::ClaudeCode, FilePattern::Lines, "projects"),
        below(AgentName::Codex, FilePattern::Rollouts, ROLLOUTS[0]),
        below(AgentName::Codex, FilePattern::Rollouts, ROLLOUTS[1]),
        below(AgentName::OpenCode, FilePattern::Databases, ""),
        below(AgentName::Gemini, FilePattern::Chats, "tmp"),
        below(AgentName::Qwen, FilePattern::ChatLines, "projects"),
        below(AgentName::Copilot, FilePattern::Events, "session-state"),
        below(AgentName::Cline, FilePattern::Messages, "data/sessions"),
    ];
    let last = [
        below(AgentName::Continue, FilePattern::Listed, "sessions"),
        below(AgentName::Nanocoder, FilePattern::Listed, "sessions"),
        below(AgentName::Pi, FilePattern::Lines, "sessions"),
        TranscriptLocation { agent: AgentName::Aider, path: aider, names: FilePattern::Itself },
    ];
    let chats = chat_locations(user, system);
    first.into_iter().chain(tasks).chain(last).chain(chats).collect()
}

// Returns the places of VS Code's chats. A transcript repeats a chat; but a server has transcripts alone, for the chats
// are where the window is.
fn chat_locations(user: &str, system: System) -> Vec<TranscriptLocation> {
    let editors = EDITORS[..CHAT_EDITORS].iter().map(|editor| editor_folder(user, system, editor));
    let servers = EDITOR_SERVERS.iter().map(|server| format!("{user}/{server}"));
    let mut all = Vec::new();
    for folder in editors.chain(servers) {
        let is_remote = folder.contains("/.vscode-server");
        let pattern = if is_remote { FilePattern::Transcripts } else { FilePattern::WorkspaceChats };
        let window = format!("{folder}/globalStorage/emptyWindowChatSessions");
        let own = (!is_remote).then_some((window, FilePattern::WindowChats));
        let places = core::iter::once((format!("{folder}/workspaceStorage"), pattern)).chain(own);
        all.extend(places.map(|(path, names)| TranscriptLocation { agent: AgentName::VsCode, path, names }));
    }
    all
}

// Returns the folder in which an editor keeps what belongs to a user.
fn editor_folder(user: &str, system: System, editor: &str) -> String {
    let base = match system {
        System::MacOs => "Library/Application Support",
        System::Windows => "AppData/Roaming",
        System::Other => ".config",
    };
    format!("{user}/{base}/{editor}/User")
}

/// Returns the paths of possible companion files of a transcript, by its path with `/`: the first that exists counts,
/// as [`read_with`](super::read_with) takes it.
pub fn companion_paths(path: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut found = Vec::new();
    if folder.ends_with("/subagents")
        && let Some(agent) = name.strip_suffix(".jsonl").filter(|name| name.starts_with("agent-"))
    {
        found.push(format!("{folder}/{agent}.meta.json"));
    }
    if let Some((home, project)) = split_gemini_path(path) {
        found.push(format!("{home}/tmp/{project}/.project_root"));
        found.push(format!("{home}/projects.json"));
    }
    if let Some(messages) = path.strip_suffix(".messages.json") {
        found.push(format!("{messages}.json"));
    }
    let workspace = ["/chatSessions", "/transcripts"].iter().find_map(|end| folder.strip_suffix(end));
    if let Some(workspace) = workspace.filter(|workspace| workspace.contains("/workspaceStorage/")) {
        let extension = workspace.rsplit('/').next().unwrap_or_default();
        let is_extension = extension.eq_ignore_ascii_case("GitHub.copilot-chat");
        let above = if is_extension { workspace.len() - extension.len() - 1 } else { workspace.len() };
        found.push(format!("{}/workspace.json", &workspace[..above]));
    }
    if folder.ends_with("/sessions") && name.ends_with(".json") {
        found.push(format!("{folder}/sessions.json"));
    }
    found
}

/// Returns the file in which the agent writes down at once what the user types, in all sessions, for a transcript's
/// path with `/`. Older versions of Gemini CLI, whose sessions are documents, do not write shell input there.
pub fn prompt_log(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    if let Some((home, project)) = split_gemini_path(path).filter(|_| name.ends_with(".jsonl")) {
        return Some(format!("{home}/tmp/{project}/logs.json"));
    }
    let home = ROLLOUTS.iter().filter_map(|root| folder.rsplit_once(&*format!("/{root}")));
    // Below it are days.
    let is_days = |below: &str| below.chars().all(|letter| letter == '/' || letter.is_ascii_digit());
    let home = home.filter(|(_, below)| is_days(below)).map(|(home, _)| home).next()?;
    FilePattern::Rollouts.matches(name).then(|| format!("{home}/history.jsonl"))
}

// Splits `<home>/tmp/<project>/chats/...` into the home and the project.
fn split_gemini_path(path: &str) -> Option<(&str, &str)> {
    path.match_indices("/tmp/").find_map(|(at, tmp)| {
        let (project, rest) = path[at + tmp.len()..].split_once('/')?;
        (!project.is_empty() && rest.starts_with("chats/")).then_some((&path[..at], project))
    })
}

/// True if a folder with folders of these names is OpenCode's, from before it had a database: it is read as a whole.
pub fn is_opencode_tree(folders: &[&str]) -> bool {
    ["message", "part", "session"].iter().all(|name| folders.contains(name))
}

/// True if a file of this name is the rollout of this id.
pub fn is_rollout_of(name: &str, id: &str) -> bool {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let end = name.strip_suffix(".jsonl").and_then(|name| name.strip_suffix(id));
    name.starts_with("rollout-") && end.is_some_and(|rest| rest.ends_with(['-', '_']))
}

/// Returns the folders below [`ROLLOUTS`] to look in first for a rollout of this id, `2026/03/01`: its id begins with
/// its time, and which day that was depends on the time zone.
pub fn days_of(id: &str) -> Vec<String> {
    let digits: String = id.chars().filter(|digit| *digit != '-').take(12).collect();
    let Ok(ms) = i64::from_str_radix(&digits, 16) else { return Vec::new() };
    [ms, ms - DAY_MS, ms + DAY_MS].into_iter().map(|at| time::format(at)[..10].replace('-', "/")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_is_named_from_the_sessions_own_path() {
        let check = |path: &str, expected: &[&str]| assert_eq!(companion_paths(path), expected, "{path}");
        check("/p/s/subagents/agent-1.jsonl", &["/p/s/subagents/agent-1.meta.json"]);
        check("/g/tmp/app/chats/x.json", &["/g/tmp/app/.project_root", "/g/projects.json"]);
        check("/tmp/g/tmp/app/chats/x.json", &["/tmp/g/tmp/app/.project_root", "/tmp/g/projects.json"]);
        check("/d/1.messages.json", &["/d/1.json"]);
        check("/c/sessions/1.json", &["/c/sessions/sessions.json"]);
        let workspace: &[&str] = &["/c/User/workspaceStorage/w/workspace.json"];
        check("/c/User/workspaceStorage/w/chatSessions/1.jsonl", workspace);
        check("/c/User/workspaceStorage/w/GitHub.copilot-chat/transcripts/1.jsonl", workspace);
        check("/c/User/globalStorage/emptyWindowChatSessions/1.json", &[]);
        check("/c/1.jsonl", &[]);
        check("agent-1.jsonl", &[]);
    }

    #[test]
    fn what_is_typed_in_codex_stands_in_its_home_and_in_gemini_with_the_project() {
        let check =
            |path: &str, expected: Option<&str>| assert_eq!(prompt_log(path).as_deref(), expected, "{path}");
        let history = Some("/c/sessions/history.jsonl");
        check("/c/sessions/sessions/2026/03/01/rollout-1.jsonl", history);
        check("/c/sessions/sessions/2026/03/01/rollout-1.jsonl.zst", history);
        check("/c/sessions/archived_sessions/rollout-1.jsonl", history);
        check("/c/sessions/other/rollout-1.jsonl", None);
        check("/c/sessions/2026/1.jsonl", None);
        check("rollout-1.jsonl", None);
        check("/g/tmp/app/chats/x.jsonl", Some("/g/tmp/app/logs.json"));
        check("/g/tmp/app/chats/x.json", None);
    }

    #[test]
    fn a_chat_of_vs_code_is_known_by_its_folder() {
        let check = |names: FilePattern, below: &str, expected: bool| {
            assert_eq!(names.matches(below), expected, "{names:?} {below}");
        };
        check(FilePattern::WorkspaceChats, "w/chatSessions/1.jsonl", true);
        check(FilePattern::WorkspaceChats, "w/chatSessions/1.json", true);
        check(FilePattern::WorkspaceChats, "w/chatEditingSessions/1/state.json", false);
        check(FilePattern::WorkspaceChats, "w/other/chatSessions/1.json", false);
        check(FilePattern::WorkspaceChats, "w/workspace.json", false);
        check(FilePattern::WindowChats, "1.jsonl", true);
        check(FilePattern::WindowChats, "w/1.jsonl", false);
        check(FilePattern::Transcripts, "w/GitHub.copilot-chat/transcripts/1.jsonl", true);
        check(FilePattern::Transcripts, "w/GitHub.copilot-chat/debug-logs/1.jsonl", false);
    }

    #[test]
    fn a_server_has_transcripts_where_a_machine_has_chats() {
        let all = transcript_locations("/p", "/u", &BTreeMap::new(), System::MacOs);
        let chats = all.into_iter().filter(|place| place.agent == AgentName::VsCode);
        let found: Vec<(String, FilePattern)> = chats.map(|place| (place.path, place.names)).collect();
        let has = |path: &str, names| found.contains(&(path.into(), names));
        let code = "/u/Library/Application Support/Code/User";
        assert!(has(&format!("{code}/workspaceStorage"), FilePattern::WorkspaceChats));
        assert!(has(&format!("{code}/globalStorage/emptyWindowChatSessions"), FilePattern::WindowChats));
        assert!(has("/u/.vscode-server/data/User/workspaceStorage", FilePattern::Transcripts));
        assert!(has("/u/.local/share/code-server/User/workspaceStorage", FilePattern::WorkspaceChats));
        assert!(!found.iter().any(|(path, _)| path.contains("Cursor")), "{found:?}");
    }

    #[test]
    fn a_rollout_is_known_by_the_end_of_its_name() {
        let id = "019ca869-5000-76c2-8957-1792014b394a";
        assert!(is_rollout_of(&format!("rollout-2026-03-01T09-00-00-{id}.jsonl.zst"), id));
        assert!(!is_rollout_of(&format!("rollout-2026-03-01T09-00-00-x{id}.jsonl"), id));
        assert_eq!(days_of(id), ["2026/03/01", "2026/02/28", "2026/03/02"]);
        assert!(days_of("no id").is_empty());
    }
}
