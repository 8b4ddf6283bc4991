//! Whatever was asked before, in any order, a context recalls the same.
//! Tries: src/operation/context_recall.rs, src/operation/store/recall/context_shortlist.rs

use std::rc::Rc;

use leftoff::layout::Placement;
use leftoff::operation::{CountingMode, OutgoingGate, OutgoingRedactor, RedactMode, SessionFiles, Store};
use serde_json::{Value, json};

use super::host::Host;
use super::recalling::{find_messages, found_by, line};
use super::store::{create, run_to_end, setup, store};
use crate::chance::{Chance, scale_count, seed};

// Longer than what one read of a context has.
const LONG_LOG_BYTES: usize = 3 << 20;
const FILLER_BYTES: usize = 6000;

struct Talk {
    host: Host,
    store: Rc<Store>,
    live: Rc<SessionFiles>,
    chance: Chance,
    count: usize,
    redacts: bool,
}

impl Talk {
    /// A long one, whose first messages hold a fact, and one in its middle.
    fn new(seed: u64) -> Talk {
        let mut host = Host::default();
        let live = run_to_end(&mut host, create(&store(), r#"{"title":"A plan"}"#));
        let mut chance = Chance::new(seed);
        // What was written just now may be changed again without being seen.
        host.is_fresh = chance.number_below(2) == 0;
        let redacts = chance.number_below(4) == 0;
        let mut talk = Talk { host, store: store(), live, chance, count: 0, redacts };
        talk.reopen();
        talk.say("Hello");
        talk.say("The walnut is in the cellar.");
        talk.fill(LONG_LOG_BYTES / 2);
        talk.say("The zephyr is in the attic.");
        talk.fill(LONG_LOG_BYTES / 2);
        talk
    }

    fn new_store(&self) -> Rc<Store> {
        let mut setup = setup(None);
        setup.redacts = self.redacts;
        Store::new(setup)
    }

    fn log(&self) -> String {
        format!("{}/messages.jsonl", self.live.folder().path)
    }

    fn say(&mut self, content: &str) {
        self.count += 1;
        let line = line(&format!("m{}", self.count), 0, content);
        let log = self.log();
        self.host.append(&log, &line);
    }

    fn fill(&mut self, bytes: usize) {
        let filler = "lorem ".repeat(FILLER_BYTES / 6);
        (0..bytes / FILLER_BYTES).for_each(|_| self.say(&filler));
    }

    fn context(&mut self, store: &Rc<Store>) -> Value {
        let live = store
            .unopened_session_at(&self.live.shown_folder(), Placement::Home, &self.live.id())
            .expect("it may lie there");
        let request = json!({"window": 1500, "reserve": 0, "encoding": "estimate-1"});
        let asked = live.context(json!({ "request": request }).to_string(), CountingMode::Estimate);
        let context: Value = serde_json::from_str(&run_to_end(&mut self.host, asked)).expect("JSON");
        json!([context["messages"], context["report"]["recall"]])
    }

    fn reopen(&mut self) {
        self.store = self.new_store();
        let opening = self.store.session(self.live.id());
        self.live = run_to_end(&mut self.host, opening);
    }

    fn step(&mut self) -> &'static str {
        match self.chance.number_below(7) {
            0 => {
                let bytes = [0, 100_000, LONG_LOG_BYTES][self.chance.number_below(3)];
                self.fill(bytes);
                "an append"
            }
            1 => {
                self.say("Where is the zephyr?");
                let store = self.store.clone();
                self.context(&store);
                "a context"
            }
            2 => {
                self.say("Where is the walnut?");
                "a question"
            }
            3 if !self.redacts => {
                find_messages(&mut self.host, &self.store, "cellar", "{}");
                "a search of the store"
            }
            4 if !self.redacts => {
                let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off));
                let search = self.store.search_in(self.live.id(), "cellar".into(), "{}".into(), &leaving);
                found_by(&mut self.host, search);
                "a search of the session"
            }
            5 => {
                let forking =
                    self.store.fork_released(self.live.clone(), "{}".into(), CountingMode::Estimate);
                self.live = run_to_end(&mut self.host, forking);
                "a fork"
            }
            _ => {
                self.reopen();
                "another process"
            }
        }
    }
}

#[test]
fn whatever_was_asked_before_in_any_order_a_context_recalls_the_same() {
    for nth in 0..scale_count(200, 12) {
        let mut talk = Talk::new(seed() + nth as u64);
        let mut steps = Vec::new();
        for _ in 0..talk.chance.number_below(6) {
            steps.push(talk.step());
        }
        let (asked, fact) =
            [("walnut", "in the cellar"), ("zephyr", "in the attic")][talk.chance.number_below(2)];
        talk.say(&format!("Where is the {asked}?"));
        for _ in 0..talk.chance.number_below(2) {
            steps.push(talk.step());
        }
        talk.say(&format!("Now, where is the {asked}?"));
        if talk.chance.number_below(2) == 0 && !talk.redacts {
            find_messages(&mut talk.host, &talk.store, "cellar", "{}");
            steps.push("a search behind the question");
        }
        let store = talk.store.clone();
        let recalled = talk.context(&store);
        let how = format!("seed {nth}, fresh {}, redacts {}: {steps:?}", talk.host.is_fresh, talk.redacts);
        assert!(recalled.to_string().contains(fact), "{fact} in {recalled} after {how}");
        talk.host.files.retain(|path, _| !path.starts_with("cache/recall/"));
        let store = talk.new_store();
        assert_eq!(talk.context(&store), recalled, "without an index, after {how}");
    }
}

#[test]
fn the_first_question_of_a_long_session_that_nobody_searched_recalls_its_beginning_and_indexes_it() {
    let mut talk = Talk::new(1);
    talk.redacts = false;
    talk.fill(LONG_LOG_BYTES);
    talk.say("Where is the walnut?");
    for _ in 0..2 {
        let store = talk.new_store();
        assert!(talk.context(&store).to_string().contains("in the cellar"));
        assert_eq!(talk.host.files.keys().filter(|path| path.starts_with("cache/recall/")).count(), 1);
    }
}
