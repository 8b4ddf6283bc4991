//! Opening sessions of a store: one for each folder, whoever asks meanwhile, and what whoever opens one hears.
//! Tries: src/operation/store/open_sessions.rs

use std::rc::Rc;

use super::host::{Host, Meanwhile};
use super::store::{RECORDING, begin_store, create, run_to_end, setup, store};
use leftoff::operation::{
    AppendRequest, CountingMode, Drafts, HostRequest, HostResponse, Operation, SessionFiles, Setup, Step,
    Store,
};
use serde_json::Value;

/// A store in which all rests at once.
fn resting() -> Rc<Store> {
    Store::new(Setup { idle_ms: 0, ..setup(None) })
}

fn codes(json: &str) -> Vec<String> {
    let told: Value = serde_json::from_str(json).expect("JSON");
    let code =
        |one: &Value| one["notice"]["code"].as_str().or(one["code"].as_str()).expect("a code").to_string();
    told.as_array().expect("an array").iter().map(code).collect()
}

/// Drives it as far as it wants the turn of a folder: what it asks then.
fn to_a_turn<T>(host: &mut Host, operation: &mut Operation<'_, T>) -> Vec<HostRequest> {
    let mut step = operation.begin(host.stamp());
    loop {
        let Step::Requests(needs) = step else { panic!("expected a turn to be asked for") };
        if needs.iter().any(|need| matches!(need, HostRequest::TakeTurn { .. })) {
            return needs;
        }
        step = answer_needs(host, operation, needs);
    }
}

fn answer_needs<T>(host: &mut Host, operation: &mut Operation<'_, T>, needs: Vec<HostRequest>) -> Step<T> {
    let answers: Vec<HostResponse> = needs.into_iter().map(|need| host.answer(need, false)).collect();
    operation.next(host.now_ms(), answers)
}

fn to_its_end<T>(host: &mut Host, operation: &mut Operation<'_, T>, needs: Vec<HostRequest>) -> T {
    let mut step = answer_needs(host, operation, needs);
    loop {
        step = match step {
            Step::Done(done) => return done.expect("done"),
            Step::Requests(needs) => answer_needs(host, operation, needs),
        };
    }
}

#[test]
fn who_waits_for_the_turn_of_a_folder_has_the_session_that_was_opened_meanwhile() {
    type Begins = fn(&Rc<Store>) -> Operation<'static, Rc<SessionFiles>>;
    let all: [Begins; 4] = [
        |store| store.session("two".into()),
        |store| store.current().map(|live| live.expect("one")),
        |store| store.go_on("{}".into()),
        |store| store.open_recorded(RECORDING.into()).map(|mut open| open.remove(0)),
    ];
    let (mut host, before) = begin_store();
    let two = run_to_end(&mut host, before.session("two".into()));
    run_to_end(&mut host, before.point_to(two.id(), two.shown_folder()));
    run_to_end(&mut host, before.close());
    for begins in all {
        for other in all {
            let store = store();
            let (mut first, mut second) = (begins(&store), other(&store));
            let (mine, theirs) = (to_a_turn(&mut host, &mut first), to_a_turn(&mut host, &mut second));
            let one = to_its_end(&mut host, &mut first, mine);
            let same = to_its_end(&mut host, &mut second, theirs);
            assert!(Rc::ptr_eq(&one, &same));
            assert_eq!(one.id(), two.id());
        }
    }
}

#[test]
fn who_goes_on_while_another_one_begins_goes_on_with_the_same() {
    let (mut host, store) = (Host::default(), store());
    let (mut first, mut second) = (store.go_on("{}".into()), store.go_on("{}".into()));
    let (mine, theirs) = (to_a_turn(&mut host, &mut first), to_a_turn(&mut host, &mut second));
    assert_eq!(mine, theirs);
    let one = to_its_end(&mut host, &mut first, mine);
    assert!(Rc::ptr_eq(&one, &to_its_end(&mut host, &mut second, theirs)));
}

#[test]
fn one_whose_folder_is_gone_is_open_no_longer_and_another_one_there_is_another() {
    let (mut host, store) = (Host::default(), store());
    let gone = run_to_end(&mut host, create(&store, r#"{"name":"mine","placement":"workspace"}"#));
    run_to_end(&mut host, gone.record_changes(r#"[{"type":"title","title":"Gone"}]"#.into()));
    host.files.retain(|path, _| !path.contains("/mine/"));
    let refused = host.drive_on(&mut store.session(gone.id()));
    assert_eq!(refused.expect_err("it is gone").code(), "not_found");
    assert!(!store.is_open(&gone));
    let there = run_to_end(&mut host, create(&self::store(), r#"{"name":"mine","placement":"workspace"}"#));
    let opened = run_to_end(&mut host, store.session("mine".into()));
    assert_eq!((opened.id(), opened.shown_folder()), (there.id(), gone.shown_folder()));
    // Who still has the one that is gone is not given what came into its place.
    let again = store
        .session_files(&gone.shown_folder(), gone.placement(), &gone.id())
        .expect("a session may lie there");
    assert!(!Rc::ptr_eq(&again, &opened) && store.is_open(&opened));
}

#[test]
fn the_same_session_where_it_lay_before_is_held_there_no_longer() {
    let (mut host, store) = begin_store();
    let here = run_to_end(&mut host, store.session("two".into()));
    run_to_end(&mut host, here.record_changes(r#"[{"type":"title","title":"Two"}]"#.into()));
    let moved: Vec<_> = host.files.keys().filter(|path| path.contains("/two/")).cloned().collect();
    for path in moved {
        let bytes = host.files.remove(&path).expect("there");
        host.files.insert(path.replace("/two/", "/three/"), bytes);
    }
    let lies = here.shown_folder().replace("/two/", "/three/");
    let there = run_to_end(&mut host, store.open(lies, here.placement()));
    assert_eq!((there.id(), store.is_open(&here), store.is_open(&there)), (here.id(), false, true));
}

#[test]
fn what_another_store_found_out_is_heard_by_who_has_the_session_open_or_opens_it_next() {
    let (mut host, store) = begin_store();
    let open = run_to_end(&mut host, store.session("two".into()));
    let beside = resting();
    run_to_end(&mut host, beside.list("{}".into()));
    let notices = beside.notices();
    assert_eq!(codes(&notices), vec!["auto_paused"; 3]);
    store.add_notices(&notices);
    assert_eq!(codes(&open.notices()), ["auto_paused"]);
    let one = run_to_end(&mut host, store.current()).expect("one");
    assert_eq!(codes(&one.notices()), ["auto_paused"]);
    assert_eq!((codes(&store.notices()), codes(&store.notices())), (vec!["auto_paused".into()], Vec::new()));
}

#[test]
fn one_that_cannot_be_closed_keeps_no_other_one_open() {
    let (mut host, store) = begin_store();
    let open = ["two", "One", "Three"].map(|title| {
        let listed: Value =
            serde_json::from_str(&run_to_end(&mut host, store.list("{}".into()))).expect("JSON");
        let titled = |one: &&Value| one["name"] == title || one["title"] == title;
        let one = listed.as_array().expect("an array").iter().find(titled).expect("one").clone();
        let live = run_to_end(&mut host, store.session(one["id"].as_str().expect("an id").into()));
        run_to_end(&mut host, live.record_changes(r#"[{"type":"summary","summary":"Of this."}]"#.into()));
        live
    });
    let mut has_failed = false;
    let closed = host.drive(store.close(), |place| {
        // Its turn is that of one which is open: who has it waits for nobody else's.
        assert!(place > 0 || open.iter().all(|live| store.is_open(live)));
        has_failed |= place == 1;
        if place == 1 { Meanwhile::Fails } else { Meanwhile::Nothing }
    });
    assert!(has_failed && closed.expect("driven").is_err());
    assert!(open.iter().all(|live| !store.is_open(live)));
    let left = host.files.keys().filter(|path| path.contains(".open/")).count();
    assert!(left <= 1, "{left}");
}

#[test]
fn why_one_that_rests_could_not_be_paused_is_told_and_no_failure() {
    let mut told = Vec::new();
    for place in 0.. {
        let (mut host, _) = begin_store();
        let store = resting();
        let live = run_to_end(&mut host, store.session("two".into()));
        let said = AppendRequest {
            drafts: Drafts::Json(r#"{"role":"user","content":"on"}"#.into(), None),
            is_durable: true,
            revives: true,
            counts: CountingMode::Estimate,
        };
        run_to_end(&mut host, live.append_messages(said));
        let mut has_befallen = false;
        host.drive(store.pause_idle(), |at| {
            has_befallen |= at == place;
            if at == place { Meanwhile::Fails } else { Meanwhile::Nothing }
        })
        .expect("driven")
        .expect("no failure");
        told.extend(codes(&live.notices()).pop());
        if !has_befallen {
            break;
        }
    }
    assert_eq!(told.last().map(String::as_str), Some("auto_paused"));
    assert!(told.contains(&"not_paused".to_string()), "{told:?}");
}
