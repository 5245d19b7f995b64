//! `bowline watch`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Print changes, notifications and log messages as they come
#[derive(Args, Debug)]
pub(crate) struct Watch {
    #[command(flatten)]
    words: ServerWords,
}

impl Watch {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
