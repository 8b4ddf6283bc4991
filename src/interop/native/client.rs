//! The client of an agent: the commands that install it, and that resume a native export in it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::format_of;
use crate::error::Error;
use crate::interop::AgentName;
use crate::interop::locations::home_of;

/// An agent's client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The program's name.
    pub program: &'static str,
    // The package's name on npm.
    package: &'static str,
    /// True if it refuses an id with a time in it.
    pub wants_random_id: bool,
    resume_word: &'static str,
    // The word of its command that imports a file, if it keeps no files.
    import_word: Option<&'static str>,
}

impl Client {
    /// Returns the client of an agent.
    ///
    /// # Errors
    /// `unknown_format` if no session of this agent can be written.
    pub fn of(agent: AgentName) -> Result<Client, Error> {
        format_of(agent)?;
        let (program, package, resumes) = match agent {
            AgentName::ClaudeCode => ("claude", "@anthropic-ai/claude-code", "--resume"),
            AgentName::OpenCode => ("opencode", "opencode-ai", "--session"),
            AgentName::Pi => ("pi", "@earendil-works/pi-coding-agent", "--session"),
            AgentName::Copilot => ("copilot", "@github/copilot", "--resume="),
            AgentName::Gemini => ("gemini", "@google/gemini-cli", "--resume"),
            AgentName::Qwen => ("qwen", "@qwen-code/qwen-code", "--resume"),
            AgentName::Codex
            | AgentName::Cline
            | AgentName::Continue
            | AgentName::Aider
            | AgentName::Nanocoder
            | AgentName::Cortext
            | AgentName::VsCode
            | AgentName::Ask
            | AgentName::Leftoff => ("codex", "@openai/codex", "resume"),
        };
        let takes = (agent == AgentName::OpenCode).then_some("import");
        Ok(Client {
            program,
            package,
            wants_random_id: agent == AgentName::Qwen,
            resume_word: resumes,
            import_word: takes,
        })
    }

    /// Returns the command that resumes a session by its id.
    pub fn resume_command(&self, id: &str) -> Vec<String> {
        let words = match self.resume_word.strip_suffix('=') {
            Some(_) => Vec::from([format!("{}{id}", self.resume_word)]),
            None => Vec::from([self.resume_word.into(), id.into()]),
        };
        Vec::from([String::from(self.program)]).into_iter().chain(words).collect()
    }

    /// Returns how many bytes of a command's output reach the model: longer output is put away, or cut in its middle.
    pub fn output_limit(&self) -> Option<u64> {
        match self.program {
            "claude" | "codex" => Some(29_000),
            "gemini" => Some(60_000),
            _ => None,
        }
    }

    /// Returns the command that installs it.
    pub fn install_command(&self) -> String {
        format!("npm install -g {}", self.package)
    }

    /// Returns the command that imports a file first.
    pub fn import_command(&self, path: &str) -> Option<Vec<String>> {
        self.import_word.map(|word| Vec::from([self.program.into(), word.into(), path.into()]))
    }
}

/// Returns the folder for the path that [`write`](super::write) gives: the client's own, or one it imports from.
pub fn folder_of(agent: AgentName, user: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    if agent != AgentName::OpenCode {
        return home_of(agent, user, variables);
    }
    let cache = variables.get("XDG_CACHE_HOME").filter(|folder| !folder.is_empty());
    Some(format!("{}/leftoff/opencode", cache.cloned().unwrap_or_else(|| format!("{user}/.cache"))))
}

/// Finds the first model with a provider in OpenCode's settings: the file may have comments, and no more is looked for.
pub fn opencode_model(settings: &str) -> Option<&str> {
    settings.match_indices("\"model\"").find_map(|(at, key)| {
        let model = string_value(&settings[at + key.len()..])?;
        let (provider, name) = model.split_once('/')?;
        let is_plain = !provider.is_empty() && !name.is_empty() && !model.contains(char::is_whitespace);
        is_plain.then_some(model)
    })
}

/// Returns the model that was used last, as `provider/model`, from the file where OpenCode keeps that.
pub fn opencode_model_used(state: &str) -> Option<String> {
    state.match_indices("\"providerID\"").find_map(|(at, key)| {
        let rest = &state[at + key.len()..];
        let provider = string_value(rest)?;
        let (_, behind) = rest.split_once(provider)?;
        let behind = behind.strip_prefix('"')?.trim_start().strip_prefix(',')?.trim_start();
        let model = string_value(behind.strip_prefix("\"modelID\"")?)?;
        Some(format!("{provider}/{model}"))
    })
}

// Reads the text of `: "text"`.
fn string_value(rest: &str) -> Option<&str> {
    let text = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    text.split_once('"').map(|(text, _)| text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_called_with_its_own_words() {
        let check = |agent, expected: &[&str]| {
            assert_eq!(
                Client::of(agent).map(|client| client.resume_command("x")),
                Ok(expected.iter().map(|word| (*word).into()).collect())
            );
        };
        check(AgentName::Codex, &["codex", "resume", "x"]);
        check(AgentName::Copilot, &["copilot", "--resume=x"]);
        check(AgentName::OpenCode, &["opencode", "--session", "x"]);
        assert!(Client::of(AgentName::Aider).is_err());
    }

    #[test]
    fn a_model_of_opencodes_names_its_provider() {
        assert_eq!(
            opencode_model("{ // mine\n \"model\": \"gpt\", \"model\" : \"openai/gpt-5\" }"),
            Some("openai/gpt-5")
        );
        assert_eq!(opencode_model("{}"), None);
        let used = r#"{"recent":[{"providerID":"anthropic","modelID":"opus"}]}"#;
        assert_eq!(opencode_model_used(used).as_deref(), Some("anthropic/opus"));
    }
}
