//! Showing what goes over the wire, a line each, on standard error.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use super::Happening;
use crate::output::{Paint, Style, clean};

/// Shows every frame.
#[derive(Debug)]
pub(super) struct Trace {
    paint: Paint,
}

impl Trace {
    pub(super) fn new(color: bool) -> Self {
        Self {
            paint: Paint::new(color),
        }
    }

    pub(super) fn see(&self, after: Duration, link: u32, happening: &Happening<'_>) {
        let line = self.line(after, link, happening);
        // If nobody reads it, nothing is lost.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    fn line(&self, after: Duration, link: u32, happening: &Happening<'_>) -> String {
        let (style, sign, size, text) = match happening {
            Happening::Sent(frame) => (Style::Type, "→", Some(frame.len()), frame_text(frame)),
            Happening::Received(frame) => (Style::Good, "←", Some(frame.len()), frame_text(frame)),
            other => (Style::Faint, "·", None, event_text(other)),
        };
        let ms = after.as_secs_f64() * 1000.0;
        let size = size.map_or_else(String::new, |size| format!("{size} B"));
        let head = self.paint.faint(format!("{ms:>9.1} ms {size:>9}"));
        let sign = self.paint.text(style, sign);
        let link = match link {
            1 => String::new(),
            number => self.paint.faint(format!("link {number}: ")),
        };
        // A frame is one line here, whatever is in it.
        let text = text.replace('\n', " ");
        let text = clean(&text);
        match happening {
            Happening::Sent(_) | Happening::Received(_) => format!("{head} {sign} {link}{text}"),
            _ => format!("{head} {sign} {link}{}", self.paint.faint(text)),
        }
    }
}

fn frame_text(frame: &[u8]) -> String {
    String::from_utf8_lossy(frame).into_owned()
}

fn event_text(happening: &Happening<'_>) -> String {
    match happening {
        Happening::Up { server, .. } => format!("connected: {server}"),
        Happening::Settled(revision) => format!("speaking {}", revision.as_str()),
        Happening::Refused { id: Some(id), why } => format!("request {id} was refused: {why}"),
        Happening::Refused { id: None, why } => format!("a message was refused: {why}"),
        Happening::GivenUp(id) => format!("request {id} was given up"),
        Happening::Oversize(size) => format!("a message of {size} bytes or more was too large"),
        Happening::Down(cause) => format!("disconnected: {cause}"),
        Happening::Closed => "closed".to_owned(),
        Happening::Sent(frame) | Happening::Received(frame) => frame_text(frame),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_frame_is_one_harmless_line() {
        let frame = Bytes::from_static(b"{\n \"a\": \"\x1b[2J\"}");
        let trace = Trace::new(false);
        let after = Duration::from_micros(12_345);
        assert_eq!(
            trace.line(after, 1, &Happening::Received(&frame)),
            "     12.3 ms      15 B ← {  \"a\": \"\\u{1b}[2J\"}",
        );
        assert_eq!(
            trace.line(after, 2, &Happening::GivenUp(7)),
            "     12.3 ms           · link 2: request 7 was given up",
        );
    }
}
