//! Logs that are followed: what comes is told, and a log that is another one now is told of.
//! Tries: src/operation/messages.rs

use super::{FOLDER, begin_session};
use leftoff::operation::{HostRequest, Step};
use serde_json::json;

#[test]
fn who_follows_a_log_that_is_written_anew_is_told_so_and_gets_nothing_of_it() {
    for lines in [3, 400] {
        let (mut host, live) = begin_session();
        let log = format!("{FOLDER}/messages.jsonl");
        let mut follow = live.follow();
        let (mut step, mut is_anew) = (follow.begin(host.stamp()), false);
        let ended = loop {
            let needs = match step {
                Step::Done(done) => break done,
                Step::Requests(needs) => needs,
            };
            if !is_anew && matches!(needs[..], [HostRequest::Wait { .. }]) {
                is_anew = true;
                host.files.remove(&log);
                for line in 0..lines {
                    let message = json!({
                        "v": 1, "id": format!("other-{line}"), "role": "user", "content": "x ".repeat(200),
                    });
                    host.append(&log, format!("{message}\n").as_bytes());
                }
            }
            assert!(host.request_count < 10_000, "{lines}: it goes on with another log");
            let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
            step = follow.next(host.now_ms(), answers);
        };
        let refused = ended.expect_err("it is another log");
        assert!(refused.code().starts_with("log_"), "{lines}: {refused}");
        assert_eq!(host.pages, Vec::<String>::new(), "{lines}");
    }
}
