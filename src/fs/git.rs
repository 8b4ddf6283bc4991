//! What else a project is known by, as git says it. Reading runs no code that a repository chooses, asks nobody, and reaches
//! no network.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::fs::{Access, access};
use unicode_normalization::UnicodeNormalization;

use crate::project::{Aliases, Where, remote_that_counts};

const LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);

/// What git must not do: lock, ask, fetch what a partial clone lacks, take one commit for another, or speak another language.
/// Where it is too old for `NO_LAZY_FETCH`: no way of fetching has the name of the next one.
const READING: [(&str, &str); 6] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Where a program runs in a hook, git names that repository and index to it; here the folder decides.
const PLACES: [&str; 16] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// Nothing where git or the repository does not say. A folder below the top of a repository counts where HEAD has it.
pub(super) fn aliases(folder: &Path) -> Aliases {
    found(folder).unwrap_or_default()
}

fn found(folder: &Path) -> Option<Aliases> {
    let git = program().filter(|_| folder.is_dir())?;
    let said = |arguments: &[&str]| said(&git, folder, arguments).unwrap_or_default();
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

/// Where git is. A relative folder on the PATH would lead into the repository.
fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut places =
        env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("git"));
    places.find(|place| place.is_file() && access(place, Access::EXEC_OK).is_ok())
}

// What it printed, where it succeeded in time.
fn said(git: &Path, folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(git);
    command.args(["--no-pager", "-c", "core.fsmonitor=false"]).args(arguments).current_dir(folder);
    for place in PLACES {
        command.env_remove(place);
    }
    command.envs(READING).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut out = child.stdout.take()?;
    let read = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| bytes)
    });
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < LIMIT => std::thread::sleep(LOOK),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let bytes = read.join().ok()?.ok()?;
    status.success().then(|| String::from_utf8_lossy(&bytes).into_owned())
}
