//! Signing in by OAuth, and staying signed in.
//!
//! The phases of the flow, in their order, each in its file: `discover` finds
//! out who guards a server, `identify` under which name we go there,
//! `authorize` sends the user, `exchange` makes tokens of what they bring,
//! `refresh` renews those, `step_up` asks for more, and `revoke` ends it. `flow`
//! puts them together, `machine` is for those who have no user, `proof` binds
//! tokens to a key. `account` is what is known of one server, `record` how it is kept.

mod account;
mod authorize;
mod context;
mod credentials;
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
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::Url;

use self::{account::Account, context::AuthContext, settings::Settings};
use super::{AuthError, AuthErrorKind, Scopes};

pub use sign_in_status::SignInStatus;
pub use unattended::IdentityProvider;

/// Gets into servers by OAuth 2.1, as the protocol wants it.
///
/// It is an [`Authorizer`](crate::transport::Authorizer): give it to
/// [`Http::authorizer`](crate::transport::Http::authorizer). One value may
/// serve any number of servers; clones share what they know.
///
/// Unless told otherwise it sends a user to the authorization server, for which
/// it needs a [`user`](Self::user). Programs that act on their own have
/// [`client_credentials`](Self::client_credentials),
/// [`workload_identity`](Self::workload) or [`enterprise`](Self::enterprise).
///
/// When a call meets a server that wants a sign-in, the call waits for it, up
/// to its own deadline. People take longer than that, as a rule: so sign them in
/// beforehand with [`sign_in`](Self::sign_in).
#[derive(Clone)]
pub struct OAuth {
    settings: Arc<Settings>,
    contexts: Arc<Mutex<HashMap<String, AuthContext>>>,
}

impl OAuth {
    /// For an application that goes by this name with users and servers.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            settings: Arc::new(Settings::new(name)),
            contexts: Arc::default(),
        }
    }

    /// Signs in at the server at `url`, unless it is known to be signed in, or
    /// wants nobody to be. Asks for more, if the sign-in that is there lacks
    /// scopes of the settings, or [`lacking`](Self::lacking) ones.
    ///
    /// # Errors
    ///
    /// Where that fails, or the URL is none.
    pub async fn sign_in(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::sign_in).await
    }

    /// How we stand with the server at `url`, as far as is known here: nobody
    /// else is asked.
    ///
    /// # Errors
    ///
    /// Where the store fails, or the URL is none.
    pub async fn sign_in_status(&self, url: &str) -> Result<Option<SignInStatus>, AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::sign_in_status).await
    }

    /// The scopes that calls to the server at `url` lacked, and did not get:
    /// nobody was there to ask, or they said no. [`sign_in`](Self::sign_in)
    /// asks again. Empty where all went well, or the URL is none.
    #[must_use]
    pub fn missing_scopes(&self, url: &str) -> Scopes {
        let server = parse_server_url(url).ok();
        server.map_or_else(Scopes::default, |url| {
            self.context(&url).account.missing_scopes()
        })
    }

    /// Forgets the tokens for the server at `url`, here and in the store. The
    /// authorization server is told (RFC 7009), if it wants to know and can be
    /// reached; that it cannot is no error.
    ///
    /// # Errors
    ///
    /// Where the store fails, or the URL is none.
    pub async fn sign_out(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::sign_out).await
    }

    /// Forgets the registration of this application at the authorization server
    /// of the server at `url`: the next sign-in registers anew. Other servers
    /// with the same authorization server may want a new sign-in then, too.
    ///
    /// # Errors
    ///
    /// Where the store fails, or the URL is none.
    pub async fn forget_registration(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::forget_registration).await
    }

    /// Renews the tokens for the server at `url` now, though they may still be
    /// good. If another process has done so in the meantime, that will do.
    ///
    /// # Errors
    ///
    /// Where that fails, or there is nothing to renew.
    pub async fn refresh(&self, url: &str) -> Result<(), AuthError> {
        let context = self.context(&parse_server_url(url)?);
        context.run_detached(AuthContext::renew).await
    }

    /// The work on one server.
    fn context(&self, server: &Url) -> AuthContext {
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
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

/// The URL as the transport has it, so that both mean the same account.
fn parse_server_url(url: &str) -> Result<Url, AuthError> {
    let parsed = Url::parse(url).ok();
    let mut url = parsed.filter(Url::has_host).ok_or_else(|| {
        AuthError::new(AuthErrorKind::Unreachable, "the URL of the server is none")
    })?;
    url.set_fragment(None);
    Ok(url)
}
