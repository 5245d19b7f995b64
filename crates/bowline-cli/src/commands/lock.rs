//! `bowline lock`.

use std::{collections::BTreeMap, path::PathBuf};

use bowline::lock::ChangeKind;
use clap::{Args, ValueEnum};

use crate::{
    context::Context,
    failure::Failure,
    locked::{DEFAULT_FILE, LockFile, ServerChanges, collect, observe_recording, print_changes},
    output::escape_control,
    target::Target,
};

/// Record what servers offer in bowline.lock, or check what has changed since
#[derive(Args, Debug)]
#[command(after_help = "\
Review the changes of bowline.lock as you review code: it has the descriptions that
models read, and the schemas of all tools.

Examples:
  bowline lock github files        add these servers, or update them
  bowline lock                     update all servers that are locked
  bowline lock --check             exit with 5 if anything has changed
  bowline lock --check --allow text-only
  bowline lock files --observe calls.jsonl  learn result shapes from a recording
  bowline lock --name everything -- npx -y @modelcontextprotocol/server-everything
  bowline call --locked github.search_issues query=bug  call only what is as reviewed")]
pub(crate) struct Lock {
    /// The servers; defaults to all that are locked
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    file: PathBuf,
    /// Write nothing, and fail if anything has changed
    #[arg(long)]
    check: bool,
    /// Changes that do not fail a check; new tools always do, since nobody has reviewed them
    #[arg(
        long,
        value_name = "KIND",
        value_enum,
        default_value_t,
        requires = "check"
    )]
    allow: Allowed,
    /// The name of the server in the lock file, for a server given by URL or command
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Learn from a recording what the results of tools look like that declare no output
    /// schema: names and types, never values; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    observe: Vec<PathBuf>,
    /// Command that starts a server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What to do about a locked server that no configuration file has.
const NOT_CONFIGURED: &str = "a server that was locked by URL or command needs it again: \
                              `bowline lock --name NAME -- COMMAND`; the others can be named";

/// The changes that do not fail a check.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Allowed {
    /// None
    #[default]
    None,
    /// Descriptions and titles
    TextOnly,
    /// Also changes that cannot break callers, except for new tools
    Compatible,
}

impl From<Allowed> for ChangeKind {
    fn from(allowed: Allowed) -> Self {
        match allowed {
            Allowed::None => Self::Identical,
            Allowed::TextOnly => Self::TextOnly,
            Allowed::Compatible => Self::Compatible,
        }
    }
}

impl Lock {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut file = match self.check {
            true => LockFile::load_existing(&self.file)?,
            false => LockFile::load(&self.file)?,
        };
        let (names, targets): (Vec<_>, Vec<_>) = self.targets(cx, &file)?.into_iter().unzip();
        let current = collect(cx, &targets).await?;
        let current: BTreeMap<_, _> = names.into_iter().zip(current).collect();
        let changes = file.changes(&current);
        if self.check {
            print_changes(cx, &changes)?;
            return self.verdict(&changes);
        }
        let before = file.lock.clone();
        for (name, server) in current {
            let mut server = file.update(&name, server);
            for recording in &self.observe {
                let count = observe_recording(recording, &mut server)?;
                let path = recording.display();
                cx.output
                    .note(format!("{name}: learned from {count} results in {path}"));
            }
            file.lock.servers.insert(name, server);
        }
        print_changes(cx, &changes)?;
        // A file that stays the same keeps its time.
        if file.lock != before || !file.exists {
            file.save()?;
            cx.output.note(format!("wrote {}", file.path().display()));
        }
        Ok(())
    }

    /// Returns the servers, each with its name in the lock.
    fn targets(&self, cx: &Context, file: &LockFile) -> Result<Vec<(String, Target)>, Failure> {
        let is_all = self.servers.is_empty() && self.command.is_empty();
        let names = match is_all {
            true => file.lock.servers.keys().cloned().collect(),
            false => self.servers.clone(),
        };
        if names.is_empty() && is_all {
            return Err(Failure::usage("no servers are locked yet")
                .hint("name the servers to lock: `bowline lock SERVER…`"));
        }
        let mut targets = Target::resolve_all(&names, cx).map_err(|failure| match is_all {
            true => failure.hint(NOT_CONFIGURED),
            false => failure,
        })?;
        if !self.command.is_empty() {
            targets.push(Target::Command(self.command.clone()));
        }
        let is_named = |target: &Target| matches!(target, Target::Demo | Target::Configured(_));
        match (&self.name, &targets[..]) {
            (Some(name), [_]) => Ok(vec![(name.clone(), targets.remove(0))]),
            (Some(_), _) => Err(Failure::usage("--name is for one server")),
            (None, targets) if !targets.iter().all(is_named) => Err(Failure::usage(
                "a server given by URL or command needs a name in the lock",
            )
            .hint("add --name NAME")),
            (None, _) => {
                let named = targets.into_iter();
                Ok(named
                    .map(|target| (target.name().to_owned(), target))
                    .collect())
            }
        }
    }

    fn verdict(&self, changes: &[ServerChanges]) -> Result<(), Failure> {
        let allowed = ChangeKind::from(self.allow);
        // Nobody has reviewed what is new, as a server or as a tool.
        let is_changed = |server: &&ServerChanges| {
            server.is_new || server.has_new_tools() || server.kind() > allowed
        };
        let changed: Vec<_> = changes.iter().filter(is_changed).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = changed.iter().map(|it| it.server.as_str()).collect();
        let names = escape_control(&names.join(", ")).into_owned();
        let failure = Failure::failed(format!("changed since the review: {names}"));
        let update = format!("bowline lock {}", names.replace(", ", " "));
        Err(failure.hint(format!(
            "review the changes, then update the lock with `{update}`"
        )))
    }
}
