//! Tool outputs whose host fails at each of its steps, or is gone: what was saved stays, and what was not is nowhere.
//! Tries: src/operation/store/outputs/

use std::rc::Rc;

use leftoff::operation::{CountingMode, Operation, SessionFiles, Store, Trouble};
use serde_json::json;

use super::host::{Host, Meanwhile};
use super::store::{create, run_to_end, store};

const OUTPUT: &str = r#"{"sessionId":"s","toolName":"grep","sizeBytes":SIZE}"#;

fn result(size: usize) -> String {
    format!("\"{}\"", "x".repeat(size - 2))
}

fn saving(store: &Rc<Store>, host: &mut Host, size: usize) -> Operation<'static, String> {
    host.saved_bytes = result(size).into_bytes();
    store.save_output(OUTPUT.replace("SIZE", &size.to_string()))
}

fn path(pointer: &str) -> String {
    let pointer: serde_json::Value = serde_json::from_str(pointer).expect("JSON");
    pointer["path"].as_str().expect("a path").into()
}

fn load_output(store: &Rc<Store>, host: &mut Host, path: &str) -> Result<String, Trouble> {
    host.loaded_bytes.clear();
    let told = host.drive(store.load_output(path.into()), |_| Meanwhile::Nothing).expect("driven")?;
    let handed = String::from_utf8(host.loaded_bytes.clone()).expect("UTF-8");
    Ok(if told.is_empty() { handed } else { told })
}

fn outputs_in(host: &Host) -> Vec<String> {
    let is_output = |path: &&String| path.starts_with("context/") && !path.starts_with("context/.");
    host.files.keys().filter(is_output).cloned().collect()
}

#[test]
fn whatever_fails_while_one_is_saved_it_is_nowhere_and_the_others_are_there() {
    for size in [10, 40_000] {
        for fails in 0..8 {
            let (mut host, store) = (Host::default(), store());
            let saving_before = saving(&store, &mut host, 40_000);
            let before = run_to_end(&mut host, saving_before);
            let files = outputs_in(&host);
            let other = super::store::store();
            // Another run, since this one has asked all that it asks once.
            let saved = saving(&other, &mut host, size);
            let ended =
                host.drive(saved, |place| if place == fails { Meanwhile::Fails } else { Meanwhile::Nothing });
            let was_saved = ended.expect("driven").is_ok();
            let listed = run_to_end(&mut host, other.outputs("{}".into()));
            assert_eq!(listed != "[]", was_saved, "{size}, step {fails}");
            if !was_saved {
                assert_eq!(outputs_in(&host), files, "{size}, step {fails}");
            }
            assert_eq!(load_output(&store, &mut host, &path(&before)), Ok(result(40_000)));
        }
    }
}

#[test]
fn a_run_that_cannot_clear_says_so_and_clears_the_next_time() {
    for fails in 0..6 {
        let (mut host, store) = (Host::default(), store());
        for size in [10, 40_000, 50_000] {
            let saving = saving(&store, &mut host, size);
            run_to_end(&mut host, saving);
        }
        let clearing = store.clear_outputs("{}".into());
        let ended =
            host.drive(clearing, |place| if place == fails { Meanwhile::Fails } else { Meanwhile::Nothing });
        let _ = ended.expect("driven");
        run_to_end(&mut host, store.clear_outputs("{}".into()));
        assert!(
            !host.files.keys().any(|path| path.starts_with("context/")),
            "step {fails}: {:?}",
            host.files.keys()
        );
        assert_eq!(run_to_end(&mut host, store.outputs("{}".into())), "[]");
    }
}

#[test]
fn a_model_is_told_of_the_output_of_another_run_what_its_own_would_say() {
    let (mut host, mine, other) = (Host::default(), store(), store());
    let lines = serde_json::json!(vec!["größe"; 6_000]).to_string();
    let output =
        r#"{"sessionId":"s","toolName":"grep","args":{"pattern":"größe","result":[1]},"sizeBytes":SIZE}"#
            .replace("SIZE", &lines.len().to_string());
    host.saved_bytes = lines.into_bytes();
    let saved = run_to_end(&mut host, mine.save_output(output));
    let asked = serde_json::json!({ "question": "What?", "outputs": [path(&saved)], "maxTokens": 9_000, "encoding": "estimate-1" });
    let told = [&mine, &other].map(|store| run_to_end(&mut host, store.output_prompt(asked.to_string())));
    assert!(told[0].contains("grep: Matches for \\\"größe\\\" ("), "{}", told[0]);
    assert_eq!(told[0], told[1]);
}

#[test]
fn whoever_resumes_a_session_hears_how_many_of_its_outputs_are_gone() {
    let (mut host, store) = (Host::default(), store());
    let [live, other] = [r#"{"title":"One"}"#, r#"{"title":"Two"}"#]
        .map(|asked| run_to_end(&mut host, create(&store, asked)));
    let mut gone = 0;
    for count in [2, 3] {
        for one in [vec![&live; count], vec![&other; 1]].concat() {
            host.saved_bytes = result(40_000).into_bytes();
            let output = OUTPUT.replace("SIZE", "40000").replace("\"s\"", &format!("\"{}\"", one.id()));
            run_to_end(&mut host, store.save_output(output));
        }
        let asked = json!({ "sessionId": live.id() }).to_string();
        assert_eq!(run_to_end(&mut host, store.clear_outputs(asked)), count as u64);
        gone += count;
        let asked = r#"{"request":{"window":4000,"encoding":"estimate-1"}}"#;
        let told = |live: &Rc<SessionFiles>, host: &mut Host| {
            run_to_end(host, live.resume(asked.into(), CountingMode::Estimate))
        };
        assert!(told(&live, &mut host).contains(&format!("Tool outputs: {gone} of earlier runs")), "{gone}");
        assert!(!told(&other, &mut host).contains("Tool outputs: "), "{gone}");
    }
}
