//! Parses arbitrary bytes as every kind of untrusted input, and checks the
//! invariants. Called by a fuzz target and a property test.

use std::sync::OnceLock;

use serde_json::json;

use super::{CompactJws, KeySet, PublicKey, SigningKey, base64url};

/// Parses bytes as tokens, keys and key files.
///
/// # Panics
///
/// Panics if something was accepted that must not be.
pub fn read_anything(data: &[u8]) {
    check_key_set(data);
    check_pem(data);
    check_tokens(data);
    check_tampered_token(data);
}

/// Our key. Nobody else can sign with it.
fn test_key() -> &'static SigningKey {
    static OURS: OnceLock<SigningKey> = OnceLock::new();
    OURS.get_or_init(|| SigningKey::generate().expect("there are random numbers"))
}

/// A parsed key set is serialized and parsed again as the same.
fn check_key_set(data: &[u8]) {
    let Ok(set) = KeySet::from_json(data) else {
        return;
    };
    let written = set.to_json().to_string();
    let again = KeySet::from_json(written.as_bytes());
    assert_eq!(again.as_ref(), Ok(&set), "{written}");
    for key in set.keys() {
        assert!(key.verify(b"message", data).is_err(), "nobody signed that");
        assert_eq!(key.thumbprint().len(), 43);
    }
}

fn check_pem(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = SigningKey::from_pem(&text);
    let body = text.replace('\0', "\n");
    let file = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
    let _ = SigningKey::from_pem(&file);
}

/// Uses the bytes as a token, and as the parts of one, separated by zeros.
fn check_tokens(data: &[u8]) {
    check_token(&String::from_utf8_lossy(data));
    let mut parts = data.splitn(3, |byte| *byte == 0);
    let mut next = || base64url::encode(parts.next().unwrap_or_default());
    check_token(&format!("{}.{}.{}", next(), next(), next()));
}

fn check_token(text: &str) {
    let Ok(token) = CompactJws::parse(text) else {
        return;
    };
    let _ = (token.typ(), token.key_id(), token.claimed_issuer());
    assert!(
        token.verify(test_key().public_key()).is_err(),
        "we did not sign {text}"
    );
    if let Some(Ok(embedded)) = token.embedded_key() {
        let again = PublicKey::from_jwk(&embedded.to_jwk().to_string());
        assert_eq!(again.as_ref(), Ok(&embedded));
        if token.verify(&embedded).is_ok() {
            assert_eq!(token.algorithm(), Some(embedded.algorithm()));
        }
    }
}

/// Changes a byte of our own token: it is valid only if the byte is the same.
fn check_tampered_token(data: &[u8]) {
    static TOKEN: OnceLock<String> = OnceLock::new();
    let signed = || {
        test_key()
            .sign("at+jwt", &json!({"sub": "ada", "exp": 1}))
            .expect("a token")
    };
    let good = TOKEN.get_or_init(signed);
    let (Some(index), Some(byte)) = (data.first(), data.get(1)) else {
        return;
    };
    let mut bytes = good.clone().into_bytes();
    let index = usize::from(*index) % bytes.len();
    bytes[index] = *byte;
    let text = String::from_utf8_lossy(&bytes);
    let verified = CompactJws::parse(&text).and_then(|token| token.verify(test_key().public_key()));
    assert_eq!(verified.is_ok(), *text == **good, "{index} {byte}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
            read_anything(&data);
        }

        #[test]
        fn what_looks_like_tokens(
            alg in "(none|HS256|ES256|ES384|EdDSA|RS256|PS256|es256|)",
            more in "(|,\"kid\":\"k\"|,\"typ\":\"JWT\"|,\"crit\":\\[\\]|,\"jwk\":\\{[a-z\":,]{0,40}\\})",
            payload in "\\{(\"iss\":\"[a-z]{0,4}\")?\\}",
            signature in prop::collection::vec(1..=255_u8, 0..80),
        ) {
            let header = format!("{{\"alg\":\"{alg}\"{more}}}");
            let mut data = header.into_bytes();
            data.push(0);
            data.extend(payload.into_bytes());
            data.push(0);
            data.extend(signature);
            read_anything(&data);
        }

        #[test]
        fn what_looks_like_keys(
            kty in "(EC|RSA|OKP|oct)",
            crv in "(P-256|P-384|Ed25519|P-521)",
            x in "[A-Za-z0-9_-]{0,64}",
            y in "[A-Za-z0-9_-]{43}",
        ) {
            let key = json!({"kty": kty, "crv": crv, "x": x, "y": y, "n": y, "e": "AQAB"});
            read_anything(json!({"keys": [key, test_key().public_key().to_jwk()]}).to_string().as_bytes());
        }
    }
}
