//! A project that was moved: its sessions go along.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::project::of_folder;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::Place;
use crate::operation::live::Live;
use crate::operation::{Io, Operation, Trouble};
use crate::project::hash;
use crate::session::ask::Ask;

impl Store {
    /// The sessions of a folder belong to another one from now on: all or none. `from` and `normal` are the old path and the
    /// new one in Unicode's normalization form C, `to` is the new one as people call it. Answer: how many sessions.
    pub fn relocate(self: &Rc<Store>, from: String, to: String, normal: String) -> Operation<'static, u64> {
        let store = self.clone();
        Operation::new(|io| async move {
            for (path, called) in [(&from, "old"), (&to, "new"), (&normal, "normal")] {
                if !store.setup.is_absolute(path) {
                    let found = to_json(path);
                    return Err(request::wrong(format!(
                        "expected an absolute path for the {called} folder, but found {found}"
                    ))
                    .into());
                }
            }
            let (old, project) = (hash(&from), hash(&normal));
            if old == project {
                return Ok(0);
            }
            let asked = format!(
                "[{{\"type\":\"relocated\",\"project\":{}}}]",
                to_json(&of_folder(&io, to, &normal).await?)
            );
            let asked = Ask::from_json(&asked)?;
            let mut places = Vec::new();
            for found in store.in_home(&io, &old, false).await? {
                // One that is on its way lies there once it has arrived.
                let now = store.now(&io, found.place.clone()).await?;
                places.extend(now.filter(|now| *now == found.place));
            }
            // Half a project would be in neither place.
            for place in &places {
                let live = store.opened_at(&io, place).await?;
                live.refused_if_open(&io).await?;
                live.refuse_newer()?;
            }
            for place in &places {
                store.relocated(&io, place, &project, &asked).await?;
            }
            Ok(places.len() as u64)
        })
    }

    // The one that is open there, else one that is read now.
    async fn opened_at(&self, io: &Io, place: &Place) -> Result<Rc<Live>, Trouble> {
        if let Some(live) = self.open_at(&self.setup.shown(&place.folder())) {
            return Ok(live);
        }
        let live = self.unread(place, "");
        live.opened(io).await?;
        Ok(live)
    }

    // What rests goes on resting: whoever lists or opens it next pauses it.
    async fn relocated(&self, io: &Io, place: &Place, project: &str, asked: &[Ask]) -> Result<(), Trouble> {
        let folder = place.folder();
        let shown = self.setup.shown(&folder);
        io.turn_of(&shown).await?;
        let live = self.opened_at(io, place).await?;
        live.refused_if_open(io).await?;
        live.here(io, &|| Box::pin(live.said(io, asked.into()))).await?;
        live.released(io).await?;
        live.here(io, &|| Box::pin(live.derived(io, true))).await?;
        let to = Place::Home { project: project.into(), id: live.id() };
        io.rename(&folder, &to.folder()).await?;
        self.forget(&live);
        io.leave_of(&shown);
        Ok(())
    }
}
