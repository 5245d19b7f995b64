//! `bowline config trust`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::place::shown;
use crate::{
    context::Context,
    failure::Failure,
    output::{Style, clean, similar},
    target::{
        Found, Rival, Servers, interruptible,
        trust::{self, Remembered, Standing, Trusted},
    },
};

/// Say which servers of projects may be used
///
/// A server that a project's file names is a command of somebody else's. It is
/// used once you have seen and trusted it, and only as long as its file says
/// the same. Without names, lists what you trust, and what waits for you here.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline config trust                   what you trust, and what you could
  bowline config trust notes             shows what `notes` is, and asks
  bowline config trust --revoke notes    takes it back
  bowline config trust --revoke ../app   takes back all that files below it name
  bowline config trust --revoke --all    takes back everything")]
pub(crate) struct Trust {
    /// Servers that files of this project name
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Do not ask
    #[arg(long, short, requires = "names")]
    yes: bool,
    /// Trust them no longer; a file or folder stands for all in it
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// Everything that is trusted
    #[arg(long, requires = "revoke", conflicts_with = "names")]
    all: bool,
}

impl Trust {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match (self.revoke, self.names.is_empty()) {
            (true, true) if !self.all => Err(Failure::usage("whom do you not trust any more?")
                .hint("name servers, files or folders, or take everything back with --all")),
            (true, _) => self.revoke(cx),
            (false, true) => list(cx),
            (false, false) => interruptible(self.trust(cx)).await,
        }
    }

    async fn trust(&self, cx: &Context) -> Result<(), Failure> {
        let servers = Servers::find(&cx.globals)?;
        servers.warn(&cx.output, false);
        let mut results = Vec::new();
        for name in &self.names {
            let found = of_project(&servers, name)?;
            let standing = trust::standing(&cx.globals, found)?;
            if standing != Standing::Trusted || cx.globals.trust_project {
                let asked = "Trust it, as long as the file says this?";
                if !self.yes && !trust::ask(cx, found, standing, asked).await? {
                    let name = clean(name);
                    return Err(Failure::usage(format!("`{name}` is not trusted")));
                }
                if self.yes && !cx.json() {
                    for line in trust::lines(found, standing) {
                        cx.output.remark(line);
                    }
                }
                trust::remember(cx, found)?;
            }
            let file = shown(&found.path);
            if !cx.json() {
                cx.output
                    .line(format!("trusted {} of {file}", clean(name)))?;
            }
            results.push(json!({"name": name, "file": found.path}));
        }
        match cx.json() {
            true => cx.output.json(&json!({ "trusted": results })),
            false => Ok(()),
        }
    }

    fn revoke(&self, cx: &Context) -> Result<(), Failure> {
        let here: Vec<PathBuf> = Servers::find(&cx.globals)?
            .files
            .iter()
            .map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()))
            .collect();
        let mut gone = Vec::new();
        if self.all {
            gone = Remembered::change(|trusted| trusted.forget(|_| true))?;
        }
        for word in &self.names {
            let place = std::path::absolute(word)?;
            let place = place.canonicalize().unwrap_or(place);
            let is_place = word.contains(std::path::is_separator) || place.exists();
            let named = |it: &Trusted| it.name == *word && here.contains(&it.file);
            let within = |it: &Trusted| is_place && it.file.starts_with(&place);
            let some = Remembered::change(|trusted| trusted.forget(|it| named(it) || within(it)))?;
            if some.is_empty() {
                let word = clean(word);
                return Err(
                    Failure::usage(format!("nothing that you trust is `{word}`"))
                        .hint("`bowline config trust` lists what you trust"),
                );
            }
            gone.extend(some);
        }
        if cx.json() {
            let gone: Vec<Value> = gone.iter().map(document).collect();
            return cx.output.json(&json!({ "revoked": gone }));
        }
        for it in &gone {
            let (name, file) = (clean(&it.name), shown(&it.file));
            cx.output
                .line(format!("{name} of {file} is not trusted any more"))?;
        }
        Ok(())
    }
}

/// The server of a project that has this name here.
fn of_project<'a>(servers: &'a Servers, name: &str) -> Result<&'a Found, Failure> {
    if let Some(found) = servers.get(name) {
        if trust::is_of_project(found) {
            return Ok(found);
        }
        let file = shown(&found.path);
        let why = format!("`{name}` is your own, by {file}: it needs no trust");
        return Err(Failure::usage(why));
    }
    if let Some(rival) = servers.rival_of(name) {
        let why = rival.why();
        let why = format!("`{name}` of the project is not used: {why}");
        let failure = Failure::usage(clean(&why));
        return Err(match rival {
            Rival::Unread(path) => failure.hint(format!("correct {} first", shown(&path))),
            _ => failure.hint("give one of them another name"),
        });
    }
    let failure = Failure::usage(format!("no project's file here names a server `{name}`"));
    let known = servers
        .effective()
        .filter(|found| trust::is_of_project(found));
    Err(
        match similar(name, known.map(|found| found.entry.name.as_str())) {
            Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
            None => failure.hint("`bowline servers --no-check` lists what is configured here"),
        },
    )
}

/// What is trusted, and what could be here.
fn list(cx: &Context) -> Result<(), Failure> {
    let remembered = Remembered::read()?;
    let servers = Servers::find(&cx.globals)?;
    servers.warn(&cx.output, false);
    let mut waiting = Vec::new();
    for found in servers
        .effective()
        .filter(|found| trust::is_of_project(found))
    {
        let standing = trust::standing(&cx.globals, found)?;
        if standing != Standing::Trusted {
            waiting.push((found, standing));
        }
    }
    if cx.json() {
        let trusted: Vec<Value> = remembered.all().iter().map(document).collect();
        let waiting = waiting.iter().map(|(found, standing)| {
            json!({
                "name": found.entry.name,
                "file": found.path,
                "changed": *standing == Standing::Changed,
            })
        });
        let waiting: Vec<Value> = waiting.collect();
        return cx
            .output
            .json(&json!({"trusted": trusted, "waiting": waiting}));
    }
    let paint = cx.output.paint();
    for it in remembered.all() {
        let mark = paint.text(Style::Good, "✓");
        let (name, file) = (clean(&it.name), shown(&it.file));
        cx.output
            .line(format!("{mark} {name}  {}", paint.faint(file)))?;
    }
    for (found, standing) in &waiting {
        let mark = paint.text(Style::Warning, "?");
        let why = match standing {
            Standing::Changed => "has changed since you trusted it",
            _ => "waits for you",
        };
        let (name, file) = (clean(&found.entry.name), shown(&found.path));
        let summary = trust::summary(found);
        cx.output.line(format!(
            "{mark} {name}  {}  {why}\n    {summary}",
            paint.faint(file)
        ))?;
    }
    if remembered.all().is_empty() && waiting.is_empty() {
        cx.output
            .remark("no server of a project is trusted, and none is here");
    }
    Ok(())
}

fn document(it: &Trusted) -> Value {
    json!({"name": it.name, "file": it.file, "since": it.since})
}
