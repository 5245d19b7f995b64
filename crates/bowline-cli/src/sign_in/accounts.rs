//! The user's sign-ins.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use bowline::auth::{OAuth, SignInStatus};

use super::{CLIENT_NAME, auth_failure, user_agent::InteractiveUser};
use crate::{dirs, failure::Failure};

/// The tokens in the user's state directory, and the interactive user. Clones
/// share state.
#[derive(Clone, Default)]
pub(crate) struct Accounts(Arc<Shared>);

#[derive(Default)]
struct Shared {
    oauth: OnceLock<OAuth>,
    user: InteractiveUser,
}

impl Accounts {
    /// Returns the OAuth client that uses them and asks the attached user.
    pub(super) fn oauth(&self) -> Result<&OAuth, Failure> {
        if let Some(oauth) = self.0.oauth.get() {
            return Ok(oauth);
        }
        let oauth = OAuth::new(CLIENT_NAME).user_agent(self.0.user.clone());
        #[cfg(unix)]
        let oauth = {
            let folder = token_dir().ok_or_else(|| Failure::usage("home directory not found"))?;
            let store = bowline::auth::FileStore::open(&folder)
                .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
            oauth.store(store)
        };
        Ok(self.0.oauth.get_or_init(|| oauth))
    }

    /// Returns the OAuth client if the user has signed in anywhere. Otherwise
    /// nothing is created on disk.
    pub(super) fn oauth_if_used(&self) -> Result<Option<&OAuth>, Failure> {
        match token_dir().is_some_and(|folder| folder.is_dir()) {
            true => self.oauth().map(Some),
            false => Ok(None),
        }
    }

    pub(super) fn user(&self) -> &InteractiveUser {
        &self.0.user
    }

    /// Returns the sign-in status for the server at this URL.
    pub(crate) async fn sign_in_status(&self, url: &str) -> Result<Option<SignInStatus>, Failure> {
        match self.oauth_if_used()? {
            Some(oauth) => oauth
                .sign_in_status(url)
                .await
                .map_err(|error| auth_failure(&error)),
            None => Ok(None),
        }
    }

    /// Deletes the tokens for the server at this URL, and our client
    /// registration at its authorization server, which may have deleted it too.
    pub(crate) async fn sign_out(&self, url: &str) -> Result<(), Failure> {
        let Some(oauth) = self.oauth_if_used()? else {
            return Ok(());
        };
        let signed_out = oauth.sign_out(url).await;
        let forgotten = oauth.forget_registration(url).await;
        signed_out
            .and(forgotten)
            .map_err(|error| auth_failure(&error))
    }
}

impl fmt::Debug for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Accounts")
    }
}

fn token_dir() -> Option<PathBuf> {
    dirs::state_dir().map(|folder| folder.join("tokens"))
}
