//! What operations need of files, by the standard library.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::host::failed;
use crate::host::protocol::{
    self, Answer, Content, Document, Entry, FileId, Kind, Listing, Need, Range, Root, Stat,
};

pub struct Files {
    pub home: PathBuf,
    pub project: PathBuf,
    /// The tool output that is saved, JSON.
    pub output: Vec<u8>,
    /// What was read of one for the caller.
    pub handed: Vec<u8>,
}

impl Files {
    /// Nothing where it is no file that is needed.
    pub fn answer(&mut self, need: Need) -> Option<Answer> {
        let answer = match need {
            Need::Read(range) => self.bytes(&range).map(|bytes| Answer::Content(bytes.map(content))),
            // Agents' files that are databases this host cannot read.
            Need::Document(asked) if !asked.is_first => Ok(Answer::Document(None)),
            Need::Document(asked) => {
                fs::read(&asked.path).map(|bytes| Answer::Document(Some(document(bytes))))
            }
            Need::Hash(range) => self.hash(&range),
            Need::Stat(file) => stat(&self.at(&file)).map(Answer::Stat),
            Need::Entries(listing) => self.entries(&listing).map(Answer::Entries),
            Need::Append(asked) => self.appended(&asked).map(Answer::End),
            Need::Replace(protocol::Replace { file, content, within })
            | Need::Keep(protocol::Replace { file, content, within }) => {
                self.replaced(&file, within.as_deref(), &[bytes_of(&content)], true).map(|()| Answer::Done)
            }
            Need::Given(end) => {
                let end = self.output.len().min(end as usize);
                Ok(Answer::Content(Some(vec![Content::Bytes(self.output[..end].into())])))
            }
            Need::Put(protocol::Put { file, content, at }) => {
                let (before, behind) = bytes_of(&content).split_at(at as usize);
                self.replaced(&file, None, &[before, &self.output, behind], false).map(|()| Answer::Done)
            }
            Need::Hand(range) => self.bytes(&range).map(|bytes| match bytes {
                Some(bytes) => {
                    self.handed = bytes;
                    Answer::End(self.handed.len() as u64)
                }
                None => Answer::Content(None),
            }),
            Need::Remove(file) => removed(&self.at(&file)).map(|()| Answer::Done),
            Need::Move(asked) => moved(&self.at(&asked.from), &self.at(&asked.to)).map(|()| Answer::Done),
            Need::Copy(asked) => {
                copied(&self.at(&asked.from), &self.at(&asked.to), asked.missing).map(Answer::End)
            }
            _ => return None,
        };
        Some(answer.unwrap_or_else(|error| failed(code(error.kind()), error)))
    }

    fn at(&self, file: &protocol::File) -> PathBuf {
        let root = match &file.root {
            Root::Home => &self.home,
            Root::Project => &self.project,
            Root::Workspace(folder) => Path::new(folder),
            Root::Outside => Path::new("/"),
        };
        // An empty path would leave a slash at the end.
        if file.path.is_empty() { root.into() } else { root.join(&file.path) }
    }

    fn bytes(&self, range: &Range) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = unless_absent(File::open(self.at(&range.file)))? else { return Ok(None) };
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = Vec::new();
        file.take(range.end.unwrap_or(u64::MAX).saturating_sub(range.start)).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn hash(&self, range: &Range) -> io::Result<Answer> {
        let bytes = self.bytes(range)?.unwrap_or_default();
        let is_short = range.end.is_some_and(|end| (bytes.len() as u64) < end - range.start);
        let digits = || Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(if is_short { Answer::Done } else { Answer::Text(digits()) })
    }

    fn entries(&self, asked: &Listing) -> io::Result<Option<Vec<Entry>>> {
        let Some(found) = unless_absent(fs::read_dir(self.at(&asked.folder)))? else { return Ok(None) };
        let mut found = found.collect::<io::Result<Vec<_>>>()?;
        found.sort_by_key(fs::DirEntry::file_name);
        let entry = |found: fs::DirEntry| {
            let kind = kind_of(found.file_type()?);
            let look = || asked.names.iter().map(|name| stat(&found.path().join(name)));
            let files = if kind == Kind::Folder { look().collect::<io::Result<_>>().ok() } else { None };
            Ok(Entry { name: found.file_name().to_string_lossy().into(), kind, files })
        };
        found.into_iter().map(entry).collect::<io::Result<_>>().map(Some)
    }

    fn appended(&self, asked: &protocol::Append) -> io::Result<u64> {
        let path = self.in_folder(&asked.file, asked.within.as_deref())?;
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(bytes_of(&asked.content))?;
        if asked.durable {
            file.sync_all()?;
        }
        Ok(file.metadata()?.len())
    }

    fn replaced(
        &self,
        file: &protocol::File,
        within: Option<&str>,
        pieces: &[&[u8]],
        durable: bool,
    ) -> io::Result<()> {
        let path = self.in_folder(file, within)?;
        let beside = path.with_file_name(format!(".leftoff.{:016x}.tmp", getrandom::u64()?));
        let mut file = File::create_new(&beside)?;
        for piece in pieces {
            file.write_all(piece)?;
        }
        if durable {
            file.sync_all()?;
        }
        fs::rename(beside, path)
    }

    /// Where a file is, in a folder that is made unless it lies in one that has to be there.
    fn in_folder(&self, file: &protocol::File, within: Option<&str>) -> io::Result<PathBuf> {
        if let Some(within) = within {
            fs::read_dir(self.at(&protocol::File { root: file.root.clone(), path: within.into() }))?;
        }
        let path = self.at(file);
        make_parent(&path)?;
        Ok(path)
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn removed(path: &Path) -> io::Result<()> {
    let Some(found) = unless_absent(fs::symlink_metadata(path))? else { return Ok(()) };
    if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn moved(from: &Path, to: &Path) -> io::Result<()> {
    if stat(to)?.is_some() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    make_parent(to)?;
    fs::rename(from, to)
}

fn copied(from: &Path, to: &Path, only_missing: bool) -> io::Result<u64> {
    let kind = kind_of(fs::symlink_metadata(from)?.file_type());
    if kind == Kind::Folder {
        fs::create_dir_all(to)?;
        let within = |entry: fs::DirEntry| copied(&entry.path(), &to.join(entry.file_name()), only_missing);
        return fs::read_dir(from)?.map(|entry| entry.and_then(within)).sum();
    }
    if kind == Kind::Other || only_missing && to.exists() {
        return Ok(0);
    }
    make_parent(to)?;
    let bytes = fs::copy(from, to)?;
    File::open(to)?.sync_all()?;
    Ok(bytes)
}

fn stat(path: &Path) -> io::Result<Option<Stat>> {
    let found = unless_absent(fs::symlink_metadata(path))?;
    Ok(found.map(|found: Metadata| {
        let changed_us = found.ctime() * 1_000_000 + found.ctime_nsec() / 1000;
        let modified_us = found.mtime() * 1_000_000 + found.mtime_nsec() / 1000;
        let file = Some(FileId { number: found.ino(), made_us: changed_us });
        Stat { kind: kind_of(found.file_type()), size: found.len(), modified_us, changed_us, file }
    }))
}

fn kind_of(found: fs::FileType) -> Kind {
    match found {
        _ if found.is_file() => Kind::File,
        _ if found.is_dir() => Kind::Folder,
        _ => Kind::Other,
    }
}

fn content(bytes: Vec<u8>) -> Vec<Content> {
    vec![String::from_utf8(bytes).map_or_else(|error| Content::Bytes(error.into_bytes()), Content::Text)]
}

fn document(bytes: Vec<u8>) -> Document {
    Document { pieces: content(bytes), is_alone: true, failure: None }
}

pub fn bytes_of(content: &Content) -> &[u8] {
    match content {
        Content::Text(text) => text.as_bytes(),
        Content::Bytes(bytes) => bytes,
    }
}

fn unless_absent<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        found => found.map(Some),
    }
}

fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "not_found",
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => "already_exists",
        ErrorKind::PermissionDenied => "permission_denied",
        ErrorKind::StorageFull => "disk_full",
        ErrorKind::IsADirectory => "not_a_file",
        ErrorKind::NotADirectory => "not_a_folder",
        _ => "storage_failed",
    }
}
