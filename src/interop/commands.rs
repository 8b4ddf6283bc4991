//! Slash commands of agents' clients: the places of their files, their names, and the one that began a conversation.
//! It makes names and compares texts; the host reads the files.
//!
//! ```
//! use leftoff::interop::{AgentName, commands};
//!
//! let file = b"---\ndescription: a plan\n---\nPlan: $ARGUMENTS";
//! let plan = commands::read_command(AgentName::OpenCode, "workspace.plan.md", file, None).expect("it is a command");
//! assert_eq!(plan.name, "/workspace.plan");
//!
//! let said = ["Plan: the API"];
//! assert_eq!(commands::find_arguments(AgentName::OpenCode, &plan, &said), "the API");
//! let began = commands::find_starting_command(AgentName::OpenCode, &said, &[plan]).expect("its text was said");
//! assert_eq!(began.name, "/workspace.plan");
//! ```

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::AgentName;
use super::locations::home_of;
use crate::json::hash;
use crate::layout::names::command_type;

/// Placeholders; the first one in a text takes what was typed behind the command.
const ARGUMENT_PLACEHOLDERS: [&str; 2] = ["$ARGUMENTS", "{{args}}"];

/// The byte order mark that some editors write.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A command as its file has it now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Command {
    /// The command as a user types it, `/name` or `$name`.
    pub name: String,
    /// The text that the client sends for it, with its placeholders.
    pub text: String,
    /// `sha256:` and the hash of the text, the same in every client.
    pub hash: String,
    /// All hashes by which it may have been kept: also that of the file.
    pub hashes: Vec<String>,
}

/// The command that began a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StartingCommand {
    /// The command as a user types it.
    pub name: String,
    /// The hash of its text, if its file is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// The present state of a session's command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentCommand {
    /// Its text, with its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The hash to compare with the one that was kept: the same if nothing has changed, null if the command is gone;
    /// absent if nobody can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_hash: Option<Option<String>>,
}

/// The agents whose commands are known.
pub const AGENTS: [AgentName; 4] =
    [AgentName::ClaudeCode, AgentName::OpenCode, AgentName::Gemini, AgentName::Codex];

/// Returns the folders that may hold an agent's commands; the project's come before the user's own.
pub fn command_folders(
    agent: AgentName,
    project: &str,
    user: &str,
    variables: &BTreeMap<String, String>,
) -> Vec<String> {
    let home = home_of(agent, user, variables).unwrap_or_default();
    let config = variables.get("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).cloned();
    let config = config.unwrap_or_else(|| format!("{user}/.config"));
    match agent {
        AgentName::ClaudeCode => [format!("{project}/.claude/commands"), format!("{home}/commands")].into(),
        AgentName::Gemini => [format!("{project}/.gemini/commands"), format!("{home}/commands")].into(),
        AgentName::Codex => [format!("{project}/.agents/skills"), format!("{home}/skills")].into(),
        AgentName::OpenCode => [format!("{project}/.opencode"), format!("{config}/opencode")]
            .iter()
            .flat_map(|at| [format!("{at}/command"), format!("{at}/commands")])
            .collect(),
        _ => Vec::new(),
    }
}

/// Reads a command from a file in such a folder, by its path below it, with `/`; `None` if that is no command.
/// `prompt`: the TOML value of that key, if the file is of that kind.
pub fn read_command(agent: AgentName, below: &str, file: &[u8], prompt: Option<&str>) -> Option<Command> {
    let name = command_name(agent, below)?;
    let whole = String::from_utf8_lossy(file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file));
    let text = if agent == AgentName::Gemini { prompt? } else { without_front_matter(&whole) };
    let plain = text.trim().replace(ARGUMENT_PLACEHOLDERS[1], ARGUMENT_PLACEHOLDERS[0]);
    let hashes: Vec<String> = [plain.as_bytes(), text.as_bytes(), file].map(hash_of).into();
    Some(Command { name, text: text.into(), hash: hashes[0].clone(), hashes })
}

/// Finds a command by its name, or one that begins the same type of conversations in another client's spelling.
pub fn find_command<'a>(name: &str, commands: &'a [Command]) -> Option<&'a Command> {
    let wanted = command_type(name);
    let is_same = |one: &str| one == name || (wanted.is_some() && command_type(one) == wanted);
    commands.iter().find(|one| is_same(&one.name))
}

/// True if these first messages may show which command began a conversation: if the agent's client names commands in
/// its records, one of them has to.
pub fn may_have_starting_command(agent: AgentName, first: &[&str]) -> bool {
    !is_named_in_record(agent) || first.iter().any(|typed| parse_command_name(agent, typed).is_some())
}

/// Finds the command that began a conversation, from the user's first messages: the client's record names it, or one of
/// them is the text of a command of the workspace.
pub fn find_starting_command(
    agent: AgentName,
    first: &[&str],
    commands: &[Command],
) -> Option<StartingCommand> {
    if let Some((name, _)) = first.iter().find_map(|typed| parse_command_name(agent, typed)) {
        let hash = find_command(&name, commands).map(|command| command.hash.clone());
        return Some(StartingCommand { name, hash });
    }
    if is_named_in_record(agent) {
        return None;
    }
    let is_said =
        |command: &&Command| first.iter().any(|typed| parse_arguments(&command.text, typed).is_some());
    let mut of_workspace = commands.iter().filter(|command| command_type(&command.name).is_some());
    let Command { name, hash, .. } = of_workspace.find(is_said)?;
    Some(StartingCommand { name: name.clone(), hash: Some(hash.clone()) })
}

/// Finds a command's arguments in the user's first messages; empty if nobody can tell.
pub fn find_arguments(agent: AgentName, command: &Command, first: &[&str]) -> String {
    let behind = |typed: &&str| match parse_command_name(agent, typed) {
        Some((_, Some(arguments))) => Some(arguments),
        _ => parse_arguments(&command.text, typed),
    };
    first.iter().find_map(behind).unwrap_or_default()
}

/// Fills a command's text with its arguments.
pub fn fill_arguments(text: &str, arguments: &str) -> String {
    let next = |text: &str| {
        ARGUMENT_PLACEHOLDERS.iter().filter_map(|place| Some((text.find(place)?, place.len()))).min()
    };
    let (mut all, mut rest) = (String::new(), text);
    while let Some((at, length)) = next(rest) {
        all.push_str(&rest[..at]);
        all.push_str(arguments);
        rest = &rest[at + length..];
    }
    all + rest
}

/// Reads a command's arguments from a message, if that is the command's text.
pub fn parse_arguments(text: &str, typed: &str) -> Option<String> {
    let (text, mut rest) = (text.trim(), typed.trim());
    // Blanks beside the placeholder are trimmed away if there are no arguments.
    if fill_arguments(text, "").trim() == rest {
        return Some(String::new());
    }
    let mut found = String::new();
    let all = split_at_placeholders(text);
    let mut before = "";
    for (at, (literal, place)) in all.iter().enumerate() {
        let is_last = at + 1 == all.len();
        let start = if is_last { rest.len().checked_sub(literal.len())? } else { rest.find(literal)? };
        if !rest.get(start..).is_some_and(|rest| rest.starts_with(literal)) || (at == 0 && start > 0) {
            return None;
        }
        if found.is_empty() && ARGUMENT_PLACEHOLDERS.contains(&before) {
            found = rest[..start].trim().into();
        }
        rest = &rest[start + literal.len()..];
        before = place;
    }
    Some(found)
}

/// Returns the present state of a session's command. `kept`: its stored hash; `own`: the session's agent; `candidates`:
/// the commands of each agent, tried in this order; `first`: the user's first messages.
pub fn current_command(
    name: &str,
    kept: Option<&str>,
    own: Option<AgentName>,
    candidates: &[(AgentName, Vec<Command>)],
    first: &[&str],
) -> CurrentCommand {
    let has_kept =
        |command: &Command| kept.is_some_and(|kept| command.hashes.iter().any(|hash| hash == kept));
    let named: Vec<_> = candidates
        .iter()
        .filter_map(|(agent, commands)| Some((*agent, find_command(name, commands)?)))
        .collect();
    let Some((agent, command)) = named.first().copied() else {
        return CurrentCommand { text: None, prompt_hash: kept.and(own).map(|_| None) };
    };
    let same = named.iter().find(|(_, command)| has_kept(command));
    let is_same = same.is_some_and(|(_, same)| same.hash == command.hash);
    let arguments = find_arguments(own.unwrap_or(agent), command, first);
    let hash = if is_same { kept.map(String::from) } else { Some(command.hash.clone()) };
    CurrentCommand {
        text: Some(fill_arguments(&command.text, &arguments).trim().into()),
        prompt_hash: Some(hash),
    }
}

/// Returns the name of a file's command, by its path below such a folder, with `/`; `None` if it is none.
pub fn command_name(agent: AgentName, below: &str) -> Option<String> {
    let joined = |ending: &str, between: &str| {
        below.strip_suffix(ending).map(|path| format!("/{}", path.replace('/', between)))
    };
    match agent {
        AgentName::ClaudeCode => joined(".md", ":"),
        AgentName::OpenCode => joined(".md", "/"),
        AgentName::Gemini => joined(".toml", ":"),
        AgentName::Codex => {
            let name = below.strip_suffix("/SKILL.md")?;
            (!name.is_empty() && !name.contains('/')).then(|| format!("${name}"))
        }
        _ => None,
    }
}

// Removes the front matter of Markdown, which stands between lines of `---`.
fn without_front_matter(file: &str) -> &str {
    let Some(head) = file.strip_prefix("---\n").or_else(|| file.strip_prefix("---\r\n")) else { return file };
    let ends = ["\n---\n", "\n---\r\n"];
    let end = ends.iter().filter_map(|end| Some((head.find(end)?, end.len()))).min();
    end.map_or(file, |(at, length)| &head[at + length..])
}

// True if the agent's client names the command in its record.
fn is_named_in_record(agent: AgentName) -> bool {
    matches!(agent, AgentName::ClaudeCode | AgentName::Codex)
}

// Reads the command that a user's message names, and its arguments, if the message has them.
fn parse_command_name(agent: AgentName, typed: &str) -> Option<(String, Option<String>)> {
    match agent {
        AgentName::ClaudeCode => {
            let is_name = |name: &&str| {
                name.len() > 1
                    && name.starts_with('/')
                    && !name.contains(|letter: char| letter == '<' || letter.is_whitespace())
            };
            let all = typed.split("<command-name>").skip(1);
            let name = all.filter_map(|rest| Some(rest.split_once("</command-name>")?.0)).find(is_name)?;
            let arguments = text_between(typed, "<command-args>", "</command-args>").map(String::from);
            Some((name.into(), arguments))
        }
        AgentName::Codex => {
            let rest = typed.trim_start().strip_prefix('$')?;
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
            let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
            let behind = &rest[end..];
            let arguments =
                (behind.starts_with(char::is_whitespace) && !behind.trim().is_empty()).then(|| behind.trim());
            (end > 0).then(|| (format!("${}", &rest[..end]), arguments.map(String::from)))
        }
        _ => None,
    }
}

fn text_between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(inside, _)| inside)
}

// Splits a text at its placeholders, which a client fills with what nobody knows beforehand.
fn split_at_placeholders(text: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        let length = placeholder_len(&text[at..]);
        if length > 0 {
            all.push((&text[from..at], &text[at..at + length]));
            from = at + length;
        }
        at += length.max(text[at..].chars().next().map_or(1, char::len_utf8));
    }
    all.push((&text[from..], ""));
    all
}

// Returns the length of a placeholder, if one stands here: `$ARGUMENTS`, `$1`, `{{args}}`, `` !`program` ``,
// `!{program}` or `@{file}`.
fn placeholder_len(text: &str) -> usize {
    if let Some(place) = ARGUMENT_PLACEHOLDERS.iter().find(|place| text.starts_with(**place)) {
        return place.len();
    }
    let bytes = text.as_bytes();
    let closed = |end: char| text[2..].find(end).map_or(0, |at| at + 3);
    match (bytes.first(), bytes.get(1)) {
        (Some(b'$'), Some(b'0'..=b'9')) => 2,
        (Some(b'!'), Some(b'`')) => closed('`'),
        (Some(b'@'), Some(b'{')) => closed('}'),
        (Some(b'!'), Some(b'{')) => match closed('}') {
            0 => 0,
            end => end + bytes[end..].iter().take_while(|byte| **byte == b'}').count(),
        },
        _ => 0,
    }
}

fn hash_of(bytes: &[u8]) -> String {
    format!("sha256:{}", hash::sha256(bytes))
}
