//! Lists on their way out, and what was said last of whatever stands in one.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::Placement;
use crate::operation::newest::Newest;
use crate::operation::pieces::Pieces;
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

    /// The messages of a session that a list has, newest first, as they may leave: nobody opens it, and nothing of it is changed by
    /// that. Pages as of [`Live::messages`](crate::operation::Live::messages).
    ///
    /// Refused with `not_found` where there is none.
    pub fn newest_messages(
        self: &Rc<Store>,
        shown: String,
        placement: Placement,
        leaving: &Rc<Leaving>,
    ) -> Operation<'static, ()> {
        let (store, leaving) = (self.clone(), leaving.clone());
        Operation::new(|io| async move {
            let place = store.session_place(&shown, placement)?;
            if io.stat(&place.folder()).await?.is_none() {
                let message = format!("expected a session at {}, but found none", to_json(&shown));
                return Err(Trouble::refused(Code::NotFound, message));
            }
            let live = store.unread(&place, "");
            let mut newest = Newest::begin(&live, &io).await?;
            let mut pieces = Pieces::new(&leaving, &io);
            while let Some(page) = newest.next().await? {
                let page = String::from_utf8_lossy(&page).into_owned();
                io.page(pieces.out(page).await?.into_bytes()).await?;
            }
            Ok(())
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
