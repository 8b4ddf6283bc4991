//! Makes the planes of a vocabulary from tiktoken-rs: `cargo run --example planes -- o200k_base src/tokens/o200k_base.planes`.

use std::collections::HashMap;

fn main() {
    let [name, path] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().expect("usage: planes <name> <file>");
    std::fs::write(&path, planes(&name)).expect("the file can be written");
    println!("wrote {path}");
}

/// The merge pairs of a vocabulary as six byte planes.
pub fn planes(name: &str) -> Vec<u8> {
    let engine = match name {
        "o200k_base" => tiktoken_rs::o200k_base(),
        "cl100k_base" => tiktoken_rs::cl100k_base(),
        _ => panic!("expected o200k_base or cl100k_base, but found {name} instead"),
    };
    let engine = engine.expect("it is in tiktoken-rs");
    let tokens: Vec<Vec<u8>> = (0..).map_while(|rank| engine.decode_bytes(&[rank]).ok()).collect();
    let special = tokens.iter().position(|token| token.starts_with(b"<|endof")).unwrap_or(tokens.len());
    let tokens = &tokens[..special];
    let ranks: HashMap<&[u8], u32> =
        tokens.iter().zip(0..).map(|(token, rank)| (token.as_slice(), rank)).collect();
    let pairs: Vec<(u32, u32)> = tokens[256..].iter().map(|token| pair(token, &ranks)).collect();
    let plane = |shift: u32, right: bool| {
        pairs
            .iter()
            .map(move |pair| ((if right { pair.1 } else { pair.0 }) >> shift) as u8)
            .collect::<Vec<u8>>()
    };
    [plane(0, false), plane(8, false), plane(16, false), plane(0, true), plane(8, true), plane(16, true)]
        .concat()
}

// The last merge that makes a token: merge by rank, as an encoder does, until two parts are left.
fn pair(token: &[u8], ranks: &HashMap<&[u8], u32>) -> (u32, u32) {
    let mut cuts: Vec<usize> = (0..=token.len()).collect();
    while cuts.len() > 3 {
        let rank = |at: &usize| ranks.get(&token[cuts[*at]..cuts[*at + 2]]).copied().unwrap_or(u32::MAX);
        let lowest = (0..cuts.len() - 2).min_by_key(rank).expect("more than two parts are left");
        cuts.remove(lowest + 1);
    }
    (ranks[&token[..cuts[1]]], ranks[&token[cuts[1]..]])
}
