//! Git as a process: what it is told, and what it says.

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

/// What is only read has an end.
pub(super) const READ_LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);
/// How long a process that was told to end may take to, and what it left behind may hold its pipes.
const GRACE: Duration = Duration::from_millis(500);
const MAX_WORDS: usize = 4_000;

/// What git must not do where it only reads: lock, fetch what a partial clone lacks, take one commit for another, or speak another
/// language. Where it is too old for `NO_LAZY_FETCH`: no way of fetching has the name of the next one.
pub(super) const READING: [(&str, &str); 5] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
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

/// Git, in a folder.
pub(super) struct Git<'a> {
    program: PathBuf,
    at: &'a Path,
}

/// How git is asked.
pub(super) struct How<'a> {
    pub variables: &'a [(&'a str, &'a str)],
    pub input: &'a [u8],
    pub limit: Duration,
}

/// What it said.
pub(super) struct Answer {
    pub status: Option<i32>,
    pub out: Vec<u8>,
    /// On the other way, for people: the end of it.
    pub words: String,
    pub is_late: bool,
}

/// What comes on one of its ways, until that ends.
struct Heard {
    bytes: Arc<Mutex<Vec<u8>>>,
    ends: Receiver<()>,
}

impl<'a> Git<'a> {
    /// A relative folder on the PATH would lead into the repository.
    pub fn find(at: &'a Path) -> Option<Git<'a>> {
        let path = env::var_os("PATH")?;
        let mut places =
            env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("git"));
        let program = places.find(|place| place.is_file() && access(place, Access::EXEC_OK).is_ok())?;
        Some(Git { program, at })
    }

    /// Asks for what it knows.
    ///
    /// # Errors
    /// Where the system does not run it.
    pub fn read(&self, arguments: &[&str]) -> std::io::Result<Answer> {
        self.read_with(arguments, &[])
    }

    /// The same, with what it is told beside that.
    pub fn read_with(&self, arguments: &[&str], input: &[u8]) -> std::io::Result<Answer> {
        let before = ["--no-pager", "-c", "core.fsmonitor=false"];
        let how = How { variables: &READING, input, limit: READ_LIMIT };
        self.run(&[&before, arguments].concat(), &how)
    }

    /// Runs it.
    pub fn run(&self, arguments: &[&str], how: &How<'_>) -> std::io::Result<Answer> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.at).env("GIT_TERMINAL_PROMPT", "0");
        for place in PLACES {
            command.env_remove(place);
        }
        command.envs(how.variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let (Some(mut told), input) = (child.stdin.take(), Vec::from(how.input)) {
            // Who ends before reading all of it says why by its status.
            std::thread::spawn(move || told.write_all(&input));
        }
        let (out, words) = (heard(child.stdout.take()), heard(child.stderr.take()));
        let (status, is_late) = ended(&mut child, how.limit)?;
        let (out, words) = (out.all(), words.all());
        let words = String::from_utf8_lossy(&words[words.len().saturating_sub(MAX_WORDS)..]).trim().into();
        Ok(Answer { status: status.code(), out, words, is_late })
    }

    /// As it is called.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Heard {
    // What a hook leaves running keeps the pipes; git itself has answered.
    fn all(self) -> Vec<u8> {
        let _ = self.ends.recv_timeout(GRACE);
        self.bytes.lock().map(|mut bytes| core::mem::take(&mut *bytes)).unwrap_or_default()
    }
}

fn heard(from: Option<impl Read + Send + 'static>) -> Heard {
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
    Heard { bytes, ends }
}

// Told to end, git removes its locks.
fn ended(child: &mut Child, limit: Duration) -> std::io::Result<(ExitStatus, bool)> {
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
        if begun.elapsed() >= limit + GRACE {
            child.kill()?;
            return Ok((child.wait()?, true));
        }
        std::thread::sleep(LOOK);
    }
}
