//! `bowline auth logout`.

use clap::Args;
use serde_json::json;

use super::status::Standing;
use crate::{context::Context, failure::Failure, sign_in, target::ServerArgs};

/// Forget the tokens for a server
#[derive(Args, Debug)]
pub(crate) struct Logout {
    #[command(flatten)]
    server: ServerArgs,
}

impl Logout {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let url = sign_in::address(&target)?;
        let was = Standing::of(&target).await?.signed_in.is_some();
        let oauth = sign_in::oauth()?;
        oauth
            .sign_out(url)
            .await
            .map_err(|error| sign_in::failure(&error))?;
        let name = target.name();
        if cx.json() {
            return cx
                .output
                .json(&json!({"server": name, "was_signed_in": was}));
        }
        cx.output.line(match was {
            true => format!("{name}: the tokens are forgotten"),
            false => format!("{name}: you were not signed in"),
        })
    }
}
