//! `bowline lock`.

use std::{path::PathBuf, time::Duration};

use bowline::lock::{ChangeKind, LockedServer};
use clap::{Args, ValueEnum};

use crate::{
    context::Context,
    failure::Failure,
    fleet::run_on_all,
    locked::{DEFAULT_FILE, LockFile, ServerChanges, collect, observe_recording, print_changes},
    output::escape_control,
    target::{Target, interruptible},
};

/// Default time in which a server must list everything. Some are downloaded first.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

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
    /// Changes that do not fail a check
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

/// The changes that do not fail a check.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Allowed {
    /// None
    #[default]
    None,
    /// Descriptions and titles
    TextOnly,
    /// Also changes that cannot break callers
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
        let targets = self.targets(cx, &file)?;
        let current = self.collect(cx, targets).await?;
        let changes: Vec<ServerChanges> = current
            .iter()
            .map(|(name, server)| {
                let reviewed = file.lock.servers.get(name);
                ServerChanges {
                    server: name.clone(),
                    is_new: reviewed.is_none(),
                    changes: reviewed.unwrap_or(&LockedServer::default()).compare(server),
                }
            })
            .collect();
        if self.check {
            print_changes(cx, &changes)?;
            return self.verdict(&changes);
        }
        for (name, server) in current {
            let mut server = match file.lock.servers.get(&name) {
                Some(known) => known.updated_from(server),
                None => server,
            };
            for recording in &self.observe {
                let count = observe_recording(recording, &mut server)?;
                let path = recording.display();
                cx.output
                    .note(format!("{name}: learned from {count} results in {path}"));
            }
            file.lock.servers.insert(name, server);
        }
        file.save()?;
        print_changes(cx, &changes)?;
        cx.output.note(format!("wrote {}", file.path().display()));
        Ok(())
    }

    /// Returns the servers, each with its name in the lock.
    fn targets(&self, cx: &Context, file: &LockFile) -> Result<Vec<(String, Target)>, Failure> {
        let names = match self.servers.is_empty() && self.command.is_empty() {
            true => file.lock.servers.keys().cloned().collect(),
            false => self.servers.clone(),
        };
        if names.is_empty() && self.command.is_empty() {
            return Err(Failure::usage("no servers are locked yet")
                .hint("name the servers to lock: `bowline lock SERVER…`"));
        }
        let mut targets = Target::resolve_all(&names, cx)?;
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

    async fn collect(
        &self,
        cx: &Context,
        targets: Vec<(String, Target)>,
    ) -> Result<Vec<(String, LockedServer)>, Failure> {
        let (names, targets): (Vec<_>, Vec<_>) = targets.into_iter().unzip();
        let timeout = cx.timeout().unwrap_or(DEFAULT_TIMEOUT);
        let results = async { Ok(run_on_all(cx, &targets, timeout, collect).await) };
        let results = interruptible(results).await?;
        // A lock without one of the servers would say that its tools are gone.
        let results = names.into_iter().zip(results).map(|(name, result)| {
            let failure = |failure: Failure| failure.with_prefix(&escape_control(&name));
            let server = result.result.map_err(failure)?;
            Ok((name, server))
        });
        results.collect()
    }

    fn verdict(&self, changes: &[ServerChanges]) -> Result<(), Failure> {
        let allowed = ChangeKind::from(self.allow);
        let is_changed = |server: &&ServerChanges| server.kind() > allowed;
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
