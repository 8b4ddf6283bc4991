//! A session and its operations.

use alloc::rc::Rc;
use alloc::string::String;

use leftoff::error::Error as Refusal;
use leftoff::json::text::to_json;
use leftoff::operation::{AppendRequest, CountingMode, Drafts, OutgoingRedactor, SessionFiles, Store};
use leftoff::session::batch::AppendConditions;
use leftoff::session::documents::DocumentName;
use leftoff::shapes::Format;

use crate::exports::leftoff::core::store::{AppendOptions, GuestSession, Operation};
use crate::store::{RunningOperation, empty_outcome, lines_outcome, text_outcome};

pub(crate) struct SessionHandle {
    pub files: Rc<SessionFiles>,
    pub store: Rc<Store>,
    pub counts: CountingMode,
    pub redactor: Rc<OutgoingRedactor>,
}

impl SessionHandle {
    fn append_request(&self, messages: String, options: AppendOptions) -> Result<AppendRequest, Refusal> {
        let AppendOptions { format, durable, revives } = options;
        let format = (!format.is_empty()).then(|| Format::parse(&format)).transpose()?;
        let drafts = Drafts::Json(messages, format);
        Ok(AppendRequest { drafts, is_durable: durable, revives, counts: self.counts.clone() })
    }
}

impl GuestSession for SessionHandle {
    fn id(&self) -> String {
        self.files.id()
    }

    fn path(&self) -> String {
        self.files.shown_folder()
    }

    fn metadata(&self) -> String {
        self.files.session().borrow().document(DocumentName::MetadataJson)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn notices(&self) -> String {
        self.files.notices()
    }

    fn append(&self, messages: String, options: AppendOptions) -> Operation {
        match self.append_request(messages, options) {
            Ok(appending) => {
                RunningOperation::start(self.files.append_messages(appending).map(lines_outcome))
            }
            Err(error) => RunningOperation::from_error(error),
        }
    }

    fn append_once(&self, messages: String, options: AppendOptions, once: String) -> Operation {
        let request = self.append_request(messages, options);
        match request.and_then(|appending| Ok((appending, AppendConditions::from_json(&once)?))) {
            Ok((appending, once)) => {
                RunningOperation::start(self.files.append_once(appending, once).map(lines_outcome))
            }
            Err(error) => RunningOperation::from_error(error),
        }
    }

    fn append_tool(&self, execution: String) -> Operation {
        RunningOperation::start(self.files.append_tool(execution, self.counts.clone()).map(text_outcome))
    }

    fn tools(&self) -> Operation {
        RunningOperation::start(self.files.tools().map(text_outcome))
    }

    fn messages(&self, reading: String) -> Operation {
        RunningOperation::start(self.files.messages(reading).map(empty_outcome))
    }

    fn follow(&self) -> Operation {
        RunningOperation::start(self.files.follow().map(empty_outcome))
    }

    fn context(&self, request: String) -> Operation {
        RunningOperation::start(
            self.files.context(self.redactor.add_leaves_flag(request), self.counts.clone()).map(text_outcome),
        )
    }

    fn resume(&self, request: String) -> Operation {
        RunningOperation::start(
            self.files.resume(self.redactor.add_leaves_flag(request), self.counts.clone()).map(text_outcome),
        )
    }

    fn export(&self, request: String) -> Operation {
        RunningOperation::start(self.files.export(request, &self.redactor).map(empty_outcome))
    }

    fn search(&self, question: String, request: String) -> Operation {
        RunningOperation::start(
            self.store.search_in(self.files.id(), question, request, &self.redactor).map(empty_outcome),
        )
    }

    fn out(&self, value: String) -> Operation {
        RunningOperation::start(
            self.redactor
                .redact_value(value, Some(self.files.folder()))
                .map(|left| text_outcome(left.to_json())),
        )
    }

    fn last_context(&self) -> Operation {
        RunningOperation::start(self.files.last_context().map(text_outcome))
    }

    fn sent_context(&self, leaves: bool) -> Operation {
        RunningOperation::start(self.files.sent_context(leaves || self.redactor.is_on()).map(text_outcome))
    }

    fn state(&self) -> Operation {
        RunningOperation::start(self.files.state().map(text_outcome))
    }

    fn brief(&self, request: String) -> Operation {
        RunningOperation::start(
            self.files
                .brief(self.redactor.add_leaves_flag(request))
                .map(|brief| text_outcome(to_json(&brief))),
        )
    }

    fn pins(&self) -> Operation {
        RunningOperation::start(self.files.pins().map(text_outcome))
    }

    fn summarize(&self, request: String) -> Operation {
        RunningOperation::start(
            self.files
                .summary_of(self.redactor.add_leaves_flag(request), self.counts.clone())
                .map(|made| text_outcome(to_json(&made))),
        )
    }

    fn compact(&self, request: String) -> Operation {
        RunningOperation::start(
            self.files.compact(self.redactor.add_leaves_flag(request), self.counts.clone()).map(text_outcome),
        )
    }

    fn say(&self, request: String) -> Operation {
        RunningOperation::start(self.files.record_changes(request).map(empty_outcome))
    }

    fn others(&self) -> Operation {
        RunningOperation::start(self.files.list_holders().map(text_outcome))
    }

    fn refresh(&self) -> Operation {
        RunningOperation::start(self.files.refresh_logs().map(empty_outcome))
    }

    fn look(&self) -> Operation {
        RunningOperation::start(self.files.refresh().map(empty_outcome))
    }

    fn examine(&self) -> Operation {
        RunningOperation::start(self.files.examine().map(text_outcome))
    }

    fn flush(&self) -> Operation {
        RunningOperation::start(self.files.flush(true).map(empty_outcome))
    }

    fn close(&self) -> Operation {
        RunningOperation::start(self.files.close().map(empty_outcome))
    }
}
