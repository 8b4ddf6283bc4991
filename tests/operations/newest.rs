//! Messages from the newest on, of a session that nobody opened.
//! Tries: src/operation/newest_messages.rs

use super::host::Host;
use super::store::{home_path, run_to_end, store};
use super::{FOLDER, begun_by, drafts, leaving, live, once_options};
use leftoff::layout::Placement;
use leftoff::operation::{AppendRequest, CountingMode, Drafts};
use serde_json::{Value, json};

#[test]
fn each_message_comes_once_though_only_who_reads_from_the_start_knows_which_count() {
    let mut host = Host::default();
    let writer = begun_by(&mut host);
    // A piece of the log has some of them.
    let long = "x".repeat(100_000);
    let mut expected = Vec::new();
    let mut says = |host: &mut Host, turn: usize| {
        run_to_end(host, writer.append_messages(drafts(&format!("turn {turn} {long}"))));
        expected.push(format!("turn {turn} "));
    };
    (0..8).for_each(|turn| says(&mut host, turn));
    run_to_end(&mut host, writer.append_once(drafts("turn 8 "), once_options()));
    (9..17).for_each(|turn| says(&mut host, turn));
    expected.insert(8, "turn 8 ".into());
    expected.reverse();
    assert_eq!(newest(&mut host, &long), expected);
    assert!(host.pages.len() > 4, "{}", host.pages.len());
}

#[test]
fn one_that_stands_there_again_costs_no_other() {
    for (length, repeated) in [(1_000, 3), (9_000, 4), (9_000, 8), (20_000, 4), (60_000, 5)] {
        let mut host = Host::default();
        let writer = begun_by(&mut host);
        let long = "x".repeat(length);
        run_to_end(&mut host, writer.append_messages(drafts("turn 0 ")));
        let two = r#"[{"role":"user","content":"turn 1 "},{"role":"assistant","content":"turn 2 "}]"#;
        let two = AppendRequest { drafts: Drafts::Json(two.into(), None), ..drafts("") };
        run_to_end(&mut host, writer.append_once(two, once_options()));
        for turn in 3..12 {
            run_to_end(&mut host, writer.append_messages(drafts(&format!("turn {turn} {long}"))));
        }
        let log = format!("{FOLDER}/messages.jsonl");
        let text = host.text(&log);
        let again = text.lines().find(|line| line.contains(&format!("turn {repeated} "))).expect("a line");
        host.append(&log, format!("{again}\n").as_bytes());
        // Who reads backward may meet it where it stands last; the others are in their order.
        let others = (0..12).rev().filter(|turn| *turn != repeated);
        let expected: Vec<String> = others.map(|turn| format!("turn {turn} ")).collect();
        let mut said = newest(&mut host, &long);
        assert_eq!(said.len(), 12, "{length}, {repeated}: {said:?}");
        said.retain(|one| *one != format!("turn {repeated} "));
        assert_eq!(said, expected, "{length}, {repeated}");
    }
}

#[test]
fn a_revision_that_is_the_first_line_of_its_message_stands_where_it_stands() {
    let mut host = Host::default();
    let writer = begun_by(&mut host);
    let long = "x".repeat(5_000);
    // Copied from a session where it was said again, or what it was before is damaged.
    let mut lines = String::new();
    for turn in 0..12 {
        let content = format!("turn {turn} {long}");
        let line = |rev: u64| json!({ "v": 1, "id": turn.to_string(), "rev": rev, "role": "user", "content": content });
        lines += &match turn % 4 {
            0 => format!("{}\n", line(2)),
            1 => format!("{}}}\n{}\n", line(0), line(1)),
            _ => format!("{}\n", line(0)),
        };
    }
    let again =
        json!({ "v": 1, "id": "4", "rev": 3, "role": "user", "content": format!("turn 4 again {long}") });
    host.append(&format!("{FOLDER}/messages.jsonl"), format!("{lines}{again}\n").as_bytes());
    let told = |turn: u64| if turn == 4 { "turn 4 again ".into() } else { format!("turn {turn} ") };
    let expected: Vec<String> = (0..12).rev().map(told).collect();
    assert_eq!(newest(&mut host, &long), expected);
    for is_reopened in [false, true] {
        let live = if is_reopened { live() } else { writer.clone() };
        host.pages.clear();
        host.drive_on(&mut live.messages(r#"{"newestFirst":true}"#.into())).expect("read");
        assert_eq!(page_contents(&host, &long), expected, "{is_reopened}");
        let asked = r#"{"request":{"window":4000,"reserve":0,"encoding":"estimate-1"}}"#;
        let context =
            host.drive_on(&mut live.context(asked.into(), CountingMode::Estimate)).expect("a context");
        let context: Value = serde_json::from_str(&context).expect("JSON");
        let last = context["messages"].as_array().and_then(|messages| messages.last()).expect("a message");
        assert!(last["content"].as_str().expect("a text").starts_with("turn 11 "), "{last}");
        assert!(
            context.to_string().contains("turn 9 ") && context.to_string().contains("turn 8 "),
            "{context}"
        );
    }
}

fn newest(host: &mut Host, without: &str) -> Vec<String> {
    let newest = store().newest_messages(home_path(FOLDER), Placement::Home, &leaving());
    host.drive_on(&mut { newest }).expect("read");
    page_contents(host, without)
}

fn page_contents(host: &Host, without: &str) -> Vec<String> {
    let page = |page: &String| serde_json::from_str::<Vec<Value>>(page).expect("a page");
    let said = |message: Value| message["content"].as_str().expect("a text").replace(without, "");
    host.pages.iter().flat_map(page).map(said).collect()
}
