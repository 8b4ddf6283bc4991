//! Cortext's rules.
//! Tries: src/interop/cortext.rs

use leftoff::interop::{AgentName, detect, read};
use leftoff::record::message::Role;

use super::fixture;

#[test]
fn each_line_is_a_message_and_the_folder_names_the_session() {
    let bytes = fixture(AgentName::Cortext, "design.jsonl");
    let of = |name: &str| read(&bytes, name, None).unwrap().sessions.remove(0);
    let session = of("conversations/2025-11-22/001-brainstorm-topic/.session/messages.jsonl");
    assert_eq!(session.source_id, "001-brainstorm-topic");
    assert_eq!(of("messages.jsonl").source_id, of("x").source_id);
    let roles: Vec<Role> = session.messages.iter().map(|message| message.role.unwrap()).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::System, Role::User]);
    assert_eq!(session.messages[1].content.as_str(), "Which ones do you know?\n\nREST, say.");
    assert_eq!(session.messages[3].timestamp.as_deref(), Some("2025-11-22T10:32:00Z"));
    assert_eq!(session.losses[0].field, "message.mood");
}

#[test]
fn lines_of_others_are_not_taken_for_it() {
    for line in [
        r#"{"id":"01","role":"user","content":"hi","timestamp":"2025-11-22T10:30:00Z"}"#,
        r#"{"type":"user","role":"user","content":"hi","timestamp":"2025-11-22T10:30:00Z"}"#,
        r#"{"role":"narrator","content":"hi","timestamp":"2025-11-22T10:30:00Z"}"#,
        r#"{"role":"user","content":[],"timestamp":"2025-11-22T10:30:00Z"}"#,
        r#"{"role":"user","content":"hi"}"#,
    ] {
        assert_eq!(detect(line.as_bytes()), None, "{line}");
    }
}
