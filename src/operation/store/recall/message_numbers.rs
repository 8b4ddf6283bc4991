//! Which message of its session a hit is.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::operation::message_pages::{MessagesRequest, PathMessages};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Trouble};

/// The messages of a session by their ids, each with its number as they are read, from 1 on.
#[derive(Default)]
pub(super) struct MessageNumbers(BTreeMap<String, usize>);

impl MessageNumbers {
    /// Reads the whole log for them.
    pub async fn read(io: &Io, live: &SessionFiles) -> Result<MessageNumbers, Trouble> {
        let mut numbers = MessageNumbers::default();
        let mut messages = PathMessages::begin(live, io, MessagesRequest::default()).await?;
        while let Some(some) = messages.next().await? {
            for (message, _) in some {
                let number = numbers.0.len() + 1;
                numbers.0.insert(message.id, number);
            }
        }
        Ok(numbers)
    }

    /// A hit, an object of JSON, with the number of its message. One on a path that nobody reads has none.
    pub fn add_to(&self, id: &str, hit: &mut String) {
        if let Some(number) = self.0.get(id) {
            hit.insert_str(1, &format!("\"number\":{number},"));
        }
    }
}
