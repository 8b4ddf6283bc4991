//! The host in Rust, asked by lines of JSON: `leftoff-component-host compiled home project [planes]`. See
//! tests/component/talks.js.
//!
//! It is a project of its own, compiled into `target/component-host`, so that wasmtime is compiled for this test alone;
//! and without Cranelift: Python's wasmtime brings that compiled and makes the file that this host loads, in two
//! seconds. The crates then take 90 seconds of one processor, once for each clone; Cranelift would add 55, and 25 each
//! time the component changes, since it would not be optimized. One lock file names the version for both; the crate's
//! features are those of Python's wasmtime, which refuses what was compiled with others.

mod files;
mod host;
mod processes;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use wasmtime::component::ResourceAny;
use wasmtime::{Result, format_err};

use files::bytes_of;
use host::Host;
use host::protocol::{Error, Stamp};
use host::store::{AppendOptions, Placement, Step};

struct Talk {
    host: Host,
    sessions: BTreeMap<String, ResourceAny>,
}

impl Talk {
    fn run_step(&mut self, step: &Value) -> Result<Value> {
        let name = step["name"].as_str().or(step["session"].as_str()).unwrap_or("s");
        if step["of"] == "transcripts" {
            return self.call_transcripts(step).map(Value::from);
        }
        self.host.files.output = step["output"].as_str().unwrap_or_default().into();
        self.host.files.handed.clear();
        let operation = self.begin_operation(step)?;
        let mut pages = Vec::new();
        let mut page = |page| pages.push(String::from_utf8_lossy(bytes_of(&page)).into_owned());
        match self.host.run(operation, &mut page)? {
            Step::Session(made) => {
                self.sessions.insert(name.into(), made);
                let Host { core, wasm, .. } = &mut self.host;
                Ok(core.leftoff_core_store().session().call_path(wasm, made)?.into())
            }
            Step::Done(answer) if pages.is_empty() && answer.is_empty() => {
                Ok(String::from_utf8_lossy(&self.host.files.handed).into())
            }
            Step::Done(answer) if pages.is_empty() => Ok(answer.into()),
            Step::Done(_) => Ok(pages.into()),
            ended => Err(format_err!("expected an end, but found {ended:?}")),
        }
    }

    /// Of transcripts: their marks, words on their way into one, and how one is read.
    fn call_transcripts(&mut self, step: &Value) -> Result<String> {
        let (op, args) = (text(&step["op"])?, &step["args"]);
        let stamp = |of: &Value| Stamp {
            now_ms: of.as_i64().unwrap_or_default(),
            offset_minutes: 0,
            entropy: (0, 0, 0, 0),
        };
        let Host { core, wasm, .. } = &mut self.host;
        let transcripts = core.leftoff_core_transcripts();
        match op {
            "title" => transcripts.call_title(wasm, text(&args[0])?, text(&args[1])?),
            "question" => transcripts.call_question(wasm, stamp(&args[0])),
            "answer" => transcripts.call_answer(wasm, stamp(&args[0]), text(&args[1])?),
            "end" => transcripts.call_end(wasm, stamp(&args[0]), args[1].as_str()),
            "prompt" => transcripts.call_prompt(wasm, args[0].as_str(), text(&args[1])?, text(&args[2])?),
            "read" => transcripts.call_read(wasm, text(&args[0])?.as_bytes()),
            "record" => {
                let recorders = transcripts.recorder();
                let recorder = recorders.call_constructor(&mut *wasm)?;
                let mut written = Vec::new();
                for part in args.as_array().into_iter().flatten() {
                    written.extend(recorders.call_feed(&mut *wasm, recorder, text(part)?.as_bytes())?);
                }
                written.extend(recorders.call_end(&mut *wasm, recorder)?);
                recorder.resource_drop(wasm)?;
                Ok(String::from_utf8_lossy(&written).into_owned())
            }
            _ => Err(format_err!("expected a function of transcripts, but found {op}")),
        }
    }

    /// The operation of a step: each that the tests ask for.
    fn begin_operation(&mut self, step: &Value) -> Result<ResourceAny> {
        let find_session = |name: &Value| {
            let found = self.sessions.get(name.as_str().unwrap_or("s")).copied();
            found.ok_or_else(|| format_err!("expected a session, but found {name}"))
        };
        let (op, args) = (text(&step["op"])?, &step["args"]);
        let first = || text(&args[0]);
        let Host { core, wasm, store, .. } = &mut self.host;
        if step.get("session").is_some_and(Value::is_null) {
            let placement = if args[1] == "home" { Placement::Home } else { Placement::Workspace };
            let (stores, store) = (core.leftoff_core_store().store(), *store);
            return match op {
                "load-output" => stores.call_load_output(wasm, store, first()?),
                "output-prompt" => stores.call_output_prompt(wasm, store, first()?),
                "save-output" => stores.call_save_output(wasm, store, first()?),
                "create" => stores.call_create(wasm, store, first()?),
                "delete" => stores.call_delete(wasm, store, find_session(&step["given"])?, args[0] == true),
                "import-file" => stores.call_import_file(wasm, store, first()?),
                "list" => stores.call_list(wasm, store, first()?),
                "move" => stores.call_move(wasm, store, find_session(&step["given"])?, first()?),
                "restore" => stores.call_restore(wasm, store, first()?),
                "session" => stores.call_session(wasm, store, first()?),
                "session-at" => stores.call_session_at(wasm, store, first()?, placement),
                _ => Err(format_err!("expected an operation of a store, but found {op}")),
            };
        }
        let (sessions, session) = (core.leftoff_core_store().session(), find_session(&step["session"])?);
        match op {
            "append" => sessions.call_append(wasm, session, first()?, &append_options(&args[1])?),
            "append-once" => sessions.call_append_once(
                wasm,
                session,
                first()?,
                &append_options(&args[1])?,
                text(&args[2])?,
            ),
            "append-tool" => sessions.call_append_tool(wasm, session, first()?),
            "close" => sessions.call_close(wasm, session),
            "compact" => sessions.call_compact(wasm, session, first()?),
            "context" => sessions.call_context(wasm, session, first()?),
            "examine" => sessions.call_examine(wasm, session),
            "messages" => sessions.call_messages(wasm, session, first()?),
            "resume" => sessions.call_resume(wasm, session, first()?),
            "say" => sessions.call_say(wasm, session, first()?),
            "summarize" => sessions.call_summarize(wasm, session, first()?),
            _ => Err(format_err!("expected an operation of a session, but found {op}")),
        }
    }
}

fn append_options(of: &Value) -> Result<AppendOptions> {
    let format = text(&of["format"])?.into();
    Ok(AppendOptions { format, durable: of["durable"] == true, revives: of["revives"] == true })
}

fn text(of: &Value) -> Result<&str> {
    of.as_str().ok_or_else(|| format_err!("expected a text, but found {of}"))
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [compiled, home, project, planes @ ..] = &args[..] else {
        panic!("expected a compiled component, a home and a project")
    };
    let host = Host::new(Path::new(compiled), home, project, planes.first().map(String::as_str))?;
    let mut talk = Talk { host, sessions: BTreeMap::new() };
    for line in std::io::stdin().lines() {
        let answer = match talk.run_step(&serde_json::from_str(&line?)?) {
            Ok(answer) => json!({ "answer": answer }),
            // A trap ends the program.
            Err(error) => {
                let Error { code, message, .. } = error.downcast()?;
                json!({ "code": code, "message": message })
            }
        };
        println!("{answer}");
    }
    Ok(())
}
