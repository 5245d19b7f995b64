//! Tokens in a keyring.

use std::{fs, path::PathBuf, sync::Arc};

use bowline::auth::{
    AuthErrorKind, KeyringStore, OAuth,
    keyring_core::{CredentialStore, Error, mock},
};

use super::{Setup, call};
use crate::http_client::rig::within;

/// A keyring, and a folder for the locks that is gone at the end.
struct Keyring {
    keyring: Arc<CredentialStore>,
    locks: PathBuf,
}

impl Keyring {
    fn new(name: &str) -> Self {
        let name = format!("bowline-keyring-{name}-{}", std::process::id());
        let locks = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&locks);
        let keyring = mock::Store::new().expect("a keyring");
        Self { keyring, locks }
    }

    fn oauth(&self, setup: &Setup) -> OAuth {
        let store = KeyringStore::open(Arc::clone(&self.keyring), "Knots", &self.locks);
        let store = store.expect("a store");
        assert!(!format!("{store:?}").contains("hush"));
        OAuth::new("Knots")
            .user_agent(setup.user.clone())
            .store(store)
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.locks);
    }
}

#[tokio::test]
async fn a_sign_in_outlives_the_process_that_made_it() {
    let keyring = Keyring::new("outlives");
    let mut setup = Setup::new().await;
    setup.oauth = keyring.oauth(&setup);
    let url = setup.shop.url();
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    setup.oauth = keyring.oauth(&setup);
    let client = setup.connected().await;
    call(&client).await.expect("they are let in");
    assert_eq!(setup.user.visits(), 1);
    for entry in fs::read_dir(&keyring.locks).expect("a folder") {
        let kept = fs::read(entry.expect("an entry").path()).expect("a file");
        assert_eq!(kept, b"", "there is nothing in the files");
    }
    within(setup.oauth.sign_out(&url)).await.expect("out");
    let known = within(keyring.oauth(&setup).sign_in_status(&url)).await;
    assert_eq!(known.expect("known"), None);
}

#[tokio::test]
async fn those_who_share_a_keyring_take_turns() {
    let keyring = Keyring::new("turns");
    let mut setup = Setup::new().await;
    setup.oauth = keyring.oauth(&setup);
    let url = setup.shop.url();
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    let renew = async |oauth: OAuth| {
        for _ in 0..25 {
            within(oauth.refresh(&url)).await.expect("renewed");
        }
    };
    tokio::join!(
        renew(keyring.oauth(&setup)),
        renew(keyring.oauth(&setup)),
        renew(keyring.oauth(&setup))
    );
    assert_eq!(setup.guard.books().reused, 0, "no token was used twice");
    assert_eq!(setup.user.visits(), 1);
}

#[tokio::test]
async fn a_keyring_that_is_locked_is_an_error_without_what_it_has() {
    for (error, words) in [
        (Error::NoStorageAccess("locked".into()), "locked"),
        (Error::BadEncoding(b"hush".to_vec()), "unexpected format"),
    ] {
        let keyring = Keyring::new("locked");
        let mut setup = Setup::new().await;
        setup.oauth = keyring.oauth(&setup);
        let url = setup.shop.url();
        within(setup.oauth.sign_in(&url)).await.expect("signed in");
        let entries = keyring.keyring.search(&[].into()).expect("entries");
        let mut error = Some(error);
        for entry in entries {
            let credential = entry.as_any().downcast_ref::<mock::Cred>();
            let (service, name) = entry.get_specifiers().expect("a name");
            assert_eq!(service, "Knots");
            if name.starts_with("server-") {
                credential
                    .expect("a mock")
                    .set_error(error.take().expect("one"));
            }
        }
        assert!(error.is_none(), "there was such an entry");
        let failed = within(keyring.oauth(&setup).sign_in_status(&url)).await;
        let failed = failed.expect_err("it cannot be read");
        assert_eq!(failed.kind(), AuthErrorKind::Store);
        let said = format!("{failed} {failed:?}");
        assert!(said.contains(words) && !said.contains("hush"), "{said}");
        assert!(!said.contains("104, 117"), "not as bytes either: {said}");
    }
}
