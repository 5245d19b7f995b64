//! Tools that ask, where a call ends with its questions and is made again.

use bowline::server::{Conversation, Error, Result, Tool, form::Elicit};

use crate::app::App;

pub fn tools() -> [Tool<App>; 8] {
    let tool = |name: &str, description: &str| {
        let name = format!("test_input_required_result_{name}");
        Tool::new(name).description(description).no_input()
    };
    [
        tool("elicitation", "Asks for a name").handler_with_conversation(async |_, cx| {
            let name = user_name(&cx).await?;
            Ok(format!("Hello, {name}!"))
        }),
        tool("sampling", "Asks a model for a capital").handler_with_conversation(
            async |_, cx: Conversation<App>| {
                let prompt = "What is the capital of France?";
                let answer = cx.sample(prompt).max_tokens(100).key("capital_question");
                Ok(format!("The model says: {}", answer.await?))
            },
        ),
        tool("list_roots", "Asks for roots").handler_with_conversation(
            async |_, cx: Conversation<App>| {
                let roots = cx.roots().key("client_roots").await?;
                Ok(format!("There are {} roots.", roots.len()))
            },
        ),
        tool("request_state", "Asks for a confirmation").handler_with_conversation(
            async |_, cx| {
                confirm(&cx, "Shall it be?").await?;
                Ok("state-ok")
            },
        ),
        tool("multiple_inputs", "Asks three questions at once")
            .handler_with_conversation(async |_, cx| several(&cx).await),
        tool("multi_round", "Asks one question after another").handler_with_conversation(
            async |_, cx| {
                let name = ask::<Name>(&cx, "step1", "Step 1: what is your name?").await?;
                let colour = ask::<Colour>(&cx, "step2", "Step 2: what is your colour?").await?;
                Ok(format!("{} likes {}.", name.name, colour.colour))
            },
        ),
        tool(
            "tampered_state",
            "Asks for a confirmation, and trusts no state",
        )
        .handler_with_conversation(async |_, cx| {
            confirm(&cx, "Are you sure?").await?;
            Ok("The state was sound.")
        }),
        tool("capabilities", "Asks what the client can answer")
            .handler_with_conversation(async |_, cx| able(&cx).await),
    ]
}

/// Asks for whatever the client can answer.
async fn able(cx: &Conversation<App>) -> Result<String> {
    let client = cx.client_capabilities();
    if client.has("sampling") {
        let answer = cx.sample("Say hello.").max_tokens(100).key("greeting");
        Ok(answer.await?.to_string())
    } else if client.has("elicitation.form") {
        user_name(cx).await
    } else if client.has("roots") {
        let roots = cx.roots().key("client_roots").await?;
        Ok(format!("There are {} roots.", roots.len()))
    } else {
        Err(Error::failed("the client can answer nothing"))
    }
}

async fn several(cx: &Conversation<App>) -> Result<String> {
    let greeting = cx.sample("Write a greeting.").max_tokens(100);
    let (name, greeting, roots) = tokio::try_join!(
        user_name(cx),
        greeting.key("greeting").into_future(),
        cx.roots().key("client_roots").into_future(),
    )?;
    Ok(format!("{greeting} {name}, with {} roots.", roots.len()))
}

async fn user_name(cx: &Conversation<App>) -> Result<String> {
    let form: Name = ask(cx, "user_name", "What is your name?").await?;
    Ok(form.name)
}

async fn confirm(cx: &Conversation<App>, message: &str) -> Result<()> {
    let form: Confirmation = ask(cx, "confirm", message).await?;
    if form.ok {
        Ok(())
    } else {
        Err(Error::failed("it was not confirmed"))
    }
}

async fn ask<T: Elicit>(cx: &Conversation<App>, key: &str, message: &str) -> Result<T> {
    cx.elicit::<T>(message).key(key).required().await
}

#[derive(Elicit)]
struct Name {
    name: String,
}

#[derive(Elicit)]
struct Colour {
    colour: String,
}

#[derive(Elicit)]
struct Confirmation {
    ok: bool,
}
