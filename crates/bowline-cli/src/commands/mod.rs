//! The commands, one file each.

mod auth;
mod call;
mod complete;
mod completions;
mod config;
mod demo;
mod doctor;
mod generate;
mod list;
mod lock;
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
mod tasks;
mod templates;
mod watch;

use clap::Subcommand;

use crate::{context::Context, failure::Failure};

/// The subcommands of `bowline`.
#[derive(Debug, Subcommand)]
pub(crate) enum Commands {
    List(list::List),
    Call(call::Call),
    Resume(resume::Resume),
    Tasks(tasks::Tasks),
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
    Lock(lock::Lock),
    #[command(name = "gen", visible_alias = "generate")]
    Generate(generate::Generate),
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

impl Commands {
    /// Runs the command.
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match self {
            Self::List(command) => command.run(cx).await,
            Self::Call(command) => command.run(cx).await,
            Self::Resume(command) => command.run(cx).await,
            Self::Tasks(command) => command.run(cx).await,
            Self::Resources(command) => command.run(cx).await,
            Self::Templates(command) => command.run(cx).await,
            Self::Read(command) => command.run(cx).await,
            Self::Prompts(command) => command.run(cx).await,
            Self::Prompt(command) => command.run(cx).await,
            Self::Complete(command) => command.run(cx).await,
            Self::Watch(command) => command.run(cx).await,
            Self::LogLevel(command) => command.run(cx).await,
            Self::Ping(command) => command.run(cx).await,
            Self::Status(command) => command.run(cx).await,
            Self::Servers(command) => command.run(cx).await,
            Self::Search(command) => command.run(cx).await,
            Self::Sync(command) => command.run(cx).await,
            Self::Lock(command) => command.run(cx).await,
            Self::Generate(command) => command.run(cx).await,
            Self::Raw(command) => command.run(cx).await,
            Self::Doctor(command) => command.run(cx).await,
            Self::Serve(command) => command.run(cx).await,
            Self::Demo(command) => command.run(cx).await,
            Self::Replay(command) => command.run(cx).await,
            Self::Auth(command) => command.run(cx).await,
            Self::Config(command) => command.run(cx).await,
            Self::Completions(command) => command.run(cx).await,
            Self::Man(command) => command.run(cx).await,
        }
    }
}
