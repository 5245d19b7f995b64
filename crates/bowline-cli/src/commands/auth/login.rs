//! `bowline auth login`.

use clap::Args;

use super::status::{self, SignInState};
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
  bowline auth login docs --no-browser   without opening a browser here")]
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
        sign_in::require_url(&target)?;
        interruptible(trust::ensure_trusted(cx, &target)).await?;
        cx.responder.set_target(&target);
        let signed_in = sign_in::sign_in(cx, &target, &self.scope);
        interruptible(signed_in)
            .await
            .map_err(|failure| failure.with_prefix(target.name()))?;
        let state = SignInState::load(cx, &target).await?;
        if state.signed_in.is_none() && !cx.json() {
            let name = target.name();
            return cx.output.line(format!("{name}: no sign-in required"));
        }
        status::print(cx, &[state])
    }
}
