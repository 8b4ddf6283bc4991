//! Which session of the project is its current one: written beside the project, as [`pointer`] has it.

use alloc::vec::Vec;

use super::Store;
use crate::layout::pointer::{self, Pointer};
use crate::operation::live::Live;
use crate::operation::{Io, Trouble, unless_bug};

impl Store {
    /// Points to a session. A project that cannot be written in has no pointer, nor has a folder of many projects. Whether it
    /// is written.
    pub(super) async fn point(&self, io: &Io, live: &Live) -> Result<bool, Trouble> {
        let project = &self.setup.project;
        if !pointer::may_have(project, &self.setup.around(project), &self.setup.user) {
            return Ok(false);
        }
        let pointer = Pointer { id: live.id(), path: live.shown() };
        Ok(unless_bug(written(io, &pointer).await)?.is_some())
    }
}

async fn written(io: &Io, pointer: &Pointer) -> Result<(), Trouble> {
    if io.stat(&pointer::ignore_file()).await?.is_none() {
        io.replace(&pointer::ignore_file(), Vec::from(pointer::IGNORED), None).await?;
    }
    io.replace(&pointer::file(), pointer::write(pointer).into_bytes(), None).await?;
    unless_bug(io.link(&pointer::link(), &pointer.path).await)?;
    Ok(())
}
