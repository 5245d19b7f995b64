//! Rejections as defined by RFC 6750: status, challenge and error.

use http::{HeaderValue, StatusCode};

use super::{protection::Protection, scope, token::Scheme};
use crate::proto::{
    jsonrpc::{ErrorObject, code},
    server::errors,
};

/// The reason a request is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AuthRejection {
    /// The request has no token.
    NoToken,
    /// The authorization header is malformed.
    MalformedRequest(&'static str),
    /// The token is invalid.
    InvalidToken(&'static str),
    /// The token is bound to a key, and the proof is invalid.
    InvalidProof(&'static str),
    /// The token is bound to a key, and the proof lacks the nonce sent with the
    /// response.
    UseNonce,
    /// The token is valid but lacks scopes. These are all scopes needed.
    InsufficientScope(Vec<Box<str>>),
    /// The token cannot be verified now.
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

    /// Returns the code of RFC 6750 or RFC 9449 and a description.
    const fn oauth_error(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::NoToken | Self::Unavailable => None,
            Self::MalformedRequest(why) => Some(("invalid_request", why)),
            Self::InvalidToken(why) => Some(("invalid_token", why)),
            Self::InvalidProof(why) => Some(("invalid_dpop_proof", why)),
            Self::UseNonce => Some((
                "use_dpop_nonce",
                "the proof must contain the nonce in the DPoP-Nonce header",
            )),
            Self::InsufficientScope(_) => {
                Some(("insufficient_scope", "the token lacks a required scope"))
            }
        }
    }

    /// Returns the error for the body, for clients that ignore headers.
    pub(crate) fn to_error_object(&self) -> ErrorObject {
        match self {
            Self::InsufficientScope(scopes) => scope::insufficient_scope_error(scopes),
            Self::Unavailable => {
                errors::internal_error("Tokens cannot be verified now, try again later")
            }
            _ => {
                let why = self
                    .oauth_error()
                    .map_or("a token is required", |(_, why)| why);
                ErrorObject::new(code::INVALID_REQUEST, format!("Unauthorized: {why}"))
            }
        }
    }

    /// Returns the `WWW-Authenticate` values: one challenge for each accepted
    /// scheme, with the error on the scheme that the request used.
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
            // A third-party verifier may use other characters.
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
