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
//! what is written down of them, and what it says; `carrying` does these steps, and `doctor` ends what nobody is at any more.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Store, placed};
use crate::json::fields::{Fields, items};
use crate::json::text::to_json;
use crate::layout::{self, File, Place, Placement};
use crate::operation::{Io, Kind, Trouble, unless_bug};
use crate::session::lease::{self, Lease};

/// What is written down of one.
#[derive(Clone)]
pub(super) struct Moving {
    /// Where it is written.
    pub file: File,
    /// The session.
    pub id: String,
    pub from: Place,
    pub to: Place,
    /// Its old folder, once it is left.
    pub left: File,
    /// Files that stay behind.
    pub but: Vec<String>,
    /// Which process carries it; nothing where that is not said.
    pub by: Option<Lease>,
    /// Of each log that was copied, how many bytes that were, and where the last line of those begins.
    pub copied: Vec<(String, [u64; 2])>,
}

/// Where a session on its way lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lies {
    /// Where it comes from.
    There,
    /// It was left: what is in the new place is the session.
    Left,
    /// In neither place.
    Nowhere,
}

impl Moving {
    /// JSON, as it is written.
    pub fn to_json(&self, store: &Store) -> String {
        let place = |place: &Place| placed(Some((store.setup.shown(&place.folder()), place.placement())));
        let parts = [
            format!("\"id\":{}", to_json(&self.id)),
            format!("\"from\":{},\"to\":{}", place(&self.from), place(&self.to)),
            format!("\"left\":{}", to_json(&store.setup.shown(&self.left))),
            format!("\"but\":{},\"by\":{}", to_json(&self.but), to_json(&self.by)),
        ];
        let log = |(name, sizes): &(String, [u64; 2])| format!("{}:{}", to_json(name), to_json(sizes));
        let copied: Vec<String> = self.copied.iter().map(log).collect();
        let copied =
            if copied.is_empty() { String::new() } else { format!(",\"copied\":{{{}}}", copied.join(",")) };
        format!("{{\"version\":1,{}{copied}}}", parts.join(","))
    }
}

impl Store {
    /// The places that sessions are on their way to; none lies there yet.
    pub(super) async fn hidden(&self, io: &Io) -> Result<BTreeSet<Place>, Trouble> {
        let mut hidden = BTreeSet::new();
        for moving in self.moving(io).await? {
            if self.lies(io, &moving).await? != Lies::Left {
                hidden.insert(moving.to);
            }
        }
        Ok(hidden)
    }

    pub(super) async fn now(&self, io: &Io, place: Place) -> Result<Option<Place>, Trouble> {
        for moving in self.moving(io).await? {
            if moving.to != place {
                continue;
            }
            match self.lies(io, &moving).await? {
                Lies::There => return Ok(Some(moving.from)),
                Lies::Left => self.arrived(io, &moving).await?,
                // Who carried it may be ready by now.
                Lies::Nowhere if io.stat(&moving.file).await?.is_some() => return Ok(None),
                Lies::Nowhere => {}
            }
        }
        Ok(Some(place))
    }

    /// Whether a move has to do with a folder.
    pub(super) async fn is_of_a_move(&self, io: &Io, folder: &File) -> Result<bool, Trouble> {
        let is_of =
            |moving: &Moving| [&moving.to.folder(), &moving.from.folder(), &moving.left].contains(&folder);
        Ok(self.moving(io).await?.iter().any(is_of))
    }

    pub(super) async fn lies(&self, io: &Io, moving: &Moving) -> Result<Lies, Trouble> {
        // One after the other: it may be left between.
        if io.stat(&moving.from.folder()).await?.is_some() {
            return Ok(Lies::There);
        }
        Ok(if io.stat(&moving.left).await?.is_some() { Lies::Left } else { Lies::Nowhere })
    }

    /// All that are written down. One that cannot be read must not cost a list: at worst a session is shown twice.
    pub(super) async fn moving(&self, io: &Io) -> Result<Vec<Moving>, Trouble> {
        let mut found = Vec::new();
        for entry in unless_bug(io.list(&layout::moving()).await)?.flatten().unwrap_or_default() {
            if entry.kind == Kind::File && entry.name.ends_with(".json") {
                let file = layout::moving().below(&entry.name);
                let bytes = unless_bug(io.read_all(&file).await)?.flatten();
                found
                    .extend(bytes.and_then(|json| self.read_moving(file, core::str::from_utf8(&json).ok()?)));
            }
        }
        Ok(found)
    }

    fn read_moving(&self, file: File, json: &str) -> Option<Moving> {
        let mut bad = Vec::new();
        let mut fields = Fields::parse(json).ok()?;
        let mut place = |key: &str| {
            let mut named = Fields::parse(fields.take_raw(key)?).ok()?;
            let placement = Placement::named(&named.take::<String>("placement", &mut bad)?)?;
            self.setup.place(&named.take::<String>("path", &mut bad)?, placement)
        };
        let (from, to) = (place("from")?, place("to")?);
        let (id, left): (String, String) = (fields.take("id", &mut bad)?, fields.take("left", &mut bad)?);
        let left = from.folder().beside(left.rsplit(&*self.setup.separator).next()?);
        let (but, by) = (fields.take("but", &mut bad).unwrap_or_default(), fields.take_raw("by"));
        let by = by.and_then(lease::read);
        let copied = fields.take_raw("copied").and_then(|copied| Fields::parse(copied).ok());
        let copied = copied.iter().flat_map(Fields::named).filter_map(|(name, sizes)| {
            let [size, line] = items(sizes)?[..] else { return None };
            Some((name.into(), [size.parse().ok()?, line.parse().ok()?]))
        });
        let is_known = fields.take::<u64>("version", &mut bad) == Some(1);
        is_known.then(|| Moving { file, id, from, to, left, but, by, copied: copied.collect() })
    }
}
