//! What the telemetry of both machines has in common: stable names, and texts
//! of a length that can be kept.

use std::borrow::Cow;

/// How many bytes of a text that somebody else chose an observation keeps. No
/// name of the protocol's is as long.
pub(crate) const MAX_TEXT: usize = 128;

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
pub(crate) trait Text {
    /// Cuts it where it is longer than can be kept. Says how many bytes it
    /// takes then.
    fn cut(&mut self) -> usize;
}

impl Text for Box<str> {
    fn cut(&mut self) -> usize {
        if self.len() > MAX_TEXT {
            // In a place of its own: the rest would be kept otherwise.
            *self = beginning(self).into();
        }
        self.len()
    }
}

impl Text for Cow<'static, str> {
    fn cut(&mut self) -> usize {
        match self {
            Self::Borrowed(_) => 0,
            Self::Owned(text) => {
                if text.len() > MAX_TEXT {
                    *text = beginning(text).to_owned();
                }
                text.len()
            }
        }
    }
}

fn beginning(text: &str) -> &str {
    let mut end = MAX_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "aü".repeat(100);
        let mut boxed: Box<str> = long.as_str().into();
        let mut owned: Cow<'static, str> = Cow::Owned(long.clone());
        assert_eq!((boxed.cut(), owned.cut()), (127, 127));
        assert!(long.starts_with(&*boxed) && *boxed == *owned);
        assert_eq!(boxed.cut(), 127, "once is enough");
    }

    #[test]
    fn what_is_short_stays_as_it_is() {
        let mut boxed: Box<str> = "tools/call".into();
        assert_eq!((boxed.cut(), &*boxed), (10, "tools/call"));
        let mut ours: Cow<'static, str> = Cow::Borrowed("tools/call");
        assert_eq!(ours.cut(), 0, "it takes no room of its own");
    }
}
