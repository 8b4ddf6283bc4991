//! What lists show of sessions, from an index, so that none has to be opened. The index is a cache: what it says of a session
//! holds while the session's files are as they were, which is looked at. What is missing or stale is opened, and written down
//! for the next time.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::Store;
use super::places::{AT_ONCE, FoundPlace};
use crate::json::text::to_json;
use crate::layout::{self, File, Root, SessionLocation};
use crate::operation::join::join_in_batches;
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Stat, Trouble, Work, unless_bug};
use crate::session::file_prints::{self, FilePrint};
use crate::session::index::{self, IndexRow, SessionIndex};
use crate::session::session_list::{IndexEntry, ListedSession};
use crate::time;

/// How many stale lines the index may have beside as many that are not.
const SPARE: u64 = 1000;

/// Lines that are not written yet.
#[derive(Default)]
pub(super) struct PendingLines {
    new_lines: Vec<u8>,
    // How many these are.
    new_line_count: u64,
    // Of files that were changed just now: they are looked at again before their lines are written.
    unsettled_lines: Vec<UnsettledLine>,
    // What the index had when it was read.
    index_line_count: u64,
    index_path_count: u64,
}

impl PendingLines {
    // Of each path one line is left.
    fn reset_line_count(&mut self) {
        self.index_line_count = self.index_path_count;
    }
}

// Whether a file is as it was, or what was added to it.
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
    /// It was looked whether all of it still holds.
    Verified(FoundPlace, Rc<ListedSession>),
    /// Its messages are as they were. There may be no more to know.
    MessagesUnchanged { found: FoundPlace, path: String, last: String, last_ms: Option<i64> },
}

impl FoundSession {
    pub fn activity(&self) -> (Option<i64>, &str, &str) {
        match self {
            FoundSession::Verified(_, one) => (one.last_ms, &one.entry.last_active, &one.path),
            FoundSession::MessagesUnchanged { path, last, last_ms, .. } => (*last_ms, last, path),
        }
    }
}

impl Store {
    /// As it is by now. Who asks again reads only what has come to it.
    pub(super) async fn read_index(&self, io: &Io) -> Result<Rc<SessionIndex>, Trouble> {
        let file = layout::index();
        let looked_ms = io.now_ms();
        // Who knows nothing of it asks for all of it in the same step.
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
        let is_settled = |one: &Stat| file_prints::is_settled(&[Some((one.size, one.changed_us))], looked_ms);
        // What came to it since it was looked at is read the next time.
        let known = looked.filter(|one| is_settled(one) && one.size == index.length());
        self.cached_index.replace(known.map(|known| (known, index.clone())));
        let mut pending = self.pending_lines.borrow_mut();
        (pending.index_line_count, pending.index_path_count) = (index.lines, index.paths() as u64);
        Ok(index)
    }

    // A home that was moved has its index still: paths in it are below the home.
    fn parse_index(&self, bytes: Vec<u8>) -> SessionIndex {
        SessionIndex::of(bytes, &|path| self.path_below_home(path))
    }

    fn path_below_home(&self, path: String) -> String {
        let below = self.setup.path_below(&path, &self.setup.home);
        below.map(String::from).unwrap_or(path)
    }

    // What the index calls a place.
    pub(super) fn index_key(&self, place: &SessionLocation) -> String {
        let folder = place.folder();
        if let SessionLocation::Home { .. } = place {
            return folder.path;
        }
        let shown = self.setup.display_path(&folder);
        self.setup.path_below(&shown, &self.setup.home).map(String::from).unwrap_or(shown)
    }

    /// The place that the index calls so.
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

    /// What is at places: what the index says where the files are as they were, as far as they were looked at; else the
    /// sessions are opened. Of what was not looked at, [`Store::verify_session`] makes sure. `since_ms`: when their files were
    /// looked at, at the earliest.
    pub(super) async fn look_up_places(
        &self,
        io: &Io,
        index: &SessionIndex,
        places: Vec<FoundPlace>,
        since_ms: i64,
    ) -> Result<Vec<FoundSession>, Trouble> {
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for one in places {
            let row = index.row(self.index_key(&one.place)).filter(|row| row.matches_files(&one.files));
            match row {
                Some(row) if one.has_all_prints() => match self.listed_from_row(index, row, &one.place) {
                    Some(listed) => found.push(FoundSession::Verified(one, listed)),
                    None => others.push(one),
                },
                // A time that is not that of a message may be another by now, and with it the order.
                Some(row) if row.has_message_time => {
                    let (last, path) =
                        (String::from(&*row.last_active), self.setup.display_path(&one.place.folder()));
                    found.push(FoundSession::MessagesUnchanged {
                        last_ms: time::parse(&last),
                        found: one,
                        path,
                        last,
                    });
                }
                _ => others.push(one),
            }
        }
        found.extend(self.verify_places(io, index, others, Some(since_ms)).await?);
        Ok(found)
    }

    /// What sessions say of what never changes, as where they began: the index is believed.
    pub(super) async fn read_entries(
        &self,
        io: &Io,
        index: &SessionIndex,
        places: Vec<FoundPlace>,
    ) -> Result<Vec<IndexEntry>, Trouble> {
        let (mut told, mut others) = (Vec::new(), Vec::new());
        for one in places {
            match index.row(self.index_key(&one.place)).and_then(|row| index.entry(row)) {
                Some(entry) => told.push(entry),
                None => others.push(one),
            }
        }
        for seen in self.verify_places(io, index, others, None).await? {
            if let FoundSession::Verified(_, listed) = seen {
                told.push(listed.entry.clone());
            }
        }
        Ok(told)
    }

    async fn verify_places(
        &self,
        io: &Io,
        index: &SessionIndex,
        places: Vec<FoundPlace>,
        since_ms: Option<i64>,
    ) -> Result<Vec<FoundSession>, Trouble> {
        let works = places.into_iter().map(|one| {
            Box::pin(self.verify_place(io, index, one, since_ms)) as Work<'_, Option<FoundSession>>
        });
        Ok(join_in_batches(works, AT_ONCE).await?.into_iter().flatten().collect())
    }

    pub(super) async fn verify_place(
        &self,
        io: &Io,
        index: &SessionIndex,
        one: FoundPlace,
        since_ms: Option<i64>,
    ) -> Result<Option<FoundSession>, Trouble> {
        if let Some(listed) = self.find_current_row(io, index, &one.place).await? {
            return Ok(Some(FoundSession::Verified(one, listed)));
        }
        // One that has a line already goes on, and is read again each time.
        let goes_on = index.row(self.index_key(&one.place)).is_some();
        self.open_and_index(io, one, (since_ms, goes_on)).await
    }

    // What the index says, where all of the files are as they were: that of a session whose messages have no times, too.
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

    // What a row says whose files are as they were.
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

    /// The same, where all of its files are as they were.
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

    /// What a session says that is opened for it. `since_ms`: when all of its files were looked at; they are now, unless given.
    /// `goes_on`: it will be read again, and is to be read from here then.
    pub(super) async fn open_and_index(
        &self,
        io: &Io,
        one: FoundPlace,
        (since_ms, goes_on): (Option<i64>, bool),
    ) -> Result<Option<FoundSession>, Trouble> {
        let known: Option<Vec<FilePrint>> = one.files.iter().copied().collect();
        let known = known.filter(|_| one.has_all_prints()).zip(since_ms);
        // Where they change until they are read, the line is of none that there were, and the next list looks again.
        let (files, looked_ms) = match known {
            Some((files, since_ms)) => (Some(files), since_ms),
            None => {
                let looked_ms = io.now_ms();
                (unless_bug(self.read_prints(io, &one.place).await)?, looked_ms)
            }
        };
        let line = match &files {
            None => None,
            Some(files) => {
                let live = self.unopened_session(&one.place, "");
                let opened = unless_bug(live.open_files(io).await)?;
                if opened.is_some() && goes_on {
                    live.save_checkpoint_if_far(io, (files[0], looked_ms)).await?;
                }
                opened.and_then(|()| self.index_line(&live, &one.place, files))
            }
        };
        let entry = match line.as_deref().and_then(IndexEntry::read).zip(line.clone()) {
            Some((entry, line)) => {
                self.add_line(
                    UnsettledLine { place: one.place.clone(), files: files.unwrap_or_default(), line },
                    looked_ms,
                );
                entry
            }
            None => {
                // A folder that was made, and nothing in it: whoever made it did not come further than that.
                let has_none = |files: Vec<FilePrint>| {
                    files.iter().take(3).all(|file| file.is_none_or(|(size, _)| size == 0))
                };
                if files.is_some_and(has_none) {
                    return Ok(None);
                }
                // One that cannot be read must not cost the rest of the list.
                let id = match &one.place {
                    SessionLocation::Home { id, .. } => id,
                    SessionLocation::Workspace { name, .. } => name,
                };
                IndexEntry::unreadable(one.place.placement(), id)
            }
        };
        let listed = Rc::new(self.to_listed(&one.place, entry));
        Ok(Some(FoundSession::Verified(one, listed)))
    }

    /// The same of one that was opened and changed for the list.
    pub(super) async fn reindex_session(
        &self,
        io: &Io,
        live: &SessionFiles,
        place: &SessionLocation,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let looked_ms = io.now_ms();
        let files = unless_bug(self.read_prints(io, place).await)?;
        // What others append is in the line, or makes its files others.
        live.refresh_after_move(io).await?;
        let Some(files) = files else { return Ok(None) };
        let Some(line) = self.index_line(live, place, &files) else { return Ok(None) };
        let entry = IndexEntry::read(&line);
        self.add_line(UnsettledLine { place: place.clone(), files, line }, looked_ms);
        Ok(entry.map(|entry| Rc::new(self.to_listed(place, entry))))
    }

    fn index_line(
        &self,
        live: &SessionFiles,
        place: &SessionLocation,
        files: &[FilePrint],
    ) -> Option<String> {
        if live.is_empty() {
            return None;
        }
        index::write_line(&live.session().borrow(), &self.index_key(place), place.placement(), files).ok()
    }

    // What was changed just now may be changed again, and look the same.
    fn add_line(&self, one: UnsettledLine, looked_ms: i64) {
        let mut pending = self.pending_lines.borrow_mut();
        if file_prints::is_settled(&one.files, looked_ms) {
            pending.new_lines.extend_from_slice(one.line.as_bytes());
            pending.new_line_count += 1;
        } else {
            pending.unsettled_lines.push(one);
        }
    }

    /// Writes down what was found. A list that cannot is a list all the same.
    pub(super) async fn save_index(&self, io: &Io) -> Result<(), Trouble> {
        let unsettled = core::mem::take(&mut self.pending_lines.borrow_mut().unsettled_lines);
        let works = unsettled.into_iter().map(|one| Box::pin(self.settle_line(io, one)) as Work<'_, ()>);
        join_in_batches(works, AT_ONCE).await?;
        let (bytes, is_long) = {
            let mut pending = self.pending_lines.borrow_mut();
            pending.index_line_count += core::mem::take(&mut pending.new_line_count);
            (
                core::mem::take(&mut pending.new_lines),
                pending.index_line_count > 2 * pending.index_path_count + SPARE,
            )
        };
        if bytes.is_empty() {
            return Ok(());
        }
        if is_long {
            return unless_bug(self.compact_index(io, &bytes).await).map(drop);
        }
        // Whoever died while writing left no line feed.
        let bytes = [&b"\n"[..], &bytes].concat();
        unless_bug(io.append(&layout::index(), bytes, false, None).await).map(drop)
    }

    // One that is as it was, now that a change would be seen.
    async fn settle_line(&self, io: &Io, one: UnsettledLine) -> Result<(), Trouble> {
        let looked_ms = io.now_ms();
        let again = unless_bug(self.read_prints(io, &one.place).await)?;
        if again.is_some_and(|again| file_prints::is_settled(&again, looked_ms) && again == one.files) {
            self.add_line(one, looked_ms);
        }
        Ok(())
    }

    /// Only the newest line of each path. Who appends meanwhile loses a line; the next list writes it again.
    pub(super) async fn compact_index(&self, io: &Io, fresh: &[u8]) -> Result<(), Trouble> {
        let bytes = io.read_all(&layout::index()).await?.unwrap_or_default();
        let newest = index::read_index(&[&bytes, &b"\n"[..], fresh].concat()).newest();
        self.pending_lines.borrow_mut().reset_line_count();
        io.replace(&layout::index(), newest.into_bytes(), None).await
    }

    /// Leaves no line about a session that is gone for good.
    pub(super) async fn remove_line(&self, io: &Io, shown: &str) -> Result<(), Trouble> {
        if let Some(bytes) = io.read_all(&layout::index()).await? {
            let key = self.setup.path_below(shown, &self.setup.home).unwrap_or(shown);
            io.replace(&layout::index(), index::drop_path(&bytes, key), None).await?;
            self.discard_lines();
        }
        Ok(())
    }

    /// Forgets what was found: it is not to be written down.
    pub(super) fn discard_lines(&self) {
        self.pending_lines.take();
    }

    /// Where the index says that sessions of an id or a name lie, unverified. Only its lines that mention it are read.
    pub(super) async fn find_mentioned(&self, io: &Io, id: &str) -> Result<Vec<SessionLocation>, Trouble> {
        let bytes = unless_bug(io.read_all(&layout::index()).await)?.flatten().unwrap_or_default();
        Ok(self.find_mentioned_in(index::lines_with(&bytes, to_json(id).as_bytes()), id))
    }

    /// The same by these lines.
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
