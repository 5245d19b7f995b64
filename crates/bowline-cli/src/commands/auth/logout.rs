//! `bowline auth logout`.

use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    sign_in,
    target::{ServerArgs, interruptible, trust},
};

/// Sign out: forget the tokens for a server, and have them revoked
#[derive(Args, Debug)]
pub(crate) struct Logout {
    #[command(flatten)]
    server: ServerArgs,
}

impl Logout {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let url = sign_in::require_url(&target)?;
        // Whose tokens go away is not for a project to say.
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
            true => format!("{name}: you are signed out"),
            false => format!("{name}: you were not signed in"),
        })
    }
}
