//! Sessions that are handed to other agents, driven by a host in memory: what is refused leaves nothing, and a name that another
//! process takes is left to it.
//! Tries: src/operation/store/native_export/

use super::host::Host;
use super::store::setup;
use leftoff::operation::{Step, Store};
use serde_json::{Value, json};

const PROJECT: &str = "/work/My Project";
const OWNER: &str = "/home/me/.gemini/tmp/my-project/.project_root";

fn export_request(agent: &str, count: usize) -> Value {
    let messages: Vec<Value> = (0..count).map(|_| json!({ "role": "user", "content": "Hello" })).collect();
    let context = json!({
        "messages": messages, "originalMessageCount": count, "includedMessageCount": count, "report": {},
    });
    json!({
        "agent": agent, "session": "s", "folder": PROJECT, "variables": { "HOME": "/home/me" }, "context": context,
    })
}

/// The code of what was refused, or the file that was written; `meanwhile` comes before each step of the host's.
fn export_session(
    host: &mut Host,
    asked: &Value,
    mut meanwhile: impl FnMut(usize, &mut Host),
) -> Result<String, String> {
    let mut operation = Store::new(setup(None)).write_for_agent(asked.to_string());
    let mut step = operation.begin(host.stamp());
    for place in 0.. {
        match step {
            Step::Done(done) => {
                let told = done.map_err(|trouble| trouble.code().to_string())?;
                let told: Value = serde_json::from_str(&told).expect("JSON");
                return Ok(told["path"].as_str().expect("a path").into());
            }
            Step::Requests(needs) => {
                meanwhile(place, host);
                let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
                step = operation.next(host.now_ms(), answers);
            }
        }
    }
    unreachable!("it ends")
}

#[test]
fn what_is_refused_leaves_nothing() {
    let check = |asked: Value, code: &str| {
        let mut host = Host::default();
        assert_eq!(export_session(&mut host, &asked, |_, _| ()), Err(code.into()), "{asked}");
        assert_eq!(host.files.keys().collect::<Vec<_>>(), Vec::<&String>::new(), "{asked}");
    };
    for agent in ["claude-code", "codex", "copilot", "gemini", "opencode", "pi", "qwen"] {
        check(export_request(agent, 0), "empty_file");
        let mut without = export_request(agent, 1);
        without["context"].take();
        check(without, "invalid_request");
        let mut broken = export_request(agent, 1);
        broken["context"]["messages"] = json!([{ "role": "nobody" }]);
        check(broken, "invalid_request");
    }
    check(export_request("aider", 1), "unknown_format");
    check(export_request("nobody", 1), "invalid_request");
}

#[test]
fn a_file_that_is_there_stays_and_no_name_is_taken_for_it() {
    let mut host = Host::default();
    let path = export_session(&mut host, &export_request("gemini", 1), |_, _| ()).expect("written");
    // The same moment, and the same chance.
    let mut host = Host::default();
    host.files.insert(path.clone(), (b"theirs".to_vec(), 1));
    assert_eq!(
        export_session(&mut host, &export_request("gemini", 1), |_, _| ()),
        Err("already_exists".into())
    );
    assert_eq!(host.text(&path), "theirs");
    assert_eq!(host.files.len(), 1, "{:?}", host.files.keys());
}

#[test]
fn a_name_that_another_process_takes_meanwhile_is_left_to_it() {
    let mut late = 0;
    for at in 0.. {
        let mut reached = false;
        let mut was_taken = false;
        let mut host = Host::default();
        let path = export_session(&mut host, &export_request("gemini", 1), |place, host| {
            reached |= place == at;
            if place == at && !host.files.contains_key(OWNER) {
                host.append(OWNER, b"/other/my-project");
                was_taken = true;
            }
        });
        if !reached {
            break;
        }
        let path = path.expect("written");
        let project = if was_taken { "my-project-1" } else { "my-project" };
        assert!(path.starts_with(&format!("/home/me/.gemini/tmp/{project}/chats/")), "{at}: {path}");
        assert_eq!(host.text(&format!("/home/me/.gemini/tmp/{project}/.project_root")), PROJECT, "{at}");
        assert_eq!(host.text(OWNER), if was_taken { "/other/my-project" } else { PROJECT }, "{at}");
        assert!(!host.files.keys().any(|path| path.ends_with(".tmp")), "{at}: {:?}", host.files.keys());
        late += usize::from(!was_taken);
    }
    assert!(late > 0, "it was never too late");
}
