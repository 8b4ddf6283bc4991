//! What is read in pages, as an iterator: each page is read once it is asked for.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::FusedIterator;

use super::helpers::Helpers;
use super::host::Host;
use crate::operation::{Answer, Need, Operation, Step, Trouble};

/// Pages, each JSON or a piece of a text. Who wants no more drops it; behind what is refused there is nothing more.
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
pub struct Pages {
    host: Rc<Host>,
    operation: Operation<'static, ()>,
    at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Begin,
    Page,
    End,
}

impl Pages {
    pub(super) fn new(host: &Rc<Host>, operation: Operation<'static, ()>) -> Pages {
        Pages { host: host.clone(), operation, at: At::Begin }
    }

    fn page(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let mut step = match self.at {
            At::Begin => self.operation.begin(self.host.clock.stamp()?),
            At::Page => self.operation.next(self.host.clock.now_ms(), Vec::from([Answer::Done])),
            At::End => return Ok(None),
        };
        loop {
            let mut needs = match step {
                Step::Done(done) => return done.map(|()| None),
                Step::Needs(needs) => needs,
            };
            if let [Need::Page { bytes }] = &mut needs[..] {
                return Ok(Some(core::mem::take(bytes)));
            }
            step = self.host.answered(&mut self.operation, needs, &mut Helpers::default());
        }
    }
}

impl Iterator for Pages {
    type Item = Result<String, Trouble>;

    fn next(&mut self) -> Option<Result<String, Trouble>> {
        let page = self.page();
        self.at = if matches!(page, Ok(Some(_))) { At::Page } else { At::End };
        let text =
            |bytes| String::from_utf8(bytes).map_err(|_| Trouble::internal("expected a page of UTF-8"));
        page.transpose().map(|page| page.and_then(text))
    }
}

impl FusedIterator for Pages {}
