//! Any text: counted as the reference counts it; counting up to a limit stops above it.

use super::reference::VOCABULARY_PAIRS;

/// The first byte says what the limit is, in 128ths of the count; the rest is read as text, whatever it is.
pub fn check(data: &[u8]) {
    let Some((part, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    for both in &*VOCABULARY_PAIRS {
        let (reference, ours) = both.counts(&text);
        assert_eq!(ours, reference, "{:?} {text:?}", both.ours);
        let part = (u64::from(ours) * u64::from(*part) / 128) as u32;
        for limit in [part, ours, ours.saturating_sub(1)] {
            assert!(both.stops(&text, ours, limit), "{:?} up to {limit} of {ours}: {text:?}", both.ours);
        }
    }
}
