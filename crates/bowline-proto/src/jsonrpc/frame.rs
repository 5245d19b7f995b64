//! Frames out of a byte stream: one message per line.

use std::fmt;

use bytes::{Bytes, BytesMut};
use memchr::memchr;

/// Cuts a byte stream into lines, each a frame, without copying any.
///
/// A line longer than the limit is refused as soon as that is certain, so a
/// peer cannot make us hold more than the limit and one read beyond it.
///
/// ```
/// use bowline_proto::jsonrpc::LineFramer;
///
/// let mut framer = LineFramer::new(1024);
/// framer.push(b"{\"id\":1}\r\n\n{\"id\"");
/// assert_eq!(framer.next_frame().unwrap().unwrap(), r#"{"id":1}"#);
/// assert_eq!(framer.next_frame().unwrap(), None);
/// framer.push(b":2}\n");
/// assert_eq!(framer.next_frame().unwrap().unwrap(), r#"{"id":2}"#);
/// ```
#[derive(Debug)]
pub struct LineFramer {
    buffer: BytesMut,
    /// How much of the buffer is known to have no newline.
    searched: usize,
    limit: usize,
    poison: Option<Oversize>,
}

impl LineFramer {
    /// How much to read at once: what a pipe holds, and enough to make the
    /// system call cheap beside the work.
    pub const READ_SIZE: usize = 64 * 1024;

    /// A framer for frames of up to `limit` bytes, line ends not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            poison: None,
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
    /// Where the line, complete or not, is longer than the limit. The framer is
    /// lost then, and repeats the error: where the next frame begins cannot be
    /// known without reading on, which is what the limit is there to prevent.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, Oversize> {
        if let Some(poison) = &self.poison {
            self.buffer.clear();
            return Err(poison.clone());
        }
        while let Some(found) = memchr(b'\n', &self.buffer[self.searched..]) {
            let end = self.searched + found;
            let length = trimmed(&self.buffer[..end]);
            if length > self.limit {
                return Err(self.poison(length));
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
        let length = trimmed(&self.buffer);
        if length > self.limit {
            return Err(self.poison(length));
        }
        Ok(None)
    }

    /// What is left at the end of the stream: a last line without a newline,
    /// where there is one.
    ///
    /// To be called when [`LineFramer::next_frame`] has nothing more.
    #[must_use]
    pub fn finish(mut self) -> Option<Bytes> {
        self.buffer.truncate(trimmed(&self.buffer));
        let lost = self.poison.is_some() || is_blank(&self.buffer);
        (!lost).then(|| self.buffer.freeze())
    }

    #[cold]
    fn poison(&mut self, length: usize) -> Oversize {
        // A copy, so as not to keep the whole buffer alive for it.
        let prefix = &self.buffer[..length.min(Oversize::PREFIX)];
        let poison = Oversize {
            size_at_least: length,
            limit: self.limit,
            prefix: Bytes::copy_from_slice(prefix),
        };
        self.buffer = BytesMut::new();
        self.searched = 0;
        self.poison = Some(poison.clone());
        poison
    }
}

/// A frame longer than the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oversize {
    /// How much of the frame had come when it was refused.
    pub size_at_least: usize,
    /// What was allowed.
    pub limit: usize,
    /// The beginning of the frame, for [`salvage`](super::salvage()).
    pub prefix: Bytes,
}

impl Oversize {
    /// How much of the frame is kept as its prefix, at most.
    const PREFIX: usize = 4096;
}

impl fmt::Display for Oversize {
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

impl std::error::Error for Oversize {}

/// The length without one carriage return at the end.
fn trimmed(line: &[u8]) -> usize {
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}
