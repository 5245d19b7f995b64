//! `bowline resources`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerArgs};

/// List a server's resources
#[derive(Args, Debug)]
pub(crate) struct Resources {
    #[command(flatten)]
    server: ServerArgs,
}

impl Resources {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
