//! The tables of docs/INTEROP.md are what the readers do with the fixtures. `LEFTOFF_WRITE=1` writes them anew.
//! Tries: docs/INTEROP.md, src/interop/coverage.rs, src/interop/loss.rs

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use leftoff::interop::{AgentName, coverage};

use super::imports;

const BEGIN: &str = "<!-- What follows is written by tests/agents/interop_tables.rs. -->\n";

fn tables() -> String {
    let mut text = String::new();
    for agent in AgentName::ALL {
        // By why it is lost: the fields, and the records that become nothing.
        let mut lost: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let (mut sessions, mut messages) = (0, 0);
        for (_, import, _) in imports().filter(|(fixture, ..)| fixture.agent == agent) {
            sessions += import.sessions.len();
            messages += import.sessions.iter().map(|session| session.messages.len()).sum::<usize>();
            for loss in import.sessions.into_iter().flat_map(|session| session.losses) {
                lost.entry(loss.why).or_default().insert(loss.field);
            }
        }
        let versions = coverage(agent).tested_versions.join(", ");
        let versions = if versions.is_empty() { "none that its files name".into() } else { versions };
        let _ = write!(
            text,
            "\n### {}\n\nVersions: {versions}. Fixtures: {sessions} sessions, {messages} messages.\n\n",
            agent.as_str()
        );
        text.push_str(if lost.is_empty() {
            "Nothing is lost.\n"
        } else {
            "| Why it is lost | What |\n|---|---|\n"
        });
        for (why, fields) in lost {
            let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
            let _ = writeln!(text, "| {why} | {} |", fields.join(", ").replace('|', "\\|"));
        }
    }
    text
}

#[test]
fn the_document_lists_every_loss_and_every_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/INTEROP.md");
    let written = std::fs::read_to_string(&path).expect("the document is there");
    let (head, found) = written.split_once(BEGIN).expect("the place where the tables begin");
    let expected = tables();
    if std::env::var_os("LEFTOFF_WRITE").is_some() {
        std::fs::write(&path, [head, BEGIN, &expected].concat()).expect("it can be written");
    } else {
        assert!(found == expected, "run it with LEFTOFF_WRITE=1, and read what has changed");
    }
}
