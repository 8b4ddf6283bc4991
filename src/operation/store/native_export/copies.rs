//! Remembers what was written for a client, so that the same is not written twice.

use alloc::format;
use alloc::string::String;

use serde::Deserialize;

use super::AgentClient;
use crate::interop::native::{NativeCopy, NativeExport, PreparedExport};
use crate::json::hash::sha256;
use crate::json::text::to_json;
use crate::layout::{self, File, Root};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Trouble, unless_bug};

/// Hex digits in the name of a pointer.
const POINTER_NAME_DIGITS: usize = 32;

#[derive(Deserialize)]
struct CopyPointer {
    session: String,
    copy: NativeCopy,
}

impl AgentClient<'_> {
    /// Reads the pointer to the last export of a session for this client and this folder.
    pub(super) async fn find_copy(&self, handing: &NativeExport) -> Result<Option<NativeCopy>, Trouble> {
        let bytes = unless_bug(self.io.read_all(&self.copy_pointer_file(handing)).await)?
            .flatten()
            .unwrap_or_default();
        let found: Option<CopyPointer> = serde_json::from_slice(&bytes).ok();
        Ok(found.filter(|found| found.session == handing.session).map(|found| found.copy))
    }

    /// Whether nobody has written to the exported file since.
    pub(super) async fn is_unchanged(&self, copy: &NativeCopy) -> Result<bool, Trouble> {
        let file = File::new(Root::Outside, &*copy.path);
        let bytes = unless_bug(self.io.read_all(&file).await)?.flatten();
        Ok(bytes.is_some_and(|bytes| sha256(&bytes) == copy.hash))
    }

    /// Saves the pointer to an export. If that fails, the next export writes another copy.
    pub(super) async fn save_copy(
        &self,
        handing: &NativeExport,
        handed: &PreparedExport,
        files: &SessionFiles,
    ) -> Result<(), Trouble> {
        let Some(continues) = handed.continuation.clone() else { return Ok(()) };
        let roll = self.digest_messages(files, None).await?;
        let copy = NativeCopy {
            id: handed.report.id.clone(),
            path: handed.path.clone(),
            hash: sha256(handed.text.as_bytes()),
            made_of: handing.fingerprint(),
            count: roll.count,
            messages: roll.hash,
            continues,
        };
        let json = format!(
            "{{\"version\":1,\"session\":{},\"copy\":{}}}",
            to_json(&handing.session),
            to_json(&copy)
        );
        unless_bug(self.io.replace(&self.copy_pointer_file(handing), json.into_bytes(), None).await)?;
        Ok(())
    }

    // Names the pointer also by the client's home, for the same program may be set to another one.
    fn copy_pointer_file(&self, handing: &NativeExport) -> File {
        let NativeExport { session, folder, .. } = handing;
        let of = format!("copy/{}/{session}\n{}\n{folder}", handing.agent.as_str(), self.agent_home);
        let mut name = sha256(of.as_bytes());
        name.truncate(POINTER_NAME_DIGITS);
        layout::native_copy(&name)
    }
}
