//! The session index: lists read from it, so that no session has to be opened. It is a cache: a line holds while its
//! session's files have the same prints, which is checked. A session whose line is missing or stale is opened, and
//! indexed for the next time.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::Store;
use super::places::{FoundPlace, MAX_PARALLEL_READS};
use crate::json::text::to_json;
use crate::layout::{self, File, Root, SessionLocation};
use crate::operation::join::join_in_batches;
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Stat, Trouble, Work, unless_bug};
use crate::session::file_prints::{self, FilePrint};
use crate::session::index::{self, IndexRow, SessionIndex};
use crate::session::session_list::{IndexEntry, ListedSession};
use crate::time;

/// How many stale lines the index may have beyond as many as it has current ones.
const MAX_SPARE_LINES: u64 = 1000;

/// Lines that are not in the index yet.
#[derive(Default)]
pub(super) struct PendingLines {
    new_lines: Vec<u8>,
    // How many lines `new_lines` has.
    new_line_count: u64,
    // Lines for files that changed just now: the files are compared again before these lines are written.
    unsettled_lines: Vec<UnsettledLine>,
    // How many lines and paths the index had when it was read.
    index_line_count: u64,
    index_path_count: u64,
}

impl PendingLines {
    // After compaction one line is left for each path.
    fn reset_line_count(&mut self) {
        self.index_line_count = self.index_path_count;
    }
}

// Whether a file is unchanged, or the same file with more in it.
fn is_same_or_grown(known: &Stat, now: &Stat) -> bool {
    now == known || now.file.is_some() && now.file == known.file && now.size > known.size
}

struct UnsettledLine {
    place: SessionLocation,
    files: Vec<FilePrint>,
    line: String,
}

/// A place, and what is known of its session.
pub(super) enum FoundSession {
    /// All of its files were compared.
    Verified(FoundPlace, Rc<ListedSession>),
    /// Only its messages were compared, and are unchanged; there may be nothing else to compare.
    MessagesUnchanged { found: FoundPlace, path: String, last: String, last_ms: Option<i64> },
}

impl FoundSession {
    pub fn activity(&self) -> (Option<i64>, &str, &str) {
        match self {
            FoundSession::Verified(_, session) => {
                (session.last_ms, &session.entry.last_active, &session.path)
            }
            FoundSession::MessagesUnchanged { path, last, last_ms, .. } => (*last_ms, last, path),
        }
    }
}

impl Store {
    /// Reads the index in its present state. The next call reads only what was added.
    pub(super) async fn read_index(&self, io: &Io) -> Result<Rc<SessionIndex>, Trouble> {
        let file = layout::index();
        let looked_ms = io.now_ms();
        // The first call asks for the bytes in the same step as for the stat.
        let is_known = self.cached_index.borrow().is_some();
        let looks = io.stat(&file);
        let whole = if is_known { None } else { Some(io.read_all(&file)) };
        let looked = unless_bug(looks.await)?.flatten();
        let whole = match whole {
            Some(whole) => unless_bug(whole.await)?.flatten(),
            None => None,
        };
        let known = self
            .cached_index
            .take()
            .filter(|(known, _)| looked.is_some_and(|now| is_same_or_grown(known, &now)));
        let known = known.and_then(|(_, index)| Rc::try_unwrap(index).ok());
        let mut index = known.unwrap_or_else(|| self.parse_index(whole.unwrap_or_default()));
        let length = index.length();
        if looked.is_some_and(|now| now.size > length) {
            let bytes = unless_bug(io.read(&file, length, None).await)?.flatten().unwrap_or_default();
            index.extend(bytes, &|path| self.path_below_home(path));
        }
        let index = Rc::new(index);
        let is_settled =
            |stat: &Stat| file_prints::is_settled(&[Some((stat.size, stat.changed_us))], looked_ms);
        // What was added after the stat is read the next time.
        let known = looked.filter(|stat| is_settled(stat) && stat.size == index.length());
        self.cached_index.replace(known.map(|known| (known, index.clone())));
        let mut pending = self.pending_lines.borrow_mut();
        (pending.index_line_count, pending.index_path_count) = (index.lines, index.paths() as u64);
        Ok(index)
    }

    // A home that was moved keeps its index: paths in it are relative to the home.
    fn parse_index(&self, bytes: Vec<u8>) -> SessionIndex {
        SessionIndex::of(bytes, &|path| self.path_below_home(path))
    }

    fn path_below_home(&self, path: String) -> String {
        let below = self.setup.path_below(&path, &self.setup.home);
        below.map(String::from).unwrap_or(path)
    }

    // The key of a place in the index.
    pub(super) fn index_key(&self, place: &SessionLocation) -> String {
        let folder = place.folder();
        if let SessionLocation::Home { .. } = place {
            return folder.path;
        }
        let shown = self.setup.display_path(&folder);
        self.setup.path_below(&shown, &self.setup.home).map(String::from).unwrap_or(shown)
    }

    /// The place that an index key stands for.
    pub(super) fn place_from_key(&self, key: &str, entry: &IndexEntry) -> Option<SessionLocation> {
        let shown = self.setup.display_path(&File::new(Root::Home, key));
        let path = if self.setup.is_absolute(key) { key } else { &shown };
        self.setup.parse_place(path, entry.placement)
    }

    pub(super) fn to_listed(&self, place: &SessionLocation, entry: IndexEntry) -> ListedSession {
        let folder = match place {
            SessionLocation::Home { .. } => entry.project.clone(),
            SessionLocation::Workspace { root, .. } => root.clone(),
        };
        let last_ms = time::parse(&entry.last_active);
        let (path, place, key) =
            (self.setup.display_path(&place.folder()), Rc::new(place.clone()), OnceCell::new());
        ListedSession { path, place, key, folder, last_ms, log_print: None, entry }
    }

    /// Looks up places in the index: a line counts as far as its files were compared; sessions without one are opened.
    /// What was not compared, [`Store::verify_session`] verifies. `since_ms`: a time before all of the files were
    /// looked at.
    pub(super) async fn look_up_places(
        &self,
        io: &Io,
        index: &SessionIndex,
        places: Vec<FoundPlace>,
        since_ms: i64,
    ) -> Result<Vec<FoundSession>, Trouble> {
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for found_place in places {
            let row = index
                .row(self.index_key(&found_place.place))
                .filter(|row| row.matches_files(&found_place.files));
            match row {
                Some(row) if found_place.has_all_prints() => {
                    match self.listed_from_row(index, row, &found_place.place) {
                        Some(listed) => found.push(FoundSession::Verified(found_place, listed)),
                        None => others.push(found_place),
                    }
                }
                // A time that is no message's may have changed, and the order with it.
                Some(row) if row.has_message_time => {
                    let (last, path) = (
                        String::from(&*row.last_active),
                        self.setup.display_path(&found_place.place.folder()),
                    );
                    found.push(FoundSession::MessagesUnchanged {
                        last_ms: time::parse(&last),
                        found: found_place,
                        path,
                        last,
                    });
                }
                _ => others.push(found_place),
            }
        }
        found.extend(self.verify_places(io, index, others, Some(since_ms)).await?);
        Ok(found)
    }

    /// Reads entries for facts that never change, such as where a session began: the index is trusted.
    pub(super) async fn read_entries(
        &self,
        io: &Io,
        index: &SessionIndex,
        places: Vec<FoundPlace>,
    ) -> Result<Vec<IndexEntry>, Trouble> {
        let (mut entries, mut others) = (Vec::new(), Vec::new());
        for found_place in places {
            match index.row(self.index_key(&found_place.place)).and_then(|row| index.entry(row)) {
                Some(entry) => entries.push(entry),
                None => others.push(found_place),
            }
        }
        for seen in self.verify_places(io, index, others, None).await? {
            if let FoundSession::Verified(_, listed) = seen {
                entries.push(listed.entry.clone());
            }
        }
        Ok(entries)
    }

    async fn verify_places(
        &self,
        io: &Io,
        index: &SessionIndex,
        places: Vec<FoundPlace>,
        since_ms: Option<i64>,
    ) -> Result<Vec<FoundSession>, Trouble> {
        let works = places.into_iter().map(|found_place| {
            Box::pin(self.verify_place(io, index, found_place, since_ms)) as Work<'_, Option<FoundSession>>
        });
        Ok(join_in_batches(works, MAX_PARALLEL_READS).await?.into_iter().flatten().collect())
    }

    pub(super) async fn verify_place(
        &self,
        io: &Io,
        index: &SessionIndex,
        found_place: FoundPlace,
        since_ms: Option<i64>,
    ) -> Result<Option<FoundSession>, Trouble> {
        if let Some(listed) = self.find_current_row(io, index, &found_place.place).await? {
            return Ok(Some(FoundSession::Verified(found_place, listed)));
        }
        // A session that is in the index already is going on, and will be read again each time.
        let goes_on = index.row(self.index_key(&found_place.place)).is_some();
        self.open_and_index(io, found_place, (since_ms, goes_on)).await
    }

    // Returns the index's entry if all files are unchanged: also for a session whose messages have no times.
    async fn find_current_row(
        &self,
        io: &Io,
        index: &SessionIndex,
        place: &SessionLocation,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let Some(row) = index.row(self.index_key(place)) else { return Ok(None) };
        let Some(files) = unless_bug(self.read_prints(io, place).await)? else { return Ok(None) };
        let files: Vec<_> = files.into_iter().map(Some).collect();
        Ok(row.matches_files(&files).then(|| self.listed_from_row(index, row, place)).flatten())
    }

    // Returns the entry of a row whose files are unchanged.
    fn listed_from_row(
        &self,
        index: &SessionIndex,
        row: &IndexRow,
        place: &SessionLocation,
    ) -> Option<Rc<ListedSession>> {
        let read = || {
            let entry = index.entry(row)?;
            Some(Rc::new(ListedSession { log_print: row.log_print(), ..self.to_listed(place, entry) }))
        };
        row.cached_session.get_or_init(read).clone()
    }

    /// Verifies a found session by all of its files.
    pub(super) async fn verify_session(
        &self,
        io: &Io,
        index: &SessionIndex,
        seen: FoundSession,
    ) -> Result<Option<FoundSession>, Trouble> {
        match seen {
            FoundSession::Verified(..) => Ok(Some(seen)),
            FoundSession::MessagesUnchanged { found, .. } => self.verify_place(io, index, found, None).await,
        }
    }

    /// Opens a session for a list, and adds its line. `since_ms`: when all of its files were looked at; unless given,
    /// they are now. `goes_on`: it will be read again, from a checkpoint that is saved here.
    pub(super) async fn open_and_index(
        &self,
        io: &Io,
        found_place: FoundPlace,
        (since_ms, goes_on): (Option<i64>, bool),
    ) -> Result<Option<FoundSession>, Trouble> {
        let known: Option<Vec<FilePrint>> = found_place.files.iter().copied().collect();
        let known = known.filter(|_| found_place.has_all_prints()).zip(since_ms);
        // If the files change before they are read, the line fits no state of them, and the next list compares again.
        let (files, looked_ms) = match known {
            Some((files, since_ms)) => (Some(files), since_ms),
            None => {
                let looked_ms = io.now_ms();
                (unless_bug(self.read_prints(io, &found_place.place).await)?, looked_ms)
            }
        };
        let line = match &files {
            None => None,
            Some(files) => {
                let session_files = self.unopened_session(&found_place.place, "");
                let opened = unless_bug(session_files.open_files(io).await)?;
                if opened.is_some() && goes_on {
                    session_files.save_checkpoint_if_far(io, (files[0], looked_ms)).await?;
                }
                opened.and_then(|()| self.index_line(&session_files, &found_place.place, files))
            }
        };
        let entry = match line.as_deref().and_then(IndexEntry::read).zip(line.clone()) {
            Some((entry, line)) => {
                self.add_line(
                    UnsettledLine {
                        place: found_place.place.clone(),
                        files: files.unwrap_or_default(),
                        line,
                    },
                    looked_ms,
                );
                entry
            }
            None => {
                // An empty folder: whoever made it came no further.
                let has_none = |files: Vec<FilePrint>| {
                    files.iter().take(3).all(|file| file.is_none_or(|(size, _)| size == 0))
                };
                if files.is_some_and(has_none) {
                    return Ok(None);
                }
                // A session that cannot be read must not cost the rest of the list.
                let id = match &found_place.place {
                    SessionLocation::Home { id, .. } => id,
                    SessionLocation::Workspace { name, .. } => name,
                };
                IndexEntry::unreadable(found_place.place.placement(), id)
            }
        };
        let listed = Rc::new(self.to_listed(&found_place.place, entry));
        Ok(Some(FoundSession::Verified(found_place, listed)))
    }

    /// Adds the line of a session that a list opened and changed.
    pub(super) async fn reindex_session(
        &self,
        io: &Io,
        session_files: &SessionFiles,
        place: &SessionLocation,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let looked_ms = io.now_ms();
        let files = unless_bug(self.read_prints(io, place).await)?;
        // What others append meanwhile is in the line, or else makes the prints differ.
        session_files.refresh_after_move(io).await?;
        let Some(files) = files else { return Ok(None) };
        let Some(line) = self.index_line(session_files, place, &files) else { return Ok(None) };
        let entry = IndexEntry::read(&line);
        self.add_line(UnsettledLine { place: place.clone(), files, line }, looked_ms);
        Ok(entry.map(|entry| Rc::new(self.to_listed(place, entry))))
    }

    fn index_line(
        &self,
        session_files: &SessionFiles,
        place: &SessionLocation,
        files: &[FilePrint],
    ) -> Option<String> {
        if session_files.is_empty() {
            return None;
        }
        index::write_line(&session_files.session().borrow(), &self.index_key(place), place.placement(), files)
            .ok()
    }

    // A file that changed just now may change again without a visible difference.
    fn add_line(&self, unsettled: UnsettledLine, looked_ms: i64) {
        let mut pending = self.pending_lines.borrow_mut();
        if file_prints::is_settled(&unsettled.files, looked_ms) {
            pending.new_lines.extend_from_slice(unsettled.line.as_bytes());
            pending.new_line_count += 1;
        } else {
            pending.unsettled_lines.push(unsettled);
        }
    }

    /// Writes the pending lines. If that fails, the list is given all the same.
    pub(super) async fn save_index(&self, io: &Io) -> Result<(), Trouble> {
        let unsettled = core::mem::take(&mut self.pending_lines.borrow_mut().unsettled_lines);
        let works = unsettled.into_iter().map(|line| Box::pin(self.settle_line(io, line)) as Work<'_, ()>);
        join_in_batches(works, MAX_PARALLEL_READS).await?;
        let (bytes, is_long) = {
            let mut pending = self.pending_lines.borrow_mut();
            pending.index_line_count += core::mem::take(&mut pending.new_line_count);
            (
                core::mem::take(&mut pending.new_lines),
                pending.index_line_count > 2 * pending.index_path_count + MAX_SPARE_LINES,
            )
        };
        if bytes.is_empty() {
            return Ok(());
        }
        if is_long {
            return unless_bug(self.compact_index(io, &bytes).await).map(drop);
        }
        // A process that died while writing left no line feed.
        let bytes = [&b"\n"[..], &bytes].concat();
        unless_bug(io.append(&layout::index(), bytes, false, None).await).map(drop)
    }

    // Adds a line whose files are still unchanged, now that a change would be visible.
    async fn settle_line(&self, io: &Io, unsettled: UnsettledLine) -> Result<(), Trouble> {
        let looked_ms = io.now_ms();
        let again = unless_bug(self.read_prints(io, &unsettled.place).await)?;
        if again.is_some_and(|again| file_prints::is_settled(&again, looked_ms) && again == unsettled.files) {
            self.add_line(unsettled, looked_ms);
        }
        Ok(())
    }

    /// Keeps only the newest line of each path. A process that appends meanwhile loses its line; the next list writes
    /// it again.
    pub(super) async fn compact_index(&self, io: &Io, fresh: &[u8]) -> Result<(), Trouble> {
        let bytes = io.read_all(&layout::index()).await?.unwrap_or_default();
        let newest = index::read_index(&[&bytes, &b"\n"[..], fresh].concat()).newest();
        self.pending_lines.borrow_mut().reset_line_count();
        io.replace(&layout::index(), newest.into_bytes(), None).await
    }

    /// Removes the line of a session that was deleted for good.
    pub(super) async fn remove_line(&self, io: &Io, shown: &str) -> Result<(), Trouble> {
        if let Some(bytes) = io.read_all(&layout::index()).await? {
            let key = self.setup.path_below(shown, &self.setup.home).unwrap_or(shown);
            io.replace(&layout::index(), index::drop_path(&bytes, key), None).await?;
            self.discard_lines();
        }
        Ok(())
    }

    /// Drops the pending lines, which are then not written.
    pub(super) fn discard_lines(&self) {
        self.pending_lines.take();
    }

    /// Finds places of sessions with this id or name in the index, unverified. Only lines that mention it are parsed.
    pub(super) async fn find_mentioned(&self, io: &Io, id: &str) -> Result<Vec<SessionLocation>, Trouble> {
        let bytes = unless_bug(io.read_all(&layout::index()).await)?.flatten().unwrap_or_default();
        Ok(self.find_mentioned_in(index::lines_with(&bytes, to_json(id).as_bytes()), id))
    }

    /// Finds them in these lines.
    pub(super) fn find_mentioned_in(&self, lines: Vec<u8>, id: &str) -> Vec<SessionLocation> {
        let index = self.parse_index(lines);
        let place = |(key, row)| {
            let entry = index.entry(row)?;
            let is_it = entry.id == id || entry.name.as_deref() == Some(id);
            self.place_from_key(key, &entry).filter(|_| is_it)
        };
        index.rows().filter_map(place).collect()
    }
}
