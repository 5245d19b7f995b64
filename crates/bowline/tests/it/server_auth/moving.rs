//! Sessions that another node takes up: what their callers may watch there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    proto::http::SessionId,
    server::{
        http::{HttpOptions, SessionStore, StoredSession},
        store::StoreError,
    },
    transport::BoxFuture,
};
use serde_json::json;

use super::rig::{Issuer, Node, Session, protected};

/// What several nodes share.
#[derive(Default)]
struct Kept(Mutex<HashMap<SessionId, StoredSession>>);

impl SessionStore for Kept {
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        _: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let mut kept = self.0.lock().expect("no panic");
        kept.insert(id.clone(), session);
        Box::pin(async { Ok(true) })
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        let found = self.0.lock().expect("no panic").get(id).cloned();
        Box::pin(async { Ok(found) })
    }

    fn take_over<'a>(
        &'a self,
        _: &'a SessionId,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Ok(true) })
    }

    fn remove<'a>(
        &'a self,
        id: &'a SessionId,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.lock().expect("no panic").remove(id);
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn what_takes_scopes_is_still_watched_where_a_session_is_taken_up() {
    let issuer = Issuer::new("k");
    let rich = issuer.token_with(|it| it["scope"] = "mcp:use files:read".into());
    let poor = issuer.token("ada");
    let kept: Arc<Kept> = Arc::default();
    let node = || {
        let protection = protected().verifier(issuer.verifier()).build();
        Node::with(HttpOptions {
            protection: Some(protection.expect("a protection")),
            session_store: Some(Arc::clone(&kept) as Arc<dyn SessionStore>),
            ..HttpOptions::default()
        })
    };
    let session = Session::open(&node().bearing(&rich), "2025-11-25").await;
    for (id, uri) in [(1, "vault:///plan"), (2, "vault:///open")] {
        let params = json!({"uri": uri});
        let watch =
            json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": params});
        let answer = session.post(&watch).await.json().await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    // What counts is the token of whoever comes there.
    for (token, watched) in [
        (&rich, &["vault:///open", "vault:///plan"][..]),
        (&poor, &["vault:///open"]),
    ] {
        let other = node();
        let answer = session.at(&other.bearing(token)).post(&ping).await;
        assert_eq!(answer.status(), 200);
        tokio::task::yield_now().await;
        let all: Vec<_> = other.service.subscribed_resources().into_iter().collect();
        assert_eq!(all, watched);
    }
}
