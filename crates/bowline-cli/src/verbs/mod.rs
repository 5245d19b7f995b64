//! What can be done, one file for each verb.

mod auth;
mod call;
mod complete;
mod completions;
mod config;
mod demo;
mod doctor;
mod list;
mod log_level;
mod man;
mod ping;
mod prompt;
mod prompts;
mod raw;
mod read;
mod replay;
mod resources;
mod resume;
mod search;
mod serve;
mod servers;
mod status;
mod sync;
mod templates;
mod watch;

use clap::Subcommand;

use crate::{context::Context, failure::Failure};

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    List(list::List),
    Call(call::Call),
    Resume(resume::Resume),
    Resources(resources::Resources),
    Templates(templates::Templates),
    Read(read::Read),
    Prompts(prompts::Prompts),
    Prompt(prompt::Prompt),
    Complete(complete::Complete),
    Watch(watch::Watch),
    LogLevel(log_level::LogLevel),
    Ping(ping::Ping),
    Status(status::Status),
    Servers(servers::Servers),
    Search(search::Search),
    Sync(sync::Sync),
    Raw(raw::Raw),
    Doctor(doctor::Doctor),
    Serve(serve::Serve),
    Demo(demo::Demo),
    Replay(replay::Replay),
    Auth(auth::Auth),
    Config(config::Config),
    Completions(completions::Completions),
    #[command(hide = true)]
    Man(man::Man),
}

impl Verb {
    /// Does it.
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match self {
            Self::List(verb) => verb.run(cx).await,
            Self::Call(verb) => verb.run(cx).await,
            Self::Resume(verb) => verb.run(cx).await,
            Self::Resources(verb) => verb.run(cx).await,
            Self::Templates(verb) => verb.run(cx).await,
            Self::Read(verb) => verb.run(cx).await,
            Self::Prompts(verb) => verb.run(cx).await,
            Self::Prompt(verb) => verb.run(cx).await,
            Self::Complete(verb) => verb.run(cx).await,
            Self::Watch(verb) => verb.run(cx).await,
            Self::LogLevel(verb) => verb.run(cx).await,
            Self::Ping(verb) => verb.run(cx).await,
            Self::Status(verb) => verb.run(cx).await,
            Self::Servers(verb) => verb.run(cx).await,
            Self::Search(verb) => verb.run(cx).await,
            Self::Sync(verb) => verb.run(cx).await,
            Self::Raw(verb) => verb.run(cx).await,
            Self::Doctor(verb) => verb.run(cx).await,
            Self::Serve(verb) => verb.run(cx).await,
            Self::Demo(verb) => verb.run(cx).await,
            Self::Replay(verb) => verb.run(cx).await,
            Self::Auth(verb) => verb.run(cx).await,
            Self::Config(verb) => verb.run(cx).await,
            Self::Completions(verb) => verb.run(cx).await,
            Self::Man(verb) => verb.run(cx).await,
        }
    }
}
