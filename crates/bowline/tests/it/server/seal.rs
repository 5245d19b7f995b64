//! Keys as an application handles them. What a seal withstands is tested
//! beside the code, since applications do not seal.

use bowline::server::seal::{Keyring, WeakSecret};

fn check_weak(made: Result<Keyring, WeakSecret>, message: &str) {
    assert_eq!(made.expect_err("it is short").to_string(), message);
}

#[test]
fn short_secrets_are_refused() {
    let empty = "a secret needs 32 bytes or more, not 0";
    let short = "a secret needs 32 bytes or more, not 31";
    check_weak(Keyring::from_secret(b""), empty);
    check_weak(Keyring::from_secret(&[1; 31]), short);
    check_weak(Keyring::random().accept(b""), empty);
    check_weak(Keyring::random().accept(&[1; 31]), short);
    assert!(Keyring::from_secret(&[1; 32]).is_ok());
    assert!(Keyring::random().accept(&[1; 32]).is_ok());
}

#[test]
fn a_ring_is_shared_if_the_key_that_seals_is() {
    assert!(!Keyring::random().is_shared());
    assert!(!Keyring::random().accept(&[1; 32]).unwrap().is_shared());
    let shared = Keyring::from_secret(&[1; 32]).unwrap();
    assert!(shared.is_shared());
    assert!(shared.accept(&[2; 32]).unwrap().is_shared());
}

/// The whole text is known, so that nothing else can be in it.
#[test]
fn debug_shows_names_and_no_keys() {
    let keys = Keyring::from_secret(&[1; 32]).unwrap();
    assert_eq!(
        format!("{keys:?}"),
        "Keyring { keys: [5b139f7ab176fc5e], shared: true }"
    );
}

#[test]
fn random_rings_differ() {
    let (one, other) = (Keyring::random(), Keyring::random());
    assert_ne!(format!("{one:?}"), format!("{other:?}"));
}
