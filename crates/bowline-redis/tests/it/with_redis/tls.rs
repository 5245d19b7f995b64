//! Connections with TLS, to a server whose certificate a test makes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bowline_redis::RedisStores;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _},
};

use super::{
    connecting::{free_port, works},
    rig::Redis,
};

/// A certificate for `localhost` that is its own authority, and its key, in PEM format.
struct Identity {
    certificate: String,
    key: String,
}

/// A value in the encoding of certificates (DER).
fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let contents = parts.concat();
    let mut encoded = vec![tag];
    match contents.len() {
        length @ 0..=127 => encoded.push(length as u8),
        length @ 128..=255 => encoded.extend([0x81, length as u8]),
        length => encoded.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    encoded.extend(contents);
    encoded
}

const SEQUENCE: u8 = 0x30;
const OID: u8 = 0x06;
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 17];

impl Identity {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).expect("a key");
        let signature_algorithm = der(SEQUENCE, &[&der(OID, &[ECDSA_WITH_SHA256])]);
        let name = der(0x0c, &[b"bowline"]);
        let name = der(SEQUENCE, &[&der(OID, &[COMMON_NAME]), &name]);
        let name = der(SEQUENCE, &[&der(0x31, &[&name])]);
        let times = [b"20200101000000Z", b"21200101000000Z"].map(|time| der(0x18, &[time]));
        let public_key = der(0x03, &[&[0], pair.public_key().as_ref()]);
        let key_type = der(SEQUENCE, &[&der(OID, &[EC_PUBLIC_KEY]), &der(OID, &[P256])]);
        let names = der(SEQUENCE, &[&der(0x82, &[b"localhost"])]);
        let extension = [der(OID, &[SUBJECT_ALT_NAME]), der(0x04, &[&names])].concat();
        let extensions = der(SEQUENCE, &[&der(SEQUENCE, &[&extension])]);
        let contents = der(
            SEQUENCE,
            &[
                &der(0xa0, &[&der(0x02, &[&[2]])]),
                &der(0x02, &[&[1]]),
                &signature_algorithm,
                &name,
                &der(SEQUENCE, &[&times.concat()]),
                &name,
                &der(SEQUENCE, &[&key_type, &public_key]),
                &der(0xa3, &[&extensions]),
            ],
        );
        let signature = pair.sign(&random, &contents).expect("a signature");
        let signature = der(0x03, &[&[0], signature.as_ref()]);
        let certificate = der(SEQUENCE, &[&contents, &signature_algorithm, &signature]);
        Self {
            certificate: pem("CERTIFICATE", &certificate),
            key: pem("PRIVATE KEY", key.as_ref()),
        }
    }
}

fn pem(label: &str, contents: &[u8]) -> String {
    let encoded = STANDARD.encode(contents);
    let lines: Vec<&str> = (0..encoded.len())
        .step_by(64)
        .map(|at| &encoded[at..encoded.len().min(at + 64)])
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}

#[tokio::test]
async fn the_server_must_have_a_certificate_that_is_trusted() {
    let identity = Identity::new();
    let folder = std::env::temp_dir().join(format!("bowline-redis-tls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, &identity.certificate).expect("a file");
    std::fs::write(&key, &identity.key).expect("a file");
    let (certificate, key) = (certificate.to_string_lossy(), key.to_string_lossy());
    let port = free_port().to_string();
    let _redis = Redis::start_with(&[
        "--bind",
        "127.0.0.1",
        "--tls-port",
        &port,
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &certificate,
    ]);
    std::fs::remove_dir_all(&folder).expect("it is ours");

    let url = format!("rediss://localhost:{port}");
    let trusted = RedisStores::builder(&url).root_certificates(identity.certificate.as_bytes());
    // The server wants to know who it talks to, too.
    let known =
        trusted.client_certificate(identity.certificate.as_bytes(), identity.key.as_bytes());
    works(&known.connect().await.expect("both are trusted")).await;

    let other = Identity::new();
    for (url, roots) in [
        (&*url, &other),
        (&*format!("rediss://127.0.0.1:{port}"), &identity),
    ] {
        let builder = RedisStores::builder(url)
            .root_certificates(roots.certificate.as_bytes())
            .client_certificate(identity.certificate.as_bytes(), identity.key.as_bytes())
            .timeout(std::time::Duration::from_millis(500));
        let error = builder.connect().await.expect_err("it is not trusted");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    let garbage = RedisStores::builder(&url).root_certificates(b"garbage");
    let error = garbage
        .connect()
        .await
        .expect_err("there is no certificate");
    assert!(error.to_string().contains("no certificate"), "{error}");
}
