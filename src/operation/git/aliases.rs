//! Reads from git what else a project is known by.

use alloc::boxed::Box;
use alloc::string::String;

use super::{Git, decode_lossy};
use crate::operation::{Io, Trouble, Work};
use crate::project::{Aliases, RepositoryPlace, address_that_counts};

/// Reads them; empty where git or the repository does not say. A folder below the top of a repository counts where
/// HEAD has it.
pub(in crate::operation) async fn read_aliases(io: &Io, folder: &str) -> Result<Aliases, Trouble> {
    let git = Git { io, folder };
    // Asked at once, though outside a repository the first would do: a busy program lets each wait for git end late.
    let place = git.try_query_output(&[
        "rev-parse",
        "--is-inside-work-tree",
        "--is-shallow-repository",
        "--show-prefix",
    ]);
    let remotes = git.try_query_output(&["remote", "-v"]);
    let roots = git.try_query_output(&["rev-list", "--max-parents=0", "--first-parent", "HEAD"]);
    let (place, remotes, roots) = (place.await?, remotes.await?, roots.await?);
    let Some(RepositoryPlace { has_first_commit, folder }) = RepositoryPlace::read(&place) else {
        return Ok(Aliases::default());
    };
    if !folder.is_empty()
        && git.try_query_output(&["rev-parse", "--quiet", "--verify", "HEAD:./"]).await?.is_empty()
    {
        return Ok(Aliases::default());
    }
    let roots = if has_first_commit { roots } else { String::new() };
    let address = address_that_counts(&remotes);
    let Aliases { remote, first_commit, folder } = Aliases::new(address, &roots, folder).unwrap_or_default();
    Ok(Aliases {
        remote: normalize_name(io, remote).await?,
        first_commit,
        folder: normalize_name(io, folder).await?,
    })
}

impl Git<'_> {
    // Standard output, if git succeeded in time.
    fn try_query_output<'a>(&'a self, arguments: &[&str]) -> Work<'a, String> {
        let query = self.try_query(arguments, &[]);
        Box::pin(async {
            let ran = query.await?.filter(|ran| ran.status == Some(0) && !ran.has_timed_out);
            Ok(ran.map(|ran| decode_lossy(&ran.stdout)).unwrap_or_default())
        })
    }
}

// Normalized by the host: the core has no Unicode tables for it.
async fn normalize_name(io: &Io, name: Option<String>) -> Result<Option<String>, Trouble> {
    match name {
        Some(name) if !name.is_ascii() => Ok(Some(io.normalize_text(&name).await?)),
        name => Ok(name),
    }
}
