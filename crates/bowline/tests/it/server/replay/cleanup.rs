//! What the first phase holds is released once where the last is not reached,
//! and never otherwise.

use std::{sync::Arc, time::Duration};

use bowline::server::{CallLimits, Conversation, HandlerContext, Server, Service, Tool};
use serde_json::json;
use tokio::time::sleep;

use super::{
    app::{App, Text},
    rig::{Called, Peer, always},
    stores::Stores,
    user,
};

const SECOND: Duration = Duration::from_secs(1);

/// What the client phase of the tool does.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// It asks.
    Ask,
    /// It ends without asking.
    Nothing,
    /// It takes a step for longer than it may.
    Slow,
    Panic,
    /// It asks, and then a model.
    Sample,
}

fn hold(does: Does) -> Tool<App> {
    Tool::new("hold")
        .description("Holds something")
        .no_input()
        .limits(CallLimits::new().timeout(30 * SECOND))
        .phases()
        .before(async |_, cx: HandlerContext<App>| {
            cx.state().note("before").await?;
            sleep(SECOND).await;
            cx.state().note("held").await
        })
        .ask(move |_, cx: Conversation<App>| async move {
            match does {
                Does::Ask => drop(cx.elicit::<Text>("q").required().await?),
                Does::Nothing => {}
                Does::Slow => {
                    let slow = async {
                        cx.state().note("slow").await?;
                        sleep(45 * SECOND).await;
                        Ok(())
                    };
                    cx.step("slow", slow).await?;
                }
                Does::Panic => panic!("as it should"),
                Does::Sample => {
                    cx.elicit::<Text>("q").required().await?;
                    cx.sample("a poem").await?;
                }
            }
            Ok(())
        })
        .cleanup(async |_, cx: HandlerContext<App>| {
            cx.state().note("cleanup").await?;
            Ok(())
        })
        .after(async |_, (), cx: HandlerContext<App>| cx.state().note("after").await)
}

fn serve(does: Does) -> Service<App> {
    let server = Server::new("hold", "1")
        .state(App::default())
        .tool(hold(does));
    server.build().expect("the server is sound")
}

/// Waits until nothing more can happen.
async fn all_of(app: &App) -> Vec<String> {
    sleep(600 * SECOND).await;
    app.noted()
}

#[tokio::test(start_paused = true)]
async fn who_leaves_during_the_first_phase_is_cleaned_up_after() {
    for does in [Does::Ask, Does::Nothing, Does::Slow] {
        let service = serve(does);
        let mut peer = Peer::new(&service);
        let id = peer.send("tools/call", &Called::new("hold").params()).await;
        service.state().until("before").await;
        peer.cancel(id).await;
        let noted = all_of(service.state()).await;
        assert_eq!(noted, ["before", "held", "cleanup"]);
    }
}

#[tokio::test(start_paused = true)]
async fn live_who_leaves_during_the_first_phase_is_cleaned_up_after() {
    for does in [Does::Ask, Does::Nothing, Does::Slow] {
        let service = serve(does);
        let client = user::silent(&service).await;
        let call = client.tools().call("hold", json!({}));
        tokio::select! {
            end = call => panic!("{end:?}"),
            () = service.state().until("before") => {}
        }
        drop(client);
        let noted = all_of(service.state()).await;
        assert_eq!(noted, ["before", "held", "cleanup"]);
    }
}

/// The caller leaves, and then the time is over, too.
#[tokio::test(start_paused = true)]
async fn two_reasons_to_clean_up_are_one() {
    let service = serve(Does::Slow);
    let mut peer = Peer::new(&service);
    let id = peer.send("tools/call", &Called::new("hold").params()).await;
    service.state().until("slow").await;
    peer.cancel(id).await;
    let noted = all_of(service.state()).await;
    assert_eq!(noted, ["before", "held", "slow", "cleanup"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_first_round_is_cleaned_up_after() {
    let service = serve(Does::Panic);
    let end = Peer::new(&service).begin(&Called::new("hold")).await;
    assert!(end.refusal().contains("panicked"), "{end:?}");
    let noted = all_of(service.state()).await;
    assert_eq!(noted, ["before", "held", "cleanup"]);
}

/// Nobody can go on with a conversation whose state was not handed out.
#[tokio::test(start_paused = true)]
async fn a_state_that_cannot_be_kept_is_cleaned_up_after() {
    let stores = Stores::new();
    let service = Server::new("hold", "1")
        .state(App::default())
        .tool(hold(Does::Ask))
        .journal_store(Arc::clone(&stores))
        .sealed_state_store(Arc::clone(&stores))
        .max_sealed_state_bytes(0)
        .build()
        .expect("the server is sound");
    stores.fail("save", 1);
    let end = Peer::new(&service).begin(&Called::new("hold")).await;
    assert!(end.refusal().contains("out of order"), "{end:?}");
    assert_eq!(service.state().noted(), ["before", "held", "cleanup"]);
}

/// A client that lacks something may come again with it, so that what is held
/// is still needed.
#[tokio::test(start_paused = true)]
async fn to_lack_a_capability_releases_nothing() {
    let service = serve(Does::Sample);
    let called = Called::new("hold");
    let mut peer = Peer::new(&service);
    let all = peer.meta.clone();
    let asked = peer.begin(&called).await.questions();
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    peer.meta[capabilities] = json!({"elicitation": {"form": {}}});
    let answers = asked.answers(always("yes"));
    let lacks = peer.go_on(&called, &asked.state, &answers).await;
    assert!(lacks.refusal().contains("capability"), "{lacks:?}");
    peer.meta = all;
    let asked = peer
        .go_on(&called, &asked.state, &answers)
        .await
        .questions();
    let poem = json!({
        "role": "assistant", "model": "m", "content": {"type": "text", "text": "a poem"}
    });
    let answers = asked.answers(|_, _| poem.clone());
    let end = peer.go_on(&called, &asked.state, &answers).await;
    assert_eq!(end.text().0, "after");
    assert_eq!(service.state().noted(), ["before", "held", "after"]);
}
