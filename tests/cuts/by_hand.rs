//! One log for each class of what can stand in a log.

use super::known_log::KnownLog;
use crate::lines::seal_line;

/// Values, each a class of tokens.
const VALUES: &[&str] = &[
    r#""""#,
    r#""plain words""#,
    r#""\"\\\/\b\f\n\r\t""#,
    r#""\u0000\u001f\u007f\u00e9\uFFFF""#,
    r#""\ud83d\ude00 and \uD83D\uDE00""#,
    r#""\ud83d alone, \ude00 alone, \ude00\ud83d the wrong way round""#,
    "\"é ü 你好 🙂 👩\u{200d}💻 e\u{301} \u{7f} \u{feff} \u{fffd} \u{10ffff}\"",
    "\"\u{85} \u{2028} \u{2029} raw\"",
    r#""\u0085\u2028\u2029""#,
    r#""{\"v\":1,\"id\":\"quoted\",\"crc\":\"00000000\"}""#,
    r#""}{][,:\"}""#,
    r#""ends with a backslash \\""#,
    "0",
    "-0",
    "[0,1,-1,1.5,-1.5e-3,1E+2,1e400,-1e-400,12345678901234567890,0.1e1]",
    "[true,false,null]",
    "[]",
    "{}",
    "[[],{},[[[{\"a\":[{}]}]]]]",
    "{\"v\":2}",
    "{\"\":\"\",\"a\":1,\"a\":2,\"\\u0061\":3,\"crc\":\"00000000\"}",
    "{\"blob\":\"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\",\"bytes\":300000,\"head\":\"a\",\"tail\":\"z\"}",
    "[ 1 ,\t2 , { \"a\" : 3 } ]",
];

pub fn logs() -> Vec<KnownLog> {
    let mut logs: Vec<KnownLog> = VALUES.iter().map(|value| log_around(value)).collect();
    logs.extend([
        minimal(),
        deep(),
        wrong_checksum(),
        byte_order_mark(),
        carriage_returns(),
        zero_bytes(),
        torn_in_the_middle(),
        glued_log(),
        glued_without_checksum(),
        merged_log(),
        foreign(),
        no_utf8(),
        in_spaces(),
    ]);
    logs
}

fn record_line(content: &str) -> String {
    seal_line(&format!("\"id\":\"{content}\",\"role\":\"user\",\"content\":\"{content}\""))
}

// The value with a checksum behind it, without, and last of a line that has none.
fn log_around(value: &str) -> KnownLog {
    let mut log = KnownLog::new(value);
    log.line(&record_line("before"))
        .line(&seal_line(&format!("\"id\":\"x\",\"role\":\"user\",\"content\":{value},\"unknown\":{value}")))
        .line(&format!("{{\"role\":\"user\",\"content\":{value}}}"))
        .line(&record_line("after"));
    log
}

fn minimal() -> KnownLog {
    let mut log = KnownLog::new("minimal lines");
    log.line("{}")
        .line("{\"role\":\"user\"}")
        .bytes(b"\n")
        .line("{\"v\":1}")
        .line("{\"v\":99,\"later\":true}");
    log.record("{\"content\":\"no line feed behind it\"}");
    log
}

fn deep() -> KnownLog {
    let nested = |levels: usize| format!("\"x\":{}{}", "[".repeat(levels), "]".repeat(levels));
    let mut log = KnownLog::new("deep");
    log.line(&seal_line(&nested(127))).bytes(format!("{{{}}}\n", nested(128)).as_bytes());
    log.line(&record_line("after")).bytes(&[b'['; 300]).line(&record_line("behind a deep fragment"));
    log
}

fn wrong_checksum() -> KnownLog {
    let mut log = KnownLog::new("wrong checksum");
    let wrong = record_line("other words").replace("other", "OTHER");
    log.line(&wrong).line(&record_line("after")).line("{\"v\":1,\"crc\":\"0000\"}").line("{\"crc\":7}");
    log
}

fn byte_order_mark() -> KnownLog {
    let mut log = KnownLog::new("byte order mark");
    log.bytes(b"\xef\xbb\xbf").line(&record_line("first")).line(&record_line("second"));
    log
}

fn carriage_returns() -> KnownLog {
    let mut log = KnownLog::new("carriage returns");
    for content in ["one", "two"] {
        log.record(&record_line(content)).bytes(b"\r\n").record("{\"role\":\"user\"}").bytes(b"\r\n\r\n");
    }
    log.bytes(b"\r").line(&record_line("three"));
    log
}

fn zero_bytes() -> KnownLog {
    let mut log = KnownLog::new("zero bytes");
    log.line(&record_line("before")).bytes(&[0; 20]).line(&record_line("behind them"));
    log.record(&record_line("before them")).bytes(&[0; 20]).bytes(b"\n").bytes(&[0; 20]).bytes(b"\n");
    log.record(&record_line("on both sides")).bytes(&[0; 5]).record(&record_line("of them")).bytes(b"\n");
    log.bytes(&record_line("torn").as_bytes()[..30]).bytes(&[0; 20]).line(&record_line("after"));
    log.record("{\"role\":\"user\"}").bytes(b"\r").bytes(&[0; 3]).bytes(b"\n").bytes(&[0; 7]);
    log
}

fn torn_in_the_middle() -> KnownLog {
    let mut log = KnownLog::new("torn in the middle");
    let torn = seal_line("\"id\":\"torn\",\"content\":\"a \\u00e9 \\\\ \\\" é 🙂 \"");
    for end in (1..torn.len()).step_by(13) {
        log.bytes(&torn.as_bytes()[..end]).bytes(b"\n").line(&record_line("after"));
        log.bytes(&torn.as_bytes()[..end]).line(&record_line("on the same line"));
    }
    log
}

fn glued_log() -> KnownLog {
    let mut log = KnownLog::new("glued");
    log.record(&record_line("a")).record(&record_line("b")).line(&record_line("c"));
    log.record(&record_line("d")).bytes(b"  , ").line(&record_line("e"));
    log.record(&record_line("f")).bytes(b"{\"v\":1,\"torn").line(&record_line("g"));
    log.record(&record_line("h")).bytes(b"{\"v\":1,\"no checksum\":true}").line(&record_line("i"));
    log
}

fn glued_without_checksum() -> KnownLog {
    let mut log = KnownLog::new("glued without checksum");
    log.record("{\"role\":\"user\"}").lose_last().line(&record_line("believed"));
    log.record("{\"role\":\"user\"}").lose_last().bytes(b"{\"role\":\"tool\"}\n").line(&record_line("after"));
    log
}

fn merged_log() -> KnownLog {
    let mut log = KnownLog::new("merged");
    log.bytes(b"<<<<<<< HEAD\n")
        .line(&record_line("ours"))
        .bytes(b"||||||| base\n=======\n")
        .line(&record_line("theirs"));
    log.bytes(b">>>>>>> branch\n").line(&record_line("after"));
    log
}

fn foreign() -> KnownLog {
    let mut log = KnownLog::new("foreign");
    log.line(&record_line("before"))
        .bytes(b"[1,{\"v\":1},\"x\"]\n123456\n\"a string\"\nnull\ntrue\n-1.5e3\n");
    log.bytes(b"not JSON at all\n{'single':1}\n{\"a\":1,}\n{\"a\" 1}\n}{\n").line(&record_line("after"));
    log
}

fn no_utf8() -> KnownLog {
    let mut log = KnownLog::new("no UTF-8");
    log.bytes(b"\xff\xfe\n{\"a\":\"\xc3\"}\n\xed\xa0\xbd\n").line(&record_line("after"));
    log.bytes(b"{\"v\":1,\"a\":\"\xe4\xbd").line(&record_line("behind half a character"));
    log
}

fn in_spaces() -> KnownLog {
    let mut log = KnownLog::new("in spaces");
    log.bytes(b" \t")
        .record("{\"role\" : \"user\"}")
        .bytes(b" \r \t\r\n")
        .bytes(b"  \n")
        .line(&record_line("after"));
    log
}
