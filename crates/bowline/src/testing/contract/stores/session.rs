//! The contract of session stores.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;

use super::{
    LONG_TTL, Nodes, WRITERS,
    expiry::{Expiring, values_expire},
    repeat, succeed, unique_id,
};
use crate::{
    proto::http::SessionId,
    server::http::{SessionStore, StoredSession},
};

/// Checks that a [`SessionStore`] does what servers over HTTP rely on.
///
/// 1. Every node gets the record that one has put, at once and whole: its
///    principal, its messages in their order, and its node.
/// 2. The last put counts. Puts at the same time leave one of their records.
/// 3. A record that was removed is not returned; no other record goes with it.
/// 4. A record is kept for its `ttl`, counted from the last put, and is not
///    returned afterwards.
///
/// `connect` returns one node's connection to the store. It is called more than
/// once, and every connection must reach the same data; see the
/// [module](crate::testing::contract).
///
/// ```no_run
/// # use bowline::server::http::SessionStore;
/// use std::sync::Arc;
///
/// use bowline::testing::contract;
///
/// # async fn example<MyStore: SessionStore>(connect: impl AsyncFn(&str) -> MyStore) {
/// contract::session_store(async || Arc::new(connect("db.example.com").await)).await;
/// # }
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn session_store<S: SessionStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let sessions = Sessions(Nodes::connect(connect).await);
    sessions.are_kept_whole().await;
    sessions.are_replaced_by_the_last_put().await;
    sessions.are_removed_alone().await;
    sessions.are_not_lost_in_races().await;
    values_expire(sessions).await;
}

struct Sessions<S: ?Sized>(Nodes<S>);

pub(super) fn session_id(id: &str) -> SessionId {
    SessionId::new(id).expect("hexadecimal digits are visible ASCII")
}

fn session_of(principal: Option<&str>, node: &str) -> StoredSession {
    StoredSession {
        principal: principal.map(str::to_owned),
        messages: vec![r#"{"method":"initialize"}"#.to_owned()],
        node: node.to_owned(),
    }
}

impl<S: SessionStore + ?Sized> Sessions<S> {
    async fn put(&self, id: &SessionId, session: StoredSession) {
        succeed("put", self.0.first().put(id, session, LONG_TTL)).await;
    }

    /// Gets it at the other node.
    async fn get(&self, id: &SessionId) -> Option<StoredSession> {
        succeed("get", self.0.second().get(id)).await
    }

    async fn are_kept_whole(&self) {
        let (plain, own) = (session_id(&unique_id()), session_id(&unique_id()));
        assert_eq!(
            self.get(&plain).await,
            None,
            "`get` returned a session that nobody put"
        );
        let mut session = session_of(Some("https://issuer.example/ ada|grüße"), "node 1");
        for text in ["z", "a", "", "\u{2028} \\ \" \0", &"long".repeat(25_000)] {
            session.messages.push(text.to_owned());
        }
        self.put(&own, session.clone()).await;
        self.put(&plain, session_of(None, "")).await;
        let got = self.get(&own).await;
        let got = got.expect("a session that was put at one node is missing at another");
        assert_eq!(
            got.principal, session.principal,
            "a session lost its principal; anyone could restore it"
        );
        assert!(
            got.messages == session.messages,
            "the messages of a session were altered or reordered"
        );
        assert_eq!(
            got.node, session.node,
            "a session lost the node that stored it"
        );
        assert_eq!(
            self.get(&plain).await,
            Some(session_of(None, "")),
            "a session without a principal was altered, or another caller's was returned"
        );
    }

    async fn are_replaced_by_the_last_put(&self) {
        let id = session_id(&unique_id());
        self.put(&id, session_of(Some("ada"), "node 1")).await;
        self.put(&id, session_of(Some("ada"), "node 2")).await;
        let kept = self.get(&id).await.map(|session| session.node);
        assert_eq!(
            kept.as_deref(),
            Some("node 2"),
            "`get` did not return the session that was put last"
        );
    }

    async fn are_removed_alone(&self) {
        let [removed, other] = [(); 2].map(|()| session_id(&unique_id()));
        // It is not there: nothing happens.
        succeed("remove", self.0.first().remove(&removed)).await;
        self.put(&removed, session_of(Some("ada"), "")).await;
        self.put(&other, session_of(Some("bob"), "")).await;
        succeed("remove", self.0.first().remove(&removed)).await;
        assert_eq!(
            self.get(&removed).await,
            None,
            "a session that was removed was returned"
        );
        assert_eq!(
            self.get(&other).await,
            Some(session_of(Some("bob"), "")),
            "a session was lost when another one was removed"
        );
    }

    /// Nodes put their own sessions and one that they share.
    async fn are_not_lost_in_races(&self) {
        repeat(async |_| {
            let shared = session_id(&unique_id());
            let mut writers = JoinSet::new();
            for number in 0..WRITERS {
                let (store, shared) = (self.0.of_writer(number), shared.clone());
                let id = session_id(&unique_id());
                writers.spawn(async move {
                    let session = session_of(None, &number.to_string());
                    for id in [&id, &shared] {
                        succeed("put", store.put(id, session.clone(), LONG_TTL)).await;
                    }
                    (id, session)
                });
            }
            let put = writers.join_all().await;
            for (id, session) in &put {
                assert_eq!(
                    self.get(id).await.as_ref(),
                    Some(session),
                    "a session was lost while others were put at the same time"
                );
            }
            let kept = self.get(&shared).await;
            assert!(
                put.iter()
                    .any(|(_, session)| kept.as_ref() == Some(session)),
                "after puts of one session at the same time, the record is none of those put"
            );
        })
        .await;
    }
}

impl<S: SessionStore + ?Sized> Expiring for Sessions<S> {
    const NAME: &'static str = "a session";

    async fn put(&self, id: &str, value: &'static str, ttl: Duration) {
        let (id, session) = (session_id(id), session_of(None, value));
        succeed("put", self.0.first().put(&id, session, ttl)).await;
    }

    async fn get(&self, id: &str) -> Option<String> {
        Some(Self::get(self, &session_id(id)).await?.node)
    }
}
