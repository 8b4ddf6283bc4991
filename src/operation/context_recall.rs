//! Finds what a context recalls: from the last recollection for the same question, from the store's index, else by
//! reading the log.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::join::join_all;
use super::logs::LogName;
use super::session_files::SessionFiles;
use super::{Io, Trouble, Work};
use crate::context::Build;
use crate::recall::question::Question;
use crate::recall::shortlist::Shortlist;
use crate::record::span::Span;

impl SessionFiles {
    // Finds recalled messages without reading the log, where that is possible.
    pub(super) async fn find_recalled(&self, io: &Io, build: &mut Build) -> Result<(), Trouble> {
        if let Some((age, known)) = &*self.cached_recollection.borrow()
            && *age == self.recall_version()
            && build.reuse_recollection(known)
        {
            return Ok(());
        }
        let shortlist = match build.pending_question() {
            Some((question, before)) => self.shortlist(io, question, before).await?,
            None => None,
        };
        let Some(shortlist) = shortlist else {
            build.begin_scan(false);
            return Ok(());
        };
        build.take_shortlist(shortlist);
        let file = self.log_file(LogName::Messages);
        let read = |span: &Span| -> Work<'_, (u64, Vec<u8>)> {
            let (file, Span { start, end }) = (&file, *span);
            Box::pin(async move { Ok((start, io.read_range(file, start, end).await?)) })
        };
        for one in join_all(build.recalled_lines().iter().map(read).collect()).await {
            let (start, bytes) = one?;
            build.take_bytes(start, &bytes)?;
        }
        Ok(())
    }

    #[cfg(feature = "interop")]
    async fn shortlist(
        &self,
        io: &Io,
        question: &Question,
        before: u64,
    ) -> Result<Option<Shortlist>, Trouble> {
        match self.store() {
            Some(store) => store.find_shortlist(io, self, question, before).await,
            None => Ok(None),
        }
    }

    #[cfg(not(feature = "interop"))]
    async fn shortlist(&self, _: &Io, _: &Question, _: u64) -> Result<Option<Shortlist>, Trouble> {
        Ok(None)
    }
}
