//! The law of pairs: each result stands behind its call, and each call has one before anything else is said.

use core::fmt::Debug;

use leftoff::record::message::Message;

/// `of`: whose messages they are, for who reads a failure.
pub fn check_pairs(of: impl Debug, messages: &[Message]) {
    let mut open = Vec::new();
    for message in messages {
        if let Some(tool) = &message.tool {
            let call = open.iter().position(|id| *id == tool.call_id);
            open.remove(call.expect("a result has its call before it"));
        } else {
            assert!(open.is_empty(), "{of:?}: a call without its result");
        }
        open.extend(message.tool_calls().iter().map(|call| call.id.clone()));
    }
    assert!(open.is_empty(), "{of:?}: a call without its result");
}
