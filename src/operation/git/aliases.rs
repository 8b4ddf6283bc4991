//! What else a project is known by, as git says it.

use alloc::boxed::Box;
use alloc::string::String;

use super::{Git, text};
use crate::operation::io::both;
use crate::operation::{Io, Trouble, Work};
use crate::project::{Aliases, Where, remote_that_counts};

/// Nothing where git or the repository does not say. A folder below the top of a repository counts where HEAD has it.
pub(in crate::operation) async fn aliases(io: &Io, folder: &str) -> Result<Aliases, Trouble> {
    let git = Git { io, at: folder };
    let answer =
        git.printed(&["rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix"]);
    let answer = answer.await?;
    let Some(Where { has_first_commit, folder }) = Where::read(&answer) else {
        return Ok(Aliases::default());
    };
    if !folder.is_empty() && git.printed(&["rev-parse", "--quiet", "--verify", "HEAD:./"]).await?.is_empty() {
        return Ok(Aliases::default());
    }
    let roots = async {
        match has_first_commit {
            true => git.printed(&["rev-list", "--max-parents=0", "--first-parent", "HEAD"]).await,
            false => Ok(String::new()),
        }
    };
    let (names, roots) = both(git.printed(&["remote"]), roots).await;
    let (names, roots) = (names?, roots?);
    let address = match remote_that_counts(&names) {
        Some(name) => git.printed(&["remote", "get-url", "--", name]).await?,
        None => String::new(),
    };
    let Aliases { remote, first_commit, folder } = Aliases::new(&address, &roots, folder).unwrap_or_default();
    Ok(Aliases { remote: composed(io, remote).await?, first_commit, folder: composed(io, folder).await? })
}

impl Git<'_> {
    // What it printed, where it succeeded in time.
    fn printed<'a>(&'a self, arguments: &[&str]) -> Work<'a, String> {
        let asked = self.read(arguments, &[]);
        Box::pin(async {
            let ran = asked.await?.filter(|ran| ran.status == Some(0) && !ran.is_late);
            Ok(ran.map(|ran| text(&ran.out)).unwrap_or_default())
        })
    }
}

// The core has no tables of Unicode for it.
async fn composed(io: &Io, name: Option<String>) -> Result<Option<String>, Trouble> {
    match name {
        Some(name) if !name.is_ascii() => Ok(Some(io.normal(&name).await?)),
        name => Ok(name),
    }
}
