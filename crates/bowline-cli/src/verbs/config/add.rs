//! `bowline config add`.

use std::path::{Path, PathBuf};

use bowline::registry::NameError;
use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    entry::Entry,
    file::ConfigFile,
    place::{Place, shown},
};
use crate::{
    context::Context,
    failure::Failure,
    target::{DEMO, Servers, quoted, trust},
};

/// Add a server
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline config add time -- uvx mcp-server-time
  bowline config add docs https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'
  bowline config add notes --project --env 'KEY=${NOTES_KEY}' -- ./notes-server

${NAME} is taken from the environment when the server is used; put it in single
quotes, so that the shell leaves it alone. Comments in the file stay.")]
pub(crate) struct Add {
    /// What to call it
    name: String,
    /// Where it runs
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    url: Option<String>,
    /// The command that starts it
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// A variable that the command gets; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Where the command runs
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
    /// Replace a server of the same name
    #[arg(long)]
    force: bool,
}

impl Add {
    pub(super) fn run(self, cx: &Context) -> Result<(), Failure> {
        check_name(&self.name)?;
        let entry = self.entry(cx)?;
        let spot = self.place.spot(cx)?;
        let path = spot.path.clone();
        let mut file = ConfigFile::open(&spot)?;
        let replaces = file.has(&self.name);
        if replaces && !self.force {
            let (name, path) = (&self.name, shown(&path));
            return Err(
                Failure::usage(format!("there is a server `{name}` in {path}"))
                    .hint("give it another name, or replace it with --force"),
            );
        }
        file.insert(&self.name, &entry.text())?;
        file.save()?;
        if spot.is_of_project() {
            self.trust(cx, &path, &entry)?;
        }
        let (name, file) = (&self.name, shown(&path));
        if cx.json() {
            let entry = entry.value();
            return cx
                .output
                .json(&json!({"name": name, "path": path, "entry": entry, "replaced": replaces}));
        }
        let verb = if replaces { "replaced" } else { "added" };
        cx.output.line(format!("{verb} {name} in {file}"))?;
        warn(cx, &entry);
        self.shadowed(cx, &path);
        let options = match &cx.globals.config {
            Some(path) => format!("--config {} ", quoted(&path.to_string_lossy())),
            None => String::new(),
        };
        let typed = quoted(name);
        cx.output
            .remark(format!("try: bowline list {options}{typed}"));
        Ok(())
    }

    fn entry(&self, cx: &Context) -> Result<Entry, Failure> {
        let mut entry = Entry::default();
        let Some((command, args)) = self.command.split_first() else {
            let url = self.url.as_deref().unwrap_or_default();
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(Failure::usage(format!("`{url}` is not an address"))
                    .hint("an address begins with http:// or https://")
                    .hint(format!(
                        "for a command: bowline config add {} -- {}",
                        quoted(&self.name),
                        quoted(url)
                    )));
            }
            if !self.env.is_empty() || self.cwd.is_some() {
                return Err(
                    Failure::usage("--env and --cwd are for servers with a command")
                        .hint("servers with an address get headers, with --header 'Name: value'"),
                );
            }
            entry.set("url", url);
            entry.set("headers", pairs("--header", ':', &cx.globals.header)?);
            return Ok(entry);
        };
        if !cx.globals.header.is_empty() {
            return Err(Failure::usage("--header is for servers with an address")
                .hint("commands get variables, with --env NAME=VALUE"));
        }
        entry.set("command", command.as_str());
        entry.set("args", args.to_vec());
        entry.set("env", pairs("--env", '=', &self.env)?);
        if let Some(cwd) = &self.cwd {
            let cwd = std::path::absolute(cwd)?;
            entry.set("cwd", cwd.to_string_lossy());
        }
        Ok(entry)
    }

    /// What somebody has typed themselves, they need not be asked about. But
    /// that must be what is read, and not something else of that name.
    fn trust(&self, cx: &Context, path: &Path, entry: &Entry) -> Result<(), Failure> {
        let servers = Servers::find(&cx.globals)?;
        let Some(found) = servers.get(&self.name) else {
            return Ok(());
        };
        let read = Value::Object(found.entry.written.entry().clone());
        let is_typed = read == entry.value() && found.entry.written.env_file().is_none();
        match found.path == path && trust::is_of_project(found) && is_typed {
            true => trust::remember(cx, found),
            false => Ok(()),
        }
    }

    /// Says if a server of this name elsewhere counts more.
    fn shadowed(&self, cx: &Context, path: &Path) {
        let Ok(servers) = Servers::find(&cx.globals) else {
            return;
        };
        match servers.get(&self.name) {
            Some(found) if found.path != path => {
                let path = shown(&found.path);
                cx.output.remark(format!(
                    "note: {path} has a server of this name, too, which counts more here"
                ));
            }
            None if self.name == DEMO => {
                let note = "note: the server `demo` that is built in counts more than a project's";
                cx.output.remark(note);
            }
            _ if self.name == DEMO => {
                let note = "note: this hides the server `demo` that is built in";
                cx.output.remark(note);
            }
            _ => {}
        }
    }
}

fn warn(cx: &Context, entry: &Entry) {
    let literals = entry.literals();
    if !literals.is_empty() {
        let names = literals.join(", ");
        cx.output.remark(format!(
            "note: written as given: {names}; a secret is better kept in a variable, \
             as '${{NAME}}'"
        ));
    }
}

/// Reads `NAME=VALUE`, or `Name: value`.
fn pairs(option: &str, mark: char, given: &[String]) -> Result<Value, Failure> {
    let mut pairs = Map::new();
    for pair in given {
        let (name, value) = pair
            .split_once(mark)
            .ok_or_else(|| Failure::usage(format!("{option} {pair}: `{mark}` is missing")))?;
        let (name, value) = match mark {
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

/// The same rules as for servers in a registry: other names cannot stand before
/// the name of a tool.
fn check_name(name: &str) -> Result<(), Failure> {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let fits = !name.is_empty() && name.chars().all(usual);
    if fits && !name.contains("__") && !name.ends_with('_') {
        return Ok(());
    }
    Err(NameError::Invalid(name.into()).into())
}
