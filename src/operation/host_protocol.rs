//! What operations ask of their host, and what it answers: values, the same for every host.

use alloc::borrow::Cow;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::layout::File;
use crate::session::lease::{Lease, Process};
use crate::tokens::Vocabulary;

/// What an operation wants of its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HostRequest {
    /// The bytes from `start` up to `end`, where fewer will do; without `end`, all to the end of the file. Answer: `Bytes`.
    Read {
        /// Of which file.
        file: File,
        /// The first byte.
        start: u64,
        /// Behind the last byte.
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<u64>,
    },
    /// What a file is like; links are not followed. Answer: `Stat`.
    Stat {
        /// Which.
        file: File,
    },
    /// What is in a folder, by name. Answer: `Entries`.
    List {
        /// Which.
        folder: File,
        /// Of each folder in it, the files of these names are looked at, too: of thousands that costs little more than to
        /// list them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        names: Vec<&'static str>,
    },
    /// Adds bytes at the end of a file, all in one piece; makes it where it is missing. Answer: `End`, or `Failed` with
    /// `written`.
    Append {
        /// To which file.
        file: File,
        /// What; none, where the disk is to confirm what is there.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// Answered once the disk has confirmed all that is in the file.
        durable: bool,
        /// A folder on the way that is not made where it is missing; nor is what it lies in.
        #[serde(skip_serializing_if = "Option::is_none")]
        within: Option<String>,
    },
    /// Puts bytes in the place of a file, whole or not at all, durably. Answer: `Done`.
    Replace {
        /// Which file.
        file: File,
        /// By what.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// As in `Append`.
        #[serde(skip_serializing_if = "Option::is_none")]
        within: Option<String>,
    },
    /// The same for a file that can do without: nobody waits until the disk has it, and what was to come there before need not come
    /// any more. Answer: `Done`.
    Keep {
        /// Which file.
        file: File,
        /// By what.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// Takes a file away, if it is there. Answer: `Done`.
    Remove {
        /// Which.
        file: File,
    },
    /// Gives a file or a folder another path below the same root, where nothing is yet: by that, one of two processes takes
    /// it. Answer: `Done`, or `Failed` with `already_exists`.
    Move {
        /// What.
        from: File,
        /// What it is to be.
        to: File,
    },
    /// Copies a file, or a folder with all in it, also below another root; nothing but files and folders. Each file is in its
    /// place whole, or not at all, and durable then. Answer: `End`, how many bytes that were.
    Copy {
        /// What.
        from: File,
        /// Where to.
        to: File,
        /// Files that are there stay as they are.
        missing: bool,
    },
    /// A link to a folder, for people. A host without links makes none. Answer: `Done`.
    Link {
        /// What is to be the link.
        file: File,
        /// The folder, as people call it.
        target: String,
    },
    /// Runs git in a folder: the one on the PATH, never one that lies in the folder. Where it takes too long it is told to end, and a
    /// moment later made to; what a hook of its leaves running is not waited for. Answer: `Ran`; nothing where there is no git, or no folder.
    Git {
        /// The folder, as people call it.
        folder: String,
        /// What it is told.
        arguments: Vec<String>,
        /// What is set for it, beside what is set for this process.
        variables: &'static [(&'static str, &'static str)],
        /// What is not set for it.
        without: &'static [&'static str],
        /// What it reads.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// How long it may take.
        limit_ms: u32,
    },
    /// The SHA-256 of a part of a file, where it is as long. Answer: `Text`, hex digits; or `Done` where it is shorter.
    Hash {
        /// Of which file.
        file: File,
        /// The first byte.
        start: u64,
        /// Behind the last byte.
        end: u64,
    },
    /// Some time passes. Answer: `Done`.
    Wait {
        /// How long.
        ms: u32,
    },
    /// The session is this operation's alone, among those of this process, until `Leave` or its end. Answer: `Done`.
    Turn {
        /// Which, by its folder as people call it, where the operation is a store's: open or not; or the project, by its folder.
        /// Whoever waits for the turn of a folder has it when the one before has left, also where the session was opened meanwhile.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    /// Others may have their turn; the other needs of this step do not wait for that. Answer: `Done`.
    Leave {
        /// As in `Turn`.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    /// Who this process is. Answer: `Process`.
    Process,
    /// Whether these processes are certainly gone; of one on another host nobody here can tell. Answer: `Flags`.
    Gone {
        /// Which.
        processes: Vec<Lease>,
    },
    /// The vocabulary of an encoding. Answer: `Vocabulary`.
    Vocabulary {
        /// `o200k_base` or `cl100k_base`.
        encoding: String,
    },
    /// How many tokens texts have by the caller's own counter. Answer: `Text`, a JSON array of numbers.
    Counts {
        /// Its name.
        encoding: String,
        /// The texts.
        texts: Vec<String>,
    },
    /// A vector of each text, of the caller's: the nearer in meaning two texts are, the smaller the angle between theirs. The first
    /// text is what is asked. Answer: `Bytes`, of each how many numbers it has, and these, all of 32 bits, little-endian.
    Vectors {
        /// The texts.
        texts: Vec<String>,
    },
    /// A summary that a model writes. Answer: `Text`, `{"content","model"}` as JSON.
    Summary {
        /// What the system says.
        system: String,
        /// What the user says.
        user: String,
        /// How long it may be.
        max_tokens: u32,
        /// The first message that it is to stand for.
        start_message_id: String,
        /// The last one.
        end_message_id: String,
        /// How many they are.
        message_count: u64,
        /// The summary that it extends.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous: Option<String>,
    },
    /// A page of what is read, JSON or a text: whoever reads has no more to do with it, and goes on. Who wants no more drops
    /// the operation. Answer: `Done`.
    Page {
        /// What is in it.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// The secrets in some texts that the host has rules for, beside the core's. Answer: `Text`, what was found in each of them,
    /// in bytes: `[[{"start","end","rule"}]]`; an empty array where nothing was found in any.
    Secrets {
        /// How long each is; they lie behind the needs, with [`BETWEEN`] them.
        #[serde(serialize_with = "lengths")]
        texts: Vec<String>,
    },
    /// What leaves of the session, JSON, as it may. Answer: `Text`, as [`RedactedValue::to_json`](super::RedactedValue::to_json) writes it.
    Out {
        /// The value.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// The next document of an agent's file: the file itself, unpacked, or a session of a database. Answer:
    /// `Document`.
    #[cfg(feature = "interop")]
    Document {
        /// The file, as people call it.
        path: String,
        /// Which sessions of a database, as the host reads it: JSON.
        only: String,
        /// The file is begun.
        is_first: bool,
    },
    /// Which command began a conversation, of which this is said: a JSON array of messages; and which tools its client has beside
    /// those that its record names. Answer: `Text`, `{"name","hash","tools"}`, each optional, or null.
    #[cfg(feature = "interop")]
    Command {
        /// The messages.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
    },
    /// A folder's path without links, as far as it is there. Answer: `Text`, the path itself where nobody can tell.
    RealPath {
        /// The path.
        path: String,
    },
    /// A path in Unicode's normalization form C. Answer: `Text`.
    Normal {
        /// The path.
        path: String,
    },
    /// A text in Unicode's compatibility decomposition, NFKD, without its marks: the core has no tables for it. Answer: `Text`.
    Unmarked {
        /// The text.
        text: String,
    },
    /// The first bytes of what the caller has saved. Answer: `Bytes`.
    Given {
        /// How many.
        end: u64,
    },
    /// Puts what the caller has saved into a file, between bytes: whole, or not at all; nobody waits until the disk has it. Answer:
    /// `Done`.
    Put {
        /// Which file.
        file: File,
        /// What stands around it.
        #[serde(serialize_with = "length")]
        bytes: Vec<u8>,
        /// Behind how many of these bytes it stands.
        at: u64,
    },
    /// Bytes of a file for the caller alone: the host hands them over. Answer: `End`, how many they are; `Bytes` of nothing where no
    /// file is.
    Hand {
        /// Of which file.
        file: File,
        /// The first byte.
        start: u64,
        /// Behind the last byte.
        end: u64,
    },
    /// What a strategy of the caller's makes of the session. Answer: `Text`, `{"messages","includedCount",
    /// "summarizedCount"}` as JSON.
    Strategy {
        /// Its name.
        name: String,
        /// How many tokens it may use.
        budget: u32,
        /// By whom they are counted.
        encoding: String,
    },
}

/// Between two texts that are looked at as one: no secret goes over it.
pub const BETWEEN: &str = "\n\0\n";

impl HostRequest {
    /// The bytes that lie behind the needs, where it is about bytes.
    pub fn payload(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            HostRequest::Append { bytes, .. }
            | HostRequest::Replace { bytes, .. }
            | HostRequest::Keep { bytes, .. }
            | HostRequest::Put { bytes, .. }
            | HostRequest::Page { bytes }
            | HostRequest::Git { bytes, .. }
            | HostRequest::Out { bytes } => Some(Cow::Borrowed(bytes)),
            #[cfg(feature = "interop")]
            HostRequest::Command { bytes } => Some(Cow::Borrowed(bytes)),
            HostRequest::Secrets { texts } => Some(Cow::Owned(texts.join(BETWEEN).into_bytes())),
            _ => None,
        }
    }
}

// They lie behind the needs.
fn length<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(bytes.len() as u64)
}

fn lengths<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(String::len))
}

/// What a host says to a need.
#[derive(Clone, Debug)]
pub enum HostResponse {
    /// It is done.
    Done,
    /// Bytes; nothing where no file is.
    Bytes(Option<Vec<u8>>),
    /// What a file is like; nothing where nothing is.
    Stat(Option<Stat>),
    /// What is in a folder, sorted by name; nothing where no folder is.
    Entries(Option<Vec<FolderEntry>>),
    /// How long the file is right after an append; and what it was like then, where the host has looked at it in the same breath.
    End(u64, Option<Stat>),
    /// Who this process is.
    Process(Process),
    /// Whether each of what was asked about is so.
    Flags(Vec<bool>),
    /// A text.
    Text(String),
    /// A vocabulary.
    Vocabulary(Rc<Vocabulary>),
    /// What git said; nothing where it cannot be run.
    Ran(Option<GitRun>),
    /// What an agent's file holds; nothing where there is no more.
    #[cfg(feature = "interop")]
    Document(Option<AgentDocument>),
    /// It could not be done.
    Failed(Failure),
}

/// A document of an agent's file.
#[cfg(feature = "interop")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDocument {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The file has no other one.
    pub is_alone: bool,
    /// Why this one of many cannot be read.
    pub failure: Option<Failure>,
}

/// What git said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitRun {
    /// By what it ended; nothing where it was made to.
    pub status: Option<i32>,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it printed for people, or the end of that where it is long, without blanks around it.
    pub stderr_text: String,
    /// It took too long.
    pub has_timed_out: bool,
}

/// What a file is like. Times are microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// How many bytes a file has.
    pub size: u64,
    /// When its bytes were changed last; whoever changes it may set that.
    pub modified_us: i64,
    /// When anything of it was changed last.
    pub changed_us: i64,
    /// Which file it is, where the system can tell.
    pub file: Option<FileId>,
}

/// What tells a file from one that has come into its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// Its number, which a later file may get again.
    pub number: u64,
    /// When it was made; where the system does not know that, when it was changed last.
    pub made_us: i64,
}

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Of a folder, what the files are like that were to be looked at, in the order of their names, each nothing where
    /// there is none; nothing at all where it may not be looked into.
    pub files: Option<Vec<Option<Stat>>>,
}

/// What lies at a path.
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
    /// By the name that storages have for it.
    pub fn from_name(name: &str) -> FileKind {
        match name {
            "file" => FileKind::File,
            "folder" => FileKind::Folder,
            _ => FileKind::Other,
        }
    }
}

/// Why a host could not do it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The stable word: one of a storage's, or of the host's own.
    pub code: String,
    /// A sentence.
    pub message: String,
    /// Of an append, how many bytes got into the file, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// All bytes got in, and the disk did not confirm them.
    #[serde(skip)]
    pub is_unconfirmed: bool,
    /// Which of the host's own errors it is: the host tells that very one, with its cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<u32>,
}
