//! `bowline search`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Search tools, resources and prompts of all servers
#[derive(Args, Debug)]
pub(crate) struct Search {
    query: String,
}

impl Search {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
