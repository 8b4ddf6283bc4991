//! Saves an output, in memory or in a file.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::{OutputRun, ResultPlace, Store, StoredOutput};
use crate::json::request;
use crate::json::text::to_json;
use crate::layout;
use crate::operation::{Io, Operation, Trouble};
use crate::outputs::{Output, OutputPointer, file, name};

/// Bytes of a result from which its description is made.
pub(super) const HEAD_BYTES: u64 = 4096;

impl Store {
    /// Saves a tool output: `{"sessionId","toolName","args","taskId","queryId","sizeBytes"}`, JSON, with the size of
    /// its result as JSON, which the host has at hand. Its file is written whole before this ends. Answer: an
    /// [`OutputPointer`], JSON.
    pub fn save_output(self: &Rc<Store>, output: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let output = Output::from_json(&output)?;
            if output.size_bytes == 0 {
                return Err(request::error(
                    "expected the bytes of the result for \"sizeBytes\", but found none",
                )
                .into());
            }
            let run = store.current_run(&io).await?;
            let pointer = store.write_output(&io, &output, &run).await?;
            Ok(to_json(&pointer))
        })
    }

    async fn write_output(
        &self,
        io: &Io,
        output: &Output,
        run: &OutputRun,
    ) -> Result<OutputPointer, Trouble> {
        let (size, saved_ms) = (output.size_bytes, io.now_ms());
        let is_small = size < run.memory_bytes;
        let beginning = io.read_caller_bytes(if is_small { size } else { size.min(HEAD_BYTES) }).await?;
        if is_small && beginning.len() as u64 != size {
            let message =
                format!("expected an output of {size} bytes, but found {} instead", beginning.len());
            return Err(Trouble::internal(message));
        }
        let beginning = String::from_utf8_lossy(&beginning);
        let named = name::output_file_name(&output.session, &output.tool, &run.name, &io.stamp().entropy);
        let at = layout::outputs().child(&named);
        let pointer = OutputPointer::new(output, self.setup.display_path(&at), saved_ms, &beginning);
        let lies = if is_small {
            ResultPlace::Memory(beginning.into())
        } else {
            self.write_run_lease(io, run).await?;
            let (before, behind) = file::envelope(output, saved_ms);
            let place = before.len() as u64;
            io.write_caller_bytes(&at, [before, behind].concat().into_bytes(), place).await?;
            ResultPlace::File(place)
        };
        self.outputs.borrow_mut().add(StoredOutput { pointer: pointer.clone(), place: lies });
        Ok(pointer)
    }
}
