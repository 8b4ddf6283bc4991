//! Renders sessions as JSON for people to read.

use alloc::string::String;

use crate::json::indent::indent_json;

/// Renders an item of an array at the first level of indentation.
pub(super) fn render_item(json: &str, is_first: bool) -> String {
    let between = if is_first { "\n    " } else { ",\n    " };
    [between, &indent_json(json, 2)].concat()
}
