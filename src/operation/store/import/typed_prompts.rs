//! What the user typed in sessions of an agent's, from the file in which its client writes that down at once.

use super::Importer;
use super::companion_files::LARGEST_BESIDE;
use crate::interop::{AgentName, ImportedSession, TypedPrompts, locations};
use crate::layout::{File, Root};
use crate::operation::{FileKind, Trouble, unless_bug};
use crate::record::message::{Message, Role};

/// So much of such a file is read at once.
const PIECE: u64 = 1 << 20;

/// How far such a file was read, from its end backward: no farther than to when a session began that is imported.
#[derive(Default)]
pub(super) struct PromptLog {
    typed: TypedPrompts,
    /// Where what was read begins.
    start: u64,
    /// Whether anything was typed at all.
    is_there: bool,
}

impl Importer<'_> {
    /// Adds what was typed in these sessions, of the file `name`, and not delivered; whether more of that may come, though their own
    /// file does not change.
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
            let start = read.start.saturating_sub(PIECE);
            let bytes = unless_bug(self.io.read(&file, start, Some(read.start)).await)?.flatten();
            // What cannot be read says nothing, and neither does what was cut meanwhile.
            let bytes = bytes.filter(|bytes| bytes.len() as u64 == read.start - start);
            read.start = if bytes.is_some() { start } else { 0 };
            read.typed.take_before(&bytes.unwrap_or_default(), read.start == 0);
        }
        let may_come = read.is_there && sessions.iter().any(awaits_prompts);
        sessions.iter_mut().for_each(|session| read.typed.deliver(session));
        self.typed.borrow_mut().insert(path, read);
        Ok(may_come)
    }

    // A log of lines is read as far as that is needed, a document whole.
    async fn open_prompt_log(&self, file: &File) -> Result<PromptLog, Trouble> {
        let stat = unless_bug(self.io.stat(file).await)?.flatten();
        let size = stat.filter(|stat| stat.kind == FileKind::File).map_or(0, |stat| stat.size);
        let mut read = PromptLog { start: size, is_there: size > 0, ..PromptLog::default() };
        if file.path.ends_with(".json") {
            let is_small = core::mem::take(&mut read.start) <= LARGEST_BESIDE;
            let bytes = if is_small { unless_bug(self.io.read_all(file).await)?.flatten() } else { None };
            read.typed.take_log(&bytes.unwrap_or_default());
        }
        Ok(read)
    }
}

// Whether a prompt may be typed that does not change the session's own file at once: Codex writes it there if its answer is done.
fn awaits_prompts(session: &ImportedSession) -> bool {
    let is_done = |last: &Message| last.role == Some(Role::Assistant) && last.tool_calls().is_empty();
    session.agent == AgentName::Gemini.as_str() || !session.messages.last().is_some_and(is_done)
}
