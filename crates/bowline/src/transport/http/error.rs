//! What can be wrong with the settings of an HTTP transport.

use std::fmt;

/// Why an [`Http`](super::Http) transport cannot be set up so.
///
/// It names the setting and never repeats a value: those may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpConfigError {
    /// The text is not a URL, or has no host.
    InvalidUrl,
    /// The URL is neither `http` nor `https`.
    UnsupportedScheme,
    /// The URL holds a user name or a password, which would end up in logs.
    CredentialsInUrl,
    /// The header's name is not one.
    InvalidHeaderName,
    /// The header's value has a line break or another control character in it.
    InvalidHeaderValue {
        /// The header.
        name: Box<str>,
    },
    /// The transport sets this header itself.
    ReservedHeader {
        /// The header.
        name: Box<str>,
    },
    /// Credentials would go over plain `http` to another machine, where others
    /// can read them.
    CredentialsOverPlainHttp,
    /// To get a token takes the feature `auth`, which this program is without.
    NeedsAuth,
}

impl fmt::Display for HttpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUrl => f.write_str("the URL of the server cannot be read"),
            Self::UnsupportedScheme => f.write_str("the URL of the server must be http or https"),
            Self::CredentialsInUrl => f.write_str(
                "the URL of the server holds credentials; send them in a header instead",
            ),
            Self::InvalidHeaderName => f.write_str("the name of a header is not one"),
            Self::InvalidHeaderValue { name } => {
                write!(f, "the value of the header {name} cannot be sent")
            }
            Self::ReservedHeader { name } => {
                write!(f, "the header {name} is set by the transport itself")
            }
            Self::CredentialsOverPlainHttp => f.write_str(super::authorizer::PLAIN_HTTP_MESSAGE),
            Self::NeedsAuth => f.write_str(
                "the configuration has client credentials, and this program was built without \
                 the feature `auth`, which could use them",
            ),
        }
    }
}

impl std::error::Error for HttpConfigError {}
