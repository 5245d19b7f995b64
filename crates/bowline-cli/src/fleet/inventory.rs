//! Inventory of the configured servers, their files and their state.

use std::{path::PathBuf, time::Duration};

use bowline::{
    Client,
    config::{App, Problem, Severity},
};
use serde_json::{Value, json};

use super::run::{ServerResult, ServerState, run_on_all};
use crate::{
    context::Context,
    failure::Failure,
    output::{Column, Style, escape_control, short_path},
    target::{Servers, ShadowedBy, Target, trust},
};

/// The configured servers.
pub(crate) struct Inventory {
    entries: Vec<InventoryEntry>,
    problems: Vec<(PathBuf, Problem)>,
}

/// One configured server.
struct InventoryEntry {
    name: String,
    app: Option<App>,
    /// The file; `None` for the built-in server.
    path: Option<PathBuf>,
    /// How it is reached, as text. Unknown for disabled servers.
    endpoint: String,
    /// The command-line arguments that select it.
    shell_args: String,
    state: EntryState,
}

/// The state of an entry.
enum EntryState {
    /// It is the entry its name refers to.
    Effective(Target),
    /// It was connected to.
    Checked(ServerResult<String>),
    /// It comes from a project and was not connected to because it is not
    /// trusted.
    Untrusted(trust::TrustState),
    /// Another entry of the same name takes precedence.
    Shadowed(ShadowedBy),
    Disabled,
}

impl Inventory {
    /// Reads the configuration files.
    pub(crate) fn collect(cx: &Context) -> Result<Self, Failure> {
        let servers = Servers::load(&cx.globals)?;
        let mut entries = Vec::new();
        for (index, found) in servers.entries.iter().enumerate() {
            let target = Target::Configured(Box::new(found.clone()));
            let shell_args = target.to_shell_args();
            let state = match servers.shadowed_by(index) {
                Some(shadowing) => EntryState::Shadowed(shadowing),
                None => match trust::trust_state(&cx.globals, found)? {
                    trust::TrustState::Trusted => EntryState::Effective(target),
                    state => EntryState::Untrusted(state),
                },
            };
            entries.push(InventoryEntry {
                name: found.entry.name.clone(),
                app: found.app,
                path: Some(found.path.clone()),
                endpoint: trust::endpoint_summary(found),
                shell_args,
                state,
            });
        }
        entries.extend(servers.disabled.iter().map(|(path, name)| InventoryEntry {
            name: name.clone(),
            app: None,
            path: Some(path.clone()),
            endpoint: String::new(),
            shell_args: String::new(),
            state: EntryState::Disabled,
        }));
        entries.push(InventoryEntry {
            name: Target::Demo.name().to_owned(),
            app: None,
            path: None,
            endpoint: "part of this command".to_owned(),
            shell_args: Target::Demo.to_shell_args(),
            state: EntryState::Effective(Target::Demo),
        });
        Ok(Self {
            entries,
            problems: servers.problems,
        })
    }

    /// Connects to the effective servers concurrently.
    pub(crate) async fn check(&mut self, cx: &Context, limit: Duration) {
        let targets = self.entries.iter().filter_map(|entry| match &entry.state {
            EntryState::Effective(target) => Some(target.clone()),
            _ => None,
        });
        let targets: Vec<Target> = targets.collect();
        let results = run_on_all(cx, &targets, limit, server_identity).await;
        let effective = self
            .entries
            .iter_mut()
            .filter(|entry| matches!(entry.state, EntryState::Effective(_)));
        for (entry, result) in effective.zip(results) {
            entry.state = EntryState::Checked(result);
        }
    }

    /// Formats the inventory as JSON.
    pub(crate) fn json(&self) -> Value {
        let servers: Vec<_> = self.entries.iter().map(InventoryEntry::json).collect();
        let problems: Vec<_> = self.problems.iter().map(problem_json).collect();
        json!({"servers": servers, "problems": problems})
    }
}

/// Returns the server's name, version and revision.
async fn server_identity(client: Client) -> Result<String, Failure> {
    let Some(server) = client.server_info() else {
        return Ok(String::new());
    };
    let name = server.info.as_ref().map_or_else(String::new, |info| {
        format!("{} {}, ", info.name, info.version)
    });
    Ok(escape_control(&format!("{name}{}", server.revision)).into_owned())
}

/// Formats the inventory as text, file by file.
pub(crate) fn format_inventory(cx: &Context, inventory: &Inventory) -> String {
    let paint = cx.output.paint();
    let mut lines = Vec::new();
    let names = inventory.entries.iter();
    let names = Column::of(names.map(|entry| escape_control(&entry.name)));
    for path in inventory.paths() {
        let in_file = || inventory.entries.iter().filter(|it| it.path == path);
        let app = in_file().find_map(|entry| entry.app);
        let title = match &path {
            Some(path) => short_path(path),
            None => "built in".to_owned(),
        };
        let app = app
            .map(|app| format!("  {}", app.name()))
            .unwrap_or_default();
        lines.push(format!("{}{}", paint.bold(title), paint.dim(app)));
        lines.extend(in_file().map(|entry| entry.line(cx, names)));
        let problems = inventory
            .problems
            .iter()
            .filter(|(file, _)| Some(file) == path.as_ref());
        lines.extend(problems.map(|(_, problem)| {
            let mark = match problem.severity() {
                Severity::Error => paint.text(Style::Error, "✗"),
                Severity::Warning => paint.text(Style::Warning, "!"),
            };
            format!("  {mark} {}", escape_control(&problem.to_string()))
        }));
    }
    if inventory.entries.len() == 1 && inventory.problems.is_empty() {
        lines
            .push("\nNo servers are configured yet. Add one with `bowline config add`.".to_owned());
    }
    lines.join("\n")
}

impl Inventory {
    /// Returns the files in order of precedence, and `None` last.
    fn paths(&self) -> Vec<Option<PathBuf>> {
        let named = self.entries.iter().filter_map(|entry| entry.path.clone());
        let faulty = self.problems.iter().map(|(path, _)| path.clone());
        let mut paths: Vec<Option<PathBuf>> = Vec::new();
        for path in named.chain(faulty).map(Some).chain([None]) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }
}

impl InventoryEntry {
    fn line(&self, cx: &Context, names: Column) -> String {
        let paint = cx.output.paint();
        let name = names.cell(&escape_control(&self.name));
        let endpoint = paint.dim(&self.endpoint);
        match &self.state {
            EntryState::Effective(_) => format!("    {name}{endpoint}"),
            EntryState::Untrusted(trust_state) => {
                let mark = paint.text(Style::Warning, "?");
                let why = match trust_state {
                    trust::TrustState::Changed => "its entry has changed since you trusted it",
                    _ => "it comes from a project and is not trusted",
                };
                let shell_args = &self.shell_args;
                let advice = format!("run `bowline config trust {shell_args}` to review it");
                let advice = paint.dim(advice);
                format!("  {mark} {name}{endpoint}\n      not used: {why}\n      {advice}")
            }
            EntryState::Shadowed(shadowing) => {
                let shadowing = format!("not used: {}", shadowing.reason());
                format!("  {} {name}{}", paint.dim("-"), paint.dim(shadowing))
            }
            EntryState::Disabled => {
                let label = paint.dim("disabled");
                format!("  {} {name}{label}", paint.dim("-"))
            }
            EntryState::Checked(result) => {
                let state = ServerState::from_result(&result.result).as_str();
                match &result.result {
                    Ok(identity) => {
                        let mark = paint.text(Style::Success, "✓");
                        let ms = result.open_time.as_secs_f64() * 1000.0;
                        let status = format!("{state} in {ms:.0} ms ({identity})");
                        format!("  {mark} {name}{status:<50}  {endpoint}")
                            .trim_end()
                            .to_owned()
                    }
                    Err(failure) => {
                        let mark = paint.text(Style::Error, "✗");
                        let why = escape_control(&failure.message).replace('\n', "\n      ");
                        let advice = paint.dim(format!(
                            "run `bowline doctor {}` to find out why",
                            self.shell_args
                        ));
                        format!("  {mark} {name}{state}  {endpoint}\n      {why}\n      {advice}")
                    }
                }
            }
        }
    }

    fn json(&self) -> Value {
        let mut document = json!({
            "name": self.name,
            "app": self.app.map(App::name),
            "file": self.path,
            "way": self.endpoint,
        });
        let state = match &self.state {
            EntryState::Effective(_) => "unchecked",
            EntryState::Untrusted(trust::TrustState::Changed) => "changed since trusted",
            EntryState::Untrusted(_) => "untrusted",
            EntryState::Shadowed(shadowing) => {
                document["hidden_by"] = match shadowing {
                    ShadowedBy::File(path) | ShadowedBy::UnreadableFile(path) => json!(path),
                    ShadowedBy::BuiltIn => json!("built in"),
                };
                "hidden"
            }
            EntryState::Disabled => "switched off",
            EntryState::Checked(result) => {
                document["opened_ms"] = json!(result.open_time.as_secs_f64() * 1000.0);
                if let Err(failure) = &result.result {
                    document["error"] = json!(failure.message);
                }
                ServerState::from_result(&result.result).as_str()
            }
        };
        document["state"] = json!(state);
        document
    }
}

fn problem_json((file, problem): &(PathBuf, Problem)) -> Value {
    json!({
        "file": file,
        "line": problem.position.map(|position| position.line),
        "path": problem.path,
        "server": problem.server,
        "error": problem.severity() == Severity::Error,
        "message": problem.message(),
        "advice": problem.advice(),
    })
}
