//! Sessions as JSON for people.

use alloc::string::String;

use crate::json::indent::indented;

/// An item of an array that stands one level deep.
pub(super) fn item(json: &str, is_first: bool) -> String {
    let between = if is_first { "\n    " } else { ",\n    " };
    [between, &indented(json, 2)].concat()
}
