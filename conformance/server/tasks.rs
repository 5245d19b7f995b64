//! Tools whose calls become tasks.

use std::time::Duration;

use bowline::{
    proto::jsonrpc::{ErrorObject, code},
    server::{Conversation, Error, Result, TaskPolicy, Tool, form::Elicit},
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use crate::app::App;

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Computation {
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    label: String,
}

#[derive(Deserialize, JsonSchema)]
struct File {
    filename: String,
}

#[derive(Elicit)]
struct Confirmation {
    /// Delete it?
    confirm: bool,
}

#[derive(Elicit)]
struct Name {
    /// Your name
    name: String,
}

pub fn tools() -> [Tool<App>; 7] {
    [
        Tool::new("greet")
            .description("Greets at once")
            .input::<Greeting>()
            .handler(async |greeting| Ok(format!("Hello, {}!", greeting.name))),
        Tool::new("slow_compute")
            .description("Computes for some seconds")
            .input::<Computation>()
            .task(TaskPolicy::Optional)
            .handler(async |computation: Computation| {
                sleep(Duration::from_secs_f64(
                    computation.seconds.clamp(0.0, 60.0),
                ))
                .await;
                Ok(format!("Computed {}", computation.label))
            }),
        Tool::new("failing_job")
            .description("Fails after a second")
            .no_input()
            .task(TaskPolicy::Required)
            .handler(async |_| {
                sleep(Duration::from_secs(1)).await;
                Err::<String, _>(Error::failed("the job failed"))
            }),
        Tool::new("protocol_error_job")
            .description("Ends with a protocol error")
            .no_input()
            .task(TaskPolicy::Required)
            .handler_with_conversation(async |_, _: Conversation<App>| {
                sleep(Duration::from_millis(200)).await;
                let error = ErrorObject::new(code::INTERNAL_ERROR, "the job broke");
                Err::<String, _>(Error::protocol(error))
            }),
        Tool::new("confirm_delete")
            .description("Deletes a file, if the user agrees")
            .input::<File>()
            .task(TaskPolicy::Optional)
            .handler_with_conversation(async |file: File, cx: Conversation<App>| {
                let question = format!("Delete {}?", file.filename);
                let answer = cx.elicit::<Confirmation>(question).required().await?;
                let outcome = if answer.confirm { "deleted" } else { "kept" };
                Ok(format!("{} was {outcome}", file.filename))
            }),
        Tool::new("multi_input")
            .description("Asks two questions at once")
            .no_input()
            .task(TaskPolicy::Optional)
            .handler_with_conversation(async |_, cx| two_names(&cx).await),
        Tool::new("test_tool_with_task")
            .description("Asks for a name, then works for a while")
            .no_input()
            .task(TaskPolicy::After(Duration::from_millis(300)))
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                let question = cx.elicit::<Name>("What is your name?").key("user_name");
                let name = question.required().await?.name;
                sleep(Duration::from_secs(1)).await;
                Ok(format!("Hello, {name}!"))
            }),
    ]
}

async fn two_names(cx: &Conversation<App>) -> Result<String> {
    let ask = |key, message: &str| cx.elicit::<Name>(message).key(key).required();
    let first = async { ask("first", "First name?").await };
    let second = async { ask("second", "Second name?").await };
    let (first, second) = tokio::join!(first, second);
    Ok(format!("{} and {}", first?.name, second?.name))
}
