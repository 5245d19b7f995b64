//! What the driver tells the machine.

use bytes::Bytes;

use super::{ConnectionError, ConnectionErrorKind, LinkId};

/// Something that happened outside: on the link, or on the clock.
///
/// Everything that comes from a link names it. What an old link still has to
/// say is refused before the state table is even consulted.
#[derive(Clone, Debug)]
pub enum Input {
    /// The dial succeeded: the link carries frames now.
    Up {
        /// The link that was dialled.
        link: LinkId,
    },
    /// The dial failed: there is no link.
    DialFailed {
        /// The link that was dialled.
        link: LinkId,
        /// Why.
        cause: ConnectionError,
    },
    /// One frame arrived whole.
    Frame {
        /// Where from.
        link: LinkId,
        /// The frame, without its line end.
        frame: Bytes,
    },
    /// A frame grew over the limit and was not kept. Frames may follow it; a
    /// link on which they cannot is [down](Input::Down).
    OversizedFrame {
        /// Where from.
        link: LinkId,
        /// How large it was when that was known.
        size: usize,
        /// Its first bytes, from which the id can often still be read; or the
        /// first bytes of a message of the same kind and id.
        prefix: Bytes,
    },
    /// The link is gone.
    Down {
        /// Which one.
        link: LinkId,
        /// Why, as well as the transport knows.
        cause: ConnectionError,
    },
    /// The link did not take, or could not deliver, a frame of ours.
    SendFailed {
        /// Which link.
        link: LinkId,
        /// The frame's request id, as [`Output::Send`](super::Output::Send)
        /// named it; none for notifications and answers.
        id: Option<u64>,
        /// What was wrong.
        error: SendError,
    },
    /// Time has passed. Give it whenever the deadline of
    /// [`Output::Idle`](super::Output::Idle) is reached.
    Tick,
}

/// Why a frame of ours was not taken or not delivered.
#[derive(Clone, Debug)]
pub enum SendError {
    /// The outbound queue is full. The frame is handed back, so that the
    /// machine need not keep a copy of what it sends.
    Busy(Bytes),
    /// The link could not send it, but lives.
    Failed(ConnectionError),
    /// HTTP: the exchange ended without an answer to this request.
    NoResponse(ConnectionError),
    /// HTTP: the server answered with a status that is not success.
    Status(HttpStatusError),
}

/// An HTTP answer that is not success.
#[derive(Clone, Debug)]
pub struct HttpStatusError {
    /// The status code.
    pub status: u16,
    /// The start of the body, bounded by the transport.
    pub body: Bytes,
    /// What `Retry-After` asked for.
    pub retry_after: Option<std::time::Duration>,
}

/// How much of a refusal is told, in characters.
const MAX_DETAIL_CHARS: usize = 500;

impl HttpStatusError {
    /// The cause that it is, with what the server says of it.
    #[must_use]
    pub fn to_connection_error(&self) -> ConnectionError {
        let cause = ConnectionError::new(ConnectionErrorKind::Status {
            status: self.status,
            retry_after: self.retry_after,
        });
        match self.body_text() {
            Some(detail) => cause.with_detail(detail),
            None => cause,
        }
    }

    /// What the body says, where it is text for people: not a page, and not
    /// bytes. Blanks and line ends are one blank.
    fn body_text(&self) -> Option<String> {
        let text = match str::from_utf8(&self.body) {
            Ok(text) => text,
            // The transport may have cut it in the middle of a character.
            Err(error) if error.error_len().is_none() => {
                str::from_utf8(&self.body[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return None,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        if text.is_empty() || text.starts_with('<') || text.contains('\0') {
            return None;
        }
        Some(match text.char_indices().nth(MAX_DETAIL_CHARS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_a_refusal_is_told() {
        let long = "x".repeat(600);
        let cases: [(&[u8], Option<&str>); 6] = [
            (
                b" Access is only\r\nallowed at a \n",
                Some("Access is only allowed at a"),
            ),
            (b"", None),
            (b" \n", None),
            (b"<html>403</html>", None),
            (b"\x89PNG\xff\x00", None),
            (b"caf\xc3", Some("caf")),
        ];
        let words = |body: &[u8]| {
            let refusal = HttpStatusError {
                status: 403,
                body: Bytes::copy_from_slice(body),
                retry_after: None,
            };
            refusal.to_connection_error().detail().map(str::to_owned)
        };
        for (body, expected) in cases {
            assert_eq!(words(body).as_deref(), expected, "{body:?}");
        }
        let told = words(long.as_bytes()).expect("it is text");
        assert_eq!(told.chars().count(), MAX_DETAIL_CHARS + 1);
    }
}
