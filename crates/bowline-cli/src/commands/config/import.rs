//! `bowline config import`.

use std::{collections::BTreeSet, fs};

use bowline::config::{
    App, ConfigScope, ConfigSource, Environment, InputVariable, Loader, Problem,
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{
    entry::Entry,
    file::ConfigFile,
    file_choice::{self, FileChoice, display_path},
};
use crate::{
    context::Context,
    failure::Failure,
    output::{Style, escape_control},
    target::{
        self,
        trust::{self, TrustState},
    },
};

/// Copy servers of other programs into Bowline's own file
///
/// Bowline uses the servers of other programs as they are. Copy those that you
/// want to keep or change. References to environment variables stay references.
///
/// Servers from project files are copied only after you have seen and confirmed
/// them: in your own file they are trusted.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Copy only from this program
    #[arg(value_enum, value_name = "APP")]
    app: Option<AppArg>,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Also copy servers from project files, without asking
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    file_choice: FileChoice,
}

/// A program to copy from.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum AppArg {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Windsurf,
}

impl AppArg {
    fn app(self) -> App {
        match self {
            Self::ClaudeCode => App::ClaudeCode,
            Self::ClaudeDesktop => App::ClaudeDesktop,
            Self::Codex => App::Codex,
            Self::Cursor => App::Cursor,
            Self::VsCode => App::VsCode,
            Self::Windsurf => App::Windsurf,
        }
    }
}

/// A server that can be copied.
struct ImportableServer {
    name: String,
    entry: Entry,
    app: App,
    /// The server as configured by a project, if it comes from one.
    project_server: Option<target::ConfiguredServer>,
}

/// What was found.
#[derive(Default)]
struct ImportPlan {
    imports: Vec<ImportableServer>,
    /// Servers whose names are taken, and why.
    skipped: Vec<(String, App, String)>,
    /// Project servers that the user has not confirmed.
    left_out: Vec<target::ConfiguredServer>,
    problems: Vec<(ConfigSource, Problem)>,
    files: usize,
}

impl Import {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let location = self.file_choice.location(cx)?;
        let mut file = ConfigFile::open(&location)?;
        let path = location.path;
        let mut plan = self.plan(cx, &file)?;
        if !self.dry_run {
            target::interruptible(self.confirm_project_servers(cx, &mut plan)).await?;
        }
        if plan.files == 0 {
            let app_name = self.app.map_or("another program", |arg| arg.app().name());
            return Err(Failure::usage(format!("no file of {app_name} was found"))
                .hint("`bowline config path --all` lists the paths that are searched"));
        }
        if !self.dry_run && !plan.imports.is_empty() {
            for import in &plan.imports {
                file.insert(&import.name, &import.entry.to_json_string())?;
            }
            file.save()?;
        }
        if cx.json() {
            return self.print_json(cx, &path, &plan);
        }
        self.print(cx, &path, &plan)
    }

    /// Asks about servers from projects and leaves out those that are not
    /// confirmed.
    ///
    /// Trust is not enough here: it holds for one command, or as long as the
    /// project's file is unchanged. A copy is permanent.
    async fn confirm_project_servers(
        &self,
        cx: &Context,
        plan: &mut ImportPlan,
    ) -> Result<(), Failure> {
        let mut accepted = Vec::new();
        for import in std::mem::take(&mut plan.imports) {
            let Some(project_server) = &import.project_server else {
                accepted.push(import);
                continue;
            };
            let question = "Copy it into your own file, where it is trusted?";
            let yes = self.yes
                || cx.responder.terminal().is_some()
                    && trust::confirm(cx, project_server, TrustState::Unknown, question).await?;
            match yes {
                true => accepted.push(import),
                false => plan.left_out.extend(import.project_server),
            }
        }
        plan.imports = accepted;
        Ok(())
    }

    fn plan(&self, cx: &Context, file: &ConfigFile) -> Result<ImportPlan, Failure> {
        let servers = target::Servers::load(&cx.globals)?;
        let mut plan = ImportPlan::default();
        for source in file_choice::all_sources()? {
            let is_wanted = match self.app {
                Some(arg) => source.app == arg.app(),
                None => source.app != App::Bowline,
            };
            if !is_wanted || !source.path.is_file() {
                continue;
            }
            plan.files += 1;
            // Files that cannot or must not be read are reported by the loader.
            let text = match source.check_ownership() {
                Ok(()) => fs::read_to_string(&source.path).unwrap_or_default(),
                Err(_) => String::new(),
            };
            let loaded = loader(&text).load_source(&source);
            for server in loaded.servers {
                let project_server =
                    (source.scope == ConfigScope::Project).then(|| target::ConfiguredServer {
                        entry: server.clone(),
                        app: Some(source.app),
                        scope: Some(source.scope),
                        path: source.path.clone(),
                    });
                let name = server.name.clone();
                // A name that a project's own file cannot have, it cannot get
                // by a copy.
                let owner = project_server
                    .as_ref()
                    .and_then(|_| servers.reserved_by(&name));
                if file.contains(&name) {
                    let why = "it already exists".to_owned();
                    plan.skipped.push((name, source.app, why));
                } else if let Some(owner) = owner {
                    plan.skipped.push((name, source.app, owner.reason()));
                } else if !plan.imports.iter().any(|import| import.name == name) {
                    plan.imports.push(ImportableServer {
                        entry: Entry::from_server(&server),
                        app: source.app,
                        name,
                        project_server,
                    });
                }
            }
            let problems = loaded.problems.into_iter();
            plan.problems
                .extend(problems.map(|problem| (source.clone(), problem)));
        }
        Ok(plan)
    }

    fn print(
        &self,
        cx: &Context,
        path: &std::path::Path,
        plan: &ImportPlan,
    ) -> Result<(), Failure> {
        let paint = cx.output.paint();
        let action = if self.dry_run { "would add" } else { "added" };
        for import in &plan.imports {
            let (app, summary) = (import.app.name(), import.entry.summary());
            let rest = format!("{summary}, from {app}");
            let (name, rest) = (escape_control(&import.name), escape_control(&rest));
            let action = paint.text(Style::Success, action);
            cx.output.line(format!("{action} {name} ({rest})"))?;
            match (self.dry_run, &import.project_server) {
                (true, Some(project_server)) => {
                    let what = trust::summary(project_server);
                    cx.output.line(format!(
                        "  after asking, because it comes from a project; {what}"
                    ))?;
                }
                // Someone who confirmed it in a terminal has just seen it.
                (false, Some(project_server)) if self.yes => {
                    for line in trust::detail_lines(project_server, TrustState::Unknown) {
                        cx.output.note(line);
                    }
                }
                _ => {}
            }
        }
        note_skipped(cx, plan);
        for import in &plan.imports {
            let literals = import.entry.literals();
            if !literals.is_empty() {
                let (name, literals) = (&import.name, literals.join(", "));
                let copied = if self.dry_run {
                    "would be copied"
                } else {
                    "copied"
                };
                let note = format!("note: {name}: {copied} in plain text: {literals}");
                cx.output.note(escape_control(&note));
            }
        }
        let unset = unset_variables(plan);
        if !unset.is_empty() {
            let names = unset.into_iter().collect::<Vec<_>>().join(", ");
            cx.output
                .note(format!("note: environment variables not set: {names}"));
        }
        let count = match plan.imports.len() {
            1 => "1 server".to_owned(),
            count => format!("{count} servers"),
        };
        let path = display_path(path);
        cx.output.line(match self.dry_run {
            true => format!("{count} would be added to {path}"),
            false => format!("{count} added to {path}"),
        })
    }

    fn print_json(
        &self,
        cx: &Context,
        path: &std::path::Path,
        plan: &ImportPlan,
    ) -> Result<(), Failure> {
        let imports = plan.imports.iter().map(|import| {
            json!({
                "name": import.name,
                "from": import.app.name(),
                "entry": import.entry.to_value(),
                "copied_as_written": import.entry.literals(),
            })
        });
        let left_out = plan.left_out.iter();
        let left_out =
            left_out.map(|project_server| json!({"name": project_server.entry.name, "path": project_server.path}));
        let skipped = plan.skipped.iter();
        let skipped =
            skipped.map(|(name, app, why)| json!({"name": name, "from": app.name(), "why": why}));
        let problems = plan
            .problems
            .iter()
            .map(|(source, problem)| json!({"path": source.path, "problem": problem.to_string()}));
        cx.output.json(&json!({
            "path": path,
            "dry_run": self.dry_run,
            "added": imports.collect::<Vec<Value>>(),
            "skipped": skipped.collect::<Vec<Value>>(),
            "left_out": left_out.collect::<Vec<Value>>(),
            "problems": problems.collect::<Vec<Value>>(),
        }))
    }
}

/// Prints what was not copied, and why.
fn note_skipped(cx: &Context, plan: &ImportPlan) {
    for project_server in &plan.left_out {
        let (name, file) = (
            escape_control(&project_server.entry.name),
            display_path(&project_server.path),
        );
        let what = trust::summary(project_server);
        cx.output.note(format!(
            "left out {name}, because {file} comes from a project (--yes copies it)\n  {what}"
        ));
    }
    for (name, app, why) in &plan.skipped {
        let name = escape_control(name);
        cx.output
            .note(format!("skipped {name} from {}: {why}", app.name()));
    }
    for (source, problem) in &plan.problems {
        let problem = problem.to_string();
        cx.output.note(format!(
            "{}: {}",
            display_path(&source.path),
            escape_control(&problem)
        ));
    }
}

/// Returns the variables that copies refer to and that are not set.
fn unset_variables(plan: &ImportPlan) -> BTreeSet<String> {
    let mut unset = BTreeSet::new();
    for import in &plan.imports {
        let text = import.entry.to_json_string();
        for part in text.split("${").skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            let is_variable_name =
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_variable_name && std::env::var_os(name).is_none() {
                unset.insert(name.to_owned());
            }
        }
    }
    unset
}

/// Returns a loader that substitutes a reference for every variable, so copies
/// refer to the same variables. Inputs that prompt the user become variables:
/// there is no prompt here.
fn loader(text: &str) -> Loader {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: BTreeSet<&str> = words.filter(|word| !word.is_empty()).collect();
    let reference = |word: &str| (word.to_owned(), format!("${{{word}}}"));
    let mut environment: Environment = words.into_iter().map(reference).collect();
    // With its default, if it has one.
    for part in text.split("${").skip(1) {
        let reference_text = part.split('}').next().unwrap_or_default();
        let name = reference_text.split(":-").next().unwrap_or_default();
        let name = name.strip_prefix("env:").unwrap_or(name);
        if reference_text.contains(":-") && environment.get(name).is_some() {
            environment.set(name, format!("${{{reference_text}}}"));
        }
    }
    let mut loader = Loader::new(environment).inputs(|input: &InputVariable| {
        let name = input.id.to_uppercase();
        let name = name.replace(|c: char| !c.is_alphanumeric(), "_");
        Some(format!("${{{name}}}"))
    });
    if let Some(home) = std::env::home_dir() {
        loader = loader.home(home);
    }
    if let Ok(cwd) = std::env::current_dir() {
        loader = loader.workspace(cwd);
    }
    loader
}
