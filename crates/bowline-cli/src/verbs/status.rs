//! `bowline status`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Show how servers are doing
#[derive(Args, Debug)]
pub(crate) struct Status {
    servers: Vec<String>,
}

impl Status {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
