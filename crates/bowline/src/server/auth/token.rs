//! The token that a request brings: where it may stand, and where not.

use std::{fmt, net::IpAddr};

use http::{HeaderValue, header, request::Parts};

use super::Grant;
use crate::proto::auth::Secret;

/// An access token, as a request brought it. It is never shown.
#[derive(Clone, Copy)]
pub struct AccessToken<'a> {
    pub(super) secret: &'a str,
    pub(super) peer: Option<IpAddr>,
}

impl<'a> AccessToken<'a> {
    /// The token itself. Do not log it, do not pass it on to anybody but its
    /// issuer.
    #[must_use]
    pub const fn secret(self) -> &'a str {
        self.secret
    }

    /// The address that it was brought from, where that is known: for
    /// verifiers that ask others, and let no one caller have them ask for all.
    /// Of an address of version 6 it is the network.
    #[must_use]
    pub const fn peer(self) -> Option<IpAddr> {
        self.peer
    }
}

impl fmt::Debug for AccessToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

/// How a token is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Whoever bears it may use it.
    Bearer,
    /// With a proof that the bearer holds a key.
    Dpop,
}

impl Scheme {
    /// How the token of this grant was presented.
    pub(crate) fn for_grant(grant: &Grant) -> Self {
        if grant.key_thumbprint().is_some() {
            Self::Dpop
        } else {
            Self::Bearer
        }
    }
}

/// A token that a request brought.
pub(super) struct PresentedToken {
    pub(super) scheme: Scheme,
    pub(super) token: Secret,
}

/// Takes the token out of a request, so that it goes no further. It is read
/// from its header, and from nowhere else. What is neither of our schemes is no
/// token.
///
/// # Errors
///
/// Where what there is can be read in several ways, or in none.
pub(super) fn take_token(parts: &mut Parts) -> Result<Option<PresentedToken>, &'static str> {
    let header::Entry::Occupied(entry) = parts.headers.entry(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let values: Vec<_> = entry.remove_entry_mult().1.collect();
    let [value] = &values[..] else {
        return Err("there is more than one Authorization header");
    };
    let presented = parse_authorization(value)?;
    if presented.is_some() && has_token_param(parts.uri.query()) {
        return Err("there is a token in the query beside that in the header");
    }
    Ok(presented)
}

fn parse_authorization(value: &HeaderValue) -> Result<Option<PresentedToken>, &'static str> {
    let malformed = "the Authorization header is malformed";
    let value = value.to_str().map_err(|_| malformed)?;
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    let scheme = if scheme.eq_ignore_ascii_case("bearer") {
        Scheme::Bearer
    } else if scheme.eq_ignore_ascii_case("dpop") {
        Scheme::Dpop
    } else {
        return Ok(None);
    };
    let token = token.trim_matches(' ');
    if !is_token(token) {
        return Err(malformed);
    }
    let token = Secret::from(token);
    Ok(Some(PresentedToken { scheme, token }))
}

/// The characters of RFC 6750.
fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && body.bytes().all(allowed)
}

fn has_token_param(query: Option<&str>) -> bool {
    let mut pairs = query.unwrap_or_default().split('&');
    pairs.any(|pair| pair.split('=').next() == Some("access_token"))
}
