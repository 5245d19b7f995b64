//! `bowline raw`.

mod requests;

use bowline::model::Extra;
use clap::Args;

pub(crate) use self::requests::{METHODS, RawList, encode, list, request, send};
use crate::{
    arguments,
    context::Context,
    failure::Failure,
    target::{self, TargetWords},
};

/// Send any request and print the result
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
    words: TargetWords,
}

impl Raw {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let words = self.words.resolve(cx)?;
        let server = words.target.name();
        let method = words.required_name("method", |_| {
            format!("known methods: {}", METHODS.join(", "))
        })?;
        let argument_words = arguments::parse_words(&words.rest, cx.time_left())?;
        let mut params = Extra::new();
        for (name, value) in arguments::build_unchecked(argument_words)? {
            params.insert(name, encode(&value)?);
        }
        let result = target::with_client(cx, &words.target, async |client| {
            let result = send(client, method, params.clone()).await;
            result.map_err(|failure| failure.with_prefix(server))
        })
        .await?;
        cx.output.json_text(result.get())
    }
}
