//! Host responses on their way into the core.

use alloc::vec::Vec;

use leftoff::operation::{self as core, HostResponse};
use leftoff::session::lease;

use crate::exports::leftoff::core::protocol::{
    Answer, Content, Document, Entry, Failure, FileId, Kind, Lease, Process, Ran, Stat,
};
use crate::texts::Counter;

pub(crate) fn to_host_response(answer: Answer<'_>) -> HostResponse {
    match answer {
        Answer::Done => HostResponse::Done,
        Answer::Content(pieces) => HostResponse::Bytes(pieces.map(join_pieces)),
        Answer::Stat(found) => HostResponse::Stat(found.map(to_stat)),
        Answer::Entries(found) => {
            HostResponse::Entries(found.map(|all| all.into_iter().map(to_entry).collect()))
        }
        Answer::End(end) => HostResponse::End(end, None),
        Answer::Text(text) => HostResponse::Text(text),
        Answer::Vocabulary(known) => HostResponse::Vocabulary(known.get::<Counter>().0.clone()),
        Answer::Ran(found) => {
            HostResponse::GitRun(found.map(|Ran { status, out, words, is_late }| core::GitRun {
                status,
                stdout: join_pieces(Vec::from([out])),
                stderr_text: words,
                has_timed_out: is_late,
            }))
        }
        Answer::Process(Process { lease, name, is_alone }) => {
            HostResponse::Process(lease::Process { lease: to_lease(lease), name, is_alone })
        }
        Answer::Flags(flags) => HostResponse::Flags(flags),
        Answer::Document(found) => HostResponse::Document(found.map(to_document)),
        Answer::Failed(failure) => HostResponse::Failed(to_failure(failure)),
    }
}

fn to_document(Document { pieces, is_alone, failure }: Document) -> core::AgentDocument {
    core::AgentDocument { bytes: join_pieces(pieces), is_alone, failure: failure.map(to_failure) }
}

fn to_failure(Failure { code, message, written, unconfirmed, origin }: Failure) -> core::Failure {
    core::Failure { code, message, written, is_unconfirmed: unconfirmed, origin }
}

fn to_lease(Lease { pid, host, boot, start, program, since }: Lease) -> lease::Lease {
    lease::Lease { pid, host, boot, start, program, since }
}

pub(crate) fn join_pieces(pieces: Vec<Content>) -> Vec<u8> {
    let bytes = |piece| match piece {
        Content::Text(text) => text.into_bytes(),
        Content::Bytes(bytes) => bytes,
    };
    let mut pieces = pieces.into_iter().map(bytes);
    let mut all = pieces.next().unwrap_or_default();
    pieces.for_each(|piece| all.extend(piece));
    all
}

fn to_stat(found: Stat) -> core::Stat {
    let Stat { kind, size, modified_us, changed_us, file } = found;
    let file = file.map(|FileId { number, made_us }| core::FileId { number, made_us });
    core::Stat { kind: to_kind(kind), size, modified_us, changed_us, file }
}

fn to_entry(found: Entry) -> core::FolderEntry {
    let Entry { name, kind, files } = found;
    let files = files.map(|files| files.into_iter().map(|file| file.map(to_stat)).collect());
    core::FolderEntry { name, kind: to_kind(kind), files }
}

fn to_kind(kind: Kind) -> core::FileKind {
    match kind {
        Kind::File => core::FileKind::File,
        Kind::Folder => core::FileKind::Folder,
        Kind::Other => core::FileKind::Other,
    }
}
