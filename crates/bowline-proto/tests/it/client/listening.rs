//! The stream of changes of the stateless era, and its log level.

use bowline_proto::{
    client::{
        Cancellation, Config, ConnectionErrorKind, Failure, HttpStatusError, ListSubscriptions,
        SendError,
    },
    model::LogLevel,
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    look::millis,
    rig::{Rig, discovery, over_http},
    subscriptions::{lost, resubscribed, set_level, subscribe, unsubscribe},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A session with an acknowledged stream for these resources, and its id.
fn listening(uris: &[&str]) -> (Rig, u64) {
    listening_with(|_| {}, uris)
}

fn listening_with(adjust: impl FnOnce(&mut Config), uris: &[&str]) -> (Rig, u64) {
    let mut rig = Rig::stateless_with(adjust);
    for uri in uris {
        subscribe(&mut rig, uri);
        acknowledge_all(&mut rig);
    }
    let stream = rig.last_request();
    rig.forget();
    (rig, stream)
}

/// The ids of the streams that were asked for.
fn streams(rig: &Rig) -> Vec<u64> {
    let sent = rig.sent_as("subscriptions/listen").into_iter();
    sent.filter_map(|sent| sent.id).collect()
}

/// What the last stream asks for.
#[track_caller]
fn wanted(rig: &Rig) -> Value {
    let sent = rig.sent_as("subscriptions/listen");
    let last = sent.last().expect("a stream was asked for");
    last.json["params"]["notifications"].clone()
}

fn acknowledge(rig: &mut Rig, stream: u64, honoured: Value) {
    let meta = json!({SUBSCRIPTION: stream});
    let params = Value::from_iter([("_meta", meta), ("notifications", honoured)]);
    rig.notified("notifications/subscriptions/acknowledged", params);
}

/// Acknowledges the last stream, with all that it asked for.
#[track_caller]
fn acknowledge_all(rig: &mut Rig) {
    let stream = *streams(rig).last().expect("a stream was asked for");
    let honoured = wanted(rig);
    acknowledge(rig, stream, honoured);
}

fn changed(rig: &mut Rig, stream: Value) {
    let meta = Value::from_iter([(SUBSCRIPTION, stream)]);
    let params = Value::from_iter([("_meta", meta), ("uri", "file:///a".into())]);
    rig.notified("notifications/resources/updated", params);
}

fn watch_tools(rig: &mut Rig) {
    let watch = ListSubscriptions {
        tools: true,
        ..ListSubscriptions::default()
    };
    rig.act(|connection, now| connection.set_list_subscriptions(now, watch));
}

#[test]
fn without_a_wish_there_is_no_stream() {
    let rig = Rig::stateless();
    assert!(rig.sent.is_empty());
    assert_eq!(rig.deadline, None);
}

#[test]
fn a_subscription_asks_for_a_stream_and_is_done_when_that_is_acknowledged() {
    let mut rig = Rig::stateless();
    let call = subscribe(&mut rig, "file:///a");
    assert_eq!(rig.methods_sent(), ["subscriptions/listen"]);
    assert_eq!(
        wanted(&rig),
        json!({"resourceSubscriptions": ["file:///a"]})
    );
    let meta = &rig.last_sent().json["params"]["_meta"];
    let version = &meta["io.modelcontextprotocol/protocolVersion"];
    assert_eq!(*version, "2026-07-28");
    assert!(!rig.has_ended(call));
    acknowledge_all(&mut rig);
    assert_eq!(rig.result(call), json!({}));
    rig.assert_no_calls();
    assert!(resubscribed(&rig).is_empty(), "there was no gap");
}

#[test]
fn the_stream_itself_has_no_deadline_once_it_is_acknowledged() {
    let (mut rig, _) = listening(&["file:///a"]);
    rig.pass_ms(3_600_000);
    assert!(rig.sent.is_empty());
    assert_eq!(rig.deadline, None);
}

#[test]
fn watching_lists_asks_for_a_stream() {
    let mut rig = Rig::stateless();
    let watch = ListSubscriptions {
        tools: true,
        resources: true,
        ..ListSubscriptions::default()
    };
    rig.act(|connection, now| connection.set_list_subscriptions(now, watch));
    let filter = json!({"toolsListChanged": true, "resourcesListChanged": true});
    assert_eq!(wanted(&rig), filter);
    acknowledge_all(&mut rig);
    rig.act(|connection, now| connection.set_list_subscriptions(now, watch));
    assert_eq!(streams(&rig).len(), 1, "the same wish again is no news");
}

#[test]
fn a_wish_from_before_the_session_is_asked_for_when_it_opens() {
    let mut rig = Rig::new();
    watch_tools(&mut rig);
    let mut rig = rig.started();
    rig.open_by_discovery();
    assert_eq!(wanted(&rig), json!({"toolsListChanged": true}));
    acknowledge_all(&mut rig);
    assert!(resubscribed(&rig).is_empty());
}

#[test]
fn a_server_that_does_not_offer_subscriptions_is_not_asked() {
    let mut rig = Rig::dialling();
    rig.up();
    let mut result = discovery();
    result["capabilities"] = json!({"resources": {}});
    rig.answer(result);
    rig.forget();
    let call = subscribe(&mut rig, "file:///a");
    let capability = "resources.subscribe";
    assert_eq!(
        *rig.failure(call),
        Failure::CapabilityNotSupported { capability }
    );
    assert!(rig.sent.is_empty());
}

#[test]
fn a_further_wish_replaces_the_stream_without_a_gap() {
    let (mut rig, stream) = listening(&["file:///a"]);
    let call = subscribe(&mut rig, "file:///b");
    let uris = json!({"resourceSubscriptions": ["file:///a", "file:///b"]});
    assert_eq!(wanted(&rig), uris);
    assert!(rig.cancelled().is_empty(), "the old stream stays for now");
    acknowledge_all(&mut rig);
    assert_eq!(
        rig.cancelled(),
        [stream],
        "and goes when the new one is there"
    );
    assert_eq!(rig.result(call), json!({}));
    assert!(resubscribed(&rig).is_empty());
}

#[test]
fn over_http_the_old_stream_is_let_go() {
    let (mut rig, stream) = listening_with(over_http, &["file:///a"]);
    subscribe(&mut rig, "file:///b");
    assert!(rig.aborts.is_empty());
    acknowledge_all(&mut rig);
    assert_eq!(rig.aborts, [stream]);
    assert!(rig.cancelled().is_empty());
}

#[test]
fn changes_on_the_old_stream_count_until_it_is_replaced() {
    let (mut rig, stream) = listening(&["file:///a"]);
    subscribe(&mut rig, "file:///b");
    let new = rig.last_request();
    changed(&mut rig, json!(stream));
    assert_eq!(rig.handed_up().len(), 1);
    acknowledge_all(&mut rig);
    changed(&mut rig, json!(stream));
    assert_eq!(rig.handed_up().len(), 1, "stale");
    changed(&mut rig, json!(new));
    assert_eq!(rig.handed_up().len(), 2);
}

#[test]
fn changes_of_streams_that_are_not_ours_are_dropped() {
    let (mut rig, ours) = listening(&["file:///a"]);
    for stream in [json!(1), json!(999), json!(ours.to_string())] {
        changed(&mut rig, stream);
    }
    assert!(rig.handed_up().is_empty());
    rig.notified("notifications/message", json!({"level": "info", "data": 1}));
    assert_eq!(rig.handed_up().len(), 1, "what belongs to no stream passes");
}

#[test]
fn a_wish_that_comes_before_the_acknowledgement_replaces_the_question() {
    let mut rig = Rig::stateless();
    let first = subscribe(&mut rig, "file:///a");
    let second = subscribe(&mut rig, "file:///b");
    let old = streams(&rig)[0];
    assert_eq!(streams(&rig).len(), 2);
    assert_eq!(rig.cancelled(), [old]);
    acknowledge(
        &mut rig,
        old,
        json!({"resourceSubscriptions": ["file:///a"]}),
    );
    assert!(!rig.has_ended(first), "that stream is gone");
    acknowledge_all(&mut rig);
    assert_eq!(rig.result(first), json!({}));
    assert_eq!(rig.result(second), json!({}));
}

#[test]
fn a_resource_that_is_heard_of_already_is_subscribed_at_once() {
    let (mut rig, _) = listening(&["file:///a"]);
    let call = subscribe(&mut rig, "file:///a");
    assert_eq!(rig.result(call), json!({}));
    assert!(rig.sent.is_empty());
}

#[test]
fn what_the_server_does_not_honour_is_refused_and_not_asked_for_again() {
    let mut rig = Rig::stateless();
    let honoured = subscribe(&mut rig, "file:///a");
    let not = subscribe(&mut rig, "file:///b");
    let stream = rig.last_request();
    let only_a = json!({"resourceSubscriptions": ["file:///a"]});
    acknowledge(&mut rig, stream, only_a.clone());
    assert_eq!(rig.result(honoured), json!({}));
    assert_eq!(*rig.failure(not), Failure::SubscriptionRefused);
    rig.forget();
    watch_tools(&mut rig);
    let wish = wanted(&rig);
    assert_eq!(
        wish["resourceSubscriptions"],
        only_a["resourceSubscriptions"]
    );
}

#[test]
fn what_the_server_no_longer_honours_is_lost() {
    let (mut rig, _) = listening(&["file:///a", "file:///b"]);
    watch_tools(&mut rig);
    let stream = rig.last_request();
    let only_a = json!({"resourceSubscriptions": ["file:///a"], "toolsListChanged": true});
    acknowledge(&mut rig, stream, only_a);
    assert_eq!(lost(&rig), [("file:///b", None)]);
}

#[test]
fn unsubscribing_narrows_the_stream_and_ends_it_with_the_last() {
    let (mut rig, _) = listening(&["file:///a", "file:///b"]);
    let call = unsubscribe(&mut rig, "file:///a");
    assert_eq!(rig.result(call), json!({}));
    assert_eq!(
        wanted(&rig),
        json!({"resourceSubscriptions": ["file:///b"]})
    );
    acknowledge_all(&mut rig);
    let last = rig.last_request();
    rig.forget();
    unsubscribe(&mut rig, "file:///b");
    assert!(streams(&rig).is_empty());
    assert_eq!(rig.cancelled(), [last]);
    assert_eq!(rig.sent_as("resources/unsubscribe").len(), 0);
}

#[test]
fn a_subscription_that_is_given_up_before_the_acknowledgement_is_not_asked_for_any_more() {
    let mut rig = Rig::stateless();
    let call = subscribe(&mut rig, "file:///a");
    rig.cancel(call, Cancellation::Dropped);
    assert_eq!(*rig.failure(call), Failure::Cancelled);
    assert_eq!(rig.cancelled(), streams(&rig));
    acknowledge_all(&mut rig);
    rig.assert_no_calls();
    rig.pass_ms(120_000);
    assert_eq!(streams(&rig).len(), 1);
}

#[test]
fn a_subscription_that_is_not_acknowledged_in_time_ends_and_is_not_asked_for_any_more() {
    for timeout in [500, 30_000, 60_000] {
        let mut rig = Rig::stateless_with(|config| {
            config.timeouts.resource = millis(timeout);
        });
        let call = subscribe(&mut rig, "file:///a");
        rig.pass_ms(timeout - 1);
        assert!(!rig.has_ended(call), "{timeout}");
        rig.pass_ms(1);
        let after = millis(timeout);
        assert_eq!(*rig.failure(call), Failure::Timeout { after });
        assert_eq!(rig.cancelled(), streams(&rig), "{timeout}");
        let asked = streams(&rig).len();
        rig.pass_ms(600_000);
        assert_eq!(streams(&rig).len(), asked, "{timeout}");
        rig.assert_no_calls();
    }
}

/// The ways in which a server ends a stream.
type End = fn(&mut Rig, u64);

const ENDS: [(&str, End); 4] = [
    ("a result", |rig, stream| {
        let meta = json!({SUBSCRIPTION: stream});
        rig.answer_to(stream, json!({"resultType": "complete", "_meta": meta}));
    }),
    ("an error", |rig, stream| {
        let error = json!({"code": -32603, "message": "no more"});
        rig.frame(&json!({"jsonrpc": "2.0", "id": stream, "error": error}));
    }),
    ("a cancellation", |rig, stream| {
        rig.notified("notifications/cancelled", json!({"requestId": stream}));
    }),
    ("a broken exchange", |rig, stream| {
        let cause = ConnectionErrorKind::Io("closed".to_owned()).into();
        rig.refuse(stream, SendError::NoResponse(cause));
    }),
];

#[test]
fn a_stream_that_the_server_ends_is_asked_for_again_after_a_backoff() {
    for (name, end) in ENDS {
        let (mut rig, stream) = listening(&["file:///a"]);
        end(&mut rig, stream);
        rig.pass_ms(999);
        assert!(streams(&rig).is_empty(), "{name}: not before a second");
        rig.pass_ms(201);
        let uris = json!({"resourceSubscriptions": ["file:///a"]});
        assert_eq!(wanted(&rig), uris, "{name}");
        assert!(resubscribed(&rig).is_empty());
        acknowledge_all(&mut rig);
        assert_eq!(resubscribed(&rig), ["file:///a"], "{name}");
        assert!(rig.cancelled().is_empty(), "{name}: it is gone already");
    }
}

#[test]
fn a_result_and_a_cancellation_for_the_same_stream_are_one_end() {
    let (mut rig, stream) = listening(&["file:///a"]);
    rig.answer_to(stream, json!({"resultType": "complete"}));
    rig.notified("notifications/cancelled", json!({"requestId": stream}));
    rig.pass_ms(1_200);
    assert_eq!(streams(&rig).len(), 1);
}

#[test]
fn the_backoff_of_a_stream_grows_until_one_is_acknowledged() {
    let (mut rig, stream) = listening(&["file:///a"]);
    rig.answer_to(stream, json!({}));
    for (attempt, (low, high)) in [(1_000, 1_200), (1_600, 2_400), (3_200, 4_800)]
        .into_iter()
        .enumerate()
    {
        rig.sent.clear();
        rig.pass_ms(low - 1);
        assert!(streams(&rig).is_empty(), "{attempt}: too early");
        rig.pass_ms(high - low + 1);
        assert_eq!(streams(&rig).len(), 1, "{attempt}: too late");
        if attempt < 2 {
            rig.answer_error(-32603, "not yet");
        }
    }
    acknowledge_all(&mut rig);
    rig.answer(json!({}));
    rig.sent.clear();
    rig.pass_ms(1_200);
    assert_eq!(streams(&rig).len(), 1, "the first wait again");
}

#[test]
fn a_question_for_a_stream_that_is_not_acknowledged_is_withdrawn_and_put_again() {
    let mut rig = Rig::stateless();
    watch_tools(&mut rig);
    rig.pass_ms(29_999);
    assert!(rig.cancelled().is_empty());
    rig.pass_ms(1);
    assert_eq!(rig.cancelled(), [2]);
    rig.pass_ms(1_200);
    assert_eq!(streams(&rig), [2, 3]);
    acknowledge(&mut rig, 2, json!({"toolsListChanged": true}));
    acknowledge_all(&mut rig);
    rig.pass_ms(120_000);
    assert_eq!(streams(&rig).len(), 2);
}

#[test]
fn a_subscription_that_waits_for_a_stream_ends_with_the_servers_refusal() {
    let mut rig = Rig::stateless();
    let call = subscribe(&mut rig, "file:///a");
    rig.answer_error(-32602, "no such resource");
    assert_eq!(rig.refusal(call).code, -32602);
    rig.pass_ms(120_000);
    assert_eq!(streams(&rig).len(), 1, "nothing is wanted any more");
}

#[test]
fn a_replacement_that_the_server_refuses_is_tried_again_while_the_old_stream_stays() {
    let (mut rig, stream) = listening(&["file:///a"]);
    watch_tools(&mut rig);
    rig.answer_error(-32603, "not yet");
    changed(&mut rig, json!(stream));
    assert_eq!(rig.handed_up().len(), 1, "the old stream stays");
    rig.sent.clear();
    rig.pass_ms(1_200);
    assert_eq!(streams(&rig).len(), 1);
    acknowledge_all(&mut rig);
    assert!(resubscribed(&rig).is_empty(), "there was no gap");
}

#[test]
fn a_server_without_the_method_is_not_asked_again() {
    let mut rig = Rig::stateless();
    watch_tools(&mut rig);
    let call = subscribe(&mut rig, "file:///a");
    rig.answer_error(-32601, "no such method");
    assert_eq!(rig.refusal(call).code, -32601);
    let later = subscribe(&mut rig, "file:///b");
    assert_eq!(*rig.failure(later), Failure::SubscriptionRefused);
    let sent = streams(&rig).len();
    rig.pass_ms(120_000);
    assert_eq!(streams(&rig).len(), sent);
}

#[test]
fn a_server_that_lost_the_method_loses_the_subscriptions() {
    let (mut rig, stream) = listening(&["file:///a"]);
    rig.answer_to(stream, json!({}));
    rig.pass_ms(1_200);
    rig.answer_error(-32601, "no such method");
    assert_eq!(lost(&rig), [("file:///a", Some(-32601))]);
    rig.pass_ms(120_000);
    assert_eq!(streams(&rig).len(), 1);
}

#[test]
fn over_http_a_status_with_method_not_found_counts_the_same() {
    let mut rig = Rig::stateless_with(over_http);
    let call = subscribe(&mut rig, "file:///a");
    let body = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}"#;
    rig.status(rig.last_request(), 404, body);
    assert_eq!(rig.refusal(call).code, -32601);
    rig.pass_ms(120_000);
    assert_eq!(streams(&rig).len(), 1);
}

#[test]
fn after_a_reconnection_the_stream_is_asked_for_again_and_the_gap_is_told() {
    let (mut rig, _) = listening(&["file:///a"]);
    watch_tools(&mut rig);
    acknowledge_all(&mut rig);
    rig.down();
    rig.redial();
    rig.forget();
    rig.open_by_discovery();
    let all = json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]});
    assert_eq!(wanted(&rig), all);
    assert!(
        resubscribed(&rig).is_empty(),
        "not before it is acknowledged"
    );
    acknowledge_all(&mut rig);
    assert_eq!(resubscribed(&rig), ["file:///a"]);
}

#[test]
fn a_first_wish_in_a_later_session_is_no_gap() {
    let mut rig = Rig::stateless();
    rig.down();
    rig.redial();
    rig.open_by_discovery();
    let call = subscribe(&mut rig, "file:///a");
    acknowledge_all(&mut rig);
    assert!(rig.has_ended(call));
    assert!(resubscribed(&rig).is_empty());
}

#[test]
fn a_subscription_that_waits_for_a_stream_is_lost_with_the_link() {
    let mut rig = Rig::stateless();
    let call = subscribe(&mut rig, "file:///a");
    rig.down();
    assert!(matches!(rig.failure(call), Failure::ConnectionLost(_)));
    rig.redial();
    rig.forget();
    rig.open_by_discovery();
    assert!(streams(&rig).is_empty());
}

#[test]
fn an_acknowledgement_that_names_no_stream_is_a_violation_and_no_more() {
    let mut rig = Rig::stateless();
    let call = subscribe(&mut rig, "file:///a");
    let params = json!({"notifications": {"resourceSubscriptions": ["file:///a"]}});
    rig.notified("notifications/subscriptions/acknowledged", params);
    assert!(!rig.has_ended(call));
    assert_eq!(rig.observed("protocol.violation"), 1);
}

#[test]
fn the_log_level_stands_in_every_request_and_takes_none_of_its_own() {
    let key = "io.modelcontextprotocol/logLevel";
    let mut rig = Rig::stateless();
    let call = set_level(&mut rig, LogLevel::Warning);
    assert_eq!(rig.result(call), json!({}));
    assert!(rig.sent.is_empty());
    rig.call("tools/list");
    assert_eq!(rig.last_sent().json["params"]["_meta"][key], "warning");
    rig.down();
    rig.redial();
    rig.open_by_discovery();
    rig.call("tools/list");
    assert_eq!(rig.last_sent().json["params"]["_meta"][key], "warning");
}

#[test]
fn a_configured_log_level_stands_in_every_request() {
    let mut rig = Rig::stateless_with(|config| config.log_level = Some(LogLevel::Error));
    rig.call("tools/list");
    let meta = &rig.last_sent().json["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "error");
}

#[test]
fn a_server_that_says_when_to_ask_again_is_asked_then() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too many"}}"#;
    for body in ["", error] {
        let (mut rig, stream) = listening_with(over_http, &["file:///a"]);
        let refusal = HttpStatusError {
            status: 503,
            body: Bytes::from_static(body.as_bytes()),
            retry_after: Some(millis(99_000)),
        };
        rig.refuse(stream, SendError::Status(refusal));
        rig.pass_ms(98_999);
        assert_eq!(streams(&rig), [0; 0]);
        rig.pass_ms(1);
        assert_eq!(streams(&rig).len(), 1);
    }
}
