//! Limits on time, which count all rounds.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bowline::server::{CallLimits, Conversation, Server, Tool};
use serde_json::json;

use super::{
    app::{App, Text},
    rig::{Called, Peer, always},
    user,
};

const TOO_LATE: &str = "Error: Timeout: timed out after 60s";

fn slow() -> Tool<App> {
    Tool::new("slow")
        .description("Takes its time")
        .no_input()
        .limits(CallLimits::new().timeout(Duration::from_secs(60)))
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("first").required().await?;
            cx.step("step", cx.state().note("step")).await?;
            cx.elicit::<Text>("second").required().await?;
            Ok("done")
        })
}

#[tokio::test(start_paused = true)]
async fn the_time_for_all_rounds_is_limited() {
    let now = Arc::new(AtomicU64::new(1_000));
    let clock = Arc::clone(&now);
    let service = Server::new("limits", "1")
        .state(App::default())
        .tool(slow())
        .clock(move || SystemTime::UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst)))
        .build()
        .unwrap();
    let called = Called::new("slow");
    let mut peer = Peer::new(&service);
    let first = peer.begin(&called).await.questions();
    now.fetch_add(59, Ordering::SeqCst);
    let answers = first.answers(always("a"));
    let second = peer
        .go_on(&called, &first.state, &answers)
        .await
        .questions();
    now.fetch_add(2, Ordering::SeqCst);
    let answers = second.answers(always("a"));
    let end = peer.go_on(&called, &second.state, &answers).await;
    assert_eq!(end.text(), (TOO_LATE.to_owned(), true));
    assert_eq!(service.state().noted(), ["step"]);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_live_call_is_limited_likewise() {
    let server = Server::new("limits", "1").state(App::default());
    let service = server.tool(slow()).build().unwrap();
    let client = user::silent(&service).await;
    let result = client.tools().call("slow", json!({}));
    let result = result.timeout(Duration::from_secs(600)).await.unwrap();
    assert_eq!(result.all_text(), TOO_LATE);
    assert!(result.is_error());
}
