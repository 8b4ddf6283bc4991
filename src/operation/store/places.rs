//! Where sessions lie: below the home, and beside the conversations of workspaces; and what their files are like.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::{
    self, CONVERSATIONS, EVENTS, File, MESSAGES, Place, Placement, Root, SESSION_FOLDER, SESSION_PREFIX,
};
use crate::operation::io::{each, some};
use crate::operation::lease::Notice;
use crate::operation::{Entry, Io, Kind, Stat, Trouble, Work, unless_bug};
use crate::session::prints::Print;

/// So many folders are looked into at once: each waits mostly.
pub(super) const AT_ONCE: usize = 8;

/// A place, and what its messages are like; or all of its files, as [`Store::prints`] has them. What is no file, or may not
/// be looked at, is nothing.
#[derive(Clone)]
pub(super) struct FoundPlace {
    pub place: Place,
    pub files: Vec<Option<Print>>,
}

impl FoundPlace {
    /// One that nobody has looked at.
    pub fn unseen(place: Place) -> FoundPlace {
        FoundPlace { place, files: Vec::new() }
    }

    /// All of its files were looked at.
    pub fn is_whole(&self) -> bool {
        self.files.len() > 1
    }
}

impl Store {
    /// The folders that have the folders of sessions in them.
    pub(super) async fn all_around(&self, io: &Io) -> Result<Vec<File>, Trouble> {
        let hashes = self.projects(io).await?;
        let mut found: Vec<_> = hashes.iter().map(|hash| layout::project_folder(hash)).collect();
        for root in self.roots(io).await? {
            let top = File::new(Root::Workspace(root), CONVERSATIONS);
            for day in folders(self.some_of(&top, listed(io, &top, &[]).await)?) {
                let day = top.below(&day.name);
                let inside = self.some_of(&day, listed(io, &day, &[]).await)?;
                found.extend(folders(inside).map(|one| day.below(&one.name)));
            }
        }
        Ok(found)
    }

    // Its own workspace, and those that were met.
    async fn roots(&self, io: &Io) -> Result<Vec<String>, Trouble> {
        let mut roots = Vec::from([self.setup.workspace().into()]);
        for root in self.met(io).await? {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        Ok(roots)
    }

    /// Of all projects; `is_whole`: all of their files are looked at.
    pub(super) async fn all_places(&self, io: &Io, is_whole: bool) -> Result<Vec<FoundPlace>, Trouble> {
        let projects = self.projects(io).await?;
        let works = projects.iter().map(|hash| {
            let found = async move {
                self.some_of(&layout::project_folder(hash), self.in_home(io, hash, is_whole).await)
            };
            Box::pin(found) as Work<'_, Vec<FoundPlace>>
        });
        let mut places: Vec<_> = some(works, AT_ONCE).await?.into_iter().flatten().collect();
        places.extend(self.in_workspaces(io, is_whole).await?);
        self.shown(io, places).await
    }

    /// The hashes of all projects.
    pub(super) async fn projects(&self, io: &Io) -> Result<Vec<String>, Trouble> {
        Ok(folders(listed(io, &layout::projects(), &[]).await?).map(|entry| entry.name).collect())
    }

    /// Those of a project in the home, by its hash.
    pub(super) async fn in_home(
        &self,
        io: &Io,
        hash: &str,
        is_whole: bool,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let found = listed(io, &layout::project_folder(hash), files_of(Placement::Home, is_whole)).await?;
        let place = |entry: Entry| {
            let id = entry.name.strip_prefix(SESSION_PREFIX)?.into();
            Some(FoundPlace { place: Place::Home { project: hash.into(), id }, files: seen(entry.files) })
        };
        Ok(folders(found).filter_map(place).collect())
    }

    /// In its own workspace and in those that were met.
    pub(super) async fn in_workspaces(&self, io: &Io, is_whole: bool) -> Result<Vec<FoundPlace>, Trouble> {
        let mut places = Vec::new();
        for root in self.roots(io).await? {
            places.extend(self.in_workspace(io, &root, is_whole).await?);
        }
        Ok(places)
    }

    /// Those of a workspace.
    pub(super) async fn in_workspace(
        &self,
        io: &Io,
        root: &str,
        is_whole: bool,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let top = File::new(Root::Workspace(root.into()), CONVERSATIONS);
        let days = self.some_of(&top, listed(io, &top, &[]).await)?;
        let days: Vec<_> = folders(days).map(|day| day.name).collect();
        let works = days.iter().map(|day| {
            let top = &top;
            let found = async move { self.some_of(&top.below(day), listed(io, &top.below(day), &[]).await) };
            Box::pin(found) as Work<'_, Vec<Entry>>
        });
        let mut conversations = Vec::new();
        for (day, found) in days.iter().zip(some(works, AT_ONCE).await?) {
            conversations.extend(folders(found).map(|entry| (day, entry.name)));
        }
        let works = conversations.into_iter().map(|(day, name)| {
            let place = Place::Workspace { root: root.into(), day: day.clone(), name };
            let found =
                async move { self.some_of(&place.conversation(), beside(io, place.clone(), is_whole).await) };
            Box::pin(found) as Work<'_, Option<FoundPlace>>
        });
        Ok(some(works, AT_ONCE).await?.into_iter().flatten().collect())
    }

    // Where a session is on its way to, none lies yet.
    pub(super) async fn shown(
        &self,
        io: &Io,
        mut places: Vec<FoundPlace>,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let hidden = self.hidden(io).await?;
        places.retain(|one| !hidden.contains(&one.place));
        Ok(places)
    }

    /// What cannot be looked into must not cost the rest, and is told.
    pub(super) fn some_of<T: Default>(&self, at: &File, found: Result<T, Trouble>) -> Result<T, Trouble> {
        match found {
            Err(trouble) if !trouble.is_bug() => {
                self.name_unread(at, trouble);
                Ok(T::default())
            }
            found => found,
        }
    }

    fn name_unread(&self, at: &File, trouble: Trouble) {
        let (shown, message) = (self.setup.shown(at), trouble.message().into());
        if self.not_read.borrow_mut().insert(shown.clone(), trouble).is_none() {
            self.say(&shown, to_json(&Notice { code: "not_read", message }));
        }
    }

    /// What the files of a session are like, all that lists show something of.
    pub(super) async fn prints(&self, io: &Io, place: &Place) -> Result<Vec<Print>, Trouble> {
        let folder = place.folder();
        let files: Vec<File> =
            files_of(place.placement(), true).iter().map(|name| folder.below(name)).collect();
        let looks = files.iter().map(|file| io.stat(file)).collect();
        let mut prints = Vec::new();
        for (file, stat) in files.iter().zip(each(looks).await) {
            prints.push(print(stat?).ok_or_else(|| {
                let path = self.setup.shown(file);
                let message = format!("expected a file at \"{path}\", but found something else instead");
                Trouble::refused(Code::NotAFile, message)
            })?);
        }
        if place.placement() == Placement::Workspace {
            let conversation = place.conversation();
            let beside = io.list(&conversation).await?.unwrap_or_default();
            prints.push(markdown(io, &conversation, &beside).await?);
        }
        Ok(prints)
    }
}

// The session of a conversation, where it has one.
async fn beside(io: &Io, place: Place, is_whole: bool) -> Result<Option<FoundPlace>, Trouble> {
    let conversation = place.conversation();
    let inside = listed(io, &conversation, files_of(Placement::Workspace, is_whole)).await?;
    let is_session = |entry: &&Entry| entry.kind == Kind::Folder && entry.name == SESSION_FOLDER;
    let Some(session) = inside.iter().find(is_session) else { return Ok(None) };
    let mut files = seen(session.files.clone());
    if is_whole {
        files.push(Some(unless_bug(markdown(io, &conversation, &inside).await)?.flatten()));
    }
    Ok(Some(FoundPlace { place, files }))
}

// A conversation's heading is its title where nobody gave it one; which of its files has it is another question: all of them
// as one.
async fn markdown(io: &Io, conversation: &File, inside: &[Entry]) -> Result<Print, Trouble> {
    let is_text = |entry: &&Entry| entry.kind == Kind::File && entry.name.ends_with(".md");
    let files: Vec<File> =
        inside.iter().filter(is_text).map(|entry| conversation.below(&entry.name)).collect();
    let looks = files.iter().map(|file| io.stat(file)).collect();
    let mut sum: Print = None;
    for stat in each(looks).await {
        let (size, changed_us) = stat?.map_or((0, 0), |stat| (stat.size, stat.changed_us));
        let (sizes, times) = sum.unwrap_or_default();
        sum = Some((sizes + size, times + changed_us));
    }
    Ok(sum)
}

fn files_of(placement: Placement, is_whole: bool) -> &'static [&'static str] {
    const HOME: [&str; 3] = [MESSAGES, EVENTS, Placement::Home.document()];
    const WORKSPACE: [&str; 3] = [MESSAGES, EVENTS, Placement::Workspace.document()];
    let all = match placement {
        Placement::Home => &HOME,
        Placement::Workspace => &WORKSPACE,
    };
    if is_whole { all } else { &all[..1] }
}

fn print(stat: Option<Stat>) -> Option<Print> {
    match stat {
        None => Some(None),
        Some(stat) => (stat.kind == Kind::File).then_some(Some((stat.size, stat.changed_us))),
    }
}

fn seen(files: Option<Vec<Option<Stat>>>) -> Vec<Option<Print>> {
    files.map_or_else(|| [None].into(), |files| files.into_iter().map(print).collect())
}

// A session into which nobody can look is there all the same.
async fn listed(io: &Io, folder: &File, names: &[&'static str]) -> Result<Vec<Entry>, Trouble> {
    if !names.is_empty()
        && let Some(Some(found)) = unless_bug(io.list_with(folder, names).await)?
    {
        return Ok(found);
    }
    Ok(io.list(folder).await?.unwrap_or_default())
}

// A link put there by others must not cost the rest of the list.
fn folders(entries: Vec<Entry>) -> impl Iterator<Item = Entry> {
    entries.into_iter().filter(|entry| entry.kind == Kind::Folder)
}
