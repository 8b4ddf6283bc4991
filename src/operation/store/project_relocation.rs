//! Relocates the sessions of a project whose folder was moved.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::project::describe_folder_project;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::SessionLocation;
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble};
use crate::project::hash;
use crate::session::change_request::ChangeRequest;

impl Store {
    /// Moves all sessions of one project folder to another, or none. `from` and `normal` are the old and the new path
    /// in Unicode's normalization form C, `to` is the new path as displayed. Answer: the number of sessions.
    pub fn relocate_project(
        self: &Rc<Store>,
        from: String,
        to: String,
        normal: String,
    ) -> Operation<'static, u64> {
        let store = self.clone();
        Operation::new(|io| async move {
            for (path, called) in [(&from, "old"), (&to, "new"), (&normal, "normal")] {
                if !store.setup.is_absolute(path) {
                    let found = to_json(path);
                    return Err(request::error(format!(
                        "expected an absolute path for the {called} folder, but found {found}"
                    ))
                    .into());
                }
            }
            let (old, project) = (hash(&from), hash(&normal));
            if old == project {
                return Ok(0);
            }
            let request = format!(
                "[{{\"type\":\"relocated\",\"project\":{}}}]",
                to_json(&describe_folder_project(&io, to, &normal).await?)
            );
            let request = ChangeRequest::from_json(&request)?;
            let mut places = Vec::new();
            for found in store.places_in_home(&io, &old, false).await? {
                // A session on its way here is not here until it has arrived.
                let now = store.current_place(&io, found.place.clone()).await?;
                places.extend(now.filter(|now| *now == found.place));
            }
            // Check all first: half a project would be in neither place.
            for place in &places {
                let files = store.open_or_read(&io, place).await?;
                files.reject_if_open(&io).await?;
                files.reject_newer()?;
            }
            for place in &places {
                store.relocate_to_project(&io, place, &project, &request).await?;
            }
            Ok(places.len() as u64)
        })
    }

    // Returns the open handle, or a new one that has read the files.
    async fn open_or_read(&self, io: &Io, place: &SessionLocation) -> Result<Rc<SessionFiles>, Trouble> {
        if let Some(files) = self.find_open(&self.setup.display_path(&place.folder())) {
            return Ok(files);
        }
        let files = self.unopened_session(place, "");
        files.open_files(io).await?;
        Ok(files)
    }

    // An idle session is not paused here: whoever lists or opens it next does that.
    async fn relocate_to_project(
        &self,
        io: &Io,
        place: &SessionLocation,
        project: &str,
        request: &[ChangeRequest],
    ) -> Result<(), Trouble> {
        let folder = place.folder();
        let shown = self.setup.display_path(&folder);
        io.take_turn_of(&shown).await?;
        let files = self.open_or_read(io, place).await?;
        files.reject_if_open(io).await?;
        files.retry_after_move(io, &|| Box::pin(files.refresh_and_record(io, request.into()))).await?;
        files.release_lease(io).await?;
        files.retry_after_move(io, &|| Box::pin(files.write_derived(io, true))).await?;
        let to = SessionLocation::Home { project: project.into(), id: files.id() };
        io.rename(&folder, &to.folder()).await?;
        self.forget(&files);
        io.end_turn_of(&shown);
        Ok(())
    }
}
