//! The user's settings: `settings.json`.
//!
//! It is next to the user's own configuration file. Projects have no settings:
//! a checked-out folder must not choose which commands are run.

use std::{env, fs, io::ErrorKind, path::PathBuf, time::Duration};

use serde::Deserialize;
use serde_json::Value;

/// Default time limit of the command that answers for a model.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The command that answers for a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelCommand {
    pub(crate) words: Vec<String>,
    pub(crate) timeout: Duration,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    sampling: Sampling,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sampling {
    command: Value,
    /// In seconds.
    timeout: Option<f64>,
}

/// Returns the command: from the option, the environment, or the settings.
pub(crate) fn model_command(argument: Option<&str>) -> Result<Option<ModelCommand>, String> {
    let in_environment = || env::var("BOWLINE_SAMPLING_COMMAND").ok();
    let line = argument.map(str::to_owned).or_else(in_environment);
    if let Some(line) = line.filter(|line| !line.trim().is_empty()) {
        return Ok(Some(from_line(&line, DEFAULT_TIMEOUT)));
    }
    let Some(path) = config_dir().map(|folder| folder.join("settings.json")) else {
        return Ok(None);
    };
    match fs::read_to_string(&path) {
        Ok(text) => from_settings(&text).map_err(|why| format!("{}: {why}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

fn from_settings(text: &str) -> Result<Option<ModelCommand>, String> {
    let settings: Settings = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let timeout = settings.sampling.timeout.map(Duration::try_from_secs_f64);
    let timeout = timeout
        .transpose()
        .map_err(|_| "sampling.timeout: expected a number of seconds".to_owned())?
        .unwrap_or(DEFAULT_TIMEOUT);
    match settings.sampling.command {
        Value::Null => Ok(None),
        Value::String(line) => Ok(Some(from_line(&line, timeout))),
        words => {
            let words: Vec<String> = serde_json::from_value(words).map_err(|_| {
                "sampling.command: expected a string or a list of strings".to_owned()
            })?;
            Ok((!words.is_empty()).then_some(ModelCommand { words, timeout }))
        }
    }
}

/// A single string is run by the shell, as the user tried it there.
fn from_line(line: &str, timeout: Duration) -> ModelCommand {
    let shell = if cfg!(windows) {
        ["cmd", "/C"]
    } else {
        ["sh", "-c"]
    };
    let words = shell.into_iter().chain([line]).map(str::to_owned).collect();
    ModelCommand { words, timeout }
}

/// Returns the directory of the settings.
fn config_dir() -> Option<PathBuf> {
    let env_path = |name| {
        env::var_os(name)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let base = if cfg!(windows) {
        env_path("APPDATA")
    } else {
        env_path("XDG_CONFIG_HOME").or_else(|| Some(env::home_dir()?.join(".config")))
    };
    base.map(|base| base.join("bowline"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn settings_are_read() {
        let line = from_settings(r#"{"sampling": {"command": "llm | cat", "timeout": 2.5}}"#);
        let line = line.expect("settings").expect("a command");
        assert_eq!(line.words, ["sh", "-c", "llm | cat"]);
        assert_eq!(line.timeout, Duration::from_millis(2500));
        let list = from_settings(r#"{"sampling": {"command": ["llm", "-m", "x"]}, "other": 1}"#);
        assert_eq!(
            list.expect("settings").expect("a command").words,
            ["llm", "-m", "x"]
        );
        assert_eq!(from_settings("{}"), Ok(None));
        assert!(from_settings(r#"{"sampling": {"command": 7}}"#).is_err());
        assert!(from_settings(r#"{"sampling": {"timeout": -7}}"#).is_err());
    }
}
