//! The rows S1 to S5 of the transition table: before anything was dialled.

use bowline_proto::client::{
    Connection, ConnectionErrorKind, ConnectionState, Event, Failure, Input,
};
use bytes::Bytes;

use super::rig::{Rig, exited};

/// `start` is the table's Spawn, and the transport is asked for by a dial.
#[test]
fn s1_start_dials_one_link_and_waits_for_it() {
    let mut rig = Rig::dialling();
    assert_eq!(rig.state(), ConnectionState::Opening);
    assert_eq!(rig.attempts, [0]);
    assert!(rig.sent.is_empty(), "nothing is sent before the link is up");
    assert_eq!(rig.connection.readable_link(), None);

    rig.act(Connection::start);
    assert_eq!(rig.dials.len(), 1, "a second start does nothing");
}

/// A dial is an output, so that its failure is met in `Opening`; it leads to
/// the same first backoff.
#[test]
fn s2_a_first_dial_that_fails_schedules_the_first_backoff() {
    let mut rig = Rig::dialling();
    rig.dial_failed();
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert!(matches!(rig.fell().0, ConnectionErrorKind::Unreachable(_)));
    rig.assert_first_backoff();
}

#[test]
fn s3_stop_before_the_start_ends_at_once_and_for_good() {
    let mut rig = Rig::new();
    assert!(rig.stop());
    assert_eq!(rig.state(), ConnectionState::Closing);
    assert!(rig.connection.has_ended());

    let rig = rig.started();
    assert!(rig.dials.is_empty(), "an ended connection does not dial");
}

#[test]
fn s3_the_end_is_the_last_event() {
    let mut rig = Rig::new();
    rig.stop();
    assert!(matches!(rig.events.last(), Some(Event::Ended)));
}

#[test]
fn s4_a_call_is_refused_and_told_the_state() {
    let mut rig = Rig::new();
    let call = rig.call("tools/list");
    let starting = Failure::NotReady {
        state: ConnectionState::Starting,
        retry_in: None,
    };
    assert_eq!(*rig.failure(call), starting);
    assert_eq!(rig.state(), ConnectionState::Starting);
}

#[test]
fn s5_frames_and_fates_of_links_that_were_never_dialled_are_discarded() {
    let link = Rig::dialling().current();
    let frame = Bytes::from_static(b"{}");
    let inputs = [
        Input::Up { link },
        Input::Frame { link, frame },
        Input::Down {
            link,
            cause: exited(),
        },
        Input::Tick,
    ];
    let mut rig = Rig::new();
    for input in inputs {
        rig.handle(input);
        assert_eq!(rig.state(), ConnectionState::Starting);
    }
    assert!(rig.sent.is_empty() && rig.dials.is_empty() && rig.events.is_empty());
    assert_eq!(rig.observed("link.stale"), 3);
}
