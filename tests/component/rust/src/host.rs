//! A host of leftoff's component: it opens a store and drives operations. `files` and `processes` ask the system.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use getrandom::u64 as random;
use serde_json::json;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Engine, Result, Store};

use crate::files::Files;
use crate::processes::{is_gone, lease_of};

wasmtime::component::bindgen!({ path: "../../../crates/component/wit", world: "leftoff" });

pub use exports::leftoff::core::{protocol, store};
use protocol::{Answer, Content, Failure, Need, Process, Stamp};
use store::{Redact, Step};

pub struct Host {
    pub wasm: Store<()>,
    pub core: Leftoff,
    pub store: ResourceAny,
    vocabulary: Option<(String, ResourceAny)>,
    pub files: Files,
    name: String,
}

impl Host {
    /// `compiled` is what wasmtime made of the component; `planes`, the file of a vocabulary, by which is counted.
    pub fn new(compiled: &Path, home: &str, project: &str, planes: Option<&str>) -> Result<Host> {
        let engine = Engine::default();
        // SAFETY: our own build wrote the file; wasmtime looks at its version and settings.
        let component = unsafe { Component::deserialize_file(&engine, compiled)? };
        let mut wasm = Store::new(&engine, ());
        let core = Leftoff::instantiate(&mut wasm, &component, &Linker::new(&engine))?;
        let vocabulary = planes.map(|planes| load_vocabulary(&core, &mut wasm, planes)).transpose()?;
        let project = std::fs::canonicalize(project)?;
        let setup = json!({
            "home": home, "project": project, "normalProject": project, "user": std::env::home_dir(),
            "separator": "/", "idleMs": 30 * 60_000,
        });
        let counter = vocabulary.as_ref().map(|(_, made)| *made);
        let stores = core.leftoff_core_store().store();
        let store = stores.call_open(&mut wasm, &setup.to_string(), counter, Redact::Off)??;
        let files = Files { home: home.into(), project, output: Vec::new(), handed: Vec::new() };
        let name = format!("{:016x}{:016x}", random()?, random()?);
        Ok(Host { wasm, core, store, vocabulary, files, name })
    }

    /// Drives an operation to its end: what it answers, a text, a session or a place.
    pub fn run(&mut self, operation: ResourceAny, page: &mut dyn FnMut(Content)) -> Result<Step> {
        let ended = self.drive(operation, page);
        let dropped = operation.resource_drop(&mut self.wasm);
        let ended = ended?;
        dropped?;
        Ok(ended)
    }

    fn drive(&mut self, operation: ResourceAny, page: &mut dyn FnMut(Content)) -> Result<Step> {
        let entropy = (random()?, random()?, random()?, random()?);
        let mut answers = Vec::new();
        loop {
            let now_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis().try_into()?;
            let stamp = Stamp { now_ms, offset_minutes: 0, entropy };
            let operations = self.core.leftoff_core_store().operation();
            let step = operations.call_next(&mut self.wasm, operation, stamp, &answers)??;
            let Step::Needs(needs) = step else { return Ok(step) };
            answers = needs.into_iter().map(|need| self.answer(need, page)).collect::<Result<_>>()?;
        }
    }

    fn answer(&mut self, need: Need, page: &mut dyn FnMut(Content)) -> Result<Answer> {
        Ok(match need {
            Need::Page(content) => {
                page(content);
                Answer::Done
            }
            // One operation is driven after another, and links are for people.
            Need::Turn(_) | Need::Leave(_) | Need::Link(_) => Answer::Done,
            Need::Wait(ms) => {
                std::thread::sleep(Duration::from_millis(ms.into()));
                Answer::Done
            }
            Need::Git(_) => Answer::Ran(None),
            Need::Out(_) => Answer::Text("{}".into()),
            Need::Real(path) => {
                let real = std::fs::canonicalize(&path).ok().and_then(|real| real.to_str().map(String::from));
                Answer::Text(real.unwrap_or(path))
            }
            Need::Normal(path) => Answer::Text(path.nfc().collect()),
            Need::Unmarked(text) => {
                Answer::Text(text.nfkd().filter(|&letter| !is_combining_mark(letter)).collect())
            }
            Need::Process => {
                let lease = lease_of(std::process::id().into())?;
                Answer::Process(Process { lease, name: self.name.clone(), is_alone: false })
            }
            Need::Gone(leases) => Answer::Flags(leases.iter().map(is_gone).collect()),
            Need::Vocabulary(encoding) => match &self.vocabulary {
                Some((name, made)) if *name == encoding => Answer::Vocabulary(*made),
                _ => no_counter(),
            },
            // What is left are counters, models and rules, of which this host has none.
            need => self.files.answer(need).unwrap_or_else(no_counter),
        })
    }
}

fn no_counter() -> Answer {
    failure("no_counter", "this host counts by its vocabularies alone")
}

pub fn failure(code: &str, message: impl ToString) -> Answer {
    let (code, message) = (code.into(), message.to_string());
    Answer::Failed(Failure { code, message, written: None, unconfirmed: false, origin: None })
}

fn load_vocabulary(core: &Leftoff, wasm: &mut Store<()>, planes: &str) -> Result<(String, ResourceAny)> {
    let vocabularies = core.leftoff_core_protocol().vocabulary();
    let made = vocabularies.call_from_planes(&mut *wasm, &std::fs::read(planes)?)??;
    Ok((vocabularies.call_encoding(wasm, made)?, made))
}
