//! `bowline replay`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Serve a recording, or check a server against it
#[derive(Args, Debug)]
pub(crate) struct Replay {
    file: String,
}

impl Replay {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
