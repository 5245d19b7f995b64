//! What observers are told, name by name and field by field.

use std::time::Duration;

use bowline_proto::{
    Reason,
    client::{
        CallOptions, Config, ConnectionState, Input, TelemetryEvent, TransitionReason, Violation,
    },
};
use bytes::Bytes;
use serde_json::json;

use super::rig::{Rig, exited};

/// The state changes that were seen: from, to, and the name of the reason.
fn transitions(rig: &Rig) -> Vec<(ConnectionState, ConnectionState, &'static str)> {
    let changes = rig.telemetry.iter().filter_map(|seen| match seen {
        TelemetryEvent::Transition { from, to, reason } => Some((*from, *to, reason.as_str())),
        _ => None,
    });
    changes.collect()
}

/// What was seen under this name, and nothing else under it.
#[track_caller]
fn only<'a>(rig: &'a Rig, name: &str) -> &'a TelemetryEvent {
    let mut named = rig.telemetry.iter().filter(|seen| seen.name() == name);
    let seen = named.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(named.next().is_none(), "more than one {name}");
    seen
}

#[test]
fn every_change_of_state_has_its_reason() {
    use ConnectionState::{Backoff, Closing, Opening, Ready, Starting};
    let mut rig = Rig::dialling();
    rig.up();
    rig.open_by_handshake("2025-11-25");
    rig.down();
    rig.redial();
    rig.dial_failed();
    rig.stop();
    assert_eq!(
        transitions(&rig),
        [
            (Starting, Opening, "started"),
            (Opening, Ready, "session_opened"),
            (Ready, Backoff, "fell"),
            (Backoff, Opening, "retry_due"),
            (Opening, Backoff, "fell"),
            (Backoff, Closing, "stopped"),
        ]
    );
}

#[test]
fn a_fall_is_observed_with_its_cause() {
    let mut rig = Rig::ready();
    rig.down();
    let reason = TransitionReason::Disconnected(exited());
    assert_eq!(reason.error(), Some(&exited()));
    let (from, to) = (ConnectionState::Ready, ConnectionState::Backoff);
    let seen = only(&rig, "connection.transition");
    assert_eq!(*seen, TelemetryEvent::Transition { from, to, reason });
}

#[test]
fn the_last_attempt_gives_up() {
    let mut rig = Rig::with(|config: &mut Config| config.max_connect_attempts = Some(1)).started();
    rig.dial_failed();
    let (_, to, reason) = *transitions(&rig).last().expect("it changed");
    assert_eq!((to, reason), (ConnectionState::Closing, "gave_up"));
}

#[test]
fn a_call_is_observed_from_its_beginning_to_its_end() {
    let mut rig = Rig::ready();
    rig.call_with("tools/list", json!({}), CallOptions::default());
    let TelemetryEvent::RequestStart {
        call,
        correlation,
        method,
    } = only(&rig, "request.start").clone()
    else {
        panic!("another observation of this name");
    };
    assert_eq!(method, "tools/list");
    rig.pass_ms(7);
    rig.answer(json!({"tools": []}));
    let duration = Duration::from_millis(7);
    let stop = TelemetryEvent::RequestStop {
        call,
        correlation,
        method,
        duration,
        error_code: None,
    };
    assert_eq!(*only(&rig, "request.stop"), stop);
}

#[test]
fn a_refusal_is_observed_with_its_code() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.answer_error(-32602, "no");
    let seen = only(&rig, "request.stop");
    assert!(
        matches!(
            seen,
            TelemetryEvent::RequestStop {
                error_code: Some(-32602),
                ..
            }
        ),
        "{seen:?}"
    );
}

#[test]
fn a_call_without_an_answer_is_observed_with_its_reason() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.pass_ms(30_000);
    let seen = only(&rig, "request.exception");
    assert!(
        matches!(seen, TelemetryEvent::RequestException { reason: Reason::Timeout, duration, .. }
            if *duration == Duration::from_secs(30)),
        "{seen:?}"
    );
}

#[test]
fn a_notification_is_observed_by_its_method() {
    let mut rig = Rig::ready();
    rig.frame(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    let method = "notifications/tools/list_changed".into();
    let seen = only(&rig, "notification.received");
    assert_eq!(*seen, TelemetryEvent::NotificationReceived { method });
}

#[test]
fn a_frame_over_the_limit_is_observed_with_the_limit() {
    let mut rig = Rig::ready_with(|config: &mut Config| config.max_frame_size = 1_000);
    let link = rig.current();
    let prefix = Bytes::from_static(b"{");
    rig.handle(Input::OversizedFrame {
        link,
        size: 1_001,
        prefix,
    });
    let violation = TelemetryEvent::Violation {
        violation: Violation::OversizedFrame,
        size: 1_001,
        limit: Some(1_000),
    };
    assert_eq!(*only(&rig, "protocol.violation"), violation);
    assert_eq!(rig.state(), ConnectionState::Ready, "it is skipped");
}
