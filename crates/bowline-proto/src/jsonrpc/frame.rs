//! Frames out of a byte stream: one message per line.

use std::fmt;

use bytes::{Bytes, BytesMut};
use memchr::memchr;

use super::partial_envelope::{scan_partial, trailing_id};

/// Cuts a byte stream into lines, each a frame, without copying any.
///
/// A line longer than the limit is not kept: it is read up to its end and
/// reported once, and the next line is a frame again. So a peer cannot make us
/// hold more than the limit and one read beyond it.
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
    /// How much of the buffer is known to have no newline.
    searched: usize,
    limit: usize,
    /// The line over the limit whose end is looked for.
    skipping: Option<SkippedLine>,
    /// The line whose end was looked for in vain.
    unrecoverable: Option<OversizedFrame>,
}

/// What is kept of a line over the limit.
#[derive(Debug)]
struct SkippedLine {
    prefix: Bytes,
    /// The end of what has come so far.
    suffix: Vec<u8>,
    size: usize,
    is_reported: bool,
}

impl LineFramer {
    /// How much to read at once: what a pipe holds, and enough to make the
    /// system call cheap beside the work.
    pub const READ_SIZE: usize = 64 * 1024;

    /// How many times the limit is read in search of the end of a line.
    const MAX_SKIP_FACTOR: usize = 16;

    /// How much is read in search of it in any case.
    const MIN_SKIP_LIMIT: usize = 1024 * 1024;

    /// A framer for frames of up to `limit` bytes, line ends not counted.
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

    /// The buffer to read into, at its end, with room for a good read.
    ///
    /// After every read, take the frames out with [`LineFramer::next_frame`]
    /// until there are none: the limit is watched there. Bytes already in the
    /// buffer are the framer's own and must stay as they are.
    pub fn buffer(&mut self) -> &mut BytesMut {
        // Asking for the full size whenever a little is used up would move the
        // beginning of a frame at almost every read.
        if self.buffer.capacity() - self.buffer.len() < Self::READ_SIZE / 4 {
            self.buffer.reserve(Self::READ_SIZE);
        }
        &mut self.buffer
    }

    /// Appends bytes that were read elsewhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line that is not blank, without its line end.
    ///
    /// # Errors
    ///
    /// Where a line is longer than the limit: once for each, as soon as it is
    /// known whose it is, or it has ended. What follows it comes with the next
    /// calls. Where its end does not come for very long, the framer is lost
    /// ([`Oversize::is_lost`]), and repeats the error.
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
        // A carriage return at the end may be half of the line end.
        if trimmed_len(&self.buffer) > self.limit {
            self.start_skipping();
            self.skip()?;
        }
        Ok(None)
    }

    /// What is left at the end of the stream: a last line without a newline,
    /// where there is one.
    ///
    /// To be called when [`LineFramer::next_frame`] has nothing more.
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
            // A copy, so as not to keep the whole buffer alive for it.
            prefix: Bytes::copy_from_slice(prefix),
            suffix: Vec::new(),
            size: 0,
            is_reported: false,
        });
    }

    /// Goes on to the end of the line that is skipped, as far as it is there.
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
                // What came last is not its end, and an id in there may be
                // anybody's.
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
    /// Takes in more of the line.
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

/// A line longer than the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OversizedFrame {
    /// How much of it had come when it was reported.
    pub size_at_least: usize,
    /// What was allowed.
    pub limit: usize,
    /// The beginning of the line; or, where only its end says whose it is, the
    /// beginning of such a message. For [`salvage`](super::salvage()).
    pub prefix: Bytes,
    /// Whether it has no end that could be found: there will be no more frames.
    pub is_unrecoverable: bool,
}

impl OversizedFrame {
    /// How much of the line is kept as its prefix, at most.
    const MAX_PREFIX: usize = 4096;
    /// How much of its end is kept, at most.
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
            "a frame of at least {size_at_least} bytes, where {limit} are allowed"
        )
    }
}

impl std::error::Error for OversizedFrame {}

/// What says whose message it is: its beginning, or, where the id stands at its
/// end, the beginning of one of the same kind and id.
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

/// The length without one carriage return at the end.
fn trimmed_len(line: &[u8]) -> usize {
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}
