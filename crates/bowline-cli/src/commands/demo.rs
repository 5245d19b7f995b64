//! `bowline demo`.

use clap::Args;

use crate::{context::Context, demo::tour, failure::Failure};

/// Take a guided tour with a server that is killed and restarted
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Skip the pauses (default if the output is not a terminal)
    #[arg(long)]
    fast: bool,
}

impl Demo {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        tour::run(cx, self.fast).await
    }
}
