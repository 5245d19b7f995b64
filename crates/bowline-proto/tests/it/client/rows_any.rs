//! The rows A1 to A6 of the transition table: what can be asked in any state.
//!
//! Waiting for a session with a timeout (A3) and registering handlers (A4) are
//! the driver's; the machine's part of them are the events tested here.

use bowline_proto::{
    client::{Cancellation, ConnectionState, Event, Failure, Input, SendError},
    jsonrpc::OutgoingMessage,
};
use serde_json::json;

use super::{
    look::{raw, waiting},
    rig::{Rig, telling_of_roots},
};

/// One connection in each state.
fn each_state() -> [(ConnectionState, Rig); 5] {
    let mut backoff = Rig::ready();
    backoff.down();
    let mut closing = Rig::ready();
    closing.stop();
    [
        (ConnectionState::Starting, Rig::new()),
        (ConnectionState::Opening, Rig::dialling()),
        (ConnectionState::Ready, Rig::ready()),
        (ConnectionState::Backoff, backoff),
        (ConnectionState::Closing, closing),
    ]
}

#[test]
fn a1_the_state_can_be_asked_for_in_every_state() {
    for (name, rig) in each_state() {
        assert_eq!(rig.connection.state(), name);
        assert_eq!(name.to_string(), format!("{name:?}").to_lowercase());
    }
}

#[test]
fn a1_every_change_of_state_is_an_event() {
    let mut rig = Rig::new().started();
    rig.open_by_handshake("2025-11-25");
    rig.down();
    rig.stop();
    let states: Vec<_> = rig
        .events
        .iter()
        .filter_map(|event| match event {
            Event::StateChanged(state) => Some(*state),
            _ => None,
        })
        .collect();
    let expected = [
        ConnectionState::Opening,
        ConnectionState::Ready,
        ConnectionState::Backoff,
        ConnectionState::Closing,
    ];
    assert_eq!(states, expected);
}

#[test]
fn a2_the_server_is_known_while_its_session_is_open_and_only_then() {
    for (name, rig) in each_state() {
        match rig.connection.server_info() {
            Ok(server) => {
                assert_eq!(name, ConnectionState::Ready);
                assert_eq!(server.info.as_ref().unwrap().name, "fake");
            }
            Err(failure) => assert!(
                matches!(failure, Failure::NotReady { state, .. } if state == name),
                "{failure:?}"
            ),
        }
    }
}

#[test]
fn a3_those_who_wait_are_told_of_a_session_even_after_several_backoffs() {
    let mut rig = Rig::dialling();
    rig.dial_failed();
    rig.redial();
    rig.up();
    rig.pass_ms(10_000);
    rig.redial();
    let told = |event: &Event| matches!(event, Event::Ready { .. } | Event::Ended);
    assert!(!rig.has_event(told));
    rig.open_by_handshake("2025-11-25");
    assert!(rig.has_event(|event| matches!(event, Event::Ready { session: 1 })));
}

#[test]
fn a3_those_who_wait_are_told_of_the_end() {
    for (_, mut rig) in each_state() {
        rig.stop();
        rig.pass_ms(100);
        assert!(matches!(rig.events.last(), Some(Event::Ended)));
    }
}

#[test]
fn a5_a_notification_is_sent_once_in_ready_and_dropped_and_counted_elsewhere() {
    for (name, mut rig) in each_state() {
        rig.forget();
        let draft = OutgoingMessage::without_params("notifications/cancelled");
        rig.act(|connection, now| connection.notify(now, draft));
        let sent = usize::from(name == ConnectionState::Ready);
        assert_eq!(rig.sent.len(), sent, "{name}");
        assert_eq!(rig.observed("notification.dropped"), 1 - sent, "{name}");
    }
}

#[test]
fn a5_a_notification_that_cannot_be_sent_is_not_sent_again() {
    let mut rig = Rig::ready();
    let draft = OutgoingMessage::without_params("notifications/cancelled");
    rig.act(|connection, now| connection.notify(now, draft));
    let (link, frame) = (rig.current(), rig.last_sent().frame.clone());
    rig.handle(Input::SendFailed {
        link,
        id: None,
        error: SendError::Busy(frame),
    });
    rig.pass_ms(1_000);
    assert_eq!(rig.sent.len(), 1);
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn a5_a_notification_that_the_revision_lacks_is_not_sent() {
    let mut rig = Rig::stateless();
    let draft = OutgoingMessage::without_params("notifications/roots/list_changed");
    rig.act(|connection, now| connection.notify(now, draft));
    assert!(rig.sent.is_empty());
    assert_eq!(rig.observed("notification.dropped"), 1);
}

#[test]
fn a5_changes_of_roots_are_told_only_where_that_was_declared() {
    let changed = "notifications/roots/list_changed";
    for (mut rig, sent) in [
        (Rig::ready_with(telling_of_roots), 1),
        (Rig::ready(), 0),
        (
            Rig::ready_with(|config| config.capabilities.roots = Some(Default::default())),
            0,
        ),
    ] {
        let allowed = rig.connection.can_notify(changed);
        assert_eq!(usize::from(allowed.is_ok()), sent);
        rig.act(|connection, now| connection.notify(now, OutgoingMessage::without_params(changed)));
        assert_eq!(rig.sent.len(), sent);
        assert_eq!(rig.observed("notification.dropped"), 1 - sent);
    }
}

#[test]
fn a5_notifications_of_nobodys_are_the_callers_business() {
    let mut rig = Rig::stateless();
    let draft = OutgoingMessage::without_params("notifications/acme/tide");
    rig.act(|connection, now| connection.notify(now, draft));
    assert_eq!(rig.last_sent().method(), "notifications/acme/tide");
    let refused = rig
        .connection
        .can_notify("notifications/roots/list_changed");
    assert!(matches!(refused, Err(Failure::NoSuchMethod { .. })));
}

#[test]
fn a6_cancelling_a_call_on_the_wire_tells_the_server_buries_the_id_and_answers() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let id = rig.last_request();
    for _ in 0..10 {
        rig.cancel(call, Cancellation::Requested(None));
    }
    assert_eq!(*rig.failure(call), Failure::Cancelled);
    assert_eq!(rig.cancelled(), [id], "ten times is once");
    assert_eq!(rig.connection.stats().cancelled_calls, 1);
    rig.assert_no_calls();
}

#[test]
fn a6_cancelling_a_call_that_is_being_retried_tells_nobody_but_the_caller() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.busy();
    rig.cancel(call, Cancellation::Requested(None));
    assert_eq!(*rig.failure(call), Failure::Cancelled);
    assert!(rig.cancelled().is_empty());
    assert_eq!(rig.connection.stats().cancelled_calls, 0);
}

#[test]
fn a6_cancelling_a_call_that_waits_for_the_connection_answers_it() {
    for (name, mut rig) in each_state() {
        if matches!(name, ConnectionState::Ready | ConnectionState::Closing) {
            continue;
        }
        let call = rig.call_with("tools/list", json!({}), waiting());
        rig.cancel(call, Cancellation::Dropped);
        assert_eq!(*rig.failure(call), Failure::Cancelled, "{name}");
        rig.assert_no_calls();
    }
}

#[test]
fn a6_cancelling_a_call_that_has_ended_does_nothing() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.answer(json!({"tools": []}));
    let sent = rig.sent.len();
    rig.cancel(call, Cancellation::Requested(None));
    assert_eq!(rig.result(call), json!({"tools": []}));
    assert_eq!(rig.sent.len(), sent);
}

#[test]
fn answers_and_input_for_nobody_do_nothing_in_any_state() {
    let mut served = Rig::ready_with(|config| {
        config.capabilities.sampling = Some(Default::default());
    });
    let params = json!({"messages": [], "maxTokens": 1});
    served.asked(json!(1), "sampling/createMessage", params);
    let request = served.events.iter().find_map(|event| match event {
        Event::Request { request, .. } => Some(*request),
        _ => None,
    });
    let request = request.unwrap();
    let stranger = served.call("tools/list");
    for (name, mut rig) in each_state() {
        rig.forget();
        rig.act(|connection, now| {
            connection.respond(now, request, Ok(raw(&json!({}))));
            connection.provide_input(now, stranger, None);
            connection.cancel(now, stranger, Cancellation::Dropped);
        });
        assert_eq!(rig.state(), name);
        assert!(rig.sent.is_empty() && rig.done.is_empty() && rig.events.is_empty());
    }
}
