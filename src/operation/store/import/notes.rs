//! Notes that the host keeps during an import. A trap ends the module's instance with all that it knew; the host then
//! begins the operation again with these notes. The file at which it trapped becomes a problem, and no file is read
//! twice.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::file::import_problem_json;
use super::imported_files::ImportedFiles;
use super::{ImportReport, Importer};
use crate::json::fields::{BadValue, Fields, parse_items};
use crate::json::text::to_json;
use crate::operation::{Io, Trouble};

/// A note: a file that was begun, and its result once it was done.
pub(super) struct ImportNote {
    path: String,
    result: Option<ImportReport>,
    /// The mark by which the file is later known to be unchanged; none where it is to be read again.
    print: Option<String>,
}

impl ImportNote {
    pub fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> ImportNote {
        let result = fields.take_raw("result").and_then(|raw| Fields::parse_at("notes[].result", raw, bad));
        let all = |fields: &Fields<'_>, key: &str| {
            let found = fields.raw(key).and_then(parse_items).unwrap_or_default();
            found.into_iter().map(String::from).collect()
        };
        ImportNote {
            path: fields.take("path", bad).unwrap_or_default(),
            result: result.map(|fields| ImportReport {
                is_open: false,
                imported: all(&fields, "imported"),
                problems: all(&fields, "problems"),
            }),
            print: fields.take("print", bad),
        }
    }
}

/// Adds the noted results to `result`, and returns the files that were begun.
pub(super) async fn apply_notes(
    notes: Vec<ImportNote>,
    io: &Io,
    seen: &mut ImportedFiles,
    result: &mut ImportReport,
) -> Result<BTreeSet<String>, Trouble> {
    // Files without a result: each that remains caused a trap.
    let (mut begun, mut open) = (BTreeSet::new(), BTreeSet::new());
    for ImportNote { path, result: found, print } in notes {
        begun.insert(path.clone());
        let Some(found) = found else {
            open.insert(path);
            continue;
        };
        open.remove(&path);
        result.add_report(found);
        if let Some(print) = print {
            seen.add(io, path, print).await?;
        }
    }
    let trap = Trouble::internal("the core failed while it read this file; please report this");
    result.problems.extend(open.iter().map(|path| import_problem_json(path, &trap)));
    Ok(begun)
}

impl Importer<'_> {
    /// Sends the host a note that a file is begun.
    pub async fn note_begun(&self, path: &str) -> Result<(), Trouble> {
        self.send_note(|| format!("\"path\":{}", to_json(path))).await
    }

    /// Sends the host a note of a file's result.
    pub async fn note_done(
        &self,
        path: &str,
        found: &ImportReport,
        print: Option<&str>,
    ) -> Result<(), Trouble> {
        self.send_note(|| {
            let print = print.map(|print| format!(",\"print\":{}", to_json(print))).unwrap_or_default();
            format!("\"path\":{},\"result\":{}{print}", to_json(path), found.to_json(0))
        })
        .await
    }

    async fn send_note(&self, note: impl FnOnce() -> String) -> Result<(), Trouble> {
        if !self.sends_notes {
            return Ok(());
        }
        self.io.write_page(format!("{{\"note\":{{{}}}}}", note()).into_bytes()).await
    }
}
