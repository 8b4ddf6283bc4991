//! Prompts that the user typed in an agent's client, from the file to which the client writes them at once.

use super::Importer;
use super::companion_files::MAX_COMPANION_BYTES;
use crate::interop::{AgentName, ImportedSession, TypedPrompts, locations};
use crate::layout::{File, Root};
use crate::operation::{FileKind, Trouble, unless_bug};
use crate::record::message::{Message, Role};

/// Bytes of such a file that are read at once.
const READ_BYTES: u64 = 1 << 20;

/// A prompt log, read backward from its end, no farther than to the beginning of the earliest session imported.
#[derive(Default)]
pub(super) struct PromptLog {
    typed: TypedPrompts,
    /// The byte from which on it is read.
    start: u64,
    /// The file exists, and is not empty.
    is_there: bool,
}

impl Importer<'_> {
    /// Adds to these sessions, from the file `name`, prompts that were typed and not delivered. Returns whether more
    /// of them may come although the sessions' file does not change.
    pub(super) async fn deliver_typed(
        &self,
        name: &str,
        sessions: &mut [ImportedSession],
    ) -> Result<bool, Trouble> {
        let (Some(path), Some(began)) =
            (locations::prompt_log(name), sessions.iter().filter_map(ImportedSession::began_ms).min())
        else {
            return Ok(false);
        };
        let file = File::new(Root::Outside, self.to_native_path(&path));
        let known = self.typed.borrow_mut().remove(&path);
        let mut read = match known {
            Some(read) => read,
            None => self.open_prompt_log(&file).await?,
        };
        while read.start > 0 && !read.typed.reaches(began) {
            let start = read.start.saturating_sub(READ_BYTES);
            let bytes = unless_bug(self.io.read(&file, start, Some(read.start)).await)?.flatten();
            // Bytes that cannot be read, or were cut off meanwhile, have no prompts.
            let bytes = bytes.filter(|bytes| bytes.len() as u64 == read.start - start);
            read.start = if bytes.is_some() { start } else { 0 };
            read.typed.take_before(&bytes.unwrap_or_default(), read.start == 0);
        }
        let may_come = read.is_there && sessions.iter().any(awaits_prompts);
        sessions.iter_mut().for_each(|session| read.typed.deliver(session));
        self.typed.borrow_mut().insert(path, read);
        Ok(may_come)
    }

    // Opens a log of lines, to be read as far as needed; a JSON document is read whole.
    async fn open_prompt_log(&self, file: &File) -> Result<PromptLog, Trouble> {
        let stat = unless_bug(self.io.stat(file).await)?.flatten();
        let size = stat.filter(|stat| stat.kind == FileKind::File).map_or(0, |stat| stat.size);
        let mut read = PromptLog { start: size, is_there: size > 0, ..PromptLog::default() };
        if file.path.ends_with(".json") {
            let is_small = core::mem::take(&mut read.start) <= MAX_COMPANION_BYTES;
            let bytes = if is_small { unless_bug(self.io.read_all(file).await)?.flatten() } else { None };
            read.typed.take_log(&bytes.unwrap_or_default());
        }
        Ok(read)
    }
}

// Whether a prompt may be typed without changing the session's own file at once: Codex writes it there once its answer
// is done.
fn awaits_prompts(session: &ImportedSession) -> bool {
    let is_done = |last: &Message| last.role == Some(Role::Assistant) && last.tool_calls().is_empty();
    session.agent == AgentName::Gemini.as_str() || !session.messages.last().is_some_and(is_done)
}
