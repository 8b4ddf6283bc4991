//! What is done with a store.

use std::error::Error;
use std::path::Path;

use leftoff::fs::{Conversation, Helpers, Import, Importable, Options, Session, Store, WriteForAgent};
use leftoff::json::text::to_json;
use leftoff::layout::Placement;
use leftoff::operation::RedactMode;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Answer;
use crate::clock::SharedClock;
use crate::helping::{with_helpers, with_vectors};
use crate::rules::OfHost;
use crate::sessions::{resume, take_items};
use crate::step::Step;

/// What the files of settings say.
#[derive(Deserialize)]
struct Settings {
    problems: Vec<Box<RawValue>>,
}

pub fn open_store(step: &Step, clock: &SharedClock) -> Result<Store, Box<dyn Error>> {
    let options = Options {
        project: step.value("project")?,
        workspace: step.value("workspace")?,
        idle: step.value("idleMs")?.map(std::time::Duration::from_millis),
        is_uncounted: step.value("countTokens")? == Some(false),
        redact: step.raw("redact").map(RedactMode::parse).transpose()?,
        rules: Some(Box::new(OfHost)),
        clock: Some(Box::new(clock.clone())),
    };
    Ok(Store::open_with(step.text("home")?, options)?)
}

/// What a store is opened with that could not be used.
pub fn problems(store: &Store) -> Answer {
    let Settings { problems } = serde_json::from_str(&store.settings()?)?;
    Ok(if problems.is_empty() { "null".into() } else { format!("{{\"problems\":{}}}", to_json(&problems)) })
}

/// What an operation answers that ends with no session; nothing where it is another one.
pub fn run_store_step(
    store: &Store,
    known: Option<&Session>,
    op: &str,
    step: &Step,
) -> Result<Option<String>, Box<dyn Error>> {
    let session = || known.ok_or("expected a session, but found none");
    let done = |done: ()| {
        let () = done;
        "null".to_string()
    };
    Ok(Some(match op {
        "closeStore" => done(store.clone().close()?),
        "commit" => store.commit(session()?)?,
        "delete" => {
            let trash = store.delete(session()?, step.flag("purge")?)?;
            format!("{{\"trash\":{}}}", to_json(&trash))
        }
        "doctor" => {
            progressing(step, |helpers| store.doctor(&step.without_fields(&["onProgress"]), helpers))?
        }
        "find" => store.find(&step.text("words")?, &step.without_fields(&["words"]))?,
        "folders" => {
            let [project, home, workspace] =
                [store.project(), store.home(), store.workspace()].map(|folder| to_json(&folder));
            format!("{{\"project\":{project},\"home\":{home},\"workspace\":{workspace}}}")
        }
        "goesOn" => done(store.goes_on(session()?, &step.text("text")?)?),
        "import" => import(store, step)?,
        "listImportable" => list_importable(store, step)?,
        "importAll" => progressing(step, |helpers| store.import_all(helpers))?,
        "info" => store.info(session()?)?,
        "list" => store.list(&step.rest())?,
        "listSettings" | "settings" => store.settings()?,
        "mend" => store.mend(session()?)?,
        "notices" => store.notices(),
        "point" => store.point(session()?)?.to_string(),
        "relocate" => format!("{{\"count\":{}}}", store.relocate(step.text("from")?, step.text("to")?)?),
        "restore" => store.restore(&step.text("id")?)?,
        "recordMessage" => store.record_message(session()?, &step.rest())?.to_string(),
        "redacted" => store.redact(step.raw("value").unwrap_or("null"))?,
        "secrets" => store.secrets(),
        "tidy" => to_json(&store.tidy(step.raw("limits").unwrap_or("null"))?),
        "trashed" => store.list_trash()?,
        "writeForAgent" => write_for_agent(store, session()?, step)?,
        "unsetSetting" | "writeSetting" => {
            done(store.write_setting(&step.text("key")?, step.raw("value"), step.flag("project")?)?)
        }
        op => return run_query(store, op, step),
    }))
}

fn run_query(store: &Store, op: &str, step: &Step) -> Result<Option<String>, Box<dyn Error>> {
    Ok(Some(match op {
        "usage" => store.usage(&step.rest())?,
        "turn" => store.turn(&step.text("conversation")?, &step.without_fields(&["conversation"]))?,
        "recall" => {
            let (question, request) = (step.text("question")?, step.without_fields(&["question", "embed"]));
            with_vectors(step, |helpers| Ok(store.recall(&question, &request, helpers)?))?
        }
        "newestMessages" => {
            let placement = Placement::from_name(&step.text("placement")?).ok_or("expected a placement")?;
            take_items(store.newest_messages(&step.text("path")?, placement)?, None)?
        }
        "search" => {
            let (words, request) = (step.text("words")?, step.without_fields(&["words", "most", "embed"]));
            with_vectors(step, |helpers| {
                take_items(store.search(&words, &request, helpers)?, step.value("most")?)
            })?
        }
        op => return of_outputs(store, op, step),
    }))
}

fn of_outputs(store: &Store, op: &str, step: &Step) -> Result<Option<String>, Box<dyn Error>> {
    Ok(Some(match op {
        "clearOutputs" => format!("{{\"count\":{}}}", store.outputs().clear(&step.rest())?),
        "listOutputs" => store.outputs().list(&step.rest())?,
        "loadOutput" => store.outputs().load(&step.text("path")?)?,
        "outputMenu" => store.outputs().menu(&step.rest())?,
        "outputPrompt" => store.outputs().prompt(&step.rest())?,
        "saveOutput" => {
            let result = step.raw("result").ok_or("expected a result, but found none")?;
            store.outputs().save(&step.without_fields(&["result"]), result)?
        }
        "selectOutputs" => {
            let outputs: Vec<Box<RawValue>> = step.value("outputs")?.unwrap_or_default();
            let places = store.outputs().select(&step.text("answer")?, outputs.len())?;
            to_json(&places.into_iter().map(|place| &outputs[place]).collect::<Vec<_>>())
        }
        _ => return Ok(None),
    }))
}

/// The session that an operation ends with, or none; nothing where it is another operation.
pub fn run_opening_step(
    store: &Store,
    known: Option<&Session>,
    op: &str,
    step: &Step,
) -> Result<Option<Option<Session>>, Box<dyn Error>> {
    let session = || known.ok_or("expected a session, but found none");
    Ok(Some(match op {
        "continue" => Some(store.go_on(step.value::<String>("model")?.as_deref())?),
        "create" => Some(store.create(&step.rest())?),
        "createFromSource" => Some(store.create_from_source(&step.rest())?),
        "current" => store.current()?,
        "fork" => Some(store.fork(session()?, &step.rest())?),
        "move" => Some(store.move_to(session()?, &step.rest())?),
        "open" => Some(opened_by(store, step)?),
        "record" => record_conversation(store, step)?,
        _ => return Ok(None),
    }))
}

#[derive(Deserialize)]
struct Source {
    agent: String,
    id: String,
}

fn opened_by(store: &Store, step: &Step) -> Result<Session, Box<dyn Error>> {
    Ok(match step.value::<Source>("source")? {
        Some(Source { agent, id }) => store.session_from(&agent, &id)?,
        None => store.session(&step.text("id")?)?,
    })
}

fn import(store: &Store, step: &Step) -> Answer {
    let (path, from) = (step.text("path")?, step.value::<String>("from")?);
    let how = Import { from: from.as_deref(), only: step.raw("only") };
    progressing(step, |helpers| store.import(&path, how, helpers))
}

fn list_importable(store: &Store, step: &Step) -> Answer {
    let (path, from) = (step.value::<String>("path")?, step.value::<String>("from")?);
    let how = Importable { from: from.as_deref(), limit: step.value("limit")? };
    progressing(step, |helpers| store.list_importable(path.as_deref().map(Path::new), how, helpers))
}

/// With the first that is told of each file or session, where the script wants it.
fn progressing(
    step: &Step,
    work: impl FnOnce(Helpers<'_>) -> Result<String, leftoff::operation::Trouble>,
) -> Answer {
    let mut first: Vec<(String, String)> = Vec::new();
    let mut progress = |told: &str| {
        let path = serde_json::from_str::<PathAnswer>(told).map(|told| told.path).unwrap_or_default();
        if first.iter().all(|(known, _)| *known != path) {
            first.push((path, told.into()));
        }
    };
    let tells = step.value("onProgress")? == Some(true);
    let answer = work(Helpers { progress: tells.then_some(&mut progress), ..Helpers::default() })?;
    if !tells {
        return Ok(answer);
    }
    let told: Vec<String> = first.into_iter().map(|(_, told)| told).collect();
    let answer = if answer.starts_with('[') { format!("{{\"reports\":{answer}}}") } else { answer };
    Ok(format!("{},\"progress\":[{}]}}", answer.strip_suffix('}').unwrap_or_default(), told.join(",")))
}

fn write_for_agent(store: &Store, session: &Session, step: &Step) -> Answer {
    let agent: String = step.text("agent")?;
    let folder: Option<String> = step.value("folder")?;
    let resumed = step.value("resume")?.map(Step);
    let command: Option<String> = resumed.as_ref().map(|how| how.value("command")).transpose()?.flatten();
    let resume = resumed.as_ref().map(resume).transpose()?;
    let how = WriteForAgent {
        agent: &agent,
        folder: folder.as_deref().map(Path::new),
        variables: step.value("env")?,
        resume,
        command: command.as_deref(),
    };
    let request = step.without_fields(&["agent", "folder", "env", "resume", "summarize", "count", "embed"]);
    with_helpers(step, session, |helpers| store.write_for_agent(session, how, &request, helpers))
}

#[derive(Deserialize)]
struct PathAnswer {
    path: String,
}

fn record_conversation(store: &Store, step: &Step) -> Result<Option<Session>, Box<dyn Error>> {
    let (agent, path): (String, String) = (step.text("agent")?, step.text("path")?);
    let command = step.raw("command");
    let mut told = |_: &str| Ok(command.map(String::from));
    let conversation = Conversation { agent: &agent, path: path.as_ref(), only: step.raw("only") };
    let helpers = Helpers { command: command.is_some().then_some(&mut told), ..Helpers::default() };
    Ok(store.record(conversation, helpers)?)
}
