//! A new session that begins as a copy of another one, up to a message: with what was said until then, and what tools did for
//! it.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Code;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::Place;
use crate::operation::live::Live;
use crate::operation::pages::{OfPath, Reading, array, json};
use crate::operation::tools::Answers;
use crate::operation::{Appending, Counts, Drafts, Io, Operation, Trouble, unless_bug};
use crate::record::event::{Agent, Change, Created, Origin};
use crate::record::id;
use crate::record::message::Message;
use crate::session::ask::Ask;
use crate::session::begin::Begin;

/// So many messages are one batch.
const BATCH: usize = 256;

/// What a fork begins with.
struct Copy {
    session_type: String,
    title: String,
    agent: Agent,
    origin: Origin,
    messages: Vec<Message>,
    /// JSON each.
    executions: Vec<String>,
}

impl Store {
    /// A new session that begins as a copy of another one, up to a message: `{"at"}`, its id, JSON; the last one unless given.
    /// Messages are counted as `counts` says. This process has it open, as one that it has appended to.
    pub fn fork(
        self: &Rc<Store>,
        of: Rc<Live>,
        request: String,
        counts: Counts,
    ) -> Operation<'static, Rc<Live>> {
        self.fork_and(of, request, counts, false)
    }

    /// The same, for who has no session open: the fork is anybody's.
    pub fn fork_apart(
        self: &Rc<Store>,
        of: Rc<Live>,
        request: String,
        counts: Counts,
    ) -> Operation<'static, Rc<Live>> {
        self.fork_and(of, request, counts, true)
    }

    fn fork_and(
        self: &Rc<Store>,
        of: Rc<Live>,
        request: String,
        counts: Counts,
        is_apart: bool,
    ) -> Operation<'static, Rc<Live>> {
        let store = self.clone();
        Operation::new(move |io| async move {
            of.refuse_if_deleted()?;
            // By its bytes, in every host: whoever has it open learns of nothing earlier by that.
            let of = of.anew();
            let live = store.forked(&io, &of, last_of(&request)?, counts).await?;
            if is_apart {
                live.released(&io).await?;
            } else {
                store.keep(&live);
            }
            Ok(live)
        })
    }

    async fn forked(
        &self,
        io: &Io,
        of: &Live,
        at: Option<String>,
        counts: Counts,
    ) -> Result<Rc<Live>, Trouble> {
        let mut copy = of.copied(io, at).await?;
        copy.title = fork_title(self, io, &copy.title).await?;
        let id = id::new(&io.stamp(), 0);
        let place = Place::Home { project: self.hash.clone(), id: id.clone() };
        let live = self.unread(&place, "");
        let written = self.fork_written(io, &live, id, (copy, counts)).await;
        if written.is_err() {
            // Nobody knows of it yet.
            unless_bug(live.released(io).await)?;
            unless_bug(io.remove(&place.folder()).await)?;
        }
        written.map(|()| live)
    }

    async fn fork_written(
        &self,
        io: &Io,
        live: &Rc<Live>,
        session: String,
        (copy, counts): (Copy, Counts),
    ) -> Result<(), Trouble> {
        let created = Created {
            session,
            session_type: copy.session_type,
            project: Some(self.described(io).await?),
            agent: Some(copy.agent),
            ..Created::default()
        };
        let then = Vec::from([Ask::from(Change::Fork(copy.origin))]);
        live.begun(io, Begin::new(created, Some(copy.title)).then(then)).await?;
        live.hold(io).await?;
        // Nobody goes on with a session by that, and the disk confirms all at once.
        let by = |drafts| Appending { drafts, is_durable: false, revives: false, counts: counts.clone() };
        for batch in copy.messages.chunks(BATCH) {
            let json = array(batch.iter().flat_map(lines_of));
            let drafts = Drafts::Copies(String::from_utf8_lossy(&json).into());
            live.appended(io, &by(drafts)).await?;
        }
        live.flushed(io, true).await?;
        live.tools_copied(io, &copy.executions).await
    }
}

// One that no other session of the project has, so that lists show which is which.
async fn fork_title(store: &Store, io: &Io, title: &str) -> Result<String, Trouble> {
    let listed = store.list_asked(io, r#"{"type":null,"archived":null}"#).await?;
    let taken: BTreeSet<&str> = listed.iter().map(|one| one.entry.title.as_str()).collect();
    let title = without_fork(title);
    let numbered = |number: usize| match number {
        1 => format!("{title} (fork)"),
        _ => format!("{title} (fork {number})"),
    };
    // One of as many more than there are is free.
    let mut titles = (1..=taken.len() + 1).map(numbered);
    Ok(titles.find(|one| !taken.contains(one.as_str())).unwrap_or_default())
}

// A fork of a fork is one more of the same.
fn without_fork(title: &str) -> &str {
    let is_number = |text: &str| {
        text.is_empty() || text.strip_prefix(' ').is_some_and(|text| text.parse::<u32>().is_ok())
    };
    let parts = title.strip_suffix(')').and_then(|title| title.rsplit_once(" (fork"));
    parts.filter(|(_, number)| is_number(number)).map_or(title, |(title, _)| title)
}

// What was written again is so in the fork, too: whoever reads that backwards looks for the first line of a revision.
fn lines_of(message: &Message) -> impl Iterator<Item = String> {
    let first = (message.rev > 0).then(|| json(&Message { rev: 0, ..message.clone() }, true));
    first.into_iter().chain([json(message, true)])
}

fn last_of(request: &str) -> Result<Option<String>, Trouble> {
    let (mut fields, bad) = (request::read(request, "at")?, &mut Vec::new());
    let at = fields.take("at", bad);
    request::refuse_bad(bad)?;
    Ok(at)
}

impl Live {
    async fn copied(&self, io: &Io, at: Option<String>) -> Result<Copy, Trouble> {
        let shown = self.shown();
        io.turn_of(&shown).await?;
        self.looked_here(io).await?;
        io.leave_of(&shown);
        self.refuse_newer()?;
        let (session_type, title, agent) = self.with(|session| {
            let metadata = session.metadata();
            let title = metadata.title(&session.known().titles);
            let mut agent = metadata.agent.clone();
            // What says nothing is as good as absent.
            agent.provider.take_if(|provider| provider.is_empty());
            agent.model.take_if(|model| model.is_empty());
            agent.context_window.take_if(|window| *window == 0);
            (metadata.session_type.clone(), title, agent)
        });
        let messages = self.said_up_to(io, at.as_ref()).await?;
        let Some(last) = messages.last().filter(|last| at.as_ref().is_none_or(|at| *at == last.id)) else {
            let message = match at {
                Some(at) => format!("no message {} in this session to fork at", to_json(&at)),
                None => "the session has no message to fork at".into(),
            };
            return Err(Trouble::refused(Code::NotFound, message));
        };
        let origin = Origin { session: self.id(), message_id: last.id.clone() };
        let executions = self.executed_for(io, &messages).await?;
        Ok(Copy { session_type, title, agent, origin, messages, executions })
    }

    async fn said_up_to(&self, io: &Io, at: Option<&String>) -> Result<Vec<Message>, Trouble> {
        let reading = Reading { leaf: at.cloned(), ..Reading::default() };
        let mut path = OfPath::begin(self, io, reading).await?;
        let mut said = Vec::new();
        while let Some(some) = path.next().await? {
            for (message, _) in some {
                let is_last = at == Some(&message.id);
                said.push(message);
                if is_last {
                    return Ok(said);
                }
            }
        }
        Ok(said)
    }

    // What tools did whose results are among these messages.
    async fn executed_for(&self, io: &Io, messages: &[Message]) -> Result<Vec<String>, Trouble> {
        let mut answers = Answers::default();
        answers.meet(messages);
        let ids: BTreeSet<_> = messages.iter().map(|message| &*message.id).collect();
        let mut executed = Box::pin(self.executed(io)).await?;
        executed.retain(|(one, _)| {
            let is_to = |owner| answers.of(owner, &one.tool_call_id).is_some();
            match one.message_id.as_deref().filter(|id| !id.is_empty()) {
                None => is_to(None),
                // Another answer may give its call the same id; and what was imported makes no call that its source did not tell.
                Some(owner) => is_to(Some(owner)) || is_to(Some("")) && ids.contains(owner),
            }
        });
        Ok(executed.into_iter().map(|(_, json)| json).collect())
    }
}
