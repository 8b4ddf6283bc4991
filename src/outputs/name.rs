//! The names of tool output files: `<session>-<tool>-<hash>.json`, with one more file for each run.
//!
//! The first half of the hash identifies the run, and the run's file names its process. So an output's file needs
//! nothing beside the document's own fields, and a cleanup checks each run only once. The other half distinguishes the
//! outputs of a run.

use alloc::format;
use alloc::string::String;

use crate::json::hash::sha256;

/// The number of digits of each half of a hash.
const HALF_DIGITS: usize = 12;
/// The most characters of a session's id and of a tool's name in a file name.
const MAX_PART_CHARS: usize = 64;
const FILE_ENDING: &str = ".json";

/// Returns the id of a run, from a name that no other run has.
pub fn run_id(process: &str) -> String {
    sha256(process.as_bytes())[..HALF_DIGITS].into()
}

/// Returns the name of an output's file. `chance` must differ for each output of the run.
///
/// ```
/// use leftoff::outputs::name;
///
/// let run = name::run_id("a name that no other run has");
/// let made = name::output_file_name("../../etc", "read file", &run, b"some chance");
/// assert!(made.starts_with("______etc-read_file-"));
/// assert_eq!(name::run_of_output(&made), Some(&*run));
/// ```
pub fn output_file_name(session: &str, tool: &str, run: &str, chance: &[u8]) -> String {
    format!(
        "{}-{}-{run}{}{FILE_ENDING}",
        to_plain_name(session),
        to_plain_name(tool),
        &sha256(chance)[..HALF_DIGITS]
    )
}

/// Returns the run of an output by its file name; `None` if the name has another form.
pub fn run_of_output(name: &str) -> Option<&str> {
    let (named, hash) = name.strip_suffix(FILE_ENDING)?.rsplit_once('-')?;
    // Session and tool may contain dashes themselves.
    let is_named = named.bytes().all(is_plain) && named.get(1..named.len() - 1)?.contains('-');
    let is_ours = is_named && hash.len() == 2 * HALF_DIGITS && is_hash(hash);
    is_ours.then(|| &hash[..HALF_DIGITS])
}

/// Returns the name of the file that names a run's process.
pub fn run_file_name(run: &str) -> String {
    format!(".{run}{FILE_ENDING}")
}

/// Returns the run of such a file name.
pub fn run_of_file(name: &str) -> Option<&str> {
    let run = name.strip_prefix('.')?.strip_suffix(FILE_ENDING)?;
    (run.len() == HALF_DIGITS && is_hash(run)).then_some(run)
}

// Makes any text a single file name that every filesystem accepts and that begins with no dot.
fn to_plain_name(name: &str) -> String {
    let letters = name.chars().take(MAX_PART_CHARS);
    let plain: String = letters.map(|c| if c.is_ascii() && is_plain(c as u8) { c } else { '_' }).collect();
    if plain.is_empty() { "_".into() } else { plain }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_hash(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_names_are_no_outputs() {
        let hash = "0123456789ab0123456789ab";
        for name in ["", "a-b.json", "settings.json", &format!("-b-{hash}.json"), &format!("a--{hash}.json")]
        {
            assert_eq!(run_of_output(name), None, "{name}");
        }
        for name in [&format!("a-b-{hash}"), &format!("a-b-{hash}0.json"), &format!("a/b-c-{hash}.json")] {
            assert_eq!(run_of_output(name), None, "{name}");
        }
        for name in [&format!("..-b-{hash}.json"), &format!("a-b-{}.json", hash.to_uppercase())] {
            assert_eq!(run_of_output(name), None, "{name}");
        }
        assert_eq!(
            (run_of_file(".json"), run_of_file("0123456789ab.json"), run_of_file(&format!(".{hash}.json"))),
            (None, None, None)
        );
    }

    proptest! {
        #[test]
        fn whatever_is_named_it_is_one_name_and_says_its_run(session: String, tool: String, by: String, chance: [u8; 8]) {
            let run = run_id(&by);
            let name = output_file_name(&session, &tool, &run, &chance);
            prop_assert_eq!(run_of_output(&name), Some(&*run));
            let run_file = run_file_name(&run);
            prop_assert_eq!(run_of_file(&run_file), Some(&*run));
            prop_assert!(name.len() <= 2 * MAX_PART_CHARS + 2 * HALF_DIGITS + 7);
            prop_assert!(name.bytes().all(|byte| is_plain(byte) || byte == b'.') && !name.starts_with('.'));
            prop_assert_eq!(name.matches('.').count(), 1);
        }
    }
}
