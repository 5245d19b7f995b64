//! `bowline raw`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Send any request, and print the result
#[derive(Args, Debug)]
pub(crate) struct Raw {
    #[command(flatten)]
    words: ServerWords,
}

impl Raw {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
