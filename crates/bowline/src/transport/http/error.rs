//! Errors in the configuration of an HTTP transport.

use std::fmt;

/// Why an [`Http`](super::Http) transport cannot be configured.
///
/// Names the setting and never includes a value, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpConfigError {
    /// The string is not a URL, or has no host.
    InvalidUrl,
    /// The URL is neither `http` nor `https`.
    UnsupportedScheme,
    /// The URL contains a user name or password, which would end up in logs.
    CredentialsInUrl,
    /// The header name is invalid.
    InvalidHeaderName,
    /// The header value contains a line break or another control character.
    InvalidHeaderValue {
        /// The header.
        name: Box<str>,
    },
    /// The transport sets this header itself.
    ReservedHeader {
        /// The header.
        name: Box<str>,
    },
    /// Credentials would be sent over plain `http` to another machine, where
    /// others can read them.
    CredentialsOverPlainHttp,
    /// Client credentials are configured, but the feature `auth` is not
    /// enabled.
    NeedsAuth,
}

impl fmt::Display for HttpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUrl => f.write_str("the server URL is not a valid URL with a host"),
            Self::UnsupportedScheme => f.write_str("the server URL must use http or https"),
            Self::CredentialsInUrl => f.write_str(
                "the server URL contains a user name or password; send them in a header instead",
            ),
            Self::InvalidHeaderName => f.write_str("invalid header name"),
            Self::InvalidHeaderValue { name } => {
                write!(
                    f,
                    "invalid value for the header {name}: it contains a control character"
                )
            }
            Self::ReservedHeader { name } => {
                write!(
                    f,
                    "the header {name} is reserved for the transport; remove it"
                )
            }
            Self::CredentialsOverPlainHttp => f.write_str(super::authorizer::PLAIN_HTTP_MESSAGE),
            Self::NeedsAuth => f.write_str(
                "client credentials are configured, but this program was built without the \
                 feature `auth`",
            ),
        }
    }
}

impl std::error::Error for HttpConfigError {}
