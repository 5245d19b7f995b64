//! Conversations that do not take the same path again, and some that only
//! seem to.

use std::time::Duration;

use bowline::server::{Conversation, Result, Server, Service, Tool};
use tokio::{
    join,
    time::{sleep, timeout},
};

use super::{
    app::{App, Text},
    rig::{Called, Peer, Round, always, say},
};

fn serve(tool: Tool<App>) -> Service<App> {
    let server = Server::new("diverge", "1").state(App::default()).tool(tool);
    server.build().expect("the server is sound")
}

/// The first round of a tool, and what comes of it when the world has changed.
async fn changed_between_rounds(service: &Service<App>, called: &Called) -> Round {
    let mut peer = Peer::new(service);
    let asked = peer.begin(called).await.questions();
    service.state().note("changed").await.expect("it is noted");
    let answers = asked.answers(always("yes"));
    peer.go_on(called, &asked.state, &answers).await
}

#[tokio::test(start_paused = true)]
async fn another_question_is_refused() {
    let tool = Tool::new("other")
        .description("Asks what it should not")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let times = cx.state().noted().len();
            let answer = cx.elicit::<Text>(format!("{times}?")).required().await?;
            Ok(answer.text)
        });
    let end = changed_between_rounds(&serve(tool), &Called::new("other")).await;
    let why = end.refusal();
    assert!(
        why.contains("\"1\" is a different question or step than before"),
        "{why}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_not_asked_again_is_refused() {
    let tool = Tool::new("fewer")
        .description("Asks once only")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            if cx.state().noted().is_empty() {
                cx.elicit::<Text>("?").key("first").required().await?;
            }
            Ok("done")
        });
    let end = changed_between_rounds(&serve(tool), &Called::new("fewer")).await;
    assert!(end.refusal().contains("\"first\""), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn another_question_in_place_of_one_is_refused_and_not_asked() {
    let tool = Tool::new("instead")
        .description("Asks under another name")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let key = ["first", "second"][cx.state().noted().len().min(1)];
            let answer = cx.elicit::<Text>("?").key(key).required().await?;
            Ok(answer.text)
        });
    let end = changed_between_rounds(&serve(tool), &Called::new("instead")).await;
    assert!(end.refusal().contains("\"first\""), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn no_step_is_taken_off_the_path() {
    let tool = Tool::new("buy")
        .description("Buys what is cheap, and asks before it buys what is not")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            if cx.state().noted().is_empty() {
                cx.elicit::<Text>("It is dear. Buy?").required().await?;
            }
            cx.step("buy", cx.state().note("bought")).await?;
            Ok("bought")
        });
    let service = serve(tool);
    let end = changed_between_rounds(&service, &Called::new("buy")).await;
    assert!(end.refusal().contains("\"1\""), "{end:?}");
    assert_eq!(service.state().noted(), ["changed"]);
}

#[tokio::test(start_paused = true)]
async fn what_only_takes_longer_is_not_taken_for_missing() {
    let tool = Tool::new("slow")
        .description("Waits for something else than a step, beside a step")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let left = async {
                let slow = async {
                    sleep(Duration::from_millis(20)).await;
                    cx.state().note("slow").await
                };
                cx.step("slow", slow).await?;
                cx.elicit::<Text>("a").key("a").required().await?;
                cx.elicit::<Text>("b").key("b").required().await
            };
            let right = async {
                // Not in a step, so it is waited for in every round.
                sleep(Duration::from_millis(10)).await;
                cx.step("quick", cx.state().note("quick")).await?;
                cx.elicit::<Text>("c").key("c").required().await
            };
            let (left, right) = join!(left, right);
            Ok(format!("{} {}", left?.text, right?.text))
        });
    let service = serve(tool);
    let mut peer = Peer::new(&service);
    let user = |_: &str, question: &serde_json::Value| {
        say(question["params"]["message"].as_str().unwrap())
    };
    let end = peer.run(&Called::new("slow"), user).await;
    assert_eq!(end.text(), ("b c".to_owned(), false));
    assert_eq!(service.state().noted(), ["quick", "slow"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_given_up_is_not_begun_again() {
    let tool = Tool::new("hasty")
        .description("Gives up a step that takes too long")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let endless = async {
                cx.state().note("begun").await?;
                std::future::pending::<()>().await;
                Ok(())
            };
            let step = cx.step("endless", endless);
            let gave_up = timeout(Duration::from_secs(60), step).await.is_err();
            cx.elicit::<Text>("a").required().await?;
            cx.elicit::<Text>("b").required().await?;
            Ok(format!("{gave_up}"))
        });
    let service = serve(tool);
    let mut peer = Peer::new(&service);
    let end = peer.run(&Called::new("hasty"), always("yes")).await;
    assert_eq!(end.text().0, "true");
    assert_eq!(service.state().noted(), ["begun"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_given_up_and_now_is_waited_for_is_refused() {
    let tool = Tool::new("patient")
        .description("Gives up a step the first time")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let step = cx.step("endless", std::future::pending());
            if cx.state().noted().is_empty() {
                let _: Option<Result<()>> = timeout(Duration::from_secs(60), step).await.ok();
            } else {
                step.await?;
            }
            cx.elicit::<Text>("a").required().await?;
            Ok("done")
        });
    let end = changed_between_rounds(&serve(tool), &Called::new("patient")).await;
    assert!(end.refusal().contains("was abandoned before"), "{end:?}");
}
