//! `bowline config trust`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::file_choice::display_path;
use crate::{
    context::Context,
    failure::Failure,
    output::{Style, closest_name, escape_control},
    target::{
        ConfiguredServer, Servers, ShadowedBy, interruptible,
        trust::{self, TrustFile, TrustState, TrustedServer},
    },
};

/// Choose which project servers may be used
///
/// A server in a project's file is a command written by someone else. It is
/// used only after you have seen and trusted it, and only as long as its entry
/// does not change. Without names, lists the servers you trust and those that
/// are not trusted yet.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline config trust                   list trusted and untrusted servers
  bowline config trust notes             show what `notes` runs, and ask
  bowline config trust --revoke notes    stop trusting it
  bowline config trust --revoke ../app   stop trusting all servers in that folder
  bowline config trust --revoke --all    stop trusting all servers")]
pub(crate) struct Trust {
    /// Servers from this project's files
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Do not ask for confirmation
    #[arg(long, short, requires = "names")]
    yes: bool,
    /// Stop trusting them; a file or folder stands for all servers in it
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// Revoke all trusted servers
    #[arg(long, requires = "revoke", conflicts_with = "names")]
    all: bool,
}

impl Trust {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match (self.revoke, self.names.is_empty()) {
            (true, true) if !self.all => Err(Failure::usage("nothing to revoke was given")
                .hint("name servers, files or folders, or revoke everything with --all")),
            (true, _) => self.revoke(cx),
            (false, true) => list(cx),
            (false, false) => interruptible(self.trust(cx)).await,
        }
    }

    async fn trust(&self, cx: &Context) -> Result<(), Failure> {
        let servers = Servers::load(&cx.globals)?;
        servers.print_warnings(&cx.output, false);
        let mut results = Vec::new();
        for name in &self.names {
            let found = project_server(&servers, name)?;
            let state = trust::trust_state(&cx.globals, found)?;
            if state != TrustState::Trusted || cx.globals.trust_project {
                let question = "Trust it, as long as its entry does not change?";
                if !self.yes && !trust::confirm(cx, found, state, question).await? {
                    let name = escape_control(name);
                    return Err(Failure::usage(format!("`{name}` is not trusted")));
                }
                if self.yes && !cx.json() {
                    for line in trust::detail_lines(found, state) {
                        cx.output.note(line);
                    }
                }
                trust::store_trust(cx, found)?;
            }
            let file = display_path(&found.path);
            if !cx.json() {
                cx.output
                    .line(format!("trusted {} from {file}", escape_control(name)))?;
            }
            results.push(json!({"name": name, "file": found.path}));
        }
        match cx.json() {
            true => cx.output.json(&json!({ "trusted": results })),
            false => Ok(()),
        }
    }

    fn revoke(&self, cx: &Context) -> Result<(), Failure> {
        let files: Vec<PathBuf> = Servers::load(&cx.globals)?
            .files
            .iter()
            .map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()))
            .collect();
        let mut revoked = Vec::new();
        if self.all {
            revoked = TrustFile::update(|trusted| trusted.remove_matching(|_| true))?;
        }
        for word in &self.names {
            let path = std::path::absolute(word)?;
            let path = path.canonicalize().unwrap_or(path);
            let is_path = word.contains(std::path::is_separator) || path.exists();
            let is_named = |it: &TrustedServer| it.name == *word && files.contains(&it.file);
            let is_inside = |it: &TrustedServer| is_path && it.file.starts_with(&path);
            let removed = TrustFile::update(|trusted| {
                trusted.remove_matching(|it| is_named(it) || is_inside(it))
            })?;
            if removed.is_empty() {
                let word = escape_control(word);
                return Err(Failure::usage(format!(
                    "`{word}` is not a trusted server, file or folder"
                ))
                .hint("`bowline config trust` lists what you trust"));
            }
            revoked.extend(removed);
        }
        if cx.json() {
            let revoked: Vec<Value> = revoked.iter().map(to_json).collect();
            return cx.output.json(&json!({ "revoked": revoked }));
        }
        for it in &revoked {
            let (name, file) = (escape_control(&it.name), display_path(&it.file));
            cx.output
                .line(format!("{name} from {file} is no longer trusted"))?;
        }
        Ok(())
    }
}

/// Returns the project server of this name.
fn project_server<'a>(servers: &'a Servers, name: &str) -> Result<&'a ConfiguredServer, Failure> {
    if let Some(found) = servers.get(name) {
        if trust::is_project_server(found) {
            return Ok(found);
        }
        let file = display_path(&found.path);
        let why = format!("`{name}` is your own, from {file}: it does not need to be trusted");
        return Err(Failure::usage(why));
    }
    if let Some(shadowing) = servers.shadowed_by_name(name) {
        let why = shadowing.reason();
        let why = format!("the project's `{name}` is not used: {why}");
        let failure = Failure::usage(escape_control(&why));
        return Err(match shadowing {
            ShadowedBy::UnreadableFile(path) => {
                failure.hint(format!("fix {} first", display_path(&path)))
            }
            _ => failure.hint("rename one of them"),
        });
    }
    let failure = Failure::usage(format!("no project server `{name}` found here"));
    let known = servers
        .effective()
        .filter(|found| trust::is_project_server(found));
    Err(
        match closest_name(name, known.map(|found| found.entry.name.as_str())) {
            Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
            None => failure.hint("`bowline servers --no-check` lists what is configured here"),
        },
    )
}

/// Lists trusted servers, and servers here that could be trusted.
fn list(cx: &Context) -> Result<(), Failure> {
    let trust_file = TrustFile::read()?;
    let servers = Servers::load(&cx.globals)?;
    servers.print_warnings(&cx.output, false);
    let mut waiting = Vec::new();
    for found in servers
        .effective()
        .filter(|found| trust::is_project_server(found))
    {
        let state = trust::trust_state(&cx.globals, found)?;
        if state != TrustState::Trusted {
            waiting.push((found, state));
        }
    }
    if cx.json() {
        let trusted: Vec<Value> = trust_file.servers().iter().map(to_json).collect();
        let waiting = waiting.iter().map(|(found, state)| {
            json!({
                "name": found.entry.name,
                "file": found.path,
                "changed": *state == TrustState::Changed,
            })
        });
        let waiting: Vec<Value> = waiting.collect();
        return cx
            .output
            .json(&json!({"trusted": trusted, "waiting": waiting}));
    }
    let paint = cx.output.paint();
    for it in trust_file.servers() {
        let mark = paint.text(Style::Success, "✓");
        let (name, file) = (escape_control(&it.name), display_path(&it.file));
        cx.output
            .line(format!("{mark} {name}  {}", paint.dim(file)))?;
    }
    for (found, state) in &waiting {
        let mark = paint.text(Style::Warning, "?");
        let why = match state {
            TrustState::Changed => "changed since you trusted it",
            _ => "not trusted yet",
        };
        let (name, file) = (escape_control(&found.entry.name), display_path(&found.path));
        let summary = trust::summary(found);
        cx.output.line(format!(
            "{mark} {name}  {}  {why}\n    {summary}",
            paint.dim(file)
        ))?;
    }
    if trust_file.servers().is_empty() && waiting.is_empty() {
        cx.output
            .note("no project servers are trusted, and none are configured here");
    }
    Ok(())
}

fn to_json(it: &TrustedServer) -> Value {
    json!({"name": it.name, "file": it.file, "since": it.since})
}
