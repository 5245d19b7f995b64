//! Requests that nobody waits for any more.

use bowline_proto::server::{CancelReason, ConnectionStats, Input};
use serde_json::json;

use super::rig::Rig;

#[test]
fn a_cancelled_request_is_reported_and_never_answered() {
    for stateless in [false, true] {
        let mut rig = Rig::session();
        let request = if stateless {
            rig.request_stateless("r", json!({"name": "x"}))
        } else {
            rig.request(
                "r",
                "tools/call",
                json!({"name": "x", "_meta": {"progressToken": 1}}),
            )
        };
        let params = json!({"requestId": "r", "reason": "bored"});
        rig.notify("notifications/cancelled", params.clone());
        let why = CancelReason::Client(Some("bored".into()));
        assert_eq!(rig.cancelled(), [(request, why)]);
        rig.respond(request, &json!({}));
        assert!(!rig.act(|it, _| it.progress(request, 1, None, None)));
        rig.notify("notifications/cancelled", params);
        assert!(rig.sent.is_empty(), "no further messages for it");
        assert_eq!(rig.cancelled().len(), 1);
        assert_eq!(rig.connection.stats(), ConnectionStats::default());
        assert_eq!(rig.observed("cancel.received"), 1);
        assert_eq!(rig.observed("request.exception"), 1);
    }
}

#[test]
fn the_id_of_a_cancelled_request_is_free() {
    let mut rig = Rig::session();
    rig.request(1, "tools/list", json!({}));
    rig.notify("notifications/cancelled", json!({"requestId": 1}));
    rig.request(1, "tools/list", json!({}));
}

#[test]
fn cancelling_nothing_does_nothing() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/list", json!({}));
    for id in [json!("1"), json!(2), json!("opening")] {
        rig.notify("notifications/cancelled", json!({"requestId": id}));
    }
    rig.notify("notifications/cancelled", json!({}));
    rig.notify("notifications/cancelled", json!({"requestId": 1.5}));
    assert!(rig.cancelled().is_empty());
    rig.respond(request, &json!({}));
    rig.result(1);
}

#[test]
fn a_closed_link_cancels_everything_once_and_then_says_so() {
    let mut rig = Rig::session();
    let first = rig.request(1, "tools/list", json!({}));
    let second = rig.request_stateless(2, json!({"name": "x"}));
    rig.ask_stateless(3, "subscriptions/listen", json!({"notifications": {}}));
    rig.forget();
    rig.handle(Input::Closed);
    let closed = |request| (request, CancelReason::LinkClosed);
    assert_eq!(rig.cancelled(), [closed(first), closed(second)]);
    assert!(rig.was_closed() && rig.sent.is_empty() && !rig.hung_up);
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
    assert!(!rig.connection.is_receiving());
}

#[test]
fn nothing_is_said_after_the_end() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/list", json!({}));
    rig.handle(Input::Closed);
    rig.forget();
    rig.respond(request, &json!({}));
    rig.ask(2, "ping", json!({}));
    rig.handle(Input::Closed);
    rig.handle(Input::Tick);
    rig.act(|it, now| {
        it.progress(request, 1, None, None);
        it.list_changed(bowline_proto::server::ListKind::Tools);
        it.close_subscription_streams(now);
        it.shutdown(now, std::time::Duration::ZERO);
    });
    assert!(rig.sent.is_empty() && rig.events.is_empty() && rig.telemetry.is_empty());
}
