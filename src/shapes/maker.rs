//! The maker of a model, and the model's name without its host.

use alloc::string::String;

/// A model's maker, as far as its name says.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Maker {
    Anthropic,
    Google,
    OpenAi,
    Other,
}

const MAKERS: [(&str, Maker); 7] = [
    ("claude", Maker::Anthropic),
    ("gemini", Maker::Google),
    ("gpt-oss", Maker::Other),
    ("gpt-", Maker::OpenAi),
    ("codex", Maker::OpenAi),
    ("o3", Maker::OpenAi),
    ("o4", Maker::OpenAi),
];

impl Maker {
    pub fn of(model: &str) -> Maker {
        let name = bare_name(model);
        MAKERS.iter().find(|(word, _)| name.starts_with(word)).map_or(Maker::Other, |(_, maker)| *maker)
    }
}

/// Returns a model's name without its host and date: a model may be requested under one form and answer under the
/// other.
pub(super) fn bare_name(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let mut name = name.strip_suffix("-latest").unwrap_or(&name);
    let is_day = |tail: &str| {
        tail.len() >= 8
            && tail.starts_with("20")
            && tail.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    for length in [8, 10] {
        if let Some((head, day)) = name.len().checked_sub(length).and_then(|at| name.split_at_checked(at))
            && let Some(head) = head.strip_suffix(['-', '@'])
            && is_day(day)
        {
            name = head;
        }
    }
    name.into()
}
