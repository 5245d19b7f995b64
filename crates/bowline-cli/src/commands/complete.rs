//! `bowline complete`.

use bowline::model::{CompleteResult, Extra, method};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::{
    commands::raw::{encode, send},
    context::Context,
    failure::Failure,
    output::escape_control,
    target::{self, TargetWords},
};

/// Ask a server to complete an argument of a prompt or template
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline complete <SERVER>.<PROMPT> [NAME=VALUE]… <NAME>=<BEGINNING>\n       bowline complete <SERVER> <TEMPLATE> [NAME=VALUE]… <NAME>=<BEGINNING>",
    after_help = "\
The last argument is completed; those before it are sent as context.

Examples:
  bowline complete demo.review language=ru
  bowline complete demo 'note:///by/{author}/{title}' author=a"
)]
pub(crate) struct Complete {
    #[command(flatten)]
    words: TargetWords,
}

impl Complete {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let words = self.words.resolve(cx)?;
        let server = words.target.name();
        let name = words.required_name("prompt or template", |server| {
            format!("`bowline prompts {server}` and `bowline templates {server}` show them")
        })?;
        let params = params(name, &words.rest)?;
        let raw = target::with_client(cx, &words.target, async |client| {
            let result = send(client, method::COMPLETION_COMPLETE, params.clone()).await;
            result.map_err(|failure| failure.with_prefix(&format!("{server}.{name}")))
        })
        .await?;
        if cx.json() {
            return cx.output.json_text(raw.get());
        }
        let result: CompleteResult = raw
            .decode()
            .map_err(|error| Failure::failed(format!("{server}: invalid response: {error}")))?;
        let values = &result.completion.values;
        for value in values {
            cx.output.line(escape_control(value))?;
        }
        let more = match result.completion.total {
            Some(total) if total > values.len() as u64 => format!("{total} in total"),
            _ if result.completion.has_more == Some(true) => "the server has more".to_owned(),
            _ if values.is_empty() => "no completions".to_owned(),
            _ => return Ok(()),
        };
        cx.output.note(more);
        Ok(())
    }
}

/// Builds the params: the reference, the last argument, and the others as
/// context.
fn params(name: &str, words: &[String]) -> Result<Extra, Failure> {
    let split = |word: &String| {
        let (name, value) = word.split_once('=').ok_or_else(|| {
            Failure::usage(format!("`{word}` is not NAME=VALUE"))
                .hint("write name=value; the value may be empty")
        })?;
        Ok::<_, Failure>((name.to_owned(), value.to_owned()))
    };
    let Some((last, others)) = words.split_last() else {
        return Err(Failure::usage("no argument to complete")
            .hint(format!("write it as name=, after `{name}`")));
    };
    let (argument, value) = split(last)?;
    let reference = match name.contains("://") || name.contains('{') {
        true => json!({"type": "ref/resource", "uri": name}),
        false => json!({"type": "ref/prompt", "name": name}),
    };
    let mut params = Extra::new();
    params.insert("ref", encode(&reference)?);
    params.insert(
        "argument",
        encode(&json!({"name": argument, "value": value}))?,
    );
    if !others.is_empty() {
        let mut known = Map::new();
        for word in others {
            let (name, value) = split(word)?;
            known.insert(name, Value::from(value));
        }
        params.insert("context", encode(&json!({"arguments": known}))?);
    }
    Ok(params)
}
