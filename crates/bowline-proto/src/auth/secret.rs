//! A text that must not be seen.

use std::fmt;

/// A token, a code, a password: shown by nothing but [`expose`](Self::expose).
///
/// ```
/// use bowline_proto::auth::Secret;
///
/// let secret = Secret::new("hush");
/// assert_eq!(format!("{secret:?}"), "Secret");
/// assert_eq!(secret.expose(), "hush");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text out of sight.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text. Whoever calls this sees to it that it goes nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not even its length.
        f.write_str("Secret")
    }
}
