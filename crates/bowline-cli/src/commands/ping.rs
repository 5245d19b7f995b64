//! `bowline ping`.

use bowline::model::method;
use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    fleet,
    target::{self, ServerArgs},
};

/// Check that a server responds, and measure how long it takes
#[derive(Args, Debug)]
pub(crate) struct Ping {
    #[command(flatten)]
    server: ServerArgs,
}

impl Ping {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let (method, elapsed) =
            target::with_client(cx, &target, async |client| fleet::round_trip(client).await)
                .await?;
        let ms = elapsed.as_secs_f64() * 1000.0;
        if cx.json() {
            let answer = json!({"server": target.name(), "method": method, "ms": ms});
            return cx.output.json(&answer);
        }
        let suffix = match method {
            method::PING => String::new(),
            _ => format!(" to {method} (its protocol revision has no ping)"),
        };
        cx.output
            .line(format!("{} answered in {ms:.1} ms{suffix}", target.name()))
    }
}
