//! Lists of sessions, redacted on their way out, and the newest messages of a listed session.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::Placement;
use crate::operation::newest_messages::NewestMessages;
use crate::operation::outgoing_pieces::OutgoingPieces;
use crate::operation::{Io, Operation, OutgoingRedactor, Trouble};
use crate::session::session_list::ListedSession;

impl Store {
    /// Lists sessions as [`Store::list`] does, redacted.
    pub fn list_outgoing(
        self: &Rc<Store>,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, String> {
        let (store, redactor) = (self.clone(), redactor.clone());
        Operation::new(|io| async move {
            let mut left = Vec::new();
            store.tidy_by_settings(&io, &request).await?;
            for one in store.list_from_json(&io, &request).await? {
                left.push(store.outgoing_session_json(&io, &one, &redactor).await?);
            }
            Ok(["[", &left.join(","), "]"].concat())
        })
    }

    /// Writes the messages of a listed session, newest first, redacted, without opening or changing it. Pages are
    /// those of [`SessionFiles::messages`](crate::operation::SessionFiles::messages).
    ///
    /// # Errors
    /// `not_found` where there is no such session.
    pub fn newest_messages(
        self: &Rc<Store>,
        shown: String,
        placement: Placement,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, ()> {
        let (store, redactor) = (self.clone(), redactor.clone());
        Operation::new(|io| async move {
            let place = store.session_place(&shown, placement)?;
            if io.stat(&place.folder()).await?.is_none() {
                let message = format!("expected a session at {}, but found none", to_json(&shown));
                return Err(Trouble::new(Code::NotFound, message));
            }
            let files = store.unopened_session(&place, "");
            let mut newest = NewestMessages::begin(&files, &io).await?;
            let mut pieces = OutgoingPieces::new(&redactor, &io);
            while let Some(page) = newest.next().await? {
                let page = String::from_utf8_lossy(&page).into_owned();
                io.write_page(pieces.redact_one(page).await?.into_bytes()).await?;
            }
            Ok(())
        })
    }

    // Renders a listed session, redacted. A title is cut from a longer text, so it is searched for secrets together
    // with the text that it was made from.
    pub(super) async fn outgoing_session_json(
        &self,
        io: &Io,
        one: &ListedSession,
        redactor: &OutgoingRedactor,
    ) -> Result<String, Trouble> {
        let mut json = String::new();
        one.write(&mut json);
        if !redactor.is_on() {
            return Ok(json);
        }
        let place = self.setup.parse_place(&one.path, one.entry.placement).filter(|_| one.may_be_cut());
        redactor.redact_with_head(io, json, place.map(|place| place.folder())).await
    }
}
