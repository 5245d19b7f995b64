//! Prompts: listed, filled in and got.

use bowline::{
    Client,
    proto::{
        jsonrpc::RawJson,
        model::{
            ContentBlock, ElicitParams, ElicitResult, EmbeddedResource, GetPromptResult,
            ImageContent, ResourceContents, Role,
        },
        revision::Revision,
    },
    server::{
        ClientCapability, Conversation, Error, Prompt, Server, Service,
        form::Elicit,
        prompt::{Argument, assistant, user},
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::serving::{Raw, connect};

#[derive(Elicit)]
struct Tone {
    /// Which tone?
    tone: String,
}

/// What to translate.
#[derive(Deserialize, JsonSchema)]
struct Translation {
    /// The text to translate.
    text: String,
    /// Into which language.
    #[serde(default = "english")]
    language: String,
    /// How many versions.
    versions: Option<u8>,
}

fn english() -> String {
    "English".to_owned()
}

fn service() -> Service {
    Server::new("test", "1")
        .prompt(
            Prompt::new("simple")
                .description("As simple as it gets")
                .get(async |_, _cx: Conversation| Ok("Say hello.")),
        )
        .prompt(
            Prompt::new("with_arguments")
                .title("With arguments")
                .argument(Argument::new("arg1").description("The first").required())
                .argument(Argument::new("arg2").title("Second").required())
                .argument(Argument::new("arg3"))
                .get(async |arguments, _cx: Conversation| {
                    let third = arguments.get("arg3").unwrap_or("nothing");
                    Ok([
                        user(format!("{} and {}", &arguments["arg1"], &arguments["arg2"])),
                        assistant(format!("and {third}")),
                    ])
                }),
        )
        .prompt(Prompt::new("typed").arguments::<Translation>().get(
            async |it, _cx: Conversation| {
                let versions = it.versions.unwrap_or(1);
                Ok(format!("{versions}x {} in {}", it.text, it.language))
            },
        ))
        .prompt(Prompt::new("blocks").get(async |_, _cx: Conversation| {
            let resource = ResourceContents::from_text("a:1", "one");
            let mut result = GetPromptResult::new(vec![
                user(ImageContent::new("iVBO", "image/png")),
                user(EmbeddedResource::new(resource)),
            ]);
            result.description = Some("Its own words".to_owned());
            Ok(result)
        }))
        .prompt(
            Prompt::new("asks")
                .argument(Argument::new("topic").required())
                .requires([ClientCapability::Elicitation])
                .get(async |arguments, cx: Conversation| {
                    let tone = cx.elicit::<Tone>("Which tone?").required().await?;
                    let again = cx.elicit::<Tone>("Really?").required().await?;
                    Ok(format!(
                        "{} {} {}",
                        &arguments["topic"], tone.tone, again.tone
                    ))
                }),
        )
        .prompt(
            Prompt::new("fails").get(async |_, _cx: Conversation| {
                Err::<String, _>(Error::failed("no inspiration"))
            }),
        )
        .build()
        .expect("the server is sound")
}

async fn client(service: &Service, revision: Revision) -> Client {
    connect(service, revision, |builder| {
        builder.on_elicit(|params: ElicitParams| async move {
            let tone = if params.message == "Really?" {
                "yes"
            } else {
                "warm"
            };
            ElicitResult::accept(RawJson::encode(&json!({"tone": tone})).expect("JSON"))
        })
    })
    .await
}

fn texts(result: &GetPromptResult) -> Vec<(Role, &str)> {
    let messages = result.messages.iter();
    messages
        .map(|message| {
            (
                message.role.clone(),
                message.content.as_text().unwrap_or("?"),
            )
        })
        .collect()
}

const NONE: [(&str, &str); 0] = [];

#[tokio::test]
async fn prompts_are_got_in_every_revision() {
    let service = service();
    for revision in Revision::ALL {
        let client = client(&service, revision).await;
        let result = client.prompts().get("simple", NONE).await.unwrap();
        assert_eq!(texts(&result), [(Role::User, "Say hello.")], "{revision}");
        assert_eq!(result.description.as_deref(), Some("As simple as it gets"));
        let arguments = [
            ("arg1", "testValue1"),
            ("arg2", "testValue2"),
            ("arg9", "unknown"),
        ];
        let result = client
            .prompts()
            .get("with_arguments", arguments)
            .await
            .unwrap();
        assert_eq!(
            texts(&result),
            [
                (Role::User, "testValue1 and testValue2"),
                (Role::Assistant, "and nothing"),
            ]
        );
    }
}

#[tokio::test]
async fn what_can_be_filled_in_is_listed() {
    let service = service();
    let client = client(&service, Revision::V2025_11_25).await;
    let prompts = client.prompts().list().await.unwrap();
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "simple",
            "with_arguments",
            "typed",
            "blocks",
            "asks",
            "fails"
        ]
    );
    let arguments = &prompts[1].arguments;
    assert_eq!(arguments[0].description.as_deref(), Some("The first"));
    assert_eq!(arguments[1].title.as_deref(), Some("Second"));
    let required: Vec<_> = arguments.iter().map(|argument| argument.required).collect();
    assert_eq!(required, [Some(true), Some(true), None]);
    let typed: Vec<_> = prompts[2]
        .arguments
        .iter()
        .map(|it| {
            (
                it.name.as_str(),
                it.description.as_deref().unwrap(),
                it.required,
            )
        })
        .collect();
    assert_eq!(
        typed,
        [
            ("text", "The text to translate.", Some(true)),
            ("language", "Into which language.", None),
            ("versions", "How many versions.", None),
        ]
    );
}

#[tokio::test]
async fn missing_arguments_are_all_named() {
    let service = service();
    let client = client(&service, Revision::V2026_07_28).await;
    let error = client
        .prompts()
        .get("with_arguments", [("arg3", "x")])
        .await
        .unwrap_err();
    let error = error.server_error().unwrap();
    assert_eq!(error.code, -32602);
    assert_eq!(
        error.message,
        "Invalid params: missing arguments: arg1, arg2"
    );
}

#[tokio::test]
async fn typed_arguments_are_read_from_their_texts() {
    let service = service();
    let client = client(&service, Revision::V2025_06_18).await;
    let some = [("text", "hi"), ("versions", "3")];
    let result = client.prompts().get("typed", some).await.unwrap();
    assert_eq!(texts(&result)[0].1, "3x hi in English");
    let wrong = [("text", "hi"), ("versions", "many")];
    let error = client.prompts().get("typed", wrong).await.unwrap_err();
    let error = error.server_error().unwrap();
    assert_eq!(error.code, -32602);
    let expected = "Invalid params: arguments.versions: \"many\" is not an integer in range";
    assert_eq!(error.message, expected);
}

#[tokio::test]
async fn arguments_that_are_no_texts_are_refused() {
    let service = service();
    let mut raw = Raw::stateless(&service);
    let params = json!({"name": "with_arguments", "arguments": {"arg1": 1}});
    let error = raw.error("prompts/get", params).await;
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn messages_may_hold_any_content() {
    let service = service();
    let client = client(&service, Revision::V2024_11_05).await;
    let result = client.prompts().get("blocks", NONE).await.unwrap();
    assert_eq!(result.description.as_deref(), Some("Its own words"));
    let ContentBlock::Image(image) = &result.messages[0].content else {
        panic!("a picture: {result:?}");
    };
    assert_eq!(
        (image.data.as_str(), image.mime_type.as_str()),
        ("iVBO", "image/png")
    );
    let ContentBlock::Resource(embedded) = &result.messages[1].content else {
        panic!("a resource: {result:?}");
    };
    assert_eq!(embedded.resource.text.as_deref(), Some("one"));
}

#[tokio::test]
async fn prompts_may_ask_live_and_by_replay() {
    let service = service();
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let client = client(&service, revision).await;
        let result = client
            .prompts()
            .get("asks", [("topic", "tea")])
            .await
            .unwrap();
        assert_eq!(texts(&result)[0].1, "tea warm yes", "{revision}");
    }
}

#[tokio::test]
async fn a_state_is_bound_to_the_arguments_of_its_prompt() {
    let service = service();
    let mut raw = Raw::stateless(&service);
    let params = json!({"name": "asks", "arguments": {"topic": "tea"}});
    let asked = raw.result("prompts/get", params).await;
    assert_eq!(asked["resultType"], "input_required");
    let answers = json!({"1": {"action": "accept", "content": {"tone": "warm"}}});
    let with = |topic: &str| {
        json!({
            "name": "asks",
            "arguments": {"topic": topic},
            "requestState": asked["requestState"],
            "inputResponses": answers,
        })
    };
    let error = raw.error("prompts/get", with("coffee")).await;
    assert_eq!(error["code"], -32602);
    let again = raw.result("prompts/get", with("tea")).await;
    assert_eq!(again["resultType"], "input_required", "the second question");
}

#[tokio::test]
async fn unknown_and_failing_prompts_are_errors() {
    let service = service();
    let client = client(&service, Revision::V2026_07_28).await;
    for (name, code, message) in [
        ("nothing", -32602, "Unknown prompt: nothing"),
        ("fails", -32603, "no inspiration"),
    ] {
        let error = client.prompts().get(name, NONE).await.unwrap_err();
        let error = error.server_error().unwrap();
        assert_eq!((error.code, error.message.as_str()), (code, message));
    }
}

#[tokio::test]
async fn what_a_client_cannot_do_hides_what_needs_it() {
    let service = service();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let plain = connect(&service, revision, |builder| builder).await;
        let prompts = plain.prompts().list().await.unwrap();
        assert!(prompts.iter().all(|prompt| prompt.name != "asks"));
        let error = plain
            .prompts()
            .get("asks", [("topic", "x")])
            .await
            .unwrap_err();
        assert!(error.server_error().is_some(), "{revision}: {error}");
    }
}

#[tokio::test]
async fn the_state_is_at_hand() {
    let service = Server::new("test", "1")
        .prompt(Prompt::new("before").get(async |_, _cx: Conversation| Ok("before")))
        .state("the state".to_owned())
        .prompt(
            Prompt::new("after").get(async |_, cx: Conversation<String>| Ok(cx.state().clone())),
        )
        .build()
        .unwrap();
    let client = Client::builder()
        .connect(service.in_memory())
        .await
        .unwrap();
    for (name, expected) in [("before", "before"), ("after", "the state")] {
        let result = client.prompts().get(name, NONE).await.unwrap();
        assert_eq!(texts(&result)[0].1, expected);
    }
}

#[test]
fn what_is_wrong_with_a_prompt_is_found_when_it_is_built() {
    let get = async |_, _cx: Conversation| Ok("x");
    let drafts = [
        (Prompt::new("").get(get), "it has no name"),
        (
            Prompt::new("twice")
                .argument(Argument::new("a"))
                .argument(Argument::new("a"))
                .get(get),
            "two of its arguments have the name \"a\"",
        ),
        (
            Prompt::new("completes")
                .argument(Argument::new("a"))
                .complete_from("b", ["x"])
                .get(get),
            "it completes the unknown argument \"b\"",
        ),
        (
            Prompt::new("list")
                .arguments::<Vec<String>>()
                .get(async |_, _cx: Conversation| Ok("x")),
            "its arguments must be a struct with named fields",
        ),
    ];
    for (prompt, why) in drafts {
        let error = Server::new("test", "1").prompt(prompt).build().unwrap_err();
        assert!(error.to_string().ends_with(why), "{error}");
    }
}
