//! Commits one conversation with git.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::Store;
use crate::error::Code;
use crate::layout::{File, Placement, Root};
use crate::operation::{Operation, Trouble, git};

impl Store {
    /// Commits a conversation with its session, or the session alone where only that changed, by the git program.
    /// `title`: that of the conversation, redacted. Answer: `{"commit","message","isSessionOnly","files"}`, JSON;
    /// `commit` is null if nothing has changed.
    ///
    /// # Errors
    /// `not_in_workspace`, `not_found`, `not_a_repository`, `git_missing`, `git_busy`, `git_failed`,
    /// `session_ignored`.
    pub fn commit(
        self: &Rc<Store>,
        shown: String,
        placement: Placement,
        title: String,
    ) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(move |io| async move {
            if placement == Placement::Home {
                let message = format!(
                    "only a session in a workspace can be committed: \"{shown}\" is in the home, in no repository"
                );
                return Err(Trouble::new(Code::NotInWorkspace, message));
            }
            let session = File::new(Root::Outside, &*shown);
            git::commit(&io, &store.setup, &store.setup.parent_folder(&shown), &session, &title).await
        })
    }
}
