//! Reads OpenCode's folders, from before it had a database: each session becomes the document that `opencode export`
//! gives, `{"info","messages":[{"info","parts"}]}`. A file's text is not written anew but passed on as it stands; one
//! that is no JSON is passed on as a text, which the reader lists.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::Fields;
use crate::json::text::to_json;

/// Files of one kind, by the session or the message that they belong to.
type PathGroups<'a> = BTreeMap<String, Vec<&'a str>>;

/// The files in the folders.
struct SessionTree<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    /// Messages by their sessions.
    messages_by_session: PathGroups<'a>,
    /// Parts by their messages.
    parts_by_message: PathGroups<'a>,
}

/// Returns the sessions of all files below the folder, in the order of their paths from there. Parts and messages are
/// found by their folders, and if these name nothing that is there, by their own fields.
pub fn sessions_of_tree(files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let of =
        |kind: &str| files.keys().filter(|path| is_of(path, kind)).map(String::as_str).collect::<Vec<_>>();
    let (sessions, messages) = (of("session"), of("message"));
    let tree = SessionTree::of(files, &messages, &of("part"));
    let (mut seen_ids, mut all) = (BTreeSet::new(), Vec::new());
    for path in sessions {
        let own = tree.text(path);
        let id = own_id(&own).unwrap_or_else(|| name_of(path).into());
        let info = match Fields::parse(&own) {
            Ok(_) => with_missing_fields(&own, &[("id", &id)]),
            Err(_) => format!("{{\"id\":{},\"unreadable\":{}}}", to_json(&id), to_json(&own)),
        };
        all.push(tree.conversation(&id, &info));
        seen_ids.insert(id);
    }
    // The session's file was lost, but its messages were not.
    for path in messages {
        let id = folder_of(path);
        if seen_ids.insert(id.into()) {
            all.push(tree.conversation(id, &format!("{{\"id\":{}}}", to_json(&id))));
        }
    }
    all
}

/// Returns the paths to read before [`session_groups`]: of the files that say to which sessions the others belong.
pub fn paths_to_read_first(paths: &[&str]) -> Vec<String> {
    let messages: BTreeSet<&str> =
        paths.iter().filter(|path| is_of(path, "message")).map(|path| name_of(path)).collect();
    let is_first =
        |path: &&&str| is_of(path, "session") || (is_of(path, "part") && !is_placed(path, &messages));
    paths.iter().filter(is_first).map(|path| (*path).into()).collect()
}

/// Groups the files by session, so that sessions can be read one after another: [`sessions_of_tree`] makes one session
/// of a group. Files of no session are in no group. `first`: the contents of [`paths_to_read_first`].
pub fn session_groups(paths: &[&str], first: &BTreeMap<String, Vec<u8>>) -> Vec<Vec<String>> {
    let sorted: BTreeSet<&str> = paths.iter().copied().collect();
    let of = |kind: &str| sorted.iter().copied().filter(|path| is_of(path, kind)).collect::<Vec<_>>();
    let (messages, parts) = (of("message"), of("part"));
    let tree = SessionTree::of(first, &messages, &parts);
    let loose: Vec<&str> = parts.iter().filter(|path| first.contains_key(**path)).copied().collect();
    let (mut seen_ids, mut all) = (BTreeSet::new(), Vec::new());
    for path in of("session") {
        let id = own_id(&tree.text(path)).unwrap_or_else(|| name_of(path).into());
        all.push(tree.group(Some(path), &id, &loose));
        seen_ids.insert(id);
    }
    for path in &messages {
        if seen_ids.insert(folder_of(path).into()) {
            all.push(tree.group(None, folder_of(path), &loose));
        }
    }
    all
}

impl<'a> SessionTree<'a> {
    fn of(files: &'a BTreeMap<String, Vec<u8>>, messages: &[&'a str], parts: &[&'a str]) -> SessionTree<'a> {
        let mut tree = SessionTree {
            files,
            messages_by_session: PathGroups::new(),
            parts_by_message: PathGroups::new(),
        };
        for path in messages {
            tree.messages_by_session.entry(folder_of(path).into()).or_default().push(path);
        }
        let named: BTreeSet<&str> = messages.iter().map(|path| name_of(path)).collect();
        let is_placed = |path: &&&str| is_placed(path, &named);
        for path in parts.iter().filter(is_placed) {
            tree.parts_by_message.entry(folder_of(path).into()).or_default().push(path);
        }
        for path in parts.iter().filter(|path| !is_placed(path)) {
            let message_id = string_field(&tree.text(path), "messageID");
            tree.parts_by_message
                .entry(message_id.unwrap_or_else(|| folder_of(path).into()))
                .or_default()
                .push(path);
        }
        tree
    }

    // Returns the files of a session; of `loose` ones, only its messages show whether they are among them.
    fn group(&self, own: Option<&str>, id: &str, loose: &[&str]) -> Vec<String> {
        let message_paths = self.messages_by_session.get(id).map(Vec::as_slice).unwrap_or_default();
        let parts =
            message_paths.iter().filter_map(|path| self.parts_by_message.get(name_of(path))).flatten();
        let all: BTreeSet<&str> =
            own.iter().chain(message_paths).chain(parts).chain(loose).copied().collect();
        all.into_iter().map(String::from).collect()
    }

    fn text(&self, path: &str) -> Cow<'a, str> {
        let bytes = self.files.get(path).map(Vec::as_slice).unwrap_or_default();
        String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
    }

    fn conversation(&self, id: &str, info: &str) -> String {
        let paths = self.messages_by_session.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut timed_messages: Vec<(f64, &str, Cow<'_, str>)> = paths
            .iter()
            .map(|path| {
                let own = self.text(path);
                (created_time(&own), *path, own)
            })
            .collect();
        timed_messages.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let messages: Vec<String> =
            timed_messages.iter().map(|(_, path, own)| self.message(id, path, own)).collect();
        format!("{{\"info\":{info},\"messages\":[{}]}}", messages.join(","))
    }

    fn message(&self, session: &str, path: &str, own: &str) -> String {
        let native = own_id(own).unwrap_or_else(|| name_of(path).into());
        let mut met = BTreeSet::new();
        let of = |key: &str| self.parts_by_message.get(key).into_iter().flatten().copied();
        let parts: Vec<String> = of(&native)
            .chain(of(name_of(path)))
            .filter(|part| met.insert(*part))
            .map(|part| {
                let known = [("id", name_of(part)), ("sessionID", session), ("messageID", &native)];
                with_missing_fields(&self.text(part), &known)
            })
            .collect();
        let info = with_missing_fields(own, &[("id", &native), ("sessionID", session)]);
        format!("{{\"info\":{info},\"parts\":[{}]}}", parts.join(","))
    }
}

// True if a part lies in a folder of a message that is there.
fn is_placed(path: &str, messages: &BTreeSet<&str>) -> bool {
    path.matches('/').count() > 1 && messages.contains(folder_of(path))
}

fn is_of(path: &str, kind: &str) -> bool {
    path.strip_prefix(kind).is_some_and(|rest| rest.starts_with('/')) && path.ends_with(".json")
}

fn folder_of(path: &str) -> &str {
    path.rsplit('/').nth(1).unwrap_or_default()
}

fn name_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".json").unwrap_or(name)
}

fn string_field(json: &str, key: &str) -> Option<String> {
    Fields::parse(json).ok()?.take(key, &mut Vec::new())
}

fn own_id(json: &str) -> Option<String> {
    string_field(json, "id").filter(|id| !id.is_empty())
}

fn created_time(json: &str) -> f64 {
    let time = Fields::parse(json).ok().and_then(|fields| Fields::parse(fields.raw("time")?).ok());
    time.and_then(|time| time.raw("created")?.parse().ok()).unwrap_or_default()
}

// Adds to a file's object the fields that its path gives, if they are missing.
fn with_missing_fields(text: &str, known: &[(&str, &str)]) -> String {
    let Ok(fields) = Fields::parse(text) else { return to_json(&text) };
    let more = known.iter().filter(|(key, _)| !fields.has(key));
    let more: Vec<String> = more.map(|(key, value)| format!("\"{key}\":{}", to_json(value))).collect();
    let head = text.trim_end().strip_suffix('}').unwrap_or(text).trim_end();
    let between = if more.is_empty() || head.ends_with('{') { "" } else { "," };
    format!("{head}{between}{}}}", more.join(","))
}
