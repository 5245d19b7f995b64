//! Parts of a frame: where they are, and how they outlive it.

use std::ops::Range;

use bytes::Bytes;

/// Returns where in `whole` a part of it is. Returns `None` if `part` is not a
/// slice of `whole`, even if the bytes are equal.
///
/// ```
/// use bowline_proto::jsonrpc::range_of;
///
/// let whole = b"[1,22]";
/// assert_eq!(range_of(&whole[3..5], whole), Some(3..5));
/// assert_eq!(range_of(&[b'2', b'2'], whole), None);
/// ```
#[must_use]
#[inline]
pub fn range_of(part: &[u8], whole: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

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
