//! Commits one conversation: what lies in its folder, its session with it, and nothing else. What is staged elsewhere
//! stays staged; if the commit fails, the index is as it was.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Git, NO_PROMPTS, RunOptions, decode_lossy};
use crate::error::{Code, Error};
use crate::json::text::to_json;
use crate::layout::{File, Root};
use crate::operation::{Failure, FileKind, GitRun, Io, Setup, Trouble};
use crate::project::commit_title;

/// Time limit of a commit, in milliseconds: hooks may run a project's tests, and a signature may wait for a key to be
/// touched.
const COMMIT_LIMIT_MS: u32 = 600_000;
/// Pauses while another process has the index locked.
const LOCK_WAITS_MS: [u32; 3] = [50, 150, 400];

/// Environment for marking untracked files; not for a commit: its hooks would find their patterns taken literally.
const MARK_ENVIRONMENT: [(&str, &str); 2] = [NO_PROMPTS, ("GIT_LITERAL_PATHSPECS", "1")];

/// The parts of a session, which an ignore rule may cover; other files beside them are their owners'.
const SESSION_PARTS: [&str; 7] = [
    ".session/session.json",
    ".session/events.jsonl",
    ".session/messages.jsonl",
    ".session/tools.jsonl",
    ".session/summaries",
    ".session/blobs",
    ".session/.gitattributes",
];

/// What may be under way in a repository, with the refs or files by which git knows it.
const PENDING_OPERATIONS: [(&str, &[&str]); 4] = [
    ("merge", &["MERGE_HEAD"]),
    ("cherry-pick", &["CHERRY_PICK_HEAD"]),
    ("rebase", &["rebase-merge", "rebase-apply"]),
    ("bisection", &["BISECT_LOG"]),
];

/// Commits a conversation's folder, given as shown to people: `{"commit","message","isSessionOnly","files"}`, JSON;
/// `commit` is null where nothing has changed. `session`: where the session lies in it.
pub(in crate::operation) async fn commit(
    io: &Io,
    setup: &Setup,
    at: &str,
    session: &File,
    title: &str,
) -> Result<String, Trouble> {
    // Of a link git keeps the target's path, and nothing of what lies there.
    if io.stat(session).await?.is_none_or(|found| found.kind != FileKind::Folder) {
        let message = format!("no session in \"{at}\"");
        return Err(Trouble::new(Code::NotFound, message));
    }
    let git = Git { io, folder: at };
    git.reject_outside_repository().await?;
    git.reject_while_busy(setup).await?;
    git.reject_ignored().await?;
    let fresh = git.list_untracked().await?;
    git.run_on_paths(&fresh, &["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"])
        .await?;
    match git.commit_changes(title, &fresh).await {
        Err(trouble) => Err(match git.unmark_paths(&fresh).await {
            Ok(()) => trouble,
            Err(left) => still_marked_error(trouble, left.message()),
        }),
        done => done,
    }
}

fn still_marked_error(trouble: Trouble, left: &str) -> Trouble {
    let with_hint = |message: String| {
        format!("{message}\nand the new files stay marked with 'git add --intent-to-add': {left}")
    };
    match trouble {
        Trouble::Refused(error) => Error { message: with_hint(error.message), ..*error }.into(),
        Trouble::Failed(failure) => {
            let Failure { code, message, .. } = *failure;
            Failure { code, message: with_hint(message), ..Failure::default() }.into()
        }
    }
}

impl Git<'_> {
    async fn commit_changes(&self, title: &str, fresh: &[u8]) -> Result<String, Trouble> {
        let files = self.list_changed().await?;
        let is_session_only = !files.is_empty() && files.iter().all(|file| file.starts_with(".session/"));
        let commit_json = |commit: Option<&str>, message: &str| {
            let (commit, message, files) = (to_json(&commit), to_json(&message), to_json(&files));
            format!(
                "{{\"commit\":{commit},\"message\":{message},\"isSessionOnly\":{is_session_only},\"files\":{files}}}"
            )
        };
        if files.is_empty() {
            self.unmark_paths(fresh).await?;
            return Ok(commit_json(None, ""));
        }
        let what = if is_session_only { "session update" } else { "conversation and session saved" };
        let message = format!("{}: {what}", commit_title(title));
        let message_argument = format!("--message={message}");
        let before =
            ["-c", "i18n.commitEncoding=UTF-8", "commit", "--quiet", "--only", "--cleanup=whitespace"];
        let arguments = [&before[..], &[&message_argument, "--", "."]].concat();
        let how = || RunOptions { variables: &[NO_PROMPTS], input: Vec::new(), limit_ms: COMMIT_LIMIT_MS };
        output_or_error(self.run_with_retries(&arguments, how).await?, "commit")?;
        let head = self.query_output(&["rev-parse", "--verify", "HEAD"]).await?;
        Ok(commit_json(Some(decode_lossy(&head).trim()), &message))
    }

    async fn reject_outside_repository(&self) -> Result<(), Trouble> {
        let GitRun { status, stdout: out, stderr_text: words, .. } =
            self.query(&["rev-parse", "--is-inside-work-tree"], &[]).await?;
        if status == Some(0) && decode_lossy(&out).trim() == "true" {
            return Ok(());
        }
        let at = self.folder;
        let is_none = status == Some(0) || words.contains("not a git repository");
        Err(match is_none {
            true => Trouble::new(
                Code::NotARepository,
                format!("\"{at}\" is in no git repository; run 'git init' to create one"),
            ),
            false => Trouble::new(
                Code::GitFailed,
                format!("git could not read the repository of \"{at}\": {words}"),
            ),
        })
    }

    // During a merge or a cherry-pick, git makes no partial commit. During a rebase or a bisection it does; but
    // aborting that takes the commit away again, and the conversation's files with it.
    async fn reject_while_busy(&self, setup: &Setup) -> Result<(), Trouble> {
        for (name, signs) in PENDING_OPERATIONS {
            for sign in signs {
                let is_there = match sign.ends_with("_HEAD") {
                    true => self.is_ref(sign).await?,
                    false => self.is_in_git_folder(sign, setup).await?,
                };
                if is_there {
                    let message = format!("a {name} is in progress; finish or abort it, then commit");
                    return Err(Trouble::new(Code::GitBusy, message));
                }
            }
        }
        // Git would take conflict markers for the resolution.
        let unmerged = self.query_output(&["ls-files", "--unmerged", "-z", "--", "."]).await?;
        let Some(first) = split_names(&unmerged).into_iter().next() else { return Ok(()) };
        let file = first.split_once('\t').map_or(&*first, |(_, file)| file);
        let message = format!("\"{file}\" has a conflict; resolve it and run 'git add'");
        Err(Trouble::new(Code::GitBusy, message))
    }

    async fn is_ref(&self, name: &str) -> Result<bool, Trouble> {
        Ok(self.query(&["rev-parse", "--quiet", "--verify", name], &[]).await?.status == Some(0))
    }

    async fn is_in_git_folder(&self, name: &str, setup: &Setup) -> Result<bool, Trouble> {
        let path = decode_lossy(&self.query_output(&["rev-parse", "--git-path", name]).await?);
        let path = setup.resolve_path(self.folder, path.trim_end_matches('\n'));
        Ok(self.io.stat(&File::new(Root::Outside, path)).await?.is_some())
    }

    async fn reject_ignored(&self) -> Result<(), Trouble> {
        let others = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"];
        let found = self.query_output(&[&others[..], &SESSION_PARTS].concat()).await?;
        let Some(ignored) = split_names(&found).into_iter().next() else { return Ok(()) };
        let paths = format!("{ignored}\0");
        let answer = self.query(&["check-ignore", "--verbose", "-z", "--stdin"], paths.as_bytes()).await?;
        let rule = split_names(&output_or_error(answer, "check-ignore")?);
        let word = |place: usize| rule.get(place).map(String::as_str).unwrap_or_default();
        let (source, line, pattern) = (word(0), word(1), word(2));
        let message =
            format!("git ignores \"{ignored}\" by the rule \"{pattern}\" in \"{source}\", line {line}");
        Err(Trouble::new(Code::SessionIgnored, message))
    }

    // As bytes: git gets them back as it gave them. A nested repository is left alone.
    async fn list_untracked(&self) -> Result<Vec<u8>, Trouble> {
        let all = self.query_output(&["ls-files", "--others", "--exclude-standard", "-z", "--", "."]).await?;
        let paths = all.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        Ok(paths.flat_map(|path| path.iter().copied().chain([0])).collect())
    }

    // Files of the folder that a commit would change.
    async fn list_changed(&self) -> Result<Vec<String>, Trouble> {
        let before = match self.is_ref("HEAD").await? {
            true => "HEAD".to_string(),
            false => decode_lossy(&self.query_output(&["hash-object", "-t", "tree", "--stdin"]).await?)
                .trim()
                .into(),
        };
        let how = ["diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let more = ["--ignore-submodules=dirty", "--relative", "-z", &before, "--", "."];
        Ok(split_names(&self.query_output(&[&how[..], &more].concat()).await?))
    }

    // `paths`: each ended by a NUL.
    async fn run_on_paths(&self, paths: &[u8], arguments: &[&str]) -> Result<(), Trouble> {
        if paths.is_empty() {
            return Ok(());
        }
        let how =
            || RunOptions { variables: &MARK_ENVIRONMENT, input: paths.into(), limit_ms: COMMIT_LIMIT_MS };
        output_or_error(
            self.run_with_retries(arguments, how).await?,
            arguments.first().copied().unwrap_or_default(),
        )
        .map(drop)
    }

    async fn unmark_paths(&self, paths: &[u8]) -> Result<(), Trouble> {
        self.run_on_paths(paths, &["update-index", "-z", "--force-remove", "--stdin"]).await
    }

    // Retries while another process has the index locked.
    async fn run_with_retries(
        &self,
        arguments: &[&str],
        how: impl Fn() -> RunOptions,
    ) -> Result<GitRun, Trouble> {
        let mut waits = LOCK_WAITS_MS.into_iter();
        loop {
            let ran = self.run(arguments, how()).await?.ok_or_else(git_missing_error)?;
            match waits.next() {
                Some(wait) if ran.status != Some(0) && is_locked(&ran.stderr_text) => {
                    self.io.wait(wait).await?
                }
                _ => return Ok(ran),
            }
        }
    }

    async fn query(&self, arguments: &[&str], input: &[u8]) -> Result<GitRun, Trouble> {
        self.try_query(arguments, input).await?.ok_or_else(git_missing_error)
    }

    async fn query_output(&self, arguments: &[&str]) -> Result<Vec<u8>, Trouble> {
        output_or_error(self.query(arguments, &[]).await?, arguments.first().copied().unwrap_or_default())
    }
}

// The message names the lock file in every language.
fn is_locked(words: &str) -> bool {
    let is_lock = |word: &str| {
        let name =
            word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '/' && letter != '.');
        let Some(file) = name.strip_suffix(".lock") else { return false };
        let last = file.rsplit('/').next().unwrap_or_default();
        matches!(last, "index" | "HEAD") || file.contains("refs/")
    };
    words.split_whitespace().any(is_lock)
}

// Standard output, or the error.
fn output_or_error(
    GitRun { status, stdout: out, stderr_text: words, has_timed_out: is_late }: GitRun,
    command: &str,
) -> Result<Vec<u8>, Trouble> {
    if status == Some(0) && !is_late {
        return Ok(out);
    }
    if is_late {
        let said = if words.is_empty() { String::new() } else { format!("; it said: {words}") };
        let message = format!("git {command} did not end in time{said}");
        return Err(Trouble::new(Code::GitFailed, message));
    }
    if is_locked(&words) {
        let message = format!("another process has locked the repository: {words}");
        return Err(Trouble::new(Code::GitBusy, message));
    }
    let status = status.map_or("null".into(), |status| status.to_string());
    let reason = if words.is_empty() { format!("nothing, status {status}") } else { words };
    Err(Trouble::new(Code::GitFailed, format!("git {command} failed: {reason}")))
}

fn split_names(out: &[u8]) -> Vec<String> {
    decode_lossy(out).split('\0').filter(|name| !name.is_empty()).map(String::from).collect()
}

fn git_missing_error() -> Trouble {
    Trouble::new(Code::GitMissing, "git is not on the PATH: install it")
}
