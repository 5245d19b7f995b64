//! `bowline auth login`.

use clap::Args;

use super::status::{self, Standing};
use crate::{
    context::Context,
    failure::Failure,
    sign_in,
    target::{ServerArgs, interruptible, trust},
};

/// Sign in to a server
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline auth login https://mcp.example.com/mcp
  bowline auth login docs --no-browser   where no browser can be opened")]
pub(crate) struct Login {
    #[command(flatten)]
    server: ServerArgs,
    /// Ask for this scope; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
}

impl Login {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        sign_in::address(&target)?;
        interruptible(trust::admit(cx, &target)).await?;
        cx.talk.meet(&target);
        let signed_in = sign_in::sign_in(cx, &target, &self.scope);
        interruptible(signed_in)
            .await
            .map_err(|failure| failure.about(target.name()))?;
        let standing = Standing::of(cx, &target).await?;
        if standing.signed_in.is_none() && !cx.json() {
            let name = target.name();
            return cx
                .output
                .line(format!("{name}: there is no need to sign in"));
        }
        status::print(cx, &[standing])
    }
}
