//! A commit by a git that does as it is told here: what real ones do is tried in JavaScript, by tests/js/git-commit.test.js.
//! Tries: src/operation/git/commit.rs, src/operation/store/commit.rs

use leftoff::layout::Placement;
use leftoff::operation::{
    FileKind, GitRun, HostRequest, HostResponse, Operation, Setup, Stat, Step, Store, Trouble,
};

const SESSION: &str = "/work/conversations/2026-01-01/001-plan/.session";

/// What was asked of git, and what it said to `says`, else that it is done.
fn run_commit(says: impl Fn(&str, usize) -> Option<GitRun>) -> (Result<String, Trouble>, Vec<String>) {
    let setup = Setup { separator: "/".into(), ..Setup::default() };
    let mut operation = Store::new(setup).commit(SESSION.into(), Placement::Workspace, "A plan".into());
    let mut asked: Vec<String> = Vec::new();
    let done = drive_with(&mut operation, |need| match need {
        HostRequest::Stat { file } if file.path.ends_with(".session") => HostResponse::Stat(Some(folder())),
        HostRequest::Stat { .. } => HostResponse::Stat(None),
        HostRequest::Wait { ms } => {
            asked.push(format!("wait {ms}"));
            HostResponse::Done
        }
        HostRequest::Git { arguments, without, .. } => {
            assert!(without.contains(&"GIT_DIR"));
            let words: Vec<&String> = arguments.iter().filter(|word| !is_setting(word)).collect();
            let line = words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
            let times = asked.iter().filter(|one| **one == line).count();
            asked.push(line.clone());
            HostResponse::GitRun(Some(says(&line, times).unwrap_or_else(|| usual(&line))))
        }
        other => panic!("expected git to be asked, but found {other:?}"),
    });
    (done, asked)
}

fn drive_with(
    operation: &mut Operation<'_, String>,
    mut answer: impl FnMut(HostRequest) -> HostResponse,
) -> Result<String, Trouble> {
    let mut step = operation.begin(super::Host::default().stamp());
    loop {
        let needs = match step {
            Step::Done(done) => return done,
            Step::Requests(needs) => needs,
        };
        let answers = needs.into_iter().map(&mut answer).collect();
        step = operation.next(0, answers);
    }
}

fn is_setting(word: &str) -> bool {
    word == "-c" || word.starts_with("core.") || word.starts_with("i18n.") || word == "--no-pager"
}

// A work tree with one new file.
fn usual(line: &str) -> GitRun {
    let (status, out) = match line {
        "rev-parse --is-inside-work-tree" => (0, "true\n"),
        "rev-parse --verify HEAD" => (0, "abc\n"),
        "rev-parse --quiet --verify HEAD" => (0, ""),
        _ if line.starts_with("rev-parse --quiet") => (1, ""),
        _ if line.starts_with("ls-files --others --exclude") => (0, "plan.md\0"),
        _ if line.starts_with("diff") => (0, "plan.md\0"),
        _ => (0, ""),
    };
    GitRun { status: Some(status), stdout: out.into(), ..GitRun::default() }
}

fn failed_run(words: &str) -> Option<GitRun> {
    Some(GitRun { status: Some(128), stderr_text: words.into(), ..GitRun::default() })
}

fn folder() -> Stat {
    Stat { kind: FileKind::Folder, size: 0, modified_us: 0, changed_us: 0, file: None }
}

fn code(done: &Result<String, Trouble>) -> &str {
    done.as_ref().map_or_else(Trouble::code, String::as_str)
}

const UNMARK_COMMAND: &str = "update-index -z --force-remove --stdin";

#[test]
fn what_changed_is_committed_under_its_title() {
    let (done, asked) = run_commit(|_, _| None);
    let told = r#"{"commit":"abc","message":"A plan: conversation and session saved","isSessionOnly":false,"files":["plan.md"]}"#;
    assert_eq!(done.expect("committed"), told);
    assert!(!asked.contains(&UNMARK_COMMAND.into()), "{asked:?}");
}

#[test]
fn whatever_ends_a_commit_takes_the_marks_of_new_files_away() {
    let late = GitRun { has_timed_out: true, ..GitRun::default() };
    for (ran, expected) in [
        (Some(late), "git_failed"),
        (failed_run("no"), "git_failed"),
        (failed_run("'HEAD.lock': File exists"), "git_busy"),
    ] {
        for at in ["commit", "diff", "rev-parse --verify HEAD"] {
            let (done, asked) = run_commit(|line, _| ran.clone().filter(|_| line.starts_with(at)));
            assert_eq!(code(&done), expected, "{at}: {asked:?}");
            assert_eq!(asked.last().map(String::as_str), Some(UNMARK_COMMAND), "{at}");
        }
    }
}

#[test]
fn marks_that_stay_are_told_of() {
    let (done, _) = run_commit(|line, _| {
        let is_one = line.starts_with("commit") || line.starts_with("update-index");
        failed_run(if line.starts_with("commit") { "a hook says no" } else { "the disk is full" })
            .filter(|_| is_one)
    });
    let refused = done.expect_err("refused");
    assert!(refused.message().contains("a hook says no"), "{refused}");
    assert!(refused.message().contains("stay marked") && refused.message().contains("the disk is full"));
}

#[test]
fn a_lock_is_waited_for_and_then_refused() {
    let locked = |line: &str| {
        failed_run("Unable to create '.git/index.lock': File exists.").filter(|_| line.starts_with("add"))
    };
    let (done, asked) = run_commit(|line, times| locked(line).filter(|_| times < 2));
    assert!(done.is_ok(), "{asked:?}");
    let (done, asked) = run_commit(|line, _| locked(line));
    assert_eq!(code(&done), "git_busy");
    let waits: Vec<&String> = asked.iter().filter(|one| one.starts_with("wait")).collect();
    assert_eq!(waits, ["wait 50", "wait 150", "wait 400"]);
}

#[test]
fn what_git_says_of_a_place_tells_whether_a_repository_is_there() {
    let ran = |status: i32, out: &str, words: &str| GitRun {
        status: Some(status),
        stdout: out.into(),
        stderr_text: words.into(),
        ..GitRun::default()
    };
    for (said, expected) in [
        (ran(0, "false\n", ""), "not_a_repository"),
        (
            ran(128, "", "fatal: not a git repository (or any of the parent directories): .git"),
            "not_a_repository",
        ),
        (ran(128, "", "fatal: detected dubious ownership in repository at '/work'"), "git_failed"),
        (ran(128, "true\n", "fatal: bad config line 1 in file .git/config"), "git_failed"),
    ] {
        let (done, asked) =
            run_commit(|line, _| Some(said.clone()).filter(|_| line == "rev-parse --is-inside-work-tree"));
        assert_eq!(code(&done), expected, "{said:?}");
        assert!(!asked.iter().any(|line| line.starts_with("commit")), "{asked:?}");
    }
}

#[test]
fn without_git_nothing_is_touched() {
    let setup = Setup { separator: "/".into(), ..Setup::default() };
    let mut operation = Store::new(setup).commit(SESSION.into(), Placement::Workspace, "A plan".into());
    let mut runs = 0;
    let done = drive_with(&mut operation, |need| match need {
        HostRequest::Git { .. } => {
            runs += 1;
            HostResponse::GitRun(None)
        }
        _ => HostResponse::Stat(Some(folder())),
    });
    assert_eq!((code(&done), runs), ("git_missing", 1));
}
