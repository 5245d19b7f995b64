//! `bowline templates`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerArgs};

/// List a server's resource templates
#[derive(Args, Debug)]
pub(crate) struct Templates {
    #[command(flatten)]
    server: ServerArgs,
}

impl Templates {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
