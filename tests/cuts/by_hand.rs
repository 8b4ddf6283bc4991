//! One log for each class of what can stand in a log.

use super::written::Written;
use crate::lines::sealed;

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

pub fn logs() -> Vec<Written> {
    let mut logs: Vec<Written> = VALUES.iter().map(|value| around(value)).collect();
    logs.extend([
        minimal(),
        deep(),
        wrong_checksum(),
        byte_order_mark(),
        carriage_returns(),
        zero_bytes(),
        torn_in_the_middle(),
        glued(),
        glued_without_checksum(),
        merged(),
        foreign(),
        no_utf8(),
        in_spaces(),
    ]);
    logs
}

fn said(content: &str) -> String {
    sealed(&format!("\"id\":\"{content}\",\"role\":\"user\",\"content\":\"{content}\""))
}

// The value with a checksum behind it, without, and last of a line that has none.
fn around(value: &str) -> Written {
    let mut log = Written::new(value);
    log.line(&said("before"))
        .line(&sealed(&format!("\"id\":\"x\",\"role\":\"user\",\"content\":{value},\"unknown\":{value}")))
        .line(&format!("{{\"role\":\"user\",\"content\":{value}}}"))
        .line(&said("after"));
    log
}

fn minimal() -> Written {
    let mut log = Written::new("minimal lines");
    log.line("{}")
        .line("{\"role\":\"user\"}")
        .bytes(b"\n")
        .line("{\"v\":1}")
        .line("{\"v\":99,\"later\":true}");
    log.record("{\"content\":\"no line feed behind it\"}");
    log
}

fn deep() -> Written {
    let nested = |levels: usize| format!("\"x\":{}{}", "[".repeat(levels), "]".repeat(levels));
    let mut log = Written::new("deep");
    log.line(&sealed(&nested(127))).bytes(format!("{{{}}}\n", nested(128)).as_bytes());
    log.line(&said("after")).bytes(&[b'['; 300]).line(&said("behind a deep fragment"));
    log
}

fn wrong_checksum() -> Written {
    let mut log = Written::new("wrong checksum");
    let wrong = said("other words").replace("other", "OTHER");
    log.line(&wrong).line(&said("after")).line("{\"v\":1,\"crc\":\"0000\"}").line("{\"crc\":7}");
    log
}

fn byte_order_mark() -> Written {
    let mut log = Written::new("byte order mark");
    log.bytes(b"\xef\xbb\xbf").line(&said("first")).line(&said("second"));
    log
}

fn carriage_returns() -> Written {
    let mut log = Written::new("carriage returns");
    for content in ["one", "two"] {
        log.record(&said(content)).bytes(b"\r\n").record("{\"role\":\"user\"}").bytes(b"\r\n\r\n");
    }
    log.bytes(b"\r").line(&said("three"));
    log
}

fn zero_bytes() -> Written {
    let mut log = Written::new("zero bytes");
    log.line(&said("before")).bytes(&[0; 20]).line(&said("behind them"));
    log.record(&said("before them")).bytes(&[0; 20]).bytes(b"\n").bytes(&[0; 20]).bytes(b"\n");
    log.record(&said("on both sides")).bytes(&[0; 5]).record(&said("of them")).bytes(b"\n");
    log.bytes(&said("torn").as_bytes()[..30]).bytes(&[0; 20]).line(&said("after"));
    log.record("{\"role\":\"user\"}").bytes(b"\r").bytes(&[0; 3]).bytes(b"\n").bytes(&[0; 7]);
    log
}

fn torn_in_the_middle() -> Written {
    let mut log = Written::new("torn in the middle");
    let torn = sealed("\"id\":\"torn\",\"content\":\"a \\u00e9 \\\\ \\\" é 🙂 \"");
    for end in (1..torn.len()).step_by(13) {
        log.bytes(&torn.as_bytes()[..end]).bytes(b"\n").line(&said("after"));
        log.bytes(&torn.as_bytes()[..end]).line(&said("on the same line"));
    }
    log
}

fn glued() -> Written {
    let mut log = Written::new("glued");
    log.record(&said("a")).record(&said("b")).line(&said("c"));
    log.record(&said("d")).bytes(b"  , ").line(&said("e"));
    log.record(&said("f")).bytes(b"{\"v\":1,\"torn").line(&said("g"));
    log.record(&said("h")).bytes(b"{\"v\":1,\"no checksum\":true}").line(&said("i"));
    log
}

fn glued_without_checksum() -> Written {
    let mut log = Written::new("glued without checksum");
    log.record("{\"role\":\"user\"}").lost().line(&said("believed"));
    log.record("{\"role\":\"user\"}").lost().bytes(b"{\"role\":\"tool\"}\n").line(&said("after"));
    log
}

fn merged() -> Written {
    let mut log = Written::new("merged");
    log.bytes(b"<<<<<<< HEAD\n").line(&said("ours")).bytes(b"||||||| base\n=======\n").line(&said("theirs"));
    log.bytes(b">>>>>>> branch\n").line(&said("after"));
    log
}

fn foreign() -> Written {
    let mut log = Written::new("foreign");
    log.line(&said("before")).bytes(b"[1,{\"v\":1},\"x\"]\n123456\n\"a string\"\nnull\ntrue\n-1.5e3\n");
    log.bytes(b"not JSON at all\n{'single':1}\n{\"a\":1,}\n{\"a\" 1}\n}{\n").line(&said("after"));
    log
}

fn no_utf8() -> Written {
    let mut log = Written::new("no UTF-8");
    log.bytes(b"\xff\xfe\n{\"a\":\"\xc3\"}\n\xed\xa0\xbd\n").line(&said("after"));
    log.bytes(b"{\"v\":1,\"a\":\"\xe4\xbd").line(&said("behind half a character"));
    log
}

fn in_spaces() -> Written {
    let mut log = Written::new("in spaces");
    log.bytes(b" \t")
        .record("{\"role\" : \"user\"}")
        .bytes(b" \r \t\r\n")
        .bytes(b"  \n")
        .line(&said("after"));
    log
}
