//! Reads and writes a store's settings.

use alloc::string::String;

use super::Store;
use crate::operation::Trouble;

impl Store {
    /// Reads the settings files now: `{"settings","all","problems"}`, the effective settings as one object, for each
    /// setting `{"key","value","source","path"}`, and for each value that could not be used `{"code","message"}`.
    ///
    /// # Errors
    /// Those of this host's clock.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.write_setting("idleMinutes", Some("30"), false)?;
    /// assert!(store.settings()?.contains(r#""idleMinutes":30"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn settings(&self) -> Result<String, Trouble> {
        Ok(self.drive(self.0.core.setup().settings())?.to_json())
    }

    /// Writes a setting, JSON, into the home's file, or the project's; without a value it removes the setting. An open
    /// store keeps the settings that it was opened with.
    ///
    /// # Errors
    /// `invalid_setting` for a key that is not known, a value of another kind, a file that is no JSON object; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let refused = store.write_setting("idleMinutes", Some("\"long\""), false).map_err(|refused| refused.code().to_string());
    /// assert_eq!(refused, Err("invalid_setting".into()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_setting(&self, key: &str, value: Option<&str>, is_of_project: bool) -> Result<(), Trouble> {
        self.drive(self.0.core.setup().write_setting(key.into(), value.map(String::from), is_of_project))
    }
}
