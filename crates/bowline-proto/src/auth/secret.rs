//! A text that must not be seen.

use std::{
    fmt,
    hash::{Hash, Hasher},
    hint::black_box,
};

/// A token, a code, a password: shown by nothing but [`expose`](Self::expose).
///
/// It is compared in a time that says nothing of how much of it is right and,
/// with the feature `zeroize`, wiped when it is dropped.
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
    /// Keeps a text out of sight. It is taken over, not copied, if it is a
    /// `String`; where it was before that, is for others to wipe.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The text. Whoever calls this sees to it that it goes nowhere else.
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

/// Whether two texts are the same, in a time that depends on their lengths only:
/// whoever may guess as often as they like learns nothing from how long it took.
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
    // The compiler must not see that one difference would be enough.
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
        // Not even its length.
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
