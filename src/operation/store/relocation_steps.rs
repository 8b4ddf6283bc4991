//! The steps of a relocation, in the order that `relocation` gives, and how each is undone or completed.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::open_sessions::OpenReason;
use super::relocation::{Relocation, RelocationState};
use super::reservations::{NewConversation, parse_placement};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::{compact_json, to_json};
use crate::layout::pointer::SessionPointer;
use crate::layout::{
    self, ATTRIBUTES, EVENTS, File, MESSAGES, Placement, RESERVATION_FILE, SessionLocation, TOOLS, names,
};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble, unless_bug};
use crate::record::id;
use crate::session::change_request::ChangeRequest;
use crate::session::lease;

const LOGS: [&str; 3] = [MESSAGES, EVENTS, TOOLS];
/// Bytes that are read at once to find where a line begins.
const READ_BYTES: u64 = 64 * 1024;

impl Store {
    /// Moves a session into the other placement, with all that is known of it; the old folder goes to the trash. The
    /// request is `{"to","name","day","title"}`, JSON: the placement, and what the new conversation is called, from
    /// the session's title unless given. Answer: the session at its new place, under a new handle, unless it lay there
    /// already.
    ///
    /// # Errors
    /// `open_elsewhere` where another process has it open; `already_exists` where the name is taken.
    pub fn move_to(
        self: &Rc<Store>,
        files: &Rc<SessionFiles>,
        request: String,
    ) -> Operation<'static, Rc<SessionFiles>> {
        let (store, files) = (self.clone(), files.clone());
        Operation::new(move |io| async move { store.relocate_session(&io, &files, &request).await })
    }

    pub(super) async fn relocate_session(
        &self,
        io: &Io,
        files: &Rc<SessionFiles>,
        request: &str,
    ) -> Result<Rc<SessionFiles>, Trouble> {
        let to = request::parse(request, NewConversation::REQUEST_FIELDS)?.raw("to").unwrap_or("null");
        let to = parse_placement(to, "to")?;
        let shown = files.shown_folder();
        io.take_turn_of(&shown).await?;
        files.follow_moves(io).await?;
        files.reject_if_open(io).await?;
        files.flush_files(io, true).await?;
        if to == files.placement() {
            return Ok(files.clone());
        }
        // Records what the document says and no event does, which would stay behind with the document. Fails for a
        // session that may not be written.
        files.retry_after_move(io, &|| Box::pin(files.refresh_and_record(io, Vec::new()))).await?;
        files.close_files(io).await?;
        let (there, placement) = self.forget_during(files, self.run_relocation(io, files, request)).await?;
        io.end_turn_of(&shown);
        self.open_session_at(io, &there, placement, OpenReason::Requested).await
    }

    async fn run_relocation(
        &self,
        io: &Io,
        files: &SessionFiles,
        request: &str,
    ) -> Result<(String, Placement), Trouble> {
        let from = self.session_place(&files.shown_folder(), files.placement())?;
        let (session_type, title) = files.with_session(|session| {
            let metadata = session.metadata();
            (metadata.session_type.clone(), metadata.title(&session.log_state().titles))
        });
        let session = files.id();
        let mut about = NewConversation::from_json(request, session.clone(), session_type)?;
        about.title.get_or_insert(title);
        let by = io.process().await?.lease;
        about.lease_json = Some(to_json(&by));
        let to = match files.placement() {
            Placement::Home => self.reserve_conversation(io, &about).await?,
            Placement::Workspace => self.reserve_home_place(io, &about).await?,
        };
        let document = unless_bug(io.read_all(&from.document()).await)?.flatten();
        let document = document.and_then(|json| String::from_utf8(json).ok());
        let left = left_path(io, &from.folder(), &by);
        let file = layout::relocations().child(&format!("{}.json", id::new(&io.stamp(), 0)));
        let but = Vec::from([files.placement().document().into(), ATTRIBUTES.into()]);
        let (by, copied) = (Some(by), Vec::new());
        let mut moving = Relocation {
            file,
            id: session,
            from,
            to,
            left_folder: left,
            excluded_files: but,
            process: by,
            copied_logs: copied,
        };
        if let Err(trouble) = Box::pin(self.copy_and_leave(io, &mut moving, document)).await {
            unless_bug(undo_copy(io, &moving).await)?;
            return Err(trouble);
        }
        self.complete_relocation(io, &moving).await?;
        Ok((self.setup.display_path(&moving.to.folder()), moving.to.placement()))
    }

    // All steps before completion: if one fails, the session lies where it lay.
    async fn copy_and_leave(
        &self,
        io: &Io,
        moving: &mut Relocation,
        document: Option<String>,
    ) -> Result<(), Trouble> {
        io.replace(&moving.file, moving.to_json(self).into_bytes(), None).await?;
        moving.copied_logs = copy_session(io, moving).await?;
        io.replace(&moving.file, moving.to_json(self).into_bytes(), None).await?;
        self.announce_relocation(io, moving, document).await?;
        match io.rename(&moving.from.folder(), &moving.left_folder).await {
            // Renamed, though the disk did not confirm it.
            Err(Trouble::Failed(failure)) if failure.is_unconfirmed => Ok(()),
            done => done,
        }
    }

    // Records the new place before anybody can find the session there.
    async fn announce_relocation(
        &self,
        io: &Io,
        moving: &Relocation,
        document: Option<String>,
    ) -> Result<(), Trouble> {
        let (of, key) = match &moving.to {
            SessionLocation::Home { .. } => {
                (format!("\"project\":{}", to_json(&self.describe_project(io).await?)), "sessionJson")
            }
            SessionLocation::Workspace { name, .. } => {
                (format!("\"name\":{}", to_json(name)), "metadataJson")
            }
        };
        let document = document.filter(|json| Fields::check(json).is_ok());
        let document = document.map(|json| format!(",\"{key}\":{}", compact_json(&json))).unwrap_or_default();
        let request = ChangeRequest::from_json(&format!("[{{\"type\":\"relocated\",{of}{document}}}]"))?;
        let there = self.unopened_session(&moving.to, "");
        there.refresh_and_record(io, request).await?;
        self.register_workspace(io, &moving.to).await
    }

    /// Completes a relocation once its source is left: adds what came to the old folder meanwhile, and puts that into
    /// the trash.
    pub(super) async fn complete_relocation(&self, io: &Io, moving: &Relocation) -> Result<(), Trouble> {
        Box::pin(async {
            copy_remaining(io, moving).await?;
            let shown = |place: &SessionLocation| self.setup.display_path(&place.folder());
            let pointer = SessionPointer { id: moving.id.clone(), path: shown(&moving.to) };
            self.move_pointer(io, &shown(&moving.from), Some(&pointer)).await?;
            io.remove(&moving.to.folder().child(RESERVATION_FILE)).await?;
            io.remove(&moving.file).await?;
            // Another process may complete it at the same time.
            match self.move_to_trash(io, &moving.from, Some(&moving.left_folder)).await {
                Err(trouble) if trouble.code() == Code::NotFound.as_str() => Ok(()),
                done => done.map(drop),
            }
        })
        .await
    }

    /// Ends a relocation that was cut off on its way to this folder, or a reservation of it, so that the folder can be
    /// taken.
    pub(super) async fn free_folder(&self, io: &Io, folder: &File) -> Result<(), Trouble> {
        Box::pin(async {
            for moving in self.find_cut_off_relocations(io).await? {
                if moving.to.folder() == *folder {
                    self.end_relocation(io, &moving).await?;
                }
            }
            if self.is_abandoned(io, folder).await? {
                self.take_back_folder(io, folder, None).await
            } else {
                Ok(())
            }
        })
        .await
    }

    /// Whether a process reserved a folder, and ended before it put anything there.
    pub(super) async fn is_abandoned(&self, io: &Io, folder: &File) -> Result<bool, Trouble> {
        let found = io.list(folder).await?.unwrap_or_default();
        let is_taken = found.iter().any(|entry| entry.name == RESERVATION_FILE);
        if !is_taken || found.iter().any(|entry| ![RESERVATION_FILE, ATTRIBUTES].contains(&&*entry.name)) {
            return Ok(false);
        }
        let by = unless_bug(io.read_all(&folder.child(RESERVATION_FILE)).await)?.flatten();
        let by = by.and_then(|json| lease::parse_lease(&String::from_utf8_lossy(&json)));
        let Some(by) = by else { return Ok(false) };
        Ok(io.are_gone(Vec::from([by])).await? == [true] && !self.is_part_of_relocation(io, folder).await?)
    }

    /// Returns relocations whose processes are gone.
    pub(super) async fn find_cut_off_relocations(&self, io: &Io) -> Result<Vec<Relocation>, Trouble> {
        let mut all = self.read_relocations(io).await?;
        all.retain(|moving| moving.process.is_some());
        if all.is_empty() {
            return Ok(all);
        }
        let gone = io.are_gone(all.iter().filter_map(|moving| moving.process.clone()).collect()).await?;
        Ok(all.into_iter().zip(gone).filter(|(_, is_gone)| *is_gone).map(|(moving, _)| moving).collect())
    }

    /// Ends a relocation that was cut off: a session that had left its source is completed, another one stays there.
    /// Returns a sentence for people that says what was done.
    pub(super) async fn end_relocation(&self, io: &Io, moving: &Relocation) -> Result<String, Trouble> {
        let Relocation { file, id, from, to, .. } = moving;
        let lies = self.relocation_state(io, moving).await?;
        let is_copied = io.stat(&to.folder()).await?.is_some();
        let shown = |place: &SessionLocation| self.setup.display_path(&place.folder());
        match lies {
            RelocationState::AtSource => {
                if is_copied {
                    self.take_back_folder(io, &to.folder(), Some(file)).await?;
                }
                io.remove(file).await?;
                Ok(format!("left the session {id} at \"{}\"", shown(from)))
            }
            RelocationState::Departed if is_copied => {
                self.complete_relocation(io, moving).await?;
                Ok(format!("brought the session {id} to \"{}\"", shown(to)))
            }
            lies => self.salvage_relocation(io, moving, (lies == RelocationState::Departed, is_copied)).await,
        }
    }

    // One of the two places was removed by hand. The other may have all that is left, so it goes to the trash.
    async fn salvage_relocation(
        &self,
        io: &Io,
        Relocation { file, id, from, to, left_folder: left, .. }: &Relocation,
        (is_left, is_copied): (bool, bool),
    ) -> Result<String, Trouble> {
        // The source may be on a disk that is not mounted today.
        if let SessionLocation::Workspace { root, .. } = from
            && !is_left
            && io.stat(&File::new(from.folder().root, "")).await?.is_none()
        {
            let message = format!("the workspace \"{root}\" of session {id} is gone");
            return Err(Trouble::new(Code::NotFound, message));
        }
        if is_left {
            self.move_to_trash(io, from, Some(left)).await?;
        } else if is_copied {
            self.move_to_trash(io, to, None).await?;
        }
        io.remove(file).await?;
        Ok(match is_left || is_copied {
            true => format!("put what there is of the session {id} into the trash"),
            false => format!("forgot the move of the session {id}, of which there is nothing"),
        })
    }

    // Renames a folder away before removing it, for another process may have done the same, and taken the folder
    // again: if it is then neither abandoned nor the target of this relocation, it is renamed back.
    async fn take_back_folder(&self, io: &Io, folder: &File, moving: Option<&File>) -> Result<(), Trouble> {
        let away = discarded_path(io, folder).await?;
        io.rename(folder, &away).await?;
        let is_meant = match moving {
            Some(file) => io.stat(file).await?.is_some(),
            None => self.is_abandoned(io, &away).await?,
        };
        if is_meant { io.remove(&away).await } else { io.rename(&away, folder).await }
    }
}

/// Names the folder of a session that was left, beside where it was, until it is removed. Once it is renamed, no
/// append to it is acknowledged; so it has all there was, and can be copied or removed file by file.
pub(super) fn left_path(io: &Io, folder: &File, by: &lease::Lease) -> File {
    retired_path(io, names::RetireReason::Left, folder, by.pid)
}

/// Names a discarded folder, beside where it was, until it is removed.
pub(super) async fn discarded_path(io: &Io, folder: &File) -> Result<File, Trouble> {
    Ok(retired_path(io, names::RetireReason::Gone, folder, io.process().await?.lease.pid))
}

fn retired_path(io: &Io, why: names::RetireReason, folder: &File, pid: u64) -> File {
    let pid = u32::try_from(pid).unwrap_or(u32::MAX);
    folder.sibling(&names::retired_name(why, &id::new(&io.stamp(), 0), pid, folder.name()))
}

async fn undo_copy(io: &Io, moving: &Relocation) -> Result<(), Trouble> {
    io.remove(&moving.to.folder()).await?;
    io.remove(&moving.file).await
}

// Copies the logs first, and then all else. Returns the sizes of the logs.
async fn copy_session(io: &Io, moving: &Relocation) -> Result<Vec<(String, [u64; 2])>, Trouble> {
    let (from, to) = (moving.from.folder(), moving.to.folder());
    let mut sizes = Vec::new();
    for name in LOGS {
        let log = from.child(name);
        if io.stat(&log).await?.is_some() {
            let size = io.copy(&log, &to.child(name), false).await?;
            sizes.push((name.into(), [size, find_line_start(io, &log, size).await?]));
        }
    }
    copy_other_files(io, &from, &to, &moving.excluded_files, false).await?;
    Ok(sizes)
}

// `missing`: copies only files that are not at the target.
async fn copy_other_files(
    io: &Io,
    from: &File,
    to: &File,
    but: &[String],
    missing: bool,
) -> Result<(), Trouble> {
    for entry in io.list(from).await?.unwrap_or_default() {
        if !but.contains(&entry.name) && !LOGS.contains(&&*entry.name) {
            io.copy(&from.child(&entry.name), &to.child(&entry.name), missing).await?;
        }
    }
    Ok(())
}

// Finds where the line that has the byte `end` begins: behind the last line feed before it.
async fn find_line_start(io: &Io, file: &File, end: u64) -> Result<u64, Trouble> {
    let mut before = end;
    while before > 0 {
        let start = before.saturating_sub(READ_BYTES);
        let bytes = io.read_range(file, start, before).await?;
        if let Some(found) = memchr::memrchr(b'\n', &bytes) {
            return Ok(start + found as u64 + 1);
        }
        before = start;
    }
    Ok(0)
}

// Copies what the old folder has and its copy lacks: blobs and other files, then lines added to the logs.
async fn copy_remaining(io: &Io, moving: &Relocation) -> Result<(), Trouble> {
    let to = moving.to.folder();
    copy_other_files(io, &moving.left_folder, &to, &moving.excluded_files, true).await?;
    for name in LOGS {
        let sizes = moving.copied_logs.iter().find(|(log, _)| log == name).map(|(_, sizes)| *sizes);
        append_missing_lines(io, &moving.left_folder.child(name), &to.child(name), sizes.unwrap_or_default())
            .await?;
    }
    Ok(())
}

// Appends whole lines only, since nobody was told that an unfinished one is stored. A line that another process has
// copied already is left out.
async fn append_missing_lines(
    io: &Io,
    from: &File,
    to: &File,
    [size, line]: [u64; 2],
) -> Result<(), Trouble> {
    let end = |stat: Option<crate::operation::Stat>| stat.map_or(0, |stat| stat.size);
    let now = end(io.stat(from).await?);
    if now <= size {
        return Ok(());
    }
    let there = end(io.stat(to).await?);
    let all = io.read_range(from, line, now).await?;
    let there = io.read_range(to, line, there.max(line)).await?;
    let mut all: Vec<&[u8]> = all.split(|byte| *byte == b'\n').collect();
    let is_whole = |line: &&&[u8]| core::str::from_utf8(line).is_ok_and(|line| Fields::check(line).is_ok());
    let unfinished = all.pop();
    all.extend(unfinished.as_ref().filter(is_whole).copied());
    let known: BTreeSet<&[u8]> = there.split(|byte| *byte == b'\n').collect();
    all.retain(|line| !line.is_empty() && !known.contains(line));
    if all.is_empty() {
        return Ok(());
    }
    let seal: &[u8] = if there.last().is_none_or(|last| *last == b'\n') { b"" } else { b"\n" };
    let missing = [seal, &all.join(&b'\n'), b"\n"].concat();
    io.append(to, missing, true, None).await?;
    Ok(())
}
