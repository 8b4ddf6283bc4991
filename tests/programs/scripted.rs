//! The Rust host under the scripts of `tests/conformance`: a step a line of JSON on its input, its answer a line on its
//! output. Time and chance come with each step.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::rc::Rc;

use leftoff::context::Reported;
use leftoff::fs::{
    AppendOptions, Asked, Clock, Compact, Durability, Helpers, Options, Pages, Resume, Session, Store,
    Summary,
};
use leftoff::json::text::to_json;
use leftoff::layout::Placement;
use leftoff::operation::Trouble;
use leftoff::resume::{history, listing};
use leftoff::session::batch::Once;
use leftoff::shapes::Format;
use leftoff::state::stopping::find_stop_phrase;
use leftoff::time::Stamp;
use leftoff::tokens::{self, Encoding, Vocabulary, models};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

type Answer = Result<String, Box<dyn Error>>;

/// The fields of a step, as they were written: a text may have a lone surrogate.
struct Step(BTreeMap<String, Box<RawValue>>);

impl Step {
    fn raw(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|raw| raw.get())
    }

    fn value<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, serde_json::Error> {
        self.raw(key).map(serde_json::from_str).transpose()
    }

    fn text(&self, key: &str) -> Result<String, Box<dyn Error>> {
        Ok(self.value(key)?.ok_or_else(|| format!("expected \"{key}\", but found none"))?)
    }

    fn flag(&self, key: &str) -> Result<bool, serde_json::Error> {
        Ok(self.value(key)?.unwrap_or_default())
    }

    /// The rest, as one object.
    fn without(&self, taken: &[&str]) -> String {
        let rest = self.0.iter().filter(|(key, _)| !taken.contains(&key.as_str()));
        let fields: Vec<String> = rest.map(|(key, raw)| format!("{}:{raw}", to_json(key))).collect();
        format!("{{{}}}", fields.join(","))
    }
}

/// A step's moment, and what its chance is made of.
#[derive(Debug, Default)]
struct Scripted {
    now_ms: Cell<i64>,
    offset_minutes: Cell<i32>,
    seed: std::cell::RefCell<String>,
    draws: Cell<u32>,
}

#[derive(Debug)]
struct Shared(Rc<Scripted>);

impl Clock for Shared {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }

    fn stamp(&self) -> Result<Stamp, Trouble> {
        self.0.draws.set(self.0.draws.get() + 1);
        let seed = format!("{}/{}", self.0.seed.borrow(), self.0.draws.get());
        let hex = leftoff::json::hash::sha256(seed.as_bytes());
        let mut entropy = [0; 32];
        for (byte, at) in entropy.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or_default();
        }
        Ok(Stamp { now_ms: self.0.now_ms.get(), offset_minutes: self.0.offset_minutes.get(), entropy })
    }
}

/// A model's answers, one after another, the last one again and again.
#[derive(Deserialize)]
struct Model {
    answers: Vec<ModelAnswer>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum ModelAnswer {
    Text(String),
    Throws { throws: String },
    Whole { content: String, model: Option<String> },
}

/// A token for so many bytes, or these numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Counter {
    Bytes { bytes: usize },
    Gives { gives: Vec<u32> },
}

#[derive(Default)]
struct Doors {
    clock: Rc<Scripted>,
    stores: BTreeMap<String, Store>,
    sessions: BTreeMap<String, Session>,
}

impl Doors {
    fn does(&mut self, step: &Step) -> Answer {
        self.clock.now_ms.set(step.value("nowMs")?.unwrap_or_default());
        self.clock.offset_minutes.set(step.value("offsetMinutes")?.unwrap_or_default());
        let seed = step.text("seed")?;
        if *self.clock.seed.borrow() != seed {
            self.clock.draws.set(0);
            self.clock.seed.replace(seed);
        }
        let step = &Step(step.value("step")?.ok_or("expected a step, but found none")?);
        let (op, store) = (step.text("op")?, step.value("store")?.unwrap_or("store".to_string()));
        let session = step.value("session")?.unwrap_or("s".to_string());
        let named = step.value("as")?;
        if op == "openStore" {
            return self.opened(named.unwrap_or(store), step);
        }
        if op == "closeStore" {
            self.stores.remove(&store).map_or(Ok(()), Store::close)?;
            return Ok("null".into());
        }
        if let Some(answer) = plain(&op, step, &Shared(self.clock.clone())) {
            return answer;
        }
        if let Some(store) = self.stores.get(&store)
            && let Some(answer) = told_of_store(store, &op, step)
        {
            return answer;
        }
        if op == "current" {
            let found = self.stores.get(&store).ok_or("no store")?.current()?;
            let told = found.as_ref().map_or(Ok("null".into()), told)?;
            self.sessions.extend(found.map(|found| (named.unwrap_or(session), found)));
            return Ok(told);
        }
        if matches!(&*op, "point" | "mend" | "delete" | "move") {
            let (store, known) = (self.stores.get(&store), self.sessions.get(&session));
            let (store, known) = (store.ok_or("no store")?, known.ok_or("no session")?);
            let moved = match &*op {
                "point" => return Ok(store.point(known)?.to_string()),
                "mend" => return Ok(store.mend(known)?),
                "delete" => {
                    let trash = store.delete(known, step.flag("purge")?)?;
                    return Ok(format!("{{\"trash\":{}}}", to_json(&trash)));
                }
                _ => store.move_to(known, &step.without(&["op", "as", "session", "store"]))?,
            };
            let told = told(&moved)?;
            self.sessions.insert(named.unwrap_or(session), moved);
            return Ok(told);
        }
        if op == "fork" {
            let (store, of) = (self.stores.get(&store), self.sessions.get(&session));
            let rest = step.without(&["op", "as", "session", "store"]);
            let fork = store.ok_or("no store")?.fork(of.ok_or("no session")?, &rest)?;
            let told = told(&fork)?;
            self.sessions.insert(named.unwrap_or(session), fork);
            return Ok(told);
        }
        if let Some(store) = self.stores.get(&store)
            && let Some(found) = of_store(store, &op, step)
        {
            let found = found?;
            let told = told(&found)?;
            self.sessions.insert(named.unwrap_or(session), found);
            return Ok(told);
        }
        match self.sessions.get(&session) {
            Some(session) => of_session(session, &op, step),
            None => Err(format!("expected the session \"{session}\", but found none").into()),
        }
    }

    fn opened(&mut self, name: String, step: &Step) -> Answer {
        let options = Options {
            project: step.value("project")?,
            workspace: step.value("workspace")?,
            idle: step.value("idleMs")?.map(std::time::Duration::from_millis),
            clock: Some(Box::new(Shared(self.clock.clone()))),
        };
        self.stores.insert(name, Store::open_with(step.text("home")?, options)?);
        Ok("null".into())
    }
}

fn of_store(store: &Store, op: &str, step: &Step) -> Option<Result<Session, Box<dyn Error>>> {
    let rest = || step.without(&["op", "as", "session", "store"]);
    match op {
        "create" => Some(store.create(&rest()).map_err(Into::into)),
        "open" => Some(step.text("id").and_then(|id| Ok(store.session(&id)?))),
        "continue" => {
            let model = step.value::<String>("model").map_err(Into::into);
            Some(model.and_then(|model| Ok(store.go_on(model.as_deref())?)))
        }
        _ => None,
    }
}

fn told_of_store(store: &Store, op: &str, step: &Step) -> Option<Answer> {
    let rest = || step.without(&["op", "as", "session", "store"]);
    match op {
        "notices" => Some(Ok(store.notices())),
        "list" => Some(store.list(&rest()).map_err(Into::into)),
        "doctor" => Some(store.doctor(&rest(), Helpers::default()).map_err(Into::into)),
        "relocate" => Some((|| {
            let count = store.relocate(step.text("from")?, step.text("to")?)?;
            Ok(format!("{{\"count\":{count}}}"))
        })()),
        "find" => Some(step.text("words").and_then(|words| Ok(store.find(&words, &without_words(step))?))),
        "search" => Some(searched(store, step)),
        "secrets" => Some(Ok("[]".into())),
        "settings" | "listSettings" => Some(store.settings().map_err(Into::into)),
        "writeSetting" | "unsetSetting" => Some(written(store, step)),
        "tidy" => {
            let limits = step.raw("limits").unwrap_or("null");
            Some(store.tidy(limits).map(|ids| to_json(&ids)).map_err(Into::into))
        }
        _ => None,
    }
}

/// What needs no store.
fn plain(op: &str, step: &Step, clock: &Shared) -> Option<Answer> {
    let raw = |key: &str| step.raw(key).unwrap_or("null");
    Some(match op {
        "compareContexts" => compared(raw("before"), raw("after")),
        "countTokens" => counted(step),
        "findStopPhrase" => step.text("text").map(|text| to_json(&find_stop_phrase(&text))),
        "historyText" => history_text(raw("messages"), clock),
        "listText" => clock
            .stamp()
            .map_err(Into::into)
            .and_then(|stamp| Ok(to_json(&listing::text(raw("listed"), &stamp)?))),
        "modelOf" => step.text("name").map(|name| to_json(&models::find(&name))),
        _ => return None,
    })
}

fn compared(before: &str, after: &str) -> Answer {
    let (before, after) = (Reported::from_json(before)?, Reported::from_json(after)?);
    Ok(to_json(&leftoff::context::compare(&before, &after)))
}

fn history_text(messages: &str, clock: &Shared) -> Answer {
    let messages = leftoff::shapes::read(messages, Format::Leftoff)?;
    Ok(to_json(&history::render(&messages, &clock.stamp()?)))
}

fn counted(step: &Step) -> Answer {
    let (encoding, model): (Option<String>, Option<String>) = (step.value("encoding")?, step.value("model")?);
    let vocabulary = match Encoding::wanted(encoding.as_deref(), model.as_deref())? {
        Encoding::O200kBase => Some(Vocabulary::o200k_base()),
        Encoding::Cl100kBase => Some(Vocabulary::cl100k_base()),
        Encoding::Estimate1 => None,
    };
    let limit: Option<u32> = step.value("limit")?;
    let count = |text: &String| match (&vocabulary, limit) {
        (Some(vocabulary), Some(limit)) => vocabulary.count_up_to(text, limit),
        (vocabulary, _) => tokens::count(text, vocabulary.as_ref()).tokens,
    };
    match step.value::<String>("text") {
        Ok(text) => Ok(count(&text.unwrap_or_default()).to_string()),
        Err(_) => {
            let texts: Vec<String> = step.value("text")?.unwrap_or_default();
            Ok(to_json(&texts.iter().map(count).collect::<Vec<_>>()))
        }
    }
}

fn written(store: &Store, step: &Step) -> Answer {
    store.write_setting(&step.text("key")?, step.raw("value"), step.flag("project")?)?;
    Ok("null".into())
}

fn without_words(step: &Step) -> String {
    step.without(&["op", "as", "session", "store", "words", "most"])
}

fn searched(store: &Store, step: &Step) -> Answer {
    taken(store.search(&step.text("words")?, &without_words(step)), step.value("most")?)
}

/// What a step that opens a session is answered by.
fn told(session: &Session) -> Answer {
    let path = session.path();
    let path = path.to_string_lossy();
    let placement = match session.placement() {
        Placement::Home => "home",
        Placement::Workspace => "workspace",
    };
    let (id, path, metadata) = (to_json(&session.id()), to_json(&path), session.metadata());
    Ok(format!(
        "{{\"id\":{id},\"path\":{path},\"placement\":\"{placement}\",\"metadata\":{metadata},\"notices\":{}}}",
        session.notices()
    ))
}

fn of_session(session: &Session, op: &str, step: &Step) -> Answer {
    let done = |done: Result<(), Trouble>| done.map(|()| "null".to_string());
    let rest = || step.without(&["op", "as", "session", "store"]);
    let summary = || step.value::<String>("summary");
    Ok(match op {
        "append" => appended(session, step)?,
        "appendTool" => session.append_tool(step.raw("execution").unwrap_or("null"))?,
        "archive" => done(session.archive())?,
        "brief" => {
            let encoding: Option<String> = step.value("encoding")?;
            let encoding = encoding.as_deref().map_or(Some(Encoding::O200kBase), Encoding::parse);
            let encoding = encoding.ok_or("expected an encoding, but found none")?;
            to_json(&session.brief(step.value("maxTokens")?.unwrap_or(2000), encoding)?)
        }
        "closeSession" => done(session.clone().close())?,
        "compact" => {
            let how =
                Compact { apply: step.flag("apply")?, undo: step.flag("undo")?, keep: step.value("keep")? };
            let without = ["op", "as", "session", "store", "apply", "undo", "keep", "summarize", "count"];
            let request = step.without(&without);
            helped(step, session, |helpers| session.compact(&request, how, helpers))?
        }
        "complete" => done(session.complete(summary()?.as_deref()))?,
        "context" => {
            let request = step.without(&["op", "as", "session", "store", "summarize", "count"]);
            helped(step, session, |helpers| session.context(&request, helpers))?
        }
        "examine" => session.examine()?,
        "export" => to_json(&session.export(&rest()).collect::<Result<String, _>>()?),
        "flush" => done(session.flush())?,
        "lastContext" => session.last_context()?,
        "messages" => messages(session, step.value("most")?, &rest())?,
        "metadata" => session.metadata(),
        "others" => {
            let others: Vec<Box<RawValue>> = serde_json::from_str(&session.others()?)?;
            others.len().to_string()
        }
        "pause" => done(session.stop(None))?,
        "pin" => done(session.pin(&step.text("messageId")?))?,
        "pins" => session.pins()?,
        "refresh" => done(session.refresh())?,
        "rename" => done(session.rename(&step.text("title")?))?,
        "resume" => {
            let how = Resume {
                overrides: step.flag("override")?,
                revives: step.value("revives")?.unwrap_or(true),
                now: step.raw("now"),
                max_bytes: step.value("maxBytes")?,
            };
            let own = ["override", "revives", "now", "maxBytes", "summarize", "count"];
            let request = step.without(&[&["op", "as", "session", "store"], &own[..]].concat());
            helped(step, session, |helpers| session.resume(&request, how, helpers))?
        }
        "setAgent" => done(session.set_agent(step.raw("agent").unwrap_or("null")))?,
        "state" => session.state()?,
        "stop" => done(session.stop(summary()?.as_deref()))?,
        "summaryOf" => to_json(&session.summary_of(&rest())?),
        "toolExecutions" => session.tools()?,
        "unarchive" => done(session.unarchive())?,
        "unpin" => done(session.unpin(&step.text("messageId")?))?,
        op => return Err(format!("expected an operation, but found \"{op}\" instead").into()),
    })
}

fn appended(session: &Session, step: &Step) -> Answer {
    let (durability, acknowledged) = match step.value::<String>("durability")?.as_deref() {
        None | Some("durable") => (Durability::Durable, "durable"),
        Some("buffered") => (Durability::Buffered, "buffered"),
        Some(other) => return Err(format!("expected a durability, but found \"{other}\" instead").into()),
    };
    let format = step.value::<String>("format")?.unwrap_or("leftoff".into());
    let revives = step.value("revives")?.unwrap_or(true);
    let options = AppendOptions { durability, format: Format::parse(&format)?, revives };
    let messages = step.raw("messages").unwrap_or("null");
    // `null` is what no message before it is called.
    let said = |name: &str| step.raw(name).map(|value| format!("\"{name}\":{value}"));
    let conditions: Vec<String> = ["operation", "expected"].into_iter().filter_map(said).collect();
    let appended = match conditions.is_empty() {
        true => session.append(messages, options)?,
        false => {
            let once = Once::from_json(&format!("{{{}}}", conditions.join(",")))?;
            session.append_once(messages, options, once)?
        }
    };
    let lines = core::str::from_utf8(appended.lines())?;
    let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
    Ok(format!("{{\"acknowledged\":\"{acknowledged}\",\"records\":[{}]}}", lines.join(",")))
}

fn messages(session: &Session, most: Option<usize>, reading: &str) -> Answer {
    taken(session.messages(reading), most)
}

fn taken(pages: Pages, most: Option<usize>) -> Answer {
    let mut some: Vec<Box<RawValue>> = Vec::new();
    for page in pages {
        some.extend(serde_json::from_str::<Vec<Box<RawValue>>>(&page?)?);
        if most.is_some_and(|most| some.len() >= most) {
            break;
        }
    }
    some.truncate(most.unwrap_or(usize::MAX));
    Ok(serde_json::to_string(&some)?)
}

fn helped(
    step: &Step,
    session: &Session,
    work: impl FnOnce(Helpers<'_>) -> Result<String, Trouble>,
) -> Answer {
    let model: Option<Model> = step.value("summarize")?;
    let counter: Option<Counter> = step.value("count")?;
    let mut requests: Vec<String> = Vec::new();
    let mut summarize = |asked: &Asked<'_>| {
        requests.push(request(asked));
        let answers = &model.as_ref().expect("it is asked where there is one").answers;
        match answers[requests.len().min(answers.len()) - 1].clone() {
            ModelAnswer::Text(text) => Ok(Summary { text, model: None }),
            ModelAnswer::Throws { throws } => Err(throws),
            ModelAnswer::Whole { content, model } => Ok(Summary { text: content, model }),
        }
    };
    let mut count = |texts: &[String], _: &str| {
        Ok(match counter.as_ref().expect("it is asked where there is one") {
            Counter::Bytes { bytes } => texts.iter().map(|text| text.len().div_ceil(*bytes) as u32).collect(),
            Counter::Gives { gives } => gives.clone(),
        })
    };
    let mut strategy = |name: &str, _: u32, _: &str| chosen(step, session, name).map_err(|e| e.to_string());
    let answer = work(Helpers {
        summarize: model.is_some().then_some(&mut summarize),
        count: counter.is_some().then_some(&mut count),
        strategy: Some(&mut strategy),
        ..Helpers::default()
    })?;
    if model.is_none() {
        return Ok(answer);
    }
    Ok(format!("{{\"answer\":{answer},\"requests\":[{}]}}", requests.join(",")))
}

/// What a model was asked, as JavaScript is.
fn request(asked: &Asked<'_>) -> String {
    let message = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":{}}}", to_json(text));
    let mut json = format!(
        "{{\"messages\":[{},{}],\"maxTokens\":{},\"range\":{{\"startMessageId\":{},\"endMessageId\":{},\"messageCount\":{}}}",
        message("system", asked.system),
        message("user", asked.user),
        asked.max_tokens,
        to_json(asked.start_message_id),
        to_json(asked.end_message_id),
        asked.message_count
    );
    if let Some(previous) = asked.previous {
        let _ = write!(json, ",\"previous\":{}", to_json(previous));
    }
    json.push('}');
    json
}

/// A strategy that takes the newest messages, or gives what it is said to.
fn chosen(step: &Step, session: &Session, name: &str) -> Answer {
    let all: Vec<BTreeMap<String, Box<RawValue>>> = step.value("strategies")?.unwrap_or_default();
    let one = all.into_iter().map(Step).find(|one| one.text("name").is_ok_and(|found| found == name));
    let one = one.ok_or("expected a strategy, but found none")?;
    if let Some(throws) = one.value::<String>("throws")? {
        return Err(throws.into());
    }
    if let Some(gives) = one.raw("gives") {
        return Ok(if gives.starts_with('{') { gives.into() } else { "{}".into() });
    }
    let newest: usize = one.value("newest")?.unwrap_or_default();
    let said: Vec<Box<RawValue>> = serde_json::from_str(&messages(session, None, "{}")?)?;
    let from = said.len().saturating_sub(newest);
    Ok(format!("{{\"messages\":{}}}", serde_json::to_string(&said[from..])?))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut doors = Doors::default();
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let step = Step(serde_json::from_str(&line?)?);
        match doors.does(&step) {
            Ok(value) => writeln!(out, "{{\"value\":{}}}", one_line(&value)?)?,
            Err(error) => writeln!(out, "{}", refused(error))?,
        }
    }
    Ok(())
}

/// A refusal of the store's; or a mistake, where the script asks for what Rust's types cannot say.
fn refused(error: Box<dyn Error>) -> String {
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
