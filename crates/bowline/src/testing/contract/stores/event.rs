//! The contract of event stores.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    LONG_TTL, Nodes, WRITERS,
    expiry::{Timing, with_short_ttl},
    session::session_id,
    succeed, unique_id,
};
use crate::{
    proto::http::SessionId,
    server::http::{EventStore, StoredEvent},
};

/// Checks that an [`EventStore`] does what servers over HTTP rely on.
///
/// 1. Every node gets the events that one has appended, at once and whole, in
///    the order of their sequence numbers, and only those after the one asked
///    for.
/// 2. Streams of one session, and sessions, are separate, also if events of
///    several streams are appended at the same time.
/// 3. Removing a session removes the events of all its streams, and no others.
/// 4. An event is kept for its `ttl` at least.
///
/// `connect` returns one node's connection to the store. It is called more than
/// once, and every connection must reach the same data; see the
/// [module](crate::testing::contract).
///
/// ```no_run
/// # use bowline::server::http::EventStore;
/// use std::sync::Arc;
///
/// use bowline::testing::contract;
///
/// # async fn example<MyStore: EventStore>(connect: impl AsyncFn(&str) -> MyStore) {
/// contract::event_store(async || Arc::new(connect("db.example.com").await)).await;
/// # }
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn event_store<S: EventStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let events = Events(Nodes::connect(connect).await);
    events.are_returned_in_order().await;
    events.are_kept_whole().await;
    events.are_separate().await;
    events.are_removed_with_their_session().await;
    events.are_not_lost_in_races().await;
    with_short_ttl(async |ttl| events.are_kept_for_their_ttl(ttl).await).await;
}

struct Events<S: ?Sized>(Nodes<S>);

fn event(stream: &str, sequence: u64) -> StoredEvent {
    StoredEvent {
        stream: stream.to_owned(),
        sequence,
        is_standalone: false,
        message: Bytes::from(format!(r#"{{"stream":"{stream}","n":{sequence}}}"#)),
    }
}

impl<S: EventStore + ?Sized> Events<S> {
    async fn append(&self, session: &SessionId, event: StoredEvent) {
        let appending = self.0.first().append(session, event, LONG_TTL);
        succeed("append", appending).await;
    }

    /// Gets the events at the other node.
    async fn after(&self, session: &SessionId, stream: &str, sequence: u64) -> Vec<StoredEvent> {
        let reading = self.0.second().events_after(session, stream, sequence);
        succeed("events_after", reading).await
    }

    async fn are_returned_in_order(&self) {
        let session = session_id(&unique_id());
        assert!(
            self.after(&session, "a", 0).await.is_empty(),
            "`events_after` returned events of a stream that does not exist"
        );
        // More than nine, so their order is that of numbers, not of digits.
        let all: Vec<_> = (1..=12).map(|sequence| event("a", sequence)).collect();
        for event in &all {
            self.append(&session, event.clone()).await;
        }
        for (known, expected) in [(0, &all[..]), (1, &all[1..]), (11, &all[11..]), (12, &[])] {
            assert_eq!(
                self.after(&session, "a", known).await,
                expected,
                "`events_after({known})` did not return the events after that one, in order"
            );
        }
    }

    async fn are_kept_whole(&self) {
        let session = session_id(&unique_id());
        let messages = [
            Bytes::new(),
            "grüße \u{2028} \\ \" \0 \n".into(),
            Bytes::from(vec![b'x'; 100_000]),
        ];
        let all = (1..).zip(messages).map(|(sequence, message)| StoredEvent {
            is_standalone: true,
            message,
            ..event("own", sequence)
        });
        let all: Vec<_> = all.collect();
        for event in &all {
            self.append(&session, event.clone()).await;
        }
        let kept = self.after(&session, "own", 0).await;
        assert_eq!(
            kept.len(),
            all.len(),
            "an event that was appended at one node is missing at another"
        );
        assert!(
            kept.iter().all(|event| event.is_standalone),
            "an event of the standalone stream is no longer marked as such"
        );
        assert!(kept == all, "the message of an event was altered");
    }

    async fn are_separate(&self) {
        let (first, second) = (session_id(&unique_id()), session_id(&unique_id()));
        let all = [(&first, "a"), (&first, "ab"), (&second, "a")];
        for (number, (session, stream)) in (1..).zip(all) {
            self.append(session, event(stream, number)).await;
        }
        for (number, (session, stream)) in (1..).zip(all) {
            assert_eq!(
                self.after(session, stream, 0).await,
                [event(stream, number)],
                "`events_after` returned events of another stream or session"
            );
        }
    }

    async fn are_removed_with_their_session(&self) {
        let (removed, other) = (session_id(&unique_id()), session_id(&unique_id()));
        // It is not there: nothing happens.
        succeed("remove", self.0.first().remove(&removed)).await;
        for (session, stream) in [(&removed, "a"), (&removed, "b"), (&other, "a")] {
            self.append(session, event(stream, 1)).await;
        }
        succeed("remove", self.0.first().remove(&removed)).await;
        for stream in ["a", "b"] {
            assert!(
                self.after(&removed, stream, 0).await.is_empty(),
                "events of a session that was removed were returned"
            );
        }
        assert_eq!(
            self.after(&other, "a", 0).await,
            [event("a", 1)],
            "events were lost when another session was removed"
        );
    }

    /// Writers append to streams of one session, each to its own.
    async fn are_not_lost_in_races(&self) {
        const EVENTS: u64 = 16;
        let session = session_id(&unique_id());
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let (store, session) = (self.0.of_writer(number), session.clone());
            writers.spawn(async move {
                let stream = number.to_string();
                for sequence in 1..=EVENTS {
                    let appending = store.append(&session, event(&stream, sequence), LONG_TTL);
                    succeed("append", appending).await;
                }
                stream
            });
        }
        for stream in writers.join_all().await {
            let expected: Vec<_> = (1..=EVENTS).map(|number| event(&stream, number)).collect();
            assert_eq!(
                self.after(&session, &stream, 0).await,
                expected,
                "events were lost while others were appended at the same time"
            );
        }
    }

    async fn are_kept_for_their_ttl(&self, ttl: Duration) -> Timing {
        let session = session_id(&unique_id());
        let appended = Instant::now();
        let appending = self.0.first().append(&session, event("a", 1), ttl);
        succeed("append", appending).await;
        sleep_until(appended + ttl * 3 / 4).await;
        let kept = self.after(&session, "a", 0).await;
        if Instant::now() >= appended + ttl {
            return Timing::TooSlow;
        }
        assert_eq!(
            kept,
            [event("a", 1)],
            "an event was dropped before its ttl had passed"
        );
        Timing::Conclusive
    }
}
