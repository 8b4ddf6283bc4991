//! Redaction of outgoing text, and a program's own rules for secrets.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::host::Host;
use crate::json::text::to_json;
use crate::layout::File;
use crate::operation::{OutgoingRedactor, RedactedValue, Trouble};
use crate::privacy::SecretSpan;

/// A program's rules for secrets that leftoff has no rule for.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// use leftoff::fs::{Options, Rules, Store};
/// use leftoff::operation::RedactMode;
/// use leftoff::privacy::SecretSpan;
///
/// /// Keys of a program's own.
/// #[derive(Debug)]
/// struct Keys;
///
/// impl Rules for Keys {
///     fn secrets(&self, texts: &[String]) -> Result<Vec<Vec<SecretSpan>>, String> {
///         let in_text = |text: &String| {
///             let at = text.find("key-")?;
///             let end = text[at..].find(|letter: char| !letter.is_alphanumeric() && letter != '-');
///             Some(SecretSpan { start: at, end: end.map_or(text.len(), |end| at + end), rule: "key".into() })
///         };
///         Ok(texts.iter().map(|text| in_text(text).into_iter().collect()).collect())
///     }
/// }
///
/// let options = Options { redact: Some(RedactMode::Replace), rules: Some(Box::new(Keys)), ..Options::default() };
/// let store = Store::open_with(folder.path(), options)?;
/// let session = store.create("{}")?;
/// session.append(r#"{"role":"user","content":"It is key-93a1c0, keep it."}"#, Default::default())?;
/// let context = session.context(r#"{"window":8000}"#, Default::default())?;
/// assert!(context.contains("[redacted:key:") && !context.contains("key-93a1c0"));
/// # Ok(())
/// # }
/// ```
pub trait Rules: Debug {
    /// Finds secrets in each of these texts, as byte ranges; empty if none has any.
    ///
    /// # Errors
    /// A sentence; nothing leaves the store then.
    fn secrets(&self, texts: &[String]) -> Result<Vec<Vec<SecretSpan>>, String>;
}

/// Redacts what leaves one session, or none.
#[derive(Clone, Debug)]
pub(super) struct Redactor {
    pub redactor: Rc<OutgoingRedactor>,
    /// The session's folder, whose files' secrets all count.
    pub folder: Option<File>,
}

impl Redactor {
    /// Answers the host request for redaction.
    pub fn redact(&self, host: &Host, json: String) -> Result<RedactedValue, Trouble> {
        host.drive(self.redactor.redact_value(json, self.folder.clone()))
    }

    /// Redacts a value, JSON.
    pub fn redact_value(&self, host: &Host, json: String) -> Result<String, Trouble> {
        if !self.redactor.is_on() {
            return Ok(json);
        }
        Ok(self.redact(host, json.clone())?.value.unwrap_or(json))
    }

    /// Redacts a text.
    pub fn redact_text(&self, host: &Host, text: String) -> Result<String, Trouble> {
        if !self.redactor.is_on() {
            return Ok(text);
        }
        let left = self.redact_value(host, to_json(&text))?;
        serde_json::from_str(&left).map_err(|error| Trouble::internal(format!("{error}")))
    }
}

/// Renders a redacted value as `{"value","secrets"}`.
pub(super) fn render_redacted(json: &str, left: &RedactedValue) -> String {
    let value = left.value.as_deref().unwrap_or(json);
    format!("{{\"value\":{value},\"secrets\":{}}}", to_json(&left.secrets))
}
