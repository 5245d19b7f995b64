//! `bowline demo`.

use clap::Args;

use crate::{context::Context, demo::tour, failure::Failure};

/// A guided tour, with a server that is killed and comes back
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Leave out the pauses; so it is where nobody reads along
    #[arg(long)]
    fast: bool,
}

impl Demo {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        tour::run(cx, self.fast).await
    }
}
