//! A string that must not be shown.

use std::{
    fmt,
    hash::{Hash, Hasher},
    hint::black_box,
};

/// A token, a code or a password; only [`expose`](Self::expose) reveals it.
///
/// Comparisons take constant time, and with the feature `zeroize` it is wiped
/// when dropped.
///
/// ```
/// use bowline_proto::auth::Secret;
///
/// let secret = Secret::new("hush");
/// assert_eq!(format!("{secret:?}"), "Secret");
/// assert_eq!(secret.expose(), "hush");
/// ```
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret. A `String` is moved, not copied; wiping earlier copies
    /// is up to the caller.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Returns the secret. The caller must make sure that it does not leak.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "zeroize")]
impl Drop for Secret {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

/// Compares two strings in a time that depends only on their lengths, so an
/// attacker who may guess any number of times learns nothing from the duration.
///
/// ```
/// use bowline_proto::auth::constant_time_eq;
///
/// assert!(constant_time_eq("hush", "hush"));
/// assert!(!constant_time_eq("hush", "hust"));
/// ```
#[must_use]
pub fn constant_time_eq(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    // Keeps the compiler from stopping at the first difference.
    let differing = pairs.fold(0, |all, (one, other)| black_box(all | (one ^ other)));
    one.len() == other.len() && differing == 0
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        constant_time_eq(self.expose(), other.expose())
    }
}

impl Eq for Secret {}

impl Hash for Secret {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expose().hash(state);
    }
}

impl From<&str> for Secret {
    fn from(secret: &str) -> Self {
        Self::new(secret)
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self::new(secret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Does not even show the length.
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_equal_if_all_of_them_is() {
        for (one, other, equal) in [
            ("", "", true),
            ("hush", "hush", true),
            ("hush", "hus", false),
            ("hush", "hushh", false),
            ("hush", "Hush", false),
            ("", "x", false),
        ] {
            assert_eq!(
                Secret::new(one) == Secret::new(other),
                equal,
                "{one} {other}"
            );
        }
    }
}
