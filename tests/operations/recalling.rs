//! The index of what was said never says anything else than the logs do, whatever becomes of either.
//! Tries: src/operation/store/recall/, src/recall/index_file/

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use leftoff::layout::Placement;
use leftoff::operation::{
    CountingMode, Operation, OutgoingGate, OutgoingRedactor, RedactMode, SessionFiles, Store,
};
use serde_json::{Value, json};

use super::host::{Host, Meanwhile};
use super::store::{create, run_to_end, store};
use crate::chance::{Chance, scale_count, seed};

// None is another one's form, or stands in the filler.
const WORDS: [&str; 8] = ["walnut", "quartz", "zephyr", "juniper", "falcon", "mosaic", "velvet", "ginkgo"];

fn search(store: &Rc<Store>, question: &str, request: &str) -> Operation<'static, ()> {
    store.search(question.into(), request.into(), &OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off)))
}

fn search_in(store: &Rc<Store>, session: &str, question: &str) -> Operation<'static, ()> {
    let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off));
    store.search_in(session.into(), question.into(), "{}".into(), &leaving)
}

/// What was found: sessions, in order, and the ids of their messages.
pub(super) fn find_messages(
    host: &mut Host,
    store: &Rc<Store>,
    question: &str,
    request: &str,
) -> Vec<(String, Vec<String>)> {
    found_by(host, search(store, question, request))
}

pub(super) fn found_by(host: &mut Host, search: Operation<'_, ()>) -> Vec<(String, Vec<String>)> {
    host.pages.clear();
    run_to_end(host, search);
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for page in &host.pages {
        for hit in serde_json::from_str::<Vec<Value>>(page).expect("an array") {
            let session = hit["session"]["id"].as_str().expect("an id").to_string();
            if found.last().is_none_or(|(last, _)| *last != session) {
                found.push((session, Vec::new()));
            }
            // What stands beside a message that has the words may be what answers.
            let id = hit["id"].as_str().filter(|_| hit["found"] != "near").map(String::from);
            found.last_mut().expect("one is there").1.extend(id);
        }
    }
    found
}

pub(super) fn line(id: &str, rev: u64, content: &str) -> Vec<u8> {
    format!("{}\n", json!({"v": 1, "id": id, "role": "user", "rev": rev, "content": content})).into_bytes()
}

/// What a session recalls for its newest message, in a store that knows nothing of it yet.
pub(super) fn context(store: &Rc<Store>, live: &SessionFiles) -> Operation<'static, String> {
    let live = store
        .unopened_session_at(&live.shown_folder(), Placement::Home, &live.id())
        .expect("a session may lie there");
    let request = json!({"window": 1500, "reserve": 0, "encoding": "estimate-1"});
    live.context(json!({"request": request}).to_string(), CountingMode::Estimate)
}

pub(super) struct StoredSession {
    pub live: Rc<SessionFiles>,
    pub log: String,
    // What its messages say now, in their order.
    messages: Vec<(String, u64, String)>,
}

pub(super) struct World {
    pub host: Host,
    pub store: Rc<Store>,
    pub sessions: BTreeMap<String, StoredSession>,
    chance: Chance,
    count: u64,
    recall_count: u64,
}

impl World {
    pub fn new(seed: u64) -> World {
        let (host, store) = (Host::default(), store());
        World { host, store, sessions: BTreeMap::new(), chance: Chance::new(seed), count: 0, recall_count: 0 }
    }

    fn number_below(&mut self, most: usize) -> usize {
        self.chance.number_below(most)
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.number_below(WORDS.len())]
    }

    pub fn begin(&mut self) {
        self.count += 1;
        let request = json!({"title": format!("Number {}", self.count)}).to_string();
        let live = run_to_end(&mut self.host, create(&self.store, &request));
        let log = format!("{}/messages.jsonl", live.folder().path);
        self.sessions.insert(live.id(), StoredSession { live, log, messages: Vec::new() });
    }

    fn any_session(&mut self) -> Option<String> {
        let nth = self.number_below(self.sessions.len().max(1));
        self.sessions.keys().nth(nth).cloned()
    }

    pub fn write(&mut self, session: &str, id: &str, rev: u64, content: String) {
        let kept = self.sessions.get_mut(session).expect("it is there");
        self.host.append(&kept.log, &line(id, rev, &content));
        match kept.messages.iter_mut().find(|message| message.0 == id) {
            Some(message) if message.1 < rev => *message = (id.into(), rev, content),
            Some(_) => {}
            None => kept.messages.push((id.into(), rev, content)),
        }
    }

    fn append(&mut self) {
        let Some(session) = self.any_session() else { return };
        // Some are long enough for a file of the index, and many of them for several.
        let filler = "lorem ".repeat([1, 20, 3000, 12_000, 50_000][self.number_below(5)]);
        let (first, second) = (self.word(), self.word());
        self.count += 1;
        self.write(&session, &format!("m{}", self.count), 0, format!("{first} {filler} {second}"));
    }

    fn revise(&mut self) {
        let Some(session) = self.any_session() else { return };
        let messages = self.sessions[&session].messages.clone();
        if messages.is_empty() {
            return;
        }
        let (id, rev, _) = messages[self.number_below(messages.len())].clone();
        let word = self.word();
        self.write(&session, &id, rev + 1, format!("{word} again"));
    }

    // By an editor: it is written anew, with another word in the place of one.
    fn edit(&mut self) {
        let Some(session) = self.any_session() else { return };
        let (old, new) = (self.word(), self.word());
        let kept = self.sessions.get_mut(&session).expect("it is there");
        for (_, _, content) in &mut kept.messages {
            *content = content.replace(old, new);
        }
        let Some((bytes, _)) = self.host.files.get(&kept.log) else { return };
        // This host's files have no numbers of their own: what stands elsewhere now is seen all the same.
        let text = format!(" \n{}", String::from_utf8(bytes.clone()).expect("UTF-8").replace(old, new));
        let log = kept.log.clone();
        self.host.files.remove(&log);
        self.host.append(&log, text.as_bytes());
    }

    fn delete(&mut self) {
        let Some(session) = self.any_session() else { return };
        let kept = self.sessions.remove(&session).expect("it is there");
        run_to_end(&mut self.host, self.store.delete(&kept.live, true));
    }

    /// Whether some run has a word, or a part of one.
    pub fn has(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let has = |bytes: &[u8]| bytes.windows(word.len()).any(|here| here == word.as_bytes());
        self.runs().iter().any(|path| has(&self.host.files[path].0))
    }

    pub fn runs(&self) -> Vec<String> {
        self.host.files.keys().filter(|path| path.starts_with("cache/recall/")).cloned().collect()
    }

    fn damage(&mut self) {
        let runs = self.runs();
        if runs.is_empty() {
            return;
        }
        let path = &runs[self.number_below(runs.len())];
        let (kind, at) = (self.number_below(3), self.number_below(self.host.files[path].0.len()));
        match kind {
            0 => drop(self.host.files.remove(path)),
            1 => self.host.files.get_mut(path).expect("it is there").0.truncate(at),
            _ => self.host.files.get_mut(path).expect("it is there").0[at] ^= 1 << (at % 8),
        }
    }

    // Its process is killed while it searches, or the disk fails once.
    fn break_off(&mut self) {
        let (word, at, fails) = (self.word(), self.number_below(12), self.number_below(2) == 0);
        let breaks = |step: usize| match step == at {
            true if fails => Meanwhile::Fails,
            true => Meanwhile::Dropped,
            false => Meanwhile::Nothing,
        };
        match self.any_session().filter(|_| at % 2 == 0) {
            Some(session) => {
                let store = store();
                drop(self.host.drive(context(&store, &self.sessions[&session].live), breaks));
            }
            None => drop(self.host.drive(search(&store(), word, r#"{"all":true}"#), breaks)),
        }
    }

    // A context is the same whatever the index has, and quotes what is said now.
    fn check_context(&mut self, step: &str) {
        let Some(session) = self.any_session() else { return };
        let word = self.word();
        self.count += 1;
        self.write(&session, &format!("m{}", self.count), 0, format!("What about the {word}?"));
        let live = self.sessions[&session].live.clone();
        let asked = |host: &mut Host| {
            let store = store();
            run_to_end(host, context(&store, &live))
        };
        let [first, again] = [(); 2].map(|()| asked(&mut self.host));
        let runs: Vec<_> =
            self.runs().into_iter().filter_map(|path| self.host.files.remove_entry(&path)).collect();
        let without = asked(&mut self.host);
        // Of a store that is gone nobody has an index: the log is read.
        let read = run_to_end(&mut self.host, context(&store(), &live));
        self.host.files.retain(|path, _| !path.starts_with("cache/recall/"));
        self.host.files.extend(runs);
        let recalled = |context: &str| {
            let context: Value = serde_json::from_str(context).expect("an object");
            (context["messages"].clone(), context["report"]["recall"].clone())
        };
        let (messages, recall) = recalled(&first);
        assert_eq!(recalled(&again), (messages.clone(), recall.clone()), "{word} after {step}");
        assert_eq!(recalled(&without), (messages.clone(), recall.clone()), "{word}, no index, after {step}");
        assert_eq!(recalled(&read), (messages, recall.clone()), "{word}, by reading, after {step}");
        for quoted in recall["messages"].as_array().into_iter().flatten() {
            self.recall_count += 1;
            let said = &self.sessions[&session].messages;
            let message = said.iter().find(|message| Some(&*message.0) == quoted["id"].as_str());
            let has = message.is_some_and(|message| message.2.contains(word));
            assert!(has || quoted["words"] == json!([]), "{quoted} after {step}");
        }
    }

    fn check(&mut self, step: &str) {
        let word = self.word();
        // Another process knows nothing of what this one has in memory.
        let asked = if self.number_below(2) == 0 { self.store.clone() } else { store() };
        let found = find_messages(&mut self.host, &asked, word, r#"{"all":true}"#);
        let sessions: BTreeSet<&String> = found.iter().map(|(session, _)| session).collect();
        let has = |kept: &StoredSession| kept.messages.iter().any(|(_, _, content)| content.contains(word));
        let expected: BTreeSet<&String> =
            self.sessions.iter().filter(|(_, kept)| has(kept)).map(|(id, _)| id).collect();
        assert_eq!(sessions, expected, "{word} after {step}");
        let alone = self.any_session().into_iter().flat_map(|session| {
            let found = found_by(&mut self.host, search_in(&asked, &session, word));
            assert_eq!(!found.is_empty(), has(&self.sessions[&session]), "{word} in {session} after {step}");
            assert!(found.iter().all(|(id, _)| *id == session), "{found:?} after {step}");
            found
        });
        let alone: Vec<_> = alone.collect();
        for (session, messages) in found.iter().chain(&alone) {
            for id in messages {
                let message = self.sessions[session].messages.iter().find(|message| message.0 == *id);
                assert!(
                    message.is_some_and(|message| message.2.contains(word)),
                    "{word} in {id} after {step}"
                );
            }
        }
    }
}

#[test]
fn whatever_becomes_of_logs_and_index_what_is_said_is_found_and_nothing_else() {
    for nth in 0..scale_count(300, 6) {
        let mut world = World::new(seed() + nth as u64);
        for _ in 0..3 {
            world.begin();
        }
        for _ in 0..60 {
            let step = world.number_below(20);
            let name = match step {
                0 => {
                    world.begin();
                    "a session was begun"
                }
                1 | 2 => {
                    world.revise();
                    "a message was written again"
                }
                3 => {
                    world.edit();
                    "an editor"
                }
                4 => {
                    world.delete();
                    "a session was deleted"
                }
                5 | 6 => {
                    world.damage();
                    "damage"
                }
                7 => {
                    world.break_off();
                    "a search was broken off"
                }
                _ => {
                    world.append();
                    "an append"
                }
            };
            world.check(name);
            if world.number_below(4) == 0 {
                world.check_context(name);
            }
        }
        assert!(world.recall_count > 0, "something is recalled");
        assert!(world.runs().len() < 16, "{:?}", world.runs());
    }
}

#[test]
fn a_damaged_index_that_cannot_be_taken_away_costs_no_answer() {
    let mut world = World::new(1);
    world.begin();
    world.begin();
    let sessions: Vec<String> = world.sessions.keys().cloned().collect();
    for session in &sessions {
        world.write(session, "a", 0, format!("a walnut and {}", "lorem ".repeat(12_000)));
    }
    let asked = |world: &mut World| find_messages(&mut world.host, &store(), "walnut", r#"{"all":true}"#);
    let expected = asked(&mut world);
    assert_eq!(expected.len(), 2);
    world.host.is_read_only = true;
    for path in world.runs() {
        let length = world.host.files[&path].0.len();
        for at in (0..length).step_by(length / 40) {
            let before = world.host.files[&path].clone();
            world.host.files.get_mut(&path).expect("it is there").0[at] ^= 0x55;
            assert_eq!(asked(&mut world), expected, "byte {at} of {length}");
            world.host.files.insert(path.clone(), before);
        }
    }
}

#[test]
fn what_is_gone_from_the_logs_is_gone_from_the_index() {
    let mut world = World::new(1);
    world.begin();
    world.begin();
    let sessions: Vec<String> = world.sessions.keys().cloned().collect();
    for (nth, session) in sessions.iter().enumerate() {
        world.write(session, "a", 0, format!("xylophone{nth} {}", "lorem ".repeat(12_000)));
    }
    find_messages(&mut world.host, &world.store, "lorem", r#"{"all":true}"#);
    assert!(world.has("xylophone0"), "{:?}", world.runs());
    let kept = world.sessions.remove(&sessions[0]).expect("it is there");
    run_to_end(&mut world.host, world.store.delete(&kept.live, true));
    find_messages(&mut world.host, &world.store, "lorem", r#"{"all":true}"#);
    assert!(!world.has("xylophone0") && world.has("xylophone1"), "{:?}", world.runs());
    let log = world.sessions[&sessions[1]].log.clone();
    let text = world.host.text(&log).replace("xylophone1", "clarinet10");
    world.host.files.remove(&log);
    world.host.append(&log, text.as_bytes());
    find_messages(&mut world.host, &world.store, "lorem", r#"{"all":true}"#);
    assert!(!world.has("xylophone") && world.has("clarinet10"));
}

#[test]
fn a_single_word_is_found_wherever_it_was_said_or_shown() {
    let mut world = World::new(1);
    world.begin();
    let session = world.sessions.keys().next().cloned().expect("one was begun");
    let log = world.sessions[&session].log.clone();
    for nth in 0..20 {
        world.write(&session, &format!("u{nth}"), 0, format!("a walnut, {nth}"));
    }
    let call = json!({"v": 1, "id": "call", "role": "assistant", "content": "", "assistant": {"toolCalls": [{"id": "c", "name": "Read", "arguments": "{}"}]}});
    let shown = json!({"v": 1, "id": "shown", "role": "tool", "content": format!("{} walnut {}", "lorem ".repeat(200), "ipsum ".repeat(200)), "tool": {"callId": "c", "name": "Read"}});
    world.host.append(&log, format!("{call}\n{shown}\n").as_bytes());
    let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off));
    let request = r#"{"limit":100}"#.to_string();
    let found = found_by(&mut world.host, world.store.search_in(session, "walnut".into(), request, &leaving));
    let ids: Vec<String> = found.into_iter().flat_map(|(_, ids)| ids).collect();
    assert_eq!(ids.len(), 21, "{ids:?}");
}

#[test]
fn a_word_that_very_many_messages_have_is_found_where_nothing_rarer_answers() {
    let mut world = World::new(1);
    world.begin();
    let session = world.sessions.keys().next().cloned().expect("one was begun");
    let log = world.sessions[&session].log.clone();
    let mut lines = Vec::new();
    for nth in 0..5000 {
        let said = json!({"v": 1, "id": format!("a{nth}"), "role": "assistant", "content": format!("about the walnut, {nth}")});
        lines.extend(format!("{said}\n").into_bytes());
    }
    lines.extend(line("u", 0, "a walnut and a zephyr"));
    world.host.append(&log, &lines);
    let mut ids = |request: &str| {
        let found = find_messages(&mut world.host, &world.store, "walnut zephyr", request);
        found.into_iter().flat_map(|(_, ids)| ids).collect::<Vec<_>>()
    };
    assert_eq!(ids(r#"{"all":true}"#)[0], "u");
    let of_assistant = ids(r#"{"all":true,"role":"assistant"}"#);
    assert!(
        !of_assistant.is_empty() && of_assistant.iter().all(|id| id.starts_with('a')),
        "{of_assistant:?}"
    );
}

#[test]
fn to_search_one_session_costs_no_more_for_those_beside_it() {
    let asked = |others: usize| {
        let mut world = World::new(1);
        world.begin();
        let session = world.sessions.keys().next().cloned().expect("one was begun");
        (0..others).for_each(|_| world.begin());
        let sessions: Vec<String> = world.sessions.keys().cloned().collect();
        for (nth, session) in sessions.iter().enumerate() {
            world.write(session, &format!("m{nth}"), 0, format!("a walnut {}", "lorem ".repeat(12_000)));
        }
        for _ in 0..2 {
            assert_eq!(
                find_messages(&mut world.host, &world.store, "walnut", r#"{"all":true}"#).len(),
                1 + others
            );
        }
        let before = world.host.request_count;
        assert_eq!(found_by(&mut world.host, search_in(&world.store, &session, "walnut")).len(), 1);
        world.host.request_count - before
    };
    assert_eq!(asked(40), asked(0));
}
