//! A commit of one conversation: what lies in its folder, its session with it, and nothing else. What is staged elsewhere stays
//! staged; where it fails, the index is as it was.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use std::path::Path;

use super::asking::{Answer, Git, How};
use crate::json::text::to_json;
use crate::operation::Failure;
use crate::project::commit_title;

/// Hooks may run a project's tests, and a signature may wait for a key to be touched.
const LIMIT: Duration = Duration::from_secs(600);
/// What is waited while another process has the index locked.
const WAITS_MS: [u64; 3] = [50, 150, 400];

/// What a session is made of, where a rule may ignore it; what others put beside it is theirs.
const PARTS: [&str; 7] = [
    ".session/session.json",
    ".session/events.jsonl",
    ".session/messages.jsonl",
    ".session/tools.jsonl",
    ".session/summaries",
    ".session/blobs",
    ".session/.gitattributes",
];

/// What may be under way in a repository, and by which refs or files git knows.
const UNDER_WAY: [(&str, &[&str]); 4] = [
    ("merge", &["MERGE_HEAD"]),
    ("cherry-pick", &["CHERRY_PICK_HEAD"]),
    ("rebase", &["rebase-merge", "rebase-apply"]),
    ("bisection", &["BISECT_LOG"]),
];

/// A conversation's folder, and git in it.
struct Committing<'a> {
    git: Git<'a>,
    at: &'a Path,
}

/// Commits what lies in a conversation's folder: `{"commit","message","isSessionOnly","files"}`, JSON; `commit` is null where nothing
/// has changed.
///
/// # Errors
/// `not_found`, `git_missing`, `not_a_repository`, `session_ignored`, `git_busy`, `git_failed`.
pub(in crate::fs) fn commit(at: &Path, title: &str) -> Result<String, Failure> {
    // Of a link git keeps where it leads, and nothing of what lies there.
    if !at.join(".session").symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let message = format!("expected a session in \"{}\", but found none", at.display());
        return Err(refused("not_found", message));
    }
    let missing = || refused("git_missing", "expected git on the PATH, but found none".into());
    let committing = Committing { git: Git::find(at).ok_or_else(missing)?, at };
    committing.refuse_outside()?;
    committing.refuse_while_busy()?;
    committing.refuse_ignored()?;
    let fresh = committing.untracked()?;
    committing
        .marked(&fresh, &["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"])?;
    committing.committed(title, &fresh).map_err(|failure| match committing.unmarked(&fresh) {
        Ok(()) => failure,
        Err(left) => {
            let (message, why) = (failure.message, left.message);
            let message =
                format!("{message}\nand the new files stay marked with 'git add --intent-to-add': {why}");
            Failure { message, ..failure }
        }
    })
}

impl Committing<'_> {
    fn committed(&self, title: &str, fresh: &[u8]) -> Result<String, Failure> {
        let files = self.changed()?;
        let is_session_only = !files.is_empty() && files.iter().all(|file| file.starts_with(".session/"));
        let told = |commit: Option<&str>, message: &str| {
            let (commit, message, files) = (to_json(&commit), to_json(&message), to_json(&files));
            format!(
                "{{\"commit\":{commit},\"message\":{message},\"isSessionOnly\":{is_session_only},\"files\":{files}}}"
            )
        };
        if files.is_empty() {
            self.unmarked(fresh)?;
            return Ok(told(None, ""));
        }
        let what = if is_session_only { "session update" } else { "conversation and session saved" };
        let message = format!("{}: {what}", commit_title(title));
        let asked = format!("--message={message}");
        let arguments = [
            "-c",
            "i18n.commitEncoding=UTF-8",
            "commit",
            "--quiet",
            "--only",
            "--cleanup=whitespace",
            &asked,
            "--",
            ".",
        ];
        succeeded(self.patiently(&arguments, &How { variables: &[], input: &[], limit: LIMIT })?, "commit")?;
        let head = self.said(&["rev-parse", "--verify", "HEAD"])?;
        Ok(told(Some(text(&head).trim()), &message))
    }

    fn refuse_outside(&self) -> Result<(), Failure> {
        let Answer { status, out, words, .. } = self.read(&["rev-parse", "--is-inside-work-tree"])?;
        if status == Some(0) && text(&out).trim() == "true" {
            return Ok(());
        }
        let at = self.at.display();
        let is_none = status == Some(0) || words.contains("not a git repository");
        Err(match is_none {
            true => refused(
                "not_a_repository",
                format!("expected \"{at}\" to be in a git repository, but found none; 'git init' makes one"),
            ),
            false => refused(
                "git_failed",
                format!("expected git to read the repository of \"{at}\", but it said: {words}"),
            ),
        })
    }

    // While a merge or a cherry-pick is under way, git commits no part. While a rebase or a bisection is, it does; but to give that
    // up takes the commit away again, and the conversation's files with it.
    fn refuse_while_busy(&self) -> Result<(), Failure> {
        for (name, signs) in UNDER_WAY {
            for sign in signs {
                if if sign.ends_with("_HEAD") { self.is_ref(sign)? } else { self.is_in_git_folder(sign)? } {
                    let message = format!(
                        "expected no {name} under way, but found one; finish it or give it up, and commit then"
                    );
                    return Err(refused("git_busy", message));
                }
            }
        }
        // Git would take the marks of a conflict for its solution.
        let unmerged = self.said(&["ls-files", "--unmerged", "-z", "--", "."])?;
        let Some(first) = names(&unmerged).into_iter().next() else { return Ok(()) };
        let file = first.split_once('\t').map_or(&*first, |(_, file)| file);
        let message = format!("expected no conflict, but found one in \"{file}\"; settle it with git add");
        Err(refused("git_busy", message))
    }

    fn is_ref(&self, name: &str) -> Result<bool, Failure> {
        Ok(self.read(&["rev-parse", "--quiet", "--verify", name])?.status == Some(0))
    }

    fn is_in_git_folder(&self, name: &str) -> Result<bool, Failure> {
        let path = self.said(&["rev-parse", "--git-path", name])?;
        Ok(self.at.join(text(&path).trim_end_matches('\n')).exists())
    }

    fn refuse_ignored(&self) -> Result<(), Failure> {
        let others = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"];
        let found = self.said(&[&others[..], &PARTS].concat())?;
        let Some(ignored) = names(&found).into_iter().next() else { return Ok(()) };
        let asked = format!("{ignored}\0");
        let check = ["check-ignore", "--verbose", "-z", "--stdin"];
        let answer = self.git.read_with(&check, asked.as_bytes()).map_err(|error| self.not_run(&error))?;
        let rule = names(&succeeded(answer, "check-ignore")?);
        let word = |place: usize| rule.get(place).map(String::as_str).unwrap_or_default();
        let (source, line, pattern) = (word(0), word(1), word(2));
        let message = format!(
            "expected the session to be committed, but found \"{ignored}\" ignored by the rule \"{pattern}\" in \"{source}\", line {line}"
        );
        Err(refused("session_ignored", message))
    }

    // As bytes: git gets them back as it gave them. A repository within is left to itself.
    fn untracked(&self) -> Result<Vec<u8>, Failure> {
        let all = self.said(&["ls-files", "--others", "--exclude-standard", "-z", "--", "."])?;
        let paths = all.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        Ok(paths.flat_map(|path| path.iter().copied().chain([0])).collect())
    }

    // What a commit would have of the folder that HEAD has not.
    fn changed(&self) -> Result<Vec<String>, Failure> {
        let before = match self.is_ref("HEAD")? {
            true => "HEAD".to_string(),
            false => text(&self.said(&["hash-object", "-t", "tree", "--stdin"])?).trim().into(),
        };
        let how = [
            "diff",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "--relative",
            "-z",
            &before,
            "--",
            ".",
        ];
        Ok(names(&self.said(&how)?))
    }

    // `paths`: each ended by a NUL.
    fn marked(&self, paths: &[u8], arguments: &[&str]) -> Result<(), Failure> {
        if paths.is_empty() {
            return Ok(());
        }
        // Not for a commit: its hooks would find their patterns taken literally.
        let how = How { variables: &[("GIT_LITERAL_PATHSPECS", "1")], input: paths, limit: LIMIT };
        let command = arguments.first().copied().unwrap_or_default();
        succeeded(self.patiently(arguments, &how)?, command).map(drop)
    }

    fn unmarked(&self, paths: &[u8]) -> Result<(), Failure> {
        self.marked(paths, &["update-index", "-z", "--force-remove", "--stdin"])
    }

    // Asked again for a moment while another process has the index.
    fn patiently(&self, arguments: &[&str], how: &How<'_>) -> Result<Answer, Failure> {
        let ask = || self.git.run(arguments, how).map_err(|error| self.not_run(&error));
        for wait in WAITS_MS {
            let answer = ask()?;
            if answer.status == Some(0) || !is_locked(&answer.words) {
                return Ok(answer);
            }
            std::thread::sleep(Duration::from_millis(wait));
        }
        ask()
    }

    fn read(&self, arguments: &[&str]) -> Result<Answer, Failure> {
        self.git.read(arguments).map_err(|error| self.not_run(&error))
    }

    fn said(&self, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        succeeded(self.read(arguments)?, arguments.first().copied().unwrap_or_default())
    }

    fn not_run(&self, error: &std::io::Error) -> Failure {
        let git = self.git.program().display();
        refused("git_failed", format!("expected to run \"{git}\", but the system refused: {error}"))
    }
}

// The name of the file is in it, whatever language git speaks.
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

// What git printed.
fn succeeded(Answer { status, out, words, is_late }: Answer, command: &str) -> Result<Vec<u8>, Failure> {
    if status == Some(0) && !is_late {
        return Ok(out);
    }
    if is_late {
        let said = if words.is_empty() { String::new() } else { format!("; it said: {words}") };
        let message = format!("expected git {command} to end in time, but it did not{said}");
        return Err(refused("git_failed", message));
    }
    if is_locked(&words) {
        let message =
            format!("expected to have the repository alone, but found it locked by another process: {words}");
        return Err(refused("git_busy", message));
    }
    let status = status.map_or("null".into(), |status| status.to_string());
    let said = if words.is_empty() { format!("nothing, status {status}") } else { words };
    Err(refused("git_failed", format!("expected git {command} to succeed, but it said: {said}")))
}

fn names(out: &[u8]) -> Vec<String> {
    text(out).split('\0').filter(|name| !name.is_empty()).map(String::from).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refused(code: &str, message: String) -> Failure {
    Failure { code: code.into(), message, ..Failure::default() }
}
