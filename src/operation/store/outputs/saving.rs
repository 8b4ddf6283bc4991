//! An output on its way into memory, or into a file.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::{Kept, Lies, Run, Store};
use crate::json::request;
use crate::json::text::to_json;
use crate::layout;
use crate::operation::{Io, Operation, Trouble};
use crate::outputs::{Output, Pointer, file, name};

/// So many bytes of a result say what it is.
pub(super) const BEGINNING: u64 = 4096;

impl Store {
    /// Saves a tool output: `{"sessionId","toolName","args","taskId","queryId","sizeBytes"}`, JSON, with the size of its result as JSON, which
    /// the host has at hand. Its file is there, whole, before this ends. Answer: a [`Pointer`], JSON.
    pub fn save_output(self: &Rc<Store>, output: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let output = Output::from_json(&output)?;
            if output.size_bytes == 0 {
                return Err(request::wrong(
                    "expected the bytes of the result for \"sizeBytes\", but found none",
                )
                .into());
            }
            let run = store.run(&io).await?;
            let pointer = store.saved(&io, &output, &run).await?;
            Ok(to_json(&pointer))
        })
    }

    async fn saved(&self, io: &Io, output: &Output, run: &Run) -> Result<Pointer, Trouble> {
        let (size, saved_ms) = (output.size_bytes, io.now_ms());
        let is_small = size < run.memory_bytes;
        let beginning = io.given(if is_small { size } else { size.min(BEGINNING) }).await?;
        if is_small && beginning.len() as u64 != size {
            let message =
                format!("expected an output of {size} bytes, but found {} instead", beginning.len());
            return Err(Trouble::internal(message));
        }
        let beginning = String::from_utf8_lossy(&beginning);
        let named = name::of_output(&output.session, &output.tool, &run.name, &io.stamp().entropy);
        let at = layout::outputs().below(&named);
        let pointer = Pointer::new(output, self.setup.shown(&at), saved_ms, &beginning);
        let lies = if is_small {
            Lies::Memory(beginning.into())
        } else {
            self.tell_run(io, run).await?;
            let (before, behind) = file::around(output, saved_ms);
            let place = before.len() as u64;
            io.put(&at, [before, behind].concat().into_bytes(), place).await?;
            Lies::File(place)
        };
        self.outputs.borrow_mut().keep(Kept { pointer: pointer.clone(), lies });
        Ok(pointer)
    }
}
