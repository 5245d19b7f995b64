//! `bowline doctor`.

use clap::Args;

use crate::{context::Context, doctor, failure::Failure, target::ServerArgs};

/// Diagnose, step by step, what is wrong with a server
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline doctor github                        a configured server
  bowline doctor https://example.com/mcp       a server at a URL
  bowline doctor -- npx -y some-server         a server started by a command")]
pub(crate) struct Doctor {
    #[command(flatten)]
    server: ServerArgs,
}

impl Doctor {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        doctor::examine(cx, self.server.target(cx)).await
    }
}
