//! The token of a request and where it may appear.

use std::{fmt, net::IpAddr};

use http::{HeaderValue, header, request::Parts};

use super::TokenClaims;
use crate::proto::auth::Secret;

/// An access token from a request. It is never printed.
#[derive(Clone, Copy)]
pub struct AccessToken<'a> {
    pub(super) secret: &'a str,
    pub(super) peer: Option<IpAddr>,
}

impl<'a> AccessToken<'a> {
    /// Returns the token itself. Do not log it or pass it on to anyone but its
    /// issuer.
    #[must_use]
    pub const fn secret(self) -> &'a str {
        self.secret
    }

    /// Returns the address the token came from, if known, so verifiers that
    /// make calls can limit each client's share. For IPv6 this is the network.
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

/// The authentication scheme of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Anyone who has the token may use it.
    Bearer,
    /// With a proof of possession of a key.
    Dpop,
}

impl Scheme {
    /// Returns the scheme the token with these claims was presented with.
    pub(crate) fn for_claims(claims: &TokenClaims) -> Self {
        if claims.key_thumbprint().is_some() {
            Self::Dpop
        } else {
            Self::Bearer
        }
    }
}

/// A token presented in a request.
pub(super) struct PresentedToken {
    pub(super) scheme: Scheme,
    pub(super) token: Secret,
}

/// Removes the token from a request, so it is not passed on. It is read from
/// the `Authorization` header only. Other schemes are not tokens.
///
/// # Errors
///
/// Returns an error if the header is ambiguous or malformed.
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
        return Err("there is a token in the query in addition to the header");
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

/// The characters allowed by RFC 6750.
fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && body.bytes().all(allowed)
}

fn has_token_param(query: Option<&str>) -> bool {
    let mut pairs = query.unwrap_or_default().split('&');
    pairs.any(|pair| pair.split('=').next() == Some("access_token"))
}
