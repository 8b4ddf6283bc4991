//! The rules of leftoff's own transcripts.
//! Tries: src/interop/ask.rs

use leftoff::interop::{AgentName, read};

use super::{describe_messages, fixture};

#[test]
fn who_said_what_and_how_it_ended_is_taken_over() {
    let bytes = fixture(AgentName::Ask, "whole.md");
    let session = read(&bytes, "x", None).expect("a transcript").sessions.remove(0);
    assert_eq!(session.source_id, "session_2026-01-24T09-30-00-000Z");
    assert_eq!(session.folder.as_deref(), Some("/home/ada/shop"));
    let partial: Vec<bool> = session.messages.iter().map(|message| message.partial).collect();
    assert_eq!(partial, [false, false, false, true, false, false]);
    assert!(session.messages[1].content.as_str().contains("\n## Answer 1 of the old FAQ\n"));
    let source = session.messages[3].source.as_ref().expect("a source");
    let flags: Vec<_> = source.extra.iter().collect();
    assert_eq!(flags, [(r#""engine""#, r#""gemini""#), (r#""stopped""#, r#""interrupted""#)]);
}

#[test]
fn an_answer_that_grows_keeps_its_name_and_what_follows_an_edit_begins_a_branch() {
    let whole = String::from_utf8(fixture(AgentName::Ask, "whole.md")).expect("text");
    let ids = |text: &str| -> Vec<String> {
        let import = read(text.as_bytes(), "x", None).expect("a transcript");
        import.sessions[0].messages.iter().map(|message| message.id.clone()).collect()
    };
    let all = ids(&whole);
    for end in (whole.find("In `src").expect("the answer") + 2)..=whole.len() {
        if let Some(text) = whole.get(..end) {
            let some = ids(text);
            assert!(all.starts_with(&some[..some.len() - 1]), "{end}");
        }
    }
    let answered = ids(&whole[..whole.find(": three times").expect("in the answer")]);
    assert_eq!(answered[..], all[..2]);
    let edited = ids(&whole.replace("three times", "twice"));
    assert_eq!((&edited[..2], edited[2] == all[2]), (&all[..2], false));
}

#[test]
fn what_was_edited_by_hand_is_read_and_what_is_no_mark_is_told() {
    let import = read(&fixture(AgentName::Ask, "edited.md"), "x", None).expect("a transcript");
    let session = &import.sessions[0];
    assert_eq!(session.folder.as_deref(), Some("C:\\Users\\ada\\shop"));
    assert_eq!(
        describe_messages(session),
        [
            "u Which tests are slow?",
            "a Those of the importer.",
            "u Not true any more since Tuesday.\n\n## Question whenever",
            "u Which others?\n",
        ]
    );
    assert_eq!(import.problems.len(), 2, "{:?}", import.problems);
}
