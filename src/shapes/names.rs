//! Ids of calls and names of tools, in the form that a provider accepts.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use xxhash_rust::xxh64::xxh64;

use crate::shapes::Format;

/// The longest id and name; if there is a limit, only letters, digits, `_` and `-` are allowed.
#[derive(Clone, Copy)]
pub(crate) struct NameLimits {
    pub id: Option<usize>,
    pub name: Option<usize>,
    /// Further characters allowed in a name.
    pub extra_chars: &'static str,
}

impl NameLimits {
    pub fn of(format: Format) -> NameLimits {
        let (id, name) = match format {
            Format::OpenaiChat => (Some(40), Some(64)),
            Format::OpenaiResponses => (Some(64), Some(64)),
            Format::Anthropic => (Some(128), Some(128)),
            Format::Gemini => (None, Some(64)),
            Format::Leftoff | Format::AiSdk | Format::AiSdkUi => (None, None),
        };
        let more = if format == Format::Gemini { ".:" } else { "" };
        NameLimits { id, name, extra_chars: more }
    }
}

/// The ids of one list of messages, each of them unique.
pub(super) struct Ids {
    longest: Option<usize>,
    taken_ids: BTreeSet<String>,
}

impl Ids {
    pub fn new(longest: Option<usize>) -> Ids {
        Ids { longest, taken_ids: BTreeSet::new() }
    }

    /// Returns an id that the provider accepts: unchanged if possible, else with its hash, the same each time.
    #[inline(never)]
    pub fn mend(&mut self, id: &str) -> String {
        let cleaned = clean(id, self.longest, "");
        let mut mended = if cleaned == id && !id.is_empty() { cleaned.clone() } else { String::new() };
        let mut seed = 0;
        while mended.is_empty() || !self.taken_ids.insert(mended.clone()) {
            // Room for 16 digits of the hash and a separator.
            let room = self.longest.map_or(cleaned.len(), |longest| longest - 17);
            // With a limit, all of it is ASCII.
            let kept = cleaned.get(..room).unwrap_or(&cleaned);
            mended = format!("{kept}_{:016x}", xxh64(id.as_bytes(), seed));
            seed += 1;
        }
        mended
    }
}

/// Returns a name that the provider accepts.
pub(super) fn mend_name(name: &str, limits: NameLimits) -> String {
    let cleaned = clean(name, limits.name, limits.extra_chars);
    if cleaned.is_empty() { "tool".into() } else { cleaned }
}

fn clean(word: &str, longest: Option<usize>, more: &str) -> String {
    let Some(longest) = longest else { return word.into() };
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || more.as_bytes().contains(&byte);
    let mut cleaned = word.as_bytes().to_vec();
    cleaned.truncate(longest);
    cleaned.iter_mut().filter(|byte| !kept(**byte)).for_each(|byte| *byte = b'_');
    String::from_utf8(cleaned).unwrap_or_default()
}
