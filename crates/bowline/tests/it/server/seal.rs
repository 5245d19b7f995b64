//! Keys as an application handles them. What a seal withstands is tested
//! beside the code, since applications do not seal.

use bowline::server::seal::{SealKeys, WeakSecretError};

fn check_weak(made: Result<SealKeys, WeakSecretError>, message: &str) {
    assert_eq!(made.expect_err("it is short").to_string(), message);
}

#[test]
fn short_secrets_are_refused() {
    let empty = "the secret has 0 bytes, but at least 32 are required";
    let short = "the secret has 31 bytes, but at least 32 are required";
    check_weak(SealKeys::from_secret(b""), empty);
    check_weak(SealKeys::from_secret(&[1; 31]), short);
    check_weak(SealKeys::random().accept_secret(b""), empty);
    check_weak(SealKeys::random().accept_secret(&[1; 31]), short);
    assert!(SealKeys::from_secret(&[1; 32]).is_ok());
    assert!(SealKeys::random().accept_secret(&[1; 32]).is_ok());
}

#[test]
fn a_ring_is_shared_if_the_key_that_seals_is() {
    assert!(!SealKeys::random().is_shared());
    assert!(
        !SealKeys::random()
            .accept_secret(&[1; 32])
            .unwrap()
            .is_shared()
    );
    let shared = SealKeys::from_secret(&[1; 32]).unwrap();
    assert!(shared.is_shared());
    assert!(shared.accept_secret(&[2; 32]).unwrap().is_shared());
}

/// The whole text is known, so that nothing else can be in it.
#[test]
fn debug_shows_names_and_no_keys() {
    let keys = SealKeys::from_secret(&[1; 32]).unwrap();
    assert_eq!(
        format!("{keys:?}"),
        "SealKeys { keys: [5b139f7ab176fc5e], shared: true }"
    );
}

#[test]
fn random_rings_differ() {
    let (one, other) = (SealKeys::random(), SealKeys::random());
    assert_ne!(format!("{one:?}"), format!("{other:?}"));
}
