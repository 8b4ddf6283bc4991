//! Leases: which processes have a session open for appending. A lease locks nothing: several processes may hold one.
//!
//! Each holder has a file of its own in a folder, so that nobody has to take one away from another; its loss costs a
//! warning, never data. Whether a process is gone, only the host can tell, and only for one on its own machine.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::Fields;

/// A process that has a session open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lease {
    /// Its process id.
    pub pid: u64,
    /// The host it runs on.
    pub host: String,
    /// Identifies that machine's uptime since its start; `None` where the system tells nothing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// When the process started, in the system's own words; `None` where it does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The program's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Since when it has the session open, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Parses a lease file; `None` where it is torn: its writer did not get further than that.
pub fn parse_lease(json: &str) -> Option<Lease> {
    read_fields(&mut Fields::parse(json).ok()?)
}

/// This process, as others see it by its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its lease, except for `since`.
    pub lease: Lease,
    /// The name of its lease files, without extension: so a host that starts again knows its own.
    pub name: String,
    /// No other process can reach its files.
    pub is_alone: bool,
}

impl Process {
    /// Reads `{"pid","host","boot","start","program","name","isAlone"}`, JSON.
    pub fn read(json: &str) -> Option<Process> {
        let mut fields = Fields::parse(json).ok()?;
        let mut bad = Vec::new();
        let lease = read_fields(&mut fields)?;
        let name = fields.take("name", &mut bad).unwrap_or_default();
        Some(Process { lease, name, is_alone: fields.take("isAlone", &mut bad).unwrap_or_default() })
    }
}

fn read_fields(fields: &mut Fields<'_>) -> Option<Lease> {
    let mut bad = Vec::new();
    Some(Lease {
        pid: fields.take("pid", &mut bad)?,
        host: fields.take("host", &mut bad)?,
        boot: fields.take("boot", &mut bad),
        start: fields.take("start", &mut bad),
        program: fields.take("program", &mut bad),
        since: fields.take("since", &mut bad),
    })
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;
    use crate::json::text::to_json;

    #[test]
    fn what_is_no_lease_is_nobodys() {
        for text in [
            "",
            "{",
            "null",
            "[]",
            "{}",
            r#"{"pid":1}"#,
            r#"{"pid":"1","host":"h"}"#,
            r#"{"pid":-1,"host":"h"}"#,
            r#"{"host":"h"}"#,
        ] {
            assert_eq!(parse_lease(text), None, "{text}");
        }
        // Written by another version, or by hand.
        assert_eq!(
            parse_lease(r#"{"pid":1,"host":"h","boot":2,"more":3}"#).map(|lease| lease.boot),
            Some(None)
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_no_part_of_it_is(pid: u64, host: String, boot: Option<String>, cut: prop::sample::Index) {
            let since = Some("2026-11-22T18:20:30.785Z".to_string());
            let lease = Lease { pid, host, boot, start: Some("1".into()), program: None, since };
            let written = to_json(&lease);
            prop_assert_eq!(parse_lease(&written), Some(lease));
            let end = (0..=cut.index(written.len())).rev().find(|end| written.is_char_boundary(*end)).unwrap_or(0);
            prop_assert_eq!(parse_lease(&written[..end]), None);
        }
    }
}
