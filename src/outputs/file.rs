//! The file of a tool output: a JSON object around the result, which the core need not read.

use alloc::format;
use alloc::string::String;

use crate::json::fields::{Fields, end_of_string};
use crate::json::text::{Text, to_json};
use crate::outputs::Output;
use crate::time;

/// Returns the bytes before and after the result in the output's file.
///
/// ```
/// use leftoff::outputs::{Output, file};
///
/// let output = Output::from_json(r#"{"sessionId":"s","toolName":"grep","args":{"pattern":"TODO"}}"#)?;
/// let (before, behind) = file::envelope(&output, 0);
/// let written = [before.as_str(), "[1,2]", &behind].concat();
/// assert_eq!(
///     written,
///     r#"{"toolName":"grep","args":{"pattern":"TODO"},"result":[1,2],"timestamp":"1970-01-01T00:00:00.000Z","sessionId":"s"}"#,
/// );
/// assert_eq!(file::find_result(written.as_bytes(), written.as_bytes()), Some((written.find("[1").unwrap() as u64, behind.len() as u64)));
/// # Ok::<(), leftoff::error::Error>(())
/// ```
pub fn envelope(output: &Output, saved_ms: i64) -> (String, String) {
    let Output { session, tool, args, task_id, query_id, .. } = output;
    let optional = |key: &str, value: &Option<String>| {
        value.as_deref().map(|value| format!(",\"{key}\":{}", to_json(value))).unwrap_or_default()
    };
    let before = format!("{{\"toolName\":{},\"args\":{args},\"result\":", to_json(tool));
    let behind = format!(
        ",\"timestamp\":\"{}\"{},\"sessionId\":{}{}}}",
        time::format(saved_ms),
        optional("queryId", query_id),
        to_json(session),
        optional("taskId", task_id),
    );
    (before, behind)
}

/// Parses the output's tool and arguments from the beginning of its file; `None` if it is no such file.
pub fn parse_output(before: &str, size_bytes: u64) -> Option<Output> {
    let whole = format!("{before}null}}");
    let fields = Fields::parse(&whole).ok()?;
    let tool = Text::decode(fields.raw("toolName")?)?.as_str().into();
    let args = fields.raw("args")?.into();
    Some(Output { session: String::new(), tool, args, task_id: None, query_id: None, size_bytes })
}

/// Locates the result by the first and the last bytes of a file: returns how many bytes come before it and after it.
/// `None` if it is no such file, or if the first bytes are too few. So a file found by its path can be read without a
/// pointer.
pub fn find_result(first: &[u8], last: &[u8]) -> Option<(u64, u64)> {
    const TIMESTAMP_FIELD: &[u8] = b",\"timestamp\":\"";
    let before = value_start(first, b"result")?;
    // No string contains these bytes: its quotation marks are escaped. Only strings follow the result.
    let at = memchr::memmem::rfind(last, TIMESTAMP_FIELD)?;
    let rest = core::str::from_utf8(last.get(at + 1..)?).ok()?;
    let rest = format!("{{{rest}");
    let fields = Fields::parse(rest.trim_end()).ok()?;
    let is_ours = fields.raw("sessionId").is_some_and(|session| session.starts_with('"'));
    is_ours.then(|| (before, (last.len() - at) as u64))
}

// Returns how many bytes come before the value of a key of the outermost object.
fn value_start(bytes: &[u8], key: &[u8]) -> Option<u64> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let end = end_of_string(bytes, at);
                let text = bytes.get(at..end.checked_sub(1)?)?;
                at = end;
                if depth == 1 && text == key && bytes.get(at) == Some(&b':') {
                    return Some(at as u64 + 1);
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}
