//! A user agent for sign-ins that are copied and pasted by hand.

use std::{fmt, sync::Arc};

use super::{AuthorizationSession, UserAgent, state_param};
use crate::{
    auth::{AuthError, AuthorizationResponse},
    proto::auth::encode_form,
    transport::BoxFuture,
};

/// The address that the browser ends up at: nothing listens there, and the user
/// copies the address.
const DEFAULT_REDIRECT_URI: &str = "http://127.0.0.1:8914/callback";

type AskFn = dyn Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync;

/// Shows the user a URL, and reads the address that they end up at, or just the
/// code: for machines without a browser.
///
/// ```
/// use bowline::auth::Paste;
///
/// let user = Paste::new(async |url| {
///     let _ = url; // Show it, and read a line.
///     Some("http://127.0.0.1:8914/callback?code=c&state=s".to_owned())
/// });
/// # drop(user);
/// ```
#[derive(Clone)]
pub struct Paste {
    redirect_uri: String,
    ask: Arc<AskFn>,
}

impl Paste {
    /// Creates a user agent from a function that receives the URL to open, and
    /// returns the pasted string, or `None` if the user declines.
    pub fn new<F, Fut>(ask: F) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Option<String>> + Send + 'static,
    {
        Self {
            redirect_uri: DEFAULT_REDIRECT_URI.to_owned(),
            ask: Arc::new(move |url| Box::pin(ask(url))),
        }
    }

    /// Sets the address that the browser ends up at.
    #[must_use]
    pub fn redirect_uri(mut self, redirect_uri: &str) -> Self {
        redirect_uri.clone_into(&mut self.redirect_uri);
        self
    }
}

impl fmt::Debug for Paste {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paste")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

impl UserAgent for Paste {
    fn prepare<'a>(
        &'a self,
        _last_redirect_uri: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>> {
        let session = Box::new(self.clone()) as Box<dyn AuthorizationSession>;
        Box::pin(async { Ok(session) })
    }
}

impl AuthorizationSession for Paste {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(
        self: Box<Self>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<AuthorizationResponse, AuthError>>
    where
        Self: 'a,
    {
        let state = state_param(url).unwrap_or_default();
        let answer = (self.ask)(url.to_owned());
        Box::pin(async move {
            let pasted = answer.await;
            let pasted = pasted.ok_or_else(|| AuthError::user("the user did not sign in"))?;
            Ok(parse_pasted(pasted.trim(), &state))
        })
    }
}

/// Parses an address or just a code. A bare code does not name its issuer; but
/// it can only be used with the verifier, and only where it was issued.
fn parse_pasted(pasted: &str, state: &str) -> AuthorizationResponse {
    if ["code=", "error="].iter().any(|name| pasted.contains(name)) {
        AuthorizationResponse::parse(pasted)
    } else {
        AuthorizationResponse::parse(&encode_form([("code", pasted), ("state", state)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_codes_are_read() {
        for pasted in [
            "http://127.0.0.1:8914/callback?code=a%2Fb&state=s",
            "code=a/b&state=s",
        ] {
            assert_eq!(parse_pasted(pasted, "t").param("code"), Some("a/b"));
            assert_eq!(parse_pasted(pasted, "t").param("state"), Some("s"));
        }
        assert_eq!(parse_pasted("a/b", "t").param("code"), Some("a/b"));
        assert_eq!(parse_pasted("a/b", "t").param("state"), Some("t"));
    }
}
