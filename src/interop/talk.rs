//! Tells a user's words from what a client, or one of leftoff's commands, puts in the user's place.

use crate::plain::wrapping::is_client_remark;
use crate::record::message::{Message, Role};

/// A phrase in the text of each command that leftoff gives agents.
pub const COMMAND_ANSWER: &str = "leftoff's answer";

/// The tag in which a client writes down the command that a user called.
const COMMAND_TAG: &str = "<command-name>/";
/// The prefix of a plugin's command.
const PLUGIN_PREFIX: &str = "leftoff:";
/// Names that nobody else gives to a command.
const OWN_COMMANDS: [&str; 2] = ["workspace.resume", "workspace.stop-conversation"];
/// Names that others may have given to commands of theirs, too.
const COMMON_COMMANDS: [&str; 4] = ["sessions", "session", "compact-session", "debug-context"];
/// The first ones as they are typed where they are skills.
const SKILL_COMMANDS: [&str; 2] = ["$workspace-resume", "$workspace-stop-conversation"];
/// True if a message holds words of the user, not the client's or those of one of leftoff's commands. `next` is the
/// message behind it.
pub fn is_talk(message: &Message, next: Option<&Message>) -> bool {
    let text = message.content.as_str();
    let next = next.map(|next| next.content.as_str());
    let is_typed = message.role == Some(Role::User) && !message.is_injected();
    is_typed && !is_client_remark(text) && !is_own_command(text, next)
}

/// True if a user's message calls one of leftoff's commands, as clients write it down. `next`: the message behind it,
/// if there is one: the text that the client sends for the command.
fn is_own_command(text: &str, next: Option<&str>) -> bool {
    let is_typed = |typed: &str| {
        let rest = text.trim_start().strip_prefix(typed);
        rest.is_some_and(|rest| {
            !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
        })
    };
    text.contains(COMMAND_ANSWER)
        || SKILL_COMMANDS.iter().any(|typed| is_typed(typed))
        || calls_command(text, |name| match name.strip_prefix(PLUGIN_PREFIX) {
            Some(name) => OWN_COMMANDS.contains(&name) || COMMON_COMMANDS.contains(&name),
            None => OWN_COMMANDS.contains(&name),
        })
        || calls_command(text, |name| COMMON_COMMANDS.contains(&name))
            && next.is_none_or(|next| next.contains(COMMAND_ANSWER))
}

fn calls_command(text: &str, is: impl Fn(&str) -> bool) -> bool {
    text.match_indices(COMMAND_TAG).any(|(at, _)| {
        let name = text[at + COMMAND_TAG.len()..].split_once('<');
        name.is_some_and(|(name, _)| is(name))
    })
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::json::text::Extra;
    use crate::record::message::LineOrigin;

    fn user_message(content: &str) -> Message {
        Message { role: Some(Role::User), content: content.into(), ..Message::default() }
    }

    fn command_record(name: &str) -> String {
        format!("<command-message>{name}</command-message>\n<command-name>/{name}</command-name>")
    }

    #[test]
    fn what_a_user_types_by_a_command_of_a_common_name_is_theirs_unless_the_client_sends_our_text_for_it() {
        for name in COMMON_COMMANDS {
            let message = user_message(&command_record(name));
            assert!(is_talk(&message, Some(&user_message("Summarize this session for the team"))), "{name}");
            assert!(
                !is_talk(&message, Some(&user_message("…\nAbove is leftoff's answer. Show it"))),
                "{name}"
            );
            // Nobody can tell yet.
            assert!(!is_talk(&message, None), "{name}");
            assert!(is_own_command(&command_record(&format!("leftoff:{name}")), Some("anything")), "{name}");
        }
        assert!(OWN_COMMANDS.iter().all(|name| is_own_command(&command_record(name), Some("anything"))));
        assert!(!is_own_command(&command_record("sessions-of-mine"), Some(COMMAND_ANSWER)));
    }

    #[test]
    fn what_a_client_says_is_nobodys_talk() {
        for (text, expected) in [
            ("hello", true),
            ("", true),
            ("<system-reminder>x", false),
            (" \n<skill name=x>", false),
            ("<skills>", true),
            ("<local-command-stdout>", false),
            ("<local-command->", true),
            ("<user_instructions", true),
            ("$workspace-resume abc", false),
            (" $workspace-resume", false),
            ("$workspace-resumed", true),
            ("say $workspace-resume", true),
        ] {
            assert_eq!(is_talk(&user_message(text), None), expected, "{text}");
        }
        assert!(!is_talk(&Message { role: Some(Role::Assistant), ..user_message("hello") }, None));
        let extra = Extra(Vec::from([("\"isMeta\"".into(), "true".into())]));
        let source = Some(LineOrigin { agent: "opencode".into(), id: "msg_1".into(), extra });
        assert!(!is_talk(&Message { source, ..user_message("hello") }, None));
    }
}
