//! `bowline raw`.

mod wire;

use bowline::proto::model::Extra;
use clap::Args;

pub(crate) use self::wire::{Listed, METHODS, ask, encode, list, send};
use crate::{
    arguments,
    context::Context,
    failure::Failure,
    target::{self, ServerWords},
};

/// Send any request, and print the result
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline raw <SERVER> <METHOD> [PARAMS] [OPTIONS]\n       bowline raw <METHOD> [PARAMS] [OPTIONS] -- <COMMAND>…",
    after_help = "\
Examples:
  bowline raw demo tools/list
  bowline raw demo tools/call '{\"name\": \"echo\", \"arguments\": {\"message\": \"hi\"}}'
  bowline raw demo resources/read uri=note:///hello
  bowline raw tools/list -- npx -y @modelcontextprotocol/server-everything"
)]
pub(crate) struct Raw {
    #[command(flatten)]
    words: ServerWords,
}

impl Raw {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let words = self.words.resolve(cx)?;
        let server = words.target.name();
        let Some(method) = &words.name else {
            return Err(Failure::usage(format!("which method of {server}?"))
                .hint(format!("there are {}", METHODS.join(", "))));
        };
        let given = arguments::read(&words.rest, cx.time_left())?;
        let mut params = Extra::new();
        for (name, value) in arguments::unchecked(given)? {
            params.insert(name, encode(&value)?);
        }
        let result = target::with_client(cx, &words.target, async |client| {
            let result = send(client, method, params.clone()).await;
            result.map_err(|failure| failure.about(server))
        })
        .await?;
        cx.output.verbatim(result.get())
    }
}
