//! Used proofs and revoked tokens that nodes share.

use std::{sync::Arc, time::Duration};

use bowline::{
    jose::SigningKey,
    server::{
        Server,
        auth::{
            MemoryRevokedTokenStore, MemoryUsedProofStore, ProofOutcome, ProtectionBuilder,
            RevokedTokenStore, RevokedTokens, UsedProof, UsedProofStore,
        },
        http::HttpOptions,
        store::{MemoryJournalStore, MemorySealedStateStore, MemoryTaskStore, StoreError, Stores},
    },
    transport::BoxFuture,
};
use serde_json::json;

use super::rig::{Issuer, Node, RESOURCE, base64url, now, protected, stateless};

const HOUR: Duration = Duration::from_secs(3600);

/// A token that is bound to a key, and a request with a proof of it.
struct Bound {
    issuer: Issuer,
    token: String,
    proof: String,
}

impl Bound {
    fn new() -> Self {
        let issuer = Issuer::new("k");
        let key = SigningKey::generate().expect("random numbers");
        let thumbprint = key.public_key().thumbprint();
        let token = issuer.token_with(|claims| claims["cnf"] = json!({"jkt": thumbprint}));
        let ath = ring::digest::digest(&ring::digest::SHA256, token.as_bytes());
        let claims = json!({
            "jti": "first", "htm": "POST", "htu": RESOURCE, "iat": now(),
            "ath": base64url(ath.as_ref()),
        });
        let proof = key.sign_embedding_key("dpop+jwt", &claims);
        let proof = proof.expect("a proof");
        Self {
            issuer,
            token,
            proof,
        }
    }

    fn protection(&self) -> ProtectionBuilder {
        protected().verifier(self.issuer.verifier()).dpop()
    }

    /// Sends the request, and returns the status of the response.
    async fn send(&self, node: &Node) -> u16 {
        let (request, body) = stateless("tools/call", json!({"name": "whoami", "arguments": {}}));
        let node = node.authorized(&format!("DPoP {}", self.token));
        let request = request.header("dpop", &*self.proof);
        node.send(request, &body).await.status()
    }
}

#[tokio::test]
async fn a_proof_is_good_for_one_of_the_nodes_that_share_a_store() {
    let bound = Bound::new();
    let store = Arc::new(MemoryUsedProofStore::new());
    let node = || Node::new(bound.protection().used_proof_store(Arc::clone(&store)));
    assert_eq!(bound.send(&node()).await, 200);
    assert_eq!(
        bound.send(&node()).await,
        401,
        "it was used at another node"
    );
    let alone = Node::new(bound.protection());
    assert_eq!(bound.send(&alone).await, 200, "this one shares nothing");
}

struct Broken;

impl UsedProofStore for Broken {
    fn insert<'a>(&'a self, _: UsedProof<'a>) -> BoxFuture<'a, Result<ProofOutcome, StoreError>> {
        Box::pin(async { Err(StoreError::new("broken")) })
    }
}

impl RevokedTokenStore for Broken {
    fn revoke<'a>(&'a self, _: &'a str, _: Duration) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async { Err(StoreError::new("broken")) })
    }

    fn revoked_after(&self, _: u64) -> BoxFuture<'_, Result<RevokedTokens, StoreError>> {
        Box::pin(async { Err(StoreError::new("broken")) })
    }
}

#[tokio::test]
async fn a_store_that_fails_lets_nobody_in() {
    let bound = Bound::new();
    let node = Node::new(bound.protection().used_proof_store(Broken));
    assert_eq!(bound.send(&node).await, 503);
    let issuer = Issuer::new("k");
    let protection = protected().verifier(issuer.verifier());
    let node = Node::new(protection.revoked_token_store(Broken));
    let node = node.bearing(&issuer.token("ada"));
    assert_eq!(node.call("whoami").await.status(), 503);
}

#[tokio::test(start_paused = true)]
async fn a_revoked_token_is_rejected_by_all_nodes() {
    let issuer = Issuer::new("k");
    let store = Arc::new(MemoryRevokedTokenStore::new());
    let protection = || {
        let protection = protected().verifier(issuer.verifier());
        protection.revoked_token_store(Arc::clone(&store)).build()
    };
    let protections = [(); 2].map(|()| protection().expect("a protection"));
    let nodes = protections.clone().map(|protection| {
        Node::with(HttpOptions {
            protection: Some(protection),
            ..HttpOptions::default()
        })
    });
    let (stolen, other) = (issuer.token("ada"), issuer.token("bob"));
    for node in &nodes {
        assert_eq!(node.bearing(&stolen).call("whoami").await.status(), 200);
    }
    protections[0]
        .revoke(&stolen, HOUR)
        .await
        .expect("there is room");
    nodes[0]
        .bearing(&stolen)
        .refuses("invalid_token", "was revoked")
        .await;
    tokio::time::advance(Duration::from_secs(3)).await;
    nodes[1]
        .bearing(&stolen)
        .refuses("invalid_token", "was revoked")
        .await;
    assert_eq!(nodes[1].bearing(&other).call("whoami").await.status(), 200);
}

/// The stores of a server apply to its protection, too.
#[tokio::test(start_paused = true)]
async fn the_stores_of_a_server_are_those_of_its_protection() {
    let bound = Bound::new();
    let mut stores = Stores::new(
        Arc::new(MemoryJournalStore::new()),
        Arc::new(MemorySealedStateStore::new()),
        Arc::new(MemoryTaskStore::new()),
    );
    stores.used_proofs = Some(Arc::new(MemoryUsedProofStore::new()));
    stores.revoked_tokens = Some(Arc::new(MemoryRevokedTokenStore::new()));
    let protection = || bound.protection().build().expect("a protection");
    let protections = [protection(), protection()];
    let nodes = protections.clone().map(|protection| {
        let server = Server::new("vault", "1").stores(stores.clone());
        let service = server.build().expect("a server");
        let options = HttpOptions {
            protection: Some(protection),
            ..HttpOptions::default()
        };
        let mut node = Node::with(HttpOptions::default());
        node.http = service.http(options);
        node
    });
    // It has no tools, so the call fails, but the token was accepted.
    assert_ne!(bound.send(&nodes[0]).await, 401);
    assert_eq!(bound.send(&nodes[1]).await, 401, "the proof was used");
    let other = bound.issuer.token("bob");
    assert_ne!(nodes[1].bearing(&other).call("x").await.status(), 401);
    protections[1]
        .revoke(&other, HOUR)
        .await
        .expect("there is room");
    assert_eq!(nodes[1].bearing(&other).call("x").await.status(), 401);
    tokio::time::advance(Duration::from_secs(3)).await;
    assert_eq!(nodes[0].bearing(&other).call("x").await.status(), 401);
}
