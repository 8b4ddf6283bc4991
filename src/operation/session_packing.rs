//! Packs a session into one file that another store imports: its logs, its blobs and its document, in pages.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::logs::LogName;
use super::outgoing::OutgoingRedactor;
use super::outgoing_pieces::OutgoingPieces;
use super::session_files::{READ_BYTES, SessionFiles};
use super::{FileKind, Io, Trouble};
use crate::layout::{BLOBS, EVENTS, File, MESSAGES, TOOLS};
use crate::record::session_file::{end_line, head_line, log_pieces, refit_piece, whole_piece};

/// The file while it is written.
struct SessionPacker<'a> {
    io: &'a Io,
    pieces: OutgoingPieces<'a>,
    redacts: bool,
    /// The new names of blobs whose bytes redaction changed.
    blobs: BTreeMap<String, String>,
    lines: usize,
}

impl SessionFiles {
    /// Writes the session as one file. `is_begun`: it has files; else it has no events yet.
    pub(super) async fn write_session_file(
        &self,
        io: &Io,
        redactor: &OutgoingRedactor,
        is_begun: bool,
    ) -> Result<(), Trouble> {
        if is_begun {
            self.refresh_after_move(io).await?;
            redactor.scan_folder(io, &self.folder()).await?;
        }
        let redacts = redactor.replaces();
        let pieces = OutgoingPieces::new(redactor, io);
        let mut packing = SessionPacker { io, pieces, redacts, blobs: BTreeMap::new(), lines: 0 };
        packing.write_lines(Vec::from([head_line(&self.id(), self.placement())])).await?;
        if is_begun {
            packing.pack_session(self).await?;
        }
        let end = end_line(packing.lines);
        packing.write_lines(Vec::from([end])).await
    }
}

impl SessionPacker<'_> {
    async fn pack_session(&mut self, files: &SessionFiles) -> Result<(), Trouble> {
        // Ends taken here exclude what is appended from now on: so no message names a blob that came later.
        let logs = [(LogName::Events, EVENTS), (LogName::Tools, TOOLS), (LogName::Messages, MESSAGES)];
        let mut ends = Vec::new();
        for (log, name) in logs {
            ends.push((log, name, files.size(self.io, log).await?));
        }
        let (events, rest) = (ends.remove(0), ends);
        self.pack_log_lines(files, events).await?;
        let blobs = files.folder().child(BLOBS);
        for entry in self.io.list(&blobs).await?.unwrap_or_default() {
            if entry.kind == FileKind::File {
                self.pack_file(&blobs.child(&entry.name), &[BLOBS, "/", &entry.name].concat()).await?;
            }
        }
        for part in rest {
            self.pack_log_lines(files, part).await?;
        }
        let document = files.document_file();
        self.pack_file(&document, document.name()).await
    }

    async fn pack_log_lines(
        &mut self,
        files: &SessionFiles,
        (log, name, end): (LogName, &str, u64),
    ) -> Result<(), Trouble> {
        let file = files.log_file(log);
        let (mut at, mut open) = (0, Vec::new());
        while at < end {
            let bytes = self.io.read(&file, at, Some(end.min(at + READ_BYTES))).await?.unwrap_or_default();
            if bytes.is_empty() {
                return Err(files.shrunk_error(log, end, at));
            }
            at += bytes.len() as u64;
            open.extend(bytes);
            let whole =
                if at < end { memchr::memrchr(b'\n', &open).map_or(0, |last| last + 1) } else { open.len() };
            let rest = open.split_off(whole);
            let lines = log_pieces(name, &open);
            open = rest;
            self.write_redacted(lines).await?;
        }
        Ok(())
    }

    async fn pack_file(&mut self, file: &File, name: &str) -> Result<(), Trouble> {
        match self.io.read_all(file).await? {
            Some(bytes) => self.write_redacted(Vec::from([whole_piece(name, &bytes)])).await,
            None => Ok(()),
        }
    }

    async fn write_redacted(&mut self, lines: Vec<String>) -> Result<(), Trouble> {
        let before = if self.redacts { lines.clone() } else { Vec::new() };
        let mut after = self.pieces.redact_all(lines).await?;
        for (before, after) in before.iter().zip(&mut after) {
            *after = refit_piece(before, core::mem::take(after), &mut self.blobs);
        }
        self.write_lines(after).await
    }

    async fn write_lines(&mut self, lines: Vec<String>) -> Result<(), Trouble> {
        self.lines += lines.len();
        let text: String = lines.into_iter().flat_map(|line| [line, "\n".into()]).collect();
        if text.is_empty() { Ok(()) } else { self.io.write_page(text.into_bytes()).await }
    }
}
