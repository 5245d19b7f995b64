//! `bowline completions`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Print completions for a shell
#[derive(Args, Debug)]
pub(crate) struct Completions {
    shell: String,
}

impl Completions {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
