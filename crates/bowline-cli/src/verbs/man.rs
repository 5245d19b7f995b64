//! `bowline man`.

use clap::Args;

use crate::{context::Context, failure::Failure};

/// Print the manual page
#[derive(Args, Debug)]
pub(crate) struct Man {}

impl Man {
    pub(crate) async fn run(self, _cx: &Context) -> Result<(), Failure> {
        Err(Failure::usage("not yet"))
    }
}
