//! The last events of a session's streams, kept for clients that come back.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use bytes::Bytes;

use super::EventId;

/// The replay store of one session: per stream, a ring of the last events.
///
/// Memory is bounded by [`ReplayLimits`], whatever the streams do. What has
/// been dropped is remembered as dropped, so that a client is told of the gap
/// rather than served around it.
///
/// ```
/// use bowline_proto::http::resume::{Replay, ReplayLimits, ReplayMiss};
/// use bytes::Bytes;
///
/// let mut replay = Replay::new(1, ReplayLimits { events: 2, ..ReplayLimits::default() });
/// let stream = replay.open().unwrap();
/// let primed = replay.prime(stream).unwrap();
/// let first = replay.record(stream, Bytes::from_static(b"one")).unwrap();
/// replay.record(stream, Bytes::from_static(b"two")).unwrap();
///
/// let after: Vec<_> = replay.replay_after(first).unwrap().map(|(_, data)| data.clone()).collect();
/// assert_eq!(after, ["two"]);
///
/// replay.record(stream, Bytes::from_static(b"three")).unwrap();
/// assert_eq!(replay.replay_after(primed).err(), Some(ReplayMiss::Gone));
/// ```
#[derive(Debug)]
pub struct Replay {
    incarnation: u64,
    limits: ReplayLimits,
    streams: BTreeMap<StreamId, Ring>,
    next_stream: u64,
    /// What all of them keep.
    bytes: usize,
}

impl Replay {
    /// An empty store. `incarnation` is a number that no earlier life of this
    /// session had, such as a random one.
    #[must_use]
    pub fn new(incarnation: u64, limits: ReplayLimits) -> Self {
        Self {
            incarnation,
            limits,
            streams: BTreeMap::new(),
            next_stream: 0,
            bytes: 0,
        }
    }

    /// Begins to record a stream. If there is no room, the stream that ended
    /// first makes it; if none has ended, the answer is `None`, and the stream
    /// must be sent without ids, for it cannot be resumed.
    pub fn open(&mut self) -> Option<StreamId> {
        if self.streams.len() >= self.limits.streams && !self.forget_ended() {
            return None;
        }
        self.next_stream += 1;
        let stream = StreamId(self.next_stream);
        self.streams.insert(stream, Ring::default());
        Some(stream)
    }

    /// The id for an event without content, from which a client can resume
    /// before it has seen anything else.
    #[must_use]
    pub fn prime(&self, stream: StreamId) -> Option<EventId> {
        let ring = self.streams.get(&stream)?;
        Some(self.id(stream, ring.last))
    }

    /// Keeps an event and gives it its id; `None` if the stream is not recorded.
    ///
    /// The event's length is what counts, so it should not be a small part of a
    /// large buffer, which it would keep alive.
    pub fn record(&mut self, stream: StreamId, event: Bytes) -> Option<EventId> {
        let ring = self.streams.get_mut(&stream)?;
        self.bytes -= ring.bytes;
        ring.push(event, &self.limits);
        self.bytes += ring.bytes;
        let last = ring.last;
        Some(self.id(stream, last))
    }

    /// Notes that the stream has had its last event. It stays for clients that
    /// missed it, until its room is needed.
    pub fn end(&mut self, stream: StreamId) {
        if let Some(ring) = self.streams.get_mut(&stream) {
            ring.ended = true;
        }
    }

    /// Whether the stream has had its last event; a client that has replayed
    /// up to here need not wait for more.
    #[must_use]
    pub fn has_ended(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_none_or(|ring| ring.ended)
    }

    /// Drops a stream, for instance when a client has all of it.
    pub fn forget(&mut self, stream: StreamId) {
        let forgotten = self.streams.remove(&stream);
        self.bytes -= forgotten.map_or(0, |ring| ring.bytes);
    }

    /// Drops the stream that was opened first of those that have ended. Says
    /// whether there was one.
    pub fn forget_ended(&mut self) -> bool {
        let ended = self.streams.iter().find(|(_, ring)| ring.ended);
        let oldest = ended.map(|(stream, _)| *stream);
        oldest.inspect(|stream| self.forget(*stream)).is_some()
    }

    /// The events of the cursor's stream, and of no other, that came after it.
    ///
    /// # Errors
    ///
    /// Where these cannot all be had; see [`ReplayMiss`].
    pub fn replay_after(
        &self,
        cursor: EventId,
    ) -> Result<impl Iterator<Item = (EventId, &Bytes)>, ReplayMiss> {
        if cursor.incarnation != self.incarnation {
            return Err(ReplayMiss::Foreign);
        }
        let stream = cursor.stream();
        let ring = match self.streams.get(&stream) {
            Some(ring) if cursor.sequence <= ring.last => ring,
            None if (1..=self.next_stream).contains(&stream.0) => return Err(ReplayMiss::Gone),
            Some(_) | None => return Err(ReplayMiss::Unknown),
        };
        let kept = u64::try_from(ring.events.len()).unwrap_or(u64::MAX);
        let dropped = ring.last - kept;
        let seen = cursor
            .sequence
            .checked_sub(dropped)
            .ok_or(ReplayMiss::Gone)?;
        let seen = usize::try_from(seen).unwrap_or(usize::MAX);
        let events = ring.events.iter().enumerate().skip(seen);
        Ok(events.map(move |(index, event)| {
            let index = u64::try_from(index).unwrap_or(u64::MAX);
            (self.id(stream, dropped + index + 1), event)
        }))
    }

    /// How many streams are recorded.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// How many bytes of events are kept, over all streams.
    #[must_use]
    pub fn bytes(&self) -> usize {
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

/// A recorded stream of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub(super) u64);

/// How much a session may keep: at most `streams` times `bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayLimits {
    /// Streams at once. The default, 32, is more than clients open at a time.
    pub streams: usize,
    /// Events per stream. The default is 256.
    pub events: usize,
    /// Bytes of events per stream. The default is 1 MiB; a larger event is
    /// sent, but not kept.
    pub bytes: usize,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self {
            streams: 32,
            events: 256,
            bytes: 1 << 20,
        }
    }
}

/// Why a stream cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayMiss {
    /// The id was given out by another session, or by an earlier life of this one.
    Foreign,
    /// No such id was ever given out.
    Unknown,
    /// Events after this one existed and have been dropped.
    Gone,
}

impl fmt::Display for ReplayMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Foreign => "the event id belongs to another session",
            Self::Unknown => "the event id was never given out",
            Self::Gone => "the events after this one are no longer kept",
        })
    }
}

impl std::error::Error for ReplayMiss {}

/// The last events of one stream. Their sequence numbers have no gaps and end
/// with `last`, so only that one is stored.
#[derive(Debug, Default)]
struct Ring {
    events: VecDeque<Bytes>,
    bytes: usize,
    last: u64,
    ended: bool,
}

impl Ring {
    fn push(&mut self, event: Bytes, limits: &ReplayLimits) {
        self.last += 1;
        if event.len() > limits.bytes || limits.events == 0 {
            // Kept without its successor, what came before would hide a gap.
            self.events.clear();
            self.bytes = 0;
            return;
        }
        while self.events.len() >= limits.events || self.bytes + event.len() > limits.bytes {
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

    fn small() -> Replay {
        Replay::new(
            7,
            ReplayLimits {
                streams: 2,
                events: 3,
                bytes: 10,
            },
        )
    }

    fn after(replay: &Replay, cursor: EventId) -> Result<Vec<&[u8]>, ReplayMiss> {
        Ok(replay
            .replay_after(cursor)?
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
        let start = replay.prime(a).unwrap();
        let first = replay.record(a, text("a1")).unwrap();
        replay.record(b, text("b1")).unwrap();
        let second = replay.record(a, text("a2")).unwrap();
        assert_eq!(after(&replay, start), Ok(vec![&b"a1"[..], b"a2"]));
        assert_eq!(after(&replay, first), Ok(vec![&b"a2"[..]]));
        assert_eq!(after(&replay, second), Ok(vec![]));
        let ids: Vec<_> = replay
            .replay_after(start)
            .unwrap()
            .map(|(id, _)| id)
            .collect();
        assert_eq!(ids, [first, second], "replayed events keep their ids");
    }

    #[test]
    fn ids_are_unique_over_the_streams_of_a_session() {
        let mut replay = small();
        let (a, b) = (replay.open().unwrap(), replay.open().unwrap());
        assert_ne!(replay.prime(a), replay.prime(b));
        assert_ne!(replay.record(a, text("x")), replay.record(b, text("x")));
    }

    #[test]
    fn foreign_unknown_and_dropped_places_are_told_apart() {
        let mut replay = small();
        let stream = replay.open().unwrap();
        let start = replay.prime(stream).unwrap();
        let foreign = EventId {
            incarnation: 8,
            ..start
        };
        assert_eq!(after(&replay, foreign), Err(ReplayMiss::Foreign));
        let future = EventId {
            sequence: 1,
            ..start
        };
        assert_eq!(after(&replay, future), Err(ReplayMiss::Unknown));
        for number in [0, 2, u64::MAX] {
            let unheard = EventId {
                stream: number,
                ..start
            };
            assert_eq!(after(&replay, unheard), Err(ReplayMiss::Unknown));
        }
        for event in ["1", "2", "3", "4"] {
            replay.record(stream, text(event)).unwrap();
        }
        assert_eq!(after(&replay, start), Err(ReplayMiss::Gone));
        assert_eq!(after(&replay, future), Ok(vec![&b"2"[..], b"3", b"4"]));
        replay.forget(stream);
        assert_eq!(after(&replay, future), Err(ReplayMiss::Gone));
    }

    #[test]
    fn an_event_too_large_to_keep_leaves_a_gap_that_is_seen() {
        let mut replay = small();
        let stream = replay.open().unwrap();
        let before = replay.record(stream, text("1")).unwrap();
        let large = replay.record(stream, text("01234567890")).unwrap();
        assert_eq!(replay.bytes(), 0);
        assert_eq!(after(&replay, before), Err(ReplayMiss::Gone));
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
        assert_eq!(replay.streams(), 2);
        assert_eq!(replay.record(b, text("late")), None);
        assert!(replay.record(a, text("x")).is_some() && replay.record(c, text("y")).is_some());
    }

    #[test]
    fn limits_of_zero_keep_nothing() {
        let none = ReplayLimits {
            streams: 0,
            events: 0,
            bytes: 0,
        };
        assert_eq!(Replay::new(1, none).open(), None);
        let mut replay = Replay::new(1, ReplayLimits { streams: 1, ..none });
        let stream = replay.open().unwrap();
        let id = replay.record(stream, Bytes::new()).unwrap();
        assert_eq!(after(&replay, id), Ok(vec![]));
    }
}
