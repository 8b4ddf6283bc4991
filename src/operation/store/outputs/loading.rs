//! Loads outputs: of this run, or by their files those of another run on the same home.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::{ResultPlace, Store};
use crate::error::{Code, Error};
use crate::layout::File;
use crate::operation::{FileKind, Io, Operation, Trouble};
use crate::outputs::file;

/// Bytes that are read at once: at least so many before a result, and all of those behind it.
const READ_BYTES: u64 = 1 << 16;

/// The source of a result, JSON.
pub(super) enum ResultSource {
    Memory(Rc<str>),
    File(File, u64, u64),
}

impl Store {
    /// Loads an output's result, by the path that saving it gave. Answer: JSON; empty where the host was handed a part
    /// of the file.
    pub fn load_output(self: &Rc<Store>, path: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            match store.find_result(&io, &path).await? {
                ResultSource::Memory(json) => Ok((*json).into()),
                ResultSource::File(file, start, end) => match io.hand_to_caller(&file, start, end).await? {
                    Some(length) if length == end - start => Ok(String::new()),
                    Some(length) => {
                        let expected = end - start;
                        Err(damaged_output_error(
                            &path,
                            &format!("expected a result of {expected} bytes, but found {length}"),
                        ))
                    }
                    None => Err(missing_output_error(&path).into()),
                },
            }
        })
    }

    /// Finds where an output's result is.
    pub(super) async fn find_result(&self, io: &Io, path: &str) -> Result<ResultSource, Trouble> {
        let file = self.parse_output_path(path)?;
        let known = self.outputs.borrow().find(path).cloned();
        match known.map(|kept| (kept.place, kept.pointer.size_bytes)) {
            Some((ResultPlace::Memory(json), _)) => Ok(ResultSource::Memory(json)),
            Some((ResultPlace::File(start), size)) => Ok(ResultSource::File(file, start, start + size)),
            None => self.find_result_in_file(io, file, path).await,
        }
    }

    // Only the file itself says where its result begins and ends.
    async fn find_result_in_file(&self, io: &Io, file: File, path: &str) -> Result<ResultSource, Trouble> {
        let size = match io.stat(&file).await? {
            Some(stat) if stat.kind == FileKind::File => stat.size,
            _ => return Err(missing_output_error(path).into()),
        };
        let last = io.read_range(&file, size.saturating_sub(READ_BYTES), size).await?;
        let mut first = Vec::new();
        loop {
            let end = size.min((first.len() as u64 * 2).max(READ_BYTES));
            first.extend(io.read_range(&file, first.len() as u64, end).await?);
            if let Some((start, behind)) = file::find_result(&first, &last)
                && start + behind <= size
            {
                return Ok(ResultSource::File(file, start, size - behind));
            }
            if (first.len() as u64) < end || end == size {
                return Err(damaged_output_error(path, "expected a tool output, but found something else"));
            }
        }
    }
}

fn missing_output_error(path: &str) -> Error {
    let message = format!(
        "no tool output at \"{path}\": outputs are kept until their session ends or their store is closed"
    );
    Error::new(Code::NotFound, message)
}

fn damaged_output_error(path: &str, why: &str) -> Trouble {
    Trouble::new(Code::Damaged, format!("{why} in \"{path}\""))
}
