//! Sessions as JSON for people.

use alloc::string::String;

use crate::json::indent::indent_json;

/// An item of an array that stands one level deep.
pub(super) fn render_item(json: &str, is_first: bool) -> String {
    let between = if is_first { "\n    " } else { ",\n    " };
    [between, &indent_json(json, 2)].concat()
}
