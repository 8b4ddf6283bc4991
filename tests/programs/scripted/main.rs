//! The Rust host under the scripts of `tests/conformance`: a step a line of JSON on its input, its answer a line on its
//! output. Time and chance come with each step.

mod clock;
mod helping;
mod plain;
mod rules;
mod sessions;
mod step;
mod stores;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;

use leftoff::fs::{MessageFeed, Session, Store};
use leftoff::json::text::to_json;
use leftoff::operation::Trouble;
use serde_json::value::RawValue;

use clock::SharedClock;
use step::Step;

type Answer = Result<String, Box<dyn Error>>;

#[derive(Default)]
struct Doors {
    clock: SharedClock,
    stores: BTreeMap<String, Store>,
    sessions: BTreeMap<String, Session>,
    /// Those whose names others have by now: elsewhere they stay open, too.
    unnamed_sessions: Vec<Session>,
    following: BTreeMap<String, MessageFeed>,
}

impl Doors {
    fn does(&mut self, step: &Step) -> Answer {
        self.clock.0.now_ms.set(step.value("nowMs")?.unwrap_or_default());
        self.clock.0.offset_minutes.set(step.value("offsetMinutes")?.unwrap_or_default());
        self.clock.0.set_seed(step.text("seed")?);
        let step = &Step(step.value("step")?.ok_or("expected a step, but found none")?);
        let (op, store) = (step.text("op")?, step.value("store")?.unwrap_or("store".to_string()));
        let session = step.value("session")?.unwrap_or("s".to_string());
        let named: Option<String> = step.value("as")?;
        if op == "openStore" {
            let opened = stores::open_store(step, &self.clock)?;
            let told = stores::problems(&opened);
            self.stores.insert(named.unwrap_or(store), opened);
            return told;
        }
        if let Some(answer) = plain::plain(&op, step, &self.clock) {
            return answer;
        }
        let known = self.sessions.get(&session);
        if let Some(store) = self.stores.get(&store) {
            if let Some(answer) = stores::run_store_step(store, known, &op, step)? {
                return Ok(answer);
            }
            if let Some(found) = stores::run_opening_step(store, known, &op, step)? {
                let told = found.as_ref().map_or(Ok("null".into()), sessions::render_session);
                let before = found.and_then(|found| self.sessions.insert(named.unwrap_or(session), found));
                self.unnamed_sessions.extend(before);
                return told;
            }
        }
        let known = known.ok_or_else(|| format!("expected the session \"{session}\", but found none"))?;
        match &*op {
            "follow" => {
                self.following.insert(session, known.follow()?);
                Ok("null".into())
            }
            // What has come to who follows.
            "look" => {
                let page = self.following.get_mut(&session).ok_or("expected who follows")?.look()?;
                Ok(page.unwrap_or("null".into()))
            }
            op => sessions::run_session_step(known, op, step),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut doors = Doors::default();
    let mut out = std::io::stdout();
    let mut line = String::new();
    // Held no longer than for a line: what finds secrets is asked on the same ways.
    while std::io::stdin().read_line(&mut line)? > 0 {
        let step = Step(serde_json::from_str(&line)?);
        line.clear();
        match doors.does(&step) {
            Ok(value) => writeln!(out, "{{\"value\":{}}}", one_line(&value)?)?,
            Err(error) => writeln!(out, "{}", render_refusal(error))?,
        }
    }
    Ok(())
}

/// A refusal of the store's; or a mistake, where the script asks for what Rust's types cannot say.
fn render_refusal(error: Box<dyn Error>) -> String {
    let error = match error.downcast::<leftoff::error::Error>() {
        Ok(error) => Trouble::from(*error).into(),
        Err(error) => error,
    };
    match error.downcast::<Trouble>() {
        Ok(trouble) => {
            let (code, message) = (to_json(trouble.code()), to_json(trouble.message()));
            format!("{{\"error\":{{\"code\":{code},\"message\":{message}}}}}")
        }
        Err(error) => format!("{{\"mistake\":{}}}", to_json(&error.to_string())),
    }
}

/// A document has line feeds.
fn one_line(json: &str) -> Answer {
    let indented: &RawValue = serde_json::from_str(json)?;
    Ok(indented.get().replace('\n', " "))
}
