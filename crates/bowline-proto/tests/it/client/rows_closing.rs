//! The rows C1 to C7 of the transition table: on the way out.

use bowline_proto::client::{CallId, Cancellation, ConnectionState, Event, Failure, Input};
use bytes::Bytes;
use serde_json::json;

use super::{
    look::{raw, waiting},
    rig::{Rig, exited},
};

/// A session that was stopped with one call in flight, whose end is forgotten.
fn closing() -> (Rig, CallId) {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.stop();
    assert_eq!(*rig.failure(call), Failure::Shutdown);
    rig.forget();
    (rig, call)
}

#[test]
fn c1_after_a_tenth_of_a_second_it_is_over() {
    let (mut rig, _) = closing();
    rig.pass_ms(99);
    assert!(!rig.connection.has_ended());
    rig.pass_ms(1);
    assert!(rig.connection.has_ended());
    assert!(matches!(rig.events[..], [Event::Ended]));
    assert_eq!(rig.deadline, None);
}

#[test]
fn c2_a_further_stop_is_no_error_and_changes_nothing() {
    let (mut rig, _) = closing();
    assert!(!rig.stop());
    assert!(!rig.stop());
    assert!(rig.events.is_empty() && rig.hangups.is_empty());
    rig.pass_ms(100);
    assert!(!rig.stop(), "nor after the end");
    assert_eq!(rig.state(), ConnectionState::Closing);
}

#[test]
fn c3_no_timer_of_a_call_fires() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.call("tools/list");
    rig.busy();
    rig.stop();
    rig.forget();
    rig.pass_ms(60_000);
    assert!(rig.sent.is_empty() && rig.done.is_empty());
}

#[test]
fn c4_the_links_own_end_ends_the_wait() {
    let (mut rig, _) = closing();
    rig.pass_ms(10);
    rig.down();
    assert!(rig.connection.has_ended());
    assert!(matches!(rig.events[..], [Event::Ended]));
}

#[test]
fn c4_a_dial_that_fails_after_the_stop_ends_the_wait() {
    let mut rig = Rig::dialling();
    rig.stop();
    assert!(!rig.connection.has_ended());
    rig.dial_failed();
    assert!(rig.connection.has_ended());
}

#[test]
fn c5_frames_are_dropped_and_nothing_is_read() {
    let (mut rig, call) = closing();
    assert_eq!(rig.connection.readable_link(), None);
    rig.notified("notifications/tools/list_changed", json!({}));
    rig.asked(json!(1), "ping", json!({}));
    rig.answer_to(3, json!({"tools": []}));
    let (link, size, prefix) = (rig.current(), 17_000_000, Bytes::new());
    rig.handle(Input::OversizedFrame { link, size, prefix });
    assert!(rig.sent.is_empty() && rig.events.is_empty());
    assert!(!rig.has_ended(call), "it has its answer already");
    assert!(!rig.connection.has_ended());
}

#[test]
fn c6_a_call_is_answered_with_shutdown_whatever_it_is_willing_to_wait_for() {
    let (mut rig, _) = closing();
    for _ in ["while closing", "after the end"] {
        let call = rig.call("tools/list");
        assert_eq!(*rig.failure(call), Failure::Shutdown);
        let patient = rig.call_with("tools/list", json!({}), waiting());
        assert_eq!(*rig.failure(patient), Failure::Shutdown);
        rig.pass_ms(100);
    }
    assert!(rig.sent.is_empty());
    rig.assert_no_calls();
}

#[test]
fn c7_everything_else_is_dropped() {
    let (mut rig, call) = closing();
    rig.up();
    rig.cancel(call, Cancellation::Dropped);
    rig.act(|connection, now| {
        connection.start(now);
        connection.provide_input(now, call, None);
        connection.set_list_subscriptions(
            now,
            bowline_proto::client::ListSubscriptions {
                tools: true,
                ..Default::default()
            },
        );
    });
    assert!(rig.sent.is_empty() && rig.done.is_empty() && rig.events.is_empty());
    assert_eq!(rig.dials.len(), 1);
}

#[test]
fn c7_an_answer_to_a_request_of_the_servers_goes_nowhere() {
    let mut rig = Rig::ready_with(|config| {
        config.capabilities.sampling = Some(Default::default());
    });
    let params = json!({"messages": [], "maxTokens": 1});
    rig.asked(json!(1), "sampling/createMessage", params);
    let request = rig.events.iter().find_map(|event| match event {
        Event::Request { request, .. } => Some(*request),
        _ => None,
    });
    let request = request.unwrap();
    rig.stop();
    assert!(rig.has_event(
        |event| matches!(event, Event::RequestWithdrawn { request: it } if *it == request)
    ));
    let sent = rig.sent.len();
    rig.act(|connection, now| connection.respond(now, request, Ok(raw(&json!({})))));
    assert_eq!(rig.sent.len(), sent);
}

#[test]
fn c7_the_link_that_was_hung_up_is_the_only_one_that_ends_the_wait() {
    let mut rig = Rig::ready();
    let old = rig.current();
    rig.reconnect();
    rig.stop();
    rig.handle(Input::Down {
        link: old,
        cause: exited(),
    });
    assert!(!rig.connection.has_ended());
    rig.down();
    assert!(rig.connection.has_ended());
}
