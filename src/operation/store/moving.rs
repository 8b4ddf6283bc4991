//! Sessions on their way into the other placement: while something lies where one comes from, none lies where it goes to.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::json::fields::Fields;
use crate::layout::{self, Place, Placement};
use crate::operation::{Io, Kind, Trouble, unless_bug};

/// What is written down of one.
pub(super) struct Moving {
    from: Place,
    to: Place,
    // What its old folder is called once it is left.
    left: String,
}

impl Store {
    /// The places that sessions are on their way to; none lies there yet.
    pub(super) async fn hidden(&self, io: &Io) -> Result<BTreeSet<Place>, Trouble> {
        let mut hidden = BTreeSet::new();
        for Moving { from, to, left } in self.moving(io).await? {
            let folder = from.folder();
            let is_left =
                io.stat(&folder).await?.is_none() && io.stat(&folder.beside(&left)).await?.is_some();
            if !is_left {
                hidden.insert(to);
            }
        }
        Ok(hidden)
    }

    // One that cannot be read must not cost a list: at worst a session is shown twice.
    async fn moving(&self, io: &Io) -> Result<Vec<Moving>, Trouble> {
        let mut found = Vec::new();
        for entry in unless_bug(io.list(&layout::moving()).await)?.flatten().unwrap_or_default() {
            if entry.kind == Kind::File && entry.name.ends_with(".json") {
                let bytes = unless_bug(io.read_all(&layout::moving().below(&entry.name)).await)?.flatten();
                found.extend(bytes.and_then(|bytes| self.read_moving(core::str::from_utf8(&bytes).ok()?)));
            }
        }
        Ok(found)
    }

    fn read_moving(&self, json: &str) -> Option<Moving> {
        let mut bad = Vec::new();
        let mut fields = Fields::parse(json).ok()?;
        let mut place = |key: &str| {
            let mut named = Fields::parse(fields.take_raw(key)?).ok()?;
            let is_home = named.take::<String>("placement", &mut bad)? == "home";
            let placement = if is_home { Placement::Home } else { Placement::Workspace };
            self.setup.place(&named.take::<String>("path", &mut bad)?, placement)
        };
        let (from, to) = (place("from")?, place("to")?);
        let left: String = fields.take("left", &mut bad)?;
        let is_known = fields.take::<u64>("version", &mut bad) == Some(1);
        let left = left.rsplit(&*self.setup.separator).next()?.into();
        is_known.then_some(Moving { from, to, left })
    }
}
