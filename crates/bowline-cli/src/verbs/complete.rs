//! `bowline complete`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Ask how an argument of a prompt or template might go on
#[derive(Args, Debug)]
pub(crate) struct Complete {
    #[command(flatten)]
    words: ServerWords,
}

impl Complete {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
