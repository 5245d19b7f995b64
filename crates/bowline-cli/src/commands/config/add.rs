//! `bowline config add`.

use std::path::{Path, PathBuf};

use bowline::registry::NameError;
use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    entry::Entry,
    file::ConfigFile,
    file_choice::{FileChoice, display_path},
};
use crate::{
    context::Context,
    failure::Failure,
    target::{DEMO, Servers, shell_quoted, trust},
};

/// Add a server
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline config add time -- uvx mcp-server-time
  bowline config add docs https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'
  bowline config add notes --project --env 'KEY=${NOTES_KEY}' -- ./notes-server

${NAME} is read from the environment when the server is used; put it in single
quotes so the shell does not expand it. Comments in the file are kept.")]
pub(crate) struct Add {
    /// Name of the server
    name: String,
    /// URL of the server
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    url: Option<String>,
    /// Command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Environment variable for the command; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Working directory of the command
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    file_choice: FileChoice,
    /// Replace a server of the same name
    #[arg(long)]
    force: bool,
}

impl Add {
    pub(super) fn run(self, cx: &Context) -> Result<(), Failure> {
        check_name(&self.name)?;
        let entry = self.entry(cx)?;
        let location = self.file_choice.location(cx)?;
        let path = location.path.clone();
        let mut file = ConfigFile::open(&location)?;
        let is_replacement = file.contains(&self.name);
        if is_replacement && !self.force {
            let (name, path) = (&self.name, display_path(&path));
            return Err(
                Failure::usage(format!("server `{name}` already exists in {path}"))
                    .hint("choose another name, or replace it with --force"),
            );
        }
        file.insert(&self.name, &entry.to_json_string())?;
        file.save()?;
        if location.is_project() {
            self.trust(cx, &path, &entry)?;
        }
        let (name, file) = (&self.name, display_path(&path));
        if cx.json() {
            let entry = entry.to_value();
            return cx.output.json(
                &json!({"name": name, "path": path, "entry": entry, "replaced": is_replacement}),
            );
        }
        let action = if is_replacement { "replaced" } else { "added" };
        cx.output.line(format!("{action} {name} in {file}"))?;
        warn_literals(cx, &entry);
        self.warn_if_shadowed(cx, &path);
        let options = match &cx.globals.config {
            Some(path) => format!("--config {} ", shell_quoted(&path.to_string_lossy())),
            None => String::new(),
        };
        let quoted_name = shell_quoted(name);
        cx.output
            .note(format!("try: bowline list {options}{quoted_name}"));
        Ok(())
    }

    fn entry(&self, cx: &Context) -> Result<Entry, Failure> {
        let mut entry = Entry::default();
        let Some((command, args)) = self.command.split_first() else {
            let url = self.url.as_deref().unwrap_or_default();
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(Failure::usage(format!("`{url}` is not a valid URL"))
                    .hint("a URL begins with http:// or https://")
                    .hint(format!(
                        "for a command: bowline config add {} -- {}",
                        shell_quoted(&self.name),
                        shell_quoted(url)
                    )));
            }
            if !self.env.is_empty() || self.cwd.is_some() {
                return Err(
                    Failure::usage("--env and --cwd apply only to servers with a command")
                        .hint("servers with a URL take headers: --header 'Name: value'"),
                );
            }
            entry.set("url", url);
            entry.set("headers", parse_pairs("--header", ':', &cx.globals.header)?);
            return Ok(entry);
        };
        if !cx.globals.header.is_empty() {
            return Err(
                Failure::usage("--header applies only to servers with a URL")
                    .hint("commands take environment variables: --env NAME=VALUE"),
            );
        }
        entry.set("command", command.as_str());
        entry.set("args", args.to_vec());
        entry.set("env", parse_pairs("--env", '=', &self.env)?);
        if let Some(cwd) = &self.cwd {
            let cwd = std::path::absolute(cwd)?;
            entry.set("cwd", cwd.to_string_lossy());
        }
        Ok(entry)
    }

    /// Trusts a server that the user typed. But only if that entry is the one
    /// that is read back, not another of the same name.
    fn trust(&self, cx: &Context, path: &Path, entry: &Entry) -> Result<(), Failure> {
        let servers = Servers::load(&cx.globals)?;
        let Some(found) = servers.get(&self.name) else {
            return Ok(());
        };
        let loaded = Value::Object(found.entry.raw.entry().clone());
        let is_unchanged = loaded == entry.to_value() && found.entry.raw.env_file().is_none();
        match found.path == path && trust::is_project_server(found) && is_unchanged {
            true => trust::store_trust(cx, found),
            false => Ok(()),
        }
    }

    /// Prints a note if a server of this name elsewhere takes precedence.
    fn warn_if_shadowed(&self, cx: &Context, path: &Path) {
        let Ok(servers) = Servers::load(&cx.globals) else {
            return;
        };
        match servers.get(&self.name) {
            Some(found) if found.path != path => {
                let path = display_path(&found.path);
                cx.output.note(format!(
                    "note: {path} has a server of the same name, which takes precedence here"
                ));
            }
            None if self.name == DEMO => {
                let note = "note: the built-in server `demo` takes precedence over a project's";
                cx.output.note(note);
            }
            _ if self.name == DEMO => {
                let note = "note: this hides the built-in server `demo`";
                cx.output.note(note);
            }
            _ => {}
        }
    }
}

fn warn_literals(cx: &Context, entry: &Entry) {
    let literals = entry.literals();
    if !literals.is_empty() {
        let names = literals.join(", ");
        cx.output.note(format!(
            "note: stored in plain text: {names}; keep secrets in environment variables, as \
             '${{NAME}}'"
        ));
    }
}

/// Parses `NAME=VALUE` or `Name: value` pairs.
fn parse_pairs(option: &str, separator: char, args: &[String]) -> Result<Value, Failure> {
    let mut pairs = Map::new();
    for pair in args {
        let (name, value) = pair
            .split_once(separator)
            .ok_or_else(|| Failure::usage(format!("{option} {pair}: `{separator}` is missing")))?;
        let (name, value) = match separator {
            ':' => (name.trim(), value.trim()),
            _ => (name, value),
        };
        if name.is_empty() {
            return Err(Failure::usage(format!(
                "{option} {pair}: the name is missing"
            )));
        }
        pairs.insert(name.to_owned(), Value::from(value));
    }
    Ok(Value::Object(pairs))
}

/// Applies the registry's rules for names: other names cannot prefix a tool
/// name.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_valid = !name.is_empty() && name.chars().all(is_allowed);
    if is_valid && !name.contains("__") && !name.ends_with('_') {
        return Ok(());
    }
    Err(NameError::Invalid(name.into()).into())
}
