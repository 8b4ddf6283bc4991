//! What was acknowledged stays, also where something was lost before.
//! Tries: src/operation/session_files.rs, src/operation/session_document.rs,
//! src/operation/store/relocation.rs

use super::drafts;
use super::host::Host;
use super::moves::other_placement;
use super::store::{create, run_to_end, setup};
use leftoff::layout::Placement;
use leftoff::operation::{SessionFiles, Store};
use serde_json::{Value, json};
use std::rc::Rc;

fn store() -> Rc<Store> {
    Store::new(setup(Some("/work")))
}

/// A session whose events are gone; its document is there.
fn without_events(placement: &str) -> (Host, Rc<SessionFiles>) {
    let mut host = Host::default();
    let request = json!({ "title": "A plan", "placement": placement });
    let live = run_to_end(&mut host, create(&store(), &request.to_string()));
    run_to_end(&mut host, live.append_messages(drafts("one")));
    run_to_end(&mut host, live.record_changes(r#"[{"type":"title","title":"Given"}]"#.into()));
    run_to_end(&mut host, live.close());
    host.files.remove(&format!("{}/events.jsonl", live.folder().path));
    let live = store().unopened_session_at(&live.shown_folder(), live.placement(), "").expect("a place");
    (host, live)
}

fn reopen(host: &mut Host, of: &SessionFiles) -> Rc<SessionFiles> {
    let live = store().unopened_session_at(&of.shown_folder(), of.placement(), "").expect("a place");
    run_to_end(host, live.open());
    live
}

#[test]
fn what_is_said_first_stays_though_the_events_were_lost_before() {
    for placement in ["home", "workspace"] {
        let (mut host, live) = without_events(placement);
        run_to_end(&mut host, live.record_changes(r#"[{"type":"title","title":"Another"}]"#.into()));
        let title = |live: &Rc<SessionFiles>| live.session().borrow().metadata().given_title.clone();
        for live in [live.clone(), reopen(&mut host, &live)] {
            assert_eq!(title(&live).as_deref(), Some("Another"), "{placement}");
        }
    }
}

#[test]
fn what_only_the_document_says_goes_along_with_a_move() {
    for placement in ["home", "workspace"] {
        let (mut host, live) = without_events(placement);
        run_to_end(&mut host, live.open());
        run_to_end(&mut host, store().move_to(&live, json!({ "to": other_placement(&live) }).to_string()));
        let listed: Value =
            serde_json::from_str(&run_to_end(&mut host, store().list(r#"{"all":true}"#.into())))
                .expect("JSON");
        assert_eq!(listed[0]["title"], json!("Given"), "{placement}: {listed}");
    }
}

#[test]
fn a_lease_is_given_back_though_nobody_knows_any_more_that_it_was_taken() {
    for then in ["nothing", "a look", "an append"] {
        let (mut host, live) = super::begin_session();
        assert_eq!(super::leases(&host), ["mine.json"]);
        // As where the core begins anew: the host has the same name for it.
        let again = SessionFiles::new(live.folder(), live.shown_folder(), super::live_cache(), &live.id());
        match then {
            "a look" => host.drive_on(&mut again.open()).map(drop).expect("opened"),
            "an append" => {
                host.drive_on(&mut again.append_messages(drafts("more"))).map(drop).expect("appended")
            }
            _ => {}
        }
        host.drive_on(&mut again.close()).expect("closed");
        assert_eq!(super::leases(&host), Vec::<&str>::new(), "{then}");
    }
}

#[test]
fn of_two_conversations_that_have_only_messages_left_each_is_found_by_an_id_of_its_own() {
    let mut host = Host::default();
    let mut all = std::collections::BTreeSet::new();
    for name in ["one", "two", "three"] {
        let folder = format!("conversations/2027-01-15/{name}/.session");
        let line = json!({ "v": 1, "id": name, "role": "user", "content": format!("about {name}") });
        host.append(&format!("{folder}/messages.jsonl"), format!("{line}\n").as_bytes());
        let live = store()
            .unopened_session_at(&format!("/work/{folder}"), Placement::Workspace, "")
            .expect("a session may lie there");
        run_to_end(&mut host, live.open());
        assert!(all.insert(live.id()), "{name}: {all:?}");
        let again = reopen(&mut host, &live);
        assert_eq!(again.id(), live.id(), "{name}");
    }
}

#[test]
fn a_folder_that_is_called_as_a_text_takes_no_heading_from_the_text_beside_it() {
    for beside in [None, Some("a.md/notes.txt"), Some("a.txt"), Some("zz.md")] {
        let mut host = Host::default();
        let conversation = "conversations/2027-01-15/one";
        let line = json!({ "v": 1, "id": "m", "role": "user", "content": "about something" });
        host.append(&format!("{conversation}/.session/messages.jsonl"), format!("{line}\n").as_bytes());
        host.append(&format!("{conversation}/plan.md"), b"# The plan\n");
        if let Some(beside) = beside {
            host.append(&format!("{conversation}/{beside}"), b"# Another\n");
        }
        let listed = run_to_end(&mut host, store().list(r#"{"all":true}"#.into()));
        assert!(listed.contains("\"title\":\"The plan\""), "{beside:?}: {listed}");
    }
}
