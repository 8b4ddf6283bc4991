//! Any string of JSON: read as what it says, written back as it was, cut between graphemes where it is too long.

use std::collections::BTreeMap;

use leftoff::record::blob::MAX_TEXT;
use leftoff::record::message::{self, Message};
use leftoff::record::scan::{ScanItem, scan};
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::session::message_reader::MessageReader;
use serde_json::value::RawValue;
use unicode_segmentation::UnicodeSegmentation;

use super::stage;

// How much of either end of a text in a blob stays in its line: docs/FORMAT.md, Blobs.
const KEPT_END_BYTES: usize = 4096;

/// The first byte says how the rest is meant: even as the inside of a string, odd as UTF-16.
pub fn check(data: &[u8]) {
    let Some(inside) = string_content(data) else { return };
    match units(&inside) {
        Some(units) => holds(&inside, &units),
        None => assert!(inside.contains('"') || read(&inside).is_none(), "no string: {inside:?}"),
    }
}

/// The same, repeated until it is too long for a line.
pub fn check_in_blob(data: &[u8]) {
    let Some((inside, units)) =
        string_content(data).and_then(|inside| units(&inside).map(|units| (inside, units)))
    else {
        return;
    };
    if !units.is_empty() {
        let inside = inside.repeat(MAX_TEXT / lossy_text(&units).len() + 1);
        holds(&inside, &self::units(&inside).expect("what is a string once is one as often as you like"));
    }
}

fn string_content(data: &[u8]) -> Option<String> {
    let (how, rest) = data.split_first()?;
    let inside =
        if how % 2 == 0 { String::from(std::str::from_utf8(rest).ok()?) } else { escape_units(rest) };
    (!inside.contains('\n')).then_some(inside)
}

fn holds(inside: &str, units: &[u16]) {
    let message = read(inside).expect("a string is a content");
    assert_eq!(message.content.as_str(), lossy_text(units));
    written_back(message, units);
}

fn read(inside: &str) -> Option<Message> {
    let line = format!("{{\"role\":\"user\",\"content\":\"{inside}\"}}\n");
    match &scan(line.as_bytes())[..] {
        [ScanItem::Record(record)] => message::read(record).0,
        _ => None,
    }
}

fn written_back(message: Message, units: &[u16]) {
    let text = message.content.clone();
    let staged = stage(&mut Session::new(None), vec![message], 1);
    let line = String::from_utf8(staged.bytes).expect("leftoff writes UTF-8");
    let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    assert_eq!(line.find(breaks), Some(line.len() - 1), "a line that somebody could split: {line}");
    let is_apart = text.as_str().len() > MAX_TEXT;
    assert_eq!(staged.blobs.len(), usize::from(is_apart));
    if is_apart {
        cut_between_graphemes(&field(&line, "content"), text.as_str());
    } else {
        assert_eq!(field_units(&line, "content"), units);
    }

    let mut reader = MessageReader::newest_first(line.len() as u64, Vec::new());
    reader.feed(line.as_bytes());
    reader.finish();
    let mut batch = reader.next_batch();
    if let Some(InputRequest::Blob { id }) = &batch.needs {
        let [blob] = &staged.blobs[..] else { panic!("a blob is needed that was not given") };
        assert_eq!(*id, blob.id);
        reader.take_blob(id, Some(&blob.bytes));
        batch = reader.next_batch();
    }
    assert_eq!((&batch.problems[..], &batch.needs), (&[][..], &None));
    let [message] = &batch.messages[..] else { panic!("{batch:?}") };
    assert_eq!(
        (message.content.as_str(), message.content.byte_len()),
        (text.as_str(), text.as_str().len() as u64)
    );
    let line = stage(
        &mut Session::new(None),
        vec![Message { content: message.content.clone(), ..Message::default() }],
        1,
    );
    if let [blob] = &line.blobs[..] {
        assert_eq!(blob, &staged.blobs[0], "the same text has another blob");
    }
}

fn cut_between_graphemes(apart: &str, text: &str) {
    let [head, tail] = ["head", "tail"].map(|name| lossy_text(&field_units(apart, name)));
    assert!(
        head.len() <= KEPT_END_BYTES
            && tail.len() <= KEPT_END_BYTES
            && text.starts_with(&head)
            && text.ends_with(&tail)
    );
    // Nothing that would fit is left out: the grapheme that follows is too much.
    let mut ends = text.grapheme_indices(true).map(|(at, _)| at).take_while(|at| *at <= KEPT_END_BYTES);
    assert_eq!(ends.by_ref().last(), Some(head.len()));
    let from = text.grapheme_indices(true).map(|(at, _)| at).find(|at| *at >= text.len() - KEPT_END_BYTES);
    assert_eq!(from.unwrap_or(text.len()), text.len() - tail.len());
}

fn field(object: &str, name: &str) -> String {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(object).expect("an object");
    fields[name].get().to_owned()
}

fn field_units(object: &str, name: &str) -> Vec<u16> {
    let literal = field(object, name);
    let inside = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect("a string");
    units(inside).expect("leftoff writes JSON")
}

fn lossy_text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

// UTF-16 as the inside of a string; every third unit is escaped without need.
fn escape_units(bytes: &[u8]) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    let mut inside = String::new();
    for (place, unit) in char::decode_utf16(units).enumerate() {
        match unit {
            Ok(c) if c >= ' ' && c != '"' && c != '\\' && place % 3 != 0 => inside.push(c),
            Ok(c) => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| inside.push_str(&format!("\\u{unit:04X}")))
            }
            Err(lone) => inside.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    inside
}

// What the inside of a string says, in UTF-16; nothing where RFC 8259 has no such string.
fn units(inside: &str) -> Option<Vec<u16>> {
    let (mut units, mut chars) = (Vec::new(), inside.chars());
    while let Some(c) = chars.next() {
        let said = match c {
            '"' | '\0'..='\u{1f}' => return None,
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '/') => c as u16,
                'b' => 8,
                'f' => 12,
                'n' => 10,
                'r' => 13,
                't' => 9,
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let is_hex = digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                    u16::from_str_radix(&digits, 16).ok().filter(|_| is_hex)?
                }
                _ => return None,
            },
            other => {
                units.extend_from_slice(other.encode_utf16(&mut [0; 2]));
                continue;
            }
        };
        units.push(said);
    }
    Some(units)
}
