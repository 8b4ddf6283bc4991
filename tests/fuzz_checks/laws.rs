//! What holds for a scan of any bytes, told without the code that is tested.

use leftoff::record::scan::{Record, ScanItem};
use serde::de::IgnoredAny;

use super::lines::crc32c;

pub fn records(found: &[ScanItem]) -> Vec<&Record> {
    found.iter().filter_map(|f| if let ScanItem::Record(record) = f { Some(record) } else { None }).collect()
}

/// Records are what the log holds where they say, in its order; each is a line that is an object, or has a right
/// checksum; each such line is a record; and whatever is no record is reported.
pub fn hold(log: &[u8], found: &[ScanItem]) {
    let mut is_told = vec![false; log.len()];
    for one in found {
        let (start, end) = match one {
            ScanItem::Record(record) => (record.start, record.end),
            ScanItem::Problem(problem) => (problem.start, problem.end),
        };
        assert!(start < end && end <= log.len() as u64, "outside the log: {one:?}");
        is_told[start as usize..end as usize].fill(true);
    }
    let untold = log.iter().zip(&is_told).position(|(byte, told)| !told && !matches!(byte, b'\n' | b'\r'));
    assert_eq!(untold, None, "a byte went unnoticed");

    let records = records(found);
    assert!(records.is_sorted_by(|a, b| a.end <= b.start), "records overlap: {records:?}");
    for record in &records {
        assert_eq!(&log[record.start as usize..record.end as usize], record.json.as_bytes());
    }
    let mut at = 0;
    for line in log.split(|byte| *byte == b'\n') {
        let end = at + line.len();
        let inside = |record: &&&Record| at as u64 <= record.start && record.end <= end as u64;
        each_line(line, at, &records.iter().filter(inside).copied().collect::<Vec<_>>());
        at = end + 1;
    }
    let across = |record: &&Record| record.json.contains('\n');
    assert!(!records.iter().any(across), "a record on two lines");
}

fn each_line(line: &[u8], at: usize, records: &[&Record]) {
    let content = strip_padding(line, at);
    if is_object(content) {
        let whole = |record: &Record| record.json.trim().as_bytes() == content.trim_ascii();
        assert!(matches!(records, [record] if whole(record)), "an object is no record: {records:?}");
        return;
    }
    for record in records {
        assert!(is_sealed(&record.json), "believed without a right checksum: {record:?}");
    }
}

/// A line without a byte order mark before it and zero bytes around it.
pub fn strip_padding(line: &[u8], at: usize) -> &[u8] {
    let mut content = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| at == 0).unwrap_or(line);
    while let Some(rest) = content.strip_prefix(b"\0") {
        content = rest;
    }
    while let Some(rest) = content.strip_suffix(b"\0") {
        content = rest;
    }
    content
}

fn is_sealed(json: &str) -> bool {
    let parts = json.strip_suffix("\"}").and_then(|open| open.rsplit_once(",\"crc\":\""));
    json.starts_with("{\"v\":")
        && parts.is_some_and(|(covered, crc)| format!("{:08x}", crc32c(covered.as_bytes())) == crc)
}

/// Whether bytes are one JSON object, nested no deeper than a reader goes.
pub fn is_object(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{") && is_json(bytes) && depth(bytes) <= 128
}

pub fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

// Of valid JSON.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0usize, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
        at += 1;
    }
    deepest
}
