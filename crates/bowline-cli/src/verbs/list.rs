//! `bowline list`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Show a server's tools, as typed signatures
#[derive(Args, Debug)]
pub(crate) struct List {
    #[command(flatten)]
    words: ServerWords,
}

impl List {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
