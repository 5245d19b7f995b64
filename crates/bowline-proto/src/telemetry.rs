//! What the telemetry of both machines has in common: stable names, and texts
//! of a length that can be kept.

use std::borrow::Cow;

/// How many bytes of a text that somebody else chose an observation keeps. No
/// name of the protocol's is as long.
pub(crate) const MAX_STRING_LEN: usize = 128;

/// The names of all observations, each written once: what has no name does not
/// compile, and what has one is in the list.
macro_rules! names {
    ($($variant:ident => $name:literal,)*) => {
        impl Telemetry {
            /// The names of all observations there are.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The stable name of this observation.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                }
            }
        }
    };
}
pub(crate) use names;

/// A text of an observation's, which a peer may have chosen.
pub(crate) trait TruncateString {
    /// Cuts it where it is longer than can be kept. Says how many bytes it
    /// takes then.
    fn truncate(&mut self) -> usize;
}

impl TruncateString for Box<str> {
    fn truncate(&mut self) -> usize {
        if self.len() > MAX_STRING_LEN {
            // In a place of its own: the rest would be kept otherwise.
            *self = prefix(self).into();
        }
        self.len()
    }
}

impl TruncateString for Cow<'static, str> {
    fn truncate(&mut self) -> usize {
        match self {
            Self::Borrowed(_) => 0,
            Self::Owned(string) => {
                if string.len() > MAX_STRING_LEN {
                    *string = prefix(string).to_owned();
                }
                string.len()
            }
        }
    }
}

fn prefix(string: &str) -> &str {
    let mut end = MAX_STRING_LEN;
    while !string.is_char_boundary(end) {
        end -= 1;
    }
    &string[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "aü".repeat(100);
        let mut boxed: Box<str> = long.as_str().into();
        let mut owned: Cow<'static, str> = Cow::Owned(long.clone());
        assert_eq!((boxed.truncate(), owned.truncate()), (127, 127));
        assert!(long.starts_with(&*boxed) && *boxed == *owned);
        assert_eq!(boxed.truncate(), 127, "once is enough");
    }

    #[test]
    fn what_is_short_stays_as_it_is() {
        let mut boxed: Box<str> = "tools/call".into();
        assert_eq!((boxed.truncate(), &*boxed), (10, "tools/call"));
        let mut ours: Cow<'static, str> = Cow::Borrowed("tools/call");
        assert_eq!(ours.truncate(), 0, "it takes no room of its own");
    }
}
