//! Large tool outputs, kept beside the sessions of a run.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::helpers::Helpers;
use super::super::request::{check_json, with_fields};
use super::Store;
use crate::operation::{Operation, Trouble};
use crate::outputs::choice;

/// Large tool outputs, for an answer that is made from many. A small one stays in memory; from the setting
/// `outputs.memoryBytes` on it is a file, and memory has only a pointer to it. They are kept until their session is
/// stopped or completed, or the store is closed.
#[derive(Debug)]
pub struct ToolOutputs<'a>(pub(super) &'a Store);

impl Store {
    /// The store's tool outputs.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// assert_eq!(store.outputs().list("{}")?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn outputs(&self) -> ToolOutputs<'_> {
        ToolOutputs(self)
    }
}

impl ToolOutputs<'_> {
    /// Saves an output, `{"sessionId","toolName","args","taskId","queryId"}`, all but the first two optional, and its
    /// result, JSON. If it becomes a file, that is whole when this returns. Answer:
    /// `{"path","sessionId","toolName","timestamp","sizeBytes","taskId","queryId","about"}`.
    ///
    /// # Errors
    /// `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let output = r#"{"sessionId":"s","toolName":"grep","args":{"pattern":"TODO"}}"#;
    /// assert!(store.outputs().save(output, r#"["a","b"]"#)?.contains(r#""about":"Found 2 matches for \"TODO\"""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn save(&self, output: &str, result: impl Into<String>) -> Result<String, Trouble> {
        let result = result.into();
        check_json(&result)?;
        let output = with_fields(output, &[("sizeBytes", Some(format!("{}", result.len())))])?;
        let Store(shared) = self.0;
        shared.host.saved_output.replace(result);
        let saved = self.0.drive(shared.core.save_output(output));
        shared.host.saved_output.take();
        saved
    }

    /// Loads an output's result, JSON, by its path, also one that another process has saved on the same home.
    ///
    /// # Errors
    /// `not_found` where it is gone; `invalid_request` for a path of no output; `damaged`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let saved: serde_json::Value =
    ///     serde_json::from_str(&store.outputs().save(r#"{"sessionId":"s","toolName":"t"}"#, "[1]")?)?;
    /// assert_eq!(store.outputs().load(saved["path"].as_str().unwrap_or_default())?, "[1]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn load(&self, path: &str) -> Result<String, Trouble> {
        let Store(shared) = self.0;
        shared.host.loaded_output.take();
        let loaded = self.0.drive(shared.core.load_output(path.into()))?;
        if !loaded.is_empty() {
            return Ok(loaded);
        }
        let refused = |_| Trouble::internal("expected a result of UTF-8, but found other bytes");
        String::from_utf8(shared.host.loaded_output.take()).map_err(refused)
    }

    /// Lists the outputs that this store has saved, in order: `{"sessionId"}`, that session's, or all. Answer: an array
    /// of what `save` answers.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn list(&self, request: &str) -> Result<String, Trouble> {
        self.0.drive(self.0.0.core.outputs(request.into()))
    }

    /// Removes outputs: `{"sessionId"}`, that session's, or all. Returns how many.
    ///
    /// # Errors
    /// `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.outputs().save(r#"{"sessionId":"s","toolName":"t"}"#, "[1]")?;
    /// assert_eq!(store.outputs().clear(r#"{"sessionId":"s"}"#)?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn clear(&self, request: &str) -> Result<u64, Trouble> {
        self.0.drive(self.0.0.core.clear_outputs(request.into()))
    }

    /// Makes a menu for a model to pick from: `{"sessionId"}`, that session's outputs, or all. Answer:
    /// `{"text","outputs"}`, a numbered list, one line per output, and what `list` answers.
    ///
    /// # Errors
    /// `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.outputs().save(r#"{"sessionId":"s","toolName":"read_file","args":{"path":"a.txt"}}"#, r#""text""#)?;
    /// assert!(store.outputs().menu("{}")?.contains(r#"\n1. read_file: Contents of a.txt (6 bytes)\n"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn menu(&self, request: &str) -> Result<String, Trouble> {
        self.drive_outgoing(self.0.0.core.output_menu(request.into()))
    }

    /// Parses which outputs a model picked from a menu of so many, and returns their places, from 0 on.
    ///
    /// # Errors
    /// `invalid_request` for a number that is none of them, and for an answer that does not say clearly which are meant.
    pub fn select(&self, answer: &str, count: usize) -> Result<Vec<usize>, Trouble> {
        Ok(choice::parse_choice(answer, count)?)
    }

    /// Builds a prompt from outputs, for a model to answer a question:
    /// `{"question","outputs","maxTokens","instructions", "encoding","model"}`, where the outputs are paths, and the
    /// last three optional. Answer: `{"text","tokens","encoding","outputs":[{"path", "isCut"}]}`.
    ///
    /// # Errors
    /// `budget_too_small` where not even the question fits; `no_counter`; what `load` refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let asked = r#"{"question":"Why?","outputs":[],"maxTokens":90}"#;
    /// assert!(store.outputs().prompt(asked)?.contains("Question: Why?"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prompt(&self, request: &str) -> Result<String, Trouble> {
        self.drive_outgoing(self.0.0.core.output_prompt(request.into()))
    }

    // Redacts what goes to a model.
    fn drive_outgoing(&self, operation: Operation<'static, String>) -> Result<String, Trouble> {
        self.0.0.host.drive_outgoing(operation, &mut Helpers::default(), Some(&self.0.redactor()))
    }
}
