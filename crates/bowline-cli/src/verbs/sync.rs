//! `bowline sync`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Ask servers to bring themselves up to date
#[derive(Args, Debug)]
pub(crate) struct Sync {
    servers: Vec<String>,
}

impl Sync {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
