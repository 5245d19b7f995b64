//! Tokens that are bound to a key, and the proofs that come with them.

use std::time::Duration;

use bowline::{jose::SigningKey, server::auth::ProtectionBuilder};
use serde_json::{Value, json};

use super::rig::{Answer, Issuer, METADATA, Node, RESOURCE, base64url, now, protected, stateless};

/// A server that takes proofs, a key, and a token that is bound to it.
struct Bound {
    node: Node,
    key: SigningKey,
    token: String,
}

fn bound() -> Bound {
    bound_by(ProtectionBuilder::dpop)
}

fn bound_by(how: fn(ProtectionBuilder) -> ProtectionBuilder) -> Bound {
    let issuer = Issuer::new("k");
    let key = SigningKey::generate().expect("random numbers");
    let thumbprint = key.public_key().thumbprint();
    let token = issuer.token_with(|claims| claims["cnf"] = json!({"jkt": thumbprint}));
    let node = Node::new(how(protected().verifier(issuer.verifier())));
    let node = node.authorized(&format!("DPoP {token}"));
    Bound { node, key, token }
}

impl Bound {
    /// What a good proof says.
    fn claims(&self) -> Value {
        let ath = ring::digest::digest(&ring::digest::SHA256, self.token.as_bytes());
        json!({
            "jti": "first", "htm": "POST", "htu": RESOURCE,
            "iat": now(), "ath": base64url(ath.as_ref()),
        })
    }

    fn proof(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = self.claims();
        change(&mut claims);
        let proof = self.key.sign_embedding_key("dpop+jwt", &claims);
        proof.expect("a proof")
    }

    async fn send(&self, proofs: &[&str]) -> Answer {
        let (mut request, body) =
            stateless("tools/call", json!({"name": "whoami", "arguments": {}}));
        for proof in proofs {
            request = request.header("dpop", *proof);
        }
        self.node.send(request, &body).await
    }

    async fn refuses(&self, proofs: &[&str], why: &str) {
        let answer = self.send(proofs).await;
        assert_eq!(answer.status(), 401, "{why}");
        let challenges = answer.headers("www-authenticate");
        assert_eq!(challenges.len(), 2);
        assert!(!challenges[0].contains("error"), "{challenges:?}");
        let challenge = challenges[1];
        assert!(challenge.starts_with("DPoP algs=\"ES256"), "{challenge}");
        assert!(
            challenge.contains("error=\"invalid_dpop_proof\""),
            "{challenge}"
        );
        assert!(challenge.contains(why), "{challenge}");
    }
}

#[tokio::test]
async fn a_proof_lets_its_token_in_once() {
    let bound = bound();
    let proof = bound.proof(|_| ());
    assert_eq!(bound.send(&[&proof]).await.status(), 200);
    bound.refuses(&[&proof], "already used").await;
    let other = bound.proof(|claims| claims["jti"] = "other".into());
    assert_eq!(bound.send(&[&other]).await.status(), 200);
}

#[tokio::test]
async fn a_proof_is_for_this_request_and_this_token() {
    let bound = bound();
    let cases: [(&str, Value, &str); 11] = [
        ("htm", json!("GET"), "another request"),
        ("htu", json!("https://evil.example/mcp"), "another request"),
        (
            "htu",
            json!("http://mcp.example.com/mcp"),
            "another request",
        ),
        (
            "htu",
            json!("https://mcp.example.com/other"),
            "another request",
        ),
        (
            "htu",
            json!("https://eve@mcp.example.com/mcp"),
            "another request",
        ),
        ("ath", json!("AAAA"), "another token"),
        ("iat", json!(now() - 120), "has expired"),
        ("iat", json!(now() + 120), "has expired"),
        // It would have to be remembered for longer than others.
        ("iat", json!(now() + 30), "has expired"),
        ("jti", json!(""), "malformed"),
        ("jti", json!("j".repeat(1000)), "malformed"),
    ];
    for (claim, value, why) in cases {
        let proof = bound.proof(|claims| claims[claim] = value);
        bound.refuses(&[&proof], why).await;
    }
    let spelled = bound.proof(|it| it["htu"] = "https://MCP.example.com:443/mcp?x#y".into());
    assert_eq!(bound.send(&[&spelled]).await.status(), 200);
}

#[tokio::test]
async fn a_proof_is_by_the_tokens_key() {
    let bound = bound();
    bound.refuses(&[], "DPoP header is missing").await;
    let proof = bound.proof(|_| ());
    bound.refuses(&[&proof, &proof], "more than one").await;
    bound.refuses(&["x"], "malformed").await;
    let thief = SigningKey::generate().unwrap();
    let stolen = thief
        .sign_embedding_key("dpop+jwt", &bound.claims())
        .unwrap();
    bound.refuses(&[&stolen], "another key").await;
    let wrong = bound
        .key
        .sign_embedding_key("JWT", &bound.claims())
        .unwrap();
    bound.refuses(&[&wrong], "not dpop+jwt").await;
    let unsigned = bound.key.sign("dpop+jwt", &bound.claims()).unwrap();
    bound.refuses(&[&unsigned], "malformed").await;
    // The right key, with a signature by another.
    let (_, signature) = stolen.rsplit_once('.').unwrap();
    let (signed, _) = proof.rsplit_once('.').unwrap();
    bound
        .refuses(
            &[&format!("{signed}.{signature}")],
            "signature of the proof",
        )
        .await;
}

#[tokio::test(start_paused = true)]
async fn proofs_are_forgotten_when_they_are_too_old_to_be_used() {
    let bound = bound();
    let proof = bound.proof(|_| ());
    assert_eq!(bound.send(&[&proof]).await.status(), 200);
    tokio::time::advance(Duration::from_secs(58)).await;
    bound.refuses(&[&proof], "already used").await;
    // The system's clock stands still here; the memory's does not.
    tokio::time::advance(Duration::from_secs(4)).await;
    assert_eq!(bound.send(&[&proof]).await.status(), 200);
}

#[tokio::test]
async fn a_bound_token_is_no_bearer_token() {
    let bound = bound();
    let node = bound.node.bearing(&bound.token);
    node.refuses("invalid_token", "bound to a key").await;
    // Nor where nobody can check proofs.
    let issuer = Issuer::new("k");
    let token = issuer.token_with(|claims| claims["cnf"] = json!({"jkt": "x"}));
    issuer
        .node()
        .bearing(&token)
        .refuses("invalid_token", "bound to a key")
        .await;
    // Nor does a proof make a plain token more than it is.
    let node = Node::new(protected().verifier(issuer.verifier()).dpop());
    let plain = node.authorized(&format!("DPoP {}", issuer.token("ada")));
    let answer = plain.call("whoami").await;
    assert_eq!(answer.status(), 401);
    assert!(answer.headers("www-authenticate")[1].contains("not bound"));
    node.bearing(&issuer.token("ada")).whoami().await;
}

#[tokio::test]
async fn both_schemes_are_offered_and_lacking_scopes_are_told_in_the_one_used() {
    let issuer = Issuer::new("k");
    let node = Node::new(protected().verifier(issuer.verifier()).dpop());
    let answer = node.call("whoami").await;
    let expected = [
        format!("Bearer resource_metadata=\"{METADATA}\", scope=\"mcp:use\""),
        format!(
            "DPoP algs=\"ES256 ES384 EdDSA PS256 RS256\", resource_metadata=\"{METADATA}\", \
             scope=\"mcp:use\""
        ),
    ];
    assert_eq!(answer.headers("www-authenticate"), expected);
    let bound = bound();
    let proof = bound.proof(|_| ());
    let (request, body) = stateless("tools/call", json!({"name": "write", "arguments": {}}));
    let answer = bound.node.send(request.header("dpop", proof), &body).await;
    assert_eq!(answer.status(), 403);
    let challenges = answer.headers("www-authenticate");
    assert!(
        challenges[1].contains("insufficient_scope"),
        "{challenges:?}"
    );
    assert!(challenges[1].contains("mcp:use files:read files:write"));
}

#[tokio::test]
async fn proofs_must_repeat_a_nonce_where_that_is_wanted() {
    let shared: fn(ProtectionBuilder) -> _ = |it| it.dpop_nonces_with_key(&[7; 32]);
    for how in [ProtectionBuilder::dpop_nonces, shared] {
        let bound = bound_by(how);
        let mut given = String::new();
        for nonce in [Value::Null, "made up".into()] {
            let proof = bound.proof(|claims| claims["nonce"] = nonce);
            let answer = bound.send(&[&proof]).await;
            assert_eq!(answer.status(), 401);
            let challenge = answer.headers("www-authenticate")[1];
            assert!(
                challenge.contains("error=\"use_dpop_nonce\""),
                "{challenge}"
            );
            given = answer.header("dpop-nonce").expect("a nonce").to_owned();
        }
        let proof = bound.proof(|claims| claims["nonce"] = given.into());
        assert_eq!(bound.send(&[&proof]).await.status(), 200);
        bound.refuses(&[&proof], "already used").await;
    }
    // Other refusals bring none.
    let bound = bound_by(ProtectionBuilder::dpop_nonces);
    let answer = bound.send(&[]).await;
    assert_eq!(answer.header("dpop-nonce"), None);
    assert!(
        protected()
            .verifier(Issuer::new("k").verifier())
            .dpop_nonces_with_key(b"short")
            .build()
            .is_err()
    );
}
