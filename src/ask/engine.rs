//! Engines: the programs that answer.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::settings::ENGINES;

/// An engine's command line: the prompt goes to its standard input, the answer comes from its standard output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Engine {
    /// Its name, or its command.
    pub name: String,
    /// The program to start.
    pub program: String,
    /// Its arguments; none for a user's command, which a shell splits.
    pub args: Vec<String>,
    /// True if `program` is a line for a shell.
    #[serde(rename = "isShell")]
    pub is_shell: bool,
    /// The tokens that it reads.
    pub window: u64,
}

/// A known engine.
struct Preset {
    name: &'static str,
    args: &'static [&'static str],
    // The option before a model's name; `None` if the name stands alone.
    model: Option<&'static str>,
    window: u64,
}

/// The names of the known engines; by default the first installed one is used.
pub const PRESETS: [&str; 5] = ENGINES;

static ENGINE_PRESETS: [Preset; 5] = [
    Preset { name: "claude", args: &["-p"], model: Some("--model"), window: 200_000 },
    Preset { name: "gemini", args: &[], model: Some("--model"), window: 1_000_000 },
    Preset {
        name: "codex",
        args: &["exec", "--skip-git-repo-check", "-"],
        model: Some("--model"),
        window: 200_000,
    },
    Preset { name: "opencode", args: &["run"], model: Some("--model"), window: 128_000 },
    // Input beyond the window loses its beginning without notice.
    Preset { name: "ollama", args: &["run"], model: None, window: 4_096 },
];

/// The window assumed for a user's command.
const COMMAND_WINDOW_TOKENS: u64 = 32_000;

impl Engine {
    /// Chooses the engine of a name, or a command that reads a prompt; without either, the first installed one.
    ///
    /// ```
    /// use leftoff::ask::Engine;
    ///
    /// let engine = Engine::choose(None, Some("opus"), &["codex", "claude"])?;
    /// assert_eq!((engine.program.as_str(), engine.args), ("claude", vec!["-p".into(), "--model".into(), "opus".into()]));
    /// # Ok::<(), leftoff::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// `not_found` if none is named and none is installed, or if the named one is not; `invalid_request` if a model
    /// must be named and is not, or is named for a command that cannot take it.
    pub fn choose(engine: Option<&str>, model: Option<&str>, installed: &[&str]) -> Result<Engine, Error> {
        let first = || {
            PRESETS
                .into_iter()
                .find(|name| installed.contains(name) && (*name != "ollama" || model.is_some()))
        };
        let known = PRESETS.join(", ");
        let Some(name) = engine.map(str::trim).filter(|name| !name.is_empty()).or_else(first) else {
            let message = format!(
                "none of {known} is on the PATH: install one, or name a command that reads a prompt on standard input, such as --engine \"ollama run llama3.2\""
            );
            return Err(Error::new(Code::NotFound, message));
        };
        let Some(preset) = ENGINE_PRESETS.iter().find(|preset| preset.name == name) else {
            if model.is_some() {
                let message =
                    format!("--model works with {known}; \"{name}\" takes its model in the command");
                return Err(Error::new(Code::InvalidRequest, message));
            }
            let name = String::from(name);
            return Ok(Engine {
                program: name.clone(),
                name,
                args: Vec::new(),
                is_shell: true,
                window: COMMAND_WINDOW_TOKENS,
            });
        };
        if !installed.contains(&name) {
            let message =
                format!("\"{name}\" is not on the PATH; --engine takes {known}, or another command");
            return Err(Error::new(Code::NotFound, message));
        }
        if preset.model.is_none() && model.is_none() {
            let message = format!("the engine \"{name}\" has no default model: give --model");
            return Err(Error::new(Code::InvalidRequest, message));
        }
        let mut args: Vec<String> = preset.args.iter().map(|word| String::from(*word)).collect();
        let place = if preset.args.last() == Some(&"-") { args.len() - 1 } else { args.len() };
        let model_arguments =
            preset.model.into_iter().chain(model).map(String::from).filter(|_| model.is_some());
        args.splice(place..place, model_arguments);
        Ok(Engine { name: name.into(), program: name.into(), args, is_shell: false, window: preset.window })
    }
}
