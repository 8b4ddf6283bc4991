//! What is appended where somebody has chosen a branch.
//! Tries: src/session/branch.rs, src/session/handle/staging.rs

use std::rc::Rc;

use super::host::Host;
use super::{FOLDER, drafts, live};
use leftoff::operation::{AppendRequest, CountingMode, Drafts, SessionFiles};
use serde_json::{Value, json};

/// Two branches, `a b` and `a c d`, of which the second one is newer.
fn branched_session() -> (Host, Rc<SessionFiles>) {
    let mut host = Host::default();
    let live = super::begun_by(&mut host);
    let line = |id: &str, parent: Option<&str>, branch: bool| {
        let mut line = json!({ "id": id, "role": "user", "content": id });
        let fields = line.as_object_mut().expect("an object");
        fields.extend(parent.map(|parent| ("parentId".to_string(), json!(parent))));
        fields.extend(branch.then(|| ("branch".to_string(), json!(true))));
        format!("{line}\n")
    };
    let lines = [
        line("a", None, false),
        line("b", Some("a"), false),
        line("c", Some("a"), true),
        line("d", Some("c"), false),
    ];
    host.append(&format!("{FOLDER}/messages.jsonl"), lines.concat().as_bytes());
    (host, live)
}

fn choose_leaf(host: &mut Host, by: &Rc<SessionFiles>, leaf: &str) {
    let asked = json!([{ "type": "leaf", "messageId": leaf }]).to_string();
    host.drive_on(&mut by.record_changes(asked)).expect("said");
}

/// What the messages of the current path say.
fn path(host: &mut Host, live: &Rc<SessionFiles>) -> Vec<String> {
    host.pages.clear();
    host.drive_on(&mut live.messages("{}".into())).expect("read");
    let content = |one: &Value| one["content"].as_str().expect("a text").to_string();
    let pages = std::mem::take(&mut host.pages);
    let all = pages.iter().map(|page| serde_json::from_str::<Vec<Value>>(page).expect("JSON"));
    all.flat_map(|page| page.iter().map(content).collect::<Vec<_>>()).collect()
}

fn with_ids(ids: &[&str]) -> AppendRequest {
    let messages: Vec<Value> =
        ids.iter().map(|id| json!({ "id": id, "role": "user", "content": id })).collect();
    append_request(&json!(messages))
}

fn append_request(messages: &Value) -> AppendRequest {
    AppendRequest { drafts: Drafts::Json(messages.to_string(), None), ..drafts("") }
}

#[test]
fn what_is_appended_without_a_parent_continues_the_current_path() {
    for (leaf, before) in [("b", ["a", "b"].as_slice()), ("a", &["a", "b"]), ("c", &["a", "c", "d"])] {
        for is_by_another in [false, true] {
            let (mut host, one) = branched_session();
            let another = live();
            host.drive_on(&mut one.open()).expect("opened");
            host.drive_on(&mut one.refresh()).expect("looked");
            choose_leaf(&mut host, if is_by_another { &another } else { &one }, leaf);
            let mut expected = before.to_vec();
            for appending in [drafts("x"), with_ids(&["y", "z"]), drafts("w")] {
                host.drive_on(&mut one.append_messages(appending)).expect("appended");
            }
            expected.extend(["x", "y", "z", "w"]);
            for reader in [&one, &another, &live()] {
                assert_eq!(path(&mut host, reader), expected, "{leaf}, {is_by_another}");
            }
            let asked = r#"{"request":{"window":4000,"encoding":"estimate-1"}}"#;
            let context =
                host.drive_on(&mut one.context(asked.into(), CountingMode::Estimate)).expect("a context");
            assert!(context.contains(r#""content":"w""#), "{context}");
            // The other branch is as it was.
            choose_leaf(&mut host, &another, if leaf == "c" { "b" } else { "d" });
            let other: &[&str] = if leaf == "c" { &["a", "b"] } else { &["a", "c", "d"] };
            assert_eq!(path(&mut host, &one), other);
        }
    }
}

#[test]
fn what_has_a_parent_or_is_there_already_stays_where_it_is() {
    let (mut host, live) = branched_session();
    choose_leaf(&mut host, &live, "b");
    let said = json!([
        { "id": "d", "rev": 1, "role": "user", "content": "d again" },
        { "role": "user", "content": "e", "parentId": "d" },
    ]);
    let drafts = Drafts::Json(said.to_string(), None);
    host.drive_on(&mut live.append_messages(AppendRequest { drafts, ..super::drafts("") }))
        .expect("appended");
    assert_eq!(path(&mut host, &live), ["a", "b"]);
    choose_leaf(&mut host, &live, "d");
    assert_eq!(path(&mut host, &live), ["a", "c", "d again", "e"]);
}

#[test]
fn what_follows_a_revision_of_another_branch_continues_what_is_shown() {
    let (mut host, live) = branched_session();
    let again = json!({ "id": "a", "rev": 1, "role": "user", "content": "a" });
    host.append(&format!("{FOLDER}/messages.jsonl"), format!("{again}\n").as_bytes());
    let shown = path(&mut host, &live);
    for appending in [drafts("x"), with_ids(&["y", "z"])] {
        host.drive_on(&mut live.append_messages(appending)).expect("appended");
    }
    assert_eq!(path(&mut host, &live), [shown, ["x", "y", "z"].map(String::from).to_vec()].concat());
}

#[test]
fn what_is_said_anew_is_no_parent_of_what_is_said_with_it() {
    let mut host = Host::default();
    let live = super::begun_by(&mut host);
    host.drive_on(&mut live.append_messages(with_ids(&["a", "b"]))).expect("appended");
    let both =
        json!([{ "id": "a", "rev": 1, "role": "user", "content": "a2" }, { "role": "user", "content": "c" }]);
    let lines = host.drive_on(&mut live.append_messages(append_request(&both))).expect("appended");
    let lines = String::from_utf8(lines).expect("text");
    let last: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["parentId"], "b", "{lines}");
}

#[test]
fn a_revision_that_nobody_said_before_is_the_parent_of_what_is_said_behind_it() {
    let (mut host, live) = branched_session();
    let both = json!([
        { "id": "x", "rev": 1, "role": "user", "content": "x", "parentId": "b", "branch": true },
        { "role": "assistant", "content": "y" },
    ]);
    host.drive_on(&mut live.append_messages(append_request(&both))).expect("appended");
    assert_eq!(path(&mut host, &live), ["a", "b", "x", "y"]);
    // What is said with a revision of another branch continues what is shown.
    let both = json!([
        { "id": "d", "rev": 1, "role": "user", "content": "d" }, { "id": "n", "role": "user", "content": "n" },
    ]);
    host.drive_on(&mut live.append_messages(append_request(&both))).expect("appended");
    assert_eq!(path(&mut host, &live), ["a", "b", "x", "y", "n"]);
}
