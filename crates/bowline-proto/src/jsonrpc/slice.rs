//! Slices of a frame that outlive it.

use bytes::Bytes;

/// Returns a part of a frame that may be held for long. If the frame is much
/// larger, the part is copied, since a slice would keep the whole frame alive.
pub(crate) fn slice_or_copy(frame: &Bytes, part: &[u8]) -> Bytes {
    const SLACK: usize = 4096;
    if frame.len() > 2 * part.len() + SLACK {
        Bytes::copy_from_slice(part)
    } else {
        frame.slice_ref(part)
    }
}
