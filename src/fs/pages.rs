//! What is read in pages, as an iterator: each page is read once it is asked for.

use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::FusedIterator;

use super::helpers::Helpers;
use super::host::Host;
use crate::operation::{Answer, Need, Operation, Step, Trouble};

/// Pages, each JSON or a piece of a text, and what the caller does for them. Who wants no more drops it; behind what is refused
/// there is nothing more.
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
    at: At,
    // Those that came with the one before.
    pages: VecDeque<Vec<u8>>,
    // What is said once somebody wants more.
    answers: Vec<Answer>,
    // Where it would wait, it gives nothing for now.
    looks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
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
            at: At::Begin,
            pages: VecDeque::new(),
            answers: Vec::new(),
            looks: false,
        }
    }

    fn page(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        if let Some(page) = self.pages.pop_front() {
            return Ok(Some(page));
        }
        let mut step = match self.at {
            At::Begin => self.operation.begin(self.host.clock.stamp()?),
            At::Page => self.operation.next(self.host.clock.now_ms(), core::mem::take(&mut self.answers)),
            At::End => return Ok(None),
        };
        loop {
            let mut needs = match step {
                Step::Done(done) => return done.map(|()| None),
                Step::Needs(needs) => needs,
            };
            if self.looks
                && let [Need::Wait { .. }] = needs[..]
            {
                self.answers = Vec::from([Answer::Done]);
                return Ok(None);
            }
            for need in &mut needs {
                if let Need::Page { bytes } = need {
                    self.pages.push_back(core::mem::take(bytes));
                }
            }
            // A page may come beside other needs.
            let answers = self.host.answers(needs, &mut self.helpers, None);
            if let Some(page) = self.pages.pop_front() {
                self.answers = answers;
                return Ok(Some(page));
            }
            step = self.operation.next(self.host.clock.now_ms(), answers);
        }
    }
}

impl Iterator for Pages<'_> {
    type Item = Result<String, Trouble>;

    fn next(&mut self) -> Option<Result<String, Trouble>> {
        let page = self.page();
        self.at = if matches!(page, Ok(Some(_))) { At::Page } else { At::End };
        page.transpose().map(|page| page.and_then(text))
    }
}

impl FusedIterator for Pages<'_> {}

/// What is appended to a session: asked for as often as one likes, by whoever waits in between in a way of their own.
#[derive(Debug)]
pub struct Followed(Pages<'static>);

impl Followed {
    pub(super) fn new(pages: Pages<'static>) -> Result<Followed, Trouble> {
        let mut followed = Followed(Pages { looks: true, ..pages });
        followed.look()?;
        Ok(followed)
    }

    /// A page, a JSON array, of the messages that came since: nothing where there are none for now. A message that is written again
    /// comes again.
    ///
    /// # Errors
    /// Those of a storage; then nothing comes any more.
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
        let page = self.0.page();
        self.0.at = if page.is_ok() { At::Page } else { At::End };
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
