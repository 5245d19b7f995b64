//! `bowline resume`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Go on with a call that waits for answers
#[derive(Args, Debug)]
pub(crate) struct Resume {
    id: String,
}

impl Resume {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
