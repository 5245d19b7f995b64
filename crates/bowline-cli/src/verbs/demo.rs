//! `bowline demo`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// A guided tour, with a server that is killed and comes back
#[derive(Args, Debug)]
pub(crate) struct Demo {
    #[arg(long)]
    fast: bool,
}

impl Demo {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
