//! `bowline config import`.

use std::{collections::BTreeSet, fs};

use bowline::config::{App, Environment, Input, Loader, Problem, Scope, Source};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{
    entry::Entry,
    file::ConfigFile,
    place::{self, Place, shown},
};
use crate::{
    context::Context,
    failure::Failure,
    output::{Style, clean},
    target::{
        self,
        trust::{self, Standing},
    },
};

/// Copy servers of other programs into Bowline's own file
///
/// Bowline uses the servers of other programs as they are. A copy is for those
/// that should stay, or differ. References to variables stay references.
///
/// What a project's file names is copied once you have seen it and said yes:
/// in your own file it counts as yours.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Only from this program
    #[arg(value_enum, value_name = "APP")]
    app: Option<Program>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Copy what projects' files name, too, without asking
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    place: Place,
}

/// A program to copy from.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Program {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Windsurf,
}

impl Program {
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
struct Copy {
    name: String,
    entry: Entry,
    app: App,
    /// The server as a project brings it, if one does.
    of_project: Option<target::Found>,
}

/// All that was found.
#[derive(Default)]
struct Found {
    copies: Vec<Copy>,
    /// Names that are taken, and why.
    known: Vec<(String, App, String)>,
    /// What comes with a project, and nobody has said yes to.
    left_out: Vec<target::Found>,
    problems: Vec<(Source, Problem)>,
    files: usize,
}

impl Import {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let spot = self.place.spot(cx)?;
        let mut file = ConfigFile::open(&spot)?;
        let path = spot.path;
        let mut found = self.find(cx, &file)?;
        if !self.dry_run {
            target::interruptible(self.ask(cx, &mut found)).await?;
        }
        if found.files == 0 {
            let whose = self.app.map_or("another program", |from| from.app().name());
            return Err(Failure::usage(format!("no file of {whose} was found"))
                .hint("`bowline config path --all` says where they are looked for"));
        }
        if !self.dry_run && !found.copies.is_empty() {
            for copy in &found.copies {
                file.insert(&copy.name, &copy.entry.text())?;
            }
            file.save()?;
        }
        if cx.json() {
            return self.print_json(cx, &path, &found);
        }
        self.print(cx, &path, &found)
    }

    /// Asks about what comes with projects, and leaves out what nobody wants.
    ///
    /// That a server is trusted is no answer: that is for one command, or as
    /// long as the project's file says the same. A copy is for good.
    async fn ask(&self, cx: &Context, found: &mut Found) -> Result<(), Failure> {
        let mut wanted = Vec::new();
        for copy in std::mem::take(&mut found.copies) {
            let Some(theirs) = &copy.of_project else {
                wanted.push(copy);
                continue;
            };
            let question = "Copy it into your own file, where it counts as yours?";
            let yes = self.yes
                || cx.talk.terminal().is_some()
                    && trust::ask(cx, theirs, Standing::Unknown, question).await?;
            match yes {
                true => wanted.push(copy),
                false => found.left_out.extend(copy.of_project),
            }
        }
        found.copies = wanted;
        Ok(())
    }

    fn find(&self, cx: &Context, file: &ConfigFile) -> Result<Found, Failure> {
        let servers = target::Servers::find(&cx.globals)?;
        let mut found = Found::default();
        for source in place::all()? {
            let wanted = match self.app {
                Some(from) => source.app == from.app(),
                None => source.app != App::Bowline,
            };
            if !wanted || !source.path.is_file() {
                continue;
            }
            found.files += 1;
            // What cannot be read, or is not to be, is reported by the loader.
            let text = match source.vet() {
                Ok(()) => fs::read_to_string(&source.path).unwrap_or_default(),
                Err(_) => String::new(),
            };
            let read = loader(&text).load_source(&source);
            for server in read.servers {
                let of_project = (source.scope == Scope::Project).then(|| target::Found {
                    entry: server.clone(),
                    app: Some(source.app),
                    scope: Some(source.scope),
                    path: source.path.clone(),
                });
                let name = server.name.clone();
                // What a project cannot have by its own file, it cannot have by a copy.
                let owner = of_project.as_ref().and_then(|_| servers.owner(&name));
                if file.has(&name) {
                    let why = "there is one already".to_owned();
                    found.known.push((name, source.app, why));
                } else if let Some(owner) = owner {
                    found.known.push((name, source.app, owner.why()));
                } else if !found.copies.iter().any(|copy| copy.name == name) {
                    found.copies.push(Copy {
                        entry: Entry::of(&server),
                        app: source.app,
                        name,
                        of_project,
                    });
                }
            }
            let problems = read.problems.into_iter();
            found
                .problems
                .extend(problems.map(|problem| (source.clone(), problem)));
        }
        Ok(found)
    }

    fn print(&self, cx: &Context, path: &std::path::Path, found: &Found) -> Result<(), Failure> {
        let paint = cx.output.paint();
        let verb = if self.dry_run { "would add" } else { "added" };
        for copy in &found.copies {
            let (app, summary) = (copy.app.name(), copy.entry.summary());
            let rest = format!("{summary}, from {app}");
            let (name, rest) = (clean(&copy.name), clean(&rest));
            let verb = paint.text(Style::Good, verb);
            cx.output.line(format!("{verb} {name} ({rest})"))?;
            match (self.dry_run, &copy.of_project) {
                (true, Some(theirs)) => {
                    let what = trust::summary(theirs);
                    cx.output.line(format!(
                        "  after asking, since it comes with a project; {what}"
                    ))?;
                }
                // Who said yes in a terminal has just seen it.
                (false, Some(theirs)) if self.yes => {
                    for line in trust::lines(theirs, Standing::Unknown) {
                        cx.output.remark(line);
                    }
                }
                _ => {}
            }
        }
        remark_skipped(cx, found);
        for copy in &found.copies {
            let literals = copy.entry.literals();
            if !literals.is_empty() {
                let (name, literals) = (&copy.name, literals.join(", "));
                let copied = if self.dry_run {
                    "would be copied"
                } else {
                    "copied"
                };
                let note = format!("note: {name}: {copied} as written: {literals}");
                cx.output.remark(clean(&note));
            }
        }
        let unset = unset(found);
        if !unset.is_empty() {
            let names = unset.into_iter().collect::<Vec<_>>().join(", ");
            cx.output
                .remark(format!("note: set before they are used: {names}"));
        }
        let count = match found.copies.len() {
            1 => "1 server".to_owned(),
            count => format!("{count} servers"),
        };
        let path = shown(path);
        cx.output.line(match self.dry_run {
            true => format!("{count} would be added to {path}"),
            false => format!("{count} added to {path}"),
        })
    }

    fn print_json(
        &self,
        cx: &Context,
        path: &std::path::Path,
        found: &Found,
    ) -> Result<(), Failure> {
        let copies = found.copies.iter().map(|copy| {
            json!({
                "name": copy.name,
                "from": copy.app.name(),
                "entry": copy.entry.value(),
                "copied_as_written": copy.entry.literals(),
            })
        });
        let left_out = found.left_out.iter();
        let left_out =
            left_out.map(|theirs| json!({"name": theirs.entry.name, "path": theirs.path}));
        let known = found.known.iter();
        let known =
            known.map(|(name, app, why)| json!({"name": name, "from": app.name(), "why": why}));
        let problems = found
            .problems
            .iter()
            .map(|(source, problem)| json!({"path": source.path, "problem": problem.to_string()}));
        cx.output.json(&json!({
            "path": path,
            "dry_run": self.dry_run,
            "added": copies.collect::<Vec<Value>>(),
            "skipped": known.collect::<Vec<Value>>(),
            "left_out": left_out.collect::<Vec<Value>>(),
            "problems": problems.collect::<Vec<Value>>(),
        }))
    }
}

/// Says what was not copied, and why.
fn remark_skipped(cx: &Context, found: &Found) {
    for theirs in &found.left_out {
        let (name, file) = (clean(&theirs.entry.name), shown(&theirs.path));
        let what = trust::summary(theirs);
        cx.output.remark(format!(
            "left out {name}, since {file} comes with a project (--yes copies it)\n  {what}"
        ));
    }
    for (name, app, why) in &found.known {
        let name = clean(name);
        cx.output
            .remark(format!("skipped {name} of {}: {why}", app.name()));
    }
    for (source, problem) in &found.problems {
        let problem = problem.to_string();
        cx.output
            .remark(format!("{}: {}", shown(&source.path), clean(&problem)));
    }
}

/// The variables that copies refer to, and that are not set here.
fn unset(found: &Found) -> BTreeSet<String> {
    let mut unset = BTreeSet::new();
    for copy in &found.copies {
        let text = copy.entry.text();
        for part in text.split("${").skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if plain && std::env::var_os(name).is_none() {
                unset.insert(name.to_owned());
            }
        }
    }
    unset
}

/// A loader that puts a reference in the place of every variable, so that what
/// is copied refers to what it referred to. Questions to the user become
/// variables: nobody asks them here.
fn loader(text: &str) -> Loader {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: BTreeSet<&str> = words.filter(|word| !word.is_empty()).collect();
    let reference = |word: &str| (word.to_owned(), format!("${{{word}}}"));
    let mut environment: Environment = words.into_iter().map(reference).collect();
    // With its default, where it has one.
    for part in text.split("${").skip(1) {
        let written = part.split('}').next().unwrap_or_default();
        let name = written.split(":-").next().unwrap_or_default();
        let name = name.strip_prefix("env:").unwrap_or(name);
        if written.contains(":-") && environment.get(name).is_some() {
            environment.set(name, format!("${{{written}}}"));
        }
    }
    let mut loader = Loader::new(environment).inputs(|input: &Input| {
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
