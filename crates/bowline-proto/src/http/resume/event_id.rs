//! Event ids: a position in one stream of one session.

use std::fmt;

use super::event_buffer::StreamId;

/// The id of an event, with which a client names the position to resume after.
///
/// It is unique within the session because it contains the stream. It also
/// contains the session's incarnation, so an id from before a restart is
/// recognised as foreign instead of pointing into the wrong stream. To clients
/// it is opaque.
///
/// ```
/// use bowline_proto::http::resume::{EventBuffer, EventBufferLimits, EventId};
/// use bytes::Bytes;
///
/// let mut buffer = EventBuffer::new(0xfeed, EventBufferLimits::default());
/// let stream = buffer.open().unwrap();
/// let id = buffer.record(stream, Bytes::from_static(b"{}")).unwrap();
/// assert_eq!(id.to_string(), "feed-1-1");
/// assert_eq!(EventId::parse(b"feed-1-1"), Some(id));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    pub(super) incarnation: u64,
    pub(super) stream: u64,
    pub(super) sequence: u64,
}

impl EventId {
    /// Parses a `Last-Event-ID` header. Anything that is not exactly as we
    /// write it is `None`.
    #[must_use]
    pub fn parse(raw: &[u8]) -> Option<Self> {
        let mut parts = str::from_utf8(raw).ok()?.split('-');
        let mut part = || canonical_hex(parts.next()?);
        let (incarnation, stream, sequence) = (part()?, part()?, part()?);
        parts.next().is_none().then_some(Self {
            incarnation,
            stream,
            sequence,
        })
    }

    /// Returns the stream that the event belongs to.
    #[must_use]
    pub fn stream(self) -> StreamId {
        StreamId(self.stream)
    }

    /// Writes the id into a buffer, and returns the written part.
    ///
    /// Every event of a stream has an id. Allocating it and formatting its
    /// numbers would cost more than everything else done for the event.
    #[must_use]
    pub fn write(self, buffer: &mut [u8; Self::MAX_LEN]) -> &str {
        let mut end = 0;
        for number in [self.incarnation, self.stream, self.sequence] {
            if end > 0 {
                buffer[end] = b'-';
                end += 1;
            }
            let digits = 16 - (number.leading_zeros() / 4).min(15);
            for digit in (0..digits).rev() {
                let digit = (number >> (4 * digit)) & 0xf;
                buffer[end] = b"0123456789abcdef"[digit as usize];
                end += 1;
            }
        }
        str::from_utf8(&buffer[..end]).unwrap_or_default()
    }

    /// The maximum length of an id in bytes.
    pub const MAX_LEN: usize = 3 * 16 + 2;
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.write(&mut [0; Self::MAX_LEN]))
    }
}

/// Each number has one spelling, so equal ids are equal strings.
fn canonical_hex(hex: &str) -> Option<u64> {
    let lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let canonical = hex == "0" || !hex.starts_with('0');
    let is_valid = canonical && hex.bytes().all(lower_hex);
    is_valid
        .then(|| u64::from_str_radix(hex, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_spelling_is_read() {
        let id = EventId {
            incarnation: u64::MAX,
            stream: 0,
            sequence: 16,
        };
        assert_eq!(id.to_string(), "ffffffffffffffff-0-10");
        let id = EventId {
            incarnation: 0x00f0_0000_0000_0001,
            stream: u64::MAX,
            sequence: u64::MAX,
        };
        let longest = "ffffffffffffffff-ffffffffffffffff";
        assert_eq!(id.to_string(), format!("f0000000000001-{longest}"));
        assert_eq!(EventId::parse(id.to_string().as_bytes()), Some(id));
        for bad in [
            "",
            "-",
            "--",
            "1-2",
            "1-2-3-4",
            "1-2-3-",
            "01-2-3",
            "A-2-3",
            "+1-2-3",
            " 1-2-3",
            "1-2-10000000000000000",
            "1-2-x",
            "1--3",
            "00-2-3",
        ] {
            assert_eq!(EventId::parse(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(EventId::parse(b"\xff-1-1"), None);
    }
}
