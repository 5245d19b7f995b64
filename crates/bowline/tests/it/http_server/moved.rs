//! Sessions on several nodes: what is noted of them, and who forgets it.

use std::{sync::Arc, time::Duration};

use bowline::server::{Resource, Server, http::HttpOptions};
use serde_json::json;
use tokio::{task::yield_now, time::sleep};

use super::{
    rig::{Node, Session},
    stores::Database,
    tools::{workshop, workshop_with},
};

const VERSION: &str = "2025-11-25";

async fn settle() {
    for _ in 0..10 {
        yield_now().await;
    }
}

/// Resources to watch, by number.
fn uri(number: u32) -> String {
    format!("many:{number:05}")
}

fn many(server: Server) -> Server {
    let resource = |number| Resource::new(uri(number), "one of many").text("1");
    let server = server.configure(|config| config.max_subscriptions = 5000);
    server.resources((0..1000).map(resource))
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_is_not_noted() {
    let database = Arc::new(Database::default());
    let it = workshop();
    let node = Node::with(&it.service, database.options());
    let session = Session::open(&node, VERSION).await;
    for number in 1..42 {
        let uri = format!("none:{number}{}", "x".repeat(64 * 1024));
        let answer = session
            .ask(number, "resources/subscribe", json!({"uri": uri}))
            .await;
        assert!(answer.error().await.is_object(), "there is no such thing");
    }
    session
        .ask(42, "resources/subscribe", json!({"uri": "a:1"}))
        .await;
    let messages = database.messages(&session.id);
    assert_eq!(
        messages.len(),
        3,
        "the opening, its end, and what is watched"
    );
    assert!(messages[2].contains("a:1"), "{}", messages[2]);
}

#[tokio::test(start_paused = true)]
async fn noting_takes_in_proportion_to_what_is_watched() {
    let database = Arc::new(Database::default());
    let (one, two) = (workshop_with(many), workshop_with(many));
    let node = Node::with(&one.service, database.options());
    let session = Session::open(&node, VERSION).await;
    for number in 0..1000 {
        let watch = json!({"uri": uri(number)});
        let answer = session.ask(number, "resources/subscribe", watch).await;
        assert_eq!(answer.json().await["result"], json!({}));
    }
    sleep(Duration::from_secs(2)).await;
    let messages = database.messages(&session.id);
    assert_eq!(messages.len(), 1002, "all of it is noted in the end");
    let size: usize = messages.iter().map(String::len).sum();
    let written = database.written();
    assert!(written < 50 * size, "{written} bytes for {size}");
    // Also what is no longer watched.
    let watch = json!({"uri": uri(7)});
    session.ask(1000, "resources/unsubscribe", watch).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(database.messages(&session.id).len(), 1001);
    let second = Node::with(&two.service, database.options());
    let moved = session.at(&second);
    assert_eq!(moved.ask(1, "ping", json!({})).await.status(), 200);
    assert_eq!(two.service.subscribed_resources().len(), 999);
}

#[tokio::test(start_paused = true)]
async fn who_watches_little_has_it_noted_before_it_is_answered() {
    let database = Arc::new(Database::default());
    let it = workshop_with(many);
    let node = Node::with(&it.service, database.options());
    let session = Session::open(&node, VERSION).await;
    for number in 0..20 {
        let watch = json!({"uri": uri(number)});
        session.ask(number, "resources/subscribe", watch).await;
        let noted = database.messages(&session.id);
        let noted = noted.iter().filter(|it| it.contains("many:")).count();
        assert_eq!(noted, number as usize + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_gives_way_here_is_not_ended_elsewhere() {
    let database = Arc::new(Database::default());
    let it = workshop();
    let one_seat = || HttpOptions {
        max_sessions: 1,
        ..database.options()
    };
    let first = Node::with(&it.service, one_seat());
    let second = Node::with(&it.service, database.options());
    let session = Session::open(&first, VERSION).await;
    let moved = session.at(&second);
    assert_eq!(moved.ask(1, "ping", json!({})).await.status(), 200);
    // The first node has it still, and needs the seat.
    let other = Session::open(&first, VERSION).await;
    settle().await;
    assert_eq!((first.http.session_count(), database.len().0), (1, 2));
    let third = Node::with(&it.service, database.options());
    let moved = session.at(&third);
    assert_eq!(moved.ask(2, "ping", json!({})).await.status(), 200);
    // What no other node has is forgotten: whoever opens many sessions must
    // not fill the store.
    Session::open(&first, VERSION).await;
    settle().await;
    assert_eq!(database.len().0, 2);
    assert_eq!(other.ask(1, "ping", json!({})).await.status(), 404);
}
