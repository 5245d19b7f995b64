//! `bowline doctor`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerArgs};

/// Find out, step by step, what is wrong with a server
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    #[command(flatten)]
    server: ServerArgs,
}

impl Doctor {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
