//! The sessions of the project, or all.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::listing::Seen;
use super::places::{AT_ONCE, FoundPlace};
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{self, Place};
use crate::operation::io::{all, both};
use crate::operation::lease::{Notice, TakenUp};
use crate::operation::live::Live;
use crate::operation::{Io, Operation, Trouble, Work, unless_bug};
use crate::project::Aliases;
use crate::record::status::Status;
use crate::session::index::Index;
use crate::session::listed::{self, Entry, Listed, Sort, Wanted, later};

impl Store {
    /// The sessions, last active first unless another order is wanted: those of the project, or all. The request is as in
    /// [`Wanted::from_json`]. Answer: a JSON array.
    pub fn list(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let mut json = String::from("[");
            for (nth, one) in store.list_asked(&io, &request).await?.iter().enumerate() {
                if nth > 0 {
                    json.push(',');
                }
                one.write(&mut json);
            }
            json.push(']');
            Ok(json)
        })
    }

    pub(super) async fn list_asked(&self, io: &Io, request: &str) -> Result<Vec<Rc<Listed>>, Trouble> {
        request::read(
            request,
            "all, type, status, archived, agent, folder, since, until, sort, limit or verify",
        )?;
        let wanted = Wanted::from_json(request)?;
        self.all_listed(io, &wanted).await
    }

    /// Pauses those that are open here and rest for long, as a list does with those that nobody has open: for who has some open
    /// for days. What was done is told with what lists find out, and why one could not be paused, too.
    pub fn rest(self: &Rc<Store>) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(|io| async move {
            let open = store.open.borrow().clone();
            for live in open {
                let shown = live.shown();
                let Some(place) = store.setup.place(&shown, live.placement()) else { continue };
                match store.rested(&io, &place, Some(live.clone())).await {
                    Err(trouble) if !trouble.is_bug() => {
                        let message = trouble.message().into();
                        let notice = to_json(&Notice { code: "not_paused", message });
                        // Each turn of a timer finds the same.
                        if !live.has_heard(&notice) {
                            store.say(&shown, notice);
                        }
                    }
                    rested => drop(rested?),
                }
            }
            Ok(())
        })
    }

    pub(super) async fn all_listed(&self, io: &Io, wanted: &Wanted) -> Result<Vec<Rc<Listed>>, Trouble> {
        let index = self.read_index(io).await?;
        let limit = wanted.limit.unwrap_or(usize::MAX);
        let mut found = if wanted.is_unverified {
            self.unverified(io, &index, wanted).await?
        } else {
            self.verified_list(io, &index, wanted).await?
        };
        // Where another session lies than the index knew, it was found in the other's place.
        listed::sort(&mut found, wanted.sort);
        found.truncate(limit);
        Ok(found)
    }

    async fn verified_list(
        &self,
        io: &Io,
        index: &Index,
        wanted: &Wanted,
    ) -> Result<Vec<Rc<Listed>>, Trouble> {
        // Of another order, the first are known when all are.
        let most = wanted.limit.filter(|_| wanted.sort == Sort::Active).unwrap_or(usize::MAX);
        // Where all are wanted, some wait beside each other; else none is looked at more than it takes.
        let at_once = if most == usize::MAX { AT_ONCE } else { 1 };
        let mut found = self.found_of(io, index, wanted.all, most == usize::MAX).await?.into_iter();
        let mut listed: Vec<Rc<Listed>> = Vec::new();
        while listed.len() < most {
            // Of what is sure and does not rest there is nothing to wait for.
            let mut works: Vec<Work<'_, Option<Rc<Listed>>>> = Vec::new();
            let mut is_over = true;
            for seen in found.by_ref() {
                is_over = false;
                match seen {
                    Seen::Sure(_, one) if !self.rests(io, &one) => {
                        listed.extend(Some(one).filter(|one| wanted.has(one)));
                    }
                    seen => works.push(Box::pin(self.as_it_is(io, index, seen, wanted))),
                }
                if works.len() == at_once || listed.len() >= most {
                    break;
                }
            }
            if is_over {
                break;
            }
            for one in all(works).await {
                listed.extend(one?.filter(|one| wanted.has(one)));
            }
        }
        self.save_index(io).await?;
        Ok(listed)
    }

    // One as it is; but one that rests for long is paused first.
    async fn as_it_is(
        &self,
        io: &Io,
        index: &Index,
        seen: Seen,
        wanted: &Wanted,
    ) -> Result<Option<Rc<Listed>>, Trouble> {
        let Some(Seen::Sure(found, one)) = self.verified(io, index, seen).await? else { return Ok(None) };
        if !self.rests(io, &one) {
            return Ok(Some(one));
        }
        let mut open = self.open_at(&one.path);
        if wanted.as_another
            && let Some(live) = open.take()
            && live.is_held(io).await?
        {
            return Ok(Some(one));
        }
        Ok(Some(unless_bug(self.rested(io, &found.place, open).await)?.flatten().unwrap_or(one)))
    }

    fn rests(&self, io: &Io, one: &Listed) -> bool {
        let idle_ms = self.setup.idle_ms;
        let is_active = one.entry.lifecycle == Some(Status::Active);
        is_active && one.last_ms.is_some_and(|ms| io.now_ms().saturating_sub(ms) > idle_ms)
    }

    // Pauses one that rests for long; what is listed of it then, nothing where it does not rest. `open`: it is open here, and knows of
    // it.
    async fn rested(
        &self,
        io: &Io,
        place: &Place,
        open: Option<Rc<Live>>,
    ) -> Result<Option<Rc<Listed>>, Trouble> {
        let shown = self.setup.shown(&place.folder());
        match open {
            Some(live) => {
                io.turn_of(&shown).await?;
                let paused = async {
                    // One that was opened just now is as its files are; another one may find a log that was not there.
                    live.looked_here(io).await?;
                    self.paused(io, &live, place, &shown).await
                };
                let paused = paused.await;
                io.leave_of(&shown);
                paused
            }
            None => {
                let live = self.unread(place, "");
                live.opened(io).await?;
                self.paused(io, &live, place, &shown).await
            }
        }
    }

    async fn paused(
        &self,
        io: &Io,
        live: &Live,
        place: &Place,
        shown: &str,
    ) -> Result<Option<Rc<Listed>>, Trouble> {
        let TakenUp { notices, has_paused } = live.taken_up(io, self.setup.idle_ms, true).await?;
        // Else nobody would hear of those whose leases are cleared away.
        self.tell(shown, notices);
        if has_paused { self.changed(io, live, place).await } else { Ok(None) }
    }

    /// Of the project or of all, last active first; `is_whole`: all of their files are looked at.
    pub(super) async fn found_of(
        &self,
        io: &Io,
        index: &Index,
        of_all: bool,
        is_whole: bool,
    ) -> Result<Vec<Seen>, Trouble> {
        let since_ms = io.now_ms();
        let places = if of_all {
            self.all_places(io, is_whole).await?
        } else {
            self.of_project(io, index, is_whole).await?
        };
        let mut found = self.found(io, index, places, since_ms).await?;
        found.sort_by(|one, other| later(one.active(), other.active()));
        Ok(found)
    }

    // Of one project, in whatever folder it was.
    async fn of_project(&self, io: &Io, index: &Index, is_whole: bool) -> Result<Vec<FoundPlace>, Trouble> {
        let near = both(
            self.in_home(io, &self.hash, is_whole),
            self.in_workspace(io, self.setup.workspace(), is_whole),
        );
        let ((mine, beside), others) = both(near, self.projects(io)).await;
        let (mut places, mut others) = (mine?, others?);
        places.extend(beside?);
        others.retain(|hash| *hash != self.hash);
        // What is no repository is known by its folder alone.
        if !others.is_empty() && self.has_aliases(io).await? {
            for hash in others {
                let some =
                    self.some_of(&layout::project_folder(&hash), self.in_home(io, &hash, false).await)?;
                let told = self.told(io, index, some).await?;
                if self.is_mine(io, told.iter()).await? {
                    places.extend(self.in_home(io, &hash, is_whole).await?);
                }
            }
        }
        self.shown(io, places).await
    }

    // What the index says; of the project, as far as entries say themselves where it was.
    async fn unverified(&self, io: &Io, index: &Index, wanted: &Wanted) -> Result<Vec<Rc<Listed>>, Trouble> {
        let mut by_folder: BTreeMap<String, Vec<Rc<Listed>>> = BTreeMap::new();
        for (key, row) in index.rows() {
            let Some(entry) = index.entry(row) else { continue };
            let Some(place) = self.place_of(key, &entry) else { continue };
            let folder = match &place {
                Place::Home { project, .. } => project.clone(),
                Place::Workspace { root, .. } if root == self.setup.workspace() => self.hash.clone(),
                Place::Workspace { .. } => String::new(),
            };
            let listed = Rc::new(self.listed(&place, entry));
            if wanted.has(&listed) {
                by_folder.entry(folder).or_default().push(listed);
            }
        }
        let mut found = Vec::new();
        for (folder, some) in by_folder {
            let is_mine = wanted.all
                || folder == self.hash
                || !folder.is_empty() && self.is_mine(io, some.iter().map(|one| &one.entry)).await?;
            if is_mine {
                found.extend(some);
            }
        }
        Ok(found)
    }

    async fn has_aliases(&self, io: &Io) -> Result<bool, Trouble> {
        let Aliases { remote, first_commit, .. } = self.aliases(io).await?;
        Ok(remote.is_some() || first_commit.is_some())
    }

    // Whether one of these is of the same repository in another folder: renamed, moved, cloned again, or another worktree.
    async fn is_mine<'e>(&self, io: &Io, entries: impl Iterator<Item = &'e Entry>) -> Result<bool, Trouble> {
        let is_known = |one: &&Aliases| one.remote.is_some() || one.first_commit.is_some();
        let mut others = entries.map(|entry| &entry.aliases).filter(is_known).peekable();
        if others.peek().is_none() {
            return Ok(false);
        }
        let mine = self.aliases(io).await?;
        Ok(others.any(|other| mine.is_same(other)))
    }
}
