//! Tests of keys and tokens, among them the examples of the RFCs.

use serde_json::{Value, json};

use super::{Algorithm, CompactJws, JoseError, KeySet, PublicKey, SigningKey, base64url};

#[path = "../../tests/it/server_auth/key_files.rs"]
mod key_files;

fn pem(kind: &str) -> &'static str {
    key_files::keys().pem(kind)
}

fn key(jwk: &Value) -> Result<PublicKey, JoseError> {
    PublicKey::from_jwk(&jwk.to_string())
}

fn verify(token: &str, key: &PublicKey) -> Result<Vec<u8>, JoseError> {
    CompactJws::parse(token)?.verify(key)
}

#[test]
fn the_thumbprints_of_the_rfcs_come_out() {
    let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tS\
             oc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65\
             YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyr\
             dkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzK\
             nqDKgw";
    let rsa = json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"});
    let thumbprint = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs";
    assert_eq!(key(&rsa).unwrap().thumbprint(), thumbprint);
    let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let edwards = key(&json!({"kty": "OKP", "crv": "Ed25519", "x": x})).unwrap();
    let thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
    assert_eq!(edwards.thumbprint(), thumbprint);
}

#[test]
fn the_signatures_of_the_rfcs_are_good() {
    let point = json!({
        "kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    });
    let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9\
                 leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFC\
                 gfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let payload = verify(token, &key(&point).unwrap()).unwrap();
    let payload: Value = serde_json::from_slice(&payload).unwrap();
    assert_eq!(payload["iss"], "joe");
    let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let edwards = key(&json!({"kty": "OKP", "crv": "Ed25519", "x": x})).unwrap();
    let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1P\
                 POt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let payload = verify(token, &edwards);
    assert_eq!(payload.as_deref(), Ok(&b"Example of Ed25519 signing"[..]));
}

#[test]
fn what_is_signed_is_verified_by_that_key_only() {
    let files = ["p256", "p384", "rsa", "ed25519"].map(pem);
    let mut keys: Vec<_> = files.map(|it| SigningKey::from_pem(it).unwrap()).into();
    keys.push(
        SigningKey::from_pem(pem("rsa"))
            .unwrap()
            .with_pss()
            .unwrap(),
    );
    keys.push(SigningKey::generate().unwrap());
    let algorithms = keys.iter().map(|key| key.public_key().algorithm().name());
    let all = ["ES256", "ES384", "RS256", "EdDSA", "PS256", "ES256"];
    assert_eq!(algorithms.collect::<Vec<_>>(), all);
    for (index, signer) in keys.iter().enumerate() {
        let token = signer.sign("JWT", &json!({"sub": "ada"})).unwrap();
        for (other, verifier) in keys.iter().enumerate() {
            // Over the wire and back.
            let public = key(&verifier.public_key().to_jwk()).unwrap();
            assert_eq!(&public, verifier.public_key());
            assert_eq!(verify(&token, &public).is_ok(), index == other);
        }
    }
}

#[test]
fn a_changed_token_is_refused() {
    let key = SigningKey::generate().unwrap();
    let token = key.sign("JWT", &json!({"sub": "ada"})).unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, _) = signed.split_once('.').unwrap();
    let payload = base64url::encode(br#"{"sub":"eve"}"#);
    let forged = format!("{header}.{payload}.{signature}");
    let result = verify(&forged, key.public_key());
    assert_eq!(result, Err(JoseError::BadSignature));
    let unsigned = format!("{signed}.");
    assert_eq!(
        verify(&unsigned, key.public_key()),
        Err(JoseError::BadSignature)
    );
}

#[test]
fn what_a_token_says_of_its_algorithm_decides_nothing() {
    let key = SigningKey::generate().unwrap();
    let good = key.sign("JWT", &json!({"sub": "ada"})).unwrap();
    let (_, rest) = good.split_once('.').unwrap();
    for alg in ["none", "None", "HS256", "RS256", "ES384", "es256", ""] {
        let header = base64url::encode(json!({"alg": alg}).to_string().as_bytes());
        let result = verify(&format!("{header}.{rest}"), key.public_key());
        assert!(matches!(result, Err(JoseError::Unsupported(_))), "{alg}");
    }
    for name in ["none", "HS256", "HS512", "rs256", "ES256K", ""] {
        assert_eq!(Algorithm::from_name(name), None);
    }
}

#[test]
fn what_is_no_token_is_refused() {
    let header = |json: &str| base64url::encode(json.as_bytes());
    let tokens = [
        String::new(),
        "a.b".to_owned(),
        "a.b.c.d".to_owned(),
        format!("{}.e30.AAAA", header("{}")),
        format!("{}.e30.AAAA", header(r#"{"alg":"ES256","alg":"none"}"#)),
        format!("{}.e30.AAAA", header(r#"{"alg":"ES256","crit":["b64"]}"#)),
        format!("{}.e30.AAA=", header(r#"{"alg":"ES256"}"#)),
        format!("{}=.e30.AAAA", header(r#"{"alg":"ES256"}"#)),
        format!(
            "{}.{}.AAAA",
            header(r#"{"alg":"ES256"}"#),
            "A".repeat(20_000)
        ),
    ];
    for token in &tokens {
        assert!(CompactJws::parse(token).is_err(), "{token}");
    }
}

#[test]
fn keys_that_are_none_are_refused() {
    let good = SigningKey::from_pem(pem("p256"))
        .unwrap()
        .public_key()
        .to_jwk();
    assert!(key(&good).is_ok());
    let changes = [
        ("d", json!("AAAA")),
        ("use", json!("enc")),
        ("key_ops", json!(["encrypt"])),
        ("alg", json!("RS256")),
        ("alg", json!("ES384")),
        ("alg", json!("HS256")),
        ("crv", json!("P-521")),
        ("kty", json!("oct")),
        ("x", json!("AAAA")),
        ("x", json!(null)),
        ("kid", json!("k".repeat(1000))),
    ];
    for (member, value) in changes {
        let mut jwk = good.clone();
        jwk[member] = value;
        assert!(key(&jwk).is_err(), "{jwk}");
    }
    let short = json!({"kty": "RSA", "n": base64url::encode(&[0xff; 128]), "e": "AQAB"});
    assert!(matches!(key(&short), Err(JoseError::BadKey(_))));
}

#[test]
fn a_proof_carries_its_key_and_nothing_secret() {
    let signer = SigningKey::generate().unwrap();
    let proof = signer
        .sign_embedding_key("dpop+jwt", &json!({"jti": "1"}))
        .unwrap();
    let proof = CompactJws::parse(&proof).unwrap();
    assert_eq!(proof.typ(), Some("dpop+jwt"));
    let embedded = proof.embedded_key().unwrap().unwrap();
    assert_eq!(embedded.thumbprint(), signer.public_key().thumbprint());
    assert!(proof.verify(&embedded).is_ok());
    let debug = format!("{signer:?}");
    assert!(
        debug.contains("Es256") && !debug.contains("pair"),
        "{debug}"
    );
}

#[test]
fn key_files_of_other_kinds_are_refused_with_advice() {
    let reason = |file: &str| SigningKey::from_pem(file).unwrap_err().to_string();
    assert!(reason(pem("p256-sec1")).contains("pkcs8"));
    assert!(reason("").contains("no private key"));
    assert!(reason(&pem("p256").replace("MIG", "!!!")).contains("base64"));
    assert!(reason(pem("rsa-weak")).contains("sufficient"));
    assert!(
        SigningKey::from_pem(pem("p256"))
            .unwrap()
            .with_pss()
            .is_err()
    );
}

#[test]
fn a_key_set_passes_over_what_it_cannot_use() {
    let ours = SigningKey::generate().unwrap().with_id("a").unwrap();
    let jwk = ours.public_key().to_jwk();
    let others = json!([{"kty": "oct", "k": "AAAA"}, jwk, {"kty": "EC", "crv": "P-521"}, {}]);
    let set = KeySet::from_json(json!({"keys": others}).to_string().as_bytes()).unwrap();
    assert_eq!(set.keys(), [ours.public_key().clone()]);
    assert!(set.contains_id("a") && !set.contains_id("b"));
    let found = |id, algorithm| set.candidates(id, algorithm).count();
    assert_eq!(found(Some("a"), Algorithm::Es256), 1);
    assert_eq!(found(None, Algorithm::Es256), 1);
    assert_eq!(found(Some("a"), Algorithm::Rs256), 0);
    assert_eq!(found(Some("b"), Algorithm::Es256), 0);
    let many = json!({"keys": vec![jwk; 129]}).to_string();
    assert_eq!(KeySet::from_json(many.as_bytes()), Err(JoseError::TooLarge));
    assert!(KeySet::from_json(b"{}").is_err());
}
