//! Finds the places where sessions lie, below the home and beside the conversations of workspaces, and the prints of
//! their files.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::{
    self, CONVERSATIONS, EVENTS, File, MESSAGES, Placement, Root, SESSION_FOLDER, SESSION_PREFIX,
    SessionLocation,
};
use crate::operation::join::{collect_responses, join_in_batches};
use crate::operation::lease::Notice;
use crate::operation::{FileKind, FolderEntry, Io, Stat, Trouble, Work, unless_bug};
use crate::session::file_prints::FilePrint;

/// Folders that are read at once, since each read mostly waits.
pub(super) const MAX_PARALLEL_READS: usize = 8;

/// A place, and the print of its messages or, as [`Store::read_prints`] gives them, of all its files. None for what is
/// no file, or cannot be looked at.
#[derive(Clone)]
pub(super) struct FoundPlace {
    pub place: SessionLocation,
    pub files: Vec<Option<FilePrint>>,
}

impl FoundPlace {
    /// A place whose files were not looked at.
    pub fn unread(place: SessionLocation) -> FoundPlace {
        FoundPlace { place, files: Vec::new() }
    }

    /// Whether all of its files were looked at.
    pub fn has_all_prints(&self) -> bool {
        self.files.len() > 1
    }
}

impl Store {
    /// Returns the folders that contain session folders.
    pub(super) async fn session_parents(&self, io: &Io) -> Result<Vec<File>, Trouble> {
        let hashes = self.project_hashes(io).await?;
        let mut found: Vec<_> = hashes.iter().map(|hash| layout::project_folder(hash)).collect();
        for root in self.workspace_roots(io).await? {
            let top = File::new(Root::Workspace(root), CONVERSATIONS);
            for day in only_folders(self.default_if_unreadable(&top, list_folder(io, &top, &[]).await)?) {
                let day = top.child(&day.name);
                let inside = self.default_if_unreadable(&day, list_folder(io, &day, &[]).await)?;
                found.extend(only_folders(inside).map(|one| day.child(&one.name)));
            }
        }
        Ok(found)
    }

    // The store's own workspace, and the known ones.
    async fn workspace_roots(&self, io: &Io) -> Result<Vec<String>, Trouble> {
        let mut roots = Vec::from([self.setup.workspace().into()]);
        for root in self.read_workspaces(io).await? {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        Ok(roots)
    }

    /// Finds the places of all projects. `is_whole`: all of their files are looked at.
    pub(super) async fn all_places(&self, io: &Io, is_whole: bool) -> Result<Vec<FoundPlace>, Trouble> {
        let projects = self.project_hashes(io).await?;
        let works = projects.iter().map(|hash| {
            let found = async move {
                self.default_if_unreadable(
                    &layout::project_folder(hash),
                    self.places_in_home(io, hash, is_whole).await,
                )
            };
            Box::pin(found) as Work<'_, Vec<FoundPlace>>
        });
        let mut places: Vec<_> =
            join_in_batches(works, MAX_PARALLEL_READS).await?.into_iter().flatten().collect();
        places.extend(self.places_in_workspaces(io, is_whole).await?);
        self.without_hidden(io, places).await
    }

    /// Lists the hashes of all projects in the home.
    pub(super) async fn project_hashes(&self, io: &Io) -> Result<Vec<String>, Trouble> {
        Ok(only_folders(list_folder(io, &layout::projects(), &[]).await?).map(|entry| entry.name).collect())
    }

    /// Finds the places of a project in the home, by its hash.
    pub(super) async fn places_in_home(
        &self,
        io: &Io,
        hash: &str,
        is_whole: bool,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let found =
            list_folder(io, &layout::project_folder(hash), names_of_files(Placement::Home, is_whole)).await?;
        let place = |entry: FolderEntry| {
            let id = entry.name.strip_prefix(SESSION_PREFIX)?.into();
            Some(FoundPlace {
                place: SessionLocation::Home { project: hash.into(), id },
                files: to_prints(entry.files),
            })
        };
        Ok(only_folders(found).filter_map(place).collect())
    }

    /// Finds the places in the store's own workspace and in the known ones.
    pub(super) async fn places_in_workspaces(
        &self,
        io: &Io,
        is_whole: bool,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let mut places = Vec::new();
        for root in self.workspace_roots(io).await? {
            places.extend(self.places_in_workspace(io, &root, is_whole).await?);
        }
        Ok(places)
    }

    /// Finds the places in a workspace.
    pub(super) async fn places_in_workspace(
        &self,
        io: &Io,
        root: &str,
        is_whole: bool,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let top = File::new(Root::Workspace(root.into()), CONVERSATIONS);
        let days = self.default_if_unreadable(&top, list_folder(io, &top, &[]).await)?;
        let days: Vec<_> = only_folders(days).map(|day| day.name).collect();
        let works = days.iter().map(|day| {
            let top = &top;
            let found = async move {
                self.default_if_unreadable(&top.child(day), list_folder(io, &top.child(day), &[]).await)
            };
            Box::pin(found) as Work<'_, Vec<FolderEntry>>
        });
        let mut conversations = Vec::new();
        for (day, found) in days.iter().zip(join_in_batches(works, MAX_PARALLEL_READS).await?) {
            conversations.extend(only_folders(found).map(|entry| (day, entry.name)));
        }
        let works = conversations.into_iter().map(|(day, name)| {
            let place = SessionLocation::Workspace { root: root.into(), day: day.clone(), name };
            let found = async move {
                self.default_if_unreadable(
                    &place.conversation(),
                    find_session_beside(io, place.clone(), is_whole).await,
                )
            };
            Box::pin(found) as Work<'_, Option<FoundPlace>>
        });
        Ok(join_in_batches(works, MAX_PARALLEL_READS).await?.into_iter().flatten().collect())
    }

    // Drops places to which a session is still on its way: none lies there yet.
    pub(super) async fn without_hidden(
        &self,
        io: &Io,
        mut places: Vec<FoundPlace>,
    ) -> Result<Vec<FoundPlace>, Trouble> {
        let hidden = self.hidden_places(io).await?;
        places.retain(|one| !hidden.contains(&one.place));
        Ok(places)
    }

    /// Replaces a failure by nothing found, and reports it as a notice: a folder that cannot be read must not cost the
    /// rest.
    pub(super) fn default_if_unreadable<T: Default>(
        &self,
        at: &File,
        found: Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        match found {
            Err(trouble) if !trouble.is_bug() => {
                self.report_unreadable(at, trouble);
                Ok(T::default())
            }
            found => found,
        }
    }

    fn report_unreadable(&self, at: &File, trouble: Trouble) {
        let (shown, message) = (self.setup.display_path(at), trouble.message().into());
        if self.unreadable.borrow_mut().insert(shown.clone(), trouble).is_none() {
            self.report_notice(&shown, to_json(&Notice { code: "not_read", message }));
        }
    }

    /// Reads the prints of a session's files, all those of which lists show something.
    pub(super) async fn read_prints(
        &self,
        io: &Io,
        place: &SessionLocation,
    ) -> Result<Vec<FilePrint>, Trouble> {
        let folder = place.folder();
        let files: Vec<File> =
            names_of_files(place.placement(), true).iter().map(|name| folder.child(name)).collect();
        let looks = files.iter().map(|file| io.stat(file)).collect();
        let mut prints = Vec::new();
        for (file, stat) in files.iter().zip(collect_responses(looks).await) {
            prints.push(to_print(stat?).ok_or_else(|| {
                let path = self.setup.display_path(file);
                let message = format!("expected a file at \"{path}\", but found something else instead");
                Trouble::new(Code::NotAFile, message)
            })?);
        }
        if place.placement() == Placement::Workspace {
            let conversation = place.conversation();
            let beside = io.list(&conversation).await?.unwrap_or_default();
            prints.push(sum_markdown_prints(io, &conversation, &beside).await?);
        }
        Ok(prints)
    }
}

// Finds the session of a conversation, if it has one.
async fn find_session_beside(
    io: &Io,
    place: SessionLocation,
    is_whole: bool,
) -> Result<Option<FoundPlace>, Trouble> {
    let conversation = place.conversation();
    let inside = list_folder(io, &conversation, names_of_files(Placement::Workspace, is_whole)).await?;
    let is_session = |entry: &&FolderEntry| entry.kind == FileKind::Folder && entry.name == SESSION_FOLDER;
    let Some(session) = inside.iter().find(is_session) else { return Ok(None) };
    let mut files = to_prints(session.files.clone());
    if is_whole {
        files.push(Some(unless_bug(sum_markdown_prints(io, &conversation, &inside).await)?.flatten()));
    }
    Ok(Some(FoundPlace { place, files }))
}

// Sums the prints of a conversation's Markdown files. Its heading is its title where it has no other; which file has
// the heading is not known here, so they count together.
async fn sum_markdown_prints(
    io: &Io,
    conversation: &File,
    inside: &[FolderEntry],
) -> Result<FilePrint, Trouble> {
    let is_text = |entry: &&FolderEntry| entry.kind == FileKind::File && entry.name.ends_with(".md");
    let files: Vec<File> =
        inside.iter().filter(is_text).map(|entry| conversation.child(&entry.name)).collect();
    let looks = files.iter().map(|file| io.stat(file)).collect();
    let mut sum: FilePrint = None;
    for stat in collect_responses(looks).await {
        let (size, changed_us) = stat?.map_or((0, 0), |stat| (stat.size, stat.changed_us));
        let (sizes, times) = sum.unwrap_or_default();
        sum = Some((sizes + size, times + changed_us));
    }
    Ok(sum)
}

fn names_of_files(placement: Placement, is_whole: bool) -> &'static [&'static str] {
    const HOME_FILES: [&str; 3] = [MESSAGES, EVENTS, Placement::Home.document()];
    const WORKSPACE_FILES: [&str; 3] = [MESSAGES, EVENTS, Placement::Workspace.document()];
    let all = match placement {
        Placement::Home => &HOME_FILES,
        Placement::Workspace => &WORKSPACE_FILES,
    };
    if is_whole { all } else { &all[..1] }
}

fn to_print(stat: Option<Stat>) -> Option<FilePrint> {
    match stat {
        None => Some(None),
        Some(stat) => (stat.kind == FileKind::File).then_some(Some((stat.size, stat.changed_us))),
    }
}

fn to_prints(files: Option<Vec<Option<Stat>>>) -> Vec<Option<FilePrint>> {
    files.map_or_else(|| [None].into(), |files| files.into_iter().map(to_print).collect())
}

/// Lists a folder, with the stat of these files in each folder inside. If that fails, lists names alone: a session that
/// cannot be looked into exists all the same.
pub(super) async fn list_folder(
    io: &Io,
    folder: &File,
    names: &[&'static str],
) -> Result<Vec<FolderEntry>, Trouble> {
    if !names.is_empty()
        && let Some(Some(found)) = unless_bug(io.list_with(folder, names).await)?
    {
        return Ok(found);
    }
    Ok(io.list(folder).await?.unwrap_or_default())
}

// Skips links: one put there by others must not cost the rest of the list.
fn only_folders(entries: Vec<FolderEntry>) -> impl Iterator<Item = FolderEntry> {
    entries.into_iter().filter(|entry| entry.kind == FileKind::Folder)
}
