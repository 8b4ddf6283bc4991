//! A log as leftoff writes it, into which any bytes are put: what was not hit is still there.

use std::sync::OnceLock;

use leftoff::record::message::{Message, Role, Tool};
use leftoff::record::scan::{Record, scan};
use leftoff::session::handle::Session;

use super::laws::{self, is_json, records, strip_padding};
use super::{scan::scan_both_ways, stage};

/// Stands between two edits; UTF-8 has no such byte.
const EDIT_SEPARATOR: u8 = 0xfe;

struct WrittenLog {
    log: Vec<u8>,
    // Where each record begins and ends.
    spans: Vec<(usize, usize)>,
}

/// Edits: each a place in two bytes, how many bytes are overwritten or, from 128 on, lost, and what is put there.
pub fn check(data: &[u8]) {
    let mut log = written_log().log.clone();
    // Where each byte stood that was not put there.
    let mut origins: Vec<Option<usize>> = (0..log.len()).map(Some).collect();
    for edit in data.split(|byte| *byte == EDIT_SEPARATOR).take(8) {
        let Some((header, bytes)) = edit.split_first_chunk::<3>() else { continue };
        let at = usize::from(u16::from_le_bytes([header[0], header[1]])) % (log.len() + 1);
        let removed = match header[2] {
            lost @ 128.. => usize::from(lost - 127),
            _ => usize::from(header[2]).min(bytes.len()),
        };
        let end = (at + removed).min(log.len());
        log.splice(at..end, bytes.iter().copied());
        origins.splice(at..end, bytes.iter().map(|_| None));
    }
    let found = scan(&log);
    laws::hold(&log, &found);
    assert_eq!(scan_both_ways(&log, 1 + data.len() % 97), (found.clone(), found.clone()));
    let records = records(&found);
    for (start, end) in &written_log().spans {
        let Some(now) = position_of_span(&origins, *start, *end) else { continue };
        let is_it = |record: &&&Record| {
            let json = &record.json;
            let indent = json.len() - json.trim_start().len();
            record.start as usize + indent == now
                && json.trim().as_bytes() == &written_log().log[*start..*end]
        };
        // A line that became some other JSON is that, and what is quoted in it no record.
        let is_kept = records.iter().any(|record| is_it(&record)) || is_quoted(&log, now, end - start);
        assert!(is_kept, "the record that was at {start} and is at {now} is lost");
    }
}

// Where the bytes from `start` to `end` stand now, if they are still there and together.
fn position_of_span(origins: &[Option<usize>], start: usize, end: usize) -> Option<usize> {
    let now = origins.iter().position(|origin| *origin == Some(start))?;
    let run = origins.get(now..now + end - start)?;
    run.iter().zip(start..end).all(|(origin, place)| *origin == Some(place)).then_some(now)
}

fn is_quoted(log: &[u8], place: usize, length: usize) -> bool {
    let start = log[..place].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let end = log[place..].iter().position(|byte| *byte == b'\n').map_or(log.len(), |at| place + at);
    let content = strip_padding(&log[start..end], start);
    is_json(content) && content.trim_ascii().len() > length
}

fn written_log() -> &'static WrittenLog {
    static WRITTEN_LOG: OnceLock<WrittenLog> = OnceLock::new();
    WRITTEN_LOG.get_or_init(|| {
        let quoted = r#"{"role":"user","content":"","x":{"v":1,"crc":"00000000"},"crc":"1"}"#;
        let quoting =
            records(&scan(quoted.as_bytes())).into_iter().find_map(|r| leftoff::record::message::read(r).0);
        let said =
            |text: &str| Message { role: Some(Role::User), content: text.into(), ..Message::default() };
        let tool = Tool { call_id: "call".into(), name: "Read".into(), ..Tool::default() };
        let answer = Message { role: Some(Role::Tool), tool: Some(tool), ..said("1\t[{\"v\":1,\n") };
        let drafts = vec![
            said("plain words"),
            said("a \"quote\" and a \\ and \n and {\"v\":1,\"crc\":\"00000000\"}"),
            answer,
            quoting.expect("it has a role"),
            said("ünï 你好 🙂 \u{2028}\u{0}"),
            said(""),
        ];
        let log = stage(&mut Session::new(None), drafts, 7).bytes;
        let spans = |record: &Record| (record.start as usize, record.end as usize);
        let spans: Vec<_> = records(&scan(&log)).into_iter().map(spans).collect();
        assert_eq!(spans.len(), 6);
        WrittenLog { log, spans }
    })
}
