//! A chat as its file has it: a document, or a log of changes that is applied to the first state in it.
//!
//! A change sets, removes or pushes a value at a path; a push may cut the list first. A request that a change removes
//! was taken back by the user, and is kept beside those that are left.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::{Losses, Object};
use crate::json::fields::{Fields, parse_items};
use crate::json::text::to_json;
use crate::record::span::Span;

/// VS Code's longest path has five steps. Without a limit, changes could nest values deeper than any reader goes.
const MAX_PATH_STEPS: usize = 16;
const REQUESTS: &str = "requests";
const REQUEST_ID: &str = "requestId";

/// A value, split as far as changes reach into it.
enum Node<'a> {
    Raw(&'a str),
    Object(BTreeMap<String, Node<'a>>),
    Array(Vec<Node<'a>>),
}

/// A step of a change's path.
enum Step {
    Key(String),
    Index(usize),
}

/// What a change does at the end of its path.
enum Change<'a> {
    Set(&'a str),
    Push { values: Vec<&'a str>, length: Option<usize> },
    Delete,
}

/// One request of the chat, from its first mention on.
pub(super) struct RequestHistory<'a> {
    /// Its id, or an empty one.
    pub id: String,
    /// The request that it follows, as an index.
    pub parent: Option<usize>,
    /// The place of its first mention.
    pub place: Span,
    /// True if the chat has it now; else it was taken back.
    pub is_current: bool,
    // Its value, if the chat's list hasn't it.
    content: Option<Node<'a>>,
}

/// A chat while its changes are applied.
#[derive(Default)]
pub(super) struct ChatLog<'a> {
    fields: BTreeMap<String, Node<'a>>,
    requests: Vec<Node<'a>>,
    // The index of each request in the list among all that there ever were.
    current: Vec<usize>,
    histories: Vec<RequestHistory<'a>>,
    known_ids: BTreeMap<String, usize>,
    is_begun: bool,
}

impl<'a> ChatLog<'a> {
    /// Sets the whole state; false if it is no chat.
    pub fn begin(&mut self, state: &'a str, place: impl Fn(&'a str) -> Span) -> bool {
        let Ok(fields) = Fields::parse(state) else { return false };
        let is_requests = |key: &str| key == REQUESTS;
        let named = fields.decoded_entries().filter(|(key, _)| !is_requests(key));
        self.fields = named.map(|(key, value)| (key.into(), Node::Raw(value))).collect();
        self.is_begun = true;
        self.set_requests(fields.raw(REQUESTS).and_then(parse_items).unwrap_or_default(), place);
        true
    }

    /// Applies a line of the log; false if it changes nothing that is there.
    pub fn apply(&mut self, mut entry: Object<'a>, place: Span) -> bool {
        let quiet = &mut Losses::default();
        let kind: Option<u64> = entry.take("kind", quiet);
        let value = entry.take_raw("v");
        if kind == Some(0) {
            return value.is_some_and(|state| self.begin(state, |_| place));
        }
        let change = match (kind, value) {
            (Some(1), Some(value)) => Change::Set(value),
            // A value that is undefined is left out.
            (Some(1 | 3), None) => Change::Delete,
            (Some(2), value) => {
                let length: Option<u64> = entry.take("i", quiet);
                let values = value.and_then(parse_items).unwrap_or_default();
                Change::Push { values, length: length.map(|length| length as usize) }
            }
            _ => return false,
        };
        let path = entry.take_raw("k").and_then(parse_path).unwrap_or_default();
        self.is_begun && self.change_at(path, change, place).is_some()
    }

    fn change_at(&mut self, mut path: Vec<Step>, change: Change<'a>, place: Span) -> Option<()> {
        let is_requests = matches!(path.first()?, Step::Key(key) if key == REQUESTS);
        if !is_requests {
            let last = path.pop()?;
            let mut root = Node::Object(core::mem::take(&mut self.fields));
            let changed = path.iter().try_fold(&mut root, |node, step| node.child_mut(step));
            let changed = changed.and_then(|parent| parent.change_child(last, change));
            if let Node::Object(fields) = root {
                self.fields = fields;
            }
            return changed;
        }
        match (path.len(), change) {
            (1, Change::Set(list)) => self.set_requests(parse_items(list).unwrap_or_default(), |_| place),
            (1, Change::Delete) => self.set_requests(Vec::new(), |_| place),
            (1, Change::Push { values, length }) => {
                let kept = length.unwrap_or(usize::MAX).min(self.requests.len());
                self.replace_requests(kept, values, |_| place);
            }
            (2, Change::Set(request)) => {
                let Step::Index(at) = path[1] else { return None };
                self.requests.get(at)?;
                self.set_request(at, request, place);
            }
            (2, _) => return None,
            (_, change) => {
                let last = path.pop()?;
                let Step::Index(at) = path[1] else { return None };
                let request = self.requests.get_mut(at)?;
                let parent = path[2..].iter().try_fold(request, |node, step| node.child_mut(step))?;
                parent.change_child(last, change)?;
            }
        }
        Some(())
    }

    fn set_requests(&mut self, list: Vec<&'a str>, place: impl Fn(&'a str) -> Span) {
        self.replace_requests(0, list, place);
    }

    // Cuts the list to its first requests, and puts others behind them.
    fn replace_requests(&mut self, kept: usize, list: Vec<&'a str>, place: impl Fn(&'a str) -> Span) {
        let cut: Vec<Node<'a>> = self.requests.drain(kept..).collect();
        for (index, node) in self.current.drain(kept..).zip(cut) {
            self.histories[index].content = Some(node);
        }
        for request in list {
            let index = self.find_history(request, self.current.last().copied(), place(request));
            self.current.push(index);
            self.requests.push(Node::Raw(request));
        }
    }

    fn set_request(&mut self, at: usize, request: &'a str, place: Span) {
        let old = core::mem::replace(&mut self.requests[at], Node::Raw(request));
        self.histories[self.current[at]].content = Some(old);
        let parent = at.checked_sub(1).map(|before| self.current[before]);
        self.current[at] = self.find_history(request, parent, place);
    }

    // Finds a request that was there before, by its id, or begins a new one. It has no value of its own from then on.
    fn find_history(&mut self, request: &str, parent: Option<usize>, place: Span) -> usize {
        let object = Object::parse("", request).ok();
        let id = object.and_then(|mut object| object.take_name(REQUEST_ID, &mut Losses::default()));
        let id = id.unwrap_or_default();
        let known = self.known_ids.get(&id).copied().filter(|index| self.histories[*index].content.is_some());
        if let Some(index) = known {
            self.histories[index].content = None;
            return index;
        }
        let index = self.histories.len();
        if !id.is_empty() {
            self.known_ids.entry(id.clone()).or_insert(index);
        }
        self.histories.push(RequestHistory { id, parent, place, is_current: false, content: None });
        index
    }

    /// Ends the log: the session's own fields, without its requests, as JSON; all requests that there ever were, in the
    /// order of their first mention; and the indices of those that the chat has now.
    pub fn finish(mut self) -> (String, Vec<RequestHistory<'a>>, Vec<usize>) {
        let mut json = String::new();
        write_object(&self.fields, &mut json);
        for (index, node) in self.current.iter().zip(self.requests) {
            let history = &mut self.histories[*index];
            (history.content, history.is_current) = (Some(node), true);
        }
        (json, self.histories, self.current)
    }
}

impl<'a> RequestHistory<'a> {
    /// Returns the request as JSON.
    pub fn json(&self) -> Cow<'a, str> {
        match &self.content {
            Some(Node::Raw(raw)) => Cow::Borrowed(raw),
            Some(node) => {
                let mut json = String::new();
                node.write_json(&mut json);
                Cow::Owned(json)
            }
            None => Cow::Borrowed("null"),
        }
    }
}

impl<'a> Node<'a> {
    // Splits a value into its items.
    fn split(&mut self) {
        let Node::Raw(raw) = *self else { return };
        if raw.starts_with('{') {
            if let Ok(fields) = Fields::parse(raw) {
                let named = fields.decoded_entries().map(|(key, value)| (key.into(), Node::Raw(value)));
                *self = Node::Object(named.collect());
            }
        } else if let Some(items) = parse_items(raw) {
            *self = Node::Array(items.into_iter().map(Node::Raw).collect());
        }
    }

    fn child_mut(&mut self, step: &Step) -> Option<&mut Node<'a>> {
        self.split();
        match (self, step) {
            (Node::Object(fields), Step::Key(name)) => fields.get_mut(name),
            (Node::Array(items), Step::Index(at)) => items.get_mut(*at),
            _ => None,
        }
    }

    // Changes a field or an item; none if there is no such place.
    fn change_child(&mut self, step: Step, change: Change<'a>) -> Option<()> {
        self.split();
        let value = match change {
            Change::Set(value) => Some(Node::Raw(value)),
            Change::Delete => None,
            Change::Push { values, length } => {
                let mut items = match self.child_mut(&step) {
                    Some(list) => {
                        list.split();
                        match core::mem::replace(list, Node::Raw("null")) {
                            Node::Array(items) => items,
                            Node::Raw(_) | Node::Object(_) => Vec::new(),
                        }
                    }
                    None => Vec::new(),
                };
                items.truncate(length.unwrap_or(usize::MAX));
                items.extend(values.into_iter().map(Node::Raw));
                Some(Node::Array(items))
            }
        };
        match (self, step, value) {
            (Node::Object(fields), Step::Key(name), value) => {
                match value {
                    Some(value) => fields.insert(name, value),
                    None => fields.remove(&name),
                };
                Some(())
            }
            (Node::Array(items), Step::Index(at), value) => {
                let value = value.unwrap_or(Node::Raw("null"));
                if at == items.len() {
                    items.push(value);
                } else {
                    *items.get_mut(at)? = value;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn write_json(&self, json: &mut String) {
        match self {
            Node::Raw(raw) => json.push_str(raw),
            Node::Object(fields) => write_object(fields, json),
            Node::Array(items) => {
                json.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        json.push(',');
                    }
                    item.write_json(json);
                }
                json.push(']');
            }
        }
    }
}

fn write_object(fields: &BTreeMap<String, Node<'_>>, json: &mut String) {
    json.push('{');
    for (at, (key, value)) in fields.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        json.push_str(&to_json(key));
        json.push(':');
        value.write_json(json);
    }
    json.push('}');
}

fn parse_path(json: &str) -> Option<Vec<Step>> {
    let steps = parse_items(json)?;
    if steps.len() > MAX_PATH_STEPS {
        return None;
    }
    let parse_step = |step: &str| match serde_json::from_str::<String>(step) {
        Ok(key) => Some(Step::Key(key)),
        Err(_) => step.parse().ok().map(Step::Index),
    };
    steps.into_iter().map(parse_step).collect()
}
