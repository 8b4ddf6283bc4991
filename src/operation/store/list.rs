//! Lists sessions: those of the project, or of all projects.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::places::{FoundPlace, MAX_PARALLEL_READS};
use super::session_index::FoundSession;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{self, SessionLocation};
use crate::operation::join::{join_all, join_both};
use crate::operation::lease::{Notice, PauseReport};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble, Work, unless_bug};
use crate::project::Aliases;
use crate::record::status::Status;
use crate::session::index::SessionIndex;
use crate::session::session_list::{
    self, IndexEntry, ListRequest, ListedSession, SortOrder, compare_last_active,
};

impl Store {
    /// Lists sessions, the last active first unless another order is requested. The request is as in
    /// [`ListRequest::from_json`]. Answer: a JSON array.
    pub fn list(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let mut json = String::from("[");
            for (nth, session) in store.list_from_json(&io, &request).await?.iter().enumerate() {
                if nth > 0 {
                    json.push(',');
                }
                session.write(&mut json);
            }
            json.push(']');
            Ok(json)
        })
    }

    pub(super) async fn list_from_json(
        &self,
        io: &Io,
        request: &str,
    ) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        request::parse(
            request,
            "all, type, status, archived, agent, folder, since, until, sort, limit or verify",
        )?;
        let wanted = ListRequest::from_json(request)?;
        self.list_matching(io, &wanted).await
    }

    /// Pauses sessions that are open here and have been idle for long, as a list does with those that nobody has open:
    /// for hosts that keep sessions open for days. Both a pause and a failure to pause become notices.
    pub fn pause_idle(self: &Rc<Store>) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(|io| async move {
            let open = store.open_sessions.borrow().clone();
            for files in open {
                let shown = files.shown_folder();
                let Some(place) = store.setup.parse_place(&shown, files.placement()) else { continue };
                match store.pause_idle_session(&io, &place, Some(files.clone())).await {
                    Err(trouble) if !trouble.is_bug() => {
                        let message = trouble.message().into();
                        let notice = to_json(&Notice { code: "not_paused", message });
                        // Each tick of the caller's timer finds the same failure.
                        if !files.is_last_notice(&notice) {
                            store.report_notice(&shown, notice);
                        }
                    }
                    rested => drop(rested?),
                }
            }
            Ok(())
        })
    }

    pub(super) async fn list_matching(
        &self,
        io: &Io,
        wanted: &ListRequest,
    ) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        let index = self.read_index(io).await?;
        let limit = wanted.limit.unwrap_or(usize::MAX);
        let mut found = if wanted.is_unverified {
            self.list_unverified(io, &index, wanted).await?
        } else {
            self.list_verified(io, &index, wanted).await?
        };
        // A session that lies elsewhere than the index said was found at the wrong position.
        session_list::sort_sessions(&mut found, wanted.sort);
        found.truncate(limit);
        Ok(found)
    }

    async fn list_verified(
        &self,
        io: &Io,
        index: &SessionIndex,
        wanted: &ListRequest,
    ) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        // In another order, the first ones are known only once all are.
        let most = wanted.limit.filter(|_| wanted.sort == SortOrder::Active).unwrap_or(usize::MAX);
        // Where all are wanted, several are checked at once; else no more than needed are checked.
        let at_once = if most == usize::MAX { MAX_PARALLEL_READS } else { 1 };
        let mut found =
            self.find_sessions(io, index, wanted.all_projects, most == usize::MAX).await?.into_iter();
        let mut listed: Vec<Rc<ListedSession>> = Vec::new();
        while listed.len() < most {
            // A session that is verified and not idle needs no check.
            let mut works: Vec<Work<'_, Option<Rc<ListedSession>>>> = Vec::new();
            let mut is_over = true;
            for seen in found.by_ref() {
                is_over = false;
                match seen {
                    FoundSession::Verified(_, session)
                        if wanted.keeps_idle || !self.is_idle(io, &session) =>
                    {
                        listed.extend(Some(session).filter(|session| wanted.includes(session)));
                    }
                    seen => works.push(Box::pin(self.verify_and_pause(io, index, seen, wanted))),
                }
                if works.len() == at_once || listed.len() >= most {
                    break;
                }
            }
            if is_over {
                break;
            }
            for session in join_all(works).await {
                listed.extend(session?.filter(|session| wanted.includes(session)));
            }
        }
        self.save_index(io).await?;
        Ok(listed)
    }

    // Verifies a session, and pauses it if it has been idle for long.
    async fn verify_and_pause(
        &self,
        io: &Io,
        index: &SessionIndex,
        seen: FoundSession,
        wanted: &ListRequest,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let Some(FoundSession::Verified(found, session)) = self.verify_session(io, index, seen).await? else {
            return Ok(None);
        };
        if wanted.keeps_idle || !self.is_idle(io, &session) {
            return Ok(Some(session));
        }
        let mut open = self.find_open(&session.path);
        if wanted.counts_own_as_foreign
            && let Some(files) = open.take()
            && files.is_held(io).await?
        {
            return Ok(Some(session));
        }
        Ok(Some(
            unless_bug(self.pause_idle_session(io, &found.place, open).await)?.flatten().unwrap_or(session),
        ))
    }

    fn is_idle(&self, io: &Io, session: &ListedSession) -> bool {
        let idle_ms = self.setup.idle_ms;
        let is_active = session.entry.lifecycle == Some(Status::Active);
        is_active && session.last_ms.is_some_and(|ms| io.now_ms().saturating_sub(ms) > idle_ms)
    }

    // Pauses a session that has been idle for long, and returns its new list entry; none where it was not paused.
    // `open`: its handle, if it is open here, which then takes part.
    async fn pause_idle_session(
        &self,
        io: &Io,
        place: &SessionLocation,
        open: Option<Rc<SessionFiles>>,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let shown = self.setup.display_path(&place.folder());
        match open {
            Some(files) => {
                io.take_turn_of(&shown).await?;
                let paused = async {
                    // A handle that was opened just now agrees with its files; an older one may find a log that was
                    // not there.
                    files.refresh_after_move(io).await?;
                    self.pause_and_reindex(io, &files, place, &shown).await
                };
                let paused = paused.await;
                io.end_turn_of(&shown);
                paused
            }
            None => {
                let files = self.unopened_session(place, "");
                files.open_files(io).await?;
                self.pause_and_reindex(io, &files, place, &shown).await
            }
        }
    }

    async fn pause_and_reindex(
        &self,
        io: &Io,
        files: &SessionFiles,
        place: &SessionLocation,
        shown: &str,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let PauseReport { notices, has_paused } = files.pause_if_idle(io, self.setup.idle_ms, true).await?;
        // Here, or nobody would hear of the processes whose leases were cleared away.
        self.report_notices(shown, notices);
        if has_paused { self.reindex_session(io, files, place).await } else { Ok(None) }
    }

    /// Finds sessions of the project or of all projects, last active first. `is_whole`: all of their files are
    /// compared.
    pub(super) async fn find_sessions(
        &self,
        io: &Io,
        index: &SessionIndex,
        of_all: bool,
        is_whole: bool,
    ) -> Result<Vec<FoundSession>, Trouble> {
        let since_ms = io.now_ms();
        let places = if of_all {
            self.all_places(io, is_whole).await?
        } else {
            self.find_project_places(io, index, is_whole).await?
        };
        let mut found = self.look_up_places(io, index, places, since_ms).await?;
        found.sort_by(|one, other| compare_last_active(one.activity(), other.activity()));
        Ok(found)
    }

    // Finds the project's places, whatever folders it has been in.
    async fn find_project_places(
        &self,
        io: &Io,
        index: &SessionIndex,
        is_whole: bool,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let near = join_both(
            self.places_in_home(io, &self.project_hash, is_whole),
            self.places_in_workspace(io, self.setup.workspace(), is_whole),
        );
        let ((mine, beside), others) = join_both(near, self.project_hashes(io)).await;
        let (mut places, mut others) = (mine?, others?);
        places.extend(beside?);
        others.retain(|hash| *hash != self.project_hash);
        // A project without a repository is known by its folder alone.
        if !others.is_empty() && self.has_aliases(io).await? {
            for hash in others {
                let some = self.default_if_unreadable(
                    &layout::project_folder(&hash),
                    self.places_in_home(io, &hash, false).await,
                )?;
                let entries = self.read_entries(io, index, some).await?;
                if self.is_of_project(io, entries.iter()).await? {
                    places.extend(self.places_in_home(io, &hash, is_whole).await?);
                }
            }
        }
        self.without_hidden(io, places).await
    }

    // Lists from the index alone. A session is the project's as far as its index line says where it was.
    async fn list_unverified(
        &self,
        io: &Io,
        index: &SessionIndex,
        wanted: &ListRequest,
    ) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        let mut by_folder: BTreeMap<String, Vec<Rc<ListedSession>>> = BTreeMap::new();
        for (key, row) in index.rows() {
            let Some(entry) = index.entry(row) else { continue };
            let Some(place) = self.place_from_key(key, &entry) else { continue };
            let folder = match &place {
                SessionLocation::Home { project, .. } => project.clone(),
                SessionLocation::Workspace { root, .. } if root == self.setup.workspace() => {
                    self.project_hash.clone()
                }
                SessionLocation::Workspace { .. } => String::new(),
            };
            let listed = Rc::new(self.to_listed(&place, entry));
            if wanted.includes(&listed) {
                by_folder.entry(folder).or_default().push(listed);
            }
        }
        let mut found = Vec::new();
        for (folder, some) in by_folder {
            let is_mine = wanted.all_projects
                || folder == self.project_hash
                || !folder.is_empty()
                    && self.is_of_project(io, some.iter().map(|session| &session.entry)).await?;
            if is_mine {
                found.extend(some);
            }
        }
        Ok(found)
    }

    async fn has_aliases(&self, io: &Io) -> Result<bool, Trouble> {
        let Aliases { remote, first_commit, .. } = self.project_aliases(io).await?;
        Ok(remote.is_some() || first_commit.is_some())
    }

    // Whether one of these is of the same repository in another folder: renamed, moved, cloned again, or another
    // worktree.
    async fn is_of_project<'e>(
        &self,
        io: &Io,
        entries: impl Iterator<Item = &'e IndexEntry>,
    ) -> Result<bool, Trouble> {
        let is_known = |aliases: &&Aliases| aliases.remote.is_some() || aliases.first_commit.is_some();
        let mut others = entries.map(|entry| &entry.aliases).filter(is_known).peekable();
        if others.peek().is_none() {
            return Ok(false);
        }
        let mine = self.project_aliases(io).await?;
        Ok(others.any(|other| mine.is_same(other)))
    }
}
