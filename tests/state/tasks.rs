//! What is left to do: what becomes of one task touches no other, and nothing else that is known.
//! Tries: src/state/mod.rs

use super::{call, failed_result, fold_messages, result_message, texts};
use leftoff::record::message::Message;

fn create_task(number: usize) -> [Message; 2] {
    let id = format!("made-{number}");
    let result = format!("Task #{number} created: task {number}");
    [
        call(&id, "TaskCreate", &format!(r#"{{"subject":"task {number}"}}"#)),
        result_message(&id, "TaskCreate", &result),
    ]
}

#[test]
fn a_task_that_is_done_leaves_the_others_open_and_all_else_known() {
    let write = [call("w", "Write", r#"{"file_path":"/p/a.rs"}"#), result_message("w", "Write", "")];
    let run = [call("r", "Bash", r#"{"command":"make"}"#), failed_result("r", "Bash", "Exit code 1")];
    let before = [create_task(1), create_task(2), create_task(3), write, run].concat();
    let all = |messages: &[Message]| texts(&fold_messages(messages), |_| true);
    for (number, status) in [(1, "completed"), (2, "cancelled"), (3, "deleted")] {
        let update = format!(r#"{{"taskId":"{number}","status":"{status}"}}"#);
        let done = [call("d", "TaskUpdate", &update), result_message("d", "TaskUpdate", "")];
        let mut expected = all(&before);
        expected.retain(|fact| *fact != format!("open task {number}"));
        assert_eq!(expected.len() + 1, all(&before).len());
        assert_eq!(all(&[before.clone(), done.to_vec()].concat()), expected, "{number}");
    }
}
