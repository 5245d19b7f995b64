//! `bowline ping`.

use std::time::Instant;

use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    target::{self, ServerArgs},
};

/// Ask whether a server is there, and how long it takes to answer
#[derive(Args, Debug)]
pub(crate) struct Ping {
    #[command(flatten)]
    server: ServerArgs,
}

impl Ping {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let took = target::with_client(cx, &target, async |client| {
            let asked = Instant::now();
            client.ping().await?;
            Ok(asked.elapsed())
        })
        .await?;
        let ms = took.as_secs_f64() * 1000.0;
        if cx.json() {
            return cx.output.json(&json!({"server": target.name(), "ms": ms}));
        }
        cx.output
            .line(format!("{} answered in {ms:.1} ms", target.name()))
    }
}
