//! What a store on disk has to know of the files of settings.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use std::path::Path;

use super::host::Host;
use crate::layout::{self, Root};
use crate::operation::{Failure, Trouble};
use crate::settings::{self, SettingsFile, Source};

/// How long nothing has to happen until a session rests, in milliseconds. Where secrets are to be found, it is refused: this host
/// has no rules for them.
pub(super) fn idle_ms(host: &Host) -> Result<i64, Trouble> {
    let file = |root: Root, folder: &Path, source| {
        let file = layout::settings(root);
        let (text, problem) = match host.text(&file) {
            Ok(text) => (text, None),
            Err(failure) => (None, Some(failure.message)),
        };
        SettingsFile { path: folder.join(&file.path).display().to_string(), source, text, problem }
    };
    let mut files = Vec::from([
        file(Root::Home, &host.home, Source::Home),
        file(Root::Project, &host.project, Source::Project),
    ]);
    // Of who works in the folder with the home, they are one.
    files.dedup_by(|one, other| one.path == other.path);
    let all = settings::read(&files).all;
    let value = |key: &str| all.iter().find(|one| one.key == key).map_or("", |one| one.value.as_str());
    let redact = value("redact");
    if redact != "\"off\"" {
        let message = format!(
            "expected \"off\" for the setting \"redact\", since this host has no rules for secrets, but found {redact} instead"
        );
        return Err(Failure { code: "missing_dependency".into(), message, ..Failure::default() }.into());
    }
    let minutes: f64 = value("idleMinutes").parse().unwrap_or(5.0);
    Ok((minutes * 60_000.0) as i64)
}
