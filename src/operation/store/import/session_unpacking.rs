//! Unpacks a session that another store exported as one file: adds its records to the session of the same id, each
//! once. A session that this store does not have begins with the same bytes, in the home, with the store's project.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::file::{DocumentShare, import_entry_json};
use super::{ImportReport, Importer};
use crate::error::Code;
use crate::interop;
use crate::json::text::to_json;
use crate::layout::{EVENTS, File, MESSAGES, SessionLocation, TOOLS};
use crate::operation::session_files::SessionFiles;
use crate::operation::{OutgoingRedactor, Trouble};
use crate::record::id::is_safe;
use crate::record::session_file::{SessionFile, message_ids, missing_lines};

/// How often a session that is being moved is looked for.
const MAX_ATTEMPTS: u32 = 20;

impl Importer<'_> {
    /// Imports a session from an exported file.
    pub(super) async fn import_session_file(
        &self,
        bytes: &[u8],
        share: &DocumentShare<'_>,
    ) -> Result<ImportReport, Trouble> {
        let file = SessionFile::read(bytes)?;
        if file.log(MESSAGES).is_empty() && file.log(EVENTS).is_empty() {
            let message = "expected a session, but nothing is said in this one";
            return Err(Trouble::new(Code::EmptyFile, message));
        }
        if !is_safe(&file.id) {
            let message = format!("expected the id of a session, but found {} instead", to_json(&file.id));
            return Err(Trouble::new(Code::InvalidId, message));
        }
        self.report_progress(share, 0.0).await?;
        if let Some(redactor) = &self.dry_run {
            let imported = self.describe_session_file(&file, bytes, redactor, share).await?;
            return Ok(ImportReport { imported, ..ImportReport::default() });
        }
        let mut tries_left = MAX_ATTEMPTS;
        let (place, added) = loop {
            let place = self.place_for_id(&file.id).await?;
            let shown = self.store.setup.display_path(&place.folder());
            self.io.take_turn_of(&shown).await?;
            let merged = self.merge_records(&file, &place).await;
            self.io.end_turn_of(&shown);
            tries_left -= 1;
            match merged {
                Err(trouble) if trouble.code() == Code::NotFound.as_str() && tries_left > 0 => {}
                merged => break (place, merged?),
            }
        };
        let files = self.open_merged(&place).await?;
        let total = message_ids(file.log(MESSAGES)).len();
        let parent = files.with_session(|session| session.metadata().parent.clone());
        let imported =
            import_entry_json(files.id(), ("leftoff", share.path), (total, added), parent.as_ref(), &[]);
        let of_path = |problem: &_| {
            let problem = to_json(problem);
            format!("{{\"path\":{},{}", to_json(share.path), problem.strip_prefix('{').unwrap_or_default())
        };
        let problems = file.problems.iter().map(of_path).collect();
        Ok(ImportReport { imported: Vec::from([imported]), problems, is_open: false })
    }

    async fn describe_session_file(
        &self,
        file: &SessionFile,
        bytes: &[u8],
        redactor: &OutgoingRedactor,
        share: &DocumentShare<'_>,
    ) -> Result<Vec<String>, Trouble> {
        let place = self.place_for_id(&file.id).await?;
        let there = self.io.read_all(&place.log(MESSAGES)).await?;
        let (all, is_new) = (message_ids(file.log(MESSAGES)), there.is_none());
        let counts = (all.len(), all.difference(&message_ids(&there.unwrap_or_default())).count());
        let mut described = Vec::new();
        for read in &interop::leftoff::read(bytes)?.sessions {
            let found = (file.id.clone(), is_new);
            described
                .extend(self.describe_session((read, &read.messages), found, counts, redactor, share).await?);
        }
        Ok(described)
    }

    // Finds where the session lies, in any project and placement, or else where it is to begin.
    async fn place_for_id(&self, id: &str) -> Result<SessionLocation, Trouble> {
        if let Some(place) = self.store.find_place(self.io, id).await?
            && let Some(place) = self.store.current_place(self.io, place).await?
        {
            return Ok(place);
        }
        Ok(SessionLocation::Home { project: self.store.project_hash.clone(), id: id.into() })
    }

    // Adds missing records, and returns how many messages are new. What records refer to is written before them.
    async fn merge_records(&self, file: &SessionFile, place: &SessionLocation) -> Result<usize, Trouble> {
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
        self.write_missing_document(file, place, within).await?;
        Ok(added)
    }

    // Writes the exported document, if the session here has none, and is of the same placement.
    async fn write_missing_document(
        &self,
        file: &SessionFile,
        place: &SessionLocation,
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

    async fn open_merged(&self, place: &SessionLocation) -> Result<Rc<SessionFiles>, Trouble> {
        let files = self.store.unopened_session(place, "");
        let files = self.store.find_open(&files.shown_folder()).unwrap_or(files);
        Box::pin(files.complete_opening(self.io)).await?;
        files.refresh_after_move(self.io).await?;
        self.store.register_workspace(self.io, place).await?;
        self.store.reindex_session(self.io, &files, place).await?;
        Ok(files)
    }
}
