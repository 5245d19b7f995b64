//! Shared parts of client and server telemetry: violations, stable names and string
//! truncation.

use std::borrow::Cow;

/// The maximum length in bytes of a peer-supplied string in an observation. Every name
/// that the protocol defines is shorter.
pub(crate) const MAX_STRING_LEN: usize = 128;

/// Defines the names of all observations in one place: a variant without a name does
/// not compile, and every name is in the list.
macro_rules! names {
    ($($variant:ident => $name:literal,)*) => {
        impl TelemetryEvent {
            /// The names of all observations.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Returns the stable name of this observation.
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

/// A violation of the protocol by the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// A frame is not valid JSON-RPC.
    MalformedMessage,
    /// A frame exceeded the size limit.
    OversizedFrame,
    /// A batch arrived in a revision without batches.
    Batch,
    /// A server sent a request in a revision without server requests.
    ServerRequest,
    /// A client sent a response in an era without calls to clients.
    ClientResponse,
    /// A server sent `initialize`, or a client sent it a second time.
    SecondInitialize,
    /// A client sent a request that needs a session before it opened one.
    NoSession,
    /// A request reused the id of an open request.
    DuplicateId,
    /// More requests were open than allowed.
    TooManyRequests,
    /// A response of the wrong kind arrived.
    InvalidResponse,
    /// A notification has invalid parameters, or arrived at the wrong time.
    InvalidNotification,
}

/// A string in an observation that a peer may have supplied.
pub(crate) trait TruncateString {
    /// Truncates the string to [`MAX_STRING_LEN`] and returns the number of heap bytes
    /// it uses afterwards.
    fn truncate(&mut self) -> usize;
}

impl TruncateString for Box<str> {
    fn truncate(&mut self) -> usize {
        if self.len() > MAX_STRING_LEN {
            // Copied into a new allocation; truncating in place would keep the old
            // capacity.
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
