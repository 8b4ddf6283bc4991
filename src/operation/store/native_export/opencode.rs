//! Finds the model that OpenCode is set to, for a session that it imports has to name one that it knows.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use super::AgentClient;
use crate::interop::native::{opencode_model, opencode_model_used};
use crate::layout::File;
use crate::operation::{Trouble, unless_bug};

const SETTINGS_FILES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

impl AgentClient<'_> {
    /// Returns it as `provider/model`: from the project's settings, else the user's, else the last one that was used.
    pub(super) async fn find_opencode_model(
        &self,
        folder: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Option<String>, Trouble> {
        let base = |name: &str, usual: &str| {
            let set = variables.get(name).filter(|folder| !folder.is_empty());
            let base = set.cloned().unwrap_or_else(|| format!("{}/{usual}", self.user_home));
            format!("{base}/opencode")
        };
        let places = [folder.into(), format!("{folder}/.opencode"), base("XDG_CONFIG_HOME", ".config")];
        for (place, name) in places.iter().flat_map(|place| SETTINGS_FILES.map(|name| (place, name))) {
            let text = self.read_text_or_empty(&self.outside_file(place, name)).await?;
            if let Some(model) = opencode_model(&text) {
                return Ok(Some(model.into()));
            }
        }
        let state = self.outside_file(&base("XDG_STATE_HOME", ".local/state"), "model.json");
        Ok(opencode_model_used(&self.read_text_or_empty(&state).await?))
    }

    // A file that cannot be read, for whatever reason, counts as empty.
    async fn read_text_or_empty(&self, file: &File) -> Result<String, Trouble> {
        Ok(unless_bug(self.read_text(file).await)?.flatten().unwrap_or_default())
    }
}
