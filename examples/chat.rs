//! Keeps a conversation with a model that knows one answer: `cargo run --example chat --features fs -- <folder> <words>`.
//! Called again, it goes on with what was said.

use std::error::Error;
use std::path::Path;

use leftoff::fs::{Session, Store};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("expected a folder, but found none")?;
    let words = arguments.collect::<Vec<_>>().join(" ");
    let session = last(&Store::open(&folder)?, Path::new(&folder))?;

    // What is said is on the disk before anybody answers.
    session.append(&json!({ "role": "user", "content": words }).to_string(), Default::default())?;

    // What the model gets fits its window, however long the conversation is.
    let context = session.context(r#"{"window":8000,"format":"openai-chat"}"#, Default::default())?;
    let context: Value = serde_json::from_str(&context)?;
    let answer = model(&context["messages"]);
    session.append(&json!({ "role": "assistant", "content": answer }).to_string(), Default::default())?;
    session.flush()?;
    println!("{answer}");
    Ok(())
}

/// The session that goes on, or a new one.
fn last(store: &Store, folder: &Path) -> Result<Session, Box<dyn Error>> {
    let note = folder.join("chat.txt");
    if let Ok(id) = std::fs::read_to_string(&note) {
        return Ok(store.session(&id)?);
    }
    let session = store.create(r#"{"title":"A chat"}"#)?;
    std::fs::write(note, session.id())?;
    Ok(session)
}

/// A model of your own comes here.
fn model(messages: &Value) -> String {
    let said = messages.as_array().map_or(0, Vec::len);
    format!("I was sent {said} messages.")
}
