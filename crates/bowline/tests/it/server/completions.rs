//! Proposing values while they are typed.

use bowline::{
    Client,
    proto::{
        model::{
            CompleteArgument, CompleteContext, CompleteParams, CompleteResult, PromptReference,
            Reference, ResourceReference,
        },
        revision::Revision,
    },
    server::{
        ClientCapability, Conversation, Prompt, Resource, ResourceTemplate, Server, Service,
        completion::{CompletionContext, Completions},
        prompt::Argument,
    },
};
use serde_json::json;

use super::serving::{Raw, connect};

fn service() -> Service<Vec<&'static str>> {
    let languages = vec!["rust", "ruby", "go"];
    Server::new("test", "1")
        .state(languages)
        .prompt(
            Prompt::new("review")
                .argument(Argument::new("language").required())
                .argument(Argument::new("framework"))
                .argument(Argument::new("style"))
                .complete(
                    "language",
                    async |typed, cx: CompletionContext<Vec<&'static str>>| {
                        let languages = cx.state().iter();
                        Ok(languages
                            .filter(|language| language.starts_with(&typed))
                            .copied()
                            .collect())
                    },
                )
                .complete("framework", async |_, cx| {
                    Ok(match cx.argument("language") {
                        Some("rust") => ["axum", "warp"].into(),
                        Some(_) => Completions::default(),
                        None => Completions::new(["which?"]).has_more(),
                    })
                })
                .get(async |_, _cx: Conversation<_>| Ok("x")),
        )
        .prompt(
            Prompt::new("many")
                .argument(Argument::new("number"))
                .complete("number", async |_, _cx| {
                    Ok((0..1000).map(|n| n.to_string()).collect())
                })
                .get(async |_, _cx: Conversation<_>| Ok("x")),
        )
        .prompt(
            Prompt::new("asks")
                .requires([ClientCapability::Elicitation])
                .argument(Argument::new("a"))
                .complete_from("a", ["b"])
                .get(async |_, _cx: Conversation<_>| Ok("x")),
        )
        .template(
            ResourceTemplate::new("city:///{country}/{city}", "city")
                .complete_from("country", ["Portugal", "Poland", "Spain"])
                .read(async |_, _cx: Conversation<_>| Ok("x")),
        )
        .resource(Resource::new("a:1", "one").text("1"))
        .build()
        .expect("the server is sound")
}

async fn ask(
    client: &Client,
    reference: Reference,
    argument: (&str, &str),
    known: &[(&str, &str)],
) -> Result<CompleteResult, bowline::Error> {
    let argument = CompleteArgument::new(argument.0, argument.1);
    let mut params = CompleteParams::new(reference, argument);
    if !known.is_empty() {
        let mut context = CompleteContext::default();
        let known = known
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        context.arguments = Some(known.collect());
        params.context = Some(context);
    }
    client.request(params).await
}

fn prompt(name: &str) -> Reference {
    PromptReference::new(name).into()
}

fn resource(uri: &str) -> Reference {
    ResourceReference::new(uri).into()
}

#[tokio::test]
async fn arguments_are_completed_in_every_revision() {
    let service = service();
    for revision in Revision::ALL {
        let client = connect(&service, revision, |builder| builder).await;
        let result = ask(&client, prompt("review"), ("language", "ru"), &[]).await;
        let completion = result.unwrap().completion;
        assert_eq!(completion.values, ["rust", "ruby"], "{revision}");
        assert_eq!((completion.total, completion.has_more), (None, Some(false)));
        let city = resource("city:///{country}/{city}");
        let result = ask(&client, city, ("country", "po"), &[]).await;
        assert_eq!(result.unwrap().completion.values, ["Portugal", "Poland"]);
    }
}

#[tokio::test]
async fn other_arguments_are_known_where_the_client_tells() {
    let service = service();
    for (revision, known, expected) in [
        (
            Revision::V2025_06_18,
            &[("language", "rust")][..],
            &["axum", "warp"][..],
        ),
        (
            Revision::V2026_07_28,
            &[("language", "rust")],
            &["axum", "warp"],
        ),
        (Revision::V2026_07_28, &[("language", "go")], &[]),
        (Revision::V2025_03_26, &[], &["which?"]),
    ] {
        let client = connect(&service, revision, |builder| builder).await;
        let result = ask(&client, prompt("review"), ("framework", ""), known).await;
        assert_eq!(result.unwrap().completion.values, expected, "{revision}");
    }
}

#[tokio::test]
async fn no_more_than_a_hundred_values_travel() {
    let service = service();
    let client = connect(&service, Revision::V2026_07_28, |builder| builder).await;
    let result = ask(&client, prompt("many"), ("number", ""), &[]).await;
    let completion = result.unwrap().completion;
    assert_eq!(completion.values.len(), 100);
    assert_eq!(completion.values[99], "99");
    assert_eq!(
        (completion.total, completion.has_more),
        (Some(1000), Some(true))
    );
}

#[tokio::test]
async fn what_nobody_completes_has_no_proposals() {
    let service = service();
    let client = connect(&service, Revision::V2025_11_25, |builder| builder).await;
    for (reference, name) in [
        (prompt("review"), "style"),
        (resource("city:///{country}/{city}"), "city"),
        (resource("a:1"), "whatever"),
    ] {
        let result = ask(&client, reference, (name, "x"), &[]).await;
        assert_eq!(result.unwrap().completion.values, Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_is_unknown_is_refused() {
    let service = service();
    let client = connect(&service, Revision::V2026_07_28, |builder| builder).await;
    for (reference, name) in [
        (prompt("nothing"), "x"),
        (prompt("review"), "nothing"),
        (resource("city:///Portugal/Porto"), "city"),
        (resource("nothing:1"), "x"),
    ] {
        let error = ask(&client, reference, (name, "x"), &[]).await.unwrap_err();
        assert_eq!(error.server_error().unwrap().code, -32602, "{name}");
    }
    let error = ask(&client, prompt("asks"), ("a", ""), &[])
        .await
        .unwrap_err();
    assert_eq!(
        error.server_error().unwrap().code,
        -32021,
        "its needs are checked"
    );
    let mut raw = Raw::stateless(&service);
    let odd = json!({"ref": {"type": "ref/odd"}, "argument": {"name": "a", "value": ""}});
    assert_eq!(raw.error("completion/complete", odd).await["code"], -32602);
}

#[tokio::test]
async fn completing_is_declared_only_where_it_is_offered() {
    let raw = Raw::session(&service(), "2025-11-25").await;
    assert_eq!(raw.capabilities()["completions"], json!({}));
    let plain = Prompt::new("plain")
        .argument(Argument::new("a"))
        .get(async |_, _cx: Conversation| Ok("x"));
    let service = Server::new("test", "1").prompt(plain).build().unwrap();
    let mut raw = Raw::session(&service, "2025-11-25").await;
    assert_eq!(raw.capabilities().get("completions"), None);
    let params = json!({"ref": {"type": "ref/prompt", "name": "plain"},
                        "argument": {"name": "a", "value": ""}});
    assert_eq!(
        raw.error("completion/complete", params).await["code"],
        -32601
    );
    let late = Prompt::new("late")
        .argument(Argument::new("a"))
        .complete_from("a", ["b"])
        .get(async |_, _cx: Conversation| Ok("x"));
    let error = service.add_prompt(late).unwrap_err();
    assert!(
        error.to_string().contains("did not declare `completions`"),
        "{error}"
    );
}
