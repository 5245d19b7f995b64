//! `bowline config`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Add, remove and import servers; say where they are kept
#[derive(Args, Debug)]
pub(crate) struct Config {
    verb: String,
}

impl Config {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
