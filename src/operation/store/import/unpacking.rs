//! A session that another store exported as one file: its records into the session of the same id, each once. One that this
//! store does not have begins with the same bytes, in the home, with the store's project.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::file::{Share, imported};
use super::{Importing, Result as Found};
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::{EVENTS, File, MESSAGES, Place, TOOLS};
use crate::operation::Trouble;
use crate::operation::live::Live;
use crate::record::id::is_safe;
use crate::record::session_file::{SessionFile, message_ids, missing_lines};

/// How often a session that is moved meanwhile is looked for.
const TRIES: u32 = 20;

impl Importing<'_> {
    /// Takes a session in from such a file.
    pub(super) async fn session_file(&self, bytes: &[u8], share: &Share<'_>) -> Result<Found, Trouble> {
        let file = SessionFile::read(bytes)?;
        if file.log(MESSAGES).is_empty() && file.log(EVENTS).is_empty() {
            let message = "expected a session, but nothing is said in this one";
            return Err(Trouble::refused(Code::EmptyFile, message));
        }
        if !is_safe(&file.id) {
            let message = format!("expected the id of a session, but found {} instead", to_json(&file.id));
            return Err(Trouble::refused(Code::InvalidId, message));
        }
        self.tell(share, 0.0).await?;
        let mut tries_left = TRIES;
        let (place, added) = loop {
            let place = self.place_of(&file.id).await?;
            let shown = self.store.setup.shown(&place.folder());
            self.io.turn_of(&shown).await?;
            let merged = self.merge(&file, &place).await;
            self.io.leave_of(&shown);
            tries_left -= 1;
            match merged {
                Err(trouble) if trouble.code() == Code::NotFound.as_str() && tries_left > 0 => {}
                merged => break (place, merged?),
            }
        };
        let live = self.settle(&place).await?;
        let total = message_ids(file.log(MESSAGES)).len();
        let parent = live.with(|session| session.metadata().parent.clone());
        let told = imported(live.id(), ("leftoff", share.path), (total, added), parent.as_ref(), &[]);
        let of_path = |problem: &_| {
            let problem = to_json(problem);
            format!("{{\"path\":{},{}", to_json(share.path), problem.strip_prefix('{').unwrap_or_default())
        };
        let problems = file.problems.iter().map(of_path).collect();
        Ok(Found { imported: Vec::from([told]), problems, is_open: false })
    }

    // Where the session lies, in whichever project and placement; else where it begins.
    async fn place_of(&self, id: &str) -> Result<Place, Trouble> {
        if let Some(place) = self.store.lying(self.io, id).await?
            && let Some(place) = self.store.now(self.io, place).await?
        {
            return Ok(place);
        }
        Ok(Place::Home { project: self.store.hash.clone(), id: id.into() })
    }

    // How many messages are new. What is named is there before what names it.
    async fn merge(&self, file: &SessionFile, place: &Place) -> Result<usize, Trouble> {
        let folder = place.folder();
        let within = self.io.stat(&folder).await?.map(|_| &folder);
        for (name, bytes) in file.blobs() {
            let blob = place.blob(name);
            if self.io.stat(&blob).await?.is_none() {
                self.io.replace(&blob, bytes.into(), within).await?;
            }
        }
        let mut added = 0;
        for name in [EVENTS, TOOLS, MESSAGES] {
            let log = place.log(name);
            let there = self.io.read_all(&log).await?.unwrap_or_default();
            let missing = missing_lines(&there, file.log(name));
            if missing.is_empty() {
                continue;
            }
            if name == MESSAGES {
                let known = message_ids(&there);
                added = message_ids(file.log(name)).difference(&known).count();
            }
            self.io.append(&log, missing, true, within).await?;
        }
        self.put_document(file, place, within).await?;
        Ok(added)
    }

    // The document that it had, where it is kept in the same way and has none.
    async fn put_document(
        &self,
        file: &SessionFile,
        place: &Place,
        within: Option<&File>,
    ) -> Result<(), Trouble> {
        let document = place.document();
        match file.files.get(place.placement().document()) {
            Some(bytes) if self.io.stat(&document).await?.is_none() => {
                self.io.replace(&document, bytes.clone(), within).await
            }
            _ => Ok(()),
        }
    }

    async fn settle(&self, place: &Place) -> Result<Rc<Live>, Trouble> {
        let live = self.store.unread(place, "");
        let live = self.store.open_at(&live.shown()).unwrap_or(live);
        Box::pin(live.complete(self.io)).await?;
        live.looked_here(self.io).await?;
        self.store.meet(self.io, place).await?;
        self.store.changed(self.io, &live, place).await?;
        Ok(live)
    }
}
