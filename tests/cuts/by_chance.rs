//! Logs of a kibibyte or two, each of random lines and random damage.

use super::known_log::KnownLog;
use crate::chance::Chance;
use crate::lines::seal_line;

pub fn log(chance: &mut Chance, name: &str) -> KnownLog {
    let mut log = KnownLog::new(name);
    if chance.one_in(20) {
        log.bytes(b"\xef\xbb\xbf");
    }
    for _ in 0..3 + chance.number_below(8) {
        piece(&mut log, chance);
    }
    if chance.one_in(3) {
        log.record(&record(chance));
    }
    log
}

fn piece(log: &mut KnownLog, chance: &mut Chance) {
    match chance.number_below(16) {
        0 => log.line(&record_without_checksum(chance)),
        1 => log.record(&record(chance)).bytes(b"\r\n"),
        2 => log.bytes(&vec![0; 1 + chance.number_below(40)]).line(&record(chance)),
        3 => log.record(&record(chance)).bytes(&vec![0; 1 + chance.number_below(40)]).bytes(b"\n"),
        4 => log.bytes(&torn_record(chance)).bytes(b"\n"),
        5 => log.bytes(&torn_record(chance)).line(&record(chance)),
        6 => log.record(&record(chance)).record(&record(chance)).line(&record(chance)),
        7 => log.record(&record(chance)).bytes(&torn_record(chance)).line(&record(chance)),
        8 => log.bytes(b"<<<<<<< a\n").line(&record(chance)).bytes(b"=======\n>>>>>>> b\n"),
        9 => log.bytes(format!("[{}]\n", chance.number()).as_bytes()),
        10 => log.bytes(&no_utf8(chance)).bytes(b"\n"),
        11 => log.bytes(b"\n"),
        _ => log.line(&record(chance)),
    };
}

fn record(chance: &mut Chance) -> String {
    seal_line(&fields(chance))
}

fn record_without_checksum(chance: &mut Chance) -> String {
    format!("{{{}}}", fields(chance))
}

fn fields(chance: &mut Chance) -> String {
    let role = ["user", "assistant", "system", "tool"][chance.number_below(4)];
    let mut fields =
        format!("\"id\":\"{:x}\",\"role\":\"{role}\",\"content\":{}", chance.number(), string(chance));
    for _ in 0..chance.number_below(3) {
        fields.push_str(&format!(",{}:{}", string(chance), value(chance, 4)));
    }
    fields
}

// Strictly less than a record, so that nothing in it is complete.
fn torn_record(chance: &mut Chance) -> Vec<u8> {
    let whole = record(chance).into_bytes();
    whole[..1 + chance.number_below(whole.len() - 1)].to_vec()
}

fn no_utf8(chance: &mut Chance) -> Vec<u8> {
    (0..1 + chance.number_below(30)).map(|_| 0x80 | (chance.number() as u8)).collect()
}

fn value(chance: &mut Chance, levels: usize) -> String {
    let kinds = if levels == 0 { 4 } else { 6 };
    let many = chance.number_below(4);
    match chance.number_below(kinds) {
        0 => string(chance),
        1 => chance.number().to_string(),
        2 => format!(
            "-{}.{}e{}",
            chance.number_below(100),
            chance.number_below(100),
            chance.number_below(1000)
        ),
        3 => ["true", "false", "null"][chance.number_below(3)].into(),
        4 => {
            let items: Vec<String> = (0..many).map(|_| value(chance, levels - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            let entry = |chance: &mut Chance| format!("{}: {}", string(chance), value(chance, levels - 1));
            let entries: Vec<String> = (0..many).map(|_| entry(chance)).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn string(chance: &mut Chance) -> String {
    const PARTS: &[&str] = &[
        "a",
        "words ",
        "\\\"",
        "\\\\",
        "\\n",
        "\\u0000",
        "\\ud83d",
        "\\udc00",
        "\\ud83d\\ude00",
        "é",
        "你",
        "🙂",
        "\u{2028}",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "{\\\"v\\\":1",
        "\\/",
        "\u{feff}",
    ];
    let parts: String =
        (0..chance.number_below(12)).map(|_| PARTS[chance.number_below(PARTS.len())]).collect();
    format!("\"{parts}\"")
}
