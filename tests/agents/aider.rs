//! Aider's rules.
//! Tries: src/interop/aider.rs

use leftoff::error::Code;
use leftoff::interop::{AgentName, ImportedSession, detect, read};
use leftoff::record::message::{Message, Role};

use super::fixture;

fn sessions(history: &str) -> Vec<ImportedSession> {
    assert_eq!(detect(history.as_bytes()), Some(AgentName::Aider));
    read(history.as_bytes(), "x", None).unwrap().sessions
}

fn roles_and_texts(session: &ImportedSession) -> Vec<(char, &str)> {
    let of = |message: &Message| match message.role.unwrap() {
        Role::System => 's',
        Role::User => 'u',
        Role::Assistant => 'a',
        Role::Tool => 't',
    };
    session.messages.iter().map(|message| (of(message), message.content.as_str())).collect()
}

#[test]
fn a_real_history_reads_as_it_was_held() {
    let bytes = fixture(AgentName::Aider, "real/0.86.2/first.chat.history.md");
    let session = read(&bytes, "x", None).unwrap().sessions.remove(0);
    assert_eq!(session.source_id, "2026-11-20 23:58:24");
    assert_eq!(
        (session.version.as_deref(), session.model.as_deref()),
        (Some("0.86.2"), Some("openai/fake-model"))
    );
    let said = roles_and_texts(&session);
    assert_eq!(said.iter().map(|(role, _)| *role).collect::<String>(), "tuat");
    assert_eq!(said[1].1, "hello SAY:aider");
    assert_eq!(said[2].1, "Fake answer: done, the tools have run. Said aider. Ünïcode ☃ end.");
    assert_eq!(said[3].1, "Tokens: 729 sent, 21 received.");
}

#[test]
fn headings_and_quotations_belong_to_the_answer() {
    let history = "# aider chat started at 2026-01-01 10:00:00\n\n#### one  \n#### \n#### two  \n\n# A title\n\n#### A heading\n\n> quoted\n\n```\n# code\n```\n> Applied edit to a.txt  \n";
    let sessions = sessions(history);
    let expected = [
        ('u', "one\n\ntwo"),
        ('a', "# A title\n\n#### A heading\n\n> quoted\n\n```\n# code\n```"),
        ('t', "Applied edit to a.txt"),
    ];
    assert_eq!(roles_and_texts(&sessions[0]), expected);
}

#[test]
fn each_section_is_a_session_and_one_without_words_is_none() {
    let history = "> before  \n#### zero  \n\n# aider chat started at 2026-01-01 10:00:00\n\n> Aider v0.86.2  \n\n# aider chat started at 2026-01-01 10:00:00\r\n\r\n#### one  \r\n\r\n# aider chat started at 2026-01-02 10:00:00\n\n#### two  \n";
    let sessions = sessions(history);
    let ids: Vec<&str> = sessions.iter().map(|session| session.source_id.as_str()).collect();
    assert_eq!(ids, ["before the first", "2026-01-01 10:00:00#2", "2026-01-02 10:00:00"]);
    assert_eq!(roles_and_texts(&sessions[1]), [('u', "one")]);
    assert_eq!(sessions[2].created_ms, Some(1_767_348_000_000));
    let lost: Vec<(&str, u64)> =
        sessions[0].losses.iter().map(|loss| (loss.field.as_str(), loss.count)).collect();
    assert_eq!(lost, [("record:section", 1)]);
    let error = read(b"# aider chat started at 2026-01-01 10:00:00\n", "x", None).unwrap_err();
    assert_eq!(error.code, Code::EmptyFile);
}

#[test]
fn a_grown_history_keeps_the_ids_it_had() {
    let bytes = fixture(AgentName::Aider, "aider-repo/chat-history.md");
    let whole = read(&bytes, "x", None).unwrap();
    let ids = |session: &ImportedSession| {
        session.messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>()
    };
    for end in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 7] {
        let part = read(&bytes[..end], "x", None).unwrap();
        for (session, whole) in part.sessions.iter().zip(&whole.sessions) {
            assert_eq!(session.id, whole.id);
            assert!(ids(whole).starts_with(&ids(session)));
        }
    }
}
