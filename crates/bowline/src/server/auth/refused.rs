//! Refusals, in the words of RFC 6750: status, challenge and error.

use http::{HeaderValue, StatusCode};

use super::{protection::Protection, scope, token::Scheme};
use crate::proto::{
    jsonrpc::{ErrorObject, code},
    server::errors,
};

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It brings no token.
    NoToken,
    /// What it brings cannot be read.
    Malformed(&'static str),
    /// The token is not good.
    Invalid(&'static str),
    /// The token is bound to a key, and the proof is not good.
    BadProof(&'static str),
    /// The token is bound to a key, and the proof lacks the nonce that the
    /// answer brings.
    UseNonce,
    /// The token is good, but not for this. These are all scopes that it takes.
    Insufficient(Vec<Box<str>>),
    /// Whether the token is good cannot be known now.
    Unavailable,
}

impl Refused {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::NoToken | Self::Invalid(_) | Self::BadProof(_) | Self::UseNonce => {
                StatusCode::UNAUTHORIZED
            }
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Insufficient(_) => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The code of RFC 6750, or of RFC 9449, with what to tell people.
    const fn error(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::NoToken | Self::Unavailable => None,
            Self::Malformed(why) => Some(("invalid_request", why)),
            Self::Invalid(why) => Some(("invalid_token", why)),
            Self::BadProof(why) => Some(("invalid_dpop_proof", why)),
            Self::UseNonce => Some(("use_dpop_nonce", "the proof lacks the nonce given here")),
            Self::Insufficient(_) => Some(("insufficient_scope", "the token is not for this")),
        }
    }

    /// The error in the body, for those who do not look at headers.
    pub(crate) fn object(&self) -> ErrorObject {
        match self {
            Self::Insufficient(scopes) => scope::insufficient(scopes),
            Self::Unavailable => errors::internal("Tokens cannot be verified now"),
            _ => {
                let why = self.error().map_or("it takes a token", |(_, why)| why);
                ErrorObject::new(code::INVALID_REQUEST, format!("Unauthorized: {why}"))
            }
        }
    }

    /// What to put into `WWW-Authenticate`: one challenge for each scheme that
    /// is welcome, with the error at that which the request came with.
    pub(crate) fn challenges(&self, protection: &Protection, came: Scheme) -> Vec<HeaderValue> {
        if *self == Self::Unavailable {
            return Vec::new();
        }
        let schemes = [Scheme::Bearer, Scheme::Dpop].into_iter();
        let welcome = schemes.filter(|scheme| protection.welcomes(*scheme));
        let challenges = welcome.map(|scheme| self.challenge(protection, scheme, scheme == came));
        challenges
            .filter_map(|text| HeaderValue::from_str(&text).ok())
            .collect()
    }

    fn challenge(&self, protection: &Protection, scheme: Scheme, came: bool) -> String {
        let mut text = match scheme {
            Scheme::Bearer => String::from("Bearer "),
            Scheme::Dpop => format!("DPoP algs=\"{}\", ", super::dpop::ALGORITHMS.join(" ")),
        };
        text.push_str("resource_metadata=\"");
        text.push_str(protection.metadata_url());
        text.push('"');
        if let Some((error, why)) = self.error().filter(|_| came) {
            text.push_str(", error=\"");
            text.push_str(error);
            text.push_str("\", error_description=\"");
            // A verifier of somebody else's may have other ideas of quotes.
            text.extend(
                why.chars()
                    .filter(|it| matches!(it, ' '..='~') && !"\"\\".contains(*it)),
            );
            text.push('"');
        }
        let scopes = match self {
            Self::Insufficient(scopes) => scopes,
            _ => protection.scopes(),
        };
        if !scopes.is_empty() {
            text.push_str(", scope=\"");
            text.push_str(&scopes.join(" "));
            text.push('"');
        }
        text
    }
}
