//! Documents that someone typed or changed by hand: what they say is in force, becomes an event, and is never overwritten.
//! Tries: src/record/document_edit.rs, src/session/document_claims.rs, src/session/handle/document_state.rs
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::stamp;
use leftoff::error::Code;
use leftoff::record::event::{Change, USUAL_TYPE};
use leftoff::record::status::Status;
use leftoff::session::change_request::ChangeRequest;
use leftoff::session::documents::{Document, DocumentName};
use leftoff::session::handle::Session;
use leftoff::session::metadata::Metadata;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const SESSION: &str = include_str!("fixtures/documents/session-by-hand.json");
const METADATA: &str = include_str!("fixtures/documents/metadata-by-hand.json");

/// A session and the bytes of its events log.
struct Host {
    session: Session,
    log: Vec<u8>,
    batches: u64,
}

impl Host {
    fn new() -> Host {
        Host { session: Session::new(None).with_id("u"), log: Vec::new(), batches: 0 }
    }

    fn begin_host() -> Host {
        let mut host = Host::new();
        host.ask(&json!([
            { "type": "created", "session": "u", "sessionType": "chat", "agent": { "model": "m" } },
            { "type": "summary", "summary": "first" },
        ]));
        host
    }

    fn ask(&mut self, asked: &Value) {
        let asked = ChangeRequest::from_json(&asked.to_string()).expect("it may be asked");
        self.batches += 1;
        let bytes = self.session.stage_changes(asked, &stamp(self.batches)).expect("it may happen");
        if !bytes.is_empty() {
            let found = self.session.events().commit(self.log.len() as u64).expect("a batch is open");
            self.session.take_events(found);
            self.log.extend(bytes);
        }
    }

    /// Another process, which finds so much of the log.
    fn of(log: &[u8]) -> Host {
        let mut host = Host { log: log.into(), ..Host::new() };
        let found = host.session.events().observe(log, 0).expect("the first bytes");
        host.session.take_events(found);
        host
    }

    fn meet(&mut self, name: DocumentName, document: &str) {
        let (document, _) = Document::read(name, document.as_bytes()).expect("a document");
        self.session.take_document(Some(document));
    }

    /// The document with some fields changed, as an editor leaves it.
    fn edit_document(&self, name: DocumentName, changes: &Value) -> String {
        let mut document: Value = serde_json::from_str(&self.session.document(name)).expect("JSON");
        merge(&mut document, changes);
        document.to_string()
    }

    /// Another process that reads the same log, and no document.
    fn reread_metadata(&self) -> Metadata {
        Host::of(&self.log).session.metadata().clone()
    }
}

// A null takes the field out.
fn merge(document: &mut Value, changes: &Value) {
    let (Value::Object(fields), Value::Object(changes)) = (document, changes) else { return };
    for (key, value) in changes {
        match value {
            Value::Null => {
                fields.remove(key);
            }
            Value::Object(_) => merge(fields.entry(key).or_insert(Value::Object(Map::new())), value),
            _ => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
}

const DOCUMENT_NAMES: [DocumentName; 2] = [DocumentName::SessionJson, DocumentName::MetadataJson];

#[test]
fn an_edit_is_in_force_at_once_and_an_event_with_the_next_ones() {
    for (name, changes) in [
        (
            DocumentName::SessionJson,
            json!({ "context_summary": "second", "status": "paused", "title": "mine", "archived_at": "2026-01-01T00:00:00Z" }),
        ),
        (
            DocumentName::MetadataJson,
            json!({ "summary": "second", "lifecycle": "paused", "display": { "title": "mine" }, "status": "archived" }),
        ),
    ] {
        let mut host = Host::begin_host();
        let document = host.edit_document(name, &changes);
        host.meet(name, &document);
        let check = |metadata: &Metadata| {
            assert_eq!(metadata.summary.as_deref(), Some("second"), "{name:?}");
            assert_eq!(metadata.given_title.as_deref(), Some("mine"), "{name:?}");
            assert_eq!((metadata.status, metadata.archived_at.is_some()), (Status::Paused, true), "{name:?}");
            assert_eq!(metadata.agent.model.as_deref(), Some("m"), "{name:?}");
        };
        check(host.session.metadata());
        assert!(host.session.has_unrecorded());
        host.ask(&json!([]));
        assert!(!host.session.has_unrecorded());
        check(&host.reread_metadata());
        // What was adopted is not adopted again, whatever came later.
        host.ask(&json!([{ "type": "summary", "summary": "third" }]));
        let written = host.log.len();
        host.meet(name, &document);
        host.ask(&json!([]));
        assert_eq!(host.log.len(), written, "{name:?}");
        assert_eq!(host.session.metadata().summary.as_deref(), Some("third"), "{name:?}");
    }
}

#[test]
fn archived_as_a_status_hides_it_and_says_nothing_of_whether_it_goes_on() {
    for name in DOCUMENT_NAMES {
        let mut host = Host::begin_host();
        host.ask(&json!([{ "type": "status", "status": "paused" }]));
        let document = host.edit_document(name, &json!({ "status": "archived" }));
        host.meet(name, &document);
        let check = |metadata: &Metadata| {
            assert_eq!((metadata.status, metadata.archived_at.is_some()), (Status::Paused, true), "{name:?}");
        };
        check(host.session.metadata());
        host.ask(&json!([]));
        check(&host.reread_metadata());
    }
}

#[test]
fn a_document_that_nobody_edited_says_nothing_new() {
    for name in DOCUMENT_NAMES {
        let mut host = Host::begin_host();
        let old = host.session.document(name);
        // The state went on; the document is behind.
        host.ask(&json!([{ "type": "summary", "summary": "second" }, { "type": "title", "title": "t" }]));
        host.ask(&json!([{ "type": "status", "status": "paused" }, { "type": "archived" }]));
        host.meet(name, &old);
        assert!(!host.session.has_unrecorded(), "{name:?}");
        assert_eq!(host.session.metadata().summary.as_deref(), Some("second"));
        assert_eq!(host.session.metadata().given_title.as_deref(), Some("t"));
    }
}

#[test]
fn an_edit_of_an_old_document_costs_nothing_that_came_later() {
    for (name, changes) in [
        (DocumentName::SessionJson, json!({ "status": "completed" })),
        (DocumentName::MetadataJson, json!({ "lifecycle": "completed" })),
    ] {
        let mut host = Host::begin_host();
        let old = host.edit_document(name, &changes);
        host.ask(&json!([{ "type": "summary", "summary": "second" }]));
        host.meet(name, &old);
        assert_eq!(host.session.metadata().summary.as_deref(), Some("second"), "{name:?}");
        assert_eq!(host.session.metadata().status, Status::Completed, "{name:?}");
    }
}

#[test]
fn what_was_taken_out_is_gone_where_the_document_had_it() {
    for (name, changes) in [
        (DocumentName::SessionJson, json!({ "context_summary": null, "archived_at": null })),
        (DocumentName::MetadataJson, json!({ "summary": null, "archivedAt": null, "status": "active" })),
    ] {
        let mut host = Host::begin_host();
        host.ask(&json!([{ "type": "archived" }]));
        let document = host.edit_document(name, &changes);
        host.meet(name, &document);
        assert_eq!(host.session.metadata().summary, None, "{name:?}");
        assert_eq!(host.session.metadata().archived_at, None, "{name:?}");
        host.ask(&json!([]));
        assert_eq!(
            (host.reread_metadata().summary, host.reread_metadata().archived_at),
            (None, None),
            "{name:?}"
        );
    }
}

#[test]
fn a_document_without_as_of_is_compared_with_the_newest_state_and_takes_nothing_out() {
    let mut host = Host::begin_host();
    host.meet(DocumentName::SessionJson, r#"{"version":"1.0","conversation_id":"001-x","status":"paused"}"#);
    let metadata = host.session.metadata();
    assert_eq!((metadata.name.as_deref(), metadata.status), (Some("001-x"), Status::Paused));
    assert_eq!(metadata.summary.as_deref(), Some("first"));
}

#[test]
fn a_document_alone_is_how_the_session_began() {
    for (name, json) in [(DocumentName::SessionJson, SESSION), (DocumentName::MetadataJson, METADATA)] {
        let mut host = Host::new();
        host.meet(name, json);
        let expected = Document::read(name, json.as_bytes()).expect("a document").0.metadata();
        let check = |found: &Metadata| {
            let found = Metadata { id: String::new(), as_of: None, ..found.clone() };
            assert_eq!(found, Metadata { id: String::new(), as_of: None, ..expected.clone() }, "{name:?}");
        };
        check(host.session.metadata());
        assert_eq!(host.session.metadata().id, "u", "the place names it");
        host.ask(&json!([]));
        check(&host.reread_metadata());
        assert_eq!(host.session.metadata().as_of, host.reread_metadata().as_of);
    }
}

#[test]
fn what_is_said_stays_though_the_document_beside_it_names_no_event_that_is_there() {
    let changes = [
        json!({ "type": "title", "title": "another" }),
        json!({ "type": "summary", "summary": "another" }),
        json!({ "type": "status", "status": "paused" }),
        json!({ "type": "archived" }),
        json!({ "type": "agent", "agent": { "model": "another", "baseUrl": "http://localhost" } }),
        json!({ "type": "relocated", "project": { "path": "/b", "hash": "b", "name": "b" }, "name": "002-b" }),
    ];
    for (name, as_of) in [(DocumentName::SessionJson, "as_of"), (DocumentName::MetadataJson, "asOf")] {
        let mut before = Host::begin_host();
        before.ask(&json!([
            { "type": "relocated", "project": { "path": "/a", "hash": "a", "name": "a" }, "name": "001-a" },
            { "type": "title", "title": "given" },
            { "type": "pin", "messageId": "m" },
        ]));
        let lines: Vec<&[u8]> = before.log.split_inclusive(|byte| *byte == b'\n').collect();
        for (kept, document) in [
            (0, json!({})),
            (0, json!({ as_of: null })),
            (1, json!({})),
            (4, json!({})),
            (5, json!({ as_of: null })),
        ]
        .map(|(kept, change)| (kept, before.edit_document(name, &change)))
        {
            for change in &changes {
                let mut host = Host::of(&lines[..kept].concat());
                host.meet(name, &document);
                assert_eq!(host.session.metadata().given_title.as_deref(), Some("given"));
                host.ask(&json!([change]));
                let said = host.reread_metadata();
                // Who said it may not have come to write the document anew.
                let log = host.log.clone();
                for mut host in [Host::of(&log), host] {
                    host.meet(name, &document);
                    assert!(!host.session.has_unrecorded(), "{name:?}, {kept} events: {change}");
                    assert_eq!(*host.session.metadata(), said, "{name:?}, {kept} events: {change}");
                }
                // Nor is what is edited by hand then compared with less.
                let mut edited: Value = serde_json::from_str(&document).expect("JSON");
                merge(&mut edited, &json!({ "type": "by hand", "conversation_type": "by hand" }));
                let mut host = Host::of(&log);
                host.meet(name, &edited.to_string());
                assert_eq!(host.session.metadata().session_type, "by hand");
            }
        }
    }
}

#[test]
fn a_session_of_messages_alone_is_of_the_usual_type() {
    let mut host = Host::new();
    assert_eq!(host.session.metadata().session_type, USUAL_TYPE);
    for (name, key) in
        [(DocumentName::SessionJson, "conversation_type"), (DocumentName::MetadataJson, "type")]
    {
        let document: Value = serde_json::from_str(&host.session.document(name)).expect("JSON");
        assert_eq!(document[key], USUAL_TYPE);
        // A type of no letters is none.
        host.meet(name, &json!({ key: "" }).to_string());
        assert_eq!(host.session.metadata().session_type, USUAL_TYPE);
    }
    host.ask(&json!([{ "type": "created", "session": "u", "sessionType": "" }]));
    assert_eq!(host.reread_metadata().session_type, USUAL_TYPE);
}

#[test]
fn a_title_that_nobody_gave_is_no_edit() {
    let mut host = Host::begin_host();
    let as_type = host.session.document(DocumentName::MetadataJson);
    host.session.set_heading(Some("The heading".into()));
    let as_heading = host.session.document(DocumentName::MetadataJson);
    for document in [as_type, as_heading] {
        host.meet(DocumentName::MetadataJson, &document);
        assert!(!host.session.has_unrecorded(), "{document}");
    }
    assert!(!host.session.document(DocumentName::SessionJson).contains("\"title\""));
}

#[test]
fn a_newer_version_can_be_read_and_not_written() {
    let refused = |session: &mut Session| {
        let asked = vec![ChangeRequest::from(Change::Archived)];
        let staged = session.stage_changes(asked, &stamp(1)).map_err(|error| error.code);
        assert_eq!((staged, session.is_newer()), (Err(Code::NewerVersion), true));
    };
    for (name, json) in [
        (DocumentName::SessionJson, r#"{"version":"2.0"}"#),
        (DocumentName::MetadataJson, r#"{"version":2}"#),
    ] {
        let mut host = Host::begin_host();
        host.meet(name, json);
        refused(&mut host.session);
    }
    for version in ["2", "99999999999999999999999999"] {
        let mut host = Host::begin_host();
        let line = format!("{{\"v\":{version},\"id\":\"e\",\"type\":\"title\",\"title\":\"new\"}}\n");
        let found =
            host.session.events().observe(line.as_bytes(), host.log.len() as u64).expect("more bytes");
        host.session.take_events(found);
        assert_eq!(host.session.metadata().given_title.as_deref(), Some("new"));
        refused(&mut host.session);
    }
}

#[test]
fn a_status_becomes_what_the_table_says() {
    let mut host = Host::begin_host();
    let mut ask = |json: Value| {
        let asked = ChangeRequest::from_json(&json!([json]).to_string()).expect("it may be asked");
        let staged = host.session.stage_changes(asked, &stamp(1)).map_err(|error| error.code)?;
        if !staged.is_empty() {
            let found = host.session.events().commit(host.log.len() as u64).expect("a batch is open");
            host.session.take_events(found);
            host.log.extend(&staged);
        }
        Ok((staged.is_empty(), host.session.metadata().status))
    };
    let status = |word: &str| json!({ "type": "status", "status": word });
    assert_eq!(ask(status("active")), Ok((true, Status::Active)));
    assert_eq!(ask(status("paused")), Ok((false, Status::Paused)));
    assert_eq!(ask(status("completed")), Ok((false, Status::Completed)));
    assert_eq!(ask(status("paused")), Err(Code::InvalidTransition));
    assert_eq!(ask(status("active")), Err(Code::InvalidTransition));
    let over = json!({ "type": "status", "status": "active", "override": true });
    assert_eq!(ask(over), Ok((false, Status::Active)));
}

#[test]
fn what_is_asked_for_and_no_change_is_refused() {
    for bad in [
        "",
        "{}",
        "[7]",
        "[{}]",
        r#"[{"type":"title"}]"#,
        r#"[{"type":"title","title":7}]"#,
        r#"[{"type":"dance"}]"#,
    ] {
        assert_eq!(
            ChangeRequest::from_json(bad).map_err(|error| error.code),
            Err(Code::InvalidRequest),
            "{bad}"
        );
    }
}

#[test]
fn who_called_it_and_where_it_comes_from_are_edited_like_the_rest() {
    let mut host = Host::new();
    host.ask(&json!([{ "type": "created", "session": "u", "sessionType": "subagent", "parent": { "session": "p", "callId": "c" } }]));
    for name in DOCUMENT_NAMES {
        let untouched = host.session.document(name);
        host.meet(name, &untouched);
        assert!(!host.session.has_unrecorded(), "{name:?}");
    }
    let document = host
        .edit_document(DocumentName::MetadataJson, &json!({ "parent": { "session": "q", "callId": "d" } }));
    host.meet(DocumentName::MetadataJson, &document);
    let is_edited = |metadata: &Metadata| {
        let parent = metadata.parent.as_ref().expect("a parent");
        assert_eq!((parent.session.as_str(), parent.call_id.as_deref()), ("q", Some("d")));
    };
    is_edited(host.session.metadata());
    host.ask(&json!([]));
    is_edited(&host.reread_metadata());

    let imported = json!({ "imported": { "agent": "codex", "sourceId": "s" } });
    let document = host.edit_document(DocumentName::MetadataJson, &imported);
    host.meet(DocumentName::MetadataJson, &document);
    host.ask(&json!([]));
    let found = host.reread_metadata().imported.expect("it was imported");
    assert_eq!((found.agent.as_str(), found.source_id.as_str()), ("codex", "s"));
    is_edited(&host.reread_metadata());
}

#[test]
fn a_second_edit_of_the_same_document_adds_what_the_first_had_not() {
    type Says = fn(&str) -> Value;
    type Has = fn(&Metadata) -> Option<&str>;
    let words = ["one", "two"];
    let of_session: [(Says, Has, [&str; 2]); 5] = [
        (|to| json!({ "title": to }), |of| of.given_title.as_deref(), words),
        (|to| json!({ "context_summary": to }), |of| of.summary.as_deref(), words),
        (|to| json!({ "conversation_type": to }), |of| Some(&of.session_type), words),
        (|to| json!({ "status": to }), |of| Some(of.status.as_str()), ["paused", "completed"]),
        (|to| json!({ "agent_config": { "model": to } }), |of| of.agent.model.as_deref(), words),
    ];
    let of_metadata: [(Says, Has, [&str; 2]); 2] = [
        (|to| json!({ "parent": { "session": to } }), |of| Some(&of.parent.as_ref()?.session), words),
        (
            |to| json!({ "imported": { "agent": to, "sourceId": "s" } }),
            |of| Some(&of.imported.as_ref()?.agent),
            words,
        ),
    ];
    let fields = of_session.map(|field| (DocumentName::SessionJson, field)).into_iter();
    for (name, (says, has, [one, two])) in
        fields.chain(of_metadata.map(|field| (DocumentName::MetadataJson, field)))
    {
        let (first, second) = (says(one), says(two));
        let mut host = Host::begin_host();
        // Both were opened in the same state.
        let documents = [&first, &second].map(|changes| host.edit_document(name, changes));
        host.meet(name, &documents[0]);
        host.ask(&json!([]));
        assert_eq!(has(&host.reread_metadata()), Some(one), "{first}");
        host.meet(name, &documents[1]);
        assert_eq!(has(host.session.metadata()), Some(two), "{second}");
        host.ask(&json!([]));
        assert_eq!(has(&host.reread_metadata()), Some(two), "{second}");
        // What a document said once is not adopted from it again.
        let written = host.log.len();
        host.meet(name, &documents[1]);
        host.ask(&json!([]));
        assert_eq!(host.log.len(), written, "{second}");
    }
}

#[test]
fn an_old_edit_does_not_stand_for_one_of_a_newer_document() {
    let mut host = Host::begin_host();
    let title = json!({ "title": "mine" });
    let document = host.edit_document(DocumentName::SessionJson, &title);
    host.meet(DocumentName::SessionJson, &document);
    host.ask(&json!([{ "type": "title", "title": "another" }]));
    // The same words, in a document that was written after the other title.
    let document = host.edit_document(DocumentName::SessionJson, &title);
    host.meet(DocumentName::SessionJson, &document);
    host.ask(&json!([]));
    assert_eq!(host.reread_metadata().given_title.as_deref(), Some("mine"));
}

#[test]
fn a_status_that_was_typed_by_hand_begins_the_session_so() {
    for (word, status) in
        [("active", Status::Active), ("paused", Status::Paused), ("completed", Status::Completed)]
    {
        let mut host = Host::new();
        let document = json!({ "version": "1.0", "conversation_id": "001-x", "conversation_type": "chat", "status": word });
        host.meet(DocumentName::SessionJson, &document.to_string());
        assert_eq!(host.session.metadata().status, status);
        host.ask(&json!([]));
        assert_eq!(host.reread_metadata().status, status);
    }
}

proptest! {
    #[test]
    fn whatever_is_edited_is_read_from_the_events_alone_afterwards(
        title in "[a-z]{1,9}", summary in "[a-z]{1,9}", kind in "[a-z]{1,9}", model in "[a-z]{1,9}",
        status in prop::sample::select(vec!["active", "paused", "completed"]),
        later in prop::option::of("[a-z]{1,9}"), which in any::<bool>(),
    ) {
        let name = DOCUMENT_NAMES[usize::from(which)];
        let changes = match name {
            DocumentName::SessionJson => json!({ "title": title, "context_summary": summary, "conversation_type": kind, "status": status, "agent_config": { "model": model } }),
            DocumentName::MetadataJson => json!({ "display": { "title": title }, "summary": summary, "type": kind, "lifecycle": status, "provider": { "model": model } }),
        };
        let mut host = Host::begin_host();
        let document = host.edit_document(name, &changes);
        if let Some(later) = &later {
            host.ask(&json!([{ "type": "title", "title": later }]));
        }
        host.meet(name, &document);
        let in_force = host.session.metadata().clone();
        prop_assert_eq!(in_force.given_title.as_deref(), Some(title.as_str()));
        prop_assert_eq!(in_force.status.as_str(), status);
        host.ask(&json!([]));
        let read = host.reread_metadata();
        prop_assert_eq!(Metadata { as_of: None, ..read }, Metadata { as_of: None, ..in_force });
    }
}
