//! Claims: of processes that begin a program's session at the same moment in different projects, the first one decides
//! in which project it begins.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::live::SessionSource;
use crate::interop::AgentName;
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::layout;
use crate::operation::store::Store;
use crate::operation::{Io, Trouble, unless_bug};

/// A claim that is older belongs to a process that ended before it began the session.
const LIFETIME_MS: i64 = 10_000;

impl SessionSource {
    /// Claims a session that is not there yet for the store's project. Returns the project of the first claim.
    ///
    /// Whoever claims it has to look for the session again: another process that removed its claim has begun it.
    pub async fn claim(&self, store: &Store, io: &Io, id: &str) -> Result<Option<String>, Trouble> {
        if AgentName::parse(&self.agent).is_ok() {
            return Ok(None);
        }
        let (file, now) = (layout::claims(id), io.now_ms());
        let claim = format!("{{\"project\":{},\"at\":{now}}}\n", to_json(&store.setup.project));
        io.append(&file, claim.into_bytes(), false, None).await?;
        let claims = io.read_all(&file).await?.unwrap_or_default();
        let claims = String::from_utf8_lossy(&claims);
        Ok(claims.lines().find_map(|claim| read_claim(claim, now)))
    }

    /// Removes the claims on a session that has begun.
    pub async fn end_claims(&self, io: &Io, id: &str) -> Result<(), Trouble> {
        if AgentName::parse(&self.agent).is_err() {
            unless_bug(io.remove(&layout::claims(id)).await)?;
        }
        Ok(())
    }
}

// Reads the project of a claim, unless that is too old.
fn read_claim(claim: &str, now_ms: i64) -> Option<String> {
    let bad = &mut Vec::new();
    let mut fields = Fields::parse(claim).ok()?;
    let at_ms: i64 = fields.take("at", bad)?;
    fields.take("project", bad).filter(|_| now_ms - at_ms < LIFETIME_MS)
}
