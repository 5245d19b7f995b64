//! Printing messages to standard error, one line each.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use super::TrafficEvent;
use crate::output::{Paint, Style, escape_control};

/// Prints every frame.
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

    pub(super) fn print(&self, elapsed: Duration, link: u32, event: &TrafficEvent<'_>) {
        let line = self.line(elapsed, link, event);
        // Write errors are ignored.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    fn line(&self, elapsed: Duration, link: u32, event: &TrafficEvent<'_>) -> String {
        let (style, symbol, size, text) = match event {
            TrafficEvent::Sent(frame) => (Style::Type, "→", Some(frame.len()), frame_text(frame)),
            TrafficEvent::Received(frame) => {
                (Style::Success, "←", Some(frame.len()), frame_text(frame))
            }
            other => (Style::Dim, "·", None, event_text(other)),
        };
        let ms = elapsed.as_secs_f64() * 1000.0;
        let size = size.map_or_else(String::new, |size| format!("{size} B"));
        let prefix = self.paint.dim(format!("{ms:>9.1} ms {size:>9}"));
        let symbol = self.paint.text(style, symbol);
        let link = match link {
            1 => String::new(),
            number => self.paint.dim(format!("link {number}: ")),
        };
        // A frame is one line, whatever it contains.
        let text = text.replace('\n', " ");
        let text = escape_control(&text);
        match event {
            TrafficEvent::Sent(_) | TrafficEvent::Received(_) => {
                format!("{prefix} {symbol} {link}{text}")
            }
            _ => format!("{prefix} {symbol} {link}{}", self.paint.dim(text)),
        }
    }
}

fn frame_text(frame: &[u8]) -> String {
    String::from_utf8_lossy(frame).into_owned()
}

fn event_text(event: &TrafficEvent<'_>) -> String {
    match event {
        TrafficEvent::Up { server, .. } => format!("connected: {server}"),
        TrafficEvent::RevisionAgreed(revision) => format!("revision {}", revision.as_str()),
        TrafficEvent::Refused {
            id: Some(id),
            reason: why,
        } => format!("request {id} was rejected: {why}"),
        TrafficEvent::Refused {
            id: None,
            reason: why,
        } => format!("a message was rejected: {why}"),
        TrafficEvent::Cancelled(id) => format!("request {id} was cancelled"),
        TrafficEvent::OversizedFrame(size) => {
            format!("a message of at least {size} bytes exceeded the limit")
        }
        TrafficEvent::Down(cause) => format!("disconnected: {cause}"),
        TrafficEvent::Closed => "closed".to_owned(),
        TrafficEvent::Sent(frame) | TrafficEvent::Received(frame) => frame_text(frame),
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
        let elapsed = Duration::from_micros(12_345);
        assert_eq!(
            trace.line(elapsed, 1, &TrafficEvent::Received(&frame)),
            "     12.3 ms      15 B ← {  \"a\": \"\\u{1b}[2J\"}",
        );
        assert_eq!(
            trace.line(elapsed, 2, &TrafficEvent::Cancelled(7)),
            "     12.3 ms           · link 2: request 7 was cancelled",
        );
    }
}
