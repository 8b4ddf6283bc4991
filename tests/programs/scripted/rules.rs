//! What secrets look like: whoever drives the program is asked.

use leftoff::fs::Rules;
use leftoff::json::text::to_json;
use leftoff::privacy::SecretSpan;
use serde::Deserialize;

#[derive(Debug)]
pub struct OfHost;

#[derive(Deserialize)]
struct AnsweredSpan {
    start: usize,
    end: usize,
    rule: String,
}

impl Rules for OfHost {
    fn secrets(&self, texts: &[String]) -> Result<Vec<Vec<SecretSpan>>, String> {
        println!("{{\"asks\":{}}}", to_json(&texts));
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
        let found: Vec<Vec<AnsweredSpan>> = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let span = |AnsweredSpan { start, end, rule }| SecretSpan { start, end, rule };
        Ok(found.into_iter().map(|all| all.into_iter().map(span).collect()).collect())
    }
}
