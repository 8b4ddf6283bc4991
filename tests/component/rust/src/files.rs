//! What operations need of files, by the standard library.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::host::failure;
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
            Need::Read(range) => self.read_range(&range).map(|bytes| Answer::Content(bytes.map(to_content))),
            // Agents' files that are databases this host cannot read.
            Need::Document(reading) if !reading.is_first => Ok(Answer::Document(None)),
            Need::Document(reading) => {
                fs::read(&reading.path).map(|bytes| Answer::Document(Some(to_document(bytes))))
            }
            Need::Hash(range) => self.hash_range(&range),
            Need::Stat(file) => stat(&self.path_of(&file)).map(Answer::Stat),
            Need::Entries(listing) => self.list_entries(&listing).map(Answer::Entries),
            Need::Append(append) => self.append(&append).map(Answer::End),
            Need::Replace(protocol::Replace { file, content, within })
            | Need::Keep(protocol::Replace { file, content, within }) => {
                self.replace(&file, within.as_deref(), &[bytes_of(&content)], true).map(|()| Answer::Done)
            }
            Need::Given(end) => {
                let end = self.output.len().min(end as usize);
                Ok(Answer::Content(Some(vec![Content::Bytes(self.output[..end].into())])))
            }
            Need::Put(protocol::Put { file, content, at }) => {
                let (before, behind) = bytes_of(&content).split_at(at as usize);
                self.replace(&file, None, &[before, &self.output, behind], false).map(|()| Answer::Done)
            }
            Need::Hand(range) => self.read_range(&range).map(|bytes| match bytes {
                Some(bytes) => {
                    self.handed = bytes;
                    Answer::End(self.handed.len() as u64)
                }
                None => Answer::Content(None),
            }),
            Need::Remove(file) => remove_path(&self.path_of(&file)).map(|()| Answer::Done),
            Need::Move(paths) => {
                move_path(&self.path_of(&paths.from), &self.path_of(&paths.to)).map(|()| Answer::Done)
            }
            Need::Copy(paths) => {
                copy_tree(&self.path_of(&paths.from), &self.path_of(&paths.to), paths.missing)
                    .map(Answer::End)
            }
            _ => return None,
        };
        Some(answer.unwrap_or_else(|error| failure(error_code(error.kind()), error)))
    }

    fn path_of(&self, file: &protocol::File) -> PathBuf {
        let root = match &file.root {
            Root::Home => &self.home,
            Root::Project => &self.project,
            Root::Workspace(folder) => Path::new(folder),
            Root::Outside => Path::new("/"),
        };
        // An empty path would leave a slash at the end.
        if file.path.is_empty() { root.into() } else { root.join(&file.path) }
    }

    fn read_range(&self, range: &Range) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = unless_absent(File::open(self.path_of(&range.file)))? else { return Ok(None) };
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = Vec::new();
        file.take(range.end.unwrap_or(u64::MAX).saturating_sub(range.start)).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn hash_range(&self, range: &Range) -> io::Result<Answer> {
        let bytes = self.read_range(range)?.unwrap_or_default();
        let is_short = range.end.is_some_and(|end| (bytes.len() as u64) < end - range.start);
        let digits = || Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(if is_short { Answer::Done } else { Answer::Text(digits()) })
    }

    fn list_entries(&self, listing: &Listing) -> io::Result<Option<Vec<Entry>>> {
        let Some(found) = unless_absent(fs::read_dir(self.path_of(&listing.folder)))? else {
            return Ok(None);
        };
        let mut found = found.collect::<io::Result<Vec<_>>>()?;
        found.sort_by_key(fs::DirEntry::file_name);
        let entry = |found: fs::DirEntry| {
            let kind = kind_of(found.file_type()?);
            let look = || listing.names.iter().map(|name| stat(&found.path().join(name)));
            let files = if kind == Kind::Folder { look().collect::<io::Result<_>>().ok() } else { None };
            Ok(Entry { name: found.file_name().to_string_lossy().into(), kind, files })
        };
        found.into_iter().map(entry).collect::<io::Result<_>>().map(Some)
    }

    fn append(&self, request: &protocol::Append) -> io::Result<u64> {
        let path = self.path_in_folder(&request.file, request.within.as_deref())?;
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(bytes_of(&request.content))?;
        if request.durable {
            file.sync_all()?;
        }
        Ok(file.metadata()?.len())
    }

    fn replace(
        &self,
        file: &protocol::File,
        within: Option<&str>,
        pieces: &[&[u8]],
        durable: bool,
    ) -> io::Result<()> {
        let path = self.path_in_folder(file, within)?;
        let temporary = path.with_file_name(format!(".leftoff.{:016x}.tmp", getrandom::u64()?));
        let mut file = File::create_new(&temporary)?;
        for piece in pieces {
            file.write_all(piece)?;
        }
        if durable {
            file.sync_all()?;
        }
        fs::rename(temporary, path)
    }

    /// Where a file is, in a folder that is made unless it lies in one that has to be there.
    fn path_in_folder(&self, file: &protocol::File, within: Option<&str>) -> io::Result<PathBuf> {
        if let Some(within) = within {
            fs::read_dir(self.path_of(&protocol::File { root: file.root.clone(), path: within.into() }))?;
        }
        let path = self.path_of(file);
        make_parent(&path)?;
        Ok(path)
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn remove_path(path: &Path) -> io::Result<()> {
    let Some(found) = unless_absent(fs::symlink_metadata(path))? else { return Ok(()) };
    if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn move_path(from: &Path, to: &Path) -> io::Result<()> {
    if stat(to)?.is_some() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    make_parent(to)?;
    fs::rename(from, to)
}

fn copy_tree(from: &Path, to: &Path, only_missing: bool) -> io::Result<u64> {
    let kind = kind_of(fs::symlink_metadata(from)?.file_type());
    if kind == Kind::Folder {
        fs::create_dir_all(to)?;
        let within =
            |entry: fs::DirEntry| copy_tree(&entry.path(), &to.join(entry.file_name()), only_missing);
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

fn to_content(bytes: Vec<u8>) -> Vec<Content> {
    vec![String::from_utf8(bytes).map_or_else(|error| Content::Bytes(error.into_bytes()), Content::Text)]
}

fn to_document(bytes: Vec<u8>) -> Document {
    Document { pieces: to_content(bytes), is_alone: true, failure: None }
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

fn error_code(kind: ErrorKind) -> &'static str {
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
