//! Messages from the newest on, of a session that nobody opened.

use super::host::Host;
use super::store::done;
use super::{begun_by, drafts, live, once};
use serde_json::Value;

#[test]
fn each_message_comes_once_though_only_who_reads_from_the_start_knows_which_count() {
    let mut host = Host::default();
    let writer = begun_by(&mut host);
    // A piece of the log has some of them.
    let long = "x".repeat(100_000);
    let mut expected = Vec::new();
    let mut says = |host: &mut Host, turn: usize| {
        done(host, writer.append_messages(drafts(&format!("turn {turn} {long}"))));
        expected.push(format!("turn {turn} "));
    };
    (0..8).for_each(|turn| says(&mut host, turn));
    done(&mut host, writer.append_once(drafts("turn 8 "), once()));
    (9..17).for_each(|turn| says(&mut host, turn));
    expected.insert(8, "turn 8 ".into());
    expected.reverse();
    host.drive_on(&mut live().newest()).expect("read");
    assert!(host.pages.len() > 4, "{}", host.pages.len());
    let page = |page: &String| serde_json::from_str::<Vec<Value>>(page).expect("a page");
    let said: Vec<String> = host
        .pages
        .iter()
        .flat_map(page)
        .map(|message| message["content"].as_str().expect("a text").replace(&long, ""))
        .collect();
    assert_eq!(said, expected);
}
