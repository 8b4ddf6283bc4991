//! Which session is meant, and where it lies: by its id, the beginning of one, or a name.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::listing::Seen;
use super::places::{AT_ONCE, FoundPlace};
use crate::error::{Code, Error};
use crate::json::fields::{Fields, objects};
use crate::json::text::to_json;
use crate::layout::{File, Place, Placement};
use crate::operation::io::{both, some};
use crate::operation::{Io, Kind, Trouble, Work, unless_bug};
use crate::record::id::is_safe;
use crate::session::listed::{Entry, Listed, Wanted};

/// Between so many somebody is asked to choose.
const MOST: usize = 5;

/// One that may be meant.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// What it is called in its workspace.
    pub name: Option<String>,
    /// Its title.
    pub title: String,
    /// Where it lies, as people call that.
    pub path: String,
    /// The day of its conversation.
    pub day: Option<String>,
}

impl Candidate {
    /// Reads a list, JSON `[{"id","name","title","path"}]`; only ids must be there.
    pub fn all_from_json(json: &str) -> Option<Vec<Candidate>> {
        let mut bad = Vec::new();
        let mut read = |mut fields: Fields<'_>| {
            let mut text = |key: &str| fields.take::<String>(key, &mut bad);
            let (id, name, title) = (text("id")?, text("name"), text("title").unwrap_or_default());
            Some(Candidate { id, name, title, path: text("path").unwrap_or_default(), day: None })
        };
        objects(json)?.into_iter().map(&mut read).collect()
    }
}

/// The place of the one session of an id, a unique beginning of one, a name, or a day and a name.
///
/// # Errors
/// `not_found`; `ambiguous`, with those that there are.
pub fn exactly(id: &str, all: &[Candidate]) -> Result<usize, Error> {
    let is_named = |one: &Candidate| {
        let dated = || one.day.as_ref().zip(one.name.as_ref()).map(|(day, name)| format!("{day}/{name}"));
        one.id == id || one.name.as_deref() == Some(id) || dated().as_deref() == Some(id)
    };
    let such = |is: &dyn Fn(&Candidate) -> bool| -> Vec<usize> {
        let found = all.iter().enumerate().filter(|(_, one)| !id.is_empty() && is(one));
        found.map(|(place, _)| place).collect()
    };
    let named = such(&is_named);
    let has_named = !named.is_empty();
    let found = if has_named { named } else { such(&|one| one.id.starts_with(id)) };
    match found[..] {
        [one] => Ok(one),
        [] => Err(Error::new(Code::NotFound, format!("no session \"{id}\""))),
        _ => {
            let all: Vec<&Candidate> = found.iter().map(|place| &all[*place]).collect();
            let message = format!("\"{id}\" matches {} sessions:\n{}", found.len(), choices(&all, has_named));
            Err(Error::new(Code::Ambiguous, message))
        }
    }
}

// One a line; of many, how many more there are. Copies and equal names are told apart by where they lie.
fn choices(found: &[&Candidate], is_placed: bool) -> String {
    let line = |one: &&Candidate| {
        let title = one.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let path = if is_placed { format!("  {}", one.path) } else { String::new() };
        format!("  {}  {title}{path}", one.id)
    };
    let mut lines: Vec<String> = found.iter().take(MOST).map(line).collect();
    if found.len() > MOST {
        lines.push(format!("  and {} more", found.len() - MOST));
    }
    lines.join("\n")
}

/// In which way a session is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// By its whole id, where that tells the place: it may lie there and be another one.
    Placed,
    /// Among all that a list has.
    Listed,
}

impl Store {
    /// Where the session lies that is meant: its folder, as people call it, and how it is kept; nothing where only
    /// [`Finding::Listed`] can tell.
    pub(super) async fn found_as(
        &self,
        io: &Io,
        id: &str,
        how: Finding,
    ) -> Result<Option<(String, Placement)>, Trouble> {
        let found = match how {
            Finding::Placed => self.located(io, id).await?,
            Finding::Listed => {
                let mut wanted = Wanted::usual(true);
                wanted.all = true;
                self.all_listed(io, &wanted).await?
            }
        };
        if how == Finding::Placed && found.is_empty() {
            return Ok(None);
        }
        let one = self.meant(id, &found)?;
        Ok(Some((one.path.clone(), one.entry.placement)))
    }

    /// Where a session lies now that was moved, by whomever, and how people call that; one that was left arrives.
    pub(in crate::operation) async fn whereabouts(
        &self,
        io: &Io,
        id: &str,
    ) -> Result<Option<(File, String)>, Trouble> {
        let Some(place) = self.lying(io, id).await? else { return Ok(None) };
        let now = self.now(io, place).await?;
        Ok(now.map(|now| (now.folder(), self.setup.shown(&now.folder()))))
    }

    /// Whether the store has a session of this id.
    pub(super) async fn has_session(&self, io: &Io, id: &str) -> Result<bool, Trouble> {
        Ok(is_safe(id) && self.lying(io, id).await?.is_some())
    }

    pub(super) async fn lying(&self, io: &Io, id: &str) -> Result<Option<Place>, Trouble> {
        match self.at_home(io, id).await?.into_iter().next() {
            Some(place) => Ok(Some(place)),
            None => self.beside_conversation(io, id).await,
        }
    }

    pub(super) fn meant<'l>(&self, id: &str, found: &'l [Rc<Listed>]) -> Result<&'l Listed, Error> {
        let all: Vec<Candidate> = found.iter().map(|one| self.candidate(one)).collect();
        Ok(&found[exactly(id, &all)?])
    }

    fn candidate(&self, one: &Listed) -> Candidate {
        let day = match self.setup.place(&one.path, one.entry.placement) {
            Some(Place::Workspace { day, .. }) => Some(day),
            Some(Place::Home { .. }) | None => None,
        };
        let Listed { entry, path, .. } = one;
        let (id, name, title) = (entry.id.clone(), entry.name.clone(), entry.title.clone());
        Candidate { id, name, title, path: path.clone(), day }
    }

    /// All that a list has, of the project or of all, last active first; and nothing is changed by that: what rests goes on
    /// resting, and nothing is written down.
    pub(super) async fn looked_for(&self, io: &Io, of_all: bool) -> Result<Vec<Rc<Listed>>, Trouble> {
        let index = self.read_index(io).await?;
        let found = self.found_of(io, &index, of_all, true).await?;
        self.discard_lines();
        let sure = |seen| match seen {
            Seen::Sure(_, one) => Some(one),
            Seen::Timed { .. } => None,
        };
        Ok(found.into_iter().filter_map(sure).collect())
    }

    // The sessions of a whole id: more than one where copies are known. In the home they are named by it, in whatever project;
    // elsewhere the index says where they lie, and it is looked whether they still do. None where only a list can tell.
    async fn located(&self, io: &Io, id: &str) -> Result<Vec<Rc<Listed>>, Trouble> {
        if !is_whole(id) {
            return Ok(Vec::new());
        }
        let (at_home, mentioned) = both(self.at_home(io, id), self.mentioned(io, id)).await;
        let listed = |place| Rc::new(self.listed(&place, Entry::unreadable(Placement::Home, id)));
        let mut found: Vec<Rc<Listed>> = at_home?.into_iter().map(listed).collect();
        for place in mentioned? {
            let path = self.setup.shown(&place.folder());
            if found.iter().any(|one| one.path == path) {
                continue;
            }
            let looked = self.looked(io, FoundPlace::unseen(place.clone()), (None, false)).await?;
            if let Some(Seen::Sure(_, one)) = looked
                && (one.entry.id == id || one.entry.name.as_deref() == Some(id))
                && !self.hidden(io).await?.contains(&place)
            {
                found.push(one);
            }
        }
        Ok(found)
    }

    /// The one session of a whole id, as a list has it; none where only a list can tell.
    #[cfg(feature = "interop")]
    pub(super) async fn listed_alone(&self, io: &Io, id: &str) -> Result<Option<Rc<Listed>>, Trouble> {
        if !is_whole(id) {
            return Ok(None);
        }
        let index = self.read_index(io).await?;
        let mut places = self.at_home(io, id).await?;
        let elsewhere = self.mentioned_in(index.lines_with(to_json(id).as_bytes()), id);
        places.extend(elsewhere.into_iter().filter(|place| !places.contains(place)).collect::<Vec<_>>());
        let [place] = &places[..] else { return Ok(None) };
        let sure = self.sure(io, &index, FoundPlace::unseen(place.clone()), None).await?;
        let Some(Seen::Sure(_, one)) = sure else { return Ok(None) };
        self.save_index(io).await?;
        let is_it = one.entry.id == id && !self.hidden(io).await?.contains(place);
        Ok(Some(one).filter(|_| is_it))
    }

    async fn at_home(&self, io: &Io, id: &str) -> Result<Vec<Place>, Trouble> {
        let place = |project| Place::Home { project, id: id.into() };
        let places: Vec<Place> = self.projects(io).await?.into_iter().map(place).collect();
        let works = places.iter().map(|place| Box::pin(self.is_session(io, place)) as Work<'_, bool>);
        let are = some(works, AT_ONCE).await?;
        let mut found: Vec<Place> =
            places.into_iter().zip(are).filter_map(|(place, is)| is.then_some(place)).collect();
        if !found.is_empty() {
            // Looked at last: whoever moves one there says so before anything is there.
            let hidden = self.hidden(io).await?;
            found.retain(|place| !hidden.contains(place));
        }
        Ok(found)
    }

    async fn beside_conversation(&self, io: &Io, id: &str) -> Result<Option<Place>, Trouble> {
        for one in self.in_workspaces(io, false).await? {
            let place = one.place.clone();
            if let Some(Seen::Sure(_, one)) = self.looked(io, one, (None, false)).await?
                && one.entry.id == id
                && !self.hidden(io).await?.contains(&place)
            {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    // As a list has it: a folder with nothing in it was only begun. One that may not be looked at is told by its opening.
    async fn is_session(&self, io: &Io, place: &Place) -> Result<bool, Trouble> {
        let folder = unless_bug(io.stat(&place.folder()).await)?.flatten();
        if folder.is_none_or(|folder| folder.kind != Kind::Folder) {
            return Ok(false);
        }
        let files = unless_bug(self.prints(io, place).await)?;
        Ok(files.is_none_or(|files| files.iter().any(|file| file.is_some_and(|(size, _)| size > 0))))
    }
}

// An id as leftoff gives it. What is shorter may be the beginning of several, what is another a name.
fn is_whole(id: &str) -> bool {
    const ID: &str = "00000000-0000-0000-0000-000000000000";
    let same = |byte: u8| if matches!(byte, b'0'..=b'9' | b'a'..=b'f') { b'0' } else { byte };
    id.bytes().map(same).eq(ID.bytes())
}

/// How people are told which place it is: JSON.
pub fn placed(place: Option<(String, Placement)>) -> String {
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

    fn all() -> Vec<Candidate> {
        let one = |id: &str, name: Option<&str>| Candidate {
            id: id.into(),
            name: name.map(String::from),
            title: "A\n plan".into(),
            path: format!("/{id}"),
            day: name.map(|_| "2026-11-22".into()),
        };
        [one("ab1", None), one("ab2", Some("001-chat")), one("c", Some("ab1")), one("d", None)].into()
    }

    #[test]
    fn a_name_goes_before_the_beginning_of_an_id() {
        let found = |id: &str| exactly(id, &all()).map_err(|error| error.code);
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
        let words = |id: &str, all: &[Candidate]| exactly(id, all).expect_err("several").message;
        assert_eq!(words("ab1", &all()), "\"ab1\" matches 2 sessions:\n  ab1  A plan  /ab1\n  c  A plan  /c");
        let many: Vec<Candidate> =
            (0..7).map(|n| Candidate { id: format!("a{n}"), ..Candidate::default() }).collect();
        assert!(words("a", &many).ends_with("\n  a4  \n  and 2 more"));
    }

    #[test]
    fn only_a_whole_id_names_a_place() {
        assert!(is_whole("019aaaca-0000-7000-8000-000000000001"));
        for id in [
            "019aaaca",
            "019AAACA-0000-7000-8000-000000000001",
            "../../../..-0000-7000-8000-000000000001",
            "",
        ] {
            assert!(!is_whole(id), "{id}");
        }
    }
}
