//! What the files of tool outputs are called: `<session>-<tool>-<hash>.json`, and beside them a file for each run that has some.
//!
//! The first half of the hash is the run's, so that whoever finds a file finds out whose it is. The other half tells the
//! outputs of a run apart.

use alloc::format;
use alloc::string::String;

use crate::json::hash::sha256;

/// Each half of a hash has so many digits.
const HALF: usize = 12;
/// So many letters of a session's id and of a tool's name stand in a name.
const LONGEST: usize = 64;
const ENDING: &str = ".json";

/// By what the files of a run are known, of a name that no other run has.
pub fn run_id(process: &str) -> String {
    sha256(process.as_bytes())[..HALF].into()
}

/// The name of an output's file. `chance`: no other output of the run has the same.
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
    format!("{}-{}-{run}{}{ENDING}", to_plain_name(session), to_plain_name(tool), &sha256(chance)[..HALF])
}

/// Of which run an output is, by the name of its file; nothing where that is another name.
pub fn run_of_output(name: &str) -> Option<&str> {
    let (named, hash) = name.strip_suffix(ENDING)?.rsplit_once('-')?;
    // Either may have a dash of its own.
    let is_named = named.bytes().all(is_plain) && named.get(1..named.len() - 1)?.contains('-');
    let is_ours = is_named && hash.len() == 2 * HALF && is_hash(hash);
    is_ours.then(|| &hash[..HALF])
}

/// What the file is called that says which process a run is of.
pub fn run_file_name(run: &str) -> String {
    format!(".{run}{ENDING}")
}

/// Which run a file tells of.
pub fn run_of_file(name: &str) -> Option<&str> {
    let run = name.strip_prefix('.')?.strip_suffix(ENDING)?;
    (run.len() == HALF && is_hash(run)).then_some(run)
}

// Whatever it is called, it is one name in one folder, in every filesystem; and it begins with no point.
fn to_plain_name(name: &str) -> String {
    let letters = name.chars().take(LONGEST);
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
            let told = run_file_name(&run);
            prop_assert_eq!(run_of_file(&told), Some(&*run));
            prop_assert!(name.len() <= 2 * LONGEST + 2 * HALF + 7);
            prop_assert!(name.bytes().all(|byte| is_plain(byte) || byte == b'.') && !name.starts_with('.'));
            prop_assert_eq!(name.matches('.').count(), 1);
        }
    }
}
