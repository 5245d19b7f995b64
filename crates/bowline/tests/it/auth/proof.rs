//! Tokens that are bound to a key.

use std::sync::{Arc, Mutex};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bowline::auth::{MemoryStore, OAuth};
use serde_json::{Value, json};

use super::call;
use crate::{
    http_client::rig::{Hit, Reply, Rig, builder, stateless_reply, within},
    sync::lock,
};

/// The header and the claims of the proof that came with a request.
fn proof(hit: &Hit) -> (Value, Value) {
    let proof = hit.header("dpop").expect("a proof");
    let mut parts = proof.split('.').map(|part| {
        let part = URL_SAFE_NO_PAD.decode(part).unwrap_or_default();
        serde_json::from_slice(&part).unwrap_or(Value::Null)
    });
    let mut part = || parts.next().unwrap_or(Value::Null);
    (part(), part())
}

/// A server that guards itself and gives a token to whoever asks, if it comes
/// with the nonce of the day.
async fn bank(nonce: Arc<Mutex<String>>) -> Rig {
    Rig::start(move |hit| {
        let host = hit.header("host").unwrap_or_default();
        let nonce = lock(&nonce).clone();
        let fresh = || proof(hit).1["nonce"] == *nonce;
        match (&*hit.verb, &*hit.path) {
            ("POST", "/token") if !fresh() => {
                let error = json!({"error": "use_dpop_nonce"}).to_string();
                Reply::json(error)
                    .and_status(400)
                    .with("dpop-nonce", &nonce)
            }
            ("POST", "/token") => Reply::json(
                json!({"access_token": "hush", "token_type": "DPoP", "refresh_token": "hush-2"})
                    .to_string(),
            ),
            ("POST", _) if hit.header("authorization") != Some("DPoP hush") => {
                Reply::status(401).with("www-authenticate", "DPoP algs=\"ES256\"")
            }
            ("POST", _) if !fresh() => Reply::status(401)
                .with("www-authenticate", "DPoP error=\"use_dpop_nonce\"")
                .with("dpop-nonce", &nonce),
            ("POST", _) => stateless_reply(hit),
            (_, "/.well-known/oauth-authorization-server") => Reply::json(
                json!({"issuer": format!("http://{host}"),
                    "token_endpoint": format!("http://{host}/token")})
                .to_string(),
            ),
            _ => Reply::status(404),
        }
    })
    .await
}

#[tokio::test]
async fn every_request_has_a_proof_of_its_own_by_the_same_key() {
    let nonce = Arc::new(Mutex::new("monday".to_owned()));
    let rig = bank(Arc::clone(&nonce)).await;
    let store = MemoryStore::new();
    for day in ["monday", "tuesday"] {
        day.clone_into(&mut lock(&nonce));
        // A new process, which has what is in the store.
        let oauth = OAuth::new("Knots")
            .client_id("me")
            .client_secret("s")
            .client_credentials()
            .store(store.clone());
        let http = rig.http().authorizer(oauth.clone());
        let client = within(builder().connect(http)).await.expect("it connects");
        call(&client).await.expect("it is let in");
        within(oauth.refresh(&rig.url())).await.expect("renewed");
    }
    let hits = rig.hits();
    let proved = hits.iter().filter(|hit| hit.header("dpop").is_some());
    let proofs: Vec<_> = proved.map(proof).collect();
    assert!(proofs.len() > 6);
    let mut once: Vec<_> = proofs
        .iter()
        .map(|(_, claims)| claims["jti"].to_string())
        .collect();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), proofs.len(), "each is new");
    assert!(
        proofs
            .iter()
            .all(|(header, _)| header["jwk"] == proofs[0].0["jwk"])
    );
    assert!(proofs.iter().all(|(header, _)| header["typ"] == "dpop+jwt"));
    let call = rig.named("tools/call").pop().expect("a call");
    let (_, claims) = proof(&call);
    assert_eq!(claims["htu"], *rig.url());
    assert_eq!(claims["htm"], "POST");
    assert!(claims["ath"].is_string());
}
