//! An incremental decoder for event streams.

use std::mem;

use memchr::memchr2;

use super::{
    Event, SseError, SseLimits,
    pending::{Field, PendingEvent},
};

/// Decodes an event stream that arrives in chunks of any size.
///
/// Data goes straight into its event and is copied only once. Comments and
/// unknown fields are not kept at all. Nothing is scanned twice, and memory is
/// bounded by [`SseLimits`]; a stream that exceeds them cannot be continued,
/// and every later call returns the same error.
///
/// ```
/// use bowline_proto::http::sse::Decoder;
///
/// let mut decoder = Decoder::default();
/// let mut events = Vec::new();
/// for mut chunk in [&b"id: 1\r\nda"[..], b"ta: {}\r", b"\n\r\n: ping\n\n"] {
///     while let Some(event) = decoder.push(&mut chunk).unwrap() {
///         events.push(event);
///     }
/// }
/// assert_eq!(events.len(), 1);
/// assert_eq!(events[0].message().unwrap(), "{}");
/// assert_eq!(decoder.last_event_id(), Some("1"));
/// ```
#[derive(Debug)]
pub struct Decoder {
    limits: SseLimits,
    state: State,
    /// The last line ended in CR: a following LF belongs to it.
    after_cr: bool,
    /// Bytes of the current line's value so far.
    line_length: usize,
    /// Bytes since the last event that were not data.
    overhead: u64,
    pending: PendingEvent,
    last_event_id: Box<str>,
    failed: Option<SseError>,
}

impl Decoder {
    /// Creates a decoder at the start of a stream.
    #[must_use]
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            state: State::Bom(0),
            after_cr: false,
            line_length: 0,
            overhead: 0,
            pending: PendingEvent::default(),
            last_event_id: "".into(),
            failed: None,
        }
    }

    /// Decodes until an event is complete or the chunk is used up, and removes
    /// the consumed bytes from the front of the chunk. Call it until it returns
    /// `None`.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream exceeds a limit, now or earlier.
    pub fn push(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>, SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.advance(chunk).inspect_err(|error| {
            self.pending = PendingEvent::default();
            self.failed = Some(*error);
        })
    }

    /// Returns the id to resume from: the id of the last complete event that
    /// set one, unless a later event reset it.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        Some(&*self.last_event_id).filter(|id| !id.is_empty())
    }

    /// Returns whether a stream that ended here would have lost part of an
    /// event.
    #[must_use]
    pub fn is_mid_event(&self) -> bool {
        let at_line_start = matches!(
            self.state,
            State::Name(FieldName { length: 0, .. }) | State::Bom(_)
        );
        !at_line_start || self.pending.has_content()
    }

    fn advance(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>, SseError> {
        while let Some((&first, rest)) = chunk.split_first() {
            let ends_pair = mem::take(&mut self.after_cr) && first == b'\n';
            if ends_pair {
                *chunk = rest;
                continue;
            }
            if matches!(first, b'\r' | b'\n') {
                *chunk = rest;
                self.after_cr = first == b'\r';
                match self.end_line()? {
                    Some(event) => return Ok(Some(event)),
                    None => continue,
                }
            }
            let consumed = match self.state {
                State::Bom(matched) => self.bom(matched, first),
                State::Name(name) => self.name(name, first),
                State::Colon(field) => self.colon(field, first)?,
                State::Value(field) => self.value(field, chunk)?,
            };
            *chunk = &chunk[consumed..];
        }
        Ok(None)
    }

    /// A byte order mark may open the stream, and may arrive in three chunks.
    fn bom(&mut self, matched: u8, byte: u8) -> usize {
        const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
        let is_next = byte == BOM[usize::from(matched)];
        self.state = match (is_next, matched) {
            (true, 2) => State::LINE_START,
            (true, matched) => State::Bom(matched + 1),
            (false, 0) => State::LINE_START,
            // No field begins with part of a byte order mark.
            (false, _) => State::Value(Field::Ignored),
        };
        usize::from(is_next)
    }

    fn name(&mut self, mut name: FieldName, byte: u8) -> usize {
        if byte == b':' {
            self.state = State::Colon(name.field());
        } else if name.push(byte) {
            self.state = State::Name(name);
        } else {
            self.state = State::Value(Field::Ignored);
        }
        1
    }

    /// One space after the colon is not part of the value.
    fn colon(&mut self, field: Field, byte: u8) -> Result<usize, SseError> {
        self.state = State::Value(field);
        self.pending.begin(field, &self.limits)?;
        Ok(usize::from(byte == b' '))
    }

    /// Consumes as much of the value as the chunk has.
    fn value(&mut self, field: Field, chunk: &[u8]) -> Result<usize, SseError> {
        let end = memchr2(b'\r', b'\n', chunk).unwrap_or(chunk.len());
        let part = &chunk[..end];
        let line = (
            self.limits.max_line - self.line_length,
            SseError::LineTooLong,
        );
        let overhead = (self.overhead_left(field), SseError::TooMuchOverhead);
        let field_limit = self.pending.remaining(field, &self.limits);
        // The nearest limit is the one that would be hit first byte by byte.
        let (remaining, error) =
            [overhead, field_limit]
                .into_iter()
                .fold(
                    line,
                    |tightest, next| {
                        if next.0 < tightest.0 { next } else { tightest }
                    },
                );
        if part.len() > remaining {
            return Err(error);
        }
        self.line_length += part.len();
        self.pending.extend(field, part);
        self.count_overhead(field, part.len())?;
        Ok(end)
    }

    fn end_line(&mut self) -> Result<Option<Event>, SseError> {
        self.line_length = 0;
        let field = match mem::replace(&mut self.state, State::LINE_START) {
            State::Name(FieldName { length: 0, .. }) | State::Bom(0) => return self.end_block(),
            State::Value(field) => field,
            State::Bom(_) => Field::Ignored,
            // Nothing after the colon, or no colon: the value is empty.
            State::Colon(field) => self.begin_empty(field)?,
            State::Name(name) => self.begin_empty(name.field())?,
        };
        self.pending.end(field);
        self.count_overhead(field, 1)?;
        Ok(None)
    }

    fn begin_empty(&mut self, field: Field) -> Result<Field, SseError> {
        self.pending.begin(field, &self.limits)?;
        Ok(field)
    }

    fn end_block(&mut self) -> Result<Option<Event>, SseError> {
        let Some(event) = mem::take(&mut self.pending).into_event(self.limits.max_retry) else {
            self.count_overhead(Field::Ignored, 1)?;
            return Ok(None);
        };
        self.overhead = 0;
        if let Some(id) = &event.id {
            self.last_event_id.clone_from(id);
        }
        Ok(Some(event))
    }

    fn overhead_left(&self, field: Field) -> usize {
        match self.limits.max_overhead {
            Some(limit) if field != Field::Data => {
                usize::try_from(limit - self.overhead).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        }
    }

    fn count_overhead(&mut self, field: Field, bytes: usize) -> Result<(), SseError> {
        if bytes > self.overhead_left(field) {
            return Err(SseError::TooMuchOverhead);
        }
        if field != Field::Data {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            self.overhead = self.overhead.saturating_add(bytes);
        }
        Ok(())
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(SseLimits::default())
    }
}

/// The position within a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start of the stream, after this many bytes of a byte order mark.
    Bom(u8),
    Name(FieldName),
    /// Directly after the colon.
    Colon(Field),
    Value(Field),
}

impl State {
    const LINE_START: Self = Self::Name(FieldName {
        bytes: [0; FieldName::MAX_LEN],
        length: 0,
    });
}

/// The part of a field's name that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldName {
    bytes: [u8; FieldName::MAX_LEN],
    length: u8,
}

impl FieldName {
    /// The length of `event` and `retry`.
    const MAX_LEN: usize = 5;

    /// Appends a byte. Returns false if no known name is that long.
    fn push(&mut self, byte: u8) -> bool {
        let slot = self.bytes.get_mut(usize::from(self.length));
        self.length += 1;
        slot.map(|slot| *slot = byte).is_some()
    }

    fn field(&self) -> Field {
        match &self.bytes[..usize::from(self.length)] {
            b"data" => Field::Data,
            b"id" => Field::Id,
            b"event" => Field::Event,
            b"retry" => Field::Retry,
            _ => Field::Ignored,
        }
    }
}
