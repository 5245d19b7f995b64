//! The contract of session stores.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
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
///    value, its node and its account.
/// 2. The last put of the session's node counts; that of another node changes
///    nothing. Puts of a new session at the same time leave one of their records,
///    and one of them is told that it was stored.
/// 3. A session that is taken over belongs to its new node, with its value. Of
///    nodes that take it over from the same node at the same time, one succeeds.
/// 4. A record that its node removed is not returned; no other record goes with
///    it. Other nodes cannot remove it.
/// 5. A record is kept for its `ttl`, counted from the last put, and is not
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
    sessions.belong_to_one_node().await;
    sessions.are_taken_over_once().await;
    sessions.are_removed_alone().await;
    sessions.are_not_lost_in_races().await;
    values_expire(sessions).await;
}

struct Sessions<S: ?Sized>(Nodes<S>);

pub(super) fn session_id(id: &str) -> SessionId {
    SessionId::new(id).expect("hexadecimal digits are visible ASCII")
}

fn session_of(node: &str, value: &'static str) -> StoredSession {
    StoredSession {
        node: node.to_owned(),
        account: String::new(),
        value: Bytes::from_static(value.as_bytes()),
    }
}

impl<S: SessionStore + ?Sized> Sessions<S> {
    /// Puts it at the first node. Returns whether it was stored.
    async fn put(&self, id: &SessionId, session: StoredSession) -> bool {
        succeed("put", self.0.first().put(id, session, LONG_TTL)).await
    }

    /// Gets it at the other node.
    async fn get(&self, id: &SessionId) -> Option<StoredSession> {
        succeed("get", self.0.second().get(id)).await
    }

    async fn take_over(&self, id: &SessionId, from: &str, to: &str) -> bool {
        succeed("take_over", self.0.second().take_over(id, from, to)).await
    }

    async fn are_kept_whole(&self) {
        let (id, empty) = (session_id(&unique_id()), session_id(&unique_id()));
        assert_eq!(
            self.get(&id).await,
            None,
            "`get` returned a session that nobody put"
        );
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let session = StoredSession {
            node: "node 1".to_owned(),
            account: "0123456789abcdef0123456789abcdef".to_owned(),
            value: bytes.into(),
        };
        assert!(
            self.put(&id, session.clone()).await,
            "`put` did not store a new session"
        );
        self.put(&empty, session_of("node 2", "")).await;
        let got = self.get(&id).await;
        let got = got.expect("a session that was put at one node is missing at another");
        assert!(
            got.value == session.value,
            "the value of a session was altered"
        );
        assert_eq!(got.node, session.node, "a session lost its node");
        assert_eq!(got.account, session.account, "a session lost its account");
        assert_eq!(
            self.get(&empty).await,
            Some(session_of("node 2", "")),
            "a session was altered, or another one was returned"
        );
    }

    async fn belong_to_one_node(&self) {
        let id = session_id(&unique_id());
        self.put(&id, session_of("node 1", "old")).await;
        assert!(
            self.put(&id, session_of("node 1", "new")).await,
            "`put` did not replace a session of the same node"
        );
        assert_eq!(
            self.get(&id).await,
            Some(session_of("node 1", "new")),
            "`get` did not return the session that was put last"
        );
        let stored = self.put(&id, session_of("node 2", "other")).await;
        assert_eq!(
            (stored, self.get(&id).await),
            (false, Some(session_of("node 1", "new"))),
            "`put` replaced a session of another node"
        );
    }

    async fn are_taken_over_once(&self) {
        let id = session_id(&unique_id());
        assert!(
            !self.take_over(&id, "node 1", "node 2").await,
            "`take_over` returned true for a session that does not exist"
        );
        self.put(&id, session_of("node 1", "value")).await;
        assert!(
            !self.take_over(&id, "node 3", "node 2").await,
            "a session was taken over from a node that it did not belong to"
        );
        assert!(
            self.take_over(&id, "node 1", "node 1").await,
            "a node could not take over its own session"
        );
        assert!(
            self.take_over(&id, "node 1", "node 2").await,
            "a session was not taken over"
        );
        assert_eq!(
            self.get(&id).await,
            Some(session_of("node 2", "value")),
            "after it was taken over, a session has another value, or the old node"
        );
        assert!(
            !self.put(&id, session_of("node 1", "late")).await,
            "a node stored a session that was taken over from it"
        );
        repeat(async |_| {
            let id = session_id(&unique_id());
            self.put(&id, session_of("old", "value")).await;
            let mut nodes = JoinSet::new();
            for number in 0..WRITERS {
                let (store, id) = (self.0.of_writer(number), id.clone());
                nodes.spawn(async move {
                    let to = number.to_string();
                    let taken = succeed("take_over", store.take_over(&id, "old", &to)).await;
                    taken.then_some(to)
                });
            }
            let taken = nodes.join_all().await;
            let winners: Vec<&String> = taken.iter().flatten().collect();
            let kept = self.get(&id).await.map(|session| session.node);
            assert!(
                winners.len() == 1 && kept.as_ref() == winners.first().copied(),
                "after several nodes took over a session at the same time, not one of them has it"
            );
        })
        .await;
    }

    async fn are_removed_alone(&self) {
        let [removed, other] = [(); 2].map(|()| session_id(&unique_id()));
        // It is not there: nothing happens.
        succeed("remove", self.0.first().remove(&removed, "node 1")).await;
        self.put(&removed, session_of("node 1", "")).await;
        self.put(&other, session_of("node 1", "other")).await;
        succeed("remove", self.0.second().remove(&removed, "node 2")).await;
        assert_eq!(
            self.get(&removed).await,
            Some(session_of("node 1", "")),
            "a session was removed by a node that it did not belong to"
        );
        succeed("remove", self.0.first().remove(&removed, "node 1")).await;
        assert_eq!(
            self.get(&removed).await,
            None,
            "a session that was removed was returned"
        );
        assert_eq!(
            self.get(&other).await,
            Some(session_of("node 1", "other")),
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
                    let session = session_of(&number.to_string(), "value");
                    let put = async |id| succeed("put", store.put(id, session.clone(), LONG_TTL)).await;
                    put(&id).await;
                    let is_first = put(&shared).await;
                    (id, session, is_first)
                });
            }
            let put = writers.join_all().await;
            for (id, session, _) in &put {
                assert_eq!(
                    self.get(id).await.as_ref(),
                    Some(session),
                    "a session was lost while others were put at the same time"
                );
            }
            let kept = self.get(&shared).await;
            let mut stored = put.iter().filter(|(_, _, is_first)| *is_first);
            let is_first = stored.next().map(|(_, session, _)| session.clone());
            assert!(
                kept.is_some() && kept == is_first && stored.next().is_none(),
                "after puts of one session at the same time, the record is not that of the one node                  that was told so"
            );
        })
        .await;
    }
}

impl<S: SessionStore + ?Sized> Expiring for Sessions<S> {
    const NAME: &'static str = "a session";

    async fn put(&self, id: &str, value: &'static str, ttl: Duration) {
        let (id, session) = (session_id(id), session_of("node", value));
        succeed("put", self.0.first().put(&id, session, ttl)).await;
    }

    async fn get(&self, id: &str) -> Option<String> {
        let session = Self::get(self, &session_id(id)).await?;
        Some(String::from_utf8_lossy(&session.value).into_owned())
    }
}
