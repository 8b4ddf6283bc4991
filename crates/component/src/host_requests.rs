//! Host requests on their way to the component's host.

use alloc::string::String;
use alloc::vec::Vec;

use leftoff::layout;
use leftoff::operation::HostRequest as Request;
use leftoff::session::lease;

use crate::exports::leftoff::core::protocol::{
    Append, Content, Duplicate, File, Git, Lease, Link, Listing, Move, Need, Put, Range, Reading, Replace,
    Root, Strategy, Summary, Texts,
};

pub(crate) fn to_need(request: Request) -> Need {
    match request {
        Request::Read { file, start, end } => Need::Read(to_range(file, start, end)),
        Request::Stat { file } => Need::Stat(to_file(file)),
        Request::List { folder, names } => Need::Entries(to_listing(folder, &names)),
        Request::Append { file, bytes, durable, within } => {
            Need::Append(Append { file: to_file(file), content: to_content(bytes), durable, within })
        }
        Request::Replace { file, bytes, within } => Need::Replace(to_replace(file, bytes, within)),
        Request::ReplaceLazily { file, bytes } => Need::Keep(to_replace(file, bytes, None)),
        Request::ReadSaved { end } => Need::Given(end),
        Request::WriteSaved { file, bytes, at } => Need::Put(to_put(file, bytes, at)),
        Request::HandRange { file, start, end } => Need::Hand(to_range(file, start, Some(end))),
        Request::Remove { file } => Need::Remove(to_file(file)),
        Request::Move { from, to } => Need::Move(Move { from: to_file(from), to: to_file(to) }),
        Request::Copy { from, to, missing } => Need::Copy(to_duplicate(from, to, missing)),
        Request::Link { file, target } => Need::Link(Link { file: to_file(file), target }),
        Request::Git { folder, arguments, variables, without, bytes, limit_ms } => {
            let (variables, without) = (owned_pairs(variables), owned_names(without));
            Need::Git(Git { folder, arguments, variables, without, input: to_content(bytes), limit_ms })
        }
        Request::Hash { file, start, end } => Need::Hash(to_range(file, start, Some(end))),
        Request::Wait { ms } => Need::Wait(ms),
        Request::TakeTurn { of } => Need::Turn(of),
        Request::EndTurn { of } => Need::Leave(of),
        Request::Process => Need::Process,
        Request::CheckProcesses { processes } => Need::Gone(to_leases(processes)),
        Request::Vocabulary { encoding } => Need::Vocabulary(encoding),
        Request::Counts { encoding, texts } => Need::Counts(Texts { encoding, texts }),
        Request::Vectors { texts } => Need::Vectors(texts),
        Request::Summary {
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
        Request::Strategy { name, budget, encoding } => Need::Strategy(Strategy { name, budget, encoding }),
        Request::Secrets { texts } => Need::Secrets(texts),
        Request::Redact { bytes } => Need::Out(String::from_utf8_lossy(&bytes).into_owned()),
        Request::Document { path, only, is_first } => Need::Document(Reading { path, only, is_first }),
        Request::Command { bytes } => Need::Command(to_content(bytes)),
        Request::RealPath { path } => Need::Real(path),
        Request::NormalizePath { path } => Need::Normal(path),
        Request::RemoveMarks { text } => Need::Unmarked(text),
        Request::Page { bytes } => Need::Page(to_content(bytes)),
    }
}

fn to_range(file: layout::File, start: u64, end: Option<u64>) -> Range {
    Range { file: to_file(file), start, end }
}

fn to_duplicate(from: layout::File, to: layout::File, missing: bool) -> Duplicate {
    Duplicate { from: to_file(from), to: to_file(to), missing }
}

fn to_listing(folder: layout::File, names: &[&str]) -> Listing {
    Listing { folder: to_file(folder), names: owned_names(names) }
}

fn to_put(file: layout::File, bytes: Vec<u8>, at: u64) -> Put {
    Put { file: to_file(file), content: to_content(bytes), at }
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

fn to_leases(processes: Vec<lease::Lease>) -> Vec<Lease> {
    processes.into_iter().map(to_lease).collect()
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
