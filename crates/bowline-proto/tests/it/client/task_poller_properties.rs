//! Following a task of a server that says anything at all.

use bowline_proto::{
    client::{Failure, Outcome, TaskStep},
    jsonrpc::ErrorObject,
};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::json;

use super::{
    look::millis,
    task_poller::{CORE, EXTENSION, Follower, acknowledged, asking, bytes, task, timed_out},
};

/// Something that a server says.
#[derive(Clone, Debug)]
enum Reply {
    State {
        status: u8,
        keys: Vec<u8>,
        ttl: Option<u64>,
        interval: Option<u64>,
        id: bool,
    },
    Garbage,
    Error(i64),
    Timeout,
    Acknowledge,
}

fn reply() -> impl Strategy<Value = Reply> {
    let state = (
        0u8..7,
        prop::collection::vec(0u8..6, 0..3),
        prop::option::of(0u64..100_000),
        prop::option::of(prop_oneof![Just(0), 1u64..5000, Just(u64::MAX)]),
        prop::bool::weighted(0.95),
    );
    let state = state.prop_map(|(status, keys, ttl, interval, id)| Reply::State {
        status,
        keys,
        ttl,
        interval,
        id,
    });
    prop_oneof![
        12 => state,
        1 => Just(Reply::Garbage),
        1 => prop_oneof![Just(-32602i64), Just(-32603)].prop_map(Reply::Error),
        3 => Just(Reply::Timeout),
        3 => Just(Reply::Acknowledge),
    ]
}

impl Reply {
    fn outcome(&self) -> Outcome {
        match self {
            Self::State {
                status,
                keys,
                ttl,
                interval,
                id,
            } => {
                let statuses = [
                    "working",
                    "working",
                    "input_required",
                    "completed",
                    "failed",
                    "cancelled",
                    "odd",
                ];
                let keys: Vec<String> = keys.iter().map(|key| format!("k{key}")).collect();
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                let mut state = task(asking(&keys));
                state["status"] = json!(statuses[usize::from(*status)]);
                for key in ["ttl", "ttlMs"] {
                    state[key] = json!(ttl);
                }
                for key in ["pollInterval", "pollIntervalMs"] {
                    state[key] = json!(interval.unwrap_or(7));
                }
                state["taskId"] = json!(if *id { "t" } else { "u" });
                state["result"] = json!({"content": []});
                Outcome::Result(bytes(&state))
            }
            Self::Garbage => Outcome::Result(Bytes::from_static(b"7")),
            Self::Error(code) => Outcome::Error(ErrorObject::new(*code, "no")),
            Self::Timeout => timed_out(),
            Self::Acknowledge => acknowledged(),
        }
    }
}

proptest! {
    #[test]
    fn whatever_a_server_says_no_question_is_asked_twice_and_the_end_stays(
        replies in prop::collection::vec(reply(), 1..60),
        is_core in any::<bool>(),
        hints in prop::collection::vec(any::<bool>(), 60),
    ) {
        let dialect = if is_core { CORE } else { EXTENSION };
        let mut follower = Follower::working();
        let mut asked = std::collections::BTreeSet::new();
        let mut last_get = None;
        let mut ended: Option<Outcome> = None;
        for (reply, hint) in replies.iter().zip(hints) {
            if hint {
                follower.poller.hint(follower.now);
            }
            let (step, _) = follower.step();
            match step {
                TaskStep::Get => {
                    if let Some(last) = last_get {
                        prop_assert!(follower.now - last >= millis(20));
                    }
                    last_get = Some(follower.now);
                    follower.poller.handle_get(follower.now, dialect, reply.outcome());
                }
                TaskStep::GetResult => follower.poller.handle_result(reply.outcome()),
                TaskStep::Ask(questions) => {
                    prop_assert_eq!(dialect, EXTENSION);
                    let keys: Vec<_> = questions.iter().map(|(key, _)| key.to_owned()).collect();
                    for key in &keys {
                        prop_assert!(asked.insert(key.clone()), "{} was asked twice", key);
                    }
                    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                    follower.answer(&keys);
                }
                TaskStep::Update(_) => follower.poller.handle_update(follower.now, reply.outcome()),
                TaskStep::Done(outcome) => {
                    let first = ended.get_or_insert_with(|| outcome.clone());
                    prop_assert_eq!(&*first, &outcome);
                    follower.poller.handle_get(follower.now, dialect, reply.outcome());
                    follower.poller.handle_result(reply.outcome());
                    follower.poller.handle_update(follower.now, reply.outcome());
                    follower.poller.fail(Failure::Cancelled);
                }
                TaskStep::Wait { .. } => unreachable!("step waits"),
            }
        }
    }
}
