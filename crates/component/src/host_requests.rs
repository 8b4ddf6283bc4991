//! Host requests on their way to the component's host.

use alloc::string::String;
use alloc::vec::Vec;

use leftoff::layout;
use leftoff::operation::HostRequest as Asked;
use leftoff::session::lease;

use crate::exports::leftoff::core::protocol::{
    Append, Content, Duplicate, File, Git, Lease, Link, Listing, Move, Need, Put, Range, Reading, Replace,
    Root, Strategy, Summary, Texts,
};

pub(crate) fn to_need(need: Asked) -> Need {
    match need {
        Asked::Read { file, start, end } => Need::Read(Range { file: to_file(file), start, end }),
        Asked::Stat { file } => Need::Stat(to_file(file)),
        Asked::List { folder, names } => Need::Entries(to_listing(folder, &names)),
        Asked::Append { file, bytes, durable, within } => {
            Need::Append(Append { file: to_file(file), content: to_content(bytes), durable, within })
        }
        Asked::Replace { file, bytes, within } => Need::Replace(to_replace(file, bytes, within)),
        Asked::Keep { file, bytes } => Need::Keep(to_replace(file, bytes, None)),
        Asked::Given { end } => Need::Given(end),
        Asked::Put { file, bytes, at } => {
            Need::Put(Put { file: to_file(file), content: to_content(bytes), at })
        }
        Asked::Hand { file, start, end } => Need::Hand(Range { file: to_file(file), start, end: Some(end) }),
        Asked::Remove { file } => Need::Remove(to_file(file)),
        Asked::Move { from, to } => Need::Move(Move { from: to_file(from), to: to_file(to) }),
        Asked::Copy { from, to, missing } => Need::Copy(to_duplicate(from, to, missing)),
        Asked::Link { file, target } => Need::Link(Link { file: to_file(file), target }),
        Asked::Git { folder, arguments, variables, without, bytes, limit_ms } => {
            let (variables, without) = (owned_pairs(variables), owned_names(without));
            Need::Git(Git { folder, arguments, variables, without, input: to_content(bytes), limit_ms })
        }
        Asked::Hash { file, start, end } => Need::Hash(Range { file: to_file(file), start, end: Some(end) }),
        Asked::Wait { ms } => Need::Wait(ms),
        Asked::Turn { of } => Need::Turn(of),
        Asked::Leave { of } => Need::Leave(of),
        Asked::Process => Need::Process,
        Asked::Gone { processes } => Need::Gone(processes.into_iter().map(to_lease).collect()),
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
        Asked::Command { bytes } => Need::Command(to_content(bytes)),
        Asked::RealPath { path } => Need::Real(path),
        Asked::Normal { path } => Need::Normal(path),
        Asked::Unmarked { text } => Need::Unmarked(text),
        Asked::Page { bytes } => Need::Page(to_content(bytes)),
    }
}

fn to_duplicate(from: layout::File, to: layout::File, missing: bool) -> Duplicate {
    Duplicate { from: to_file(from), to: to_file(to), missing }
}

fn to_listing(folder: layout::File, names: &[&str]) -> Listing {
    Listing { folder: to_file(folder), names: owned_names(names) }
}

fn to_replace(file: layout::File, bytes: Vec<u8>, within: Option<String>) -> Replace {
    Replace { file: to_file(file), content: to_content(bytes), within }
}

fn owned_pairs(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| (String::from(*name), String::from(*value))).collect()
}

fn owned_names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| String::from(*name)).collect()
}

fn to_content(bytes: Vec<u8>) -> Content {
    String::from_utf8(bytes).map_or_else(|error| Content::Bytes(error.into_bytes()), Content::Text)
}

fn to_lease(of: lease::Lease) -> Lease {
    let lease::Lease { pid, host, boot, start, program, since } = of;
    Lease { pid, host, boot, start, program, since }
}

pub(crate) fn to_file(file: layout::File) -> File {
    let root = match file.root {
        layout::Root::Home => Root::Home,
        layout::Root::Project => Root::Project,
        layout::Root::Workspace(folder) => Root::Workspace(folder),
        layout::Root::Outside => Root::Outside,
    };
    File { root, path: file.path }
}
