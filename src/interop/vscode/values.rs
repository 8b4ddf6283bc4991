//! Values that stand in many fields: texts with or without Markdown's settings, and addresses of files.

use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::{Losses, Object};
use crate::json::fields::parse_items;
use crate::json::text::Text;

/// Takes a text: a string, a list of them, or an object with a `value`.
pub(super) fn take_text(object: &mut Object<'_>, key: &str, losses: &mut Losses) -> Option<Text> {
    match object.raw(key) {
        Some(raw) if raw.starts_with('{') => object.take_object(key, losses)?.take("value", losses),
        Some(raw) if raw.starts_with('[') => {
            let items = object.take_raw(key).and_then(parse_items)?;
            Some(join_texts(items.into_iter().filter_map(Text::decode).collect()))
        }
        _ => object.take(key, losses),
    }
}

/// Joins texts that are one text; only halves of a character are kept apart.
pub(super) fn join_texts(mut texts: Vec<Text>) -> Text {
    if texts.len() < 2 {
        return texts.pop().unwrap_or_default();
    }
    if texts.iter().any(Text::has_lone_surrogates) {
        return Text::join(texts, " ");
    }
    Text::from(texts.iter().map(Text::as_str).collect::<String>())
}

/// The path of a file's address: an address, or a place in a file.
pub(super) fn uri_path(json: &str) -> Option<String> {
    let quiet = &mut Losses::default();
    let mut uri = Object::parse("", json).ok()?;
    let inner =
        ["uri", "location"].into_iter().find_map(|key| uri.raw(key).filter(|raw| raw.starts_with('{')));
    if let Some(inner) = inner {
        return uri_path(inner);
    }
    if uri.raw("scheme").is_some_and(|scheme| scheme != "\"file\"") {
        return None;
    }
    uri.take("fsPath", quiet).or_else(|| uri.take("path", quiet))
}

/// The name of a symbol, or of a file by its path.
pub(super) fn uri_name(json: &str) -> Option<String> {
    let name: Option<String> = Object::parse("", json).ok()?.take("name", &mut Losses::default());
    name.or_else(|| uri_path(json)?.rsplit(['/', '\\']).next().map(String::from))
}
