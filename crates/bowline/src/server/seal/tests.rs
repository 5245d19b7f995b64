//! The attacks a seal must withstand.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use proptest::{prelude::*, sample::Index};

use super::{SealKeys, UnsealError};

const PURPOSE: &[u8] = b"state of a conversation";
const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn seal_keys(secret: u8) -> SealKeys {
    SealKeys::from_secret(&[secret; 32]).unwrap()
}

/// Checks that the keys that sealed it do not open it.
fn check_refused(keys: &SealKeys, text: &str) -> Result<(), TestCaseError> {
    let opened = keys.open(PURPOSE, text);
    prop_assert!(opened.is_err(), "{text} opened as {opened:?}");
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_was_sealed_opens(
        secret in prop::collection::vec(any::<u8>(), 32..80),
        purpose in prop::collection::vec(any::<u8>(), 0..40),
        plain in prop::collection::vec(any::<u8>(), 0..5000),
    ) {
        let keys = SealKeys::from_secret(&secret).unwrap();
        let sealed = keys.seal(&purpose, &plain);
        prop_assert!(sealed.bytes().all(|byte| ALPHABET.contains(&byte)));
        let other_node = SealKeys::from_secret(&secret).unwrap();
        prop_assert_eq!(other_node.open(&purpose, &sealed), Ok(plain));
    }

    #[test]
    fn a_flipped_bit_is_refused(plain in prop::collection::vec(any::<u8>(), 0..200), at: Index, bit in 0..8) {
        let keys = seal_keys(1);
        let mut bytes = URL_SAFE_NO_PAD.decode(keys.seal(PURPOSE, &plain)).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        check_refused(&keys, &URL_SAFE_NO_PAD.encode(bytes))?;
    }

    #[test]
    fn a_replaced_character_is_refused(
        plain in prop::collection::vec(any::<u8>(), 0..200),
        at: Index,
        with: char,
    ) {
        let keys = seal_keys(1);
        let sealed = keys.seal(PURPOSE, &plain);
        let at = at.index(sealed.len());
        prop_assume!(!sealed[at..].starts_with(with));
        let text = format!("{}{with}{}", &sealed[..at], &sealed[at + 1..]);
        check_refused(&keys, &text)?;
    }

    #[test]
    fn a_cut_text_is_refused(
        plain in prop::collection::vec(any::<u8>(), 0..200),
        from: Index,
        to: Index,
    ) {
        let keys = seal_keys(1);
        let sealed = keys.seal(PURPOSE, &plain);
        let (from, to) = (from.index(sealed.len()), to.index(sealed.len()));
        check_refused(&keys, &sealed[..to])?;
        check_refused(&keys, &sealed[from + 1..])?;
    }

    #[test]
    fn a_longer_text_is_refused(
        plain in prop::collection::vec(any::<u8>(), 0..200),
        more in "[A-Za-z0-9_=\\-]{1,9}",
        at: Index,
    ) {
        let keys = seal_keys(1);
        let sealed = keys.seal(PURPOSE, &plain);
        check_refused(&keys, &format!("{sealed}{more}"))?;
        check_refused(&keys, &format!("{more}{sealed}"))?;
        let (before, after) = sealed.split_at(at.index(sealed.len()));
        check_refused(&keys, &format!("{before}{more}{after}"))?;
    }

    #[test]
    fn noise_is_refused(text in "\\PC{0,200}") {
        check_refused(&seal_keys(1), &text)?;
    }

    #[test]
    fn another_purpose_is_refused(
        purpose in prop::collection::vec(any::<u8>(), 0..40),
        other in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        prop_assume!(purpose != other);
        let keys = seal_keys(1);
        let sealed = keys.seal(&purpose, b"plain");
        prop_assert_eq!(keys.open(&other, &sealed), Err(UnsealError::Invalid));
    }
}

/// Random choices would rarely hit the last character, whose spare bits can
/// fool a lenient decoder. So this tries every change, including every flipped
/// bit, for each number of spare bits.
#[test]
fn every_change_of_one_character_is_refused() {
    let keys = seal_keys(1);
    for len in 0..3 {
        let sealed = keys.seal(PURPOSE, &[7; 3][..len]);
        for at in 0..sealed.len() {
            for with in 0..128 {
                let mut text = sealed.clone().into_bytes();
                if text[at] == with {
                    continue;
                }
                text[at] = with;
                let text = String::from_utf8(text).unwrap();
                assert!(keys.open(PURPOSE, &text).is_err(), "{text}, for {sealed}");
            }
        }
    }
}

#[test]
fn every_cut_and_padding_is_refused() {
    let keys = seal_keys(1);
    for len in 0..3 {
        let sealed = keys.seal(PURPOSE, &[7; 3][..len]);
        for to in 0..sealed.len() {
            assert!(keys.open(PURPOSE, &sealed[..to]).is_err());
        }
        for more in ["=", "==", "A", "AA", "AAA", "AAAA", "\n", " ", "\0"] {
            let text = format!("{sealed}{more}");
            assert_eq!(keys.open(PURPOSE, &text), Err(UnsealError::Invalid));
        }
    }
}

#[test]
fn the_same_bytes_never_look_the_same() {
    let keys = seal_keys(1);
    let first = URL_SAFE_NO_PAD
        .decode(keys.seal(PURPOSE, b"plain"))
        .unwrap();
    let second = URL_SAFE_NO_PAD
        .decode(keys.seal(PURPOSE, b"plain"))
        .unwrap();
    assert_eq!(first[..9], second[..9], "version and name of the key");
    assert_ne!(first[9..33], second[9..33], "nonce");
    assert_ne!(first[33..38], second[33..38], "ciphertext");
}

#[test]
fn the_layout_is_as_described() {
    let keys = seal_keys(1);
    let bytes = URL_SAFE_NO_PAD
        .decode(keys.seal(PURPOSE, b"plain"))
        .unwrap();
    assert_eq!(bytes[0], 1);
    assert_eq!(bytes[1..9], keys.sealing_key().id);
    assert_eq!(bytes.len(), 1 + 8 + 24 + b"plain".len() + 16);
}

/// Made with libsodium, from the description of the format.
#[test]
fn a_text_that_others_made_opens() {
    let text = "AVsTn3qxdvxeAAECAwQFBgcICQoLDA0ODxAREhMUFRYXQvQoW-Z-1a5LKiR7H6Igy7tYGJUR";
    assert_eq!(seal_keys(1).open(PURPOSE, text).unwrap(), b"plain");
}

#[test]
fn another_version_is_refused_even_with_a_known_key() {
    let keys = seal_keys(1);
    let mut bytes = URL_SAFE_NO_PAD
        .decode(keys.seal(PURPOSE, b"plain"))
        .unwrap();
    bytes[0] = 2;
    let text = URL_SAFE_NO_PAD.encode(bytes);
    assert_eq!(keys.open(PURPOSE, &text), Err(UnsealError::Invalid));
}

#[test]
fn an_older_secret_opens_where_it_is_accepted_only() {
    let sealed = seal_keys(1).seal(PURPOSE, b"plain");
    assert_eq!(
        seal_keys(2).open(PURPOSE, &sealed),
        Err(UnsealError::UnknownKey)
    );

    let rotated = seal_keys(2)
        .accept_secret(&[9; 32])
        .unwrap()
        .accept_secret(&[1; 32])
        .unwrap();
    assert_eq!(rotated.open(PURPOSE, &sealed).unwrap(), b"plain");

    let newer = rotated.seal(PURPOSE, b"plain");
    assert_eq!(seal_keys(2).open(PURPOSE, &newer).unwrap(), b"plain");
    assert_eq!(
        seal_keys(1).open(PURPOSE, &newer),
        Err(UnsealError::UnknownKey)
    );
}

#[test]
fn a_text_under_the_name_of_another_key_is_refused() {
    let keys = seal_keys(1).accept_secret(&[2; 32]).unwrap();
    let mut bytes = URL_SAFE_NO_PAD
        .decode(keys.seal(PURPOSE, b"plain"))
        .unwrap();
    bytes[1..9].copy_from_slice(&seal_keys(2).sealing_key().id);
    let text = URL_SAFE_NO_PAD.encode(bytes);
    assert_eq!(keys.open(PURPOSE, &text), Err(UnsealError::Invalid));
}

#[test]
fn names_follow_from_secrets() {
    assert_eq!(seal_keys(1).sealing_key().id, seal_keys(1).sealing_key().id);
    assert_ne!(seal_keys(1).sealing_key().id, seal_keys(2).sealing_key().id);
    // Nodes of different releases must also agree.
    assert_eq!(
        format!("{:?}", seal_keys(1).sealing_key()),
        "5b139f7ab176fc5e"
    );
}

#[test]
fn a_random_key_is_of_this_ring_and_its_clones() {
    let keys = SealKeys::random();
    let sealed = keys.seal(PURPOSE, b"plain");
    assert_eq!(keys.clone().open(PURPOSE, &sealed).unwrap(), b"plain");
    let other = SealKeys::random();
    assert_eq!(other.open(PURPOSE, &sealed), Err(UnsealError::UnknownKey));
}

#[test]
fn accepting_twice_adds_nothing() {
    let once = seal_keys(1).accept_secret(&[2; 32]).unwrap();
    let twice = once
        .clone()
        .accept_secret(&[2; 32])
        .unwrap()
        .accept_secret(&[1; 32]);
    assert_eq!(format!("{once:?}"), format!("{:?}", twice.unwrap()));
}
