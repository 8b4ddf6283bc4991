//! Both documents about a session: as their pages show them, and from one to the other and back.
//! Tries: src/session/documents/
#![cfg(not(target_arch = "wasm32"))]

use leftoff::error::Code;
use leftoff::record::event::{Agent, ForkOrigin, ImportOrigin, Parent, Project};
use leftoff::record::status::Status;
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::documents::{MetadataJson, SessionJson, find_heading};
use leftoff::session::metadata::Metadata;
use leftoff::session::title::Titles;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const SESSION: &str = include_str!("fixtures/documents/session-by-hand.json");
const METADATA: &str = include_str!("fixtures/documents/metadata-by-hand.json");

fn some_string(text: &str) -> Option<String> {
    Some(text.into())
}

/// Every field of `old` is in `new`, with its value, in nested objects too.
fn has_all(new: &Value, old: &Value, path: &str) {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            for (key, value) in old {
                has_all(new.get(key).unwrap_or(&Value::Null), value, &format!("{path}.{key}"));
            }
        }
        _ => assert_eq!(new, old, "{path}"),
    }
}

#[test]
fn document_000s_example_reads_as_its_page_says() {
    let (document, bad) = SessionJson::read(SESSION.as_bytes()).unwrap();
    assert_eq!(bad, [""; 0]);
    let summary = "Discussing REST vs GraphQL for internal APIs, leaning toward REST for simplicity";
    let expected = Metadata {
        name: some_string("001-brainstorm-api-design"),
        session_type: "brainstorm".into(),
        summary: some_string(summary),
        given_summary: some_string(summary),
        created_at: some_string("2025-11-22T10:30:00Z"),
        agent: Agent {
            command: some_string("/workspace.brainstorm"),
            system_prompt_hash: some_string("sha256:abc123..."),
            model: some_string("claude-sonnet-4-5-20250929"),
            tools: vec!["mcp__cortext__search_workspace".into(), "mcp__cortext__get_context".into()],
            ..Agent::default()
        },
        ..Metadata::default()
    };
    assert_eq!(document.metadata(), expected);
    has_all(&serde_json::from_str(&document.to_json()).unwrap(), &serde_json::from_str(SESSION).unwrap(), "");
}

#[test]
fn document_004s_example_reads_as_its_page_says() {
    let (document, bad) = MetadataJson::read(METADATA.as_bytes()).unwrap();
    assert_eq!(bad, [""; 0]);
    let expected = Metadata {
        id: "0199c0de-0000-7000-8000-000000000001".into(),
        session_type: "chat".into(),
        given_title: some_string("API design"),
        // Archived is a date beside the status; the document has none, so it is the last one that it has.
        archived_at: some_string("2025-11-22T12:00:00.000Z"),
        created_at: some_string("2025-11-22T10:30:00.000Z"),
        project: Some(Project {
            path: "/home/ann/api".into(),
            hash: "9f86d081884c7d65".into(),
            name: "api".into(),
            ..Project::default()
        }),
        agent: Agent {
            model: some_string("qwen2.5-coder:32b"),
            provider: some_string("openai-compatible"),
            context_window: Some(32_768),
            base_url: some_string("http://localhost:11434/v1"),
            ..Agent::default()
        },
        ..Metadata::default()
    };
    assert_eq!(document.metadata(), expected);
    has_all(
        &serde_json::from_str(&document.to_json()).unwrap(),
        &serde_json::from_str(METADATA).unwrap(),
        "",
    );
}

#[test]
fn each_document_has_the_fields_of_its_page_and_writes_the_status_in_its_own_words() {
    let metadata = Metadata {
        id: "u".into(),
        session_type: "chat".into(),
        status: Status::Paused,
        archived_at: some_string("2026-01-01T00:00:00.000Z"),
        created_at: some_string("2025-12-31T00:00:00.000Z"),
        ..Metadata::default()
    };
    let mut known = Checkpoint::default();
    (known.messages, known.user_messages, known.assistant_messages, known.tool_messages) = (5, 1, 2, 2);
    (known.tokens, known.last_message_ms) = (70, Some(1_767_225_600_000));
    known.titles = Titles::of("What is left?");
    let written: Value = serde_json::from_str(&MetadataJson::new(&metadata, &known).to_json()).unwrap();
    let expected = json!({
        "version": 1, "id": "u", "project": { "path": "", "hash": "", "name": "" },
        "timestamps": {
            "createdAt": "2025-12-31T00:00:00.000Z", "lastAccessedAt": "2026-01-01T00:00:00.000Z",
            "lastMessageAt": "2026-01-01T00:00:00.000Z",
        },
        "stats": {
            "messageCount": 5, "toolExecutionCount": 2, "totalTokens": 70, "userMessageCount": 1, "assistantMessageCount": 2,
        },
        "provider": { "type": "", "model": "", "contextWindow": 0 },
        "display": { "title": "What is left?", "description": "What is left?" },
        "status": "archived", "lifecycle": "paused", "type": "chat", "agent": {}, "archivedAt": "2026-01-01T00:00:00.000Z",
    });
    assert_eq!(written, expected);
    let written: Value = serde_json::from_str(&SessionJson::new(&metadata, &known).to_json()).unwrap();
    let expected = json!({
        "version": "1.0", "conversation_id": "u", "conversation_type": "chat", "status": "paused",
        "created_at": "2025-12-31T00:00:00.000Z", "last_active": "2026-01-01T00:00:00.000Z", "message_count": 5,
        "agent_config": {}, "id": "u", "archived_at": "2026-01-01T00:00:00.000Z", "total_tokens": 70,
    });
    assert_eq!(written, expected);
}

#[test]
fn what_nobody_knows_is_kept_at_its_place_when_a_document_is_written_anew() {
    let metadata = Metadata {
        given_title: some_string("another"),
        project: Some(Project { path: "/p".into(), ..Project::default() }),
        parent: Some(Parent { session: "p".into(), call_id: None }),
        imported: Some(ImportOrigin { agent: "codex".into(), source_id: "s".into() }),
        forked_from: Some(ForkOrigin { session: "o".into(), message_id: "m".into() }),
        agent: Agent { model: some_string("m"), ..Agent::default() },
        ..Metadata::default()
    };
    let known = Checkpoint::default();
    // With something that nobody knows in it, and in every object of it.
    let strange = |json: String| {
        let mut document: Value = serde_json::from_str(&json).unwrap();
        let fields = document.as_object_mut().unwrap();
        fields.values_mut().filter_map(Value::as_object_mut).for_each(|nested| {
            nested.insert("also mine".into(), json!("kept"));
        });
        fields.insert("mine".into(), json!({ "deep": [1, { "x": null }] }));
        document
    };
    let check = |old: &Value, new: &str, nested: usize| {
        let new: Value = serde_json::from_str(new).unwrap();
        assert_eq!(new["mine"], old["mine"]);
        let objects = old.as_object().unwrap().iter().filter(|(_, value)| value.get("also mine").is_some());
        let places: Vec<&String> = objects.map(|(key, _)| key).collect();
        assert_eq!(places.len(), nested, "{places:?}");
        for key in places {
            assert_eq!(new[key]["also mine"], "kept", "{key}");
        }
    };
    let document = strange(MetadataJson::new(&metadata, &known).to_json());
    let old = MetadataJson::read(document.to_string().as_bytes()).unwrap().0;
    let new = MetadataJson::new(&metadata, &known).keeping(&old).to_json();
    check(&document, &new, 9);
    assert_eq!(serde_json::from_str::<Value>(&new).unwrap()["display"]["title"], "another");
    let document = strange(SessionJson::new(&metadata, &known).to_json());
    let old = SessionJson::read(document.to_string().as_bytes()).unwrap().0;
    check(&document, &SessionJson::new(&metadata, &known).keeping(&old).to_json(), 5);
    // What a page has that leftoff does not know.
    let old = MetadataJson::read(METADATA.as_bytes()).unwrap().0;
    let new: Value =
        serde_json::from_str(&MetadataJson::new(&metadata, &known).keeping(&old).to_json()).unwrap();
    assert_eq!(new["context"], serde_json::from_str::<Value>(METADATA).unwrap()["context"]);
}

#[test]
fn a_bad_value_costs_its_field_and_what_is_no_object_is_refused() {
    let (document, bad) =
        SessionJson::read(br#"{"status":"sleeping","message_count":"many","title":"t"}"#).unwrap();
    assert_eq!(document.metadata().given_title, some_string("t"));
    assert_eq!(bad.len(), 2, "{bad:?}");
    assert!(
        bad.iter().any(|bad| bad.contains("\"status\""))
            && bad.iter().any(|bad| bad.contains("\"message_count\""))
    );
    let (document, _) = MetadataJson::read(br#"{"status":"corrupted","lifecycle":"completed"}"#).unwrap();
    assert_eq!((document.metadata().archived_at, document.metadata().status), (None, Status::Completed));
    let conflict = format!("<<<<<<< HEAD\n{SESSION}\n=======\n{SESSION}\n>>>>>>> other\n");
    for refused in ["", "[]", "7", "{", conflict.as_str()] {
        assert_eq!(
            SessionJson::read(refused.as_bytes()).map_err(|e| e.code).err(),
            Some(Code::InvalidJson),
            "{refused}"
        );
        assert_eq!(
            MetadataJson::read(refused.as_bytes()).map_err(|e| e.code).err(),
            Some(Code::InvalidJson),
            "{refused}"
        );
    }
    assert!(SessionJson::read(br#"{"version":"2.0"}"#).unwrap().0.is_newer());
    assert!(MetadataJson::read(br#"{"version":2}"#).unwrap().0.is_newer());
    assert!(!SessionJson::read(SESSION.as_bytes()).unwrap().0.is_newer());
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("a".into()), "\\PC{1,20}", "[\u{1F600}-\u{1F610}\"\\\\\n\u{2028}]{1,5}"]
}

prop_compose! {
    fn agent()(
        words in prop::collection::vec(prop::option::of(text()), 6),
        tools in prop::collection::vec(text(), 0..3),
        context_window in prop::option::of(1_u64..2_000_000),
    ) -> Agent {
        let mut words = words.into_iter();
        let mut next = || words.next().flatten();
        let (command, system_prompt_hash, model) = (next(), next(), next());
        let (prompt_file, provider, base_url) = (next(), next(), next());
        Agent { command, system_prompt_hash, prompt_file, model, tools, provider, context_window, base_url }
    }
}

prop_compose! {
    fn metadata()(
        (id, session_type, title, name, summary) in (text(), text(), "[a-z]( ?[a-z]){0,8}", prop::option::of(text()), prop::option::of(text())),
        status in prop::sample::select(vec![Status::Active, Status::Paused, Status::Completed]),
        dates in prop::collection::vec(prop::option::of(Just("2026-01-01T00:00:00.000Z".to_string())), 2),
        project in prop::option::of((text(), text(), text(), prop::collection::vec(prop::option::of(text()), 3))),
        origin in prop::option::of((text(), text())),
        parent in prop::option::of((text(), prop::option::of(text()))),
        imported in prop::option::of((text(), text())),
        agent in agent(),
        as_of in prop::option::of(text()),
    ) -> Metadata {
        Metadata {
            name: name.filter(|name| *name != id),
            id,
            session_type,
            given_title: Some(title),
            given_summary: summary.clone(),
            summary,
            summary_ms: None,
            summary_revision: None,
            status,
            archived_at: dates[0].clone(),
            created_at: dates[1].clone(),
            project: project.map(|(path, hash, name, aliases)| Project {
                path,
                hash,
                name,
                remote: aliases[0].clone(),
                first_commit: aliases[1].clone(),
                folder: aliases[2].clone(),
            }),
            heading: None,
            forked_from: origin.map(|(session, message_id)| ForkOrigin { session, message_id }),
            parent: parent.map(|(session, call_id)| Parent { session, call_id }),
            agent,
            imported: imported.map(|(agent, source_id)| ImportOrigin { agent, source_id }),
            as_of,
        }
    }
}

#[test]
fn the_first_heading_of_a_conversation_is_found() {
    for (markdown, expected) in [
        ("# API design\n\ntext\n# other\n", Some("API design")),
        ("text\r\n\r\n##  Two #\r\n", Some("Two")),
        ("---\ntitle: x\n# not this\n---\n# This\n", Some("This")),
        ("---\r\ntitle: x\r\n---\r\n# This\r\n", Some("This")),
        ("```sh\n# a comment\n```\n# This\n", Some("This")),
        ("Underlined\n==========\n", Some("Underlined")),
        ("#hashtag\n####### seven\n", None),
        ("", None),
        ("```\n# open\n", None),
        ("```\n~~~\n# in both\n```\n# This\n", Some("This")),
        ("~~~\n```\n# in both\n~~~\n# This\n", Some("This")),
    ] {
        assert_eq!(find_heading(markdown), expected, "{markdown:?}");
    }
}

proptest! {
    #[test]
    fn a_session_goes_from_one_document_to_the_other_and_back_without_loss(metadata in metadata()) {
        let known = Checkpoint::default();
        let home = MetadataJson::new(&metadata, &known).to_json();
        let home = MetadataJson::read(home.as_bytes()).unwrap().0.metadata();
        prop_assert_eq!(&home, &metadata);
        let workspace = SessionJson::new(&home, &known).to_json();
        let workspace = SessionJson::read(workspace.as_bytes()).unwrap().0.metadata();
        prop_assert_eq!(&workspace, &metadata);
        let again = MetadataJson::new(&workspace, &known).to_json();
        prop_assert_eq!(MetadataJson::read(again.as_bytes()).unwrap().0.metadata(), metadata);
    }

    #[test]
    fn a_document_that_was_damaged_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for document in [SESSION, METADATA] {
            let mut bytes = document.as_bytes().to_vec();
            let place = at.index(bytes.len());
            bytes[place] = byte;
            if let Ok((document, _)) = SessionJson::read(&bytes) {
                // Not as a `Value`: a number that nobody knows may be larger than that can hold.
                prop_assert!(serde_json::from_str::<Box<RawValue>>(&document.to_json()).is_ok());
            }
            if let Ok((document, _)) = MetadataJson::read(&bytes) {
                // Not as a `Value`: a number that nobody knows may be larger than that can hold.
                prop_assert!(serde_json::from_str::<Box<RawValue>>(&document.to_json()).is_ok());
            }
        }
    }
}
