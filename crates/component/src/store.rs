//! A store, and operations under way.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use leftoff::error::Error as Refusal;
use leftoff::json::text::to_json;
use leftoff::layout;
use leftoff::operation::{self as core_of, Counts, Door, Leaving, Live, Setup, Step as Next, Trouble};

use crate::answers::said;
use crate::exports::leftoff::core::protocol::{Answer, Error, Stamp, VocabularyBorrow};
use crate::exports::leftoff::core::store::{
    Guest, GuestOperation, GuestStore, Operation, Placement, Redact, Session, SessionBorrow, Step, Store,
};
use crate::needs::needed;
use crate::session::Sitting;
use crate::texts::Counter;
use crate::{Core, moment, refused, told};

impl Guest for Core {
    type Operation = UnderWay;
    type Store = Folder;
    type Session = Sitting;
}

/// What an operation comes to.
pub(crate) enum Outcome {
    Text(String),
    Session(Sitting),
}

type Ended = Result<Outcome, Trouble>;
type Running = core_of::Operation<'static, Ended>;

pub(crate) fn text(answer: String) -> Ended {
    Ok(Outcome::Text(answer))
}

pub(crate) fn nothing((): ()) -> Ended {
    text(String::new())
}

pub(crate) fn lines(lines: Vec<u8>) -> Ended {
    let refused = |_| Trouble::internal("expected lines of UTF-8, but found others");
    String::from_utf8(lines).map(Outcome::Text).map_err(refused)
}

/// What was asked for; refused where it was no request.
pub(crate) struct UnderWay(RefCell<Result<(Running, bool), Refusal>>);

impl UnderWay {
    pub fn begun(running: Running) -> Operation {
        Operation::new(UnderWay(RefCell::new(Ok((running, false)))))
    }

    pub fn refused(error: Refusal) -> Operation {
        Operation::new(UnderWay(RefCell::new(Err(error))))
    }
}

impl GuestOperation for UnderWay {
    fn next(&self, stamp: Stamp, answers: Vec<Answer<'_>>) -> Result<Step, Error> {
        let moment = moment(stamp);
        let mut state = self.0.borrow_mut();
        let (running, has_begun) = state.as_mut().map_err(|error| refused(error.clone()))?;
        if !*has_begun && !answers.is_empty() {
            return Err(told(&Trouble::internal(
                "expected no answers before the first needs, but found some",
            )));
        }
        let step = if core::mem::replace(has_begun, true) {
            running.next(moment.now_ms, answers.into_iter().map(said).collect())
        } else {
            running.begin(moment)
        };
        match step {
            Next::Needs(needs) => Ok(Step::Needs(needs.into_iter().map(needed).collect())),
            Next::Done(done) => match done.and_then(|ended| ended).map_err(|trouble| told(&trouble))? {
                Outcome::Text(text) => Ok(Step::Done(text)),
                Outcome::Session(sitting) => Ok(Step::Session(Session::new(sitting))),
            },
        }
    }
}

#[derive(Clone)]
pub(crate) struct Folder {
    store: Rc<core_of::Store>,
    counts: Counts,
    door: Rc<Door>,
}

impl Folder {
    fn sitting(&self, live: Rc<Live>) -> Sitting {
        Sitting {
            live,
            store: self.store.clone(),
            counts: self.counts.clone(),
            leaving: Leaving::new(&self.door),
        }
    }

    /// Ends with a session, or with null.
    fn ends(&self, found: core_of::Operation<'static, Option<Rc<Live>>>) -> Operation {
        let folder = self.clone();
        UnderWay::begun(found.map(move |found| match found {
            None => text("null".into()),
            Some(live) => Ok(Outcome::Session(folder.sitting(live))),
        }))
    }
}

fn place_of(session: SessionBorrow<'_>) -> (String, layout::Placement) {
    let live = &session.get::<Sitting>().live;
    (live.shown(), live.placement())
}

fn placement_of(placement: Placement) -> layout::Placement {
    match placement {
        Placement::Home => layout::Placement::Home,
        Placement::Workspace => layout::Placement::Workspace,
    }
}

impl GuestStore for Folder {
    fn open(setup: String, counts: Option<VocabularyBorrow<'_>>, redact: Redact) -> Result<Store, Error> {
        let counts = Counts::of_setup(&setup, counts.map(|known| known.get::<Counter>().0.clone()));
        let redacts = redact != Redact::Off;
        let setup = Setup { redacts, ..Setup::from_json(&setup).map_err(refused)? };
        let door = Door::new(match redact {
            Redact::Off => core_of::Redact::Off,
            Redact::Report => core_of::Redact::Report,
            Redact::Replace => core_of::Redact::Replace,
        });
        Ok(Store::new(Folder { store: core_of::Store::new(setup), counts, door }))
    }

    fn project_hash(&self) -> String {
        self.store.project_hash().into()
    }

    fn session(&self, id: String) -> Operation {
        self.ends(self.store.session(id).map(Some))
    }

    fn session_at(&self, path: String, placement: Placement) -> Operation {
        self.ends(self.store.open(path, placement_of(placement)).map(Some))
    }

    fn forget(&self, session: SessionBorrow<'_>) {
        self.store.forget(&session.get::<Sitting>().live);
    }

    fn list(&self, request: String) -> Operation {
        UnderWay::begun(self.store.list_out(request, &Leaving::new(&self.door)).map(text))
    }

    fn newest_messages(&self, path: String, placement: Placement) -> Operation {
        let leaving = Leaving::new(&self.door);
        let newest = self.store.newest_messages(path, placement_of(placement), &leaving);
        UnderWay::begun(newest.map(nothing))
    }

    fn search(&self, question: String, request: String) -> Operation {
        let leaving = Leaving::new(&self.door);
        UnderWay::begun(self.store.search(question, request, &leaving).map(nothing))
    }

    fn recall(&self, question: String, request: String) -> Operation {
        let leaving = Leaving::new(&self.door);
        UnderWay::begun(self.store.recall(question, request, &leaving).map(text))
    }

    fn turn(&self, conversation: String, request: String) -> Operation {
        let leaving = Leaving::new(&self.door);
        UnderWay::begun(self.store.turn(conversation, request, &leaving).map(text))
    }

    fn of_source(&self, source: String) -> Operation {
        UnderWay::begun(self.store.of_source(source).map(|id| text(to_json(&id))))
    }

    fn current(&self) -> Operation {
        self.ends(self.store.current())
    }

    fn go_on(&self, request: String) -> Operation {
        self.ends(self.store.go_on(request).map(Some))
    }

    fn point(&self, session: SessionBorrow<'_>) -> Operation {
        let live = &session.get::<Sitting>().live;
        UnderWay::begun(
            self.store.point_to(live.id(), live.shown()).map(|is_written| text(to_json(&is_written))),
        )
    }

    fn unpoint(&self) -> Operation {
        UnderWay::begun(self.store.unpoint().map(nothing))
    }

    fn import_file(&self, request: String) -> Operation {
        UnderWay::begun(self.store.import_file(request, self.counts.clone()).map(text))
    }

    fn import_files(&self, request: String) -> Operation {
        UnderWay::begun(self.store.import_files(request, self.counts.clone()).map(text))
    }

    fn record(&self, request: String) -> Operation {
        let open = self.store.record_and_open(request, self.counts.clone());
        self.ends(open.map(|open| open.into_iter().next()))
    }

    fn fork(&self, session: SessionBorrow<'_>, request: String) -> Operation {
        let live = session.get::<Sitting>().live.clone();
        self.ends(self.store.fork(live, request, self.counts.clone()).map(Some))
    }

    fn info(&self, session: SessionBorrow<'_>) -> Operation {
        UnderWay::begun(self.store.info(&session.get::<Sitting>().live).map(text))
    }

    fn continued_by(&self, session: SessionBorrow<'_>, text: String) -> Operation {
        let id = session.get::<Sitting>().live.id();
        UnderWay::begun(self.store.note_text(text, id).map(nothing))
    }

    fn write_for_agent(&self, asked: String) -> Operation {
        UnderWay::begun(self.store.write_for_agent(asked).map(text))
    }

    fn commit(&self, session: SessionBorrow<'_>, title: String) -> Operation {
        let (shown, placement) = place_of(session);
        UnderWay::begun(self.store.commit(shown, placement, title).map(text))
    }

    fn tidy(&self, limits: String) -> Operation {
        UnderWay::begun(self.store.tidy(limits).map(|ids| text(to_json(&ids))))
    }

    fn rest(&self) -> Operation {
        UnderWay::begun(self.store.rest().map(nothing))
    }

    fn move_(&self, session: SessionBorrow<'_>, request: String) -> Operation {
        let live = &session.get::<Sitting>().live;
        self.ends(self.store.move_to(live, request).map(Some))
    }

    fn delete(&self, session: SessionBorrow<'_>, purges: bool) -> Operation {
        let live = &session.get::<Sitting>().live;
        UnderWay::begun(self.store.delete_with_words(live, purges).map(|trash| text(to_json(&trash))))
    }

    fn trashed(&self) -> Operation {
        UnderWay::begun(self.store.trashed().map(text))
    }

    fn restore(&self, id: String) -> Operation {
        UnderWay::begun(self.store.restore(id).map(text))
    }

    fn doctor(&self, asked: String) -> Operation {
        UnderWay::begun(self.store.doctor(asked).map(text))
    }

    fn mend(&self, session: SessionBorrow<'_>) -> Operation {
        let (shown, placement) = place_of(session);
        UnderWay::begun(self.store.mend(shown, placement).map(text))
    }

    fn relocate(&self, old: String, to: String, normal: String) -> Operation {
        UnderWay::begun(self.store.relocate(old, to, normal).map(|count| text(to_json(&count))))
    }

    fn settings(&self) -> Operation {
        UnderWay::begun(self.store.setup().settings().map(|read| text(read.to_json())))
    }

    fn write_setting(&self, key: String, value: Option<String>, of_project: bool) -> Operation {
        UnderWay::begun(self.store.setup().write_setting(key, value, of_project).map(nothing))
    }

    fn save_output(&self, output: String) -> Operation {
        UnderWay::begun(self.store.save_output(output).map(text))
    }

    fn load_output(&self, path: String) -> Operation {
        UnderWay::begun(self.store.load_output(path).map(text))
    }

    fn outputs(&self, asked: String) -> Operation {
        UnderWay::begun(self.store.outputs(asked).map(text))
    }

    fn has_outputs(&self) -> bool {
        self.store.has_outputs()
    }

    fn clear_outputs(&self, asked: String) -> Operation {
        UnderWay::begun(self.store.clear_outputs(asked).map(|count| text(to_json(&count))))
    }

    fn output_menu(&self, asked: String) -> Operation {
        UnderWay::begun(self.store.output_menu(asked).map(text))
    }

    fn output_prompt(&self, asked: String) -> Operation {
        UnderWay::begun(self.store.output_prompt(asked).map(text))
    }

    fn close(&self) -> Operation {
        UnderWay::begun(self.store.close().map(nothing))
    }

    fn notices(&self) -> String {
        self.store.notices()
    }

    fn out(&self, value: String) -> Operation {
        UnderWay::begun(Leaving::new(&self.door).out(value, None).map(|left| text(left.to_json())))
    }

    fn secrets(&self) -> String {
        to_json(&self.door.told())
    }

    fn create(&self, request: String) -> Operation {
        self.ends(self.store.create(request).map(Some))
    }
}
