//! Reads the effects of tool calls: the file they change, the command they run, the tasks they leave open. It knows
//! the tool names of Claude Code, OpenCode, Codex, Gemini CLI, Qwen Code, nanocoder, Cline, Copilot and pi.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::{Fields, parse_items};
use crate::json::text::Text;
use crate::record::message::{Tool, ToolCall};
use crate::state::{Fact, FactKind, cut_text, shell};

const MAX_PATH_BYTES: usize = 1024;
const MAX_COMMAND_BYTES: usize = 300;
const MAX_TASK_BYTES: usize = 300;
// The most files recorded for one command.
const MAX_FILES: usize = 20;

// Only Claude Code's shell has this name; it stays in the folder to which a command changed.
const CLAUDE_CODE_SHELL: &str = "Bash";
// The names of shell tools, letters and digits only, lowercase.
const SHELL_TOOLS: [&str; 14] = [
    "bash",
    "shell",
    "shellcommand",
    "execcommand",
    "localshell",
    "localshellcall",
    "containerexec",
    "runshellcommand",
    "executebash",
    "executecommand",
    "runcommand",
    "runcommands",
    "runterminalcmd",
    "powershell",
];
const WRITE_TOOLS: [&str; 6] = ["write", "writefile", "createfile", "writetofile", "create", "filewrite"];
const EDIT_TOOLS: [&str; 16] = [
    "edit",
    "multiedit",
    "notebookedit",
    "replace",
    "editfile",
    "strreplaceeditor",
    "strreplacebasededittool",
    "stringreplace",
    "insertlines",
    "deletelines",
    "replacelines",
    "replaceinfile",
    "searchreplace",
    "searchandreplace",
    "insert",
    "editor",
];
const PATCH_TOOLS: [&str; 2] = ["applypatch", "patch"];
const PLAN_TOOLS: [&str; 5] = ["todowrite", "updateplan", "writetodos", "updatetodolist", "todo"];
const PATH_KEYS: [&str; 9] = [
    "file_path",
    "filePath",
    "filepath",
    "path",
    "notebook_path",
    "target_file",
    "absolute_path",
    "filename",
    "file",
];
const FOLDER_KEYS: [&str; 4] = ["workdir", "cwd", "directory", "dir_path"];
const COMMAND_KEYS: [&str; 4] = ["command", "cmd", "commands", "script"];

/// Returns the effects of a call, except for reading.
pub(crate) fn effects_of(call: &ToolCall) -> Vec<Fact> {
    let name = bare_name(&call.name);
    let is = |names: &[&str]| names.contains(&name.as_str());
    let json = call.arguments.as_str();
    let arguments = Arguments(json);
    let is_shell = is(&SHELL_TOOLS);
    let done = if is_shell {
        shell_effects(&arguments, call.name == CLAUDE_CODE_SHELL)
    } else if is(&PATCH_TOOLS) {
        patch_effects(
            arguments.text(&["input", "patch", "patchText", "patch_text", "diff"]).as_deref().unwrap_or(json),
        )
    } else if is(&PLAN_TOOLS) {
        arguments.open_tasks().map(|open| (FactKind::Plans, open)).into_iter().collect()
    } else if is(&WRITE_TOOLS) {
        arguments.path().map(|path| (FactKind::Writes, path)).into_iter().collect()
    } else if is(&EDIT_TOOLS) {
        edit_effects(&arguments)
    } else {
        other_effects(&name, &arguments)
    };
    let weight = u32::from(is_shell);
    done.into_iter().map(|(kind, text)| Fact { name: call.id.clone(), kind, text, weight }).collect()
}

pub(super) fn bare_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// True if a call runs a command.
#[cfg(feature = "interop")]
pub(super) fn is_shell(call: &ToolCall) -> bool {
    SHELL_TOOLS.contains(&bare_name(&call.name).as_str())
}

/// Parses what Claude Code adds to a command's output: the folder of the next command, and the files read earlier
/// that have changed, separated by commas.
pub(crate) fn parse_shell_notes<'a>(tool: &Tool, result: &'a str) -> (Option<&'a str>, &'a str) {
    let last = result.rfind('\n').map_or(result, |at| &result[at + 1..]);
    if tool.name != CLAUDE_CODE_SHELL {
        return (None, "");
    }
    let named = last
        .strip_prefix("[This command modified ")
        .and_then(|rest| rest.strip_suffix(". Call Read before editing.]"))
        .and_then(|rest| rest.find(": ").map(|at| &rest[at + 2..]));
    (last.strip_prefix("Shell cwd was reset to "), named.unwrap_or_default())
}

/// True if the result of a write says that the file existed before.
pub(crate) fn has_overwritten(result: &str) -> bool {
    let head = cut_text(result, 400);
    ["has been updated", "been modified", "verwrote", "verwritten", "updated successfully", "pdated the file"]
        .iter()
        .any(|said| head.contains(said))
}

/// True if a command failed, by its exit code if known. Claude Code puts the code beside the result, so codes
/// in the output of its commands mean nothing.
pub(crate) fn has_failed(tool: &Tool, result: &str) -> bool {
    if let Some(code) = tool.exit_code {
        return code != 0;
    }
    parse_exit_code(tool, result).map_or(tool.is_error, |code| code != 0)
}

/// True if any tool failed, by what is stored beside its result: a file shown in the result may mention codes.
pub(crate) fn is_failure(tool: &Tool) -> bool {
    tool.is_error || tool.exit_code.is_some_and(|code| code != 0)
}

/// Parses the exit code from the text of a result.
pub(super) fn parse_exit_code(tool: &Tool, result: &str) -> Option<i64> {
    const END_BYTES: usize = 600;
    if tool.name == CLAUDE_CODE_SHELL {
        return None;
    }
    let (head, tail) = (
        cut_text(result, END_BYTES),
        &result[crate::json::text::grapheme_boundary(result, result.len().saturating_sub(END_BYTES), true)..],
    );
    [head, tail].into_iter().find_map(|part| {
        let part = part.to_ascii_lowercase();
        let said = ["exit code", "exit_code", "exitcode", "exited with code", "exit status"];
        let behind =
            said.iter().filter_map(|said| part.find(said).map(|at| &part[at + said.len()..])).next()?;
        let number = behind.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_near = behind.len() - number.len() <= 4;
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        // A sentence about a code continues after the number.
        let is_end = !number[digits..].starts_with([' ', '-', '_']);
        // A number too large to hold is not 0.
        (is_near && is_end && digits > 0).then(|| number[..digits].parse().unwrap_or(i64::MAX))
    })
}

fn shell_effects(arguments: &Arguments<'_>, stays: bool) -> Vec<(FactKind, String)> {
    let Some(command) = arguments.text(&COMMAND_KEYS) else { return Vec::new() };
    if command.contains("*** Begin Patch") {
        return patch_effects(&command);
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let shown = words.join(" ");
    let mut done = Vec::from([(FactKind::Runs, cut_text(&shown, MAX_COMMAND_BYTES).into())]);
    let folder = arguments.text(&FOLDER_KEYS).unwrap_or_default();
    let shell::FileEffects { files, next_folder: moved } = shell::effects_of(&command);
    for (kind, path) in files.into_iter().take(MAX_FILES) {
        if let Some(path) = shell::join_path(&folder, &path).filter(|path| path.len() <= MAX_PATH_BYTES) {
            done.push((kind, path));
        }
    }
    done.extend(moved.filter(|_| stays).map(|folder| (FactKind::Moves, folder)));
    done
}

// This one tool views, creates and changes files, by a command word.
fn edit_effects(arguments: &Arguments<'_>) -> Vec<(FactKind, String)> {
    let kind = match arguments.text(&["command"]).as_deref() {
        Some("view" | "undo_edit") => return Vec::new(),
        Some("create") => FactKind::Writes,
        Some(_) | None => FactKind::Modified,
    };
    arguments.path().map(|path| (kind, path)).into_iter().collect()
}

fn other_effects(name: &str, arguments: &Arguments<'_>) -> Vec<(FactKind, String)> {
    let one = |kind, text: Option<String>| text.map(|text| (kind, text)).into_iter().collect();
    match name {
        "deletefile" | "removefile" => one(FactKind::Deleted, arguments.path()),
        "movefile" | "renamefile" => {
            let from = arguments.text(&["source", "source_path", "old_path", "from"]);
            let to = arguments.text(&["destination", "destination_path", "new_path", "to"]);
            from.map(|path| (FactKind::Deleted, path))
                .into_iter()
                .chain(to.map(|path| (FactKind::Created, path)))
                .collect()
        }
        "taskcreate" | "createtask" => one(FactKind::Adds, arguments.text(&["subject", "title", "content"])),
        "taskupdate" | "updatetask" => {
            let status = arguments.text(&["status"]).unwrap_or_default();
            let id = arguments.text(&["taskId", "task_id", "id"]);
            one(FactKind::Closes, id.filter(|_| is_closed(&status)))
        }
        _ => Vec::new(),
    }
}

// Reads the patch formats of Codex and OpenCode, and unified diffs.
fn patch_effects(patch: &str) -> Vec<(FactKind, String)> {
    let mut done: Vec<(FactKind, String)> = Vec::new();
    let mut before = "";
    for line in patch.lines() {
        let path = |path: &str| String::from(cut_text(path.trim_ascii(), MAX_PATH_BYTES));
        if let Some(added) = line.strip_prefix("*** Add File: ") {
            done.push((FactKind::Created, path(added)));
        } else if let Some(updated) = line.strip_prefix("*** Update File: ") {
            done.push((FactKind::Modified, path(updated)));
        } else if let Some(deleted) = line.strip_prefix("*** Delete File: ") {
            done.push((FactKind::Deleted, path(deleted)));
        } else if let Some(to) = line.strip_prefix("*** Move to: ") {
            if let Some(last) = done.last_mut() {
                last.0 = FactKind::Deleted;
            }
            done.push((FactKind::Created, path(to)));
        } else if let Some(old) = line.strip_prefix("--- ") {
            before = old;
        } else if let Some(new) = line.strip_prefix("+++ ").filter(|_| !before.is_empty()) {
            let bare = |named: &str| {
                let named = named.split('\t').next().unwrap_or_default();
                path(["a/", "b/"].iter().find_map(|side| named.strip_prefix(side)).unwrap_or(named))
            };
            done.push(match (before.starts_with("/dev/null"), new.starts_with("/dev/null")) {
                (true, _) => (FactKind::Created, bare(new)),
                (false, true) => (FactKind::Deleted, bare(before)),
                (false, false) => (FactKind::Modified, bare(new)),
            });
            before = "";
        }
    }
    done
}

fn is_closed(status: &str) -> bool {
    matches!(status, "completed" | "complete" | "cancelled" | "canceled" | "deleted" | "done")
}

// The arguments of a call, read field by field; a text that ends early, as its rest lies in a blob, is searched
// instead.
pub(super) struct Arguments<'a>(pub &'a str);

impl Arguments<'_> {
    // Returns the first of these fields that is a text, or several texts joined.
    fn text(&self, names: &[&str]) -> Option<String> {
        let Ok(fields) = Fields::parse(self.0) else { return self.find_text(names) };
        let raw = names.iter().find_map(|name| fields.raw(name))?;
        if let Some(parts) = parse_items(raw) {
            let parts: Vec<String> = parts.into_iter().filter_map(decode_value).collect();
            // A shell that is given one text to run.
            return match &parts[..] {
                [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => Some(script.clone()),
                _ => Some(parts.join(" ")),
            };
        }
        decode_value(raw)
    }

    pub fn path(&self) -> Option<String> {
        self.text(&PATH_KEYS)
            .map(|path| cut_text(&path, MAX_PATH_BYTES).into())
            .filter(|path: &String| !path.is_empty())
    }

    #[cfg(feature = "interop")]
    pub fn command(&self) -> Option<String> {
        self.text(&COMMAND_KEYS)
    }

    fn find_text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| {
            let key = alloc::format!("\"{name}\":");
            let behind = self.0[self.0.find(&key)? + key.len()..].trim_ascii_start();
            let mut is_escaped = false;
            let end = behind.bytes().skip(1).position(|byte| {
                let ends = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                ends
            })?;
            decode_value(behind.get(..end + 2)?)
        })
    }

    // Returns the open tasks of a list, one per line; `None` if the arguments have no list.
    fn open_tasks(&self) -> Option<String> {
        let fields = Fields::parse(self.0).ok()?;
        let list = ["todos", "plan", "items", "tasks"].iter().find_map(|name| fields.raw(name))?;
        let open = |task: &str| {
            let fields = Fields::parse(task).ok()?;
            let text = |names: &[&str]| names.iter().find_map(|name| fields.raw(name)).and_then(decode_value);
            let is_done = text(&["status"]).is_some_and(|status| is_closed(&status));
            let what = text(&["content", "step", "description", "title", "text", "subject"])?;
            (!is_done).then(|| String::from(cut_text(what.trim_ascii(), MAX_TASK_BYTES)).replace('\n', " "))
        };
        let open: Vec<String> = parse_items(list)?.into_iter().filter_map(open).collect();
        Some(open.join("\n"))
    }
}

fn decode_value(raw: &str) -> Option<String> {
    if raw.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(raw.into());
    }
    Text::decode(raw).map(|text| text.as_str().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_from_json_that_stands_within_json() {
        let tool = Tool { name: "shell".into(), ..Tool::default() };
        assert_eq!(parse_exit_code(&tool, r#"{"output":"{\"exit_code\": 2}"}"#), Some(2));
        assert_eq!(parse_exit_code(&tool, "The exit code of its second run was 2"), None);
    }

    #[test]
    fn a_command_changes_files_of_paths_up_to_the_longest_one() {
        let removed = |length: usize| {
            let path = ["/", &"a".repeat(length - 1)].concat();
            let arguments = alloc::format!("{{\"command\":\"rm {path}\"}}");
            let call = ToolCall {
                name: "shell".into(),
                arguments: arguments.as_str().into(),
                ..ToolCall::default()
            };
            effects_of(&call).into_iter().any(|fact| fact.text == path)
        };
        assert!(removed(MAX_PATH_BYTES));
        assert!(!removed(MAX_PATH_BYTES + 1));
    }
}
