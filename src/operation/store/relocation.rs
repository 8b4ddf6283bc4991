//! Sessions on their way into the other placement, which may lie on another disk: each is copied, and others append to it all
//! the while.
//!
//! 1. A place is taken for it, and `<home>/moving/<uuid>.json` says from where to where it goes.
//! 2. All is copied. While something lies where it comes from, no session lies where it goes to.
//! 3. Its old folder gets another name beside: whoever appends there is refused from then on, and finds the new place.
//! 4. What was appended between the second step and the third is carried over, by whoever comes to the new place first.
//! 5. The old folder goes to the trash.
//!
//! So whatever moment it is cut off at, one place is the session's, and nothing that was acknowledged is missing there. Here is
//! what is written down of them, and what it says; `relocation_steps` does these steps, and `doctor` ends what nobody is at any more.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Store, place_json};
use crate::json::fields::{Fields, parse_items};
use crate::json::text::to_json;
use crate::layout::{self, File, Placement, SessionLocation};
use crate::operation::{FileKind, Io, Trouble, unless_bug};
use crate::session::lease::{self, Lease};

/// What is written down of one.
#[derive(Clone)]
pub(super) struct Relocation {
    /// Where it is written.
    pub file: File,
    /// The session.
    pub id: String,
    pub from: SessionLocation,
    pub to: SessionLocation,
    /// Its old folder, once it is left.
    pub left_folder: File,
    /// Files that stay behind.
    pub excluded_files: Vec<String>,
    /// Which process carries it; nothing where that is not said.
    pub process: Option<Lease>,
    /// Of each log that was copied, how many bytes that were, and where the last line of those begins.
    pub copied_logs: Vec<(String, [u64; 2])>,
}

/// Where a session on its way lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RelocationState {
    /// Where it comes from.
    AtSource,
    /// It was left: what is in the new place is the session.
    Departed,
    /// In neither place.
    Nowhere,
}

impl Relocation {
    /// JSON, as it is written.
    pub fn to_json(&self, store: &Store) -> String {
        let place = |place: &SessionLocation| {
            place_json(Some((store.setup.display_path(&place.folder()), place.placement())))
        };
        let parts = [
            format!("\"id\":{}", to_json(&self.id)),
            format!("\"from\":{},\"to\":{}", place(&self.from), place(&self.to)),
            format!("\"left\":{}", to_json(&store.setup.display_path(&self.left_folder))),
            format!("\"but\":{},\"by\":{}", to_json(&self.excluded_files), to_json(&self.process)),
        ];
        let log = |(name, sizes): &(String, [u64; 2])| format!("{}:{}", to_json(name), to_json(sizes));
        let copied: Vec<String> = self.copied_logs.iter().map(log).collect();
        let copied =
            if copied.is_empty() { String::new() } else { format!(",\"copied\":{{{}}}", copied.join(",")) };
        format!("{{\"version\":1,{}{copied}}}", parts.join(","))
    }
}

impl Store {
    /// The places that sessions are on their way to; none lies there yet.
    pub(super) async fn hidden_places(&self, io: &Io) -> Result<BTreeSet<SessionLocation>, Trouble> {
        let mut hidden = BTreeSet::new();
        for moving in self.read_relocations(io).await? {
            if self.relocation_state(io, &moving).await? != RelocationState::Departed {
                hidden.insert(moving.to);
            }
        }
        Ok(hidden)
    }

    pub(super) async fn current_place(
        &self,
        io: &Io,
        place: SessionLocation,
    ) -> Result<Option<SessionLocation>, Trouble> {
        for moving in self.read_relocations(io).await? {
            if moving.to != place {
                continue;
            }
            match self.relocation_state(io, &moving).await? {
                RelocationState::AtSource => return Ok(Some(moving.from)),
                RelocationState::Departed => self.complete_relocation(io, &moving).await?,
                // Who carried it may be ready by now.
                RelocationState::Nowhere if io.stat(&moving.file).await?.is_some() => return Ok(None),
                RelocationState::Nowhere => {}
            }
        }
        Ok(Some(place))
    }

    /// Whether a move has to do with a folder.
    pub(super) async fn is_part_of_relocation(&self, io: &Io, folder: &File) -> Result<bool, Trouble> {
        let is_of = |moving: &Relocation| {
            [&moving.to.folder(), &moving.from.folder(), &moving.left_folder].contains(&folder)
        };
        Ok(self.read_relocations(io).await?.iter().any(is_of))
    }

    pub(super) async fn relocation_state(
        &self,
        io: &Io,
        moving: &Relocation,
    ) -> Result<RelocationState, Trouble> {
        // One after the other: it may be left between.
        if io.stat(&moving.from.folder()).await?.is_some() {
            return Ok(RelocationState::AtSource);
        }
        Ok(if io.stat(&moving.left_folder).await?.is_some() {
            RelocationState::Departed
        } else {
            RelocationState::Nowhere
        })
    }

    /// All that are written down. One that cannot be read must not cost a list: at worst a session is shown twice.
    pub(super) async fn read_relocations(&self, io: &Io) -> Result<Vec<Relocation>, Trouble> {
        let mut found = Vec::new();
        for entry in unless_bug(io.list(&layout::relocations()).await)?.flatten().unwrap_or_default() {
            if entry.kind == FileKind::File && entry.name.ends_with(".json") {
                let file = layout::relocations().child(&entry.name);
                let bytes = unless_bug(io.read_all(&file).await)?.flatten();
                found.extend(
                    bytes.and_then(|json| self.parse_relocation(file, core::str::from_utf8(&json).ok()?)),
                );
            }
        }
        Ok(found)
    }

    fn parse_relocation(&self, file: File, json: &str) -> Option<Relocation> {
        let mut bad = Vec::new();
        let mut fields = Fields::parse(json).ok()?;
        let mut place = |key: &str| {
            let mut named = Fields::parse(fields.take_raw(key)?).ok()?;
            let placement = Placement::from_name(&named.take::<String>("placement", &mut bad)?)?;
            self.setup.parse_place(&named.take::<String>("path", &mut bad)?, placement)
        };
        let (from, to) = (place("from")?, place("to")?);
        let (id, left): (String, String) = (fields.take("id", &mut bad)?, fields.take("left", &mut bad)?);
        let left = from.folder().sibling(left.rsplit(&*self.setup.separator).next()?);
        let (but, by) = (fields.take("but", &mut bad).unwrap_or_default(), fields.take_raw("by"));
        let by = by.and_then(lease::parse_lease);
        let copied = fields.take_raw("copied").and_then(|copied| Fields::parse(copied).ok());
        let copied = copied.iter().flat_map(Fields::decoded_entries).filter_map(|(name, sizes)| {
            let [size, line] = parse_items(sizes)?[..] else { return None };
            Some((name.into(), [size.parse().ok()?, line.parse().ok()?]))
        });
        let is_known = fields.take::<u64>("version", &mut bad) == Some(1);
        is_known.then(|| Relocation {
            file,
            id,
            from,
            to,
            left_folder: left,
            excluded_files: but,
            process: by,
            copied_logs: copied.collect(),
        })
    }
}
