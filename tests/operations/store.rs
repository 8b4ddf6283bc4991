//! Operations of a store, driven by a host in memory.
//! Tries: src/operation/store/, src/operation/store/session_index.rs

use std::rc::Rc;

use super::host::{Host, Meanwhile, SECRET};
use super::{drafts, leaving};
use leftoff::layout::{Placement, SessionLocation};
use leftoff::operation::{HostRequest, Operation, SessionFiles, Setup, Step, Store};
use serde_json::json;

pub fn setup(workspace: Option<&str>) -> Setup {
    Setup {
        home: "/home/ann/.leftoff".into(),
        project: "/home/ann/code".into(),
        normal_project: "/home/ann/code".into(),
        workspace: workspace.map(String::from),
        user: "/home/ann".into(),
        idle_ms: i64::MAX,
        separator: "/".into(),
        redacts: false,
    }
}

/// As people call what lies there in its home.
pub fn home_path(folder: &str) -> String {
    format!("/home/ann/.leftoff/{folder}")
}

pub fn store() -> Rc<Store> {
    Store::new(setup(None))
}

pub fn run_to_end<T>(host: &mut Host, operation: Operation<'_, T>) -> T {
    host.drive(operation, |_| Meanwhile::Nothing).expect("driven").expect("done")
}

pub fn create(store: &Rc<Store>, request: &str) -> Operation<'static, Rc<SessionFiles>> {
    store.create(request.into())
}

/// The name of a session of the workspace.
const WORKSPACE_SESSION: &str = "two";

/// What another store has recorded in that one.
pub const RECORDING: &str = r#"{"at":{"path":"/home/ann/code/conversations/2027-01-15/two/.session","placement":"workspace"},"all":[],"beside":null}"#;

pub type Begins = fn(&Rc<Store>) -> Operation<'static, String>;

pub fn operations() -> Vec<(&'static str, Begins)> {
    vec![
        ("create", |store| create(store, r#"{"title":"A plan"}"#).map(|live| live.shown_folder())),
        ("create beside a conversation", |store| {
            create(store, r#"{"title":"A plan","placement":"workspace"}"#).map(|live| live.shown_folder())
        }),
        ("list", |store| store.list("{}".into())),
        ("list all by title", |store| store.list(r#"{"all":true,"type":null,"sort":"title"}"#.into())),
        ("list the first", |store| store.list(r#"{"limit":1}"#.into())),
        ("session", |store| store.session(WORKSPACE_SESSION.into()).map(|live| live.shown_folder())),
        ("current", |store| store.current().map(|live| live.expect("one").shown_folder())),
        ("go on", |store| store.go_on("{}".into()).map(|live| live.shown_folder())),
        ("recorded", |store| store.open_recorded(RECORDING.into()).map(|open| open.len().to_string())),
        ("rest", |store| store.pause_idle().map(|()| String::new())),
        ("close", |store| store.close().map(|()| String::new())),
        ("tidy", |store| {
            store
                .tidy(r#"{"maxSessionsPerProject":1,"autoArchiveAfterDays":30}"#.into())
                .map(|ids| ids.join(","))
        }),
        ("relocate", |store| {
            let elsewhere = || "/home/ann/elsewhere".to_string();
            store
                .relocate_project("/home/ann/code".into(), elsewhere(), elsewhere())
                .map(|count| count.to_string())
        }),
    ]
}

/// A store with a session of each placement, as another process left it.
pub fn begin_store() -> (Host, Rc<Store>) {
    let mut host = Host::default();
    for request in [
        r#"{"title":"One"}"#,
        r#"{"title":"Two","name":"two","placement":"workspace"}"#,
        r#"{"title":"Three"}"#,
    ] {
        run_to_end(&mut host, create(&store(), request));
    }
    (host, store())
}

/// Does something at each step of each operation, in a store of its own.
fn at_each_step(befalls: impl Fn() -> Meanwhile, mut then: impl FnMut(&mut Host, &Rc<Store>, &str)) {
    for (name, begins) in operations() {
        for place in 0.. {
            let (mut host, store) = begin_store();
            let mut has_befallen = false;
            host.drive(begins(&store), |at| {
                has_befallen |= at == place;
                if at == place { befalls() } else { Meanwhile::Nothing }
            });
            if !has_befallen {
                break;
            }
            then(&mut host, &store, &format!("{name}, step {place}"));
        }
    }
}

/// The store goes on: a new session is begun, and is the current one.
fn goes_on(host: &mut Host, store: &Rc<Store>, about: &str) {
    let live = run_to_end(host, create(store, r#"{"title":"another"}"#));
    let pointer = host.text(".leftoff/current-session.json");
    assert!(pointer.contains(&live.id()) && pointer.contains(&live.shown_folder()), "{about}: {pointer}");
    let listed = run_to_end(host, store.list(r#"{"archived":null}"#.into()));
    for title in ["One", "Two", "Three", "another"] {
        assert!(listed.contains(&format!("\"title\":\"{title}\"")), "{about}, {title}: {listed}");
    }
    let again = run_to_end(host, store.session(live.id()));
    assert!(Rc::ptr_eq(&again, &live), "{about}");
    let two = run_to_end(host, store.session(WORKSPACE_SESSION.into()));
    assert!(run_to_end(host, two.examine()).starts_with(r#"{"health":"ok""#), "{about}");
    let healthy = run_to_end(host, live.examine());
    assert!(healthy.starts_with(r#"{"health":"ok""#), "{about}: {healthy}");
}

#[test]
fn a_failure_at_each_need_ends_in_a_refusal_or_goes_on() {
    at_each_step(|| Meanwhile::Fails, goes_on);
}

#[test]
fn an_operation_that_is_dropped_at_any_step_loses_nothing() {
    at_each_step(|| Meanwhile::Dropped, goes_on);
}

#[test]
fn what_the_index_says_of_files_that_are_as_they_were_is_believed() {
    let (mut host, store) = begin_store();
    let list = |host: &mut Host| run_to_end(host, store.list(r#"{"all":true}"#.into()));
    let opened = list(&mut host);
    let known = list(&mut host);
    assert_eq!(opened, known);
    assert_eq!(opened.matches("\"id\"").count(), 3, "{opened}");
    let index = host.text("sessions/index.jsonl");
    assert_eq!(index.trim().lines().count(), 3, "{index}");
    // Nothing is read but the index.
    let mut read = Vec::new();
    let mut operation = store.list(r#"{"all":true}"#.into());
    let mut step = operation.begin(host.stamp());
    while let Step::Requests(needs) = step {
        read.extend(needs.iter().filter_map(|need| match need {
            HostRequest::Read { file, .. } => Some(file.path.clone()),
            _ => None,
        }));
        let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
        step = operation.next(host.now_ms(), answers);
    }
    assert!(read.iter().all(|path| !path.contains("session") || path.ends_with("index.jsonl")), "{read:?}");
}

#[test]
fn an_index_whose_lines_are_mostly_stale_is_written_anew_with_the_newest_of_each_path() {
    const INDEX: &str = "sessions/index.jsonl";
    let (mut host, before) = begin_store();
    run_to_end(&mut host, before.list("{}".into()));
    let stale = host.text(INDEX).lines().find(|line| !line.is_empty()).expect("a line").to_string();
    host.append(INDEX, format!("{stale}\n").repeat(1100).as_bytes());
    let two = run_to_end(&mut host, before.session(WORKSPACE_SESSION.into()));
    run_to_end(&mut host, two.append_messages(drafts("more")));
    let listed = run_to_end(&mut host, store().list("{}".into()));
    let index = host.text(INDEX);
    assert_eq!(index.lines().filter(|line| !line.is_empty()).count(), 3, "{index}");
    assert_eq!(run_to_end(&mut host, store().list("{}".into())), listed);
}

#[test]
fn a_list_is_of_what_its_files_say_whatever_comes_between() {
    for place in 0.. {
        let (mut host, store) = begin_store();
        run_to_end(&mut host, store.list("{}".into()));
        let log = host.files.keys().find(|path| path.contains("/session-") && path.ends_with("events.jsonl"));
        let log = log.expect("a log").clone();
        let line = b"{\"id\":\"by-another\",\"timestamp\":\"2027-01-16T00:00:00.000Z\",\"type\":\"title\",\"title\":\"By another\"}\n";
        let mut has_befallen = false;
        host.drive(store.list("{}".into()), |at| {
            has_befallen |= at == place;
            if at == place { Meanwhile::Others(log.clone(), line.to_vec()) } else { Meanwhile::Nothing }
        })
        .expect("driven")
        .expect("listed");
        let listed = run_to_end(&mut host, store.list("{}".into()));
        assert!(!has_befallen || listed.contains("By another"), "step {place}: {listed}");
        if !has_befallen {
            break;
        }
    }
}

#[test]
fn of_a_long_log_that_goes_on_a_list_reads_what_came_to_it() {
    let (mut host, store) = begin_store();
    let live = run_to_end(&mut host, create(&store, "{}"));
    let log = format!("{}/messages.jsonl", live.folder().path);
    let mut count = 0;
    let mut listed = |of: usize| {
        for _ in 0..of {
            count += 1;
            let said = "about the plan ".repeat(60);
            let line = json!({ "v": 1, "id": format!("m{count}"), "role": "user", "content": said });
            host.append(&log, format!("{line}\n").as_bytes());
        }
        let before = host.read;
        let list = run_to_end(&mut host, self::store().list("{}".into()));
        (list.matches("\"id\"").count(), host.read - before)
    };
    let [first, again, third, fourth] = [4000, 10, 10, 10].map(&mut listed);
    assert!(first.1 > 3_000_000 && again.1 > 3_000_000, "{first:?} {again:?}");
    assert!(third.1 < 100_000 && fourth.1 < 100_000, "{third:?} {fourth:?}");
}

#[test]
fn what_a_list_keeps_of_a_long_log_is_what_the_log_says_whenever_it_is_edited() {
    let edit = |host: &mut Host, log: &str| {
        let (bytes, _) = host.files.remove(log).expect("a log");
        let text = String::from_utf8(bytes).expect("UTF-8");
        host.append(log, text.replacen("\"id\":\"m1\"", "\"id\":\"m2\"", 1).as_bytes());
    };
    let listed = |host: &mut Host| run_to_end(host, store().list("{}".into()));
    for place in 0.. {
        let (mut host, store) = begin_store();
        let live = run_to_end(&mut host, create(&store, "{}"));
        let log = format!("{}/messages.jsonl", live.folder().path);
        run_to_end(&mut host, live.close());
        listed(&mut host);
        for nth in 1..400 {
            let said = "about the plan ".repeat(60);
            let line = json!({ "v": 1, "id": format!("m{nth}"), "role": "user", "content": said });
            host.append(&log, format!("{line}\n").as_bytes());
        }
        let mut has_befallen = false;
        let list = self::store().list("{}".into());
        let meanwhile = |host: &mut Host, at: usize| {
            if at == place {
                has_befallen = true;
                edit(host, &log);
            }
        };
        super::moved_sessions::drive(&mut host, list, meanwhile).expect("listed");
        let [then, again] = [(); 2].map(|()| listed(&mut host));
        host.files.retain(|path, _| !path.starts_with("cache/") && !path.ends_with("index.jsonl"));
        let truth = listed(&mut host);
        assert_eq!((&then, &again), (&truth, &truth), "step {place}");
        if !has_befallen {
            break;
        }
    }
}

#[test]
fn a_session_lies_in_the_home_or_beside_a_conversation_of_the_workspace() {
    let mut host = Host::default();
    let home = run_to_end(&mut host, create(&store(), "{}"));
    let hash = store().project_hash().to_string();
    assert_eq!(
        home.shown_folder(),
        format!("/home/ann/.leftoff/sessions/projects/{hash}/session-{}", home.id())
    );
    let store = Store::new(setup(Some("/work")));
    let request = r#"{"title":"A plan"}"#;
    for number in ["001", "002"] {
        let live = run_to_end(&mut host, create(&store, request));
        assert!(
            live.shown_folder().ends_with(&format!("/{number}-chat-a-plan/.session")),
            "{}",
            live.shown_folder()
        );
        assert!(live.shown_folder().starts_with("/work/conversations/"), "{}", live.shown_folder());
    }
    assert_eq!(host.text("workspaces.jsonl"), "{\"v\":1,\"root\":\"/work\"}\n");
}

#[test]
fn a_conversation_of_a_given_name_has_one_session() {
    let (mut host, store) = (Host::default(), store());
    let request = r#"{"name":"mine","placement":"workspace"}"#;
    run_to_end(&mut host, create(&store, request));
    let again = host.drive(create(&store, request), |_| Meanwhile::Nothing).expect("driven");
    assert_eq!(again.expect_err("it is taken").code(), "already_exists");
    let left: Vec<_> = host.files.keys().filter(|path| path.contains(".session-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_is_begun_where_another_process_deleted_one_is_the_one_that_is_open_there() {
    let (mut host, store) = (Host::default(), store());
    let request = r#"{"name":"mine","placement":"workspace"}"#;
    let gone = run_to_end(&mut host, create(&store, request));
    host.files.retain(|path, _| !path.contains("/mine/"));
    let live = run_to_end(&mut host, create(&store, request));
    let open = store.session_files(&live.shown_folder(), Placement::Workspace, "").expect("there");
    assert_eq!((open.id(), gone.id() == live.id()), (live.id(), false));
}

#[test]
fn of_copies_that_the_home_and_a_workspace_have_somebody_chooses() {
    let (mut host, store) = begin_store();
    let two = run_to_end(&mut host, store.session(WORKSPACE_SESSION.into()));
    run_to_end(&mut host, store.list("{}".into()));
    let (id, project) = (two.id(), store.project_hash().to_string());
    let copy = SessionLocation::Home { project, id: id.clone() }.folder().path;
    let files: Vec<_> = host
        .files
        .iter()
        .filter_map(|(path, file)| {
            Some((format!("{copy}{}", path.strip_prefix(&two.folder().path)?), file.clone()))
        })
        .collect();
    assert!(!files.is_empty());
    host.files.extend(files);
    let again = self::store();
    let refused = host.drive(again.session(id), |_| Meanwhile::Nothing).expect("driven");
    assert_eq!(refused.expect_err("two of them").code(), "ambiguous");
}

#[test]
fn what_a_list_tells_others_has_no_part_of_a_secret_that_a_title_was_cut_in() {
    let (mut host, store) = (Host::default(), store());
    let live = run_to_end(&mut host, create(&store, "{}"));
    let words = format!("https://example.org/{}/{SECRET}", "a".repeat(45));
    run_to_end(&mut host, live.append_messages(drafts(&words)));
    let part = &SECRET[..8];
    let listed = run_to_end(&mut host, store.list("{}".into()));
    assert!(listed.contains(part) && !listed.contains(SECRET), "{listed}");
    let out = run_to_end(&mut host, store.list_outgoing("{}".into(), &leaving()));
    assert!(out.contains("https://example.org/") && !out.contains(part), "{out}");
}

#[test]
fn a_repository_has_one_name_however_its_letters_are_written() {
    let remotes = ["https://example.org/a/bu\u{308}ro", "https://example.org/a/büro"];
    for remote in remotes {
        let mut host = Host::default();
        host.remote = Some(remote);
        let live = run_to_end(&mut host, create(&store(), "{}"));
        let session = live.session();
        let project = session.borrow().metadata().project.clone().expect("a project");
        assert_eq!(project.remote.as_deref(), Some("example.org/a/büro"));
    }
}

#[test]
fn what_is_no_plain_name_or_day_takes_no_place() {
    let (mut host, store) = (Host::default(), store());
    let live = run_to_end(&mut host, create(&store, "{}"));
    run_to_end(&mut host, live.close());
    let before: Vec<_> = host.files.keys().cloned().collect();
    for (about, code) in [
        (r#"{"to":"workspace","name":"../up"}"#, "invalid_id"),
        (r#"{"to":"workspace","name":"a/b"}"#, "invalid_id"),
        (r#"{"to":"workspace","name":"a","day":"../.."}"#, "invalid_request"),
        (r#"{"to":"workspace","name":7}"#, "invalid_request"),
        (r#"{"to":"cloud"}"#, "invalid_request"),
        ("{}", "invalid_request"),
    ] {
        let moving = store.move_to(&live, about.into());
        let refused = host.drive(moving, |_| Meanwhile::Nothing).expect("driven");
        assert_eq!(refused.expect_err(about).code(), code, "{about}");
    }
    assert_eq!(host.files.keys().cloned().collect::<Vec<_>>(), before);
}

#[test]
fn the_session_that_a_pointer_says_is_current_whatever_it_is_of() {
    let mut host = Host::default();
    let chat = run_to_end(&mut host, create(&store(), r#"{"title":"One"}"#));
    let other = run_to_end(&mut host, create(&store(), r#"{"title":"Two","type":"subagent"}"#));
    const POINTER: &str = ".leftoff/current-session.json";
    let pointer = host.text(POINTER);
    for live in [&other, &chat] {
        let [id, path] = if pointer.contains(&chat.id()) {
            [chat.id(), chat.shown_folder()]
        } else {
            [other.id(), other.shown_folder()]
        };
        let pointer = pointer.replace(&path, &live.shown_folder()).replace(&id, &live.id());
        host.files.remove(POINTER);
        host.append(POINTER, pointer.as_bytes());
        let current = run_to_end(&mut host, store().current()).expect("there is one");
        assert_eq!(current.id(), live.id());
    }
}
