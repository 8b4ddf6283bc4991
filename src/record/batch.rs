//! The batch that a line belongs to: a line whose append has an operation names it in front, behind its version.
//! [`crate::session::batch`] decides whether such a batch counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields};
use crate::json::text::to_json;
use crate::record::id;
use crate::record::line;
use crate::record::scan::Record;

/// The longest batch, in bytes: a reader holds its lines until the last one is there.
pub(crate) const MAX_BATCH: u64 = 64 << 20;
/// The first bytes of a line that belongs to a batch.
const BATCH_LINE_PREFIX: &str = "{\"v\":1,\"batch\":{";
const BATCH_KEY: &str = "batch";

/// A batch's identity, and the message that it expects to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub operation: String,
    /// The hash of its messages, as they were given.
    pub hash: String,
    pub expected_message: Option<Option<String>>,
}

impl Batch {
    /// Makes the id of one of its messages: appending the same again, without knowing of this batch, gives the same id.
    pub fn id_of(&self, session: &str, place: usize) -> String {
        let place = (place as u64).to_be_bytes();
        id::from_parts(&[session.as_bytes(), self.operation.as_bytes(), self.hash.as_bytes(), &place])
    }

    /// Returns the text before the record of one of its lines.
    pub fn line_prefix(&self, place: usize, lines: usize) -> String {
        #[derive(Serialize)]
        struct BatchFields<'a> {
            operation: &'a str,
            hash: &'a str,
            line: usize,
            lines: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            expected: Option<&'a Option<String>>,
        }
        let Batch { operation, hash, expected_message: expected } = self;
        let batch_fields = BatchFields { operation, hash, line: place, lines, expected: expected.as_ref() };
        format!("\"{BATCH_KEY}\":{},", to_json(&batch_fields))
    }

    /// Rejects a batch longer than a reader would hold.
    pub fn check_length(bytes: usize) -> Result<(), Error> {
        if bytes as u64 <= MAX_BATCH {
            return Ok(());
        }
        let message =
            format!("expected an operation of at most {MAX_BATCH} bytes, but found {bytes} bytes instead");
        Err(Error::new(Code::LineTooLong, message))
    }
}

/// Finds where the first record of a line begins, if it belongs to a batch: a torn record may stand before it.
#[cfg(feature = "interop")]
pub(crate) fn find_first_record(line: &[u8]) -> Option<u64> {
    memchr::memmem::find(line, BATCH_LINE_PREFIX.as_bytes())?;
    crate::record::scan::records(line)
        .next()
        .filter(|record| BatchLine::of(&record.json).is_some())
        .map(|record| record.start)
}

/// A line's batch, and the line's place in it.
#[derive(Debug)]
pub(crate) struct BatchLine {
    pub batch: Batch,
    pub line: u64,
    pub lines: u64,
}

impl BatchLine {
    /// Reads it from a line; `None` if the line belongs to no batch.
    pub fn of(json: &str) -> Option<BatchLine> {
        if !json.starts_with(BATCH_LINE_PREFIX) {
            return None;
        }
        BatchLine::read(Fields::parse(json).ok()?.second(BATCH_KEY)?)
    }

    fn read(json: &str) -> Option<BatchLine> {
        let bad = &mut Vec::new();
        let mut fields = Fields::parse(json).ok()?;
        let (operation, hash) = (fields.take("operation", bad)?, fields.take("hash", bad)?);
        let (line, lines) = (fields.take("line", bad)?, fields.take("lines", bad)?);
        let expected = take_expected(&mut fields, bad);
        (bad.is_empty() && line < lines).then_some(BatchLine {
            batch: Batch { operation, hash, expected_message: expected },
            line,
            lines,
        })
    }
}

/// Removes the batch from a line's fields: it belongs to the line, not to the message.
pub(crate) fn drop_batch_field(fields: &mut Fields<'_>) {
    if fields.second(BATCH_KEY).is_some_and(|json| BatchLine::read(json).is_some()) {
        fields.drop_second();
    }
}

/// Returns the messages of a batch as lines without it, as its caller is told.
pub(crate) fn lines_without_batch(batch: &Batch, records: &[Record]) -> String {
    let is_of = |part: BatchLine| part.batch.operation == batch.operation && part.batch.hash == batch.hash;
    let bare = |record: &Record| {
        let fields =
            Fields::parse(&record.json).ok().filter(|_| BatchLine::of(&record.json).is_some_and(is_of))?;
        let rest: Vec<String> = fields
            .iter()
            .enumerate()
            .filter(|(place, (key, _))| *place > 1 && *key != "\"crc\"")
            .map(|(_, (key, value))| format!("{key}:{value}"))
            .collect();
        Some(line::seal(format!("{{\"v\":1,{}}}", rest.join(","))) + "\n")
    };
    records.iter().filter_map(bare).collect()
}

/// Reads the message that is expected before a batch; `null` if the batch expects an empty session.
pub(crate) fn take_expected(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Option<String>> {
    fields.has("expected").then(|| fields.take("expected", bad))
}

#[cfg(all(test, feature = "interop"))]
mod tests {
    use super::*;

    #[test]
    fn a_batch_begins_behind_what_is_torn_before_it() {
        let batch = Batch { operation: "o".into(), hash: "h".into(), expected_message: None };
        let fields = r#""id":"a","role":"user","content":"words"}"#;
        let [of_batch, alone] = [batch.line_prefix(0, 1), String::new()]
            .map(|front| line::seal(format!("{{\"v\":1,{front}{fields}")));
        for torn in ["", r#"{"v":1,"id":"half","content":"of a"#, "x"] {
            let place = |record: &str| find_first_record(format!("{torn}{record}\n").as_bytes());
            assert_eq!([place(&of_batch), place(&alone)], [Some(torn.len() as u64), None], "{torn}");
        }
        let quoted = to_json(&of_batch);
        assert_eq!(
            find_first_record(format!("{{\"v\":1,\"id\":\"a\",\"content\":{quoted}}}\n").as_bytes()),
            None
        );
    }
}
