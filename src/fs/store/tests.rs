use tempfile::TempDir;

use super::*;

fn opened(settings: &str) -> Result<Store, String> {
    let home = TempDir::new().expect("a folder");
    std::fs::write(home.path().join("settings.json"), settings).expect("written");
    let options = Options { project: Some(home.path().into()), ..Options::default() };
    Store::open_with(home.path(), options).map_err(|refused| refused.code().into())
}

#[test]
fn the_settings_hold() {
    let idle_ms = |settings: &str| opened(settings).map(|store| store.0.core.setup().idle_ms);
    assert_eq!(idle_ms("{}"), Ok(300_000));
    assert_eq!(idle_ms(r#"{"idleMinutes":30}"#), Ok(1_800_000));
    assert_eq!(idle_ms(r#"{"redact":"off"}"#), Ok(300_000));
}

#[test]
fn no_store_is_opened_whose_secrets_nobody_would_find() {
    for settings in [r#"{"redact":"replace"}"#, r#"{"redact":"report"}"#, "no JSON"] {
        assert_eq!(opened(settings).map(drop), Err("missing_dependency".into()), "{settings}");
    }
}

#[test]
fn what_was_deleted_since_it_was_looked_up_is_not_opened() {
    let home = TempDir::new().expect("a folder");
    let store = Store::open(home.path()).expect("opened");
    let session = store.create("{}").expect("begun");
    let found = (session.0.live.shown(), session.placement());
    Store::open(home.path()).and_then(|other| other.delete(&session, true)).expect("deleted");
    let (shown, placement) = found.clone();
    let opened = store.opening(store.0.core.open(shown, placement));
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
