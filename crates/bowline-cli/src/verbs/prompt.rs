//! `bowline prompt`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Get a prompt, filled in
#[derive(Args, Debug)]
pub(crate) struct Prompt {
    #[command(flatten)]
    words: ServerWords,
}

impl Prompt {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
