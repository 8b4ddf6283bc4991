//! Finds the session that is meant by an id, the beginning of one, or a name, and where it lies.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::places::{FoundPlace, MAX_PARALLEL_READS};
use super::session_index::FoundSession;
use crate::error::{Code, Error};
use crate::json::fields::{Fields, parse_objects};
use crate::json::text::to_json;
use crate::layout::{File, Placement, SessionLocation};
use crate::operation::join::{join_both, join_in_batches};
use crate::operation::{FileKind, Io, Trouble, Work, unless_bug};
use crate::record::id::is_safe;
use crate::session::session_list::{IndexEntry, ListRequest, ListedSession};

/// The most candidates shown to choose from.
const MAX_CANDIDATES: usize = 5;

/// A session that may be meant.
#[derive(Clone, Debug, Default)]
pub struct SessionCandidate {
    /// The session id, whole.
    pub id: String,
    /// Its name in its workspace.
    pub name: Option<String>,
    /// The title, as stored: it may have line breaks.
    pub title: String,
    /// The display path of its folder.
    pub path: String,
    /// The day of its conversation.
    pub day: Option<String>,
}

impl SessionCandidate {
    /// Reads a list, JSON `[{"id","name","title","path"}]`; only ids must be there.
    pub fn all_from_json(json: &str) -> Option<Vec<SessionCandidate>> {
        let mut bad = Vec::new();
        let mut read = |mut fields: Fields<'_>| {
            let mut text = |key: &str| fields.take::<String>(key, &mut bad);
            let (id, name, title) = (text("id")?, text("name"), text("title").unwrap_or_default());
            Some(SessionCandidate { id, name, title, path: text("path").unwrap_or_default(), day: None })
        };
        parse_objects(json)?.into_iter().map(&mut read).collect()
    }
}

/// Returns the position of the one session with this id, a unique beginning of one, a name, or a day and a name.
///
/// # Errors
/// `not_found`; `ambiguous`, with the candidates in the message.
pub fn find_candidate(id: &str, all: &[SessionCandidate]) -> Result<usize, Error> {
    let is_named = |candidate: &SessionCandidate| {
        let dated =
            || candidate.day.as_ref().zip(candidate.name.as_ref()).map(|(day, name)| format!("{day}/{name}"));
        candidate.id == id || candidate.name.as_deref() == Some(id) || dated().as_deref() == Some(id)
    };
    let such = |is: &dyn Fn(&SessionCandidate) -> bool| -> Vec<usize> {
        let found = all.iter().enumerate().filter(|(_, candidate)| !id.is_empty() && is(candidate));
        found.map(|(place, _)| place).collect()
    };
    let named = such(&is_named);
    let has_named = !named.is_empty();
    let found = if has_named { named } else { such(&|candidate| candidate.id.starts_with(id)) };
    match found[..] {
        [one] => Ok(one),
        [] => Err(Error::new(Code::NotFound, format!("no session \"{id}\""))),
        _ => {
            let all: Vec<&SessionCandidate> = found.iter().map(|place| &all[*place]).collect();
            let message =
                format!("\"{id}\" matches {} sessions:\n{}", found.len(), render_choices(&all, has_named));
            Err(Error::new(Code::Ambiguous, message))
        }
    }
}

// Renders a line for each; past the limit, their number. `is_placed` adds paths, by which copies and equal names
// differ.
fn render_choices(found: &[&SessionCandidate], is_placed: bool) -> String {
    let line = |candidate: &&SessionCandidate| {
        let title = candidate.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let path = if is_placed { format!("  {}", candidate.path) } else { String::new() };
        format!("  {}  {title}{path}", candidate.id)
    };
    let mut lines: Vec<String> = found.iter().take(MAX_CANDIDATES).map(line).collect();
    if found.len() > MAX_CANDIDATES {
        lines.push(format!("  and {} more", found.len() - MAX_CANDIDATES));
    }
    lines.join("\n")
}

/// How a session is looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LookupWay {
    /// By its whole id, where that tells its place; another session may lie there.
    ByWholeId,
    /// Among all sessions that a list has.
    ByList,
}

impl Store {
    /// Finds where a session lies: its display path and placement. None where only [`LookupWay::ByList`] can tell.
    pub(super) async fn locate_session(
        &self,
        io: &Io,
        id: &str,
        how: LookupWay,
    ) -> Result<Option<(String, Placement)>, Trouble> {
        let found = match how {
            LookupWay::ByWholeId => self.find_by_whole_id(io, id).await?,
            LookupWay::ByList => {
                let mut wanted = ListRequest::usual(true);
                wanted.all_projects = true;
                self.list_matching(io, &wanted).await?
            }
        };
        if how == LookupWay::ByWholeId && found.is_empty() {
            return Ok(None);
        }
        let session = self.pick_session(id, &found)?;
        Ok(Some((session.path.clone(), session.entry.placement)))
    }

    /// Finds where a session lies that was moved, by anyone, and its display path. Completes a relocation that had
    /// left its source.
    pub(in crate::operation) async fn find_current_folder(
        &self,
        io: &Io,
        id: &str,
    ) -> Result<Option<(File, String)>, Trouble> {
        let Some(place) = self.find_place(io, id).await? else { return Ok(None) };
        let now = self.current_place(io, place).await?;
        Ok(now.map(|now| (now.folder(), self.setup.display_path(&now.folder()))))
    }

    /// Whether the store has a session of this id.
    pub(super) async fn has_session(&self, io: &Io, id: &str) -> Result<bool, Trouble> {
        Ok(is_safe(id) && self.find_place(io, id).await?.is_some())
    }

    pub(super) async fn find_place(&self, io: &Io, id: &str) -> Result<Option<SessionLocation>, Trouble> {
        match self.find_in_home(io, id).await?.into_iter().next() {
            Some(place) => Ok(Some(place)),
            None => self.find_in_workspaces(io, id).await,
        }
    }

    pub(super) fn pick_session<'l>(
        &self,
        id: &str,
        found: &'l [Rc<ListedSession>],
    ) -> Result<&'l ListedSession, Error> {
        let all: Vec<SessionCandidate> = found.iter().map(|session| self.to_candidate(session)).collect();
        Ok(&found[find_candidate(id, &all)?])
    }

    fn to_candidate(&self, session: &ListedSession) -> SessionCandidate {
        let day = match self.setup.parse_place(&session.path, session.entry.placement) {
            Some(SessionLocation::Workspace { day, .. }) => Some(day),
            Some(SessionLocation::Home { .. }) | None => None,
        };
        let ListedSession { entry, path, .. } = session;
        let (id, name, title) = (entry.id.clone(), entry.name.clone(), entry.title.clone());
        SessionCandidate { id, name, title, path: path.clone(), day }
    }

    /// Lists all sessions, last active first, without changes: idle ones are not paused, and the index is not written.
    pub(super) async fn list_without_changes(
        &self,
        io: &Io,
        of_all: bool,
    ) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        let index = self.read_index(io).await?;
        let found = self.find_sessions(io, &index, of_all, true).await?;
        self.discard_lines();
        let sure = |seen| match seen {
            FoundSession::Verified(_, session) => Some(session),
            FoundSession::MessagesUnchanged { .. } => None,
        };
        Ok(found.into_iter().filter_map(sure).collect())
    }

    // Finds sessions by a whole id: several where there are copies. In the home, folders are named by it, in any
    // project; elsewhere the index says where they lie, and each place is checked. None where only a list can tell.
    async fn find_by_whole_id(&self, io: &Io, id: &str) -> Result<Vec<Rc<ListedSession>>, Trouble> {
        if !is_whole_id(id) {
            return Ok(Vec::new());
        }
        let (at_home, mentioned) = join_both(self.find_in_home(io, id), self.find_mentioned(io, id)).await;
        let listed = |place| Rc::new(self.to_listed(&place, IndexEntry::unreadable(Placement::Home, id)));
        let mut found: Vec<Rc<ListedSession>> = at_home?.into_iter().map(listed).collect();
        for place in mentioned? {
            let path = self.setup.display_path(&place.folder());
            if found.iter().any(|session| session.path == path) {
                continue;
            }
            let looked = self.open_and_index(io, FoundPlace::unread(place.clone()), (None, false)).await?;
            if let Some(FoundSession::Verified(_, session)) = looked
                && (session.entry.id == id || session.entry.name.as_deref() == Some(id))
                && !self.hidden_places(io).await?.contains(&place)
            {
                found.push(session);
            }
        }
        Ok(found)
    }

    /// Returns the one session with a whole id, as a list has it; none where only a list can tell.
    #[cfg(feature = "interop")]
    pub(super) async fn list_one(&self, io: &Io, id: &str) -> Result<Option<Rc<ListedSession>>, Trouble> {
        if !is_whole_id(id) {
            return Ok(None);
        }
        let index = self.read_index(io).await?;
        let mut places = self.find_in_home(io, id).await?;
        let elsewhere = self.find_mentioned_in(index.lines_with(to_json(id).as_bytes()), id);
        places.extend(elsewhere.into_iter().filter(|place| !places.contains(place)).collect::<Vec<_>>());
        let [place] = &places[..] else { return Ok(None) };
        let sure = self.verify_place(io, &index, FoundPlace::unread(place.clone()), None).await?;
        let Some(FoundSession::Verified(_, session)) = sure else { return Ok(None) };
        self.save_index(io).await?;
        let is_it = session.entry.id == id && !self.hidden_places(io).await?.contains(place);
        Ok(Some(session).filter(|_| is_it))
    }

    async fn find_in_home(&self, io: &Io, id: &str) -> Result<Vec<SessionLocation>, Trouble> {
        let place = |project| SessionLocation::Home { project, id: id.into() };
        let places: Vec<SessionLocation> = self.project_hashes(io).await?.into_iter().map(place).collect();
        let works = places.iter().map(|place| Box::pin(self.is_session(io, place)) as Work<'_, bool>);
        let are = join_in_batches(works, MAX_PARALLEL_READS).await?;
        let mut found: Vec<SessionLocation> =
            places.into_iter().zip(are).filter_map(|(place, is)| is.then_some(place)).collect();
        if !found.is_empty() {
            // Read last: whoever moves a session here announces that before any file is here.
            let hidden = self.hidden_places(io).await?;
            found.retain(|place| !hidden.contains(place));
        }
        Ok(found)
    }

    async fn find_in_workspaces(&self, io: &Io, id: &str) -> Result<Option<SessionLocation>, Trouble> {
        for found_place in self.places_in_workspaces(io, false).await? {
            let place = found_place.place.clone();
            if let Some(FoundSession::Verified(_, session)) =
                self.open_and_index(io, found_place, (None, false)).await?
                && session.entry.id == id
                && !self.hidden_places(io).await?.contains(&place)
            {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    // Whether a place counts as a session in lists: a folder without any content was only begun. A place that cannot
    // be read counts; opening it reports why.
    async fn is_session(&self, io: &Io, place: &SessionLocation) -> Result<bool, Trouble> {
        let folder = unless_bug(io.stat(&place.folder()).await)?.flatten();
        if folder.is_none_or(|folder| folder.kind != FileKind::Folder) {
            return Ok(false);
        }
        let files = unless_bug(self.read_prints(io, place).await)?;
        Ok(files.is_none_or(|files| files.iter().any(|file| file.is_some_and(|(size, _)| size > 0))))
    }
}

// Whether this is an id as leftoff makes them. A shorter one may be the beginning of several; anything else is a name.
fn is_whole_id(id: &str) -> bool {
    const ID: &str = "00000000-0000-0000-0000-000000000000";
    let same = |byte: u8| if matches!(byte, b'0'..=b'9' | b'a'..=b'f') { b'0' } else { byte };
    id.bytes().map(same).eq(ID.bytes())
}

/// Renders a place for people, as JSON.
pub fn place_json(place: Option<(String, Placement)>) -> String {
    let Some((path, placement)) = place else { return "null".into() };
    let placement = match placement {
        Placement::Home => "home",
        Placement::Workspace => "workspace",
    };
    format!("{{\"path\":{},\"placement\":\"{placement}\"}}", to_json(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> Vec<SessionCandidate> {
        let candidate = |id: &str, name: Option<&str>| SessionCandidate {
            id: id.into(),
            name: name.map(String::from),
            title: "A\n plan".into(),
            path: format!("/{id}"),
            day: name.map(|_| "2026-11-22".into()),
        };
        [
            candidate("ab1", None),
            candidate("ab2", Some("001-chat")),
            candidate("c", Some("ab1")),
            candidate("d", None),
        ]
        .into()
    }

    #[test]
    fn a_name_goes_before_the_beginning_of_an_id() {
        let found = |id: &str| find_candidate(id, &candidates()).map_err(|error| error.code);
        assert_eq!(found("001-chat"), Ok(1));
        assert_eq!(found("2026-11-22/001-chat"), Ok(1));
        assert_eq!(found("d"), Ok(3));
        assert_eq!(found("ab2"), Ok(1));
        assert_eq!(
            (found("ab1"), found("ab"), found("x"), found("")),
            (Err(Code::Ambiguous), Err(Code::Ambiguous), Err(Code::NotFound), Err(Code::NotFound))
        );
    }

    #[test]
    fn who_has_to_choose_is_told_between_which() {
        let words =
            |id: &str, all: &[SessionCandidate]| find_candidate(id, all).expect_err("several").message;
        assert_eq!(
            words("ab1", &candidates()),
            "\"ab1\" matches 2 sessions:\n  ab1  A plan  /ab1\n  c  A plan  /c"
        );
        let many: Vec<SessionCandidate> =
            (0..7).map(|n| SessionCandidate { id: format!("a{n}"), ..SessionCandidate::default() }).collect();
        assert!(words("a", &many).ends_with("\n  a4  \n  and 2 more"));
    }

    #[test]
    fn only_a_whole_id_names_a_place() {
        assert!(is_whole_id("019aaaca-0000-7000-8000-000000000001"));
        for id in [
            "019aaaca",
            "019AAACA-0000-7000-8000-000000000001",
            "../../../..-0000-7000-8000-000000000001",
            "",
        ] {
            assert!(!is_whole_id(id), "{id}");
        }
    }
}
