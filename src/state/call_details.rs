//! What a single call touches and runs, and how that ended, for searches.

use alloc::string::String;
use alloc::vec::Vec;

use super::FactKind;
use super::tool_effects::{self as effects, Arguments};
use crate::record::message::{Tool, ToolCall};

// Tools that run commands, beside those recognized by name; their effects are not read.
const OTHER_SHELLS: [&str; 6] =
    ["exec", "execute", "terminal", "runinterminal", "runterminalcommand", "interactivebash"];

/// Returns the files that a call names, and whether it changes each: for an unknown tool, the arguments named like a
/// path; for a command, also the words that look like one.
pub(crate) fn files(call: &ToolCall) -> Vec<(String, bool)> {
    let mut files: Vec<(String, bool)> = Vec::new();
    for fact in effects::effects_of(call) {
        let is_changed = fact.kind.is_file() || matches!(fact.kind, FactKind::Writes | FactKind::Removes);
        if is_changed {
            files.push((fact.text, true));
        }
    }
    let mut read = |path: String| {
        if !files.iter().any(|(known, _)| *known == path) {
            files.push((path, false));
        }
    };
    if let Some(command) = command(call) {
        let words = command.split(|char: char| {
            char.is_whitespace() || matches!(char, '\'' | '"' | ';' | '|' | '(' | ')' | '=')
        });
        words.filter(|word| word.contains(['/', '.'])).for_each(|word| read(word.into()));
    } else {
        Arguments(call.arguments.as_str()).path().into_iter().for_each(&mut read);
    }
    files
}

/// Returns the command line that a call runs.
pub(crate) fn command(call: &ToolCall) -> Option<String> {
    let is_shell = effects::is_shell(call) || OTHER_SHELLS.contains(&effects::bare_name(&call.name).as_str());
    is_shell.then(|| Arguments(call.arguments.as_str()).command()).flatten()
}

/// Returns a command's exit code, if its result has one.
pub(crate) fn exit_code(tool: &Tool, result: &str) -> Option<i64> {
    effects::parse_exit_code(tool, result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_is_told_is_a_command_line() {
        let command = |name: &str, arguments: &str| {
            command(&ToolCall { name: name.into(), arguments: arguments.into(), ..ToolCall::default() })
        };
        for shell in ["Bash", "run_shell_command", "interactive_bash"] {
            assert_eq!(command(shell, r#"{"command":"make a"}"#).as_deref(), Some("make a"), "{shell}");
        }
        assert_eq!(command("str_replace_editor", r#"{"command":"view","path":"a.rs"}"#), None);
    }
}
