//! `bowline auth`.

mod login;
mod logout;
mod status;

use clap::{Args, Subcommand};

use crate::{context::Context, failure::Failure};

/// Sign in to servers, and out; say where you are signed in
#[derive(Args, Debug)]
pub(crate) struct Auth {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Login(login::Login),
    Status(status::Status),
    Logout(logout::Logout),
}

impl Auth {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match self.verb {
            Verb::Login(verb) => verb.run(cx).await,
            Verb::Status(verb) => verb.run(cx).await,
            Verb::Logout(verb) => verb.run(cx).await,
        }
    }
}
