//! Results which say that a tool did not run to its end, in the words by which each client tells its model so. Few
//! clients have a field for it.

use crate::interop::AgentName;

/// The beginnings of such results.
const REFUSAL_BEGINNINGS: [&str; 34] = [
    // Claude Code.
    "<tool_use_error>",
    "The user doesn't want to ",
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this action ",
    "[Request interrupted by user",
    "PreToolUse:",
    "Error: PreToolUse:",
    "Hook PreToolUse:",
    "This command requires approval",
    "This Bash command contains multiple operations",
    // OpenCode.
    "The user rejected permission to use ",
    "The user has specified a rule which prevents you from ",
    "Model tried to call unavailable tool ",
    "Tool execution aborted",
    "The user dismissed this question",
    // Gemini CLI and Qwen Code.
    "[Operation Cancelled]",
    "Tool execution denied by policy",
    "Tool execution for \"",
    "Qwen Code requires permission to use ",
    "Error: Command rejected because ",
    "Command rejected because ",
    // Copilot CLI.
    "Permission denied and could not request permission from user",
    "The user rejected this tool call",
    "Denied by preToolUse hook",
    // pi.
    "Tool execution was blocked",
    "Operation aborted",
    "Command aborted",
    // Cline and Continue.
    "The user denied this operation",
    "Cancelled by user",
    "Command skipped by user",
    "Tool execution was cancelled",
    "Tool execution cancelled",
    "Error: Tool execution was cancelled",
];

/// The beginnings of Codex's, whose results do not say that they are errors.
const CODEX_BEGINNINGS: [&str; 11] = [
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments: ",
    "apply_patch verification failed: ",
    "patch rejected",
    "exec command rejected",
    "exec_command failed for ",
    "rejected by user",
    "rejected: ",
    "approval policy is ",
    "aborted by user",
];

/// What VS Code tells the model about a call that the user did not want.
const SKIP_TEXT: &str = "The user chose to skip the tool call";

// Words that stand behind the name of what was asked for.
const REFUSAL_PHRASES: [&str; 4] = [
    " was blocked. For security, Claude Code ",
    "requires user confirmation, which is not supported in non-interactive mode",
    "\" not found in registry",
    "The user denied this operation.",
];
const HEAD_BYTES: usize = 400;

/// True if a result says that the tool did not run to its end.
pub(super) fn is_refusal(agent: AgentName, is_error: bool, output: &str) -> bool {
    let output = output.trim_ascii_start();
    match agent {
        AgentName::Codex if output == "aborted" || starts_with_any(&CODEX_BEGINNINGS, output) => return true,
        // Only the words of its results tell them apart.
        AgentName::Cline => {
            return starts_with_any(&REFUSAL_BEGINNINGS, output) || contains_near_start(output);
        }
        AgentName::VsCode if output.starts_with(SKIP_TEXT) => return true,
        _ => {}
    }
    let line = output.lines().next().unwrap_or_default();
    let is_unknown = line.starts_with("Tool ") && line.ends_with(" not found");
    is_error && (starts_with_any(&REFUSAL_BEGINNINGS, output) || contains_near_start(output) || is_unknown)
}

fn starts_with_any(known: &[&str], output: &str) -> bool {
    known.iter().any(|begin| output.starts_with(begin))
}

fn contains_near_start(output: &str) -> bool {
    let head = &output[..crate::json::text::grapheme_boundary(output, HEAD_BYTES, false)];
    REFUSAL_PHRASES.iter().any(|known| head.contains(known))
}
