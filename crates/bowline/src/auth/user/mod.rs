//! User agents, which send a person to the sign-in page and receive the
//! redirect.

mod browser;
mod loopback;
mod paste;

use super::{AuthError, AuthorizationResponse};
use crate::transport::BoxFuture;

pub use browser::open_browser;
pub use loopback::Loopback;
pub use paste::Paste;

/// Sends the user to the authorization server.
pub trait UserAgent: Send + Sync + 'static {
    /// Prepares for the user's return. `last_redirect_uri` is the redirect URI
    /// of the last sign-in: using the same one again saves a registration.
    ///
    /// # Errors
    ///
    /// Returns an error if that is not possible.
    fn prepare<'a>(
        &'a self,
        last_redirect_uri: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>>;
}

/// One sign-in of the user at the authorization server.
pub trait AuthorizationSession: Send {
    /// Returns the redirect URI.
    fn redirect_uri(&self) -> &str;

    /// Sends the user to `url`, which is `https` or on this machine, and waits
    /// for the authorization response.
    ///
    /// # Errors
    ///
    /// Returns an error if the user cannot be sent there or does not return.
    fn authorize<'a>(
        self: Box<Self>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<AuthorizationResponse, AuthError>>
    where
        Self: 'a;
}

/// Returns the `state` parameter of an authorization URL.
fn state_param(url: &str) -> Option<String> {
    AuthorizationResponse::parse(url)
        .param("state")
        .map(str::to_owned)
}
