//! Parts of a frame that outlive it.

use bytes::Bytes;

/// A part of a frame, for somebody who may hold it for long. Where the frame is
/// much larger, the part is copied: it would hold the whole.
pub(crate) fn slice_or_copy(frame: &Bytes, part: &[u8]) -> Bytes {
    const SLACK: usize = 4096;
    if frame.len() > 2 * part.len() + SLACK {
        Bytes::copy_from_slice(part)
    } else {
        frame.slice_ref(part)
    }
}
