//! What is configured where, and how it is.

use std::{path::PathBuf, time::Duration};

use bowline::{
    Client,
    config::{App, Problem, Severity},
};
use serde_json::{Value, json};

use super::visit::{State, Visit, visit};
use crate::{
    context::Context,
    failure::Failure,
    output::{Style, clean, short},
    target::{Rival, Servers, Target, trust},
};

/// What is configured where.
pub(crate) struct Inventory {
    entries: Vec<Entry>,
    problems: Vec<(PathBuf, Problem)>,
}

/// One server.
struct Entry {
    name: String,
    app: Option<App>,
    /// The file; none for what is built in.
    path: Option<PathBuf>,
    /// How it is reached, for people. Unknown where it is switched off.
    way: String,
    /// What to type to mean it.
    typed: String,
    standing: Standing,
}

/// What becomes of an entry.
enum Standing {
    /// It is the one that its name means.
    Effective(Target),
    /// It was visited.
    Visited(Visit<String>),
    /// It comes with a project, and was not visited for that reason.
    Untrusted(trust::Standing),
    /// Another one has its name, and counts.
    Hidden(Rival),
    SwitchedOff,
}

impl Inventory {
    /// Looks through the configuration files.
    pub(crate) fn take(cx: &Context) -> Result<Self, Failure> {
        let servers = Servers::find(&cx.globals)?;
        let mut entries = Vec::new();
        for (at, found) in servers.found.iter().enumerate() {
            let target = Target::Configured(Box::new(found.clone()));
            let typed = target.typed();
            let standing = match servers.rival(at) {
                Some(rival) => Standing::Hidden(rival),
                None => match trust::standing(&cx.globals, found)? {
                    trust::Standing::Trusted => Standing::Effective(target),
                    standing => Standing::Untrusted(standing),
                },
            };
            entries.push(Entry {
                name: found.entry.name.clone(),
                app: found.app,
                path: Some(found.path.clone()),
                way: trust::way(found),
                typed,
                standing,
            });
        }
        entries.extend(servers.disabled.iter().map(|(path, name)| Entry {
            name: name.clone(),
            app: None,
            path: Some(path.clone()),
            way: String::new(),
            typed: String::new(),
            standing: Standing::SwitchedOff,
        }));
        entries.push(Entry {
            name: Target::Demo.name().to_owned(),
            app: None,
            path: None,
            way: "part of this command".to_owned(),
            typed: Target::Demo.typed(),
            standing: Standing::Effective(Target::Demo),
        });
        Ok(Self {
            entries,
            problems: servers.problems,
        })
    }

    /// Connects to those that count, all together.
    pub(crate) async fn check(&mut self, cx: &Context, limit: Duration) {
        let targets = self
            .entries
            .iter()
            .filter_map(|entry| match &entry.standing {
                Standing::Effective(target) => Some(target.clone()),
                _ => None,
            });
        let targets: Vec<Target> = targets.collect();
        let visits = visit(cx, &targets, limit, introduce).await;
        let effective = self
            .entries
            .iter_mut()
            .filter(|entry| matches!(entry.standing, Standing::Effective(_)));
        for (entry, visit) in effective.zip(visits) {
            entry.standing = Standing::Visited(visit);
        }
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let servers: Vec<_> = self.entries.iter().map(Entry::json).collect();
        let problems: Vec<_> = self.problems.iter().map(problem_json).collect();
        json!({"servers": servers, "problems": problems})
    }
}

/// What a server says that it is.
async fn introduce(client: Client) -> Result<String, Failure> {
    let Some(server) = client.server() else {
        return Ok(String::new());
    };
    let name = server.info.as_ref().map_or_else(String::new, |info| {
        format!("{} {}, ", info.name, info.version)
    });
    Ok(clean(&format!("{name}{}", server.revision)).into_owned())
}

/// For people: file by file.
pub(crate) fn show(cx: &Context, inventory: &Inventory) -> String {
    let paint = cx.output.paint();
    let mut lines = Vec::new();
    let names = inventory.entries.iter().map(|entry| entry.name.len());
    let width = names.max().unwrap_or_default();
    for path in inventory.paths() {
        let here = || inventory.entries.iter().filter(|it| it.path == path);
        let app = here().find_map(|entry| entry.app);
        let title = match &path {
            Some(path) => short(path),
            None => "built in".to_owned(),
        };
        let app = app
            .map(|app| format!("  {}", app.name()))
            .unwrap_or_default();
        lines.push(format!("{}{}", paint.strong(title), paint.faint(app)));
        lines.extend(here().map(|entry| entry.line(cx, width)));
        let problems = inventory
            .problems
            .iter()
            .filter(|(file, _)| Some(file) == path.as_ref());
        lines.extend(problems.map(|(_, problem)| {
            let mark = match problem.severity() {
                Severity::Error => paint.text(Style::Bad, "✗"),
                Severity::Warning => paint.text(Style::Warning, "!"),
            };
            format!("  {mark} {}", clean(&problem.to_string()))
        }));
    }
    if inventory.entries.len() == 1 && inventory.problems.is_empty() {
        lines.push("\nNo servers are configured yet. `bowline config add` adds one.".to_owned());
    }
    lines.join("\n")
}

impl Inventory {
    /// The files, in the order in which they count, and at last none.
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

impl Entry {
    fn line(&self, cx: &Context, width: usize) -> String {
        let paint = cx.output.paint();
        let name = format!("{:width$}", clean(&self.name));
        let way = paint.faint(&self.way);
        match &self.standing {
            Standing::Effective(_) => format!("    {name}  {way}"),
            Standing::Untrusted(standing) => {
                let mark = paint.text(Style::Warning, "?");
                let why = match standing {
                    trust::Standing::Changed => "its entry has changed since you trusted it",
                    _ => "it comes with a project, and you have not trusted it",
                };
                let typed = &self.typed;
                let advice = format!("bowline config trust {typed} shows it, and asks you");
                let advice = paint.faint(advice);
                format!("  {mark} {name}  {way}\n      not used: {why}\n      {advice}")
            }
            Standing::Hidden(by) => {
                let by = format!("hidden: {}", by.why());
                format!("  {} {name}  {}", paint.faint("-"), paint.faint(by))
            }
            Standing::SwitchedOff => {
                let off = paint.faint("switched off");
                format!("  {} {name}  {off}", paint.faint("-"))
            }
            Standing::Visited(visit) => {
                let state = State::of(&visit.result).word();
                match &visit.result {
                    Ok(introduction) => {
                        let mark = paint.text(Style::Good, "✓");
                        let ms = visit.opened.as_secs_f64() * 1000.0;
                        let how = format!("{state} in {ms:.0} ms ({introduction})");
                        format!("  {mark} {name}  {how:<50}  {way}")
                            .trim_end()
                            .to_owned()
                    }
                    Err(failure) => {
                        let mark = paint.text(Style::Bad, "✗");
                        let why = clean(&failure.message).replace('\n', "\n      ");
                        let advice =
                            paint.faint(format!("bowline doctor {} finds out why", self.typed));
                        format!("  {mark} {name}  {state}  {way}\n      {why}\n      {advice}")
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
            "way": self.way,
        });
        let state = match &self.standing {
            Standing::Effective(_) => "unchecked",
            Standing::Untrusted(trust::Standing::Changed) => "changed since trusted",
            Standing::Untrusted(_) => "untrusted",
            Standing::Hidden(by) => {
                document["hidden_by"] = match by {
                    Rival::File(path) | Rival::Unread(path) => json!(path),
                    Rival::BuiltIn => json!("built in"),
                };
                "hidden"
            }
            Standing::SwitchedOff => "switched off",
            Standing::Visited(visit) => {
                document["opened_ms"] = json!(visit.opened.as_secs_f64() * 1000.0);
                if let Err(failure) = &visit.result {
                    document["error"] = json!(failure.message);
                }
                State::of(&visit.result).word()
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
