//! What secrets look like: whoever drives the program is asked.

use leftoff::fs::Rules;
use leftoff::json::text::to_json;
use leftoff::privacy::Span;
use serde::Deserialize;

#[derive(Debug)]
pub struct OfHost;

#[derive(Deserialize)]
struct Found {
    start: usize,
    end: usize,
    rule: String,
}

impl Rules for OfHost {
    fn secrets(&self, texts: &[String]) -> Result<Vec<Vec<Span>>, String> {
        println!("{{\"asks\":{}}}", to_json(&texts));
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
        let found: Vec<Vec<Found>> = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let span = |Found { start, end, rule }| Span { start, end, rule };
        Ok(found.into_iter().map(|all| all.into_iter().map(span).collect()).collect())
    }
}
