//! `bowline prompts`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerArgs};

/// List a server's prompts
#[derive(Args, Debug)]
pub(crate) struct Prompts {
    #[command(flatten)]
    server: ServerArgs,
}

impl Prompts {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
