//! Getting a person to the page where they sign in, and back.

mod browser;
mod loopback;
mod paste;

use super::{AuthError, AuthorizationResponse};
use crate::transport::BoxFuture;

pub use loopback::Loopback;
pub use paste::Paste;

/// Knows how to send the user somewhere.
pub trait UserAgent: Send + Sync + 'static {
    /// Gets ready for the user to come back. `last` is where they came back to
    /// the last time: a place that is the same again saves a registration.
    ///
    /// # Errors
    ///
    /// Where that cannot be done.
    fn prepare<'a>(
        &'a self,
        last_redirect_uri: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>>;
}

/// One visit of the user's to the authorization server.
pub trait AuthorizationSession: Send {
    /// Where they come back to.
    fn redirect_uri(&self) -> &str;

    /// Sends the user to `url`, which is `https` or on this machine, and waits
    /// for what they bring back.
    ///
    /// # Errors
    ///
    /// Where they cannot be sent, or do not come back.
    fn authorize<'a>(
        self: Box<Self>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<AuthorizationResponse, AuthError>>
    where
        Self: 'a;
}

/// The `state` in a URL of ours.
fn state_param(url: &str) -> Option<String> {
    AuthorizationResponse::parse(url)
        .param("state")
        .map(str::to_owned)
}
