//! What a model is told at the turns of a conversation that a client holds.
//! Tries: src/operation/store/turns.rs

use std::rc::Rc;

use leftoff::operation::{HostRequest, OutgoingGate, OutgoingRedactor, RedactMode, Step, Store};
use leftoff::tokens::Vocabulary;
use serde_json::{Value, json};

use super::drafts;
use super::host::Host;
use super::store::{create, run_to_end, store};

const QUESTION: &str = "On which port does the zephyr gateway listen?";

struct Client {
    host: Host,
    store: Rc<Store>,
}

impl Client {
    /// Of a store in which a session has the answer.
    fn new(recall: &str) -> Client {
        let (mut host, store) = (Host::default(), store());
        host.vocabulary = Some(Rc::new(Vocabulary::o200k_base()));
        host.append("settings.json", json!({ "recall": recall }).to_string().as_bytes());
        let live = run_to_end(&mut host, create(&store, r#"{"title":"Ports"}"#));
        run_to_end(&mut host, live.append_messages(drafts("The zephyr gateway listens on port 7443.")));
        Client { host, store }
    }

    fn turn(&mut self, conversation: &str, request: &Value) -> Value {
        let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off));
        let turn = self.store.turn(conversation.into(), request.to_string(), &leaving);
        serde_json::from_str(&run_to_end(&mut self.host, turn)).expect("JSON")
    }

    fn is_told(&mut self, conversation: &str, prompt: &str) -> bool {
        let told = self.turn(conversation, &json!({ "prompt": prompt }));
        told["recalled"].as_str().expect("a text").contains("7443")
    }
}

#[test]
fn what_was_told_is_not_told_again_before_the_client_has_forgotten_it() {
    let mut client = Client::new("prompt");
    assert!(client.is_told("a", QUESTION));
    assert!(!client.is_told("a", QUESTION));
    assert!(client.is_told("b", QUESTION), "another conversation");
    client.turn("a", &json!({ "hasForgotten": true }));
    assert!(client.is_told("a", QUESTION));
    assert!(!client.is_told("a", QUESTION));
}

#[test]
fn a_command_of_the_client_and_a_word_that_wants_to_stop_ask_nothing() {
    let mut client = Client::new("prompt");
    for prompt in ["/zephyr gateway port", "  !zephyr gateway port", "let's call it a day", "go on"] {
        assert!(!client.is_told("a", prompt), "{prompt}");
    }
    assert!(client.is_told("a", QUESTION));
}

#[test]
fn by_its_setting_it_is_told_at_the_start_alone_or_never() {
    let mut client = Client::new("session");
    assert!(client.is_told("a", QUESTION));
    assert!(!client.is_told("a", "Which gateway is it that listens there, the zephyr one?"));
    assert!(!Client::new("off").is_told("a", QUESTION));
}

#[test]
fn what_a_line_of_others_has_is_told_no_more_and_what_a_torn_one_has_is() {
    let mut client = Client::new("prompt");
    assert!(client.is_told("a", QUESTION));
    let told = client.host.files.keys().find(|path| path.contains("told-")).expect("it is kept").clone();
    let lines = client.host.text(&told);
    client.host.files.remove(&told);
    client.host.append(&told, format!("[\"torn{}", lines).as_bytes());
    assert!(!client.is_told("a", QUESTION), "a line behind a torn one counts");
    client.host.files.remove(&told);
    client.host.append(&told, lines.trim().strip_suffix(']').expect("an array").as_bytes());
    assert!(client.is_told("a", QUESTION), "a torn one says nothing");
    assert!(!client.is_told("a", QUESTION), "and spoils none that comes behind it");
}

#[test]
fn a_save_is_offered_once_after_forty_turns_without_one() {
    let mut client = Client::new("off");
    let live = run_to_end(&mut client.host, create(&client.store, "{}"));
    let id = live.id();
    let offers = |client: &mut Client, turns: u64| -> Vec<u64> {
        let request = json!({ "prompt": "go on", "session": id });
        let is_offered = |client: &mut Client| client.turn("a", &request)["offersSave"] == true;
        (1..=turns).filter(|_| is_offered(client)).collect()
    };
    assert_eq!(offers(&mut client, 100), [40]);
    assert_eq!(client.turn("a", &json!({ "session": id }))["offersSave"], false, "nothing was typed");
    let paused = r#"[{"type":"status","status":"paused"}]"#;
    run_to_end(&mut client.host, live.record_changes(paused.into()));
    assert_eq!(offers(&mut client, 100), [40], "it was saved meanwhile");
    let gone = client.turn("a", &json!({ "prompt": "go on", "session": "nobody" }));
    assert_eq!(gone["offersSave"], false);
}

#[test]
fn of_two_that_tell_something_at_the_same_time_the_second_tells_what_the_first_has_not() {
    for (mode, id, is_told) in
        [("prompt", None, false), ("prompt", Some("another"), true), ("session", Some("another"), false)]
    {
        let mut client = Client::new(mode);
        let said = client.host.files.iter().find(|(path, _)| path.ends_with("/messages.jsonl"));
        let said = said.map(|(_, (bytes, _))| String::from_utf8_lossy(bytes).into_owned()).expect("a log");
        let own: Value = serde_json::from_str(said.lines().next().expect("a line")).expect("JSON");
        let line = json!([id.map_or_else(|| own["id"].clone(), |id| json!(id))]).to_string() + "\n";
        let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off));
        let mut turn = client.store.turn("a".into(), json!({ "prompt": QUESTION }).to_string(), &leaving);
        let (mut step, mut is_first) = (turn.begin(client.host.stamp()), true);
        let told = loop {
            let needs = match step {
                Step::Done(done) => break done.expect("told"),
                Step::Requests(needs) => needs,
            };
            let is_claim = |need: &HostRequest| matches!(need, HostRequest::Append { file, .. } if file.path.contains("told-"));
            if let Some(HostRequest::Append { file, .. }) =
                needs.iter().find(|need| is_first && is_claim(need))
            {
                client.host.append(&file.path, line.as_bytes());
                is_first = false;
            }
            let answers = needs.into_iter().map(|need| client.host.answer(need, false)).collect();
            step = turn.next(client.host.now_ms(), answers);
        };
        assert_eq!((told.contains("7443"), is_first), (is_told, false), "{mode} {id:?}: {told}");
    }
}

#[test]
fn where_a_quote_was_cut_it_is_marked_and_nowhere_else() {
    let filling = "Somebody talked of weather, gardens and bread. ".repeat(60);
    let fact = "The zephyr gateway listens on port 7443.";
    for (before, behind) in [(false, false), (true, false), (false, true), (true, true)] {
        let (mut host, store) = (Host::default(), store());
        host.vocabulary = Some(Rc::new(Vocabulary::o200k_base()));
        host.append("settings.json", json!({ "recall": "prompt" }).to_string().as_bytes());
        let live = run_to_end(&mut host, create(&store, r#"{"title":"Ports"}"#));
        let around = |is_there: bool| if is_there { filling.as_str() } else { "" };
        let text = format!("{}{fact} {}", around(before), around(behind));
        run_to_end(&mut host, live.append_messages(drafts(text.trim())));
        let mut client = Client { host, store };
        let told = client.turn("a", &json!({ "prompt": QUESTION }));
        let told = told["recalled"].as_str().expect("a text");
        let at = told.find("7443").expect("it is told");
        let is_marked = [told[..at].contains("[...]"), told[at..].contains("[...]")];
        assert_eq!(is_marked, [before, behind], "{told}");
    }
}

/// What a client is told of a session that has these messages, asked for the port.
fn told_of(messages: &[(&str, &str)]) -> String {
    let (mut host, store) = (Host::default(), store());
    host.vocabulary = Some(Rc::new(Vocabulary::o200k_base()));
    host.append("settings.json", json!({ "recall": "prompt" }).to_string().as_bytes());
    let live = run_to_end(&mut host, create(&store, r#"{"title":"Ports"}"#));
    for (number, (role, content)) in messages.iter().enumerate() {
        let line = json!({ "v": 1, "id": format!("m{number}"), "role": role, "content": content });
        host.append(&format!("{}/messages.jsonl", live.folder().path), format!("{line}\n").as_bytes());
    }
    let mut client = Client { host, store };
    let told = client.turn("a", &json!({ "prompt": QUESTION }));
    told["recalled"].as_str().expect("a text").into()
}

#[test]
fn a_question_is_told_with_what_has_most_of_its_words_of_what_was_said_next() {
    let answer = ("assistant", "The zephyr gateway listens on port 7443.");
    let others = [("assistant", "Let me look into that."), ("assistant", "Is there anything else?")];
    for place in 0..=others.len() {
        let mut said = others.to_vec();
        said.insert(place, answer);
        let all = [&[("user", "On which port does the zephyr gateway listen?")], &said[..]].concat();
        let told = told_of(&all);
        assert!(told.contains("7443") && !told.contains("anything else"), "{place}: {told}");
    }
}

#[test]
fn what_asks_nothing_is_told_without_what_was_said_next() {
    for speaker in ["user", "assistant"] {
        let fact = (speaker, "The zephyr gateway listens on port 7443.");
        let told = told_of(&[fact, ("assistant", "I have written that down, thank you.")]);
        assert!(told.contains("7443") && !told.contains("written that down"), "{speaker}: {told}");
    }
}

#[test]
fn who_saved_by_hand_has_saved() {
    let mut client = Client::new("off");
    let live = run_to_end(&mut client.host, create(&client.store, "{}"));
    let request = json!({ "prompt": "go on", "session": live.id() });
    let is_offered = |client: &mut Client| client.turn("a", &request)["offersSave"] == true;
    assert!((1..40).all(|_| !is_offered(&mut client)));
    let path = format!("{}/metadata.json", live.folder().path);
    let document = client.host.text(&path).replace("\"lifecycle\": \"active\"", "\"lifecycle\": \"paused\"");
    client.host.files.remove(&path);
    client.host.append(&path, document.as_bytes());
    run_to_end(&mut client.host, client.store.pause_idle());
    let live = run_to_end(&mut client.host, client.store.session(live.id()));
    run_to_end(&mut client.host, live.record_changes(r#"[{"type":"title","title":"Ports"}]"#.into()));
    assert!((1..40).all(|_| !is_offered(&mut client)), "it was saved meanwhile");
    assert!(is_offered(&mut client));
}

#[test]
fn what_has_half_of_a_question_is_not_told_beside_what_has_all_of_it() {
    let words = ["zephyr", "gateway", "port", "listen"];
    for (first, second) in (0..4).flat_map(|first| (first..4).map(move |second| (first, second))) {
        let mut client = Client::new("prompt");
        let live = run_to_end(&mut client.host, create(&client.store, r#"{"title":"Weather"}"#));
        let few = format!("Somebody spoke of a {} and a {}", words[first], words[second]);
        let few = format!("{few} that day, and of weather, gardens, bread and of much else besides.");
        run_to_end(&mut client.host, live.append_messages(drafts(&few)));
        let told = client.turn("a", &json!({ "prompt": QUESTION }));
        let told = told["recalled"].as_str().expect("a text");
        assert!(told.contains("7443") && !told.contains("Somebody"), "{few}: {told}");
    }
}
