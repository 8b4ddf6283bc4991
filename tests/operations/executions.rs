//! What tools did, told by a client that has no calls of its own: each is one, of the answer that it was made for.

use super::begun_by;
use super::host::Host;
use leftoff::operation::{Appending, Counts, Drafts};
use serde_json::{Value, json};

fn answer(text: &str) -> Appending {
    let drafts = Drafts::Said(json!([{ "role": "assistant", "content": text }]).to_string(), None);
    Appending { drafts, is_durable: true, revives: true, counts: Counts::Estimate }
}

#[test]
fn a_call_of_an_id_that_an_earlier_answer_had_is_another_one_and_told_again_it_is_the_same() {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    let mut owners = Vec::new();
    for turn in 0..3 {
        let lines =
            host.drive_on(&mut live.append_messages(answer(&format!("answer {turn}")))).expect("appended");
        let message: Value = serde_json::from_slice(&lines).expect("a message");
        owners.push(message["id"].clone());
        for time in 0..3 {
            let execution = json!({
                "call": { "id": "c", "name": "ls" }, "result": { "content": format!("result {turn}") },
            });
            let told = host.drive_on(&mut live.append_tool(execution.to_string(), Counts::Estimate));
            let told: Value = serde_json::from_str(&told.expect("appended")).expect("JSON");
            assert_eq!(told["isNew"], time == 0, "{turn}: {told}");
            assert_eq!(told["execution"]["messageId"], owners[turn], "{turn}: {told}");
        }
        let all: Vec<Value> =
            serde_json::from_str(&host.drive_on(&mut live.tools()).expect("told")).expect("JSON");
        let of: Vec<&Value> = all.iter().map(|one| &one["messageId"]).collect();
        assert_eq!(of, owners.iter().collect::<Vec<_>>());
    }
}
