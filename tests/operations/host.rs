//! A host in memory: what operations need of one, and no more.

use std::collections::BTreeMap;
use std::rc::Rc;

use leftoff::json::hash::sha256;
use leftoff::operation::{
    AgentDocument, Failure, FileId, FileKind, FolderEntry, GitRun, HostRequest, HostResponse, Operation,
    Stat, Step, Trouble,
};
use leftoff::session::lease::Process;
use leftoff::time::Stamp;
use leftoff::tokens::Vocabulary;

/// Processes from this number on are gone.
pub const FIRST_DEAD_PROCESS: u64 = 1000;

/// What this host's only rule finds.
pub const SECRET: &str = "key-q7Xw0Lk2Zt9Bv4Ym6Rn8";

const OWN_PROCESS: &str =
    r#"{"pid":7,"host":"here","boot":"b","start":"1","program":"p","name":"mine","isAlone":false}"#;

/// What happens before the needs of a step are answered.
pub enum Meanwhile {
    Nothing,
    /// Its first need cannot be answered.
    Fails,
    /// What should answer its first need is broken.
    Bug,
    /// Nobody waits for it any more.
    Dropped,
    /// Somebody else appends these bytes to the file.
    Others(String, Vec<u8>),
}

#[derive(Default)]
pub struct Host {
    pub files: BTreeMap<String, (Vec<u8>, i64)>,
    /// What was read in pages, one after another.
    pub pages: Vec<String>,
    /// The output that is saved, JSON.
    pub saved_bytes: Vec<u8>,
    /// What was read of one for the caller.
    pub loaded_bytes: Vec<u8>,
    /// So many bytes are read at once where fewer than all will do.
    pub max_read_bytes: Option<usize>,
    /// Nobody may look into that.
    pub unreadable_path: Option<String>,
    /// Nothing of it can be changed.
    pub is_read_only: bool,
    /// What it could not answer.
    pub unanswered: String,
    /// By what it counts, where it does.
    pub vocabulary: Option<Rc<Vocabulary>>,
    /// How many needs it was asked, and how many bytes it was read.
    pub request_count: u64,
    pub read: u64,
    /// When its files were made, in microseconds.
    pub made_us: i64,
    /// What was changed may be changed again at the same moment.
    pub is_fresh: bool,
    /// Where the repository was cloned from, unless that is what all tests have.
    pub remote: Option<&'static str>,
    changes: i64,
    steps: u64,
}

// After whatever time it tells.
const FRESH_US: i64 = 2_000_000_000_000_001;

// Of a repository with a remote: what `git` prints.
fn git_output(arguments: &[String], remote: Option<&str>) -> GitRun {
    let out = match arguments.last().map(String::as_str) {
        Some("--show-prefix") => String::from("true\nfalse\n\n"),
        Some("-v") => format!("origin\t{} (fetch)\n", remote.unwrap_or("https://example.org/a/b")),
        _ => String::new(),
    };
    GitRun { status: Some(0), stdout: out.into(), ..GitRun::default() }
}

fn secrets(texts: &[String]) -> String {
    let spans = |text: &String| {
        let found = text.match_indices(SECRET).map(|(start, found)| {
            format!(r#"{{"start":{start},"end":{},"rule":"own"}}"#, start + found.len())
        });
        format!("[{}]", found.collect::<Vec<_>>().join(","))
    };
    format!("[{}]", texts.iter().map(spans).collect::<Vec<_>>().join(","))
}

fn failure_response(need: &HostRequest, code: &str) -> HostResponse {
    let written = matches!(need, HostRequest::Append { .. }).then_some(0);
    let (code, message) = (code.into(), "out of order".into());
    HostResponse::Failed(Failure { code, message, written, ..Failure::default() })
}

impl Host {
    pub fn append(&mut self, path: &str, bytes: &[u8]) -> u64 {
        self.changes += 1;
        let file = self.files.entry(path.into()).or_default();
        file.0.extend(bytes);
        // Who only asks the disk to confirm changes nothing.
        file.1 = if bytes.is_empty() { file.1 } else { self.changes };
        file.0.len() as u64
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.files[path].0.clone()).expect("UTF-8")
    }

    /// Its answer; nothing where it was dropped. `meanwhile` is told the place of the step.
    pub fn drive<T>(
        &mut self,
        mut operation: Operation<'_, T>,
        mut meanwhile: impl FnMut(usize) -> Meanwhile,
    ) -> Option<Result<T, Trouble>> {
        let mut step = operation.begin(self.stamp());
        for place in 0.. {
            assert!(place < 1000, "it ends");
            let needs = match step {
                Step::Done(done) => return Some(done),
                Step::Requests(needs) => needs,
            };
            let mut first = None;
            match meanwhile(place) {
                Meanwhile::Nothing => {}
                Meanwhile::Fails => first = Some("storage_failed"),
                Meanwhile::Bug => first = Some("internal"),
                Meanwhile::Dropped => return None,
                Meanwhile::Others(path, bytes) => {
                    self.append(&path, &bytes);
                }
            }
            let answers = needs.into_iter().map(|need| match first.take() {
                // Nobody waits for that.
                Some(code) if !matches!(need, HostRequest::EndTurn { .. }) => {
                    self.unanswered = format!("{need:?}");
                    failure_response(&need, code)
                }
                _ => self.answer(need, false),
            });
            let answers = answers.collect();
            step = operation.next(self.now_ms(), answers);
        }
        None
    }

    /// The same to its end, undisturbed; it stays the caller's.
    pub fn drive_on<T>(&mut self, operation: &mut Operation<'_, T>) -> Result<T, Trouble> {
        let mut step = operation.begin(self.stamp());
        loop {
            let needs = match step {
                Step::Done(done) => return done,
                Step::Requests(needs) => needs,
            };
            let answers = needs.into_iter().map(|need| self.answer(need, false)).collect();
            step = operation.next(self.now_ms(), answers);
        }
    }

    /// Another moment, another chance.
    pub fn stamp(&mut self) -> Stamp {
        self.steps += 1;
        let mut entropy = [0; 32];
        entropy[..8].copy_from_slice(&self.steps.to_be_bytes());
        Stamp { now_ms: self.now_ms(), offset_minutes: 0, entropy }
    }

    pub fn now_ms(&mut self) -> i64 {
        self.changes += 1;
        1_800_000_000_000 + self.changes * 100
    }

    fn refuses(&self, need: &HostRequest, fails: bool) -> Option<&'static str> {
        let (looked, changed) = match need {
            HostRequest::Read { file, .. } | HostRequest::List { folder: file, .. } => {
                (Some(&file.path), false)
            }
            HostRequest::Append { .. } | HostRequest::Replace { .. } | HostRequest::WriteSaved { .. } => {
                (None, true)
            }
            HostRequest::Remove { .. } | HostRequest::Move { .. } | HostRequest::Copy { .. } => (None, true),
            _ => (None, false),
        };
        let is_in =
            |(path, closed): (&String, &String)| path == closed || path.starts_with(&format!("{closed}/"));
        if looked.zip(self.unreadable_path.as_ref()).is_some_and(is_in) {
            return Some("permission_denied");
        }
        (fails || self.is_read_only && changed).then_some("storage_failed")
    }

    /// What it says to a need; `fails`: that it cannot be done.
    pub fn answer(&mut self, need: HostRequest, fails: bool) -> HostResponse {
        self.request_count += 1;
        if let Some(code) = self.refuses(&need, fails) {
            return failure_response(&need, code);
        }
        match need {
            HostRequest::Read { file, start, end } => HostResponse::Bytes(self.bytes(&file.path, start, end)),
            HostRequest::Stat { file } => HostResponse::Stat(self.stat(&file.path)),
            HostRequest::List { folder, names } => HostResponse::Entries(self.list(&folder.path, &names)),
            HostRequest::Append { within: Some(folder), .. }
            | HostRequest::Replace { within: Some(folder), .. }
                if self.stat(&folder).is_none() =>
            {
                HostResponse::Failed(Failure {
                    code: "not_found".into(),
                    written: Some(0),
                    ..Failure::default()
                })
            }
            HostRequest::Append { file, bytes, .. } => {
                HostResponse::End(self.append(&file.path, &bytes), None)
            }
            HostRequest::Replace { file, bytes, .. } | HostRequest::ReplaceLazily { file, bytes } => {
                self.replace(file.path, bytes)
            }
            HostRequest::Remove { file } => self.remove(&file.path),
            HostRequest::Move { from, to } => self.rename(&from.path, &to.path),
            HostRequest::Copy { from, to, missing } => {
                HostResponse::End(self.copy(&from.path, &to.path, missing), None)
            }
            HostRequest::Link { .. } => HostResponse::Done,
            HostRequest::Hash { file, start, end } => {
                let bytes = self.part(&file.path, start, end);
                bytes.map_or(HostResponse::Done, |bytes| HostResponse::Text(sha256(bytes)))
            }
            other => self.answer_without_files(other),
        }
    }

    // The requests that no verb of its files answers.
    fn answer_without_files(&mut self, need: HostRequest) -> HostResponse {
        match need {
            HostRequest::Git { arguments, .. } => {
                HostResponse::GitRun(Some(git_output(&arguments, self.remote)))
            }
            HostRequest::Document { path, is_first, .. } => {
                HostResponse::Document(self.document(&path, is_first))
            }
            HostRequest::Command { .. } => HostResponse::Text("null".into()),
            HostRequest::RealPath { path } => {
                HostResponse::Text(path.replace("/home/ann/link", "/home/ann/code"))
            }
            // It knows one letter that can be written in two ways.
            HostRequest::NormalizePath { path } => HostResponse::Text(path.replace("u\u{308}", "ü")),
            HostRequest::RemoveMarks { text } => HostResponse::Text(text),
            HostRequest::Redact { .. } => HostResponse::Text(r#"{"secrets":[],"changed":[]}"#.into()),
            HostRequest::Secrets { texts } => HostResponse::Text(secrets(&texts)),
            HostRequest::Page { bytes } => {
                self.pages.push(String::from_utf8(bytes).expect("UTF-8"));
                HostResponse::Done
            }
            HostRequest::ReadSaved { end } => HostResponse::Bytes(Some(
                self.saved_bytes[..self.saved_bytes.len().min(end as usize)].to_vec(),
            )),
            HostRequest::WriteSaved { file, bytes, at } => {
                let (before, behind) = bytes.split_at(at as usize);
                self.replace(file.path, [before, &self.saved_bytes, behind].concat())
            }
            HostRequest::HandRange { file, start, end } => self.hand(&file.path, start, end),
            HostRequest::Wait { .. } | HostRequest::TakeTurn { .. } | HostRequest::EndTurn { .. } => {
                HostResponse::Done
            }
            HostRequest::Process => HostResponse::Process(Process::read(OWN_PROCESS).expect("a process")),
            // The others that there are have larger numbers.
            HostRequest::CheckProcesses { processes } => HostResponse::Flags(
                processes.iter().map(|process| process.pid >= FIRST_DEAD_PROCESS).collect(),
            ),
            // They are all as near as each other.
            HostRequest::Vectors { texts } => HostResponse::Bytes(Some(
                [1u32.to_le_bytes(), 1f32.to_le_bytes()].concat().repeat(texts.len()),
            )),
            HostRequest::Summary { .. } => {
                HostResponse::Text(r#"{"content":"They spoke of files.","model":"m"}"#.into())
            }
            HostRequest::Vocabulary { .. } => {
                self.vocabulary.clone().map_or(HostResponse::Done, HostResponse::Vocabulary)
            }
            HostRequest::Counts { .. } | HostRequest::Strategy { .. } => HostResponse::Done,
            HostRequest::Read { .. }
            | HostRequest::Stat { .. }
            | HostRequest::List { .. }
            | HostRequest::Append { .. }
            | HostRequest::Replace { .. }
            | HostRequest::ReplaceLazily { .. }
            | HostRequest::Remove { .. }
            | HostRequest::Move { .. }
            | HostRequest::Copy { .. }
            | HostRequest::Link { .. }
            | HostRequest::Hash { .. } => unreachable!("answered by its files"),
        }
    }

    fn bytes(&mut self, path: &str, start: u64, end: Option<u64>) -> Option<Vec<u8>> {
        let found = self.files.get(path).map(|(bytes, _)| bytes);
        let most = start as usize + self.max_read_bytes.unwrap_or(1 << 30);
        let end = |bytes: &Vec<u8>| end.map_or(bytes.len(), |end| bytes.len().min(end as usize).min(most));
        let some = found.map(|bytes| bytes.get(start as usize..end(bytes)).unwrap_or_default().to_vec());
        self.read += some.as_ref().map_or(0, Vec::len) as u64;
        some
    }

    /// Nothing where the file is missing or shorter.
    fn part(&self, path: &str, start: u64, end: u64) -> Option<&[u8]> {
        self.files.get(path).and_then(|(bytes, _)| bytes.get(start as usize..end as usize))
    }

    fn hand(&mut self, path: &str, start: u64, end: u64) -> HostResponse {
        if !self.files.contains_key(path) {
            return HostResponse::Bytes(None);
        }
        self.loaded_bytes = self.part(path, start, end).unwrap_or_default().to_vec();
        HostResponse::End(self.loaded_bytes.len() as u64, None)
    }

    fn document(&self, path: &str, is_first: bool) -> Option<AgentDocument> {
        let bytes = self.files.get(path).map(|(bytes, _)| bytes.clone()).filter(|_| is_first)?;
        Some(AgentDocument { bytes, is_alone: true, ..AgentDocument::default() })
    }

    fn replace(&mut self, path: String, bytes: Vec<u8>) -> HostResponse {
        self.changes += 1;
        self.files.insert(path, (bytes, self.changes));
        HostResponse::Done
    }

    fn remove(&mut self, path: &str) -> HostResponse {
        self.files.retain(|one, _| one != path && !one.starts_with(&format!("{path}/")));
        HostResponse::Done
    }

    fn stat(&self, path: &str) -> Option<Stat> {
        let Some((bytes, changed)) = self.files.get(path) else {
            let is_folder =
                path.is_empty() || self.files.keys().any(|one| one.starts_with(&format!("{path}/")));
            return is_folder.then_some(Stat {
                kind: FileKind::Folder,
                size: 0,
                modified_us: 0,
                changed_us: 0,
                file: None,
            });
        };
        let (size, file) = (bytes.len() as u64, Some(FileId { number: 0, made_us: self.made_us }));
        let changed = if self.is_fresh { *changed + FRESH_US } else { *changed };
        Some(Stat { kind: FileKind::File, size, modified_us: changed, changed_us: changed, file })
    }

    fn list(&self, folder: &str, names: &[&str]) -> Option<Vec<FolderEntry>> {
        let top = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = |path: &str| path.strip_prefix(&top).map(String::from);
        let inside = self.files.keys().filter_map(|path| Some(below(path)?.split('/').next()?.to_string()));
        let found: std::collections::BTreeSet<String> = inside.collect();
        let entry = |name: String| {
            let path = format!("{top}{name}");
            let kind = self.stat(&path).map_or(FileKind::Other, |stat| stat.kind);
            let stats = || names.iter().map(|file| self.stat(&format!("{path}/{file}"))).collect();
            let files = (kind == FileKind::Folder && !names.is_empty()).then(stats);
            FolderEntry { name, kind, files }
        };
        (!found.is_empty()).then(|| found.into_iter().map(entry).collect())
    }

    /// How many bytes that were.
    fn copy(&mut self, from: &str, to: &str, missing: bool) -> u64 {
        self.changes += 1;
        let is_of = |path: &str| path == from || path.starts_with(&format!("{from}/"));
        let copies: Vec<(String, Vec<u8>)> = (self.files.iter())
            .filter(|(path, _)| is_of(path))
            .map(|(path, (bytes, _))| (format!("{to}{}", &path[from.len()..]), bytes.clone()))
            .filter(|(path, _)| !missing || !self.files.contains_key(path))
            .collect();
        let count = copies.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        self.files.extend(copies.into_iter().map(|(path, bytes)| (path, (bytes, self.changes))));
        count
    }

    /// Gives all that lies at a path another one, where nothing is.
    fn rename(&mut self, from: &str, to: &str) -> HostResponse {
        let refused = |code: &str| HostResponse::Failed(Failure { code: code.into(), ..Failure::default() });
        if self.stat(to).is_some() {
            return refused("already_exists");
        }
        let is_of = |path: &str| path == from || path.starts_with(&format!("{from}/"));
        let moved: Vec<String> = self.files.keys().filter(|path| is_of(path)).cloned().collect();
        for path in &moved {
            let file = self.files.remove(path).expect("it is there");
            self.files.insert(format!("{to}{}", &path[from.len()..]), file);
        }
        if moved.is_empty() { refused("not_found") } else { HostResponse::Done }
    }
}
