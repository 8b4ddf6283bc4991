//! Any bytes as a log: forward and backward, in any pieces, and by a reader that looks before they are all there.

use leftoff::record::scan::{ScanItem, Scanner, scan};

use super::laws::{self, records};

/// The first byte says how the rest is cut.
pub fn check(data: &[u8]) {
    let Some((cut, log)) = data.split_first() else { return };
    let size = usize::from(*cut) + 1;
    let found = scan(log);
    laws::hold(log, &found);
    assert_eq!(scan_both_ways(log, size), (found.clone(), found), "in pieces of {size} bytes");
    looked_at_early(log, log.len() * size / 256);
}

/// What is found forward and what is found backward, each in the order of the log.
pub fn scan_both_ways(log: &[u8], size: usize) -> (Vec<ScanItem>, Vec<ScanItem>) {
    let forward = drive(Scanner::forward(0), log.chunks(size));
    let mut backward = drive(Scanner::backward(log.len() as u64), log.rchunks(size));
    backward.reverse();
    (forward, backward)
}

fn drive<'a>(mut scanner: Scanner, chunks: impl Iterator<Item = &'a [u8]>) -> Vec<ScanItem> {
    let mut found = Vec::new();
    for chunk in chunks {
        scanner.feed(chunk);
        found.extend(std::iter::from_fn(|| scanner.next()));
    }
    scanner.finish();
    found.extend(std::iter::from_fn(|| scanner.next()));
    found
}

// The next writer puts a line feed behind a tail. Who saw the tail before finds each record once, as one who did not.
fn looked_at_early(log: &[u8], cut: usize) {
    let (before, after) = log.split_at(cut);
    let seal: &[u8] = if before.last().is_none_or(|byte| *byte == b'\n') { b"" } else { b"\n" };
    let mut scanner = Scanner::forward(0);
    let mut early = Vec::new();
    for part in [before, &[seal, after].concat()] {
        scanner.feed(part);
        early.extend(std::iter::from_fn(|| scanner.next()));
        scanner.finish();
        early.extend(std::iter::from_fn(|| scanner.next()));
    }
    let late = scan(&[before, seal, after].concat());
    assert_eq!(records(&early), records(&late), "cut at {cut}");
}
