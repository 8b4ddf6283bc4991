//! Lists on their way out, and words in what was said, in the sessions of a list.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::json::text::to_json;
use crate::operation::{Io, Leaving, Operation, Trouble};
use crate::session::listed::{Listed, Wanted};

impl Store {
    /// The sessions that [`Store::list`] gives, as they may leave.
    pub fn list_out(self: &Rc<Store>, request: String, leaving: &Rc<Leaving>) -> Operation<'static, String> {
        let (store, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            let mut left = Vec::new();
            store.kept_tidy(&io, &request).await?;
            for one in store.list_asked(&io, &request).await? {
                left.push(store.listed_out(&io, &one, &leaving).await?);
            }
            Ok(["[", &left.join(","), "]"].concat())
        })
    }

    /// The messages that have exactly what is in quotes, and all other words, of at most so many sessions.
    pub(super) async fn scanned(
        &self,
        io: &Io,
        words: &str,
        wanted: &Wanted,
        limit: usize,
        leaving: &Leaving,
    ) -> Result<(), Trouble> {
        let mut count = 0;
        for one in self.all_listed(io, wanted).await? {
            let Some(place) = self.setup.place(&one.path, one.entry.placement) else { continue };
            let listed = self.listed_out(io, &one, leaving).await?;
            let of =
                ["\"session\":", &listed, ",\"found\":\"exact\",\"words\":[", &to_json(words), "],"].concat();
            count += usize::from(self.unread(&place, "").searched(io, words, leaving, &of).await?);
            if count == limit {
                break;
            }
        }
        Ok(())
    }

    // A title is cut from a longer text, so that it is looked at beside the text that it was made of.
    pub(super) async fn listed_out(
        &self,
        io: &Io,
        one: &Listed,
        leaving: &Leaving,
    ) -> Result<String, Trouble> {
        let mut json = String::new();
        one.write(&mut json);
        if !leaving.is_on() {
            return Ok(json);
        }
        let place = self.setup.place(&one.path, one.entry.placement).filter(|_| one.may_be_cut());
        leaving.beside(io, json, place.map(|place| place.folder())).await
    }
}
