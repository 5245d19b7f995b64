//! A buffer of the last events of a session's streams, for clients that resume.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use bytes::Bytes;

use super::EventId;

/// The event buffer of one session: for each stream, a ring of the last events.
///
/// Memory is bounded by [`EventBufferLimits`], whatever the streams do. Dropped
/// events are remembered as dropped, so a client gets an error rather than a
/// stream with a gap.
///
/// ```
/// use bowline_proto::http::resume::{EventBuffer, EventBufferLimits, ReplayError};
/// use bytes::Bytes;
///
/// let limits = EventBufferLimits { max_events: 2, ..EventBufferLimits::default() };
/// let mut buffer = EventBuffer::new(1, limits);
/// let stream = buffer.open().unwrap();
/// let initial = buffer.initial_event_id(stream).unwrap();
/// let first = buffer.record(stream, Bytes::from_static(b"one")).unwrap();
/// buffer.record(stream, Bytes::from_static(b"two")).unwrap();
///
/// let after: Vec<_> = buffer.events_after(first).unwrap().map(|(_, data)| data.clone()).collect();
/// assert_eq!(after, ["two"]);
///
/// buffer.record(stream, Bytes::from_static(b"three")).unwrap();
/// assert_eq!(buffer.events_after(initial).err(), Some(ReplayError::Dropped));
/// ```
#[derive(Debug)]
pub struct EventBuffer {
    incarnation: u64,
    limits: EventBufferLimits,
    streams: BTreeMap<StreamId, Ring>,
    next_stream: u64,
    /// The total size of all buffered events.
    bytes: usize,
}

impl EventBuffer {
    /// Creates an empty buffer. `incarnation` is a number that no earlier
    /// instance of this session had, such as a random one.
    #[must_use]
    pub fn new(incarnation: u64, limits: EventBufferLimits) -> Self {
        Self {
            incarnation,
            limits,
            streams: BTreeMap::new(),
            next_stream: 0,
            bytes: 0,
        }
    }

    /// Starts recording a stream. If the buffer is full, the oldest ended
    /// stream is evicted; if none has ended, this returns `None`, and the
    /// stream must be sent without ids, because it cannot be resumed.
    pub fn open(&mut self) -> Option<StreamId> {
        if self.streams.len() >= self.limits.max_streams && !self.evict_ended() {
            return None;
        }
        self.next_stream += 1;
        let stream = StreamId(self.next_stream);
        self.streams.insert(stream, Ring::default());
        Some(stream)
    }

    /// Returns the id for an event without content, from which a client can
    /// resume before it has received anything else.
    #[must_use]
    pub fn initial_event_id(&self, stream: StreamId) -> Option<EventId> {
        let ring = self.streams.get(&stream)?;
        Some(self.id(stream, ring.last_sequence))
    }

    /// Buffers an event and returns its id; `None` if the stream is not
    /// recorded.
    ///
    /// Only the event's length is counted, so it should not be a small slice of
    /// a large buffer, which it would keep alive.
    pub fn record(&mut self, stream: StreamId, event: Bytes) -> Option<EventId> {
        let ring = self.streams.get_mut(&stream)?;
        self.bytes -= ring.bytes;
        ring.push(event, &self.limits);
        self.bytes += ring.bytes;
        let last = ring.last_sequence;
        Some(self.id(stream, last))
    }

    /// Marks the stream as ended. It is kept for clients that missed its end,
    /// until its space is needed.
    pub fn end(&mut self, stream: StreamId) {
        if let Some(ring) = self.streams.get_mut(&stream) {
            ring.ended = true;
        }
    }

    /// Returns whether the stream has ended; a client that has replayed all
    /// events need not wait for more.
    #[must_use]
    pub fn has_ended(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_none_or(|ring| ring.ended)
    }

    /// Removes a stream, for instance when a client has all of it.
    pub fn remove(&mut self, stream: StreamId) {
        let removed = self.streams.remove(&stream);
        self.bytes -= removed.map_or(0, |ring| ring.bytes);
    }

    /// Removes the ended stream that was opened first. Returns whether there
    /// was one.
    pub fn evict_ended(&mut self) -> bool {
        let ended = self.streams.iter().find(|(_, ring)| ring.ended);
        let oldest = ended.map(|(stream, _)| *stream);
        oldest.inspect(|stream| self.remove(*stream)).is_some()
    }

    /// Returns the events after the cursor, of the cursor's stream only.
    ///
    /// # Errors
    ///
    /// Returns an error if some of them are not available; see [`ReplayError`].
    pub fn events_after(
        &self,
        cursor: EventId,
    ) -> Result<impl Iterator<Item = (EventId, &Bytes)>, ReplayError> {
        if cursor.incarnation != self.incarnation {
            return Err(ReplayError::WrongSession);
        }
        let stream = cursor.stream();
        let ring = match self.streams.get(&stream) {
            Some(ring) if cursor.sequence <= ring.last_sequence => ring,
            None if (1..=self.next_stream).contains(&stream.0) => return Err(ReplayError::Dropped),
            Some(_) | None => return Err(ReplayError::Unknown),
        };
        let buffered = u64::try_from(ring.events.len()).unwrap_or(u64::MAX);
        let dropped = ring.last_sequence - buffered;
        let seen = cursor
            .sequence
            .checked_sub(dropped)
            .ok_or(ReplayError::Dropped)?;
        let seen = usize::try_from(seen).unwrap_or(usize::MAX);
        let events = ring.events.iter().enumerate().skip(seen);
        Ok(events.map(move |(index, event)| {
            let index = u64::try_from(index).unwrap_or(u64::MAX);
            (self.id(stream, dropped + index + 1), event)
        }))
    }

    /// Returns the number of recorded streams.
    #[must_use]
    pub fn stream_count(&self) -> usize {
        self.streams.len()
    }

    /// Returns the total size of the buffered events in bytes, over all
    /// streams.
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        self.bytes
    }

    fn id(&self, stream: StreamId, sequence: u64) -> EventId {
        EventId {
            incarnation: self.incarnation,
            stream: stream.0,
            sequence,
        }
    }
}

/// The id of a recorded stream of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub(super) u64);

/// How much a session may buffer: at most `max_streams` times `max_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventBufferLimits {
    /// The number of streams. The default, 32, is more than clients open at a
    /// time.
    pub max_streams: usize,
    /// The number of events per stream. The default is 256.
    pub max_events: usize,
    /// The size of the events per stream, in bytes. The default is 1 MiB; a
    /// larger event is sent, but not buffered.
    pub max_bytes: usize,
}

impl Default for EventBufferLimits {
    fn default() -> Self {
        Self {
            max_streams: 32,
            max_events: 256,
            max_bytes: 1 << 20,
        }
    }
}

/// Why a stream cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// The id was issued by another session, or by an earlier instance of this
    /// one.
    WrongSession,
    /// The id was never issued.
    Unknown,
    /// Events after this one existed and have been dropped.
    Dropped,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WrongSession => "the event id belongs to another session",
            Self::Unknown => "unknown event id",
            Self::Dropped => "the events after this one are no longer kept",
        })
    }
}

impl std::error::Error for ReplayError {}

/// The last events of one stream. Their sequence numbers have no gaps and end
/// with `last`, so only that one is stored.
#[derive(Debug, Default)]
struct Ring {
    events: VecDeque<Bytes>,
    bytes: usize,
    last_sequence: u64,
    ended: bool,
}

impl Ring {
    fn push(&mut self, event: Bytes, limits: &EventBufferLimits) {
        self.last_sequence += 1;
        if event.len() > limits.max_bytes || limits.max_events == 0 {
            // Kept without its successor, the earlier events would hide a gap.
            self.events.clear();
            self.bytes = 0;
            return;
        }
        while self.events.len() >= limits.max_events || self.bytes + event.len() > limits.max_bytes
        {
            match self.events.pop_front() {
                Some(dropped) => self.bytes -= dropped.len(),
                None => break,
            }
        }
        self.bytes += event.len();
        self.events.push_back(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> EventBuffer {
        EventBuffer::new(
            7,
            EventBufferLimits {
                max_streams: 2,
                max_events: 3,
                max_bytes: 10,
            },
        )
    }

    fn after(replay: &EventBuffer, cursor: EventId) -> Result<Vec<&[u8]>, ReplayError> {
        Ok(replay
            .events_after(cursor)?
            .map(|(_, event)| event.as_ref())
            .collect())
    }

    fn text(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[test]
    fn only_the_cursors_own_stream_is_replayed() {
        let mut replay = small();
        let (a, b) = (replay.open().unwrap(), replay.open().unwrap());
        let start = replay.initial_event_id(a).unwrap();
        let first = replay.record(a, text("a1")).unwrap();
        replay.record(b, text("b1")).unwrap();
        let second = replay.record(a, text("a2")).unwrap();
        assert_eq!(after(&replay, start), Ok(vec![&b"a1"[..], b"a2"]));
        assert_eq!(after(&replay, first), Ok(vec![&b"a2"[..]]));
        assert_eq!(after(&replay, second), Ok(vec![]));
        let ids: Vec<_> = replay
            .events_after(start)
            .unwrap()
            .map(|(id, _)| id)
            .collect();
        assert_eq!(ids, [first, second], "replayed events keep their ids");
    }

    #[test]
    fn ids_are_unique_over_the_streams_of_a_session() {
        let mut replay = small();
        let (a, b) = (replay.open().unwrap(), replay.open().unwrap());
        assert_ne!(replay.initial_event_id(a), replay.initial_event_id(b));
        assert_ne!(replay.record(a, text("x")), replay.record(b, text("x")));
    }

    #[test]
    fn foreign_unknown_and_dropped_places_are_told_apart() {
        let mut replay = small();
        let stream = replay.open().unwrap();
        let start = replay.initial_event_id(stream).unwrap();
        let foreign = EventId {
            incarnation: 8,
            ..start
        };
        assert_eq!(after(&replay, foreign), Err(ReplayError::WrongSession));
        let future = EventId {
            sequence: 1,
            ..start
        };
        assert_eq!(after(&replay, future), Err(ReplayError::Unknown));
        for number in [0, 2, u64::MAX] {
            let unheard = EventId {
                stream: number,
                ..start
            };
            assert_eq!(after(&replay, unheard), Err(ReplayError::Unknown));
        }
        for event in ["1", "2", "3", "4"] {
            replay.record(stream, text(event)).unwrap();
        }
        assert_eq!(after(&replay, start), Err(ReplayError::Dropped));
        assert_eq!(after(&replay, future), Ok(vec![&b"2"[..], b"3", b"4"]));
        replay.remove(stream);
        assert_eq!(after(&replay, future), Err(ReplayError::Dropped));
    }

    #[test]
    fn an_event_too_large_to_keep_leaves_a_gap_that_is_seen() {
        let mut replay = small();
        let stream = replay.open().unwrap();
        let before = replay.record(stream, text("1")).unwrap();
        let large = replay.record(stream, text("01234567890")).unwrap();
        assert_eq!(replay.buffered_bytes(), 0);
        assert_eq!(after(&replay, before), Err(ReplayError::Dropped));
        replay.record(stream, text("3")).unwrap();
        assert_eq!(after(&replay, large), Ok(vec![&b"3"[..]]));
    }

    #[test]
    fn ended_streams_make_room_and_live_ones_do_not() {
        let mut replay = small();
        let (a, b) = (replay.open().unwrap(), replay.open().unwrap());
        assert_eq!(replay.open(), None);
        replay.end(b);
        assert!(replay.has_ended(b) && !replay.has_ended(a));
        let c = replay.open().unwrap();
        assert_eq!(replay.stream_count(), 2);
        assert_eq!(replay.record(b, text("late")), None);
        assert!(replay.record(a, text("x")).is_some() && replay.record(c, text("y")).is_some());
    }

    #[test]
    fn limits_of_zero_keep_nothing() {
        let none = EventBufferLimits {
            max_streams: 0,
            max_events: 0,
            max_bytes: 0,
        };
        assert_eq!(EventBuffer::new(1, none).open(), None);
        let mut replay = EventBuffer::new(
            1,
            EventBufferLimits {
                max_streams: 1,
                ..none
            },
        );
        let stream = replay.open().unwrap();
        let id = replay.record(stream, Bytes::new()).unwrap();
        assert_eq!(after(&replay, id), Ok(vec![]));
    }
}
