//! Messages as shared bytes without a reference count.

use bytes::{Buf, Bytes};

/// Up to this size, moving a message is cheaper than an allocation.
const MAX_MOVED: usize = 1024;

/// Returns the message that begins at `start` as shared bytes.
///
/// The bytes of a full vector need no reference count until they are shared,
/// and cutting off their start is free. So a small message is moved to the end
/// of its buffer. If `bytes` ever changes this, the message is still the same.
pub(in crate::jsonrpc) fn into_bytes(mut buffer: Vec<u8>, mut start: usize) -> Bytes {
    let (length, capacity) = (buffer.len(), buffer.capacity());
    if capacity <= MAX_MOVED {
        let spare = capacity - length;
        buffer.resize(capacity, b' ');
        buffer.copy_within(start..length, start + spare);
        start += spare;
    }
    let mut message = Bytes::from(buffer);
    message.advance(start);
    message
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_message_is_what_was_written(
            written in prop::collection::vec(any::<u8>(), 0..1100),
            spare in 0_usize..600,
            start in 0_usize..50,
        ) {
            let start = start.min(written.len());
            let mut buffer = Vec::with_capacity(written.len() + spare);
            buffer.extend_from_slice(&written);
            prop_assert_eq!(&into_bytes(buffer, start)[..], &written[start..]);
        }
    }
}
