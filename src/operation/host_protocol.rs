//! The requests that operations send to their host, and its responses: plain values, the same for every host.

use alloc::borrow::Cow;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::layout::File;
use crate::session::lease::{Lease, Process};
use crate::tokens::Vocabulary;

/// A request of an operation to its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HostRequest {
    /// Reads the bytes from `start` up to `end`, perhaps fewer; without `end`, all to the end of the file. Response:
    /// `Bytes`.
    Read {
        /// The file to read.
        file: File,
        /// Offset of the first byte.
        start: u64,
        /// Offset after the last byte.
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<u64>,
    },
    /// Stats a file; links are not followed. Response: `Stat`.
    Stat {
        /// The path to stat.
        file: File,
    },
    /// Lists a folder's entries by name. Response: `Entries`.
    List {
        /// The folder to list.
        folder: File,
        /// File names to stat in each folder inside it: for thousands of folders that costs little more than to list
        /// them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        names: Vec<&'static str>,
    },
    /// Appends bytes to a file, all in one piece; creates it where it is missing. Response: `End`, or `Failed` with
    /// `written`.
    Append {
        /// The file to append to.
        file: File,
        /// The bytes; none where the disk is only to confirm what the file already has.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// Respond only once the disk has confirmed all that is in the file.
        durable: bool,
        /// A folder on the way that is not created where it is missing; nor are its parents.
        #[serde(skip_serializing_if = "Option::is_none")]
        within: Option<String>,
    },
    /// Replaces a file's bytes, whole or not at all, durably. Response: `Done`.
    Replace {
        /// The file to replace.
        file: File,
        /// Its new bytes.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// As in `Append`.
        #[serde(skip_serializing_if = "Option::is_none")]
        within: Option<String>,
    },
    /// Replaces a file that can be derived again: nobody waits until the disk has it, and a pending write of the same
    /// file need not happen any more. Response: `Done`.
    #[serde(rename = "keep")]
    ReplaceLazily {
        /// The file to replace.
        file: File,
        /// Its new bytes.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// Removes a file, if it exists. Response: `Done`.
    Remove {
        /// The file to remove.
        file: File,
    },
    /// Renames a file or a folder below the same root to a path where nothing exists yet: of two processes that try,
    /// one gets it. Response: `Done`, or `Failed` with `already_exists`.
    Move {
        /// The old path.
        from: File,
        /// The new path.
        to: File,
    },
    /// Copies a file, or a folder with all in it, also below another root; nothing but files and folders. Each file
    /// appears whole, or not at all, and is durable then. Response: `End`, the number of bytes copied.
    Copy {
        /// The source.
        from: File,
        /// The target.
        to: File,
        /// Existing files stay as they are.
        missing: bool,
    },
    /// Creates a link to a folder, for people. A host without links creates none. Response: `Done`.
    Link {
        /// The path of the link.
        file: File,
        /// The folder it leads to, as its path is shown to people.
        target: String,
    },
    /// Runs git in a folder: the git on the PATH, never one that lies in the folder. When it takes too long it is
    /// asked to end, and killed a moment later; a process that one of its hooks leaves running is not waited for.
    /// Response: `GitRun`; `None` where there is no git, or no folder.
    Git {
        /// The folder, as its path is shown to people.
        folder: String,
        /// Git's arguments.
        arguments: Vec<String>,
        /// Environment variables set for it, besides this process's own.
        variables: &'static [(&'static str, &'static str)],
        /// Environment variables removed for it.
        without: &'static [&'static str],
        /// Its standard input.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// The time limit in milliseconds.
        limit_ms: u32,
    },
    /// Hashes a range of a file with SHA-256. Response: `Text`, hex digits; `Done` where the file is shorter.
    Hash {
        /// The file to hash.
        file: File,
        /// Offset of the first byte.
        start: u64,
        /// Offset after the last byte.
        end: u64,
    },
    /// Waits. Response: `Done`.
    Wait {
        /// Milliseconds to wait.
        ms: u32,
    },
    /// Waits until the session is this operation's alone, among the operations of this process, until `EndTurn` or the
    /// operation's end. Response: `Done`.
    #[serde(rename = "turn")]
    TakeTurn {
        /// For an operation of a store, the session by its folder as shown to people, open or not; or the project by
        /// its folder. Whoever waits for the turn of a folder gets it when the one before has left, even if the
        /// session was opened meanwhile.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    /// Ends the turn; the other requests of this step do not wait for it. Response: `Done`.
    #[serde(rename = "leave")]
    EndTurn {
        /// As in `TakeTurn`.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    /// Identifies this process. Response: `Process`.
    Process,
    /// Asks whether these processes are certainly gone; for one on another host nobody here can tell. Response:
    /// `Flags`.
    #[serde(rename = "gone")]
    CheckProcesses {
        /// The processes.
        processes: Vec<Lease>,
    },
    /// Loads the vocabulary of an encoding. Response: `Vocabulary`.
    Vocabulary {
        /// `o200k_base` or `cl100k_base`.
        encoding: String,
    },
    /// Counts the tokens of texts with the caller's own counter. Response: `Text`, a JSON array of numbers.
    Counts {
        /// The counter's name.
        encoding: String,
        /// The texts.
        texts: Vec<String>,
    },
    /// Embeds texts with the caller's model: the nearer in meaning two texts are, the smaller the angle between their
    /// vectors. The first text is the question. Response: `Bytes`, for each vector its length and its numbers, all of
    /// 32 bits, little-endian.
    Vectors {
        /// The texts.
        texts: Vec<String>,
    },
    /// Has a model write a summary. Response: `Text`, `{"content","model"}` as JSON.
    Summary {
        /// The system prompt.
        system: String,
        /// The user message.
        user: String,
        /// Its token limit.
        max_tokens: u32,
        /// Id of the first message that it is to stand for.
        start_message_id: String,
        /// Id of the last one.
        end_message_id: String,
        /// How many messages it stands for.
        message_count: u64,
        /// The summary that it extends.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous: Option<String>,
    },
    /// Delivers a page, JSON or a text; the operation goes on once the reader is through with it. A reader that wants
    /// no more drops the operation. Response: `Done`.
    Page {
        /// The page's bytes.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// Finds the secrets in texts by the host's rules, besides the core's. Response: `Text`, the byte ranges for each
    /// text: `[[{"start","end","rule"}]]`; an empty array where none was found in any.
    Secrets {
        /// The texts; serialized as their lengths, since their bytes follow the requests, joined by
        /// [`TEXT_SEPARATOR`].
        #[serde(serialize_with = "lengths")]
        texts: Vec<String>,
    },
    /// Redacts a value of the session that goes out, JSON. Response: `Text`, as
    /// [`RedactedValue::to_json`](super::RedactedValue::to_json) writes it.
    #[serde(rename = "out")]
    Redact {
        /// The value.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// Reads the next document of an agent's file: the file itself, decompressed, or a session of a database.
    /// Response: `Document`.
    #[cfg(feature = "interop")]
    Document {
        /// The file, as its path is shown to people.
        path: String,
        /// Which sessions of a database to read, JSON for the host.
        only: String,
        /// Start with the file's first document.
        is_first: bool,
    },
    /// Asks which command began a conversation, and which tools its client has besides those that its transcript
    /// names. Response: `Text`, `{"name","hash","tools"}`, each optional, or null.
    #[cfg(feature = "interop")]
    Command {
        /// The messages, a JSON array.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// Resolves the links of a folder's path, as far as it exists. Response: `Text`, the path itself where nobody can
    /// tell.
    RealPath {
        /// The path.
        path: String,
    },
    /// Converts a path to Unicode's normalization form C. Response: `Text`.
    #[serde(rename = "normal")]
    NormalizePath {
        /// The path.
        path: String,
    },
    /// Converts a text to Unicode's compatibility decomposition, NFKD, without marks: the core has no tables for it.
    /// Response: `Text`.
    #[serde(rename = "unmarked")]
    RemoveMarks {
        /// The text.
        text: String,
    },
    /// Reads the first bytes of what the caller has saved. Response: `Bytes`.
    #[serde(rename = "given")]
    ReadSaved {
        /// How many bytes.
        end: u64,
    },
    /// Writes what the caller has saved into a file, with bytes around it: whole, or not at all; nobody waits until
    /// the disk has it. Response: `Done`.
    #[serde(rename = "put")]
    WriteSaved {
        /// The file to write.
        file: File,
        /// The bytes around it.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// How many of these bytes come before it.
        at: u64,
    },
    /// Hands a range of a file to the caller without passing it through the core. Response: `End`, its length;
    /// `Bytes(None)` where the file does not exist.
    #[serde(rename = "hand")]
    HandRange {
        /// The file.
        file: File,
        /// Offset of the first byte.
        start: u64,
        /// Offset after the last byte.
        end: u64,
    },
    /// Has a strategy of the caller choose messages of the session. Response: `Text`, `{"messages","includedCount",
    /// "summarizedCount"}` as JSON.
    Strategy {
        /// The strategy's name.
        name: String,
        /// The tokens it may use.
        budget: u32,
        /// The encoding that counts them.
        encoding: String,
    },
}

/// Separator between texts that are searched for secrets as one: no secret spans it.
pub const TEXT_SEPARATOR: &str = "\n\0\n";

impl HostRequest {
    /// The bytes that follow the requests, for a request that carries bytes.
    pub fn payload(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            HostRequest::Append { bytes, .. }
            | HostRequest::Replace { bytes, .. }
            | HostRequest::ReplaceLazily { bytes, .. }
            | HostRequest::WriteSaved { bytes, .. }
            | HostRequest::Page { bytes }
            | HostRequest::Git { bytes, .. }
            | HostRequest::Redact { bytes } => Some(Cow::Borrowed(bytes)),
            #[cfg(feature = "interop")]
            HostRequest::Command { bytes } => Some(Cow::Borrowed(bytes)),
            HostRequest::Secrets { texts } => Some(Cow::Owned(texts.join(TEXT_SEPARATOR).into_bytes())),
            _ => None,
        }
    }
}

// Writes the length in place of the bytes, which follow the requests.
fn length<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(bytes.len() as u64)
}

fn lengths<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(String::len))
}

/// A host's response to a request.
#[derive(Clone, Debug)]
pub enum HostResponse {
    /// The request was carried out.
    Done,
    /// Bytes; `None` where the file does not exist.
    Bytes(Option<Vec<u8>>),
    /// A file's stat; `None` where nothing exists.
    Stat(Option<Stat>),
    /// A folder's entries, sorted by name; `None` where the folder does not exist.
    Entries(Option<Vec<FolderEntry>>),
    /// The file's length right after an append; and its stat, where the host read it at the same time.
    End(u64, Option<Stat>),
    /// This process.
    Process(Process),
    /// For each thing asked about, whether it holds.
    Flags(Vec<bool>),
    /// A text.
    Text(String),
    /// A vocabulary.
    Vocabulary(Rc<Vocabulary>),
    /// The result of git; `None` where it cannot be run.
    GitRun(Option<GitRun>),
    /// The next document of an agent's file; `None` where there are no more.
    #[cfg(feature = "interop")]
    Document(Option<AgentDocument>),
    /// The request failed.
    Failed(Failure),
}

/// A document of an agent's file.
#[cfg(feature = "interop")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDocument {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// It is the file's only document.
    pub is_alone: bool,
    /// Why this document, one of many, cannot be read.
    pub failure: Option<Failure>,
}

/// The result of a run of git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitRun {
    /// Its exit status; `None` where it was killed.
    pub status: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, or the end of that where it is long, trimmed.
    pub stderr_text: String,
    /// It exceeded its time limit.
    pub has_timed_out: bool,
}

/// A file's stat. Times are microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The kind of file.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its bytes changed last; whoever changes the file may set this.
    pub modified_us: i64,
    /// When anything of it changed last.
    pub changed_us: i64,
    /// Its identity, where the system tells one.
    pub file: Option<FileId>,
}

/// A file's identity, which tells it from another that has taken its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// Its inode number, which a later file may get again.
    pub number: u64,
    /// When it was created; where the system does not know that, when it changed last.
    pub made_us: i64,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: FileKind,
    /// For a folder, the stats of the named files in it, in the order of the names, each `None` where the file does
    /// not exist; `None` altogether where the folder may not be read.
    pub files: Option<Vec<Option<Stat>>>,
}

/// The kind of what lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link or a device.
    Other,
}

impl FileKind {
    /// Reads the name that storages give the kind.
    pub fn from_name(name: &str) -> FileKind {
        match name {
            "file" => FileKind::File,
            "folder" => FileKind::Folder,
            _ => FileKind::Other,
        }
    }
}

/// Why a request failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The error code: a storage's, or the host's own.
    pub code: String,
    /// The message, a sentence.
    pub message: String,
    /// For an append, how many bytes got into the file, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// All bytes were written, but the disk did not confirm them.
    #[serde(skip)]
    pub is_unconfirmed: bool,
    /// Number of the host's own error: the host throws that very one, with its cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<u32>,
}
