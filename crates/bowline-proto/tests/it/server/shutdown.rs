//! Leaving in order.

use std::time::Duration;

use bowline_proto::{
    model::ElicitParams,
    server::{CallOptions, CancelReason, ConnectionStats, Failure, Outcome},
};
use serde_json::json;

use super::rig::Rig;

const GRACE: Duration = Duration::from_secs(5);

#[test]
fn with_nothing_under_way_it_is_over_at_once() {
    let mut rig = Rig::session();
    rig.act(|it, now| it.shutdown(now, GRACE));
    assert!(rig.hung_up && rig.was_closed());
    assert_eq!(rig.deadline, None);
}

#[test]
fn requests_under_way_may_finish() {
    let mut rig = Rig::session();
    let first = rig.request(1, "tools/list", json!({}));
    rig.request(2, "tools/list", json!({}));
    rig.act(|it, now| it.shutdown(now, GRACE));
    assert!(!rig.hung_up);
    rig.respond(first, &json!({}));
    rig.result(1);
    assert!(!rig.hung_up);
    rig.notify("notifications/cancelled", json!({"requestId": 2}));
    assert!(
        rig.hung_up && rig.was_closed(),
        "nothing is left to wait for"
    );
}

#[test]
fn new_requests_are_refused_meanwhile() {
    let mut rig = Rig::session();
    rig.request(1, "tools/list", json!({}));
    rig.act(|it, now| it.shutdown(now, GRACE));
    rig.ask(2, "tools/list", json!({}));
    assert_eq!(rig.refused(2), -32603);
    assert!(
        rig.last()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("shutting down")
    );
    rig.ask_stateless(3, "server/discover", json!({}));
    assert_eq!(rig.refused(3), -32603);
    rig.ask(4, "ping", json!({}));
    rig.result(4);
}

#[test]
fn who_does_not_finish_in_time_is_told() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/call", json!({"name": "x"}));
    let options = CallOptions::default();
    let question = ElicitParams::new("Which?");
    let asked = rig.act(|it, now| it.call(now, question, &options));
    rig.act(|it, now| it.shutdown(now, GRACE));
    rig.pass(GRACE - Duration::from_millis(1));
    assert!(!rig.hung_up);
    rig.pass(Duration::from_millis(1));
    assert_eq!(rig.refused(1), -32603);
    assert_eq!(rig.cancelled(), [(request, CancelReason::Shutdown)]);
    assert_eq!(rig.outcome(asked), &Outcome::Failed(Failure::Closed));
    assert!(rig.hung_up && rig.was_closed());
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
}

#[test]
fn streams_are_closed_first() {
    let mut rig = Rig::new();
    let filter = json!({"notifications": {"toolsListChanged": true}});
    rig.ask_stateless("s", "subscriptions/listen", filter);
    rig.request_stateless(1, json!({"name": "x"}));
    rig.forget();
    rig.act(|it, now| it.shutdown(now, GRACE));
    assert_eq!(rig.sent[0]["id"], "s");
    assert_eq!(rig.sent[1]["method"], "notifications/cancelled");
    assert!(!rig.hung_up);
}

#[test]
fn doing_it_again_can_only_shorten_the_grace() {
    let mut rig = Rig::session();
    rig.request(1, "tools/list", json!({}));
    rig.act(|it, now| it.shutdown(now, GRACE));
    let deadline = rig.deadline;
    rig.act(|it, now| it.shutdown(now, GRACE * 2));
    assert_eq!(rig.deadline, deadline);
    rig.act(|it, now| it.shutdown(now, Duration::ZERO));
    assert!(rig.hung_up);
    assert_eq!(rig.refused(1), -32603);
}

#[test]
fn the_end_may_come_in_the_middle_of_a_batch() {
    let mut rig = Rig::session_in("2025-03-26");
    rig.request(1, "tools/list", json!({}));
    rig.act(|it, now| it.shutdown(now, GRACE));
    rig.forget();
    rig.frame(&json!([
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]));
    assert!(rig.was_closed() && rig.sent.is_empty());
}
