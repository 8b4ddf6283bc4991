//! A session, and what is done with it.

use alloc::rc::Rc;
use alloc::string::String;

use leftoff::error::Error as Refusal;
use leftoff::json::text::to_json;
use leftoff::operation::{Appending, Counts, Drafts, Leaving, Live, Store};
use leftoff::session::batch::Once;
use leftoff::session::documents::Name;
use leftoff::shapes::Format;

use crate::exports::leftoff::core::store::{AppendOptions, GuestSession, Operation};
use crate::store::{UnderWay, lines, nothing, text};

pub(crate) struct Sitting {
    pub live: Rc<Live>,
    pub store: Rc<Store>,
    pub counts: Counts,
    pub leaving: Rc<Leaving>,
}

impl Sitting {
    fn appending(&self, messages: String, options: AppendOptions) -> Result<Appending, Refusal> {
        let AppendOptions { format, durable, revives } = options;
        let format = (!format.is_empty()).then(|| Format::parse(&format)).transpose()?;
        let drafts = Drafts::Said(messages, format);
        Ok(Appending { drafts, is_durable: durable, revives, counts: self.counts.clone() })
    }
}

impl GuestSession for Sitting {
    fn id(&self) -> String {
        self.live.id()
    }

    fn path(&self) -> String {
        self.live.shown()
    }

    fn metadata(&self) -> String {
        self.live.session().borrow().document(Name::MetadataJson)
    }

    fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    fn notices(&self) -> String {
        self.live.notices()
    }

    fn append(&self, messages: String, options: AppendOptions) -> Operation {
        match self.appending(messages, options) {
            Ok(appending) => UnderWay::begun(self.live.append_messages(appending).map(lines)),
            Err(error) => UnderWay::refused(error),
        }
    }

    fn append_once(&self, messages: String, options: AppendOptions, once: String) -> Operation {
        let asked = self.appending(messages, options);
        match asked.and_then(|appending| Ok((appending, Once::from_json(&once)?))) {
            Ok((appending, once)) => UnderWay::begun(self.live.append_once(appending, once).map(lines)),
            Err(error) => UnderWay::refused(error),
        }
    }

    fn append_tool(&self, execution: String) -> Operation {
        UnderWay::begun(self.live.append_tool(execution, self.counts.clone()).map(text))
    }

    fn tools(&self) -> Operation {
        UnderWay::begun(self.live.tools().map(text))
    }

    fn messages(&self, reading: String) -> Operation {
        UnderWay::begun(self.live.messages(reading).map(nothing))
    }

    fn follow(&self) -> Operation {
        UnderWay::begun(self.live.follow().map(nothing))
    }

    fn context(&self, asked: String) -> Operation {
        UnderWay::begun(self.live.context(self.leaving.asked(asked), self.counts.clone()).map(text))
    }

    fn resume(&self, asked: String) -> Operation {
        UnderWay::begun(self.live.resume(self.leaving.asked(asked), self.counts.clone()).map(text))
    }

    fn export(&self, asked: String) -> Operation {
        UnderWay::begun(self.live.export(asked, &self.leaving).map(nothing))
    }

    fn search(&self, question: String, request: String) -> Operation {
        UnderWay::begun(self.store.search_in(self.live.id(), question, request, &self.leaving).map(nothing))
    }

    fn out(&self, value: String) -> Operation {
        UnderWay::begun(self.leaving.out(value, Some(self.live.folder())).map(|left| text(left.to_json())))
    }

    fn last_context(&self) -> Operation {
        UnderWay::begun(self.live.last_context().map(text))
    }

    fn sent_context(&self, leaves: bool) -> Operation {
        UnderWay::begun(self.live.sent_context(leaves || self.leaving.is_on()).map(text))
    }

    fn state(&self) -> Operation {
        UnderWay::begun(self.live.state().map(text))
    }

    fn brief(&self, asked: String) -> Operation {
        UnderWay::begun(self.live.brief(self.leaving.asked(asked)).map(|brief| text(to_json(&brief))))
    }

    fn pins(&self) -> Operation {
        UnderWay::begun(self.live.pins().map(text))
    }

    fn summarize(&self, asked: String) -> Operation {
        UnderWay::begun(
            self.live
                .summary_of(self.leaving.asked(asked), self.counts.clone())
                .map(|made| text(to_json(&made))),
        )
    }

    fn compact(&self, asked: String) -> Operation {
        UnderWay::begun(self.live.compact(self.leaving.asked(asked), self.counts.clone()).map(text))
    }

    fn say(&self, asked: String) -> Operation {
        UnderWay::begun(self.live.say(asked).map(nothing))
    }

    fn others(&self) -> Operation {
        UnderWay::begun(self.live.others().map(text))
    }

    fn refresh(&self) -> Operation {
        UnderWay::begun(self.live.catch_up().map(nothing))
    }

    fn look(&self) -> Operation {
        UnderWay::begun(self.live.look().map(nothing))
    }

    fn examine(&self) -> Operation {
        UnderWay::begun(self.live.examine().map(text))
    }

    fn flush(&self) -> Operation {
        UnderWay::begun(self.live.flush(true).map(nothing))
    }

    fn close(&self) -> Operation {
        UnderWay::begun(self.live.close().map(nothing))
    }
}
