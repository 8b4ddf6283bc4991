//! What a host answers, as it crosses.

use alloc::vec::Vec;

use leftoff::operation::{self as core, Answer as Said};
use leftoff::session::lease;

use crate::exports::leftoff::core::protocol::{
    Answer, Content, Document, Entry, Failure, FileId, Kind, Lease, Process, Ran, Stat,
};
use crate::texts::Counter;

pub(crate) fn said(answer: Answer<'_>) -> Said {
    match answer {
        Answer::Done => Said::Done,
        Answer::Content(pieces) => Said::Bytes(pieces.map(joined)),
        Answer::Stat(found) => Said::Stat(found.map(stat)),
        Answer::Entries(found) => Said::Entries(found.map(|all| all.into_iter().map(entry).collect())),
        Answer::End(end) => Said::End(end, None),
        Answer::Text(text) => Said::Text(text),
        Answer::Vocabulary(known) => Said::Vocabulary(known.get::<Counter>().0.clone()),
        Answer::Ran(found) => Said::Ran(found.map(|Ran { status, out, words, is_late }| core::Ran {
            status,
            out: joined(Vec::from([out])),
            words,
            is_late,
        })),
        Answer::Process(Process { lease, name, is_alone }) => {
            Said::Process(lease::Process { lease: held(lease), name, is_alone })
        }
        Answer::Flags(flags) => Said::Flags(flags),
        Answer::Document(found) => Said::Document(found.map(document)),
        Answer::Failed(failure) => Said::Failed(failed(failure)),
    }
}

fn document(Document { pieces, is_alone, failure }: Document) -> core::Document {
    core::Document { bytes: joined(pieces), is_alone, failure: failure.map(failed) }
}

fn failed(Failure { code, message, written, unconfirmed, origin }: Failure) -> core::Failure {
    core::Failure { code, message, written, is_unconfirmed: unconfirmed, origin }
}

fn held(Lease { pid, host, boot, start, program, since }: Lease) -> lease::Lease {
    lease::Lease { pid, host, boot, start, program, since }
}

pub(crate) fn joined(pieces: Vec<Content>) -> Vec<u8> {
    let bytes = |piece| match piece {
        Content::Text(text) => text.into_bytes(),
        Content::Bytes(bytes) => bytes,
    };
    let mut pieces = pieces.into_iter().map(bytes);
    let mut all = pieces.next().unwrap_or_default();
    pieces.for_each(|piece| all.extend(piece));
    all
}

fn stat(found: Stat) -> core::Stat {
    let Stat { kind, size, modified_us, changed_us, file } = found;
    let file = file.map(|FileId { number, made_us }| core::FileId { number, made_us });
    core::Stat { kind: kind_of(kind), size, modified_us, changed_us, file }
}

fn entry(found: Entry) -> core::Entry {
    let Entry { name, kind, files } = found;
    let files = files.map(|files| files.into_iter().map(|file| file.map(stat)).collect());
    core::Entry { name, kind: kind_of(kind), files }
}

fn kind_of(kind: Kind) -> core::Kind {
    match kind {
        Kind::File => core::Kind::File,
        Kind::Folder => core::Kind::Folder,
        Kind::Other => core::Kind::Other,
    }
}
