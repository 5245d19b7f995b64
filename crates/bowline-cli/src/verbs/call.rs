//! `bowline call`.

use clap::Args;

use crate::{context::Context, failure::Failure, target::ServerWords};

/// Call a tool
#[derive(Args, Debug)]
pub(crate) struct Call {
    #[command(flatten)]
    words: ServerWords,
}

impl Call {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
