//! `bowline watch`.

use std::time::Duration;

use bowline::Client;
use clap::Args;

use crate::{
    context::Context,
    failure::Failure,
    target::{self, TargetWords},
    traffic::{FollowOptions, follow},
};

/// Print changes, notifications and log messages as they arrive
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline watch notes                           list changes, log messages, the connection
  bowline watch notes file:///todo.md --read    a resource, with its new contents
  bowline watch notes --for 1m                  for a minute
  bowline watch notes --count 1 file:///todo.md until it changes

Each line is a time in UTC, what happened, and to what. With --json each line is
a JSON document: this is the one command that prints more than one of them.
Ctrl-C ends it, with exit code 130; --count and --for end it with 0.")]
pub(crate) struct Watch {
    /// The server (unless a command starts it) and the resources to watch
    #[arg(value_name = "SERVER] [URI")]
    words: Vec<String>,
    /// Command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Also print the new contents of resources
    #[arg(long)]
    read: bool,
    #[command(flatten)]
    stop: StopArgs,
}

/// When to stop.
#[derive(Args, Debug)]
pub(crate) struct StopArgs {
    /// Stop after this many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Stop after this time, for example 30 or 1m
    #[arg(long = "for", value_name = "SECONDS", value_parser = crate::args::parse_duration)]
    time: Option<Duration>,
}

impl StopArgs {
    pub(crate) fn follow_options(&self) -> FollowOptions {
        FollowOptions {
            count: self.count,
            duration: self.time,
            ..FollowOptions::default()
        }
    }
}

impl Watch {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let words = TargetWords {
            words: self.words,
            command: self.command,
        };
        let words = words.resolve(cx)?;
        let uris: Vec<String> = words.name.into_iter().chain(words.rest).collect();
        let options = FollowOptions {
            read: self.read,
            ..self.stop.follow_options()
        };
        target::with_long_lived_client(cx, &words.target, async |client| {
            watch(cx, client, words.target.name(), &uris, &options).await
        })
        .await
    }
}

async fn watch(
    cx: &Context,
    client: &Client,
    server: &str,
    uris: &[String],
    options: &FollowOptions,
) -> Result<(), Failure> {
    // Listen before subscribing, so nothing is missed.
    let notifications = client.subscribe_to_list_changes();
    let mut subscriptions = Vec::new();
    for uri in uris {
        let subscription = client.resources().subscribe(uri).await;
        let subscription = subscription.map_err(|error| {
            let failure = Failure::from(error).with_prefix(uri);
            failure.hint("leave out the resources to print the server's other notifications")
        })?;
        subscriptions.push(subscription);
    }
    let what = match uris.len() {
        0 => String::new(),
        1 => format!(" and {}", uris[0]),
        count => format!(" and {count} resources"),
    };
    let what = crate::output::escape_control(&what);
    cx.output
        .note(format!("watching {server}{what}; press Ctrl-C to stop"));
    follow(cx, client, notifications, options).await
}
