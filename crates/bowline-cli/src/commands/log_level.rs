//! `bowline log-level`.

use bowline::{
    Revision,
    model::{LogLevel as Level, Side, method},
};
use clap::Args;

use super::watch::StopArgs;
use crate::{
    args::Globals,
    context::Context,
    failure::{Failure, FailureKind},
    output::closest_name,
    target::{self, Target, TargetWords},
    traffic::{FollowOptions, follow},
};

/// Set a server's log level, and print what it logs
#[derive(Args, Debug)]
#[command(after_help = "\
The levels are debug, info, notice, warning, error, critical, alert, emergency.

Examples:
  bowline log-level notes debug
  bowline log-level warning -- my-server --verbose

The level applies to this connection, while this command runs. With --json each
line is a JSON document.")]
pub(crate) struct LogLevel {
    /// The server (unless a command starts it) and the level
    #[arg(value_name = "SERVER] [LEVEL")]
    words: Vec<String>,
    /// Command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    stop: StopArgs,
}

impl LogLevel {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let words = TargetWords {
            words: self.words,
            command: self.command,
        };
        let words = words.resolve(cx)?;
        let level = parse_level(words.name.as_deref())?;
        if let Some(extra) = words.rest.first() {
            return Err(Failure::usage(format!(
                "unexpected argument `{extra}`: only a level is needed"
            )));
        }
        let options = FollowOptions {
            only_logs: true,
            ..self.stop.follow_options()
        };
        let Some(failure) = follow_log(cx, &words.target, &level, &options).await.err() else {
            return Ok(());
        };
        // Servers that support several revisions can be asked in one that has
        // log levels.
        let fallback = newest_with_levels().filter(|_| failure.kind == FailureKind::Usage);
        let (Some(fallback), None) = (fallback, cx.globals.protocol) else {
            return Err(failure);
        };
        let cx = cx.with_globals(Globals {
            protocol: Some(fallback),
            ..cx.globals.clone()
        });
        let logged = follow_log(&cx, &words.target, &level, &options).await;
        logged.map_err(|other| match other.kind {
            FailureKind::Unreachable => failure,
            _ => other,
        })
    }
}

async fn follow_log(
    cx: &Context,
    target: &Target,
    level: &Level,
    options: &FollowOptions,
) -> Result<(), Failure> {
    target::with_long_lived_client(cx, target, async |client| {
        let revision = client.server_info().map(|server| server.revision);
        if let Some(revision) = revision.filter(|revision| !has_levels(*revision)) {
            let name = target.name();
            let why = format!(
                "{name} uses revision {}, in which servers log only during a request",
                revision.as_str(),
            );
            return Err(Failure::usage(why));
        }
        let notifications = client.subscribe_to_list_changes();
        client.set_log_level(level.clone()).await?;
        let (name, level) = (target.name(), level.as_str());
        cx.output.note(format!(
            "{name}: log level set to {level}; press Ctrl-C to stop"
        ));
        follow(cx, client, notifications, options).await
    })
    .await
}

fn has_levels(revision: Revision) -> bool {
    let rules = revision.rules();
    rules.allows(method::LOGGING_SET_LEVEL, Side::Client)
}

fn newest_with_levels() -> Option<Revision> {
    let mut with_levels: Vec<Revision> = Revision::ALL
        .into_iter()
        .filter(|revision| has_levels(*revision))
        .collect();
    with_levels.sort_by_key(|revision| revision.as_str());
    with_levels.pop()
}

fn parse_level(word: Option<&str>) -> Result<Level, Failure> {
    let known = Level::ALL;
    let names: Vec<&str> = known.iter().map(Level::as_str).collect();
    let Some(word) = word else {
        return Err(
            Failure::usage("no log level given").hint(format!("one of {}", names.join(", ")))
        );
    };
    let level = known.iter().find(|level| level.as_str() == word);
    level.cloned().ok_or_else(|| {
        let failure = Failure::usage(format!("unknown log level `{word}`"));
        match closest_name(word, names.iter().copied()) {
            Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
            None => failure.hint(format!("the levels are {}", names.join(", "))),
        }
    })
}
