//! Subscriptions and the log level in the handshake era.

use bowline_proto::{
    client::{
        CallId, CallOptions, ConnectionErrorKind, Event, Failure, HttpStatusError,
        ListSubscriptions, SendError,
    },
    model::LogLevel,
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    look::waiting,
    rig::{Rig, over_http, server_capabilities},
};

pub(super) fn subscribe(rig: &mut Rig, uri: &str) -> CallId {
    let (now, options) = (rig.now, CallOptions::default());
    let call = rig.connection.subscribe(now, uri, options);
    rig.drain();
    call
}

pub(super) fn unsubscribe(rig: &mut Rig, uri: &str) -> CallId {
    let (now, options) = (rig.now, CallOptions::default());
    let call = rig.connection.unsubscribe(now, uri, options);
    rig.drain();
    call
}

pub(super) fn set_level(rig: &mut Rig, level: LogLevel) -> CallId {
    let (now, options) = (rig.now, CallOptions::default());
    let call = rig.connection.set_log_level(now, level, options);
    rig.drain();
    call
}

/// The resources that are in force again.
pub(super) fn resubscribed(rig: &Rig) -> Vec<&str> {
    let uris = rig.events.iter().filter_map(|event| match event {
        Event::Resubscribed { uris } => Some(uris),
        _ => None,
    });
    uris.flatten().map(|uri| &**uri).collect()
}

/// The resources that were lost, and what the server said.
pub(super) fn lost(rig: &Rig) -> Vec<(&str, Option<i64>)> {
    let lost = rig.events.iter().filter_map(|event| match event {
        Event::SubscriptionLost { uri, error } => {
            Some((&**uri, error.as_ref().map(|error| error.code)))
        }
        _ => None,
    });
    lost.collect()
}

/// A session in which `uris` are subscribed.
fn subscribed(uris: &[&str]) -> Rig {
    subscribed_on(Rig::ready(), uris)
}

fn subscribed_on(mut rig: Rig, uris: &[&str]) -> Rig {
    for uri in uris {
        let call = subscribe(&mut rig, uri);
        rig.answer(json!({}));
        assert_eq!(rig.result(call), json!({}));
    }
    rig.forget();
    rig
}

/// The link dies, and the next session is about to be restored: the restoring
/// requests have gone out.
#[track_caller]
fn restored(rig: &mut Rig) -> Vec<(u64, Value)> {
    rig.down();
    rig.redial();
    rig.forget();
    rig.open_by_handshake("2025-11-25");
    let sent = rig.sent_as("resources/subscribe").into_iter();
    sent.filter_map(|sent| Some((sent.id?, sent.json["params"]["uri"].clone())))
        .collect()
}

#[test]
fn a_subscription_is_a_request() {
    let mut rig = Rig::ready();
    let call = subscribe(&mut rig, "file:///a");
    assert_eq!(rig.methods_sent(), ["resources/subscribe"]);
    assert_eq!(rig.last_sent().json["params"], json!({"uri": "file:///a"}));
    assert!(!rig.has_ended(call));
    rig.answer(json!({}));
    assert_eq!(rig.result(call), json!({}));
}

#[test]
fn a_wish_that_waits_for_the_session_is_put_in_the_words_of_its_era() {
    let wish = |rig: &mut Rig| {
        let now = rig.now;
        let call = rig.connection.subscribe(now, "file:///a", waiting());
        rig.drain();
        call
    };
    let mut rig = Rig::dialling();
    let call = wish(&mut rig);
    rig.open_by_handshake("2025-11-25");
    assert_eq!(rig.last_sent().method(), "resources/subscribe");
    assert!(!rig.has_ended(call));

    let mut rig = Rig::dialling();
    let call = wish(&mut rig);
    rig.open_by_discovery();
    assert_eq!(rig.last_sent().method(), "subscriptions/listen");
    assert!(!rig.has_ended(call));
}

#[test]
fn a_server_that_does_not_offer_subscriptions_is_not_asked() {
    let mut rig = Rig::bare();
    let call = subscribe(&mut rig, "file:///a");
    let capability = "resources.subscribe";
    assert_eq!(
        *rig.failure(call),
        Failure::CapabilityNotSupported { capability }
    );
    assert!(rig.sent.is_empty());
}

#[test]
fn changes_are_handed_up() {
    let mut rig = subscribed(&["file:///a"]);
    let params = json!({"uri": "file:///a"});
    rig.notified("notifications/resources/updated", params);
    assert_eq!(rig.handed_up(), ["notifications/resources/updated"]);
}

#[test]
fn after_a_reconnection_every_subscription_is_asked_for_again() {
    let mut rig = subscribed(&["file:///b", "file:///a"]);
    let asked = restored(&mut rig);
    let uris: Vec<_> = asked.iter().map(|(_, uri)| uri.as_str().unwrap()).collect();
    assert_eq!(uris, ["file:///a", "file:///b"]);
    assert!(resubscribed(&rig).is_empty(), "not before the answer");
    for (id, _) in asked {
        rig.answer_to(id, json!({}));
    }
    assert_eq!(resubscribed(&rig), ["file:///a", "file:///b"]);
    assert!(rig.done.is_empty(), "nobody called");
    rig.assert_no_calls();
}

#[test]
fn what_is_restored_goes_out_before_what_waited() {
    let mut rig = subscribed(&["file:///a"]);
    rig.down();
    rig.call_with("tools/list", json!({}), waiting());
    rig.redial();
    rig.open_by_handshake("2025-11-25");
    let sent = rig.methods_sent();
    assert_eq!(
        sent[sent.len() - 2..],
        ["resources/subscribe", "tools/list"]
    );
}

#[test]
fn what_was_unsubscribed_or_refused_is_not_restored() {
    let mut rig = subscribed(&["file:///a", "file:///b"]);
    let call = unsubscribe(&mut rig, "file:///a");
    assert_eq!(rig.last_sent().method(), "resources/unsubscribe");
    rig.answer(json!({}));
    assert_eq!(rig.result(call), json!({}));
    let call = subscribe(&mut rig, "file:///c");
    rig.answer_error(-32002, "no such resource");
    assert_eq!(rig.refusal(call).code, -32002);
    let asked = restored(&mut rig);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].1, "file:///b");
}

#[test]
fn a_subscription_that_the_server_refuses_to_restore_is_lost() {
    let mut rig = subscribed(&["file:///a"]);
    restored(&mut rig);
    rig.answer_error(-32002, "no such resource");
    assert_eq!(lost(&rig), [("file:///a", Some(-32002))]);
    assert!(restored(&mut rig).is_empty(), "and not tried again");
}

#[test]
fn a_subscription_whose_restoring_fails_in_any_other_way_is_lost_too() {
    let ways: [fn(&mut Rig); 4] = [
        |rig| rig.pass_ms(30_000),
        |rig| {
            let id = rig.last_request();
            rig.bytes(format!(r#"{{"jsonrpc":"2.0","id":{id},"result""#));
        },
        |rig| {
            let cause = ConnectionErrorKind::Io("broken pipe".to_owned()).into();
            rig.refuse(rig.last_request(), SendError::Failed(cause));
        },
        |rig| {
            for _ in 0..3 {
                rig.busy();
                rig.pass_ms(15);
            }
        },
    ];
    for fail in ways {
        let mut rig = subscribed(&["file:///a"]);
        restored(&mut rig);
        fail(&mut rig);
        assert_eq!(lost(&rig), [("file:///a", None)]);
        assert!(rig.done.is_empty(), "nobody called");
        rig.assert_no_calls();
    }
}

#[test]
fn over_http_a_status_that_refuses_to_restore_is_a_loss_with_the_servers_words() {
    let mut rig = subscribed_on(Rig::ready_with(over_http), &["file:///a"]);
    restored(&mut rig);
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
    let refusal = HttpStatusError {
        status: 400,
        body: Bytes::from_static(body.as_bytes()),
        retry_after: None,
    };
    rig.refuse(rig.last_request(), SendError::Status(refusal));
    assert_eq!(lost(&rig), [("file:///a", Some(-32602))]);
}

#[test]
fn a_server_that_no_longer_offers_subscriptions_loses_them() {
    let mut rig = subscribed(&["file:///a"]);
    rig.down();
    rig.redial();
    rig.up();
    rig.accept(json!({"resources": {}}));
    assert_eq!(lost(&rig), [("file:///a", None)]);
}

#[test]
fn a_link_that_dies_while_subscriptions_are_restored_loses_none() {
    let mut rig = subscribed(&["file:///a"]);
    restored(&mut rig);
    let asked = restored(&mut rig);
    assert_eq!(asked.len(), 1, "asked for again, and once");
    rig.answer(json!({}));
    assert_eq!(resubscribed(&rig), ["file:///a"]);
    assert!(lost(&rig).is_empty());
}

#[test]
fn a_session_that_the_server_forgot_while_it_was_restored_is_restored_once() {
    let mut rig = subscribed_on(Rig::ready_with(over_http), &["file:///a"]);
    restored(&mut rig);
    rig.status(rig.last_request(), 404, "");
    rig.redial();
    rig.forget();
    rig.open_by_handshake("2025-11-25");
    assert_eq!(rig.sent_as("resources/subscribe").len(), 1);
}

#[test]
fn the_log_level_is_a_request_and_restored_after_a_reconnection() {
    let mut rig = Rig::ready();
    let call = set_level(&mut rig, LogLevel::Warning);
    assert_eq!(rig.last_sent().method(), "logging/setLevel");
    assert_eq!(rig.last_sent().json["params"], json!({"level": "warning"}));
    rig.answer(json!({}));
    assert_eq!(rig.result(call), json!({}));
    rig.forget();
    rig.reconnect();
    let restored = rig.sent_as("logging/setLevel");
    assert_eq!(restored.len(), 1);
    assert_eq!(restored[0].json["params"]["level"], "warning");
    rig.answer(json!({}));
    assert!(rig.done.is_empty(), "nobody called");
}

#[test]
fn a_log_level_that_the_server_refused_is_not_restored() {
    let mut rig = Rig::ready();
    set_level(&mut rig, LogLevel::Warning);
    rig.answer_error(-32602, "no such level");
    rig.forget();
    rig.reconnect();
    assert!(rig.sent_as("logging/setLevel").is_empty());
}

#[test]
fn a_configured_log_level_is_asked_for_in_the_first_session_too() {
    let mut rig = Rig::with(|config| config.log_level = Some(LogLevel::Error)).started();
    rig.open_by_handshake("2025-11-25");
    assert_eq!(rig.last_sent().json["params"]["level"], "error");
}

#[test]
fn a_server_without_logging_is_not_bothered_with_a_level() {
    let mut rig = Rig::with(|config| config.log_level = Some(LogLevel::Error)).started();
    rig.up();
    rig.answer_error(-32601, "no such method");
    let mut capabilities = server_capabilities();
    capabilities.as_object_mut().unwrap().remove("logging");
    rig.accept(capabilities);
    assert!(rig.sent_as("logging/setLevel").is_empty());
    rig.assert_no_calls();
}

#[test]
fn watching_lists_takes_no_message_because_servers_announce_changes_unasked() {
    let mut rig = Rig::ready();
    rig.act(|connection, now| {
        let watch = ListSubscriptions {
            tools: true,
            ..ListSubscriptions::default()
        };
        connection.set_list_subscriptions(now, watch);
    });
    assert!(rig.sent.is_empty());
    rig.notified("notifications/tools/list_changed", json!({}));
    assert_eq!(rig.handed_up(), ["notifications/tools/list_changed"]);
}
