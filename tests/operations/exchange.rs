//! A session as one file: from one store into another, and back.
//! Tries: src/interop/leftoff/, src/record/session_file/, src/operation/session_packing.rs,
//! src/operation/store/import/session_unpacking.rs

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use leftoff::interop::Transcript;
use leftoff::operation::{
    CountingMode, OutgoingGate, OutgoingRedactor, RedactMode, SessionFiles, Setup, Store,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::drafts;
use super::host::{Host, Meanwhile, SECRET};
use super::store::{create, run_to_end, setup};

const PATH: &str = "/t/session.jsonl";

/// A store on a machine of its own.
struct Machine {
    host: Host,
    store: Rc<Store>,
}

impl Machine {
    fn new() -> Machine {
        Machine { host: Host::default(), store: Store::new(setup(None)) }
    }

    /// Another project, so that the folders differ.
    fn other_machine() -> Machine {
        let project: String = "/srv/elsewhere".into();
        let setup = Setup { normal_project: project.clone(), project, ..setup(None) };
        Machine { host: Host::default(), store: Store::new(setup) }
    }

    fn open(&mut self, id: &str) -> Rc<SessionFiles> {
        run_to_end(&mut self.host, self.store.session(id.into()))
    }

    fn say(&mut self, id: &str, text: &str) {
        let live = self.open(id);
        run_to_end(&mut self.host, live.append_messages(drafts(text)));
    }

    fn export_by(&mut self, id: &str, redact: RedactMode) -> Vec<u8> {
        let live = self.open(id);
        let leaving = OutgoingRedactor::new(&OutgoingGate::new(redact));
        self.host.pages.clear();
        run_to_end(&mut self.host, live.unopened_copy().export(r#"{"format":"leftoff"}"#.into(), &leaving));
        self.host.pages.concat().into_bytes()
    }

    fn export(&mut self, id: &str) -> Vec<u8> {
        self.export_by(id, RedactMode::Off)
    }

    fn import(&mut self, file: &[u8]) -> Value {
        self.host.files.insert(PATH.into(), (file.to_vec(), 0));
        let asked = json!({ "path": PATH }).to_string();
        let answer = run_to_end(&mut self.host, self.store.import_file(asked, CountingMode::Estimate));
        serde_json::from_str(&answer).expect("JSON")
    }

    /// The files of a session by their names in its folder.
    fn files(&self, id: &str) -> BTreeMap<String, Vec<u8>> {
        let folder = format!("session-{id}/");
        let of_session = |(path, (bytes, _)): (&String, &(Vec<u8>, i64))| {
            let (_, name) = path.split_once(&folder)?;
            Some((name.to_string(), bytes.clone()))
        };
        self.host.files.iter().filter_map(of_session).collect()
    }

    fn texts(&mut self, id: &str) -> Vec<String> {
        self.texts_of(id, r#"{"allBranches":true}"#)
    }

    fn texts_of(&mut self, id: &str, reading: &str) -> Vec<String> {
        let live = self.open(id);
        self.host.pages.clear();
        run_to_end(&mut self.host, live.unopened_copy().messages(reading.into()));
        let pages =
            self.host.pages.iter().map(|page| serde_json::from_str::<Vec<Value>>(page).expect("JSON"));
        let mut texts: Vec<String> =
            pages.flatten().map(|message| message["content"].as_str().expect("a text").into()).collect();
        texts.sort();
        texts
    }

    fn close(&mut self) {
        run_to_end(&mut self.host, self.store.close());
        self.store = Store::new(setup(None));
    }
}

/// A session with all that one may have: a revision, branches, a pin, a call and what it did, blobs, an unfinished line.
fn rich(machine: &mut Machine) -> String {
    let live = run_to_end(&mut machine.host, create(&machine.store, r#"{"title":"A plan","model":"gpt-5"}"#));
    let id = live.id();
    let call = json!({ "id": "c", "name": "bash", "arguments": "{\"command\":\"ls\"}" });
    let messages = json!([
        { "id": "u1", "role": "user", "content": "Hello" },
        { "id": "a1", "parentId": "u1", "role": "assistant", "content": "", "assistant": { "toolCalls": [call] } },
        { "id": "u2", "parentId": "u1", "role": "user", "content": "Hello, in another way" },
        { "id": "u3", "parentId": "a1", "role": "user", "content": "long ".repeat(60_000),
          "attachments": [{ "mime": "image/png", "data": "iVBORw0KGgo".repeat(8_000) }] },
        { "id": "u3", "rev": 1, "role": "user", "content": "long, said again" },
    ]);
    let appending = leftoff::operation::AppendRequest {
        drafts: leftoff::operation::Drafts::Json(messages.to_string(), None),
        ..drafts("")
    };
    run_to_end(&mut machine.host, live.append_messages(appending));
    let execution =
        json!({ "call": { "id": "c", "name": "bash" }, "result": { "content": "a.txt", "exitCode": 0 } });
    run_to_end(&mut machine.host, live.append_tool(execution.to_string(), CountingMode::Estimate));
    let said = r#"[{"type":"pin","messageId":"u1"},{"type":"archived"},{"type":"status","status":"paused"}]"#;
    run_to_end(&mut machine.host, live.record_changes(said.into()));
    machine.close();
    id
}

#[test]
fn a_session_that_comes_into_an_empty_store_has_the_same_bytes_and_comes_once() {
    for torn in ["", "{\"v\":1,\"id\":\"half"] {
        let mut one = Machine::new();
        let id = rich(&mut one);
        let log =
            one.host.files.keys().find(|path| path.ends_with("/messages.jsonl")).expect("a log").clone();
        one.host.append(&log, torn.as_bytes());
        let (before, file) = (one.files(&id), one.export(&id));
        assert!(before.keys().any(|name| name.starts_with("blobs/")) && before.contains_key("tools.jsonl"));
        let mut other = Machine::new();
        let imported = other.import(&file);
        assert_eq!(imported["problems"], json!([]));
        assert_eq!(imported["imported"][0]["id"], json!(id));
        assert_eq!(other.files(&id), before);
        let again = other.import(&file);
        assert_eq!(again["imported"][0]["added"], 0);
        assert_eq!(other.files(&id), before);
        assert_eq!(other.export(&id), file);
        assert_eq!(other.texts(&id), one.texts(&id));
        let transcript = Transcript::read(&file, PATH, None).expect("a session");
        let said: Vec<&str> = transcript.messages().iter().map(|message| message.content.as_str()).collect();
        let expected = one.texts_of(&id, "{}");
        assert_eq!(BTreeSet::from_iter(said), BTreeSet::from_iter(expected.iter().map(String::as_str)));
    }
}

#[test]
fn the_file_of_a_session_is_what_the_format_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/session-file/session.jsonl");
    let file = std::fs::read(path).expect("the fixture is there");
    let mut machine = Machine::new();
    let imported = machine.import(&file);
    let id = imported["imported"][0]["id"].as_str().expect("one").to_string();
    assert_eq!(imported["imported"][0]["messageCount"], 7);
    assert_eq!(imported["problems"], json!([]));
    assert_eq!(machine.export(&id), file);
    let transcript = Transcript::read(&file, PATH, None).expect("a session");
    let said: Vec<&str> = transcript.messages().iter().map(|message| &*message.id).collect();
    assert_eq!((said.len(), said[0], said[6]), (7, "u1", "u3"));
    assert_eq!(transcript.messages()[6].attachments[0].data.as_ref().map(|data| data.len()), Some(46_668));
}

#[test]
fn an_import_of_a_session_that_is_cut_off_at_any_need_is_made_good_by_the_next() {
    let mut one = Machine::new();
    let id = rich(&mut one);
    let (before, file) = (one.files(&id), one.export(&id));
    for befalls in [|| Meanwhile::Fails, || Meanwhile::Dropped] {
        for place in 0.. {
            let mut other = Machine::new();
            other.host.files.insert(PATH.into(), (file.clone(), 0));
            let asked = json!({ "path": PATH }).to_string();
            let mut has_befallen = false;
            let importing = other.store.import_file(asked, CountingMode::Estimate);
            other.host.drive(importing, |at| {
                has_befallen |= at == place;
                if at == place { befalls() } else { Meanwhile::Nothing }
            });
            if !has_befallen {
                break;
            }
            other.store = Store::new(setup(None));
            other.import(&file);
            let mut after = other.files(&id);
            // What it was cut off in may have left that behind.
            after.retain(|name, _| before.contains_key(name));
            assert_eq!(after, before, "step {place}");
        }
    }
}

#[test]
fn a_cut_file_brings_what_is_whole_and_says_that_it_was_cut() {
    let mut one = Machine::new();
    let id = rich(&mut one);
    let file = one.export(&id);
    let (whole, last) = (file.len(), file.iter().rposition(|byte| *byte == b'{').expect("a last line"));
    for cut in [last, last - 1, whole / 2, whole / 4] {
        let mut other = Machine::new();
        let imported = other.import(&file[..cut]);
        assert_eq!(imported["problems"][0]["path"], PATH, "{imported}");
        other.import(&file);
        assert_eq!(other.texts(&id), one.texts(&id));
    }
}

#[test]
fn a_secret_that_is_replaced_leaves_in_no_form_and_the_rest_arrives_sound() {
    let mut one = Machine::new();
    let live = run_to_end(&mut one.host, create(&one.store, r#"{"title":"A plan"}"#));
    let (id, long) = (live.id(), format!("{SECRET} {}", "words ".repeat(60_000)));
    for text in [&*format!("the key is {SECRET}"), "nothing", &*long] {
        one.say(&id, text);
    }
    let file = one.export_by(&id, RedactMode::Replace);
    let text = String::from_utf8(file.clone()).expect("UTF-8");
    assert!(!text.contains(SECRET));
    let mut other = Machine::new();
    assert_eq!(other.import(&file)["problems"], json!([]));
    assert_eq!(other.texts(&id).len(), 3);
    assert!(other.texts(&id).iter().any(|text| text.len() > 300_000));
    let live = other.open(&id);
    let examined = run_to_end(&mut other.host, live.unopened_copy().examine());
    assert!(examined.contains("\"health\":\"ok\""), "{examined}");
    other.say(&id, "and on");
    let back = other.export(&id);
    one.import(&back);
    // What stood there without a placeholder stands there still.
    assert!(one.texts(&id).contains(&format!("the key is {SECRET}")));
    assert_eq!(one.texts(&id).len(), 4);
}

#[test]
fn a_session_that_lies_elsewhere_by_now_gets_what_is_new_where_it_lies() {
    for to in ["home", "workspace"] {
        let mut one = Machine::new();
        let id = rich(&mut one);
        let file = one.export(&id);
        let mut other = Machine::other_machine();
        other.import(&file);
        if to == "workspace" {
            let live = other.open(&id);
            run_to_end(&mut other.host, other.store.move_to(&live, json!({ "to": to }).to_string()));
        }
        one.say(&id, "more of it");
        let file = one.export(&id);
        let imported = other.import(&file);
        assert_eq!(imported["imported"][0]["added"], 1, "{to}");
        assert_eq!(other.texts(&id), one.texts(&id), "{to}");
        assert_eq!(other.import(&file)["imported"][0]["added"], 0, "{to}");
        // And from a workspace into a home.
        let back = other.export(&id);
        let mut third = Machine::new();
        third.import(&back);
        assert_eq!(third.texts(&id), one.texts(&id), "{to}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn two_stores_that_exchange_a_session_both_have_what_both_said(
        acts in proptest::collection::vec((0..2usize, any::<bool>(), 0..3usize), 1..12),
    ) {
        let mut machines = [Machine::new(), Machine::other_machine()];
        let id = rich(&mut machines[0]);
        let file = machines[0].export(&id);
        machines[1].import(&file);
        for (place, (of, exchanges, count)) in acts.into_iter().enumerate() {
            for nth in 0..count {
                machines[of].say(&id, &format!("said {place} {nth}"));
            }
            if exchanges {
                let file = machines[of].export(&id);
                machines[1 - of].import(&file);
            }
        }
        for of in [0, 1] {
            let file = machines[of].export(&id);
            machines[1 - of].import(&file);
        }
        let [one, other] = &mut machines;
        prop_assert_eq!(one.texts(&id), other.texts(&id));
        let mut texts = one.texts(&id);
        texts.dedup();
        prop_assert_eq!(texts.len(), one.texts(&id).len());
        let file = one.export(&id);
        prop_assert_eq!(other.import(&file)["imported"][0]["added"].as_u64(), Some(0));
        one.say(&id, "and on");
        other.say(&id, "and on");
    }
}
