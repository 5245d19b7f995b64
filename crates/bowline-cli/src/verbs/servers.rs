//! `bowline servers`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// List the servers that configuration files name, and where
#[derive(Args, Debug)]
pub(crate) struct Servers {
    #[arg(long)]
    here: bool,
}

impl Servers {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
