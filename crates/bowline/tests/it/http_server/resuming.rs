//! Streams of sessions: what goes where, and coming back for what was missed.

use std::time::Duration;

use bowline::{
    proto::http::resume::EventBufferLimits,
    server::{Conversation, Tool, http::HttpOptions},
};
use serde_json::json;

use super::{
    rig::{Node, Session, text_of},
    tools::{workshop, workshop_with},
};

#[tokio::test(start_paused = true)]
async fn a_stream_begins_with_a_place_to_come_back_to_where_clients_know_that() {
    for (version, primed) in [("2025-11-25", true), ("2025-06-18", false)] {
        let mut it = workshop();
        let node = Node::new(&it.service);
        let session = Session::open(&node, version).await;
        let mut posted = session.call(1, "tell_and_wait").await;
        it.started().await;
        let mut got = session.get().await;
        it.service.tools_changed();
        for stream in [&mut posted, &mut got] {
            assert!(stream.is_stream());
            let mut event = stream.event().await.unwrap();
            if primed {
                assert!(event.id.is_some() && event.data.is_empty());
                assert_eq!(event.retry, Some(Duration::from_secs(1)));
                event = stream.event().await.unwrap();
            }
            assert!(event.id.is_some() && event.message().is_some(), "{version}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_a_call_comes_on_its_stream_and_all_else_on_the_servers_own() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut own = session.get().await;
    let mut call = session.call(1, "tell_and_wait").await;
    it.started().await;
    it.service.tools_changed();
    it.open();
    let told = call.message().await.unwrap();
    assert_eq!(told["method"], "notifications/progress");
    assert_eq!(text_of(&call.message().await.unwrap()), "waited");
    assert_eq!(call.event().await, None);
    let changed = own.message().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_listened_to_is_held_for_who_comes() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-06-18").await;
    for _ in 0..10_000 {
        it.service.tools_changed();
    }
    let mut own = session.get().await;
    let changed = own.message().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    // One that went away, and comes back without saying where it was.
    drop(own);
    it.service.tools_changed();
    let mut own = session.get().await;
    let changed = own.message().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    let idle = tokio::time::timeout(Duration::from_secs(1), own.message()).await;
    assert!(idle.is_err(), "each once");
}

#[tokio::test(start_paused = true)]
async fn a_second_stream_of_the_servers_own_takes_over() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut first = session.get().await;
    let mut second = session.get().await;
    it.service.tools_changed();
    assert_eq!(first.message().await, None);
    assert!(second.message().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_calls_stream_is_resumed_where_it_broke() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut own = session.get().await;
    let mut call = session.call(1, "tell_and_wait").await;
    it.started().await;
    let primed = call.event().await.unwrap().id.unwrap();
    let told = call.event().await.unwrap().id.unwrap();
    drop(call);
    it.service.tools_changed();
    it.open();
    it.dropped().await;
    assert!(own.message().await.is_some());
    // From its beginning, and from the middle; as often as it takes.
    for _ in 0..2 {
        let again = session.resume(&primed).await.messages().await;
        assert_eq!(again.len(), 2, "its own messages and no others");
        assert_eq!(again[0]["method"], "notifications/progress");
        assert_eq!(text_of(&again[1]), "waited");
        let again = session.resume(&told).await.messages().await;
        assert_eq!(again.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_on_is_followed_by_who_resumes_it_last() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "tell_and_wait").await;
    it.started().await;
    let primed = call.event().await.unwrap().id.unwrap();
    let mut second = session.resume(&primed).await;
    assert!(second.message().await.is_some());
    let mut third = session.resume(&primed).await;
    assert!(third.message().await.is_some());
    it.open();
    assert_eq!(text_of(&third.message().await.unwrap()), "waited");
    assert_eq!(third.event().await, None);
    assert_eq!(second.message().await, None);
}

#[tokio::test(start_paused = true)]
async fn the_servers_own_stream_is_resumed_too() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut own = session.get().await;
    let primed = own.event().await.unwrap().id.unwrap();
    drop(own);
    it.service.tools_changed();
    let mut own = session.resume(&primed).await;
    assert!(own.message().await.is_some(), "what was missed");
    it.service.tools_changed();
    assert!(own.message().await.is_some(), "and what comes");
    drop(own);
    let mut fresh = session.get().await;
    let idle = tokio::time::timeout(Duration::from_secs(1), fresh.message()).await;
    assert!(idle.is_err(), "nothing is told twice");
}

#[tokio::test(start_paused = true)]
async fn a_server_may_close_a_connection_and_have_the_client_come_back() {
    for tool in ["release_and_wait", "tell_release_and_wait"] {
        let mut it = workshop();
        let node = Node::new(&it.service);
        let session = Session::open(&node, "2025-11-25").await;
        let mut call = session.call(1, tool).await;
        it.started().await;
        let primed = call.event().await.unwrap();
        assert!(primed.data.is_empty() && primed.retry.is_some());
        while call.event().await.is_some() {}
        it.open();
        let rest = session.resume(&primed.id.unwrap()).await.messages().await;
        assert_eq!(text_of(rest.last().unwrap()), "waited", "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn but_not_where_clients_do_not_know_that() {
    for version in ["2025-06-18", "2025-03-26"] {
        let mut it = workshop();
        let node = Node::new(&it.service);
        let session = Session::open(&node, version).await;
        let mut call = session.call(1, "release_and_wait").await;
        it.started().await;
        it.open();
        assert_eq!(text_of(&call.message().await.unwrap()), "waited");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_at_once_is_not_kept() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    for id in 0..100 {
        let params = json!({"name": "large", "arguments": {"size": 10_000}});
        session.ask(id, "tools/call", params).await;
    }
    assert_eq!(node.http.replay_bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn who_left_before_a_stream_began_leaves_nothing_behind() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let leaving = tokio::spawn({
        let session = session.clone();
        async move { session.call(1, "wait").await }
    });
    it.started().await;
    leaving.abort();
    assert!(leaving.await.is_err());
    it.open();
    it.dropped().await;
    assert_eq!(node.http.replay_bytes(), 0);
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn places_of_others_and_of_nobody_are_refused() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let other = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "tell_and_wait").await;
    it.started().await;
    let id = call.event().await.unwrap().id.unwrap();
    it.open();
    assert_eq!(
        other.resume(&id).await.status(),
        400,
        "another session's event"
    );
    let (stream, _) = id.rsplit_once('-').unwrap();
    for wrong in [
        "",
        "1",
        "x-y-z",
        "1-1-1",
        &format!("{stream}-ffff"),
        &format!("{id}\t1"),
    ] {
        assert_eq!(session.resume(wrong).await.status(), 400, "{wrong:?}");
    }
    assert_eq!(session.resume(&id).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_longer_kept_is_said_to_be_gone() {
    let it = workshop();
    let replay_limits = EventBufferLimits {
        max_events: 3,
        ..EventBufferLimits::default()
    };
    let options = HttpOptions {
        replay_limits,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let session = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "chatty").await;
    let mut ids = Vec::new();
    while let Some(event) = call.event().await {
        ids.push(event.id.unwrap());
    }
    assert_eq!(ids.len(), 6, "the place, five messages");
    let gone = session.resume(&ids[0]).await;
    assert_eq!(gone.status(), 400);
    let message = gone.error().await["message"].to_string();
    assert!(message.contains("no longer kept"), "{message}");
    assert_eq!(session.resume(&ids[2]).await.messages().await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn all_sessions_together_keep_no_more_than_they_may() {
    let mut it = workshop();
    let options = HttpOptions {
        max_replay_bytes: 1000,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let mut sessions = Vec::new();
    for _ in 0..20 {
        let session = Session::open(&node, "2025-11-25").await;
        let mut call = session.call(1, "tell_and_wait").await;
        it.started().await;
        let primed = call.event().await.unwrap().id.unwrap();
        it.open();
        while call.event().await.is_some() {}
        it.dropped().await;
        sessions.push((session, primed));
    }
    assert!(node.http.replay_bytes() <= 1000);
    let (first, primed) = &sessions[0];
    assert_eq!(first.resume(primed).await.status(), 200);
    let (last, primed) = &sessions[19];
    assert_eq!(last.resume(primed).await.status(), 400, "there was no room");
    for (session, _) in &sessions {
        session.delete().await;
    }
    drop(sessions);
    tokio::task::yield_now().await;
    assert_eq!(node.http.replay_bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_costs_little() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let call = session.call(1, "flood").await;
    let messages = call.messages().await;
    let told = messages.len() - 1;
    assert!((900..1_100).contains(&told), "the rest is dropped: {told}");
    assert!(messages[told]["result"].is_object(), "but not the answer");
}

#[tokio::test(start_paused = true)]
async fn changes_are_not_lost_on_a_client_that_does_not_read() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let own = session.get().await;
    // More than may wait: a mebibyte is about 16,000 of these.
    for _ in 0..40_000 {
        it.service.tools_changed();
    }
    let messages = own.messages().await;
    assert!(messages.len() < 30_000, "the stream ended");
    let mut again = session.get().await;
    assert!(
        again.message().await.is_some(),
        "and the rest is told once more"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_is_not_lost_on_a_client_that_does_not_read() {
    let flood = Tool::new("flood_and_ask")
        .description("Says very much, and then asks")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let words = "x".repeat(1024);
            for step in 0..2_000 {
                cx.progress_with_message(f64::from(step), None, &words);
            }
            cx.confirm("Sure?").await?;
            Ok("sure")
        });
    let it = workshop_with(|server| server.tool(flood));
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "flood_and_ask").await;
    let question = loop {
        let message = call.message().await.expect("a question");
        if message["method"] != "notifications/progress" {
            break message;
        }
    };
    assert_eq!(question["method"], "elicitation/create");
}

#[tokio::test(start_paused = true)]
async fn streams_that_ended_make_room_for_those_that_have_not() {
    let mut it = workshop();
    let options = HttpOptions {
        max_replay_bytes: 1000,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let session = Session::open(&node, "2025-11-25").await;
    let mut last = Box::<str>::default();
    for id in 0..20 {
        let mut call = session.call(id, "tell_and_wait").await;
        it.started().await;
        last = call.event().await.unwrap().id.unwrap();
        it.open();
        while call.event().await.is_some() {}
        it.dropped().await;
    }
    assert!(node.http.replay_bytes() <= 1000);
    let again = session.resume(&last).await;
    assert_eq!(again.status(), 200, "the oldest make room, not the newest");
    assert_eq!(again.messages().await.len(), 2);
}
