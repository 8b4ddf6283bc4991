//! Runs git as a process, as an operation asks.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use std::env;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process};

use crate::operation::{Failure, GitRun};

const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// How long a process told to end may take, and how long processes it left behind may hold its pipes.
const GRACE_PERIOD: Duration = Duration::from_millis(500);
const MAX_STDERR_BYTES: usize = 4_000;

/// One call of git.
pub(super) struct GitCall<'a> {
    pub folder: &'a Path,
    pub arguments: &'a [String],
    pub variables: &'a [(&'a str, &'a str)],
    pub unset_variables: &'a [&'a str],
    pub input: Vec<u8>,
    pub limit: Duration,
}

/// Reads one of the process's pipes to its end.
struct PipeReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    end_signal: Receiver<()>,
}

/// Runs git; nothing where there is none, or no folder.
///
/// # Errors
/// Where the system does not run it.
pub(super) fn run(how: GitCall<'_>) -> Result<Option<GitRun>, Failure> {
    let Some(program) = find_program().filter(|_| how.folder.is_dir()) else { return Ok(None) };
    let refused = |error: std::io::Error| {
        let message = format!("\"{}\" could not be started: {error}", program.display());
        Failure { code: "git_failed".into(), message, ..Failure::default() }
    };
    run_program(&program, how).map(Some).map_err(refused)
}

// Finds git. Relative folders on the PATH are skipped: they would lead into the repository.
fn find_program() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let mut places = folders.map(|folder| folder.join("git"));
    places.find(|place| place.is_file() && access(place, Access::EXEC_OK).is_ok())
}

fn run_program(program: &Path, how: GitCall<'_>) -> std::io::Result<GitRun> {
    let mut command = Command::new(program);
    command.args(how.arguments).current_dir(how.folder);
    for name in how.unset_variables {
        command.env_remove(name);
    }
    command.envs(how.variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let (Some(mut stdin), input) = (child.stdin.take(), how.input) {
        // A process that ends before reading all of its input says why by its status.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let (out, words) = (read_pipe(child.stdout.take()), read_pipe(child.stderr.take()));
    let (status, is_late) = wait_with_limit(&mut child, how.limit)?;
    let (out, words) = (out.collect_bytes(), words.collect_bytes());
    let words = String::from_utf8_lossy(&words[words.len().saturating_sub(MAX_STDERR_BYTES)..]).trim().into();
    Ok(GitRun { status: status.code(), stdout: out, stderr_text: words, has_timed_out: is_late })
}

impl PipeReader {
    // What a hook leaves running keeps the pipes; git itself has answered.
    fn collect_bytes(self) -> Vec<u8> {
        let _ = self.end_signal.recv_timeout(GRACE_PERIOD);
        self.bytes.lock().map(|mut bytes| core::mem::take(&mut *bytes)).unwrap_or_default()
    }
}

fn read_pipe(from: Option<impl Read + Send + 'static>) -> PipeReader {
    let (end, ends) = channel();
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let all = bytes.clone();
    std::thread::spawn(move || {
        let mut piece = [0; 1 << 14];
        let mut from = from;
        while let Some(count) =
            from.as_mut().and_then(|from| from.read(&mut piece).ok()).filter(|count| *count > 0)
        {
            if let Ok(mut all) = all.lock() {
                all.extend_from_slice(&piece[..count]);
            }
        }
        let _ = end.send(());
    });
    PipeReader { bytes, end_signal: ends }
}

// Told to end, git removes its locks.
fn wait_with_limit(child: &mut Child, limit: Duration) -> std::io::Result<(ExitStatus, bool)> {
    let begun = Instant::now();
    let mut is_late = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, is_late));
        }
        if !is_late && begun.elapsed() >= limit {
            is_late = true;
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        if begun.elapsed() >= limit + GRACE_PERIOD {
            child.kill()?;
            return Ok((child.wait()?, true));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
