//! `bowline prompt`.

use bowline::{
    Client, RawJson,
    model::{GetPromptResult, Prompt as Definition, method},
};
use bowline_schema::shape::Shape;
use clap::Args;
use serde_json::{Map, Value, json};

use super::{list, raw};
use crate::{
    arguments::{self, ArgumentTarget, ArgumentWord},
    context::Context,
    failure::Failure,
    output::{ContentParts, SaveArgs, escape_control, print_parts},
    target::{self, Target, TargetWords},
};

/// Get a prompt with its arguments filled in
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline prompt <SERVER>.<PROMPT> [NAME=VALUE]… [OPTIONS]\n       bowline prompt <PROMPT> [NAME=VALUE]… [OPTIONS] -- <COMMAND>…",
    after_help = "\
Examples:
  bowline prompt demo.review code=@main.rs
  bowline prompt demo.review code=@main.rs --json"
)]
pub(crate) struct Prompt {
    #[command(flatten)]
    words: TargetWords,
    /// Send the arguments as they are, without checking them
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    save: SaveArgs,
}

impl Prompt {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        self.save.check()?;
        let words = self.words.clone().resolve(cx)?;
        let server = words.target.name();
        let word = words.required_name("prompt", |server| {
            format!("`bowline prompts {server}` shows its prompts")
        })?;
        let argument_words = arguments::parse_words(&words.rest, cx.time_left())?;
        let (name, raw) = target::with_client(cx, &words.target, async |client| {
            self.get(cx, client, &words.target, word, &argument_words)
                .await
        })
        .await?;
        if cx.json() {
            return cx.output.json_text(raw.get());
        }
        let result: GetPromptResult = raw.decode().map_err(|error| {
            Failure::failed(format!("{server}.{name}: invalid response: {error}"))
        })?;
        let paint = cx.output.paint();
        for message in &result.messages {
            cx.output
                .line(paint.dim(format!("[{}]", escape_control(message.role.as_str()))))?;
            let parts = ContentParts::from_blocks([&message.content]);
            print_parts(&cx.output, &name, parts, &self.save)?;
        }
        Ok(())
    }

    async fn get(
        &self,
        cx: &Context,
        client: &Client,
        target: &Target,
        word: &str,
        argument_words: &[ArgumentWord],
    ) -> Result<(String, RawJson), Failure> {
        let (name, arguments) = if self.no_check {
            let expression = arguments::parse_call(word, [])?;
            let arguments = arguments::build_unchecked(expression.all_arguments(argument_words)?)?;
            (expression.name.into_owned(), arguments)
        } else {
            let listed = list::prompts(client).await?;
            let names = listed.items.iter().map(|prompt| prompt.name.as_str());
            let expression = arguments::parse_call(word, names)?;
            let name = &*expression.name;
            let prompt = list::prompt(&listed.items, target, name)?;
            let shape = Shape::new(schema(prompt));
            let argument_target = ArgumentTarget {
                name,
                shape: &shape,
                signature: signature(prompt),
            };
            let checked = arguments::build_checked(
                expression.all_arguments(argument_words)?,
                &argument_target,
            )?;
            (name.to_owned(), checked.into_arguments(&cx.output, name))
        };
        let mut params = Map::new();
        params.insert("name".to_owned(), name.as_str().into());
        if !arguments.is_empty() {
            params.insert("arguments".to_owned(), arguments.into());
        }
        let params = raw::encode(&params)?.decode().unwrap_or_default();
        let result = raw::send(client, method::PROMPTS_GET, params).await;
        let result =
            result.map_err(|failure| failure.with_prefix(&format!("{}.{name}", target.name())))?;
        Ok((name, result))
    }
}

/// Returns a schema for the prompt's arguments, which are all strings.
fn schema(prompt: &Definition) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in &prompt.arguments {
        let description = argument.description.as_deref();
        let schema = json!({"type": "string", "description": description.unwrap_or_default()});
        properties.insert(argument.name.clone(), schema);
        if argument.required == Some(true) {
            required.push(argument.name.clone());
        }
    }
    json!({"properties": properties, "required": required, "additionalProperties": false})
}

fn signature(prompt: &Definition) -> String {
    let plain_paint = crate::output::Paint::new(false);
    let lines = crate::signature::prompt_lines(prompt, plain_paint, usize::MAX);
    let named = lines.into_iter().find(|line| !line.starts_with("///"));
    named.unwrap_or_default()
}
