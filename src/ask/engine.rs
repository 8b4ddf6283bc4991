//! Who answers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::settings::ENGINES;

/// How an engine is started: its prompt goes to standard input, its answer comes from standard output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Engine {
    /// Its name, or its command.
    pub name: String,
    /// What is started.
    pub program: String,
    /// With which words; of a command of the user's, which a shell takes apart, none.
    pub args: Vec<String>,
    /// Whether `program` is a line for a shell.
    #[serde(rename = "isShell")]
    pub is_shell: bool,
    /// How much it reads, in tokens.
    pub window: u64,
}

/// A program that is known.
struct Preset {
    name: &'static str,
    args: &'static [&'static str],
    // The word before a model's name; none where the name stands alone.
    model: Option<&'static str>,
    window: u64,
}

/// The names of the engines that are known, the first of them that is installed unless one is named.
pub const PRESETS: [&str; 5] = ENGINES;

static KNOWN: [Preset; 5] = [
    Preset { name: "claude", args: &["-p"], model: Some("--model"), window: 200_000 },
    Preset { name: "gemini", args: &[], model: Some("--model"), window: 1_000_000 },
    Preset {
        name: "codex",
        args: &["exec", "--skip-git-repo-check", "-"],
        model: Some("--model"),
        window: 200_000,
    },
    Preset { name: "opencode", args: &["run"], model: Some("--model"), window: 128_000 },
    // What does not fit is cut off at its beginning, and nobody is told.
    Preset { name: "ollama", args: &["run"], model: None, window: 4_096 },
];

/// Of a command nobody knows how much it reads.
const WINDOW: u64 = 32_000;

impl Engine {
    /// The engine of a name, or of a command that reads a prompt; without one, the first that is installed.
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
    /// `not_found` where none is named and none is installed, or the one that is named is not; `invalid_request` where a model is
    /// missing that has to be named, or one is named that the command cannot be told.
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
        let Some(preset) = KNOWN.iter().find(|preset| preset.name == name) else {
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
                window: WINDOW,
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
        let told = preset.model.into_iter().chain(model).map(String::from).filter(|_| model.is_some());
        args.splice(place..place, told);
        Ok(Engine { name: name.into(), program: name.into(), args, is_shell: false, window: preset.window })
    }
}
