//! Where a session pauses it is said where it stopped: by somebody, or by what it came to.
//! Tries: src/operation/session_events.rs, src/state/one_line_summary.rs

use std::rc::Rc;

use super::drafts;
use super::host::Host;
use super::store::{create, run_to_end, setup};
use leftoff::operation::{SessionFiles, Store};
use serde_json::{Value, json};

struct Scene {
    host: Host,
    store: Rc<Store>,
    live: Rc<SessionFiles>,
}

impl Scene {
    fn open_scene() -> Scene {
        let (mut host, store) = (Host::default(), Store::new(setup(Some("/work"))));
        let live = run_to_end(&mut host, create(&store, "{}"));
        Scene { host, store, live }
    }

    fn asks(&mut self, text: &str) {
        run_to_end(&mut self.host, self.live.append_messages(drafts(text)));
    }

    fn says(&mut self, asked: serde_json::Value) {
        run_to_end(&mut self.host, self.live.record_changes(asked.to_string()));
    }

    fn pauses(&mut self) -> Option<String> {
        self.says(json!([{ "type": "status", "status": "paused" }]));
        self.summary()
    }

    /// As its files have it, for whoever opens it next.
    fn summary(&mut self) -> Option<String> {
        let live = self
            .store
            .unopened_session_at(&self.live.shown_folder(), self.live.placement(), "")
            .expect("a place");
        run_to_end(&mut self.host, live.open());
        live.session().borrow().metadata().summary.clone()
    }

    fn events(&self) -> usize {
        self.host.text(&format!("{}/events.jsonl", self.live.folder().path)).lines().count()
    }
}

#[test]
fn where_nobody_says_it_the_end_is_what_was_said_last() {
    let mut scene = Scene::open_scene();
    assert_eq!(scene.pauses(), None, "nothing was said");
    scene.asks("Why does the login fail?");
    assert_eq!(scene.pauses().as_deref(), Some("Asked, and not answered yet: Why does the login fail?"));
}

#[test]
fn words_that_were_given_stay_and_what_came_since_stands_behind_them() {
    let mut scene = Scene::open_scene();
    scene.asks("Why does the login fail?");
    scene.says(json!([{ "type": "summary", "summary": "The cookie is at fault" }, { "type": "status", "status": "paused" }]));
    assert_eq!(scene.summary().as_deref(), Some("The cookie is at fault"));
    for _ in 0..2 {
        scene.asks("And the domain?");
        let since =
            "The cookie is at fault; since then: asked, and not answered yet: Why does the login fail?";
        assert_eq!(scene.pauses().as_deref(), Some(since));
    }
    scene.says(json!([{ "type": "summary", "summary": "Mended" }]));
    assert_eq!(scene.summary().as_deref(), Some("Mended"));
}

#[test]
fn nothing_is_summed_up_twice() {
    let mut scene = Scene::open_scene();
    scene.asks("Why does the login fail?");
    scene.pauses();
    let before = scene.events();
    scene.pauses();
    assert_eq!(scene.events(), before);
}

#[test]
fn what_a_message_said_before_it_was_said_anew_comes_back_by_no_document() {
    let mut scene = Scene::open_scene();
    scene.asks("Why does hunter2 fail?");
    assert!(scene.pauses().is_some_and(|text| text.contains("hunter2")));
    let folder = scene.live.folder().path;
    let line = scene.host.text(&format!("{folder}/messages.jsonl"));
    let mut message: Value = serde_json::from_str(line.lines().next().expect("a line")).expect("JSON");
    let fields = message.as_object_mut().expect("an object");
    fields.retain(|key, _| ["v", "id", "role"].contains(&key.as_str()));
    fields.extend([("rev".into(), json!(1)), ("content".into(), json!("Why does the login fail?"))]);
    scene.host.append(&format!("{folder}/messages.jsonl"), format!("{message}\n").as_bytes());
    let told = |scene: &Scene| scene.host.text(&format!("{folder}/events.jsonl")).matches("hunter2").count();
    let before = told(&scene);
    for _ in 0..2 {
        assert!(scene.summary().is_none_or(|text| !text.contains("hunter2")));
        scene.says(json!([{ "type": "title", "title": "The login" }]));
        assert_eq!(told(&scene), before, "nobody gave it");
        scene.asks("And the domain?");
    }
}
