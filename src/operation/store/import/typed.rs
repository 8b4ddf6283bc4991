//! What the user typed in sessions of an agent's, from the file in which its client writes that down at once.

use super::Importing;
use crate::interop::kept;
use crate::interop::{ImportedSession, Typed};
use crate::layout::{File, Root};
use crate::operation::{Kind, Trouble, unless_bug};
use crate::record::message::{Message, Role};

/// So much of such a file is read at once.
const PIECE: u64 = 1 << 20;

/// How far such a file was read, from its end backward: no farther than to when a session began that is imported.
#[derive(Default)]
pub(super) struct Read {
    typed: Typed,
    /// Where what was read begins.
    start: u64,
    /// Whether anything was typed at all.
    is_there: bool,
}

impl Importing<'_> {
    /// Adds what was typed in these sessions, of the file `name`, and not delivered; whether more of that may come, though their own
    /// file does not change.
    pub(super) async fn deliver_typed(
        &self,
        name: &str,
        sessions: &mut [ImportedSession],
    ) -> Result<bool, Trouble> {
        let (Some(path), Some(began)) =
            (kept::typed(name), sessions.iter().filter_map(ImportedSession::began_ms).min())
        else {
            return Ok(false);
        };
        let file = File::new(Root::Outside, self.native(&path));
        let known = self.typed.borrow_mut().remove(&path);
        let mut read = match known {
            Some(read) => read,
            None => {
                let start = self.size_of(&file).await?;
                Read { start, is_there: start > 0, ..Read::default() }
            }
        };
        while read.start > 0 && !read.typed.reaches(began) {
            let start = read.start.saturating_sub(PIECE);
            let bytes = unless_bug(self.io.read(&file, start, Some(read.start)).await)?.flatten();
            // What cannot be read says nothing, and neither does what was cut meanwhile.
            let bytes = bytes.filter(|bytes| bytes.len() as u64 == read.start - start);
            read.start = if bytes.is_some() { start } else { 0 };
            read.typed.take_before(&bytes.unwrap_or_default(), read.start == 0);
        }
        let is_unfinished = |session: &ImportedSession| session.messages.last().is_some_and(awaits_answer);
        let may_come = read.is_there && sessions.iter().any(is_unfinished);
        sessions.iter_mut().for_each(|session| read.typed.deliver(session));
        self.typed.borrow_mut().insert(path, read);
        Ok(may_come)
    }

    async fn size_of(&self, file: &File) -> Result<u64, Trouble> {
        let stat = unless_bug(self.io.stat(file).await)?.flatten();
        Ok(stat.filter(|stat| stat.kind == Kind::File).map_or(0, |stat| stat.size))
    }
}

// Behind an answer a client writes what is typed into the session's own file at once.
fn awaits_answer(message: &Message) -> bool {
    message.role != Some(Role::Assistant) || !message.tool_calls().is_empty()
}
