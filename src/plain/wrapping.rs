//! Text around a user's words in the user's place: one table for every agent.
//!
//! Agents put much there that no user said: the text of a command and its output, the place of work, reminders,
//! summaries of what came before. A block is known by the name of its tag, whatever attributes that has.

use alloc::format;
use alloc::vec::Vec;

/// The blocks and lines that are looked at: a user's words have begun by then, if there are any.
pub(crate) const MAX_BLOCKS: usize = 64;
/// The beginnings of messages that a program wrote as a whole.
const PROGRAM_BEGINNINGS: &[&str] = &[
    "# AGENTS.md instructions",
    "Another language model started",
    "Base directory for this skill:",
    "Called the Read tool with",
    "Caveat: The messages below",
    "Context summary:",
    "Conversation summary:",
    "Here is a summary of the conversation",
    "PostToolUse:",
    "PreToolUse:",
    "SessionStart:",
    "Stop hook feedback:",
    "SubagentStop hook feedback:",
    "Summary of prior context",
    "Summary of the conversation",
    "System: Potential loop detected",
    "UserPromptSubmit hook",
    "[Request interrupted by user",
    "The conversation history before this point",
    "The following is a summary of",
    "This is the Gemini CLI",
    "This is the Qwen Code",
    "This session is being continued from a previous",
    "You are continuing a previous conversation",
    "[EARLIER CONVERSATION",
    "[RECALLED]",
    "[RESUMED CONVERSATION",
];
/// The heading before the user's words, in what an editor writes around them.
const REQUEST_HEADING: &str = "\n## My request for Codex:";
/// Blocks that hold a user's words.
const USER_TAGS: &[&str] = &[
    "answer",
    "feedback",
    "human",
    "input",
    "message",
    "prompt",
    "query",
    "question",
    "request",
    "task",
    "user",
    "user_input",
    "user_message",
    "user_prompt",
    "user_query",
    "user_request",
    "userRequest",
];
/// Parts of names; a block with one of these in its name holds no user's words.
const CLIENT_NAME_PARTS: &[&str] = &[
    "abort",
    "attachment",
    "bash-",
    "caveat",
    "command",
    "context",
    "datetime",
    "diagnostic",
    "environment",
    "hook",
    "ide_",
    "instruction",
    "notice",
    "notification",
    "permission",
    "reminder",
    "skill",
    "snapshot",
    "stdout",
    "summary",
    "system",
    "workspace_info",
];
/// A sentence that stands in the text of each command that leftoff gives an agent.
const COMMAND_NOTE: &str = "Above is leftoff's answer.";
/// Blocks in which a client tells where a conversation takes place, before it or when that changes.
#[cfg(feature = "interop")]
const PLACE_TAGS: &[&str] = &["environment_context", "session_context", "user_instructions"];
/// Blocks that a client sends by itself for other reasons.
#[cfg(feature = "interop")]
const REMARK_TAGS: &[&str] = &["skill", "system-reminder"];

/// Whether a block holds a user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockContent {
    /// It holds a user's words.
    Words,
    /// It holds none.
    NoWords,
    /// Unknown: its words are the user's if there are no others.
    Anything,
}

/// Returns a message's user words, piece by piece, without the text around them; none if no user said any of it.
pub(crate) fn user_words(message: &str) -> Vec<&str> {
    let (mut found, mut left) = (Vec::new(), MAX_BLOCKS);
    unwrap_blocks(text_after_request(message), &mut found, &mut left);
    found
}

fn unwrap_blocks<'a>(text: &'a str, found: &mut Vec<&'a str>, left: &mut usize) {
    let mut rest = text.trim();
    if is_program_text(rest) {
        return;
    }
    let (before, mut unknown) = (found.len(), None);
    while !rest.is_empty() && *left > 0 {
        *left -= 1;
        let Some(block) = Block::parse(rest) else {
            let (words, behind) = rest.split_at(end_of_words(rest));
            found.push(words.trim_end());
            rest = behind.trim_start();
            continue;
        };
        match block.content() {
            BlockContent::Words => unwrap_blocks(block.inner, found, left),
            BlockContent::NoWords => {}
            BlockContent::Anything => unknown = unknown.or(Some(block.inner)),
        }
        rest = block.rest.trim_start();
    }
    if let Some(inner) = unknown.filter(|_| found.len() == before) {
        unwrap_blocks(inner, found, left);
    }
}

/// Returns the text behind the heading that an editor writes before the user's words; all of it if there is none.
pub(crate) fn text_after_request(message: &str) -> &str {
    message.find(REQUEST_HEADING).map_or(message, |at| &message[at + REQUEST_HEADING.len()..])
}

/// True if a program wrote the whole message, by how it begins, or because it is the text of one of leftoff's commands.
pub(crate) fn is_program_text(text: &str) -> bool {
    text.contains(COMMAND_NOTE)
        || PROGRAM_BEGINNINGS
            .iter()
            .any(|made| text.get(..made.len()).is_some_and(|head| head.eq_ignore_ascii_case(made)))
}

/// True if a message in the user's place is the client telling where the conversation takes place.
#[cfg(feature = "interop")]
pub(crate) fn is_about_place(message: &str) -> bool {
    let text = message.trim_start();
    text.starts_with(PROGRAM_BEGINNINGS[0])
        || parse_tag(text).is_some_and(|(name, _)| PLACE_TAGS.contains(&name))
}

/// True if a message in the user's place is one that a client sends by itself.
#[cfg(feature = "interop")]
pub(crate) fn is_client_remark(message: &str) -> bool {
    let of_command = |name: &str| name.strip_prefix("local-command-").is_some_and(|rest| !rest.is_empty());
    let is_remark = |(name, _): (&str, &str)| of_command(name) || REMARK_TAGS.contains(&name);
    is_about_place(message) || parse_tag(message.trim_start()).is_some_and(is_remark)
}

/// A block at the beginning of a text: `<name …>inner</name>`. If no tag closes it, all of the text is inside.
pub(crate) struct Block<'a> {
    pub name: &'a str,
    pub inner: &'a str,
    pub rest: &'a str,
}

impl<'a> Block<'a> {
    pub fn parse(text: &'a str) -> Option<Block<'a>> {
        let (name, inner) = parse_tag(text)?;
        let close = format!("</{name}>");
        let is_ours = name.contains(['-', '_', ':']) || content_of(name) != BlockContent::Anything;
        let Some(end) = inner.find(&close) else {
            return Some(Block { name, inner, rest: "" }).filter(|_| is_ours);
        };
        let behind = &inner[end + close.len()..];
        // Beside words on the same line it is one of them: <b>this</b> one.
        let is_alone = inner.starts_with('\n') || behind.is_empty() || behind.starts_with(['\n', '\r']);
        Some(Block { name, inner: &inner[..end], rest: behind }).filter(|_| is_ours || is_alone)
    }

    /// Tells from the block's name whether it holds a user's words.
    pub fn content(&self) -> BlockContent {
        content_of(self.name)
    }
}

fn content_of(name: &str) -> BlockContent {
    if USER_TAGS.contains(&name) {
        BlockContent::Words
    } else if CLIENT_NAME_PARTS.iter().any(|part| contains(name, part)) {
        BlockContent::NoWords
    } else {
        BlockContent::Anything
    }
}

// Finds the end of a user's words before a block that holds none: a reminder, the files open in an editor. A block that
// is not closed may be quoted.
fn end_of_words(text: &str) -> usize {
    let mut at = 0;
    for _ in 0..MAX_BLOCKS {
        let Some(next) = text[at..].find("\n<") else { break };
        let rest = &text[at + next + 1..];
        let is_closed = |block: &Block<'_>| !rest.ends_with(block.inner);
        if Block::parse(rest)
            .is_some_and(|block| block.content() == BlockContent::NoWords && is_closed(&block))
        {
            return at + next;
        }
        at += next + 1;
    }
    text.len()
}

// Returns the name of the tag at the beginning of a text, and the text behind the tag.
pub(crate) fn parse_tag(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('<')?;
    let name =
        &rest[..rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')))?];
    let (more, behind) = rest[name.len()..].split_once('>')?;
    let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && (more.is_empty() || more.starts_with([' ', '\n']));
    is_tag.then_some((name, behind))
}

fn contains(name: &str, part: &str) -> bool {
    name.as_bytes().windows(part.len()).any(|found| found.eq_ignore_ascii_case(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use proptest::prelude::*;

    fn check(message: &str, expected: &[&str]) {
        assert_eq!(user_words(message), expected, "{message}");
    }

    #[test]
    fn what_a_user_says_is_told_from_what_stands_around_it_in_every_agents_messages() {
        for (message, expected) in [
            ("Fix it\n\nIt fails", "Fix it\n\nIt fails"),
            ("<user_input mode=\"act\">Fix it</user_input>", "Fix it"),
            ("<task>\nFix it\n</task>\n\n<environment_details>\n# Time\n</environment_details>", "Fix it"),
            ("<feedback>\nFix it\n</feedback>", "Fix it"),
            ("<user_message>\nFix it\n</user_message>", "Fix it"),
            ("<system-reminder>\nbe kind\n</system-reminder>\nFix it", "Fix it"),
            ("Fix it\n<system-reminder>\nbe kind\n</system-reminder>", "Fix it"),
            (
                "<user_instructions kind=\"a\">\nbe kind\n</user_instructions>\n<user_query>Fix it</user_query>",
                "Fix it",
            ),
            ("# Context from my IDE setup:\n\n## My request for Codex:\nFix it", "Fix it"),
            ("<my_block>Fix it</my_block>", "Fix it"),
            ("<b>Fix</b> it </b>", "<b>Fix</b> it </b>"),
            ("a < b and b > </c>", "a < b and b > </c>"),
            ("Fix it:\n<SystemMenu>\n<li>", "Fix it:\n<SystemMenu>\n<li>"),
        ] {
            check(message, &[expected]);
        }
        check("<task>one</task>\ntwo", &["one", "two"]);
        check("one\n<system-reminder>be kind</system-reminder>\n\ntwo", &["one", "two"]);
        for message in [
            "",
            "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
            "<environment_context cwd=\"/a\">\n<cwd>/a</cwd>\n</environment_context>",
            "<user_instructions>\nbe kind\n</user_instructions>",
            "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>be kind</INSTRUCTIONS>",
            "This session is being continued from a previous conversation that ran out of context.",
            "leftoff stop --from gemini\n\nAbove is leftoff's answer. If no summary stands there, run `leftoff stop`.",
            "<skill>\n<name>x</name>\nIf the build is red, always stop.\n</skill>",
            "<skill name=\"x\" location=\"/a\">\nIf the build is red, always stop.\n</skill>",
            "Stop hook feedback:\n- [check.sh]: You must run the tests.",
            "<user-prompt-submit-hook>You must run the tests.</user-prompt-submit-hook>",
        ] {
            check(message, &[]);
        }
    }

    proptest! {
        // However many of them, in whichever order, with attributes or not.
        #[test]
        fn words_are_found_in_any_wrapping(
            words in "[a-z]{1,6}( [a-z]{1,6}){0,4}",
            around in prop::collection::vec((prop::sample::select(USER_TAGS), any::<bool>()), 0..6),
            beside in prop::collection::vec(
                (prop::sample::select(&["system-reminder", "environment_details", "ide_selection"][..]), any::<bool>()), 0..6),
        ) {
            let tag = |name: &str, has_more: bool| if has_more { format!("<{name} a=\"b c\">") } else { format!("<{name}>") };
            // No agent puts a block into another one of the same name.
            let around: alloc::collections::BTreeMap<_, _> = around.into_iter().collect();
            let mut message = words.clone();
            for (name, has_more) in around {
                message = format!("{}{message}</{name}>", tag(name, has_more));
            }
            for (at, (name, has_more)) in beside.into_iter().enumerate() {
                let block = format!("{}\nnothing\n</{name}>", tag(name, has_more));
                message = if at % 2 == 0 { format!("{block}\n{message}") } else { format!("{message}\n{block}") };
            }
            prop_assert_eq!(user_words(&message), [words.as_str()]);
        }
    }

    #[test]
    fn a_message_made_to_be_long_is_not_read_again_and_again() {
        for hostile in ["<task>", "</task>", "<a_b>\n", "\n<system-reminder></system-reminder>"] {
            let message: String = hostile.repeat(1_000_000).to_string();
            assert!(user_words(&message).iter().all(|said| said.len() <= message.len()));
        }
    }
}
