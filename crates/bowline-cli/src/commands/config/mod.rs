//! `bowline config`.
//!
//! - `add`, `remove`, `import`, `trust` and `path` are its subcommands.
//! - `file_choice` locates Bowline's own files, `file` changes one, `entry` is
//!   what is written into it.

mod add;
mod entry;
mod file;
mod file_choice;
mod import;
mod path;
mod remove;
mod trust;

use clap::{Args, Subcommand};

use crate::{context::Context, failure::Failure};

/// Add, remove, import and trust servers; show where they are configured
#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    Add(add::Add),
    Remove(remove::Remove),
    Import(import::Import),
    Trust(trust::Trust),
    Path(path::Path),
}

impl Config {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match self.command {
            ConfigCommand::Add(command) => command.run(cx),
            ConfigCommand::Remove(command) => command.run(cx),
            ConfigCommand::Import(command) => command.run(cx).await,
            ConfigCommand::Trust(command) => command.run(cx).await,
            ConfigCommand::Path(command) => command.run(cx),
        }
    }
}
