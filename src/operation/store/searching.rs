//! Lists on their way out.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::operation::{Io, Leaving, Operation, Trouble};
use crate::session::listed::Listed;

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
