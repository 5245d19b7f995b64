//! Tasks that a handler started, and that outlive it: they end, and do
//! nothing that a later round would do again.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bowline::server::{Conversation, Error, Server, Service, Tool};
use serde_json::json;
use tokio::sync::Notify;

use super::{
    app::{App, Text},
    rig::{Called, Peer, Round, always},
    user::{self, REVISIONS},
};

fn serve(tools: impl IntoIterator<Item = Tool<App>>) -> Service<App> {
    let server = Server::new("detached", "1")
        .state(App::default())
        .tools(tools);
    server.build().expect("the server is sound")
}

/// Starts a task that asks, and notes how that ended.
fn ask_elsewhere(cx: &Conversation<App>, message: &str) {
    let (cx, message) = (cx.clone(), message.to_owned());
    tokio::spawn(async move {
        let answer = cx.elicit::<Text>(message).await;
        let how = answer.map_err(|error| error.kind().clone());
        cx.state().note(&format!("{how:?}")).await
    });
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_ends_when_the_conversation_is_suspended() {
    let tool = Tool::new("asks")
        .description("Asks twice at once, in two places")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            ask_elsewhere(&cx, "elsewhere");
            cx.elicit::<Text>("here").required().await?;
            Ok("done")
        });
    let service = serve([tool]);
    let mut peer = Peer::new(&service);
    peer.begin(&Called::new("asks")).await.questions();
    service.state().until("Err(Disconnected)").await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_something_else_than_before_ends() {
    let tool = Tool::new("fickle")
        .description("Asks something else each time")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let times = cx.state().noted().len();
            cx.state().note("round").await?;
            ask_elsewhere(&cx, &format!("{times}?"));
            std::future::pending::<()>().await;
            Ok("done")
        });
    let service = serve([tool]);
    let called = Called::new("fickle");
    let mut peer = Peer::new(&service);
    let asked = peer.begin(&called).await.questions();
    service.state().until("Err(Disconnected)").await;
    service.state().forget();
    service.state().note("something").await.unwrap();
    let answers = asked.answers(always("yes"));
    let end = peer.go_on(&called, &asked.state, &answers).await;
    assert!(end.refusal().contains("different question"), "{end:?}");
    service.state().until("Err(Disconnected)").await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_ends_when_the_handler_panics() {
    let tool = Tool::new("panics")
        .description("Panics while something else asks")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            ask_elsewhere(&cx, "elsewhere");
            // Once the question has been asked.
            cx.step("wait", async {
                tokio::task::yield_now().await;
                Ok(())
            })
            .await?;
            if cx.name() == "panics" {
                panic!("as it should");
            }
            Ok("done")
        });
    let service = serve([tool]);
    let mut peer = Peer::new(&service);
    let end = peer.begin(&Called::new("panics")).await;
    assert!(matches!(end, Round::Refused(..)), "{end:?}");
    service.state().until("Err(Disconnected)").await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_ends_when_the_call_is_called_off() {
    let tool = Tool::new("endless")
        .description("Takes a step without end while something else asks")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            ask_elsewhere(&cx, "elsewhere");
            let endless = async {
                cx.state().note("begun").await?;
                std::future::pending::<()>().await;
                Ok(())
            };
            cx.step("endless", endless).await?;
            Ok("done")
        });
    let service = serve([tool]);
    let mut peer = Peer::new(&service);
    let call = Called::new("endless").params();
    let id = peer.send("tools/call", &call).await;
    service.state().until("begun").await;
    peer.cancel(id).await;
    service.state().until("Err(Disconnected)").await;
}

#[tokio::test(start_paused = true)]
async fn a_step_is_not_begun_when_the_conversation_has_been_suspended() {
    let gate = Arc::new(Notify::new());
    let open = Arc::clone(&gate);
    let tool = Tool::new("late")
        .description("Takes a step elsewhere, too late")
        .no_input()
        .handler_with_conversation(move |_, cx: Conversation<App>| {
            let gate = Arc::clone(&gate);
            async move {
                let there = cx.clone();
                tokio::spawn(async move {
                    gate.notified().await;
                    let step = there.step("step", there.state().note("step")).await;
                    let how = step.map_err(|error| error.kind().clone());
                    there.state().note(&format!("{how:?}")).await
                });
                cx.elicit::<Text>("here").required().await?;
                Ok("done")
            }
        });
    let service = serve([tool]);
    let mut peer = Peer::new(&service);
    peer.begin(&Called::new("late")).await.questions();
    open.notify_one();
    service.state().until("Err(Disconnected)").await;
    assert_eq!(service.state().noted(), ["Err(Disconnected)"]);
}

/// Tasks on other threads ask, take steps and wait while the conversation is
/// run, suspended and ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_on_other_threads_talk_in_every_era() {
    let tool = Tool::new("threads")
        .description("Talks on several threads")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let tasks: Vec<_> = (0..4)
                .map(|number| {
                    let cx = cx.clone();
                    tokio::spawn(async move {
                        let key = format!("k{number}");
                        let step = cx.step(&key, cx.state().note(&key)).await?;
                        let answer = cx.elicit::<Text>(&key).key(&key).required().await?;
                        let last = format!("{step} again");
                        cx.step(&last, cx.state().note(&last)).await?;
                        Ok::<_, Error>(answer.text)
                    })
                })
                .collect();
            let mut all = String::new();
            for task in tasks {
                all += &task.await??;
            }
            Ok(all)
        });
    for _ in 0..50 {
        let service = serve([tool.clone()]);
        for revision in REVISIONS {
            service.state().forget();
            let outcome = user::call(&service, revision, "threads", json!({})).await;
            assert_eq!(outcome.text, "k0k1k2k3", "{revision}");
            assert_eq!(service.state().repeated(), HashMap::new(), "{revision}");
            assert_eq!(service.state().noted().len(), 8, "{revision}");
        }
    }
}

/// Live, too, a task ends that asks when nobody waits for its answer.
#[tokio::test(start_paused = true)]
async fn a_task_that_asks_live_ends_with_the_call() {
    let tool = Tool::new("leaves")
        .description("Leaves while something else asks")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            ask_elsewhere(&cx, "before the end");
            tokio::task::yield_now().await;
            let late = cx.clone();
            tokio::spawn(async move {
                late.finished().await;
                ask_elsewhere(&late, "after the end");
            });
            Ok("done")
        });
    let service = serve([tool]);
    let client = user::silent(&service).await;
    let result = client.tools().call("leaves", json!({})).await.unwrap();
    assert_eq!(result.all_text(), "done");
    let both = async {
        while service.state().noted().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(600), both).await;
    assert!(waited.is_ok(), "{:?}", service.state().noted());
    assert_eq!(service.state().noted(), ["Err(Disconnected)"; 2]);
}
