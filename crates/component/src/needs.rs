//! What operations need, as it crosses.

use alloc::string::String;
use alloc::vec::Vec;

use leftoff::layout;
use leftoff::operation::Need as Asked;
use leftoff::session::lease;

use crate::exports::leftoff::core::protocol::{
    Append, Content, Duplicate, File, Git, Lease, Link, Listing, Move, Need, Put, Range, Reading, Replace,
    Root, Strategy, Summary, Texts,
};

pub(crate) fn needed(need: Asked) -> Need {
    match need {
        Asked::Read { file, start, end } => Need::Read(Range { file: outside(file), start, end }),
        Asked::Stat { file } => Need::Stat(outside(file)),
        Asked::List { folder, names } => Need::Entries(listing(folder, &names)),
        Asked::Append { file, bytes, durable, within } => {
            Need::Append(Append { file: outside(file), content: content(bytes), durable, within })
        }
        Asked::Replace { file, bytes, within } => Need::Replace(replaced(file, bytes, within)),
        Asked::Keep { file, bytes } => Need::Keep(replaced(file, bytes, None)),
        Asked::Given { end } => Need::Given(end),
        Asked::Put { file, bytes, at } => Need::Put(Put { file: outside(file), content: content(bytes), at }),
        Asked::Hand { file, start, end } => Need::Hand(Range { file: outside(file), start, end: Some(end) }),
        Asked::Remove { file } => Need::Remove(outside(file)),
        Asked::Move { from, to } => Need::Move(Move { from: outside(from), to: outside(to) }),
        Asked::Copy { from, to, missing } => {
            Need::Copy(Duplicate { from: outside(from), to: outside(to), missing })
        }
        Asked::Link { file, target } => Need::Link(Link { file: outside(file), target }),
        Asked::Git { folder, arguments, variables, without, bytes, limit_ms } => {
            let (variables, without) = (pairs(variables), own(without));
            Need::Git(Git { folder, arguments, variables, without, input: content(bytes), limit_ms })
        }
        Asked::Hash { file, start, end } => Need::Hash(Range { file: outside(file), start, end: Some(end) }),
        Asked::Wait { ms } => Need::Wait(ms),
        Asked::Turn { of } => Need::Turn(of),
        Asked::Leave { of } => Need::Leave(of),
        Asked::Process => Need::Process,
        Asked::Gone { processes } => Need::Gone(processes.into_iter().map(lease).collect()),
        Asked::Vocabulary { encoding } => Need::Vocabulary(encoding),
        Asked::Counts { encoding, texts } => Need::Counts(Texts { encoding, texts }),
        Asked::Vectors { texts } => Need::Vectors(texts),
        Asked::Summary {
            system,
            user,
            max_tokens,
            start_message_id,
            end_message_id,
            message_count,
            previous,
        } => Need::Summary(Summary {
            system,
            user,
            max_tokens,
            start_message_id,
            end_message_id,
            message_count,
            previous,
        }),
        Asked::Strategy { name, budget, encoding } => Need::Strategy(Strategy { name, budget, encoding }),
        Asked::Secrets { texts } => Need::Secrets(texts),
        Asked::Out { bytes } => Need::Out(String::from_utf8_lossy(&bytes).into_owned()),
        Asked::Document { path, only, is_first } => Need::Document(Reading { path, only, is_first }),
        Asked::Command { bytes } => Need::Command(content(bytes)),
        Asked::RealPath { path } => Need::Real(path),
        Asked::Normal { path } => Need::Normal(path),
        Asked::Unmarked { text } => Need::Unmarked(text),
        Asked::Page { bytes } => Need::Page(content(bytes)),
    }
}

fn listing(folder: layout::File, names: &[&str]) -> Listing {
    Listing { folder: outside(folder), names: own(names) }
}

fn replaced(file: layout::File, bytes: Vec<u8>, within: Option<String>) -> Replace {
    Replace { file: outside(file), content: content(bytes), within }
}

fn pairs(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| (String::from(*name), String::from(*value))).collect()
}

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| String::from(*name)).collect()
}

fn content(bytes: Vec<u8>) -> Content {
    String::from_utf8(bytes).map_or_else(|error| Content::Bytes(error.into_bytes()), Content::Text)
}

fn lease(of: lease::Lease) -> Lease {
    let lease::Lease { pid, host, boot, start, program, since } = of;
    Lease { pid, host, boot, start, program, since }
}

pub(crate) fn outside(file: layout::File) -> File {
    let root = match file.root {
        layout::Root::Home => Root::Home,
        layout::Root::Project => Root::Project,
        layout::Root::Workspace(folder) => Root::Workspace(folder),
        layout::Root::Outside => Root::Outside,
    };
    File { root, path: file.path }
}
