//! `bowline read`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Read a resource
#[derive(Args, Debug)]
pub(crate) struct Read {
    #[command(flatten)]
    words: ServerWords,
}

impl Read {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
