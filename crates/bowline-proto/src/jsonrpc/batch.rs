//! JSON-RPC batches, which only one protocol revision has.

use super::{ScanError, ScanErrorKind, scan_error::ScanFault, skip};

/// The messages of one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Messages<'a> {
    /// A frame with a single message.
    Single(&'a [u8]),
    /// A frame with an array of messages, at least one.
    Batch(Vec<&'a [u8]>),
}

/// Splits a batch into its messages; every other frame is returned as it is.
///
/// The items of a batch still have to be [scanned](super::scan); they need not
/// be messages.
///
/// ```
/// use bowline_proto::jsonrpc::{Messages, split_batch};
///
/// let frame = br#"[{"id":1}, {"id":2}]"#;
/// let messages = split_batch(frame).unwrap();
/// assert_eq!(messages, Messages::Batch(vec![br#"{"id":1}"#, br#"{"id":2}"#]));
/// ```
///
/// # Errors
///
/// Returns an error if the frame starts as an array but is not a complete one,
/// or if the array is empty.
pub fn split_batch(frame: &[u8]) -> Result<Messages<'_>, ScanError> {
    let start = skip::whitespace(frame, 0);
    if frame.get(start) != Some(&b'[') {
        return Ok(Messages::Single(frame));
    }
    elements(frame, start)
        .map(Messages::Batch)
        .map_err(|fault| fault.into_error(frame))
}

fn elements(frame: &[u8], start: usize) -> Result<Vec<&[u8]>, ScanFault> {
    let mut at = skip::whitespace(frame, start + 1);
    if frame.get(at) == Some(&b']') {
        return Err(ScanFault::new(ScanErrorKind::EmptyBatch, start));
    }
    let mut elements = Vec::new();
    loop {
        let end = skip::value::<true>(frame, at, 1)?;
        elements.push(&frame[at..end]);
        at = skip::whitespace(frame, end);
        match frame.get(at) {
            Some(b',') => at = skip::whitespace(frame, at + 1),
            Some(b']') => break,
            Some(b'}') => return Err(ScanFault::new(ScanErrorKind::MismatchedBracket, at)),
            Some(_) => return Err(ScanFault::new(ScanErrorKind::NotJson, at)),
            None => return Err(ScanFault::new(ScanErrorKind::UnexpectedEnd, at)),
        }
    }
    match skip::whitespace(frame, at + 1) {
        rest if rest < frame.len() => Err(ScanFault::new(ScanErrorKind::TrailingBytes, rest)),
        _ => Ok(elements),
    }
}
