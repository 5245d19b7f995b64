//! Signed tokens that are not good, each for one reason.

use bowline::{
    jose::{KeySet, SigningKey},
    server::auth::{JwtVerifier, KeySource},
};
use serde_json::{Value, json};

use super::key_files::keys;
use super::rig::{ISSUER, Issuer, Node, RESOURCE, base64url, claims, now, protected};

#[tokio::test]
async fn a_good_token_is_let_in_and_tools_know_whose_it_is() {
    let issuer = Issuer::new("k");
    let token = issuer.token("ada");
    let said = issuer.node().bearing(&token).whoami().await;
    assert_eq!(said["principal"], format!("{ISSUER} sub ada"));
    assert_eq!(said["subject"], "ada");
    assert_eq!(said["issuer"], ISSUER);
    assert_eq!(said["client"], "app");
    assert_eq!(said["scopes"], json!(["mcp:use"]));
    assert_eq!((&said["team"], &said["wrong"]), (&json!(7), &Value::Null));
    let shown = said["shown"].as_str().unwrap();
    assert!(
        !shown.contains(&token) && !shown.contains("team"),
        "{shown}"
    );
}

#[tokio::test]
async fn what_the_token_says_must_hold() {
    let issuer = Issuer::new("k");
    let node = issuer.node();
    let cases: [(&str, Value, &str); 14] = [
        (
            "aud",
            json!("https://other.example.com/mcp"),
            "another audience",
        ),
        (
            "aud",
            json!(["https://mcp.example.com"]),
            "another audience",
        ),
        ("aud", json!(format!("{RESOURCE}/")), "another audience"),
        ("aud", Value::Null, "another audience"),
        ("exp", json!(now() - 60), "expired"),
        ("exp", Value::Null, "timestamp"),
        ("exp", json!("never"), "timestamp"),
        ("nbf", json!(now() + 300), "not valid yet"),
        (
            "iss",
            json!("https://login.example.com/"),
            "issuer of the token is unknown",
        ),
        (
            "iss",
            json!("https://evil.example.com"),
            "issuer of the token is unknown",
        ),
        ("sub", json!(""), "empty subject"),
        ("sub", json!(42), "not a string"),
        ("sub", Value::Null, "not a string"),
        ("cnf", json!({"x5t#S256": "abc"}), "bound"),
    ];
    for (claim, value, why) in cases {
        let token = issuer.token_with(|claims| claims[claim] = value);
        node.bearing(&token).refuses("invalid_token", why).await;
    }
    let nobodys = issuer.token_with(|claims| {
        let claims = claims.as_object_mut().unwrap();
        claims.remove("sub");
        claims.remove("client_id");
    });
    node.bearing(&nobodys)
        .refuses("invalid_token", "no subject")
        .await;
    let endless = issuer.token_with(|claims| drop(claims.as_object_mut().unwrap().remove("exp")));
    node.bearing(&endless)
        .refuses("invalid_token", "no expiry")
        .await;
    let nobody = issuer.token_with(|claims| {
        let claims = claims.as_object_mut().unwrap();
        claims.retain(|name, _| name != "sub" && name != "client_id");
    });
    node.bearing(&nobody)
        .refuses("invalid_token", "no subject")
        .await;
}

#[tokio::test]
async fn clocks_may_differ_a_little() {
    let issuer = Issuer::new("k");
    for (claim, value) in [("exp", now() - 10), ("nbf", now() + 10)] {
        let token = issuer.token_with(|claims| claims[claim] = value.into());
        issuer.node().bearing(&token).whoami().await;
        let exact = issuer.verifier().leeway(std::time::Duration::ZERO);
        let exact = Node::new(protected().verifier(exact)).bearing(&token);
        exact.refuses("invalid_token", "the token").await;
    }
}

#[tokio::test]
async fn one_of_several_audiences_is_enough_and_may_have_another_name() {
    let issuer = Issuer::new("k");
    let several = issuer.token_with(|it| it["aud"] = json!(["https://x.example", RESOURCE]));
    issuer.node().bearing(&several).whoami().await;
    let named = issuer.token_with(|it| it["aud"] = json!("api://vault"));
    issuer
        .node()
        .bearing(&named)
        .refuses("invalid_token", "audience")
        .await;
    let knows = protected()
        .verifier(issuer.verifier())
        .audience("api://vault");
    Node::new(knows).bearing(&named).whoami().await;
}

#[tokio::test]
async fn only_access_tokens_are_access_tokens() {
    let issuer = Issuer::new("k");
    let strict = Node::new(protected().verifier(issuer.verifier().require_typ()));
    let cases = [
        ("at+jwt", true, true),
        ("application/at+jwt", true, true),
        ("JWT", true, false),
        ("dpop+jwt", false, false),
        ("logout+jwt", false, false),
    ];
    for (typ, usual, strictly) in cases {
        let token = issuer.key.sign(typ, &claims()).unwrap();
        for (node, good) in [(issuer.node(), usual), (strict.clone(), strictly)] {
            let status = node.bearing(&token).call("whoami").await.status();
            assert_eq!(status == 200, good, "{typ}");
        }
    }
}

fn encode(part: &Value) -> String {
    base64url(part.to_string().as_bytes())
}

#[tokio::test]
async fn a_token_without_a_signature_is_refused() {
    let issuer = Issuer::new("k");
    let signed = issuer.token("ada");
    let (_, rest) = signed.split_once('.').unwrap();
    let (payload, signature) = rest.split_once('.').unwrap();
    for alg in ["none", "NONE", "nOnE"] {
        let header = encode(&json!({"alg": alg, "typ": "JWT"}));
        for signature in ["", signature] {
            let token = format!("{header}.{payload}.{signature}");
            issuer
                .node()
                .bearing(&token)
                .refuses("invalid_token", "signed")
                .await;
        }
    }
}

#[tokio::test]
async fn a_public_key_is_no_shared_secret() {
    let key = SigningKey::from_pem(keys().pem("rsa"))
        .unwrap()
        .with_id("k")
        .unwrap();
    let public = key.public_key().to_jwk();
    let keys = KeySource::fixed(KeySet::from(key.public_key().clone()));
    let node = Node::new(protected().verifier(JwtVerifier::new(ISSUER, keys)));
    let good = key.sign("JWT", &claims()).unwrap();
    node.bearing(&good).whoami().await;
    // Whatever bytes somebody may take for the key.
    let secrets = [
        public.to_string(),
        public["n"].as_str().unwrap().to_owned(),
        String::new(),
    ];
    for secret in secrets {
        let header = encode(&json!({"alg": "HS256", "typ": "JWT", "kid": "k"}));
        let signed = format!("{header}.{}", encode(&claims()));
        let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        let signature = ring::hmac::sign(&secret, signed.as_bytes());
        let token = format!("{signed}.{}", base64url(signature.as_ref()));
        node.bearing(&token)
            .refuses("invalid_token", "signed")
            .await;
    }
}

#[tokio::test]
async fn a_key_is_used_with_its_own_algorithm_only() {
    let rsa = SigningKey::from_pem(keys().pem("rsa"))
        .unwrap()
        .with_id("r")
        .unwrap();
    let pss = SigningKey::from_pem(keys().pem("rsa"))
        .unwrap()
        .with_id("r")
        .unwrap();
    let pss = pss.with_pss().unwrap();
    let curve = Issuer::new("e");
    let keys: KeySet = [rsa.public_key().clone(), curve.key.public_key().clone()]
        .into_iter()
        .collect();
    let node = Node::new(protected().verifier(JwtVerifier::new(ISSUER, KeySource::fixed(keys))));
    node.bearing(&rsa.sign("JWT", &claims()).unwrap())
        .whoami()
        .await;
    node.bearing(&curve.token("ada")).whoami().await;
    // The same RSA key, in the other way.
    let other = pss.sign("JWT", &claims()).unwrap();
    node.bearing(&other)
        .refuses("invalid_token", "signed")
        .await;
    // Each key's signature under the name of the other key and algorithm.
    for (signer, kid, alg) in [(&rsa, "e", "RS256"), (&curve.key, "r", "ES256")] {
        let token = signer.sign("JWT", &claims()).unwrap();
        let (_, rest) = token.split_once('.').unwrap();
        for alg in [alg, "RS256", "ES256", "PS256"] {
            let header = encode(&json!({"alg": alg, "typ": "JWT", "kid": kid}));
            let token = format!("{header}.{rest}");
            node.bearing(&token)
                .refuses("invalid_token", "signed")
                .await;
        }
    }
}

#[tokio::test]
async fn one_issuers_key_does_not_sign_for_another() {
    let (ours, theirs) = (Issuer::new("a"), Issuer::new("b"));
    let other = "https://other.example.com";
    let others = JwtVerifier::new(other, KeySource::fixed(theirs.keys()));
    let node = Node::new(protected().verifier(ours.verifier()).verifier(others));
    node.bearing(&ours.token("ada")).whoami().await;
    let good = theirs.token_with(|claims| claims["iss"] = other.into());
    let said = node.bearing(&good).whoami().await;
    // The same subject, but somebody else.
    assert_eq!(said["principal"], format!("{other} sub ada"));
    // Signed by the other issuer, in our issuer's name.
    node.bearing(&theirs.token("ada"))
        .refuses("invalid_token", "signed")
        .await;
    let forged = ours.token_with(|claims| claims["iss"] = other.into());
    node.bearing(&forged)
        .refuses("invalid_token", "signed")
        .await;
}

#[tokio::test]
async fn keys_that_a_token_brings_along_are_not_believed() {
    let (issuer, thief) = (Issuer::new("k"), Issuer::new("k"));
    let brought = thief.key.sign_embedding_key("at+jwt", &claims()).unwrap();
    issuer
        .node()
        .bearing(&brought)
        .refuses("invalid_token", "signed")
        .await;
    issuer
        .node()
        .bearing(&thief.token("ada"))
        .refuses("invalid_token", "signed")
        .await;
}
