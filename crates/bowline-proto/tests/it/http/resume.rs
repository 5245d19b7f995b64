//! The replay store under any sequence of operations.

use bowline_proto::http::resume::{EventBuffer, EventBufferLimits, EventId, ReplayError, StreamId};
use bytes::Bytes;
use proptest::prelude::*;

const LIMITS: EventBufferLimits = EventBufferLimits {
    max_streams: 3,
    max_events: 4,
    max_bytes: 20,
};

#[derive(Clone, Debug)]
enum Step {
    Open,
    Record(prop::sample::Index, usize),
    End(prop::sample::Index),
    Forget(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    let stream = any::<prop::sample::Index>;
    prop_oneof![
        2 => Just(Step::Open),
        8 => (stream(), 0usize..25).prop_map(|(stream, size)| Step::Record(stream, size)),
        1 => stream().prop_map(Step::End),
        1 => stream().prop_map(Step::Forget),
    ]
}

/// What really happened: every event of every stream, none forgotten.
#[derive(Default)]
struct History {
    streams: Vec<(StreamId, Vec<(EventId, Bytes)>)>,
}

impl History {
    fn pick(
        &mut self,
        index: prop::sample::Index,
    ) -> Option<&mut (StreamId, Vec<(EventId, Bytes)>)> {
        (!self.streams.is_empty()).then(|| index.get_mut(&mut self.streams))
    }

    fn check(&self, replay: &EventBuffer) -> Result<(), TestCaseError> {
        prop_assert!(replay.stream_count() <= LIMITS.max_streams);
        prop_assert!(replay.buffered_bytes() <= LIMITS.max_streams * LIMITS.max_bytes);
        for (_, events) in &self.streams {
            for (place, (cursor, _)) in events.iter().enumerate() {
                match replay.events_after(*cursor) {
                    Ok(replayed) => {
                        let replayed: Vec<_> =
                            replayed.map(|(id, data)| (id, data.clone())).collect();
                        prop_assert_eq!(
                            &replayed,
                            &events[place + 1..],
                            "all that followed, and only that"
                        );
                        prop_assert!(replayed.len() <= LIMITS.max_events);
                        prop_assert!(
                            replayed.iter().map(|(_, data)| data.len()).sum::<usize>()
                                <= LIMITS.max_bytes
                        );
                    }
                    Err(miss) => prop_assert_eq!(miss, ReplayError::Dropped),
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_store_stays_within_its_bounds_and_never_lies(steps in prop::collection::vec(step(), 0..60)) {
        let mut replay = EventBuffer::new(42, LIMITS);
        let mut history = History::default();
        let mut ids = std::collections::BTreeSet::new();
        for step in steps {
            match step {
                Step::Open => {
                    if let Some(stream) = replay.open() {
                        history.streams.push((stream, Vec::new()));
                    }
                }
                Step::Record(index, size) => {
                    let Some((stream, events)) = history.pick(index) else { continue };
                    let data = Bytes::from(vec![b'x'; size]);
                    if let Some(id) = replay.record(*stream, data.clone()) {
                        prop_assert!(ids.insert(id), "ids are unique within the session");
                        prop_assert_eq!(EventId::parse(id.to_string().as_bytes()), Some(id));
                        events.push((id, data));
                    }
                }
                Step::End(index) => {
                    if let Some((stream, _)) = history.pick(index) {
                        replay.end(*stream);
                    }
                }
                Step::Forget(index) => {
                    if let Some((stream, _)) = history.pick(index) {
                        replay.remove(*stream);
                    }
                }
            }
        }
        history.check(&replay)?;
    }

    #[test]
    fn event_ids_read_back_or_not_at_all(raw in "[0-9a-f-]{0,20}") {
        if let Some(id) = EventId::parse(raw.as_bytes()) {
            prop_assert_eq!(id.to_string(), raw, "one id has one spelling");
        }
    }
}
