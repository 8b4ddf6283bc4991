//! Makes `src/tokens/classes.runs` from the regex crate's Unicode tables: `cargo run --example classes -- src/tokens/classes.runs`.

use regex::Regex;

/// The classes in the order of their numbers, each as the patterns of the vocabularies name it; what is in none is 0.
pub const CLASSES: [&str; 7] =
    [r"[\p{Lu}\p{Lt}]", r"\p{Ll}", r"[\p{Lm}\p{Lo}]", r"\p{M}", r"\p{N}", r"[\s--[\r\n]]", r"[\r\n]"];

/// The bits of a length that stand in a byte each, but for the first, which has five beside the class.
const BITS: u32 = 7;

fn main() {
    let path = std::env::args().nth(1).expect("usage: classes <file>");
    std::fs::write(&path, runs()).expect("the file can be written");
    println!("wrote {path}");
}

/// Runs of characters of one class, up to the last that is in any: the class in three bits and four bits of the length;
/// where the eighth is set, seven bits of it follow in the next byte, and so on.
pub fn runs() -> Vec<u8> {
    let mut classes = classes();
    let last = classes.iter().rposition(|class| *class != 0).expect("there are letters");
    classes.truncate(last + 1);
    classes.chunk_by(|a, b| a == b).flat_map(|run| encode_run(run[0], run.len())).collect()
}

/// The class of each code point.
pub fn classes() -> Vec<u8> {
    let patterns = CLASSES.map(|pattern| Regex::new(&format!("^{pattern}$")).expect("it is a pattern"));
    let class = |code| {
        let text = char::from_u32(code).map(String::from)?;
        patterns.iter().position(|pattern| pattern.is_match(&text))
    };
    (0..=char::MAX as u32).map(|code| class(code).map_or(0, |class| class as u8 + 1)).collect()
}

fn encode_run(class: u8, length: usize) -> Vec<u8> {
    let mut written = vec![class | ((length & 15) << 3) as u8];
    let mut rest = length >> 4;
    while rest > 0 {
        *written.last_mut().expect("it has a byte") |= 0x80;
        written.push((rest & 127) as u8);
        rest >>= BITS;
    }
    written
}
