//! Words in what was said, in the sessions of a list.

use alloc::rc::Rc;
use alloc::string::String;

use super::Store;
use crate::operation::{Leaving, Operation};
use crate::session::listed::Wanted;

impl Store {
    /// The messages that have all words, of the sessions that [`Store::list`] gives, in its order. Each page is a JSON array of
    /// what [`Live::search`](super::super::Live::search) gives, and which `session` it is of, as listed.
    pub fn search(
        self: &Rc<Store>,
        words: String,
        request: String,
        leaving: &Rc<Leaving>,
    ) -> Operation<'static, ()> {
        let (store, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            for one in store.all_listed(&io, &Wanted::from_json(&request)?).await? {
                let Some(place) = store.setup.place(&one.path, one.entry.placement) else { continue };
                let mut of = String::from("\"session\":");
                one.write(&mut of);
                of.push(',');
                store.unread(&place, "").searched(&io, &words, &leaving, &of).await?;
            }
            Ok(())
        })
    }
}
