//! The OAuth client: signing in and staying signed in.
//!
//! The phases of the flow, in order, one file each: `discover` finds a server's
//! authorization server, `identify` determines our client id there, `authorize`
//! sends the user, `exchange` requests tokens, `refresh` renews them, `step_up`
//! asks for more scopes, and `revoke` ends the sign-in. `flow` combines them,
//! `unattended` is for programs without a user, `dpop` binds tokens to a key.
//! `account` is the state of one server, `record` its stored form.

mod account;
mod authorize;
mod authorizer;
mod client_auth;
mod context;
mod discover;
mod dpop;
mod exchange;
mod flow;
mod identify;
mod record;
mod refresh;
mod revoke;
mod settings;
mod sign_in_status;
mod step_up;
mod unattended;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};

use reqwest::Url;

use self::{account::Account, context::AuthContext, settings::Settings};
use super::{AuthError, AuthErrorKind, Scopes};

use crate::sync;

pub use sign_in_status::SignInStatus;
pub use unattended::IdentityProvider;

/// An OAuth 2.1 client, as the protocol requires it.
///
/// It is an [`Authorizer`](crate::transport::Authorizer): pass it to
/// [`Http::authorizer`](crate::transport::Http::authorizer). One value may
/// serve any number of servers; clones share their state.
///
/// By default it sends a user to the authorization server, which requires a
/// [`user_agent`](Self::user_agent). Programs without a user call
/// [`client_credentials`](Self::client_credentials),
/// [`workload_identity`](Self::workload_identity) or
/// [`identity_provider`](Self::identity_provider).
///
/// A call to a server that requires a sign-in waits for it, up to the call's
/// own timeout. People usually take longer than that, so sign them in
/// beforehand with [`sign_in`](Self::sign_in).
#[derive(Clone)]
pub struct OAuth {
    settings: Arc<Settings>,
    contexts: Arc<Mutex<HashMap<String, AuthContext>>>,
}

impl OAuth {
    /// Creates a client for an application that is known to users and servers
    /// by this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            settings: Arc::new(Settings::new(name)),
            contexts: Arc::default(),
        }
    }

    /// Signs in to the server at `url`, unless it is already signed in or the
    /// server does not require it. Requests more scopes if the current sign-in
    /// lacks configured scopes or [`missing_scopes`](Self::missing_scopes).
    ///
    /// # Errors
    ///
    /// Returns an error if the sign-in fails or the URL is invalid.
    pub async fn sign_in(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::sign_in).await
    }

    /// Returns the known sign-in for the server at `url`, without any network
    /// requests.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails or the URL is invalid.
    pub async fn sign_in_status(&self, url: &str) -> Result<Option<SignInStatus>, AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::sign_in_status).await
    }

    /// Returns the scopes that calls to the server at `url` lacked and did not
    /// get, because no user was available or the user declined.
    /// [`sign_in`](Self::sign_in) asks again. Empty if no scopes are missing or
    /// the URL is invalid.
    #[must_use]
    pub fn missing_scopes(&self, url: &str) -> Scopes {
        let server = parse_server_url(url).ok();
        server.map_or_else(Scopes::default, |url| {
            self.context(&url).account.missing_scopes()
        })
    }

    /// Removes the tokens for the server at `url` from memory and from the
    /// store. They are revoked (RFC 7009) if the authorization server supports
    /// that and is reachable; it is not an error if not.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails or the URL is invalid.
    pub async fn sign_out(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::sign_out).await
    }

    /// Removes this application's registration at the authorization server of
    /// the server at `url`: the next sign-in registers again. Other servers
    /// with the same authorization server may then require a new sign-in, too.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails or the URL is invalid.
    pub async fn forget_registration(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::forget_registration).await
    }

    /// Renews the tokens for the server at `url` now, even if they are still
    /// valid. Tokens that another process has renewed in the meantime are used
    /// instead.
    ///
    /// # Errors
    ///
    /// Returns an error if that fails or there is nothing to renew.
    pub async fn refresh(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::renew).await
    }

    /// Returns the context for one server.
    fn context(&self, server: &Url) -> AuthContext {
        let mut contexts = sync::lock(&self.contexts);
        if let Some(context) = contexts.get(server.as_str()) {
            return context.clone();
        }
        let account = Arc::new(Account::new(server));
        let context = AuthContext::new(Arc::clone(&self.settings), account);
        contexts.insert(server.as_str().to_owned(), context.clone());
        context
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}

/// Parses the URL as the transport does, so both refer to the same account.
fn parse_server_url(url: &str) -> Result<Url, AuthError> {
    let parsed = Url::parse(url).ok();
    let mut url = parsed.filter(Url::has_host).ok_or_else(|| {
        AuthError::new(
            AuthErrorKind::Unreachable,
            "the server URL is not a valid URL",
        )
    })?;
    url.set_fragment(None);
    Ok(url)
}
