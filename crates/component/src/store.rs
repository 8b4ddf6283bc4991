//! A store, and the operations under way.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use leftoff::error::Error as Refusal;
use leftoff::json::text::to_json;
use leftoff::layout;
use leftoff::operation::{
    self as core_of, CountingMode, ImportableList, OutgoingGate, OutgoingRedactor, SessionFiles, Setup,
    Step as Next, Trouble,
};
use leftoff::session::usage::UsageTally;

use crate::exports::leftoff::core::protocol::{Answer, Error, Stamp, VocabularyBorrow};
use crate::exports::leftoff::core::store::{
    Guest, GuestOperation, GuestStore, Operation, Placement, Redact, Session, SessionBorrow, Step, Store,
};
use crate::host_requests::to_need;
use crate::host_responses::to_host_response;
use crate::session::SessionHandle;
use crate::texts::Counter;
use crate::{Core, to_error, to_moment, trouble_error};

impl Guest for Core {
    type Operation = RunningOperation;
    type Store = StoreHandle;
    type Session = SessionHandle;
}

/// An operation's result.
pub(crate) enum Outcome {
    Text(String),
    Session(SessionHandle),
}

type OperationResult = Result<Outcome, Trouble>;
type Running = core_of::Operation<'static, OperationResult>;

pub(crate) fn text_outcome(answer: String) -> OperationResult {
    Ok(Outcome::Text(answer))
}

pub(crate) fn empty_outcome((): ()) -> OperationResult {
    text_outcome(String::new())
}

pub(crate) fn lines_outcome(lines: Vec<u8>) -> OperationResult {
    let refused = |_| Trouble::internal("expected lines of UTF-8, but found others");
    String::from_utf8(lines).map(Outcome::Text).map_err(refused)
}

/// An operation under way, or the refusal of its request.
pub(crate) struct RunningOperation(RefCell<Result<(Running, bool), Refusal>>);

impl RunningOperation {
    pub fn start(running: Running) -> Operation {
        Operation::new(RunningOperation(RefCell::new(Ok((running, false)))))
    }

    pub fn from_error(error: Refusal) -> Operation {
        Operation::new(RunningOperation(RefCell::new(Err(error))))
    }
}

impl GuestOperation for RunningOperation {
    fn next(&self, stamp: Stamp, answers: Vec<Answer<'_>>) -> Result<Step, Error> {
        let moment = to_moment(stamp);
        let mut state = self.0.borrow_mut();
        let (running, has_begun) = state.as_mut().map_err(|error| to_error(error.clone()))?;
        if !*has_begun && !answers.is_empty() {
            return Err(trouble_error(&Trouble::internal(
                "expected no answers before the first needs, but found some",
            )));
        }
        let step = if core::mem::replace(has_begun, true) {
            running.next(moment.now_ms, answers.into_iter().map(to_host_response).collect())
        } else {
            running.begin(moment)
        };
        match step {
            Next::Requests(requests) => Ok(Step::Needs(requests.into_iter().map(to_need).collect())),
            Next::Done(done) => {
                match done.and_then(|ended| ended).map_err(|trouble| trouble_error(&trouble))? {
                    Outcome::Text(text) => Ok(Step::Done(text)),
                    Outcome::Session(sitting) => Ok(Step::Session(Session::new(sitting))),
                }
            }
        }
    }
}

#[derive(Clone)]
pub(crate) struct StoreHandle {
    store: Rc<core_of::Store>,
    counts: CountingMode,
    gate: Rc<OutgoingGate>,
}

impl StoreHandle {
    fn session_handle(&self, session_files: Rc<SessionFiles>) -> SessionHandle {
        SessionHandle {
            files: session_files,
            store: self.store.clone(),
            counts: self.counts.clone(),
            redactor: OutgoingRedactor::new(&self.gate),
        }
    }

    /// Starts an operation that ends with a session, or with null.
    fn start_session_operation(
        &self,
        found: core_of::Operation<'static, Option<Rc<SessionFiles>>>,
    ) -> Operation {
        let folder = self.clone();
        RunningOperation::start(found.map(move |found| match found {
            None => text_outcome("null".into()),
            Some(files) => Ok(Outcome::Session(folder.session_handle(files))),
        }))
    }
}

fn place_of(session: SessionBorrow<'_>) -> (String, layout::Placement) {
    let files = &session.get::<SessionHandle>().files;
    (files.shown_folder(), files.placement())
}

fn placement_of(placement: Placement) -> layout::Placement {
    match placement {
        Placement::Home => layout::Placement::Home,
        Placement::Workspace => layout::Placement::Workspace,
    }
}

impl GuestStore for StoreHandle {
    fn open(setup: String, counts: Option<VocabularyBorrow<'_>>, redact: Redact) -> Result<Store, Error> {
        let counts = CountingMode::of_setup(&setup, counts.map(|known| known.get::<Counter>().0.clone()));
        let redacts = redact != Redact::Off;
        let setup = Setup { redacts, ..Setup::from_json(&setup).map_err(to_error)? };
        let gate = OutgoingGate::new(match redact {
            Redact::Off => core_of::RedactMode::Off,
            Redact::Report => core_of::RedactMode::Report,
            Redact::Replace => core_of::RedactMode::Replace,
        });
        Ok(Store::new(StoreHandle { store: core_of::Store::new(setup), counts, gate }))
    }

    fn project_hash(&self) -> String {
        self.store.project_hash().into()
    }

    fn session(&self, id: String) -> Operation {
        self.start_session_operation(self.store.session(id).map(Some))
    }

    fn session_at(&self, path: String, placement: Placement) -> Operation {
        self.start_session_operation(self.store.open(path, placement_of(placement)).map(Some))
    }

    fn forget(&self, session: SessionBorrow<'_>) {
        self.store.forget(&session.get::<SessionHandle>().files);
    }

    fn list(&self, request: String) -> Operation {
        RunningOperation::start(
            self.store.list_outgoing(request, &OutgoingRedactor::new(&self.gate)).map(text_outcome),
        )
    }

    fn list_importable(&self, request: String) -> Operation {
        let redactor = OutgoingRedactor::new(&self.gate);
        RunningOperation::start(ImportableList::of_store(&self.store, request, &redactor).map(text_outcome))
    }

    fn newest_messages(&self, path: String, placement: Placement) -> Operation {
        let redactor = OutgoingRedactor::new(&self.gate);
        let newest = self.store.newest_messages(path, placement_of(placement), &redactor);
        RunningOperation::start(newest.map(empty_outcome))
    }

    fn search(&self, question: String, request: String) -> Operation {
        let redactor = OutgoingRedactor::new(&self.gate);
        RunningOperation::start(self.store.search(question, request, &redactor).map(empty_outcome))
    }

    fn recall(&self, question: String, request: String) -> Operation {
        let redactor = OutgoingRedactor::new(&self.gate);
        RunningOperation::start(self.store.recall(question, request, &redactor).map(text_outcome))
    }

    fn usage(&self, request: String) -> Operation {
        let redactor = OutgoingRedactor::new(&self.gate);
        RunningOperation::start(UsageTally::of_store(&self.store, request, &redactor).map(text_outcome))
    }

    fn turn(&self, conversation: String, request: String) -> Operation {
        let redactor = OutgoingRedactor::new(&self.gate);
        RunningOperation::start(self.store.turn(conversation, request, &redactor).map(text_outcome))
    }

    fn create_from_source(&self, request: String) -> Operation {
        let created = self.store.create_from_source(request);
        RunningOperation::start(created.map(|id| text_outcome(to_json(&id))))
    }

    fn record_message(&self, session: SessionBorrow<'_>, request: String) -> Operation {
        let id = session.get::<SessionHandle>().files.id();
        let recorded = self.store.record_message(id, request, self.counts.clone());
        RunningOperation::start(recorded.map(|count| text_outcome(to_json(&count))))
    }

    fn of_source(&self, source: String) -> Operation {
        RunningOperation::start(self.store.find_by_source(source).map(|id| text_outcome(to_json(&id))))
    }

    fn current(&self) -> Operation {
        self.start_session_operation(self.store.current())
    }

    fn go_on(&self, request: String) -> Operation {
        self.start_session_operation(self.store.go_on(request).map(Some))
    }

    fn point(&self, session: SessionBorrow<'_>) -> Operation {
        let files = &session.get::<SessionHandle>().files;
        RunningOperation::start(
            self.store
                .point_to(files.id(), files.shown_folder())
                .map(|is_written| text_outcome(to_json(&is_written))),
        )
    }

    fn unpoint(&self) -> Operation {
        RunningOperation::start(self.store.unpoint().map(empty_outcome))
    }

    fn import_file(&self, request: String) -> Operation {
        RunningOperation::start(self.store.import_file(request, self.counts.clone()).map(text_outcome))
    }

    fn import_files(&self, request: String) -> Operation {
        RunningOperation::start(self.store.import_files(request, self.counts.clone()).map(text_outcome))
    }

    fn record(&self, request: String) -> Operation {
        let open = self.store.record_and_open(request, self.counts.clone());
        self.start_session_operation(open.map(|open| open.into_iter().next()))
    }

    fn fork(&self, session: SessionBorrow<'_>, request: String) -> Operation {
        let files = session.get::<SessionHandle>().files.clone();
        self.start_session_operation(self.store.fork(files, request, self.counts.clone()).map(Some))
    }

    fn info(&self, session: SessionBorrow<'_>) -> Operation {
        RunningOperation::start(self.store.info(&session.get::<SessionHandle>().files).map(text_outcome))
    }

    fn continued_by(&self, session: SessionBorrow<'_>, text: String) -> Operation {
        let id = session.get::<SessionHandle>().files.id();
        RunningOperation::start(self.store.note_text(text, id).map(empty_outcome))
    }

    fn write_for_agent(&self, request: String) -> Operation {
        RunningOperation::start(self.store.write_for_agent(request).map(text_outcome))
    }

    fn commit(&self, session: SessionBorrow<'_>, title: String) -> Operation {
        let (shown, placement) = place_of(session);
        RunningOperation::start(self.store.commit(shown, placement, title).map(text_outcome))
    }

    fn tidy(&self, limits: String) -> Operation {
        RunningOperation::start(self.store.tidy(limits).map(|ids| text_outcome(to_json(&ids))))
    }

    fn rest(&self) -> Operation {
        RunningOperation::start(self.store.pause_idle().map(empty_outcome))
    }

    fn move_(&self, session: SessionBorrow<'_>, request: String) -> Operation {
        let files = &session.get::<SessionHandle>().files;
        self.start_session_operation(self.store.move_to(files, request).map(Some))
    }

    fn delete(&self, session: SessionBorrow<'_>, purges: bool) -> Operation {
        let files = &session.get::<SessionHandle>().files;
        RunningOperation::start(
            self.store.delete_with_words(files, purges).map(|trash| text_outcome(to_json(&trash))),
        )
    }

    fn trashed(&self) -> Operation {
        RunningOperation::start(self.store.list_trash().map(text_outcome))
    }

    fn restore(&self, id: String) -> Operation {
        RunningOperation::start(self.store.restore(id).map(text_outcome))
    }

    fn doctor(&self, request: String) -> Operation {
        RunningOperation::start(self.store.doctor(request).map(text_outcome))
    }

    fn mend(&self, session: SessionBorrow<'_>) -> Operation {
        let (shown, placement) = place_of(session);
        RunningOperation::start(self.store.mend(shown, placement).map(text_outcome))
    }

    fn relocate(&self, old: String, to: String, normal: String) -> Operation {
        RunningOperation::start(
            self.store.relocate_project(old, to, normal).map(|count| text_outcome(to_json(&count))),
        )
    }

    fn settings(&self) -> Operation {
        RunningOperation::start(self.store.setup().settings().map(|read| text_outcome(read.to_json())))
    }

    fn write_setting(&self, key: String, value: Option<String>, of_project: bool) -> Operation {
        RunningOperation::start(self.store.setup().write_setting(key, value, of_project).map(empty_outcome))
    }

    fn save_output(&self, output: String) -> Operation {
        RunningOperation::start(self.store.save_output(output).map(text_outcome))
    }

    fn load_output(&self, path: String) -> Operation {
        RunningOperation::start(self.store.load_output(path).map(text_outcome))
    }

    fn outputs(&self, request: String) -> Operation {
        RunningOperation::start(self.store.outputs(request).map(text_outcome))
    }

    fn has_outputs(&self) -> bool {
        self.store.has_outputs()
    }

    fn clear_outputs(&self, request: String) -> Operation {
        RunningOperation::start(self.store.clear_outputs(request).map(|count| text_outcome(to_json(&count))))
    }

    fn output_menu(&self, request: String) -> Operation {
        RunningOperation::start(self.store.output_menu(request).map(text_outcome))
    }

    fn output_prompt(&self, request: String) -> Operation {
        RunningOperation::start(self.store.output_prompt(request).map(text_outcome))
    }

    fn close(&self) -> Operation {
        RunningOperation::start(self.store.close().map(empty_outcome))
    }

    fn notices(&self) -> String {
        self.store.notices()
    }

    fn out(&self, value: String) -> Operation {
        RunningOperation::start(
            OutgoingRedactor::new(&self.gate)
                .redact_value(value, None)
                .map(|left| text_outcome(left.to_json())),
        )
    }

    fn secrets(&self) -> String {
        to_json(&self.gate.reported_secrets())
    }

    fn create(&self, request: String) -> Operation {
        self.start_session_operation(self.store.create(request).map(Some))
    }
}
