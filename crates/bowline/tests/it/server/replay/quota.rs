//! One caller who fills the stores, and others who do not notice.

use std::time::Duration;

use bowline::server::{Conversation, Server, Service, Tool, store::MemoryJournalStore};
use serde_json::json;
use tokio::time::Instant;

use super::{
    app::{App, Text},
    rig::{Called, Peer, Round, always, say},
};

const KIB: usize = 1024;

/// A server whose store has room for so many entries and bytes in all.
fn node(entries: usize, bytes: usize) -> Service<App> {
    Server::new("quota", "1")
        .state(App::default())
        .tool(large())
        .journal_store(MemoryJournalStore::with_limits(entries, bytes, bytes))
        .build()
        .expect("the server is sound")
}

/// Asks, takes a step, and answers at length.
fn large() -> Tool<App> {
    Tool::new("large")
        .description("Asks twice, and answers at length")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let first = cx.elicit::<Text>("first").required().await?.text;
            cx.step("step", cx.state().note(&first)).await?;
            cx.elicit::<Text>("second").required().await?;
            Ok("x".repeat(50 * KIB))
        })
}

/// Someone else comes to the end, and has not waited.
async fn ada_is_served(service: &Service<App>) {
    let (called, began) = (Called::new("large"), Instant::now());
    service.state().forget();
    let mut ada = Peer::known(service, "ada");
    let first = ada.begin(&called).await.questions();
    let answers = first.answers(always("ada"));
    let second = ada.go_on(&called, &first.state, &answers).await;
    let second = second.questions();
    let answers = second.answers(always("ada"));
    for _ in 0..2 {
        let end = ada.go_on(&called, &second.state, &answers).await;
        assert_eq!(end.text().0.len(), 50 * KIB);
    }
    assert_eq!(service.state().noted(), ["ada"]);
    assert!(began.elapsed() < Duration::from_secs(1), "ada has waited");
}

#[tokio::test(start_paused = true)]
async fn many_large_answers_to_one_do_not_shut_out_another() {
    let service = node(1000, KIB * KIB);
    let called = Called::new("large");
    let mut mallory = Peer::known(&service, "mallory");
    let began = Instant::now();
    for _ in 0..100 {
        // She may be refused; nobody else may.
        mallory.run(&called, always("mallory")).await;
    }
    assert!(began.elapsed() < Duration::from_secs(1), "mallory waited");
    ada_is_served(&service).await;
}

#[tokio::test(start_paused = true)]
async fn many_conversations_of_one_do_not_shut_out_another() {
    let service = node(1000, 100 * KIB * KIB);
    let called = Called::new("large");
    let mut mallory = Peer::known(&service, "mallory");
    for _ in 0..1200 {
        let first = mallory.begin(&called).await.questions();
        let answers = first.answers(always("mallory"));
        mallory.go_on(&called, &first.state, &answers).await;
    }
    ada_is_served(&service).await;
}

#[tokio::test(start_paused = true)]
async fn many_requests_on_one_state_do_not_shut_out_another() {
    let service = node(1000, 100 * KIB * KIB);
    let called = Called::new("large");
    let mut mallory = Peer::known(&service, "mallory");
    let first = mallory.begin(&called).await.questions();
    let answers = first.answers(always("mallory"));
    let second = mallory.go_on(&called, &first.state, &answers).await;
    let second = second.questions();
    let began = Instant::now();
    for number in 0..1200 {
        let other = json!({"2": say(&number.to_string())});
        mallory.go_on(&called, &second.state, &other).await;
    }
    assert!(began.elapsed() < Duration::from_secs(1), "mallory waited");
    ada_is_served(&service).await;
}

/// Where there is no room for an answer, who repeats the round plays it again,
/// and does not wait for it.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_answer_that_had_no_room() {
    let service = node(1000, 20 * KIB);
    let called = Called::new("large");
    let mut ada = Peer::known(&service, "ada");
    let first = ada.begin(&called).await.questions();
    let answers = first.answers(always("ada"));
    let second = ada.go_on(&called, &first.state, &answers).await;
    let second = second.questions();
    let answers = second.answers(always("ada"));
    let began = Instant::now();
    for _ in 0..3 {
        let end = ada.go_on(&called, &second.state, &answers).await;
        if let Round::Ended(_) = &end {
            assert_eq!(end.text().0.len(), 50 * KIB);
        }
    }
    assert!(began.elapsed() < Duration::from_secs(1), "ada has waited");
    assert_eq!(service.state().noted(), ["ada"]);
}
