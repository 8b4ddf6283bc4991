//! What this host asks of git, by running git itself: what else a project is known by, and a commit of one conversation.
//!
//! Reading runs no code that a repository chooses, asks nobody, and reaches no network. A commit is the user's own: with their
//! name, their hooks, their filters and their signature. Nothing is fetched and nothing is pushed.

mod aliases;
mod asking;
mod committing;

pub(super) use aliases::aliases;
pub(super) use committing::commit;
