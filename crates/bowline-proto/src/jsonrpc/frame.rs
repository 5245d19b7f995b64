//! Splitting of a byte stream into frames: one message per line.

use std::fmt;

use bytes::{Bytes, BytesMut};
use memchr::memchr;

use super::partial_envelope::{scan_partial, trailing_id};

/// Splits a byte stream into lines, each a frame, without copying.
///
/// A line longer than the limit is not kept: it is read up to its end and
/// reported once, and the next line is a frame again. So a peer cannot make us
/// hold more than the limit plus one read.
///
/// ```
/// use bowline_proto::jsonrpc::LineFramer;
///
/// let mut framer = LineFramer::new(10);
/// framer.push(b"{\"id\":1}\r\n\n{\"id\"");
/// assert_eq!(framer.next_frame().unwrap().unwrap(), r#"{"id":1}"#);
/// assert_eq!(framer.next_frame().unwrap(), None);
/// framer.push(b":2, \"result\": {}}\n{\"id\":3}\n");
/// assert_eq!(framer.next_frame().unwrap_err().size_at_least, 22);
/// assert_eq!(framer.next_frame().unwrap().unwrap(), r#"{"id":3}"#);
/// ```
#[derive(Debug)]
pub struct LineFramer {
    buffer: BytesMut,
    /// How much of the buffer is known to contain no newline.
    searched: usize,
    limit: usize,
    /// The oversized line that is being skipped.
    skipping: Option<SkippedLine>,
    /// The oversized line whose end was not found.
    unrecoverable: Option<OversizedFrame>,
}

/// What is kept of a line over the limit.
#[derive(Debug)]
struct SkippedLine {
    prefix: Bytes,
    /// The last bytes received so far.
    suffix: Vec<u8>,
    size: usize,
    is_reported: bool,
}

impl LineFramer {
    /// The size of a read: the capacity of a pipe, and large enough to make the
    /// system call cheap compared to the work.
    pub const READ_SIZE: usize = 64 * 1024;

    /// How many times the limit is read while searching for the end of a line.
    const MAX_SKIP_FACTOR: usize = 16;

    /// The minimum that is read while searching for it.
    const MIN_SKIP_LIMIT: usize = 1024 * 1024;

    /// Creates a framer for frames of up to `limit` bytes, not counting line
    /// endings.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            skipping: None,
            unrecoverable: None,
        }
    }

    /// Returns the buffer to append to, with spare capacity for a read.
    ///
    /// After every read, call [`LineFramer::next_frame`] until it returns
    /// `None`; it enforces the limit. Bytes already in the buffer belong to the
    /// framer and must not change.
    pub fn buffer(&mut self) -> &mut BytesMut {
        // Reserving the full size whenever a little is used up would move the
        // start of a frame at almost every read.
        if self.buffer.capacity() - self.buffer.len() < Self::READ_SIZE / 4 {
            self.buffer.reserve(Self::READ_SIZE);
        }
        &mut self.buffer
    }

    /// Appends bytes that were read elsewhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete line that is not blank, without its line
    /// ending.
    ///
    /// # Errors
    ///
    /// Returns an error if a line is longer than the limit: once for each line,
    /// as soon as its id is known or it has ended. Later calls return what
    /// follows it. If its end is not found within a multiple of the limit, the
    /// framer cannot recover ([`OversizedFrame::is_unrecoverable`]) and repeats
    /// the error.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, OversizedFrame> {
        if self.unrecoverable.is_some() || self.skipping.is_some() {
            self.skip()?;
        }
        if self.skipping.is_some() {
            return Ok(None);
        }
        while let Some(found) = memchr(b'\n', &self.buffer[self.searched..]) {
            let end = self.searched + found;
            let length = trimmed_len(&self.buffer[..end]);
            if length > self.limit {
                self.start_skipping();
                self.skip()?;
                continue;
            }
            let mut line = self.buffer.split_to(end + 1);
            self.searched = 0;
            line.truncate(length);
            if !is_blank(&line) {
                return Ok(Some(line.freeze()));
            }
        }
        self.searched = self.buffer.len();
        // A carriage return at the end may be half of the line ending.
        if trimmed_len(&self.buffer) > self.limit {
            self.start_skipping();
            self.skip()?;
        }
        Ok(None)
    }

    /// Returns what is left at the end of the stream: a last line without a
    /// newline, if there is one.
    ///
    /// Call this when [`LineFramer::next_frame`] returns `None`.
    #[must_use]
    pub fn finish(mut self) -> Option<Bytes> {
        self.buffer.truncate(trimmed_len(&self.buffer));
        let is_incomplete =
            self.unrecoverable.is_some() || self.skipping.is_some() || is_blank(&self.buffer);
        (!is_incomplete).then(|| self.buffer.freeze())
    }

    #[cold]
    fn start_skipping(&mut self) {
        let prefix = &self.buffer[..self.buffer.len().min(OversizedFrame::MAX_PREFIX)];
        let prefix = match memchr(b'\n', prefix) {
            Some(end) => &prefix[..trimmed_len(&prefix[..end])],
            None => prefix,
        };
        self.searched = 0;
        self.skipping = Some(SkippedLine {
            // A copy, to not keep the whole buffer alive.
            prefix: Bytes::copy_from_slice(prefix),
            suffix: Vec::new(),
            size: 0,
            is_reported: false,
        });
    }

    /// Continues to the end of the skipped line, as far as it is available.
    #[cold]
    fn skip(&mut self) -> Result<(), OversizedFrame> {
        if let Some(error) = &self.unrecoverable {
            self.buffer.clear();
            return Err(error.clone());
        }
        let Some(mut line) = self.skipping.take() else {
            return Ok(());
        };
        if let Some(end) = memchr(b'\n', &self.buffer) {
            let rest = self.buffer.split_to(end + 1);
            line.push(&rest[..end]);
            return match line.is_reported {
                true => Ok(()),
                false => Err(line.to_error(self.limit)),
            };
        }
        line.push(&self.buffer);
        // Not only cleared: it may have grown as large as a frame.
        self.buffer = BytesMut::new();
        let max_skip = self.limit.saturating_mul(Self::MAX_SKIP_FACTOR);
        if line.size > max_skip.max(Self::MIN_SKIP_LIMIT) {
            let error = OversizedFrame {
                is_unrecoverable: true,
                // The last bytes are not the end of the line, and an id in them
                // may belong to anything.
                prefix: line.prefix.clone(),
                ..line.to_error(self.limit)
            };
            self.unrecoverable = Some(error.clone());
            return Err(error);
        }
        let has_id = scan_partial(&line.prefix).id.is_some();
        let report = has_id && !line.is_reported;
        line.is_reported |= report;
        let pending_error = report.then(|| line.to_error(self.limit));
        self.skipping = Some(line);
        pending_error.map_or(Ok(()), Err)
    }
}

impl SkippedLine {
    /// Appends more of the line.
    fn push(&mut self, bytes: &[u8]) {
        self.size = self.size.saturating_add(bytes.len());
        let tail = &bytes[bytes.len().saturating_sub(OversizedFrame::MAX_SUFFIX)..];
        self.suffix.extend_from_slice(tail);
        let excess = self.suffix.len().saturating_sub(OversizedFrame::MAX_SUFFIX);
        self.suffix.drain(..excess);
    }

    fn to_error(&self, limit: usize) -> OversizedFrame {
        let carriage_return = usize::from(self.suffix.ends_with(b"\r"));
        OversizedFrame {
            size_at_least: self.size - carriage_return,
            limit,
            prefix: identifying_prefix(&self.prefix, &self.suffix),
            is_unrecoverable: false,
        }
    }
}

/// An error for a line longer than the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OversizedFrame {
    /// How much of it had been received when it was reported.
    pub size_at_least: usize,
    /// The limit.
    pub limit: usize,
    /// The start of the line; or, if only its end contains the id, the start of
    /// an equivalent message. For [`scan_partial`](super::scan_partial()).
    pub prefix: Bytes,
    /// Whether the end of the line could not be found: there will be no more
    /// frames.
    pub is_unrecoverable: bool,
}

impl OversizedFrame {
    /// The maximum length of the prefix that is kept.
    const MAX_PREFIX: usize = 4096;
    /// The maximum length of the suffix that is kept.
    const MAX_SUFFIX: usize = 256;
}

impl fmt::Display for OversizedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            size_at_least,
            limit,
            ..
        } = self;
        write!(
            f,
            "a frame of at least {size_at_least} bytes exceeds the limit of {limit} bytes"
        )
    }
}

impl std::error::Error for OversizedFrame {}

/// Returns the bytes that identify the message: its start, or, if the id is at
/// its end, the start of a message of the same kind and id.
fn identifying_prefix(prefix: &Bytes, suffix: &[u8]) -> Bytes {
    let partial = scan_partial(prefix);
    match trailing_id(suffix) {
        Some(id) if partial.id.is_none() => {
            let rest: &[u8] = match partial.is_response {
                true => br#","result":{"#,
                false => br#","method":"","#,
            };
            [br#"{"jsonrpc":"2.0","id":"#, id, rest].concat().into()
        }
        _ => prefix.clone(),
    }
}

/// Returns the length without one carriage return at the end.
fn trimmed_len(line: &[u8]) -> usize {
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}
