//! Orders by meaning with the caller's vectors: what answers a question is ordered by them, and by its words.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Io, Trouble};
use crate::context::Build;
#[cfg(feature = "interop")]
use crate::error::Code;
use crate::json::fields::parse_items;
use crate::json::text::{Text, to_json};
#[cfg(feature = "interop")]
use crate::recall::meaning::measure_nearness;

/// Orders what a context recalls by vectors of the texts. `leaves`: the host redacts them. Returns why vectors were
/// refused, where they were; then the order by words stays.
pub(super) async fn order_recalled(
    io: &Io,
    build: &mut Build,
    texts: Vec<String>,
    leaves: bool,
) -> Result<Option<String>, Trouble> {
    let texts = if leaves { redact_texts(io, texts).await? } else { texts };
    let refused = match io.vectors(texts).await {
        Ok(vectors) => build.take_vectors(Some(&vectors)).err().map(|error| error.message),
        Err(trouble) if trouble.is_bug() => return Err(trouble),
        Err(trouble) => Some(format!("\"embed\" failed: {}", trouble.message())),
    };
    if refused.is_some() {
        build.take_vectors(None)?;
    }
    Ok(refused)
}

/// Redacts texts.
pub(super) async fn redact_texts(io: &Io, texts: Vec<String>) -> Result<Vec<String>, Trouble> {
    let Some(left) = io.redact_outgoing(to_json(&texts)).await?.value else { return Ok(texts) };
    let left = parse_items(&left).unwrap_or_default().into_iter();
    Ok(left.map(|text| Text::decode(text).map(Text::into_shown).unwrap_or_default()).collect())
}

/// Asks for vectors, and measures how near redacted texts are to a question.
#[cfg(feature = "interop")]
pub(super) async fn request_nearness(
    io: &Io,
    question: &str,
    texts: impl Iterator<Item = String>,
) -> Result<Vec<f32>, Trouble> {
    let texts: Vec<String> = core::iter::once(String::from(question)).chain(texts).collect();
    let count = texts.len();
    if count < 3 {
        return Ok(core::iter::repeat_n(0.0, count - 1).collect());
    }
    measure_nearness(&io.vectors(texts).await?, count)
        .map_err(|message| Trouble::new(Code::InvalidRequest, message))
}
