//! `bowline auth logout`.

use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    sign_in,
    target::{ServerArgs, interruptible, trust},
};

/// Sign out: revoke and delete the tokens for a server
#[derive(Args, Debug)]
pub(crate) struct Logout {
    #[command(flatten)]
    server: ServerArgs,
}

impl Logout {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let url = sign_in::require_url(&target)?;
        // A project must not decide whose tokens are deleted.
        interruptible(trust::ensure_trusted(cx, &target)).await?;
        let accounts = &cx.globals.accounts;
        let was_signed_in = accounts.sign_in_status(url).await?.is_some();
        interruptible(accounts.sign_out(url)).await?;
        let name = target.name();
        if cx.json() {
            return cx
                .output
                .json(&json!({"server": name, "was_signed_in": was_signed_in}));
        }
        cx.output.line(match was_signed_in {
            true => format!("{name}: signed out"),
            false => format!("{name}: not signed in"),
        })
    }
}
