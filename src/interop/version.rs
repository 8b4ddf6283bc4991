//! Versions of the clients that wrote a file.

/// Returns the numbers of a version that is newer than all that a reader was tested with.
pub(super) fn newer_than(tested: &[&str], version: &str) -> Option<[u64; 3]> {
    let newest = tested.iter().filter_map(|tested| parse_numbers(tested)).max();
    parse_numbers(version).filter(|numbers| Some(*numbers) > newest)
}

fn parse_numbers(version: &str) -> Option<[u64; 3]> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    let mut parts = release.split('.').map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}
