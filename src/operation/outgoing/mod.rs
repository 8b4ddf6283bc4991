//! The gate for everything that leaves a store: secrets in it are let through, reported, or replaced by placeholders.
//! The core has rules for what a secret looks like, and the host may add more. A part of a secret cannot be
//! recognized as one: so the whole texts of a session are scanned before anything cut, folded or summarized from them
//! leaves.

#[cfg(feature = "interop")]
pub(super) mod index_redaction;
#[cfg(feature = "interop")]
pub(super) mod unreported;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use serde::Serialize;

use super::{FileId, FileKind, Io, Operation, Stat, Trouble, unless_bug};
use crate::error::{Code, Error};
#[cfg(feature = "interop")]
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::layout::{EVENTS, File, MESSAGES, REDACTION_KEY, Root};
use crate::privacy::{KnownSecrets, Redaction, Secret};

const KEY_BYTES: usize = 32;
/// Bytes of lines that are scanned together.
const BATCH_BYTES: u64 = 1 << 20;
/// Bytes of the log from which a title may be made.
const TITLE_HEAD_BYTES: u64 = 1 << 20;

/// What is done about secrets in outgoing text, from the laxest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RedactMode {
    /// Secrets are not looked for.
    Off,
    /// Secrets are reported.
    Report,
    /// Secrets are reported, and replaced by placeholders.
    Replace,
}

impl RedactMode {
    /// Reads a mode's name.
    ///
    /// # Errors
    /// `invalid_request` for an unknown one; `name` is as the caller gave it, JSON.
    pub fn parse(name: &str) -> Result<RedactMode, Error> {
        match name {
            "\"off\"" => Ok(RedactMode::Off),
            "\"report\"" => Ok(RedactMode::Report),
            "\"replace\"" => Ok(RedactMode::Replace),
            _ => {
                let message =
                    format!("expected off, report, replace for \"redact\", but found {name} instead");
                Err(Error::new(Code::InvalidRequest, message))
            }
        }
    }
}

/// A store's one gate for outgoing text.
#[derive(Debug)]
pub struct OutgoingGate {
    redact: RedactMode,
    // Makes placeholders the store's own: without the key, nobody can test guesses against them.
    key: RefCell<Option<Rc<[u8]>>>,
    reported: RefCell<Vec<Secret>>,
    // The secrets of logs that were scanned: most logs grow, and are scanned on from there.
    #[cfg(feature = "interop")]
    scanned_logs: RefCell<BTreeMap<File, index_redaction::ScannedLog>>,
}

impl OutgoingGate {
    /// Makes a gate that has reported nothing yet.
    pub fn new(redact: RedactMode) -> Rc<OutgoingGate> {
        Rc::new(OutgoingGate {
            redact,
            key: RefCell::default(),
            reported: RefCell::default(),
            #[cfg(feature = "interop")]
            scanned_logs: RefCell::default(),
        })
    }

    /// The secrets found so far in outgoing text, replaced or not, each with the highest count in any one value.
    pub fn reported_secrets(&self) -> Vec<Secret> {
        self.reported.borrow().clone()
    }

    pub(super) fn report_secrets(&self, secrets: &[Secret]) {
        let mut reported = self.reported.borrow_mut();
        for secret in secrets {
            match reported.iter_mut().find(|one| one.placeholder == secret.placeholder) {
                Some(one) => one.count = one.count.max(secret.count),
                None => reported.push(secret.clone()),
            }
        }
    }

    // Loads the key; creates it when it is first needed.
    async fn load_key(&self, io: &Io) -> Result<Rc<[u8]>, Trouble> {
        if let Some(key) = self.key.borrow().clone() {
            return Ok(key);
        }
        let file = File::new(Root::Home, REDACTION_KEY);
        // Where it can be neither read nor written, placeholders are this process's own.
        let known = unless_bug(io.read_all(&file).await)?.flatten().filter(|key| key.len() == KEY_BYTES);
        let key = match known {
            Some(key) => key,
            None => {
                let made = io.stamp().entropy.to_vec();
                unless_bug(io.replace(&file, made.clone(), None).await)?;
                // Another process may have created one meanwhile.
                unless_bug(io.read_all(&file).await)?.flatten().unwrap_or(made)
            }
        };
        let key: Rc<[u8]> = key.into();
        self.key.replace(Some(key.clone()));
        Ok(key)
    }
}

/// An outgoing value after redaction.
#[derive(Debug, Default, Serialize)]
pub struct RedactedValue {
    /// JSON; `None` where it is unchanged.
    #[serde(skip)]
    pub value: Option<String>,
    /// The secrets found in it.
    pub secrets: Vec<Secret>,
    /// The changed texts, before and after.
    pub changed: Vec<(String, String)>,
}

impl RedactedValue {
    /// Writes `{"secrets","changed","value"}`, without `value` where it is unchanged.
    pub fn to_json(&self) -> String {
        let mut json = to_json(self);
        if let Some(value) = &self.value {
            json.pop();
            json.push_str(&format!(",\"value\":{value}}}"));
        }
        json
    }
}

/// How far a file was scanned, and its stat at that time.
#[derive(Clone, Copy, Debug)]
struct ReadProgress {
    end: u64,
    size: u64,
    modified_us: i64,
    file: Option<FileId>,
}

impl ReadProgress {
    fn is_unchanged(&self, now: &Stat) -> bool {
        self.size == now.size && self.modified_us == now.modified_us
    }

    // A log grows; a file that was written otherwise is another one.
    fn is_same_or_grown(&self, now: &Stat) -> bool {
        self.is_unchanged(now) || self.size < now.size && self.file == now.file
    }
}

/// Redacts what goes out of one session, knowing the secrets of its files. When off, it reads nothing.
#[derive(Debug)]
pub struct OutgoingRedactor {
    pub(super) gate: Rc<OutgoingGate>,
    secrets: RefCell<Vec<(String, String)>>,
    // For each secret, the offset of the line in which it was found first.
    line_offsets: RefCell<Vec<u64>>,
    seen_secrets: RefCell<BTreeSet<String>>,
    // Built from `secrets`; cleared when one is added.
    cached_known_secrets: RefCell<Option<Rc<KnownSecrets>>>,
    progress: RefCell<BTreeMap<String, ReadProgress>>,
}

impl OutgoingRedactor {
    /// Makes a redactor without a session, or for one that is not scanned yet.
    pub fn new(gate: &Rc<OutgoingGate>) -> Rc<OutgoingRedactor> {
        Rc::new(OutgoingRedactor {
            gate: gate.clone(),
            secrets: RefCell::default(),
            line_offsets: RefCell::default(),
            seen_secrets: RefCell::default(),
            cached_known_secrets: RefCell::default(),
            progress: RefCell::default(),
        })
    }

    /// Whether secrets are looked for.
    pub fn is_on(&self) -> bool {
        self.gate.redact != RedactMode::Off
    }

    /// Adds `"leaves":true` to a request whose result goes out, JSON: where secrets are looked for, whether the host
    /// says so or not.
    #[cfg(feature = "interop")]
    pub fn add_leaves_flag(&self, request: String) -> String {
        if !self.is_on() {
            return request;
        }
        match (Fields::parse(&request), request.trim_end().strip_suffix('}')) {
            (Ok(fields), Some(said)) => {
                let between = if fields.iter().next().is_none() { "" } else { "," };
                format!("{said}{between}\"leaves\":true}}")
            }
            _ => request,
        }
    }

    /// Loads what is needed before anything goes out: the key, and the secrets of the text that the title of this
    /// folder's session is made from.
    pub fn prepare(self: &Rc<OutgoingRedactor>, folder: Option<File>) -> Operation<'static, ()> {
        let redactor = self.clone();
        Operation::new(|io| async move {
            if redactor.is_on() {
                redactor.gate.load_key(&io).await?;
            }
            match folder {
                Some(folder) => redactor.scan_head(&io, &folder).await,
                None => Ok(()),
            }
        })
    }

    /// Redacts an outgoing value, JSON, that was made from this folder's files.
    pub fn redact_value(
        self: &Rc<OutgoingRedactor>,
        json: String,
        folder: Option<File>,
    ) -> Operation<'static, RedactedValue> {
        let redactor = self.clone();
        Operation::new(|io| async move {
            if let Some(folder) = folder {
                redactor.scan_folder(&io, &folder).await?;
            }
            let left = redactor.redact_json(&io, &json).await?;
            redactor.gate.report_secrets(&left.secrets);
            Ok(left)
        })
    }

    /// Collects the secrets of lines that were written just now.
    pub fn scan_lines(self: &Rc<OutgoingRedactor>, lines: Vec<u8>) -> Operation<'static, ()> {
        let redactor = self.clone();
        Operation::new(|io| async move { redactor.scan_bytes(&io, &lines, (0, true)).await })
    }

    // Redacts a value, JSON, knowing only the secrets of the text that the title of this folder's session is made
    // from.
    #[cfg(feature = "interop")]
    pub(super) async fn redact_with_head(
        &self,
        io: &Io,
        json: String,
        folder: Option<File>,
    ) -> Result<String, Trouble> {
        let own = OutgoingRedactor::new(&self.gate);
        if let Some(folder) = folder {
            own.scan_head(io, &folder).await?;
        }
        let left = own.redact_json(io, &json).await?;
        self.gate.report_secrets(&left.secrets);
        Ok(left.value.unwrap_or(json))
    }

    /// Collects the secrets of all files as they are now.
    pub(super) async fn scan_folder(&self, io: &Io, folder: &File) -> Result<(), Trouble> {
        if self.is_on() {
            for name in list_files(io, folder).await? {
                self.scan_file(io, folder, &name, u64::MAX).await?;
            }
        }
        Ok(())
    }

    // Collects the secrets of the text that a title is made from, and of the events.
    async fn scan_head(&self, io: &Io, folder: &File) -> Result<(), Trouble> {
        if self.is_on() {
            self.scan_file(io, folder, MESSAGES, TITLE_HEAD_BYTES).await?;
            self.scan_file(io, folder, EVENTS, u64::MAX).await?;
        }
        Ok(())
    }

    async fn scan_file(&self, io: &Io, folder: &File, name: &str, most: u64) -> Result<(), Trouble> {
        let file = folder.child(name);
        let Some(stat) = io.stat(&file).await?.filter(|stat| stat.kind == FileKind::File) else {
            return Ok(());
        };
        let is_log = is_log_name(name);
        let before = self.progress.borrow().get(name).copied();
        let is_same = before.is_some_and(|before| before.is_unchanged(&stat));
        let start =
            before.filter(|before| is_log && before.is_same_or_grown(&stat)).map_or(0, |before| before.end);
        if (is_same && !is_log) || start >= stat.size.min(most) {
            return Ok(());
        }
        let mut batches = LineBatches { file, offset: start, size: stat.size };
        let mut end = start;
        while let Some((bytes, from)) = batches.next(io).await? {
            self.scan_bytes(io, &bytes, (from, is_log)).await?;
            // An incomplete last line is read again.
            end = from + end_of_last_line(&bytes);
            if end >= most {
                break;
            }
        }
        let Stat { size, modified_us, file, .. } = stat;
        let read = ReadProgress { end, size, modified_us, file };
        self.progress.borrow_mut().insert(name.into(), read);
        Ok(())
    }

    async fn scan_bytes(&self, io: &Io, bytes: &[u8], (from, is_log): (u64, bool)) -> Result<(), Trouble> {
        if !self.is_on() {
            return Ok(());
        }
        let mut redaction = Redaction::for_stored_bytes(bytes, is_log);
        scan_texts(io, &mut redaction).await?;
        for found in redaction.stored_secrets() {
            if self.seen_secrets.borrow_mut().insert(found.secret.clone()) {
                self.secrets.borrow_mut().push((found.secret.clone(), found.rule.clone()));
                self.line_offsets.borrow_mut().push(from + found.start);
                self.cached_known_secrets.replace(None);
            }
        }
        Ok(())
    }

    /// Redacts a value with the secrets known by now, without reporting it.
    pub(super) async fn redact_json(&self, io: &Io, json: &str) -> Result<RedactedValue, Trouble> {
        if !self.is_on() {
            return Ok(RedactedValue::default());
        }
        let key = self.gate.load_key(io).await?;
        let mut redaction = Redaction::new(json, &key, self.known_secrets())?;
        scan_texts(io, &mut redaction).await?;
        let replaces = self.gate.redact == RedactMode::Replace;
        let value = if replaces { redaction.value() } else { None };
        let changed = if value.is_some() { redaction.changed_texts().to_vec() } else { Vec::new() };
        Ok(RedactedValue { value, secrets: redaction.secrets().to_vec(), changed })
    }

    fn known_secrets(&self) -> Rc<KnownSecrets> {
        let known = self.cached_known_secrets.borrow().clone();
        known.unwrap_or_else(|| {
            let known = Rc::new(KnownSecrets::new(self.secrets.borrow().clone()));
            self.cached_known_secrets.replace(Some(known.clone()));
            known
        })
    }
}

/// Finds the secrets in a folder's files and where they lie: each `{"file","start","end","code","message"}`, JSON.
pub(super) async fn find_stored_secrets(io: &Io, folder: &File) -> Result<Vec<String>, Trouble> {
    let mut problems: Vec<String> = Vec::new();
    for name in list_files(io, folder).await? {
        let file = folder.child(&name);
        let size = io.stat(&file).await?.map_or(0, |stat| stat.size);
        let mut batches = LineBatches { file, offset: 0, size };
        while let Some((bytes, from)) = batches.next(io).await? {
            let mut redaction = Redaction::for_stored_bytes(&bytes, is_log_name(&name));
            scan_texts(io, &mut redaction).await?;
            // Keyed by the start of the line that has them.
            let mut lines: BTreeMap<u64, (u64, Vec<&str>)> = BTreeMap::new();
            for found in redaction.stored_secrets() {
                let line = lines.entry(found.start).or_insert((found.end, Vec::new()));
                line.1.push(&found.rule);
            }
            let problem = |(start, (end, rules)): (u64, (u64, Vec<&str>))| {
                secret_problem(&name, from + start, from + end, rules)
            };
            problems.extend(lines.into_iter().map(problem));
        }
    }
    Ok(problems)
}

fn secret_problem(file: &str, start: u64, end: u64, mut rules: Vec<&str>) -> String {
    let count = rules.len();
    let mut met = BTreeSet::new();
    rules.retain(|rule| met.insert(*rule));
    let message = to_json(&format!("expected no secret, but found {count}: {}", rules.join(", ")));
    let file = to_json(file);
    format!("{{\"file\":{file},\"start\":{start},\"end\":{end},\"code\":\"secret\",\"message\":{message}}}")
}

async fn scan_texts(io: &Io, redaction: &mut Redaction) -> Result<(), Trouble> {
    loop {
        let texts = redaction.next_texts();
        if texts.is_empty() {
            return Ok(());
        }
        let found = io.find_secrets(texts).await?;
        redaction.take_spans(&found);
    }
}

/// Lists the files below a folder, by path from there.
async fn list_files(io: &Io, folder: &File) -> Result<Vec<String>, Trouble> {
    let (mut files, mut folders) = (Vec::new(), Vec::from([String::new()]));
    while let Some(name) = folders.pop() {
        let below = |entry: &str| if name.is_empty() { entry.into() } else { format!("{name}/{entry}") };
        let listed = if name.is_empty() { folder.clone() } else { folder.child(&name) };
        for entry in io.list(&listed).await?.unwrap_or_default() {
            match entry.kind {
                FileKind::File => files.push(below(&entry.name)),
                FileKind::Folder => folders.push(below(&entry.name)),
                FileKind::Other => {}
            }
        }
    }
    Ok(files)
}

fn is_log_name(name: &str) -> bool {
    name.ends_with(".jsonl")
}

fn end_of_last_line(bytes: &[u8]) -> u64 {
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at as u64 + 1)
}

/// Reads a file's whole lines, many at a time.
struct LineBatches {
    file: File,
    offset: u64,
    size: u64,
}

impl LineBatches {
    /// The next lines, and their offset.
    async fn next(&mut self, io: &Io) -> Result<Option<(Vec<u8>, u64)>, Trouble> {
        let mut wanted = BATCH_BYTES;
        while self.offset < self.size {
            let mut bytes =
                io.read_range(&self.file, self.offset, self.size.min(self.offset + wanted)).await?;
            let from = self.offset;
            let is_last = bytes.is_empty() || from + bytes.len() as u64 >= self.size;
            let end = if is_last { bytes.len() as u64 } else { end_of_last_line(&bytes) };
            if end == 0 && !is_last {
                wanted *= 2; // The line is longer than that.
                continue;
            }
            self.offset = if is_last { self.size } else { from + end };
            bytes.truncate(end as usize);
            return Ok(Some((bytes, from)));
        }
        Ok(None)
    }
}
