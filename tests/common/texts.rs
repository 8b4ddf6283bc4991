//! Real texts, by name: transcripts, prose in many languages, source code.

use std::fs;
use std::path::Path;

/// So much of a text is read, in bytes. Longer ones may have runs that are not counted exactly.
const MAX_TEXT_BYTES: usize = 60_000;

/// Every text of at least 400 bytes among the fixtures, and the project's own source.
pub fn all_texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut texts = Vec::new();
    for folder in ["tests/fixtures/texts", "tests/fixtures/claude-code", "src", "js"] {
        collect(&root.join(folder), &mut texts);
    }
    for file in ["Cargo.lock", "package-lock.json", "LICENSE"] {
        read(&root.join(file), &mut texts);
    }
    texts.sort();
    texts
}

fn collect(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("the folder is part of the source") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(&path, texts);
        } else {
            read(&path, texts);
        }
    }
}

// Vocabularies and damaged transcripts are no texts.
fn read(path: &Path, texts: &mut Vec<(String, String)>) {
    let bytes = fs::read(path).expect("the file can be read");
    if let Ok(mut text) = String::from_utf8(bytes)
        && text.len() >= 400
    {
        let end = (0..=MAX_TEXT_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.expect("0 is a boundary"));
        texts.push((path.display().to_string(), text));
    }
}
