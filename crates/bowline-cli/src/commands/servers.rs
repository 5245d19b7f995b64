//! `bowline servers`.

use std::time::Duration;

use clap::Args;

use crate::{
    context::Context,
    failure::Failure,
    fleet::inventory::{Inventory, format_inventory},
    target::interruptible,
};

/// How long a server may take to open a session, unless said otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// List the servers that configuration files name, where, and how they are
#[derive(Args, Debug)]
pub(crate) struct Servers {
    /// Only list them, and connect to none
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
