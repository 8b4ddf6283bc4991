//! Appends to a session, and says of each append, once it is acknowledged, what it was: a line of JSON each. What the fault
//! suites run beside their JavaScript: `<home> <session id> <plan>`, the plan as JSON.

use leftoff::fs::{AppendOptions, Durability, Options, Store};
use leftoff::json::hash::sha256;
use serde_json::json;

#[derive(serde::Deserialize)]
struct Plan {
    seed: usize,
    /// Its number, which begins each message.
    writer: usize,
    count: usize,
    /// `content`: one text; `line`: a line of texts that each are too short for a blob.
    kind: String,
    bytes: usize,
}

/// What a reader could take for an end, a beginning or another line.
const CONFUSING_TEXTS: [&str; 5] =
    ["\"}", "\\", "\n{\"v\":1,\"id\":\"", "\u{2028}", "\",\"crc\":\"00000000\"}\n"];
const SMALL_LOG_BYTES: usize = 200 * 1024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, id, plan] = &arguments[..] else { return Err("expected <home> <session id> <plan>".into()) };
    let plan: Plan = serde_json::from_str(plan)?;
    let store = Store::open_with(home, Options { project: Some("/".into()), ..Options::default() })?;
    let session = store.session(id)?;
    println!("\"open\"");
    for number in 1..=plan.count {
        let text = text(plan.seed + number, plan.bytes);
        let (text, parts) =
            if plan.kind == "line" { ("", pieces(&text)) } else { (text.as_str(), Vec::new()) };
        let content = format!("{}:{number} {text}", plan.writer);
        let reasoning: Vec<_> = parts.iter().map(|text| json!({ "text": text })).collect();
        let draft =
            json!({ "role": "assistant", "content": content, "assistant": { "reasoning": reasoning } });
        let durability = if number % 100 == 0 { Durability::Durable } else { Durability::Buffered };
        let options = AppendOptions { durability, ..AppendOptions::default() };
        let appended = session.append(&draft.to_string(), options)?.messages();
        let hash = sha256((content + &parts.concat()).as_bytes());
        println!("{}", json!([{ "id": appended[0].id, "hash": hash }]));
    }
    Ok(session.flush()?)
}

/// Letters, and now and then a trap.
fn text(seed: usize, bytes: usize) -> String {
    let word = |at: usize| {
        if at.is_multiple_of(64) { CONFUSING_TEXTS[at / 64 % 5].into() } else { format!("{at:x}") }
    };
    let mut words = (seed..).map(word);
    std::iter::repeat_with(|| words.next().unwrap_or_default()).take(bytes / 5).collect()
}

fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(SMALL_LOG_BYTES).map(String::from_iter).collect()
}
