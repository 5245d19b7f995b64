//! `bowline log-level`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Ask a server to log from this level up, and print what it logs
#[derive(Args, Debug)]
pub(crate) struct LogLevel {
    #[command(flatten)]
    words: ServerWords,
}

impl LogLevel {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
