//! Paged reading as an iterator: each page is read when it is asked for.

use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::FusedIterator;

use super::helpers::Helpers;
use super::host::Host;
use crate::operation::{HostRequest, HostResponse, Operation, Step, Trouble};

/// An iterator over pages, each JSON or a piece of a text. To stop, drop it; after an error nothing more comes.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
/// session.append(r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi."}]"#, Default::default())?;
/// let mut pages = session.messages(r#"{"newestFirst":true}"#);
/// let newest = pages.next().expect("there is one")?;
/// assert!(newest.starts_with("[{") && newest.contains("Hi."));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pages<'a> {
    host: Rc<Host>,
    helpers: Helpers<'a>,
    operation: Operation<'static, ()>,
    state: PageState,
    // Pages that came with the one before.
    pending_pages: VecDeque<Vec<u8>>,
    // Responses to hand over when the next page is asked for.
    pending_responses: Vec<HostResponse>,
    // Whether it returns nothing for now instead of waiting.
    is_polling: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageState {
    Begin,
    Page,
    End,
}

impl<'a> Pages<'a> {
    pub(super) fn new(host: &Rc<Host>, operation: Operation<'static, ()>, helpers: Helpers<'a>) -> Pages<'a> {
        Pages {
            host: host.clone(),
            helpers,
            operation,
            state: PageState::Begin,
            pending_pages: VecDeque::new(),
            pending_responses: Vec::new(),
            is_polling: false,
        }
    }

    fn next_page(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        if let Some(page) = self.pending_pages.pop_front() {
            return Ok(Some(page));
        }
        let mut step = match self.state {
            PageState::Begin => self.operation.begin(self.host.clock.stamp()?),
            PageState::Page => {
                self.operation.next(self.host.clock.now_ms(), core::mem::take(&mut self.pending_responses))
            }
            PageState::End => return Ok(None),
        };
        loop {
            let mut requests = match step {
                Step::Done(done) => return done.map(|()| None),
                Step::Requests(requests) => requests,
            };
            if self.is_polling
                && let [HostRequest::Wait { .. }] = requests[..]
            {
                self.pending_responses = Vec::from([HostResponse::Done]);
                return Ok(None);
            }
            for request in &mut requests {
                if let HostRequest::Page { bytes } = request {
                    self.pending_pages.push_back(core::mem::take(bytes));
                }
            }
            // A page may come beside other requests.
            let answers = self.host.answer_all(requests, &mut self.helpers, None);
            if let Some(page) = self.pending_pages.pop_front() {
                self.pending_responses = answers;
                return Ok(Some(page));
            }
            step = self.operation.next(self.host.clock.now_ms(), answers);
        }
    }
}

impl Iterator for Pages<'_> {
    type Item = Result<String, Trouble>;

    fn next(&mut self) -> Option<Result<String, Trouble>> {
        let page = self.next_page();
        self.state = if matches!(page, Ok(Some(_))) { PageState::Page } else { PageState::End };
        page.transpose().map(|page| page.and_then(text))
    }
}

impl FusedIterator for Pages<'_> {}

/// A feed of what is appended to a session. The caller polls it as often as it likes and waits in between in its own
/// way.
#[derive(Debug)]
pub struct MessageFeed(Pages<'static>);

impl MessageFeed {
    pub(super) fn new(pages: Pages<'static>) -> Result<MessageFeed, Trouble> {
        let mut followed = MessageFeed(Pages { is_polling: true, ..pages });
        followed.look()?;
        Ok(followed)
    }

    /// Returns a page, a JSON array, of the messages that came since; nothing if there are none for now. A revised
    /// message comes again.
    ///
    /// # Errors
    /// Those of a storage; after one nothing more comes.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let mut followed = session.follow()?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// while let Some(page) = followed.look()? {
    ///     assert!(page.contains("Hello"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn look(&mut self) -> Result<Option<String>, Trouble> {
        let page = self.0.next_page();
        self.0.state = if page.is_ok() { PageState::Page } else { PageState::End };
        page?.map(text).transpose()
    }
}

fn text(page: Vec<u8>) -> Result<String, Trouble> {
    String::from_utf8(page).map_err(|_| Trouble::internal("expected a page of UTF-8"))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use crate::fs::Store;

    #[test]
    fn no_page_is_lost_that_comes_beside_another_need() {
        let home = tempfile::TempDir::new().expect("a folder");
        let session = Store::open(home.path()).expect("opened").create("{}").expect("begun");
        let text = session.export(r#"{"format":"json"}"#).collect::<Result<String, _>>().expect("exported");
        assert!(text.starts_with('{') && text.contains(r#""messages": []"#), "{text}");
    }
}
