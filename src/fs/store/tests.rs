use tempfile::TempDir;

use super::*;
use crate::fs::{AppendOptions, Compact, Pages, Resume};
use crate::privacy::SecretSpan;
use crate::session::batch::AppendConditions;

fn open_store(settings: &str) -> Result<Store, String> {
    let home = TempDir::new().expect("a folder");
    std::fs::write(home.path().join("settings.json"), settings).expect("written");
    let options = Options { project: Some(home.path().into()), ..Options::default() };
    Store::open_with(home.path(), options).map_err(|refused| refused.code().into())
}

#[test]
fn the_settings_hold() {
    let idle_ms = |settings: &str| open_store(settings).map(|store| store.0.core.setup().idle_ms);
    assert_eq!(idle_ms("{}"), Ok(300_000));
    assert_eq!(idle_ms(r#"{"idleMinutes":30}"#), Ok(1_800_000));
    assert_eq!(idle_ms(r#"{"redact":"off"}"#), Ok(300_000));
}

fn token() -> String {
    ["glpat", "-aB3dE5fG7hI9jK1lM2nO"].concat()
}

#[test]
fn secrets_are_found_without_rules_of_the_program_and_by_settings_that_cannot_be_read() {
    let said = format!(r#"{{"a":"the token is {} there"}}"#, token());
    for settings in [r#"{"redact":"replace"}"#, "no JSON"] {
        let store = open_store(settings).expect("opened");
        let left = store.redact(&said).expect("left");
        assert!(left.contains("[redacted:gitlab-pat:") && !left.contains(&token()), "{settings}: {left}");
    }
    let reported = open_store(r#"{"redact":"report"}"#).expect("opened").redact(&said).expect("left");
    assert!(reported.contains(&token()) && reported.contains(r#""count":1"#), "{reported}");
}

type FindSecrets = fn(&[String]) -> Vec<Vec<SecretSpan>>;

/// What is said to be a secret, whatever the texts are.
#[derive(Debug)]
struct FixedRules(FindSecrets);

impl Rules for FixedRules {
    fn secrets(&self, texts: &[String]) -> Result<Vec<Vec<SecretSpan>>, String> {
        Ok((self.0)(texts))
    }
}

fn open_replacing_store(home: &TempDir, said: FindSecrets) -> Store {
    let rules: Option<Box<dyn Rules>> = Some(Box::new(FixedRules(said)));
    let options = Options {
        project: Some(home.path().into()),
        redact: Some(RedactMode::Replace),
        rules,
        ..Options::default()
    };
    Store::open_with(home.path(), options).expect("opened")
}

fn find_keys(texts: &[String]) -> Vec<Vec<SecretSpan>> {
    let place = |text: &String| {
        text.find("key-1").map(|at| SecretSpan { start: at, end: at + 5, rule: "key".into() })
    };
    texts.iter().map(|text| place(text).into_iter().collect()).collect()
}

#[test]
fn nothing_leaves_by_rules_that_say_too_little_too_much_or_places_that_are_none() {
    let wrong: [FindSecrets; 4] = [
        |texts| find_keys(texts).into_iter().skip(1).collect(),
        |texts| find_keys(texts).into_iter().chain([Vec::new()]).collect(),
        |texts| {
            texts.iter().map(|_| Vec::from([SecretSpan { start: 3, end: 1, rule: "key".into() }])).collect()
        },
        |texts| {
            texts
                .iter()
                .map(|text| Vec::from([SecretSpan { start: 0, end: text.len() + 1, rule: "key".into() }]))
                .collect()
        },
    ];
    for said in wrong {
        let home = TempDir::new().expect("a folder");
        let refused =
            open_replacing_store(&home, said).redact(r#"["one key-1","two key-1"]"#).expect_err("refused");
        assert_eq!(refused.code(), "invalid_request");
    }
    let home = TempDir::new().expect("a folder");
    let left = open_replacing_store(&home, find_keys).redact(r#"["one key-1","two key-1"]"#).expect("left");
    assert!(!left.contains("key-1"), "{left}");
}

#[test]
fn a_context_that_was_sent_is_given_as_it_was_sent() {
    let home = TempDir::new().expect("a folder");
    let session = open_replacing_store(&home, find_keys).create("{}").expect("begun");
    session.append(r#"{"role":"user","content":"It is key-1."}"#, Default::default()).expect("appended");
    session.context(r#"{"window":8000}"#, Default::default()).expect("built");
    let sent = session.sent_context().expect("kept");
    assert!(!sent.contains("key-1") && sent.contains(r#""isVerified":true"#), "{sent}");
}

#[test]
fn what_secrets_are_in_the_files_is_told_without_rules_of_the_program() {
    let store = open_store("{}").expect("opened");
    let session = store.create("{}").expect("begun");
    let said = format!(r#"{{"role":"user","content":"It is {}."}}"#, token());
    session.append(&said, Default::default()).expect("appended");
    let report = store.doctor(r#"{"secrets":true}"#, Helpers::default()).expect("told");
    assert!(report.contains("expected no secret, but found 1: gitlab-pat"), "{report}");
}

#[test]
fn what_is_no_file_is_no_transcript() {
    let home = TempDir::new().expect("a folder");
    let code = |name: &str| {
        let refused = crate::fs::read_transcript(home.path().join(name)).map(drop).expect_err("refused");
        String::from(refused.code())
    };
    let pipe = home.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("made");
    assert_eq!([code("pipe"), code("."), code("missing")], ["not_a_file", "not_a_file", "not_found"]);
}

#[test]
fn what_was_deleted_since_it_was_looked_up_is_not_opened() {
    let home = TempDir::new().expect("a folder");
    let store = Store::open(home.path()).expect("opened");
    let session = store.create("{}").expect("begun");
    let found = (session.0.files.shown_folder(), session.placement());
    Store::open(home.path()).and_then(|other| other.delete(&session, true)).expect("deleted");
    let (shown, placement) = found.clone();
    let opened = store.drive_to_session(store.0.core.open(shown, placement));
    let opened = opened.map_err(|refused| refused.code().to_string());
    assert_eq!(opened.map(|session| session.id()), Err("not_found".into()));
    assert!(!Path::new(&found.0).exists());
    assert_eq!(store.list("{}").expect("listed"), "[]");
}

#[test]
fn a_session_that_is_open_is_the_same_one_until_nobody_has_it() {
    let home = TempDir::new().expect("a folder");
    let store = Store::open(home.path()).expect("opened");
    let session = store.create("{}").expect("begun");
    let id = session.id();
    session.append(r#"{"role":"user","content":"x"}"#, Default::default()).expect("appended");
    let leases = home.path().join("cache").join(format!("{id}.open"));
    let count = || std::fs::read_dir(&leases).map_or(0, Iterator::count);
    let same = store.session(&id).expect("opened");
    assert!(Rc::ptr_eq(&session.0, &same.0));
    drop(session);
    assert_eq!(count(), 1);
    drop(same);
    assert_eq!(count(), 0);
}

#[test]
fn a_store_that_was_closed_finds_nothing_by_saying_so() {
    let home = TempDir::new().expect("a folder");
    let store = Store::open(home.path()).expect("opened");
    let session = store.create("{}").expect("begun");
    session.append(r#"{"role":"user","content":"x"}"#, Default::default()).expect("appended");
    store.clone().close().expect("closed");
    let refused =
        store.search("x", "{}", Default::default()).map(drop).map_err(|refused| refused.code().to_string());
    assert_eq!(refused, Err("storage_closed".into()));
}

#[test]
fn what_is_written_for_an_agent_lies_where_a_relative_folder_of_it_says() {
    let home = TempDir::new().expect("a folder");
    let here = std::env::current_dir().expect("where one is");
    let made = TempDir::new_in(&here).expect("a folder here");
    let agents = made.path().strip_prefix(&here).expect("below it");
    let store = Store::open(home.path()).expect("opened");
    let session = store.create("{}").expect("begun");
    session.append(r#"{"role":"user","content":"Hello"}"#, Default::default()).expect("appended");
    let variables = Some([("CODEX_HOME".into(), agents.to_string_lossy().into())].into());
    let how = WriteForAgent { agent: "codex", variables, ..Default::default() };
    let written =
        store.write_for_agent(&session, how, r#"{"window":8000}"#, Default::default()).expect("written");
    let written: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    let path = Path::new(written["path"].as_str().expect("a path"));
    assert!(path.starts_with(agents) && path.is_file(), "{}", path.display());
}

#[test]
fn no_request_has_a_secret_leave_that_would_be_replaced() {
    let home = TempDir::new().expect("a folder");
    let store = open_replacing_store(&home, find_keys);
    let session = store.create("{}").expect("created");
    let draft = r#"{"role":"user","content":"Deploy with key-1."}"#;
    let said = session.append(draft, AppendOptions::default()).expect("appended").messages();
    let id = &said[0].id;
    for leaves in ["", r#","leaves":false"#, r#","leaves":null"#, r#","leaves":false ,"leaves":false "#] {
        let request =
            format!(r#" {{"startMessageId":"{id}","endMessageId":"{id}","maxTokens":200{leaves}}} "#);
        let told = session.summary_of(&request).expect("told");
        assert!(told.contains("Deploy with") && !told.contains("key-1"), "{leaves}: {told}");
    }
}

#[test]
fn doctor_tells_of_each_session() {
    let store = open_store("{}").expect("opened");
    for title in ["one", "two"] {
        store.create(&format!(r#"{{"title":"{title}"}}"#)).expect("created");
    }
    let mut told = Vec::new();
    let mut progress = |page: &str| told.push(page.to_owned());
    let helpers = Helpers { progress: Some(&mut progress), ..Helpers::default() };
    store.doctor("{}", helpers).expect("examined");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].ends_with(r#"","done":1,"total":2}"#), "{told:?}");
}

#[test]
fn each_request_refuses_a_name_that_nobody_knows() {
    type Asks = fn(&Store, &Session, &str) -> Result<(), Trouble>;
    fn read_all(mut pages: Pages<'_>) -> Result<(), Trouble> {
        pages.try_for_each(|page| page.map(drop))
    }
    let asks: [(&str, Asks); 21] = [
        ("create", |store, _, request| store.create(request).map(drop)),
        ("fork", |store, session, request| store.fork(session, request).map(drop)),
        ("tidy", |store, _, request| store.tidy(request).map(drop)),
        ("list", |store, _, request| store.list(request).map(drop)),
        ("find", |store, _, request| store.find("words", request).map(drop)),
        ("search", |store, _, request| read_all(store.search("words", request, Helpers::default())?)),
        ("recall", |store, _, request| store.recall("words", request, Helpers::default()).map(drop)),
        ("move_to", |store, session, request| store.move_to(session, request).map(drop)),
        ("outputs.save", |store, _, request| store.outputs().save(request, "{}").map(drop)),
        ("outputs.list", |store, _, request| store.outputs().list(request).map(drop)),
        ("outputs.clear", |store, _, request| store.outputs().clear(request).map(drop)),
        ("outputs.prompt", |store, _, request| store.outputs().prompt(request).map(drop)),
        ("doctor", |store, _, request| store.doctor(request, Helpers::default()).map(drop)),
        ("append_once", |_, _, request| Ok(AppendConditions::from_json(request).map(drop)?)),
        ("context", |_, session, request| session.context(request, Helpers::default()).map(drop)),
        ("resume", |_, session, request| {
            session
                .resume("{}", Resume { now: Some(request), ..Resume::default() }, Helpers::default())
                .map(drop)
        }),
        ("summary_of", |_, session, request| session.summary_of(request).map(drop)),
        ("compact", |_, session, request| {
            session.compact(request, Compact::default(), Helpers::default()).map(drop)
        }),
        ("messages", |_, session, request| read_all(session.messages(request))),
        ("search of a session", |_, session, request| {
            read_all(session.search("words", request, Helpers::default())?)
        }),
        ("export", |_, session, request| read_all(session.export(request))),
    ];
    let home = TempDir::new().expect("a folder");
    let options = Options { project: Some(home.path().into()), ..Options::default() };
    let store = Store::open_with(home.path(), options).expect("opened");
    let session = store.create("{}").expect("created");
    session.append(r#"{"role":"user","content":"Hello"}"#, AppendOptions::default()).expect("appended");
    let before = std::fs::read(session.path().join("messages.jsonl")).expect("read");
    for (call, ask) in asks {
        let refused = ask(&store, &session, r#"{"windw":8000}"#).err().map(|trouble| {
            assert!(
                trouble.message().contains("unknown option ")
                    && trouble.message().contains("windw\": expected "),
                "{call}: {}",
                trouble.message()
            );
            trouble.code().to_owned()
        });
        assert_eq!(refused.as_deref(), Some("invalid_request"), "{call}");
    }
    assert_eq!(std::fs::read(session.path().join("messages.jsonl")).expect("read"), before);
}

#[test]
fn a_session_that_is_gone_is_neither_searched_nor_made_the_current_one() {
    let home = TempDir::new().expect("a folder");
    let project = TempDir::new().expect("a folder");
    let options = Options { project: Some(project.path().into()), ..Options::default() };
    let store = Store::open_with(home.path(), options).expect("opened");
    let session = store.create("{}").expect("created");
    let draft = r#"{"role":"user","content":"Rename the parser."}"#;
    session.append(draft, AppendOptions::default()).expect("appended");
    let searched = |session: &Session| {
        let mut pages = session.search("parser", "{}", Helpers::default())?;
        pages.try_fold(0, |count, page| page.map(|_| count + 1))
    };
    assert_eq!((searched(&session).ok(), store.point(&session).ok()), (Some(1), Some(true)));
    store.delete(&session, true).expect("deleted");
    let code = |trouble: Trouble| trouble.code().to_owned();
    assert_eq!(searched(&session).map_err(code), Err("not_found".into()));
    assert_eq!(store.point(&session).map_err(code), Err("not_found".into()));
    let other = store.create("{}").expect("created");
    other.append(draft, AppendOptions::default()).expect("appended");
    store.close().expect("closed");
    assert_eq!(searched(&other).map_err(code), Err("storage_closed".into()));
}
