//! What else a project is known by, as git says it.

use alloc::string::String;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use super::asking::Git;
use crate::project::{Aliases, Where, remote_that_counts};

/// Nothing where git or the repository does not say. A folder below the top of a repository counts where HEAD has it.
pub(in crate::fs) fn aliases(folder: &Path) -> Aliases {
    found(folder).unwrap_or_default()
}

fn found(folder: &Path) -> Option<Aliases> {
    let git = Git::find(folder).filter(|_| folder.is_dir())?;
    let said = |arguments: &[&str]| said(&git, arguments).unwrap_or_default();
    let answer = said(&["rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix"]);
    let Where { has_first_commit, folder: within } = Where::read(&answer)?;
    if !within.is_empty() && said(&["rev-parse", "--quiet", "--verify", "HEAD:./"]).is_empty() {
        return None;
    }
    let names = said(&["remote"]);
    let roots = match has_first_commit {
        true => said(&["rev-list", "--max-parents=0", "--first-parent", "HEAD"]),
        false => String::new(),
    };
    let address = remote_that_counts(&names).map(|name| said(&["remote", "get-url", "--", name]));
    let Aliases { remote, first_commit, folder } =
        Aliases::new(&address.unwrap_or_default(), &roots, within)?;
    let composed = |text: Option<String>| text.map(|text| text.nfc().collect());
    Some(Aliases { remote: composed(remote), first_commit: composed(first_commit), folder: composed(folder) })
}

// What it printed, where it succeeded in time.
fn said(git: &Git<'_>, arguments: &[&str]) -> Option<String> {
    let answer = git.read(arguments).ok()?;
    (answer.status == Some(0) && !answer.is_late).then(|| String::from_utf8_lossy(&answer.out).into_owned())
}
