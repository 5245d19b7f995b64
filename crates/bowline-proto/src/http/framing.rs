//! Strict framing of the requests of an HTTP/1.1 connection.

use std::fmt;

/// How many bytes of a line are kept: the longest value that matters is a
/// length of twenty digits.
const MAX_LINE_PREFIX: usize = 48;

/// Tracks the requests on a connection, byte by byte, and refuses input that
/// two parsers may read differently.
///
/// A server and the proxy in front of it must agree on where each request ends.
/// Otherwise a client can smuggle a request inside another one. HTTP libraries
/// are lenient about line endings and lengths, each in its own way. This is
/// not: a line ends with a carriage return and a line feed, there is one length
/// or one transfer coding and not both, and the only coding is `chunked`.
///
/// It checks nothing else, and keeps no more than a few bytes of a line.
///
/// ```
/// use bowline_proto::http::{FramingError, RequestFraming};
///
/// let mut framing = RequestFraming::default();
/// assert_eq!(framing.push(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}"), Ok(()));
/// assert!(framing.is_between_requests());
/// assert_eq!(framing.push(b"GET / HTTP/1.1\n"), Err(FramingError::BadLineEnd));
/// ```
#[derive(Clone, Debug)]
pub struct RequestFraming {
    state: State,
    line: LineBuffer,
    /// What the headers said about the body so far.
    body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first line of a request.
    BetweenRequests,
    /// In the header lines.
    Headers,
    /// The remaining bytes of a body.
    Body(u64),
    /// In the line before a chunk.
    ChunkSize,
    /// The remaining bytes of a chunk and its line ending.
    Chunk(u64),
    /// In the lines after the last chunk.
    Trailers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    None,
    Length(u64),
    Chunked,
}

/// The line that is being read.
#[derive(Clone, Debug)]
struct LineBuffer {
    prefix: [u8; MAX_LINE_PREFIX],
    length: usize,
    /// Whether the last byte was a carriage return.
    ends_in_cr: bool,
}

/// Why a connection cannot be tracked any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FramingError {
    /// A line does not end with a carriage return and a line feed.
    BadLineEnd,
    /// `Content-Length` is not a number, or occurs twice.
    BadContentLength,
    /// The transfer coding is unknown, occurs twice, or is combined with a
    /// length.
    BadTransferEncoding,
    /// A chunk does not start with its size.
    BadChunkSize,
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadLineEnd => "a line of the request does not end with CR LF",
            Self::BadContentLength => "Content-Length is not a single number",
            Self::BadTransferEncoding => {
                "Transfer-Encoding must be chunked only, without Content-Length"
            }
            Self::BadChunkSize => "a chunk does not start with its size",
        })
    }
}

impl std::error::Error for FramingError {}

impl Default for RequestFraming {
    fn default() -> Self {
        Self {
            state: State::BetweenRequests,
            line: LineBuffer {
                prefix: [0; MAX_LINE_PREFIX],
                length: 0,
                ends_in_cr: false,
            },
            body: Body::None,
        }
    }
}

impl RequestFraming {
    /// Processes the next bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the boundaries of the requests are not certain.
    /// Everything after that is meaningless.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), FramingError> {
        while !bytes.is_empty() {
            bytes = match self.state {
                State::Body(remaining) => {
                    let (remaining, rest) = skip(remaining, bytes);
                    self.state = if remaining == 0 {
                        State::BetweenRequests
                    } else {
                        State::Body(remaining)
                    };
                    rest
                }
                State::Chunk(remaining) => {
                    let (remaining, rest) = skip(remaining, bytes);
                    self.state = if remaining == 0 {
                        State::ChunkSize
                    } else {
                        State::Chunk(remaining)
                    };
                    rest
                }
                State::BetweenRequests | State::Headers | State::ChunkSize | State::Trailers => {
                    self.push_line(bytes)?
                }
            };
        }
        Ok(())
    }

    /// Returns whether the last request is complete and the next has not begun.
    #[must_use]
    pub fn is_between_requests(&self) -> bool {
        self.state == State::BetweenRequests && self.line.length == 0 && !self.line.ends_in_cr
    }

    /// Processes a line, or a part of it. Returns the rest.
    fn push_line<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], FramingError> {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.line.push(bytes);
            return Ok(&[]);
        };
        let (line, rest) = bytes.split_at(end);
        self.line.push(line);
        if !self.line.ends_in_cr {
            return Err(FramingError::BadLineEnd);
        }
        self.state = self.end_line()?;
        self.line.length = 0;
        self.line.ends_in_cr = false;
        Ok(&rest[1..])
    }

    /// Parses a complete line. Returns the state after it.
    fn end_line(&mut self) -> Result<State, FramingError> {
        let empty = self.line.length == 0;
        match self.state {
            State::BetweenRequests if empty => Ok(State::BetweenRequests),
            State::BetweenRequests => {
                self.body = Body::None;
                Ok(State::Headers)
            }
            State::Headers if empty => Ok(match self.body {
                Body::None | Body::Length(0) => State::BetweenRequests,
                Body::Length(length) => State::Body(length),
                Body::Chunked => State::ChunkSize,
            }),
            State::Headers => {
                self.parse_header()?;
                Ok(State::Headers)
            }
            State::ChunkSize => match self.parse_chunk_size() {
                None => Err(FramingError::BadChunkSize),
                Some(0) => Ok(State::Trailers),
                Some(size) => Ok(State::Chunk(size.saturating_add(2))),
            },
            State::Trailers if empty => Ok(State::BetweenRequests),
            state => Ok(state),
        }
    }

    /// Parses the line as a header.
    fn parse_header(&mut self) -> Result<(), FramingError> {
        let line = self.line.prefix();
        // Almost all are something else.
        if !line
            .first()
            .is_some_and(|first| matches!(first | 0x20, b'c' | b't'))
        {
            return Ok(());
        }
        if let Some(value) = header_value(line, b"content-length") {
            let length = parse_decimal(value).filter(|_| self.line.is_complete());
            let length = length.ok_or(FramingError::BadContentLength)?;
            self.body = match self.body {
                Body::None => Body::Length(length),
                Body::Length(_) => return Err(FramingError::BadContentLength),
                Body::Chunked => return Err(FramingError::BadTransferEncoding),
            };
        } else if let Some(value) = header_value(line, b"transfer-encoding") {
            let chunked = value.eq_ignore_ascii_case(b"chunked") && self.line.is_complete();
            if !chunked || self.body != Body::None {
                return Err(FramingError::BadTransferEncoding);
            }
            self.body = Body::Chunked;
        }
        Ok(())
    }

    fn parse_chunk_size(&self) -> Option<u64> {
        let line = self.line.prefix();
        let digits = line.iter().take_while(|it| it.is_ascii_hexdigit()).count();
        let (digits, rest) = line.split_at(digits);
        let is_terminated = matches!(rest.first(), None | Some(b';' | b' ' | b'\t'));
        let text = std::str::from_utf8(digits).ok().filter(|_| is_terminated)?;
        u64::from_str_radix(text, 16).ok()
    }
}

impl LineBuffer {
    /// Appends bytes of the line, none of which is a line feed.
    fn push(&mut self, bytes: &[u8]) {
        let Some((last, before)) = bytes.split_last() else {
            return;
        };
        if self.ends_in_cr {
            self.append(b"\r");
        }
        self.ends_in_cr = *last == b'\r';
        self.append(if self.ends_in_cr { before } else { bytes });
    }

    fn append(&mut self, bytes: &[u8]) {
        let free = self.prefix.get_mut(self.length..).unwrap_or_default();
        let count = free.len().min(bytes.len());
        free[..count].copy_from_slice(&bytes[..count]);
        self.length = self.length.saturating_add(bytes.len());
    }

    fn prefix(&self) -> &[u8] {
        &self.prefix[..self.length.min(MAX_LINE_PREFIX)]
    }

    /// Returns whether the whole line was kept.
    fn is_complete(&self) -> bool {
        self.length <= MAX_LINE_PREFIX
    }
}

/// Skips up to `remaining` bytes. Returns how many are left to skip, and the
/// rest.
fn skip(remaining: u64, bytes: &[u8]) -> (u64, &[u8]) {
    match usize::try_from(remaining) {
        Ok(remaining) if remaining <= bytes.len() => (0, &bytes[remaining..]),
        _ => (remaining - bytes.len() as u64, &[]),
    }
}

/// Returns the value of the header with this name, which is in lower case.
fn header_value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    // Blanks before the colon are refused by the header parser.
    let value = rest.trim_ascii_start().strip_prefix(b":")?;
    Some(value.trim_ascii())
}

fn parse_decimal(digits: &[u8]) -> Option<u64> {
    let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| all_digits)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows a text, in one piece and byte by byte.
    fn follow(text: &str) -> Result<bool, FramingError> {
        let mut whole = RequestFraming::default();
        let pushed = whole.push(text.as_bytes());
        let mut bit_by_bit = RequestFraming::default();
        let mut pieces = text.as_bytes().chunks(1);
        let pushed_so = pieces.try_for_each(|piece| bit_by_bit.push(piece));
        assert_eq!(pushed, pushed_so, "{text:?}");
        pushed?;
        let between = whole.is_between_requests();
        assert_eq!(between, bit_by_bit.is_between_requests(), "{text:?}");
        Ok(between)
    }

    fn with(headers: &str, body: &str) -> String {
        format!("POST / HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n{body}")
    }

    #[test]
    fn requests_are_followed_to_their_end() {
        let long = "x".repeat(300);
        for whole in [
            with("", ""),
            with("content-length: 0\r\n", ""),
            with("Content-Length:2\r\n", "{}"),
            with("content-length: 5\r\n", "a\nb\nc"),
            with(&format!("cookie: {long}\r\n"), ""),
            with("transfer-encoding: chunked\r\n", "0\r\n\r\n"),
            with(
                "Transfer-Encoding:  Chunked \r\n",
                "2\r\n{}\r\nA;x=y\r\n0123\n56789\r\n0\r\na: b\r\n\r\n",
            ),
            format!("\r\n\r\n{}", with("", "")),
        ] {
            assert_eq!(follow(&whole), Ok(true), "{whole:?}");
            assert_eq!(follow(&whole.repeat(3)), Ok(true), "{whole:?}");
            let cut = &whole[..whole.len() - 1];
            assert_eq!(follow(cut), Ok(false), "{cut:?}");
        }
    }

    #[test]
    fn what_two_readers_may_read_differently_is_refused() {
        use FramingError as E;
        let long = " ".repeat(60);
        for (text, error) in [
            ("GET / HTTP/1.1\n\n".to_owned(), E::BadLineEnd),
            ("\nGET / HTTP/1.1\r\n".to_owned(), E::BadLineEnd),
            (with("a: b\nc: d\r\n", ""), E::BadLineEnd),
            (with("", "\n"), E::BadLineEnd),
            (
                with("content-length: 2\r\ncontent-length: 2\r\n", "{}"),
                E::BadContentLength,
            ),
            (with("content-length: 2, 2\r\n", "{}"), E::BadContentLength),
            (with("content-length: +2\r\n", "{}"), E::BadContentLength),
            (with("content-length:\r\n", "{}"), E::BadContentLength),
            (
                with("content-length: 99999999999999999999\r\n", ""),
                E::BadContentLength,
            ),
            (
                with(&format!("content-length: {long}2\r\n"), "{}"),
                E::BadContentLength,
            ),
            (
                with("content-length: 2\r\ntransfer-encoding: chunked\r\n", ""),
                E::BadTransferEncoding,
            ),
            (
                with("transfer-encoding: chunked\r\ncontent-length: 2\r\n", ""),
                E::BadTransferEncoding,
            ),
            (
                with("transfer-encoding: gzip, chunked\r\n", ""),
                E::BadTransferEncoding,
            ),
            (
                with("transfer-encoding: identity\r\n", ""),
                E::BadTransferEncoding,
            ),
            (
                with(
                    "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
                    "",
                ),
                E::BadTransferEncoding,
            ),
            (
                with("transfer-encoding: chunked\r\n", "2\n{}"),
                E::BadLineEnd,
            ),
            (
                with("transfer-encoding: chunked\r\n", "x\r\n"),
                E::BadChunkSize,
            ),
            (
                with("transfer-encoding: chunked\r\n", "\r\n"),
                E::BadChunkSize,
            ),
            (
                with("transfer-encoding: chunked\r\n", "-1\r\n"),
                E::BadChunkSize,
            ),
            (
                with("transfer-encoding: chunked\r\n", "11111111111111111\r\n"),
                E::BadChunkSize,
            ),
            (
                with("transfer-encoding: chunked\r\n", "0\r\na: b\n\r\n"),
                E::BadLineEnd,
            ),
        ] {
            assert_eq!(follow(&text), Err(error), "{text:?}");
        }
    }
}
