//! `bowline servers`.

use std::time::Duration;

use clap::Args;

use crate::{
    context::Context,
    failure::Failure,
    fleet::inventory::{Inventory, format_inventory},
    target::interruptible,
};

/// Default time in which a server must open a session.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// List the configured servers, their files and their state
#[derive(Args, Debug)]
pub(crate) struct Servers {
    /// Only list them, without connecting
    #[arg(long)]
    no_check: bool,
}

impl Servers {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut inventory = Inventory::collect(cx)?;
        if !self.no_check {
            let timeout = cx.timeout().unwrap_or(DEFAULT_TIMEOUT);
            interruptible(async {
                inventory.check(cx, timeout).await;
                Ok(())
            })
            .await?;
        }
        if cx.json() {
            return cx.output.json(&inventory.json());
        }
        cx.output.line(format_inventory(cx, &inventory))
    }
}
