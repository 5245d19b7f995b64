//! `bowline prompts`.

use clap::Args;

use super::list;
use crate::{
    context::Context,
    failure::Failure,
    output::terminal_width,
    signature::prompt_lines,
    target::{self, ServerArgs},
};

/// List a server's prompts
#[derive(Args, Debug)]
pub(crate) struct Prompts {
    #[command(flatten)]
    server: ServerArgs,
}

impl Prompts {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let listed =
            target::with_client(cx, &target, async |client| list::prompts(client).await).await?;
        if cx.json() {
            return cx.output.json_text(listed.json()?.get());
        }
        if listed.items.is_empty() {
            cx.output.note(format!("{} has no prompts", target.name()));
            return Ok(());
        }
        let mut lines = Vec::new();
        for prompt in &listed.items {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(prompt_lines(prompt, cx.output.paint(), terminal_width()));
        }
        cx.output.line(lines.join("\n"))
    }
}
