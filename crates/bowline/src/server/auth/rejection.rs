//! Refusals, in the words of RFC 6750: status, challenge and error.

use http::{HeaderValue, StatusCode};

use super::{protection::Protection, scope, token::Scheme};
use crate::proto::{
    jsonrpc::{ErrorObject, code},
    server::errors,
};

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AuthRejection {
    /// It brings no token.
    NoToken,
    /// What it brings cannot be read.
    MalformedRequest(&'static str),
    /// The token is not good.
    InvalidToken(&'static str),
    /// The token is bound to a key, and the proof is not good.
    InvalidProof(&'static str),
    /// The token is bound to a key, and the proof lacks the nonce that the
    /// answer brings.
    UseNonce,
    /// The token is good, but not for this. These are all scopes that it takes.
    InsufficientScope(Vec<Box<str>>),
    /// Whether the token is good cannot be known now.
    Unavailable,
}

impl AuthRejection {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::NoToken | Self::InvalidToken(_) | Self::InvalidProof(_) | Self::UseNonce => {
                StatusCode::UNAUTHORIZED
            }
            Self::MalformedRequest(_) => StatusCode::BAD_REQUEST,
            Self::InsufficientScope(_) => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The code of RFC 6750, or of RFC 9449, with what to tell people.
    const fn oauth_error(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::NoToken | Self::Unavailable => None,
            Self::MalformedRequest(why) => Some(("invalid_request", why)),
            Self::InvalidToken(why) => Some(("invalid_token", why)),
            Self::InvalidProof(why) => Some(("invalid_dpop_proof", why)),
            Self::UseNonce => Some(("use_dpop_nonce", "the proof lacks the nonce given here")),
            Self::InsufficientScope(_) => Some(("insufficient_scope", "the token is not for this")),
        }
    }

    /// The error in the body, for those who do not look at headers.
    pub(crate) fn to_error_object(&self) -> ErrorObject {
        match self {
            Self::InsufficientScope(scopes) => scope::insufficient_scope_error(scopes),
            Self::Unavailable => errors::internal_error("Tokens cannot be verified now"),
            _ => {
                let why = self
                    .oauth_error()
                    .map_or("it takes a token", |(_, why)| why);
                ErrorObject::new(code::INVALID_REQUEST, format!("Unauthorized: {why}"))
            }
        }
    }

    /// What to put into `WWW-Authenticate`: one challenge for each scheme that
    /// is welcome, with the error at that which the request came with.
    pub(crate) fn challenges(
        &self,
        protection: &Protection,
        used_scheme: Scheme,
    ) -> Vec<HeaderValue> {
        if *self == Self::Unavailable {
            return Vec::new();
        }
        let schemes = [Scheme::Bearer, Scheme::Dpop].into_iter();
        let accepted = schemes.filter(|scheme| protection.accepts_scheme(*scheme));
        let challenges =
            accepted.map(|scheme| self.challenge(protection, scheme, scheme == used_scheme));
        challenges
            .filter_map(|text| HeaderValue::from_str(&text).ok())
            .collect()
    }

    fn challenge(&self, protection: &Protection, scheme: Scheme, with_error: bool) -> String {
        let mut value = match scheme {
            Scheme::Bearer => String::from("Bearer "),
            Scheme::Dpop => format!("DPoP algs=\"{}\", ", super::dpop::ALGORITHMS.join(" ")),
        };
        value.push_str("resource_metadata=\"");
        value.push_str(protection.metadata_url());
        value.push('"');
        if let Some((error, why)) = self.oauth_error().filter(|_| with_error) {
            value.push_str(", error=\"");
            value.push_str(error);
            value.push_str("\", error_description=\"");
            // A verifier of somebody else's may have other ideas of quotes.
            value.extend(
                why.chars()
                    .filter(|it| matches!(it, ' '..='~') && !"\"\\".contains(*it)),
            );
            value.push('"');
        }
        let scopes = match self {
            Self::InsufficientScope(scopes) => scopes,
            _ => protection.required_scopes(),
        };
        if !scopes.is_empty() {
            value.push_str(", scope=\"");
            value.push_str(&scopes.join(" "));
            value.push('"');
        }
        value
    }
}
