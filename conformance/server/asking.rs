//! Tools that ask, where servers may ask while a call is open.

use bowline::{
    proto::model::{
        ChoiceOption, ChoiceSchema, ElicitSchema, Members, MultiChoiceSchema, PropertySchema,
    },
    server::{
        ClientCapability, Conversation, Elicited, Result, Tool,
        form::{DecodeError, Elicit, Value},
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;

pub fn tools() -> [Tool<App>; 6] {
    [
        Tool::new("test_sampling")
            .description("Asks a model")
            .input::<Question>()
            .handler_with_conversation(async |question, cx: Conversation<App>| {
                let answer = cx.sample(question.prompt).max_tokens(100).await?;
                Ok(format!("LLM response: {answer}"))
            }),
        Tool::new("test_elicitation")
            .description("Asks the user")
            .input::<Message>()
            .handler_with_conversation(async |message, cx: Conversation<App>| {
                ask::<Account>(&cx, message.message).await
            }),
        Tool::new("test_elicitation_sep1034_defaults")
            .description("Asks the user, with a value to begin with in every field")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                ask::<Defaults>(&cx, "Please review the form").await
            }),
        Tool::new("test_elicitation_sep1330_enums")
            .description("Asks the user to choose, in every way there is")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                ask::<Choices>(&cx, "Please choose").await
            }),
        Tool::new("test_streaming_elicitation")
            .description("Asks the user at once")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                ask::<Account>(&cx, "Who are you?").await
            }),
        Tool::new("test_missing_capability")
            .description("Is of use only to clients that have a model")
            .no_input()
            .requires([ClientCapability::Sampling])
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                let answer = cx.sample("Say hello.").max_tokens(100).await?;
                Ok(answer.to_string())
            }),
    ]
}

/// Asks, and says what the user did.
async fn ask<T: Elicit>(cx: &Conversation<App>, message: impl Into<String>) -> Result<String> {
    let action = match cx.elicit::<T>(message).await? {
        Elicited::Accepted(_) => "accept",
        Elicited::Declined => "decline",
        Elicited::Cancelled => "cancel",
    };
    Ok(format!("User response: {action}"))
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Question {
    /// What to ask the model.
    prompt: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Message {
    /// What to tell the user.
    message: String,
}

#[derive(Elicit)]
#[expect(dead_code, reason = "only the form matters")]
struct Account {
    /// Your name here
    username: String,
    /// Where to write to
    email: String,
}

#[derive(Elicit)]
#[expect(dead_code, reason = "only the form matters")]
struct Defaults {
    #[elicit(default = "John Doe")]
    name: String,
    #[elicit(default = 30)]
    age: i64,
    #[elicit(default = 95.5)]
    score: f64,
    #[elicit(default = Status::Active)]
    status: Status,
    #[elicit(default = true)]
    verified: bool,
}

#[derive(Elicit)]
#[elicit(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

/// Written by hand: one of the ways to choose is of an old revision, and the
/// derive does not write it.
struct Choices;

impl Elicit for Choices {
    fn form() -> ElicitSchema {
        let values = ["option1", "option2", "option3"];
        let titled = || {
            let named = |number| {
                ChoiceOption::new(format!("value{number}"), format!("Option number {number}"))
            };
            [1, 2, 3].map(named)
        };
        let mut legacy = ChoiceSchema::untitled(["opt1", "opt2", "opt3"]);
        legacy.value_titles = Some(["One", "Two", "Three"].map(str::to_owned).to_vec());
        let fields: [(&'static str, PropertySchema); 5] = [
            ("untitledSingle", ChoiceSchema::untitled(values).into()),
            ("titledSingle", ChoiceSchema::titled(titled()).into()),
            ("legacyEnum", legacy.into()),
            ("untitledMulti", MultiChoiceSchema::untitled(values).into()),
            ("titledMulti", MultiChoiceSchema::titled(titled()).into()),
        ];
        ElicitSchema::new(fields.into_iter().collect::<Members<_>>())
    }

    fn from_answer(_: &Value) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}
