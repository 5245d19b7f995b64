//! `bowline auth`.

mod login;
mod logout;
mod status;

use clap::{Args, Subcommand};

use crate::{context::Context, failure::Failure};

/// Sign in to servers, sign out, and show sign-ins
#[derive(Args, Debug)]
pub(crate) struct Auth {
    #[command(subcommand)]
    command: AuthCommand,
}

#[derive(Debug, Subcommand)]
enum AuthCommand {
    Login(login::Login),
    Status(status::Status),
    Logout(logout::Logout),
}

impl Auth {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match self.command {
            AuthCommand::Login(command) => command.run(cx).await,
            AuthCommand::Status(command) => command.run(cx).await,
            AuthCommand::Logout(command) => command.run(cx).await,
        }
    }
}
