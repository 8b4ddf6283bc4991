//! The number of a hit's message in its session.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::operation::message_pages::{MessagesRequest, PathMessages};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Trouble};

/// Numbers from 1 on, in reading order, by message id.
#[derive(Default)]
pub(super) struct MessageNumbers(BTreeMap<String, usize>);

impl MessageNumbers {
    /// Reads the numbers, for which the whole log is read.
    pub async fn read(io: &Io, files: &SessionFiles) -> Result<MessageNumbers, Trouble> {
        let mut numbers = MessageNumbers::default();
        let mut messages = PathMessages::begin(files, io, MessagesRequest::default()).await?;
        while let Some(some) = messages.next().await? {
            for (message, _) in some {
                let number = numbers.0.len() + 1;
                numbers.0.insert(message.id, number);
            }
        }
        Ok(numbers)
    }

    /// Adds the number to a hit, a JSON object. A message that is not on the session's path has none.
    pub fn add_to(&self, id: &str, hit: &mut String) {
        if let Some(number) = self.0.get(id) {
            hit.insert_str(1, &format!("\"number\":{number},"));
        }
    }
}
