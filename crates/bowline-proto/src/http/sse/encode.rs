//! An encoder for server-sent events.

use std::{fmt, io::Write, time::Duration};

use memchr::memchr2;

/// The bytes to send on an idle stream, so nothing on the way closes it.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// The fields of an event other than its data, and methods to write it.
///
/// Ids and names must not contain line breaks, and data with line breaks is
/// written as several lines: no content can forge a field or an event.
///
/// ```
/// use bowline_proto::http::sse::EventEncoder;
/// use std::time::Duration;
///
/// let mut stream = Vec::new();
/// EventEncoder::new().id("7").unwrap().retry(Duration::from_millis(500)).write(b"", &mut stream);
/// EventEncoder::new().write(br#"{"jsonrpc":"2.0"}"#, &mut stream);
/// assert_eq!(stream, b"id: 7\nretry: 500\ndata: \n\ndata: {\"jsonrpc\":\"2.0\"}\n\n");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventEncoder<'a> {
    id: Option<&'a str>,
    name: Option<&'a str>,
    retry: Option<Duration>,
}

impl<'a> EventEncoder<'a> {
    /// Creates an event without id and name.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the id of the event.
    ///
    /// # Errors
    ///
    /// Returns an error if the id contains a line break or a NUL.
    pub fn id(mut self, id: &'a str) -> Result<Self, FieldError> {
        self.id = Some(check_single_line(id)?);
        Ok(self)
    }

    /// Sets a name other than `message`.
    ///
    /// # Errors
    ///
    /// Returns an error if the name contains a line break or a NUL.
    pub fn name(mut self, name: &'a str) -> Result<Self, FieldError> {
        self.name = Some(check_single_line(name)?);
        Ok(self)
    }

    /// Sets how long the client waits before it reconnects.
    #[must_use]
    pub fn retry(mut self, delay: Duration) -> Self {
        self.retry = Some(delay);
        self
    }

    /// Appends the event with this data to `out`.
    ///
    /// Every kind of line break in the data arrives as a line feed.
    pub fn write(&self, data: &[u8], out: &mut Vec<u8>) {
        out.reserve(data.len() + 64);
        self.write_head(out);
        write_lines(data, out);
        out.push(b'\n');
    }

    /// Appends the event with the data that `encode` appends. A message encoded
    /// only for this event needs no intermediate buffer.
    ///
    /// # Errors
    ///
    /// Returns an error if `encode` fails; `out` is unchanged in that case.
    pub fn write_with<E>(
        &self,
        out: &mut Vec<u8>,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = out.len();
        self.write_head(out);
        out.extend_from_slice(DATA);
        let data = out.len();
        encode(out).inspect_err(|_| out.truncate(start))?;
        if memchr2(b'\r', b'\n', &out[data..]).is_some() {
            let lines = out.split_off(data);
            out.truncate(data - DATA.len());
            write_lines(&lines, out);
            out.push(b'\n');
        } else {
            out.extend_from_slice(b"\n\n");
        }
        Ok(())
    }

    fn write_head(&self, out: &mut Vec<u8>) {
        for (field, value) in [("event: ", self.name), ("id: ", self.id)] {
            if let Some(value) = value {
                out.extend_from_slice(field.as_bytes());
                out.extend_from_slice(value.as_bytes());
                out.push(b'\n');
            }
        }
        if let Some(retry) = self.retry {
            // Writing to a vector cannot fail.
            let _always_ok = writeln!(out, "retry: {}", retry.as_millis());
        }
    }
}

/// Appends a comment, which decoders skip.
pub fn write_comment(text: &str, out: &mut Vec<u8>) {
    for line in lines(text.as_bytes()) {
        out.extend_from_slice(b": ");
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// The error for a string that would break out of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldError;

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event's id or name must not contain line breaks or NULs")
    }
}

impl std::error::Error for FieldError {}

const DATA: &[u8] = b"data: ";

fn check_single_line(value: &str) -> Result<&str, FieldError> {
    match memchr::memchr3(b'\r', b'\n', b'\0', value.as_bytes()) {
        None => Ok(value),
        Some(_) => Err(FieldError),
    }
}

fn write_lines(data: &[u8], out: &mut Vec<u8>) {
    for line in lines(data) {
        out.extend_from_slice(DATA);
        out.extend_from_slice(line);
        out.push(b'\n');
    }
}

/// Splits text at line breaks of all kinds; yields at least one line, possibly
/// empty.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = memchr2(b'\r', b'\n', text) else {
            rest = None;
            return Some(text);
        };
        let next = if text[end..].starts_with(b"\r\n") {
            end + 2
        } else {
            end + 1
        };
        rest = Some(&text[next..]);
        Some(&text[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(writer: EventEncoder<'_>, data: &str) -> String {
        let (mut direct, mut with) = (Vec::new(), b"before".to_vec());
        writer.write(data.as_bytes(), &mut direct);
        let encode = |out: &mut Vec<u8>| out.write_all(data.as_bytes());
        writer.write_with(&mut with, encode).unwrap();
        assert_eq!(
            with.strip_prefix(b"before"),
            Some(&*direct),
            "the two ways agree"
        );
        String::from_utf8(direct).unwrap()
    }

    #[test]
    fn fields_come_before_data() {
        let writer = EventEncoder::new()
            .name("endpoint")
            .and_then(|w| w.id("a b"))
            .unwrap();
        let text = written(writer.retry(Duration::from_secs(2)), "/messages");
        assert_eq!(
            text,
            "event: endpoint\nid: a b\nretry: 2000\ndata: /messages\n\n"
        );
    }

    #[test]
    fn every_line_break_starts_a_line_of_data() {
        let text = written(EventEncoder::new(), "a\nb\r\nc\rid: forged\n\nd");
        assert_eq!(
            text,
            "data: a\ndata: b\ndata: c\ndata: id: forged\ndata: \ndata: d\n\n"
        );
        assert_eq!(written(EventEncoder::new(), ""), "data: \n\n");
        assert_eq!(written(EventEncoder::new(), "\n"), "data: \ndata: \n\n");
    }

    #[test]
    fn line_breaks_in_ids_and_names_are_refused() {
        for bad in ["a\nb", "a\rb", "\r\n", "nul\0"] {
            assert_eq!(EventEncoder::new().id(bad), Err(FieldError), "{bad:?}");
            assert_eq!(EventEncoder::new().name(bad), Err(FieldError), "{bad:?}");
        }
    }

    #[test]
    fn a_failed_encoding_leaves_no_trace() {
        let mut out = b"before".to_vec();
        let outcome = EventEncoder::new().write_with(&mut out, |out| {
            out.extend_from_slice(b"half");
            Err("no")
        });
        assert_eq!((outcome, &*out), (Err("no"), &b"before"[..]));
    }

    #[test]
    fn comments_stay_comments() {
        let mut out = Vec::new();
        write_comment("hello\ndata: forged", &mut out);
        assert_eq!(out, b": hello\n: data: forged\n\n");
    }
}
