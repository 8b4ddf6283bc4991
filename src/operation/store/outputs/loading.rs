//! Outputs that are read again: of this run, and by their files those of another one on the same home.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Lies, Store};
use crate::error::{Code, Error};
use crate::layout::File;
use crate::operation::{Io, Kind, Operation, Trouble};
use crate::outputs::file;

/// What stands before a result is read in pieces of at least so many bytes, what stands behind it at once.
const PIECE: u64 = 1 << 16;

/// Where a result is, JSON.
pub(super) enum Found {
    Memory(Rc<str>),
    File(File, u64, u64),
}

impl Store {
    /// The result of an output, by the path that saving it gave. Answer: JSON; or nothing, where the host was handed it.
    pub fn load_output(self: &Rc<Store>, path: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            match store.result(&io, &path).await? {
                Found::Memory(json) => Ok((*json).into()),
                Found::File(file, start, end) => match io.hand(&file, start, end).await? {
                    Some(length) if length == end - start => Ok(String::new()),
                    Some(length) => {
                        let expected = end - start;
                        Err(damaged(
                            &path,
                            &format!("expected a result of {expected} bytes, but found {length}"),
                        ))
                    }
                    None => Err(gone(&path).into()),
                },
            }
        })
    }

    /// Where the result of an output is.
    pub(super) async fn result(&self, io: &Io, path: &str) -> Result<Found, Trouble> {
        let file = self.meant_output(path)?;
        let known = self.outputs.borrow().at(path).cloned();
        match known.map(|kept| (kept.lies, kept.pointer.size_bytes)) {
            Some((Lies::Memory(json), _)) => Ok(Found::Memory(json)),
            Some((Lies::File(start), size)) => Ok(Found::File(file, start, start + size)),
            None => self.of_another(io, file, path).await,
        }
    }

    // What stands in the file says where its result begins and ends: nobody else knows.
    async fn of_another(&self, io: &Io, file: File, path: &str) -> Result<Found, Trouble> {
        let size = match io.stat(&file).await? {
            Some(stat) if stat.kind == Kind::File => stat.size,
            _ => return Err(gone(path).into()),
        };
        let last = io.read_range(&file, size.saturating_sub(PIECE), size).await?;
        let mut first = Vec::new();
        loop {
            let end = size.min((first.len() as u64 * 2).max(PIECE));
            first.extend(io.read_range(&file, first.len() as u64, end).await?);
            if let Some((start, behind)) = file::result(&first, &last)
                && start + behind <= size
            {
                return Ok(Found::File(file, start, size - behind));
            }
            if (first.len() as u64) < end || end == size {
                return Err(damaged(path, "expected a tool output, but found something else"));
            }
        }
    }
}

fn gone(path: &str) -> Error {
    let message = format!(
        "no tool output at \"{path}\": outputs are kept until their session ends or their store is closed"
    );
    Error::new(Code::NotFound, message)
}

fn damaged(path: &str, why: &str) -> Trouble {
    Trouble::refused(Code::Damaged, format!("{why} in \"{path}\""))
}
