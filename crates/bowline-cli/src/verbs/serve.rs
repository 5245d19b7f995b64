//! `bowline serve`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Serve the built-in server, over stdio or HTTP
#[derive(Args, Debug)]
pub(crate) struct Serve {
    name: String,
}

impl Serve {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
