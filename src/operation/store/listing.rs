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
use crate::layout::{self, File, Place, Root};
use crate::operation::io::some;
use crate::operation::live::Live;
use crate::operation::{Io, Stat, Trouble, Work, unless_bug};
use crate::session::index::{self, Index, Row};
use crate::session::listed::{Entry, Listed};
use crate::session::prints::{self, Print};
use crate::time;

/// How many stale lines the index may have beside as many that are not.
const SPARE: u64 = 1000;

/// Lines that are not written yet.
#[derive(Default)]
pub(super) struct Pending {
    fresh: Vec<u8>,
    // How many these are.
    count: u64,
    // Of files that were changed just now: they are looked at again before their lines are written.
    unsettled: Vec<Unsettled>,
    // What the index had when it was read.
    lines: u64,
    paths: u64,
}

impl Pending {
    // Of each path one line is left.
    fn restart(&mut self) {
        self.lines = self.paths;
    }
}

// Whether a file is as it was, or what was added to it.
fn goes_on(known: &Stat, now: &Stat) -> bool {
    now == known || now.file.is_some() && now.file == known.file && now.size > known.size
}

struct Unsettled {
    place: Place,
    files: Vec<Print>,
    line: String,
}

/// A place, and what is known of its session.
pub(super) enum Seen {
    /// It was looked whether all of it still holds.
    Sure(FoundPlace, Rc<Listed>),
    /// Its messages are as they were. There may be no more to know.
    Timed { found: FoundPlace, path: String, last: String, last_ms: Option<i64> },
}

impl Seen {
    pub fn active(&self) -> (Option<i64>, &str, &str) {
        match self {
            Seen::Sure(_, one) => (one.last_ms, &one.entry.last, &one.path),
            Seen::Timed { path, last, last_ms, .. } => (*last_ms, last, path),
        }
    }
}

impl Store {
    /// As it is by now. Who asks again reads only what has come to it.
    pub(super) async fn read_index(&self, io: &Io) -> Result<Rc<Index>, Trouble> {
        let file = layout::index();
        let looked_ms = io.now_ms();
        // Who knows nothing of it asks for all of it in the same step.
        let is_known = self.index.borrow().is_some();
        let looks = io.stat(&file);
        let whole = if is_known { None } else { Some(io.read_all(&file)) };
        let looked = unless_bug(looks.await)?.flatten();
        let whole = match whole {
            Some(whole) => unless_bug(whole.await)?.flatten(),
            None => None,
        };
        let known = self.index.take().filter(|(known, _)| looked.is_some_and(|now| goes_on(known, &now)));
        let known = known.and_then(|(_, index)| Rc::try_unwrap(index).ok());
        let mut index = known.unwrap_or_else(|| self.index_of(whole.unwrap_or_default()));
        let length = index.length();
        if looked.is_some_and(|now| now.size > length) {
            let bytes = unless_bug(io.read(&file, length, None).await)?.flatten().unwrap_or_default();
            index.extend(bytes, &|path| self.below_home(path));
        }
        let index = Rc::new(index);
        let is_settled = |one: &Stat| prints::is_settled(&[Some((one.size, one.changed_us))], looked_ms);
        // What came to it since it was looked at is read the next time.
        let known = looked.filter(|one| is_settled(one) && one.size == index.length());
        self.index.replace(known.map(|known| (known, index.clone())));
        let mut pending = self.pending.borrow_mut();
        (pending.lines, pending.paths) = (index.lines, index.paths() as u64);
        Ok(index)
    }

    // A home that was moved has its index still: paths in it are below the home.
    fn index_of(&self, bytes: Vec<u8>) -> Index {
        Index::of(bytes, &|path| self.below_home(path))
    }

    fn below_home(&self, path: String) -> String {
        let below = self.setup.below(&path, &self.setup.home);
        below.map(String::from).unwrap_or(path)
    }

    // What the index calls a place.
    pub(super) fn key(&self, place: &Place) -> String {
        let folder = place.folder();
        if let Place::Home { .. } = place {
            return folder.path;
        }
        let shown = self.setup.shown(&folder);
        self.setup.below(&shown, &self.setup.home).map(String::from).unwrap_or(shown)
    }

    /// The place that the index calls so.
    pub(super) fn place_of(&self, key: &str, entry: &Entry) -> Option<Place> {
        let shown = self.setup.shown(&File::new(Root::Home, key));
        let path = if self.setup.is_absolute(key) { key } else { &shown };
        self.setup.place(path, entry.placement)
    }

    pub(super) fn listed(&self, place: &Place, entry: Entry) -> Listed {
        let folder = match place {
            Place::Home { .. } => entry.project.clone(),
            Place::Workspace { root, .. } => root.clone(),
        };
        let last_ms = time::parse(&entry.last);
        let (path, place, key) = (self.setup.shown(&place.folder()), Rc::new(place.clone()), OnceCell::new());
        Listed { path, place, key, folder, last_ms, log: None, entry }
    }

    /// What is at places: what the index says where the files are as they were, as far as they were looked at; else the
    /// sessions are opened. Of what was not looked at, [`Store::verified`] makes sure. `since_ms`: when their files were
    /// looked at, at the earliest.
    pub(super) async fn found(
        &self,
        io: &Io,
        index: &Index,
        places: Vec<FoundPlace>,
        since_ms: i64,
    ) -> Result<Vec<Seen>, Trouble> {
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for one in places {
            let row = index.row(self.key(&one.place)).filter(|row| row.is_of(&one.files));
            match row {
                Some(row) if one.is_whole() => match self.listed_row(index, row, &one.place) {
                    Some(listed) => found.push(Seen::Sure(one, listed)),
                    None => others.push(one),
                },
                // A time that is not that of a message may be another by now, and with it the order.
                Some(row) if row.is_timed => {
                    let (last, path) = (String::from(&*row.last), self.setup.shown(&one.place.folder()));
                    found.push(Seen::Timed { last_ms: time::parse(&last), found: one, path, last });
                }
                _ => others.push(one),
            }
        }
        found.extend(self.looked_all(io, index, others, Some(since_ms)).await?);
        Ok(found)
    }

    /// What sessions say of what never changes, as where they began: the index is believed.
    pub(super) async fn told(
        &self,
        io: &Io,
        index: &Index,
        places: Vec<FoundPlace>,
    ) -> Result<Vec<Entry>, Trouble> {
        let (mut told, mut others) = (Vec::new(), Vec::new());
        for one in places {
            match index.row(self.key(&one.place)).and_then(|row| index.entry(row)) {
                Some(entry) => told.push(entry),
                None => others.push(one),
            }
        }
        for seen in self.looked_all(io, index, others, None).await? {
            if let Seen::Sure(_, listed) = seen {
                told.push(listed.entry.clone());
            }
        }
        Ok(told)
    }

    async fn looked_all(
        &self,
        io: &Io,
        index: &Index,
        places: Vec<FoundPlace>,
        since_ms: Option<i64>,
    ) -> Result<Vec<Seen>, Trouble> {
        let works = places
            .into_iter()
            .map(|one| Box::pin(self.sure(io, index, one, since_ms)) as Work<'_, Option<Seen>>);
        Ok(some(works, AT_ONCE).await?.into_iter().flatten().collect())
    }

    pub(super) async fn sure(
        &self,
        io: &Io,
        index: &Index,
        one: FoundPlace,
        since_ms: Option<i64>,
    ) -> Result<Option<Seen>, Trouble> {
        if let Some(listed) = self.written(io, index, &one.place).await? {
            return Ok(Some(Seen::Sure(one, listed)));
        }
        // One that has a line already goes on, and is read again each time.
        let goes_on = index.row(self.key(&one.place)).is_some();
        self.looked(io, one, (since_ms, goes_on)).await
    }

    // What the index says, where all of the files are as they were: that of a session whose messages have no times, too.
    async fn written(&self, io: &Io, index: &Index, place: &Place) -> Result<Option<Rc<Listed>>, Trouble> {
        let Some(row) = index.row(self.key(place)) else { return Ok(None) };
        let Some(files) = unless_bug(self.prints(io, place).await)? else { return Ok(None) };
        let files: Vec<_> = files.into_iter().map(Some).collect();
        Ok(row.is_of(&files).then(|| self.listed_row(index, row, place)).flatten())
    }

    // What a row says whose files are as they were.
    fn listed_row(&self, index: &Index, row: &Row, place: &Place) -> Option<Rc<Listed>> {
        let read = || {
            let entry = index.entry(row)?;
            Some(Rc::new(Listed { log: row.log(), ..self.listed(place, entry) }))
        };
        row.listed.get_or_init(read).clone()
    }

    /// The same, where all of its files are as they were.
    pub(super) async fn verified(&self, io: &Io, index: &Index, seen: Seen) -> Result<Option<Seen>, Trouble> {
        match seen {
            Seen::Sure(..) => Ok(Some(seen)),
            Seen::Timed { found, .. } => self.sure(io, index, found, None).await,
        }
    }

    /// What a session says that is opened for it. `since_ms`: when all of its files were looked at; they are now, unless given.
    /// `goes_on`: it will be read again, and is to be read from here then.
    pub(super) async fn looked(
        &self,
        io: &Io,
        one: FoundPlace,
        (since_ms, goes_on): (Option<i64>, bool),
    ) -> Result<Option<Seen>, Trouble> {
        let known: Option<Vec<Print>> = one.files.iter().copied().collect();
        let known = known.filter(|_| one.is_whole()).zip(since_ms);
        // Where they change until they are read, the line is of none that there were, and the next list looks again.
        let (files, looked_ms) = match known {
            Some((files, since_ms)) => (Some(files), since_ms),
            None => {
                let looked_ms = io.now_ms();
                (unless_bug(self.prints(io, &one.place).await)?, looked_ms)
            }
        };
        let line = match &files {
            None => None,
            Some(files) => {
                let live = self.unread(&one.place, "");
                let opened = unless_bug(live.opened(io).await)?;
                if opened.is_some() && goes_on {
                    live.keep_far_read(io, (files[0], looked_ms)).await?;
                }
                opened.and_then(|()| self.line_of(&live, &one.place, files))
            }
        };
        let entry = match line.as_deref().and_then(Entry::read).zip(line.clone()) {
            Some((entry, line)) => {
                self.keep_line(
                    Unsettled { place: one.place.clone(), files: files.unwrap_or_default(), line },
                    looked_ms,
                );
                entry
            }
            None => {
                // A folder that was made, and nothing in it: whoever made it did not come further than that.
                let has_none = |files: Vec<Print>| {
                    files.iter().take(3).all(|file| file.is_none_or(|(size, _)| size == 0))
                };
                if files.is_some_and(has_none) {
                    return Ok(None);
                }
                // One that cannot be read must not cost the rest of the list.
                let id = match &one.place {
                    Place::Home { id, .. } => id,
                    Place::Workspace { name, .. } => name,
                };
                Entry::unreadable(one.place.placement(), id)
            }
        };
        let listed = Rc::new(self.listed(&one.place, entry));
        Ok(Some(Seen::Sure(one, listed)))
    }

    /// The same of one that was opened and changed for the list.
    pub(super) async fn changed(
        &self,
        io: &Io,
        live: &Live,
        place: &Place,
    ) -> Result<Option<Rc<Listed>>, Trouble> {
        let looked_ms = io.now_ms();
        let files = unless_bug(self.prints(io, place).await)?;
        // What others append is in the line, or makes its files others.
        live.looked_here(io).await?;
        let Some(files) = files else { return Ok(None) };
        let Some(line) = self.line_of(live, place, &files) else { return Ok(None) };
        let entry = Entry::read(&line);
        self.keep_line(Unsettled { place: place.clone(), files, line }, looked_ms);
        Ok(entry.map(|entry| Rc::new(self.listed(place, entry))))
    }

    fn line_of(&self, live: &Live, place: &Place, files: &[Print]) -> Option<String> {
        if live.is_empty() {
            return None;
        }
        index::write(&live.session().borrow(), &self.key(place), place.placement(), files).ok()
    }

    // What was changed just now may be changed again, and look the same.
    fn keep_line(&self, one: Unsettled, looked_ms: i64) {
        let mut pending = self.pending.borrow_mut();
        if prints::is_settled(&one.files, looked_ms) {
            pending.fresh.extend_from_slice(one.line.as_bytes());
            pending.count += 1;
        } else {
            pending.unsettled.push(one);
        }
    }

    /// Writes down what was found. A list that cannot is a list all the same.
    pub(super) async fn save_index(&self, io: &Io) -> Result<(), Trouble> {
        let unsettled = core::mem::take(&mut self.pending.borrow_mut().unsettled);
        let works = unsettled.into_iter().map(|one| Box::pin(self.settled(io, one)) as Work<'_, ()>);
        some(works, AT_ONCE).await?;
        let (bytes, is_long) = {
            let mut pending = self.pending.borrow_mut();
            pending.lines += core::mem::take(&mut pending.count);
            (core::mem::take(&mut pending.fresh), pending.lines > 2 * pending.paths + SPARE)
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
    async fn settled(&self, io: &Io, one: Unsettled) -> Result<(), Trouble> {
        let looked_ms = io.now_ms();
        let again = unless_bug(self.prints(io, &one.place).await)?;
        if again.is_some_and(|again| prints::is_settled(&again, looked_ms) && again == one.files) {
            self.keep_line(one, looked_ms);
        }
        Ok(())
    }

    /// Only the newest line of each path. Who appends meanwhile loses a line; the next list writes it again.
    pub(super) async fn compact_index(&self, io: &Io, fresh: &[u8]) -> Result<(), Trouble> {
        let bytes = io.read_all(&layout::index()).await?.unwrap_or_default();
        let newest = index::read(&[&bytes, &b"\n"[..], fresh].concat()).newest();
        self.pending.borrow_mut().restart();
        io.replace(&layout::index(), newest.into_bytes(), None).await
    }

    /// Leaves no line about a session that is gone for good.
    pub(super) async fn forget_line(&self, io: &Io, shown: &str) -> Result<(), Trouble> {
        if let Some(bytes) = io.read_all(&layout::index()).await? {
            let key = self.setup.below(shown, &self.setup.home).unwrap_or(shown);
            io.replace(&layout::index(), index::without(&bytes, key), None).await?;
            self.discard_lines();
        }
        Ok(())
    }

    /// Forgets what was found: it is not to be written down.
    pub(super) fn discard_lines(&self) {
        self.pending.take();
    }

    /// Where the index says that sessions of an id or a name lie, unverified. Only its lines that mention it are read.
    pub(super) async fn mentioned(&self, io: &Io, id: &str) -> Result<Vec<Place>, Trouble> {
        let bytes = unless_bug(io.read_all(&layout::index()).await)?.flatten().unwrap_or_default();
        Ok(self.mentioned_in(index::lines_with(&bytes, to_json(id).as_bytes()), id))
    }

    /// The same by these lines.
    pub(super) fn mentioned_in(&self, lines: Vec<u8>, id: &str) -> Vec<Place> {
        let index = self.index_of(lines);
        let place = |(key, row)| {
            let entry = index.entry(row)?;
            let is_it = entry.id == id || entry.name.as_deref() == Some(id);
            self.place_of(key, &entry).filter(|_| is_it)
        };
        index.rows().filter_map(place).collect()
    }
}
