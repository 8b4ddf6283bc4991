//! Relocations: sessions on their way into the other placement, perhaps on another disk. Each is copied while others
//! go on appending to it.
//!
//! 1. A folder is reserved at the target, and `<home>/moving/<uuid>.json` says from where to where the session goes.
//! 2. All is copied. While the source has a folder, no session lies at the target.
//! 3. The old folder is renamed, beside where it was: appends there fail from then on, and find the new place.
//! 4. What was appended between steps 2 and 3 is copied by whoever comes to the new place first.
//! 5. The old folder goes to the trash.
//!
//! So whenever it is cut off, exactly one place is the session's, and has all that was acknowledged. This file has the
//! record of a relocation, and what follows from it; `relocation_steps` does the steps, and `doctor` ends those that
//! nobody continues.

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

/// The record of a relocation.
#[derive(Clone)]
pub(super) struct Relocation {
    /// The file of this record.
    pub file: File,
    /// The session's id.
    pub id: String,
    pub from: SessionLocation,
    pub to: SessionLocation,
    /// The name of the old folder once it is left.
    pub left_folder: File,
    /// Names of files that are not copied.
    pub excluded_files: Vec<String>,
    /// The process that does it; none where the record does not say.
    pub process: Option<Lease>,
    /// For each copied log, how many bytes were copied, and where the last line of these begins.
    pub copied_logs: Vec<(String, [u64; 2])>,
}

/// Where the session of a relocation lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RelocationState {
    AtSource,
    /// The source was left: the copy is the session.
    Departed,
    /// At the source there is neither its folder nor the one that was left.
    Nowhere,
}

impl Relocation {
    /// Renders the record as it is stored.
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
    /// Returns the places to which sessions are on their way; none lies there yet.
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
                // Whoever did it may have completed it by now.
                RelocationState::Nowhere if io.stat(&moving.file).await?.is_some() => return Ok(None),
                RelocationState::Nowhere => {}
            }
        }
        Ok(Some(place))
    }

    /// Whether a folder is part of a relocation.
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
        // In this order, for it may be left between the two.
        if io.stat(&moving.from.folder()).await?.is_some() {
            return Ok(RelocationState::AtSource);
        }
        Ok(if io.stat(&moving.left_folder).await?.is_some() {
            RelocationState::Departed
        } else {
            RelocationState::Nowhere
        })
    }

    /// Reads all records. One that cannot be read must not cost a list: at worst a session is shown twice.
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
