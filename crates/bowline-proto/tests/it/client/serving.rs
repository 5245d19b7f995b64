//! Requests of the server's: answered, handed up, refused, withdrawn.

use bowline_proto::{
    client::{
        Config, ConnectionErrorKind, ConnectionState, Event, Failure, Input, Outcome,
        PeerRequestId, SendError, Violation,
    },
    jsonrpc::{ErrorObject, OutgoingMessage},
    model::{ElicitationCapability, Extra, RootsCapability, SamplingCapability},
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{look::raw, rig::Rig};

/// A client that declared forms and sampling.
fn able(config: &mut Config) {
    config.capabilities.elicitation = Some(ElicitationCapability::default());
    config.capabilities.sampling = Some(SamplingCapability::default());
}

fn form() -> Value {
    let schema = json!({"type": "object", "properties": {}});
    json!({"message": "Your name?", "requestedSchema": schema})
}

fn sample() -> Value {
    json!({"messages": [], "maxTokens": 1})
}

/// The requests that were handed up.
fn handed_up(rig: &Rig) -> Vec<(PeerRequestId, &str)> {
    let requests = rig.events.iter().filter_map(|event| match event {
        Event::Request {
            request, method, ..
        } => Some((*request, &**method)),
        _ => None,
    });
    requests.collect()
}

fn withdrawn(rig: &Rig) -> Vec<PeerRequestId> {
    let requests = rig.events.iter().filter_map(|event| match event {
        Event::RequestWithdrawn { request } => Some(*request),
        _ => None,
    });
    requests.collect()
}

fn respond(rig: &mut Rig, request: PeerRequestId, answer: &Value) {
    rig.act(|connection, now| connection.respond(now, request, Ok(raw(answer))));
}

/// A session in which one form was handed up, under the server's id 7.
fn serving() -> (Rig, PeerRequestId) {
    let mut rig = Rig::ready_with(able);
    rig.asked(json!(7), "elicitation/create", form());
    let request = handed_up(&rig)[0].0;
    (rig, request)
}

#[test]
fn what_was_declared_is_handed_up_with_its_parameters_verbatim() {
    let mut rig = Rig::ready_with(able);
    rig.bytes(
        r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[] }}"#,
    );
    let expected = br#"{"maxTokens":1,"messages":[] }"#.as_slice();
    assert!(rig.has_event(|event| matches!(event,
        Event::Request { method, params: Some(params), .. }
            if &**method == "sampling/createMessage" && params == expected)));
    assert!(rig.sent.is_empty(), "the answer is the host's");
}

#[test]
fn the_hosts_answer_goes_back_under_the_servers_id() {
    for id in [json!(7), json!("seven"), json!(0), json!(-1)] {
        let mut rig = Rig::ready_with(able);
        rig.asked(id.clone(), "elicitation/create", form());
        let request = handed_up(&rig)[0].0;
        respond(&mut rig, request, &json!({"action": "cancel"}));
        let expected = json!({"jsonrpc": "2.0", "id": id, "result": {"action": "cancel"}});
        assert_eq!(*rig.answered(), expected);
        assert_eq!(rig.connection.stats().peer_requests, 0);
    }
}

#[test]
fn the_hosts_refusal_goes_back_as_an_error() {
    let (mut rig, request) = serving();
    let error = ErrorObject::new(-1, "the user said no");
    rig.act(|connection, now| connection.respond(now, request, Err(error)));
    assert_eq!(rig.answered()["error"]["code"], -1);
    assert_eq!(rig.answered()["id"], 7);
}

#[test]
fn a_second_answer_to_the_same_request_is_not_sent() {
    let (mut rig, request) = serving();
    respond(&mut rig, request, &json!({"action": "accept"}));
    respond(&mut rig, request, &json!({"action": "decline"}));
    assert_eq!(rig.sent.len(), 1);
}

#[test]
fn requests_may_be_answered_in_any_order() {
    let mut rig = Rig::ready_with(able);
    rig.asked(json!(1), "elicitation/create", form());
    rig.asked(json!(2), "sampling/createMessage", sample());
    let requests: Vec<_> = handed_up(&rig).iter().map(|(it, _)| *it).collect();
    respond(&mut rig, requests[1], &json!({"for": 2}));
    assert_eq!(rig.answered()["id"], 2);
    respond(&mut rig, requests[0], &json!({"for": 1}));
    assert_eq!(rig.answered()["id"], 1);
}

#[test]
fn what_was_not_declared_is_refused_as_unknown() {
    let mut rig = Rig::ready_with(|config| {
        config.capabilities.roots = Some(RootsCapability::default());
    });
    for (method, params) in [
        ("elicitation/create", form()),
        ("sampling/createMessage", sample()),
        ("acme/ask", json!({})),
        ("tools/list", json!({})),
    ] {
        rig.asked(json!(7), method, params);
        assert_eq!(rig.answered()["error"]["code"], -32601, "{method}");
    }
    assert!(handed_up(&rig).is_empty());
}

#[test]
fn a_mode_of_a_declared_feature_that_was_not_declared_is_refused_as_invalid() {
    let url =
        json!({"mode": "url", "message": "Visit", "url": "https://x.test/", "elicitationId": "e"});
    let mut sample_with_tools = sample();
    sample_with_tools["tools"] = json!([]);
    let mut rig = Rig::ready_with(able);
    for (method, params) in [
        ("elicitation/create", url.clone()),
        ("sampling/createMessage", sample_with_tools),
    ] {
        rig.asked(json!(7), method, params);
        assert_eq!(rig.answered()["error"]["code"], -32602, "{method}");
    }
    assert!(handed_up(&rig).is_empty());

    let mut rig = Rig::ready_with(|config| {
        let mut only_pages = ElicitationCapability::default();
        only_pages.url = Some(Extra::new());
        config.capabilities.elicitation = Some(only_pages);
    });
    rig.asked(json!(7), "elicitation/create", url);
    assert_eq!(handed_up(&rig).len(), 1, "declared");
    rig.asked(json!(8), "elicitation/create", form());
    assert_eq!(rig.answered()["error"]["code"], -32602, "no forms");
}

#[test]
fn a_declared_request_that_cannot_be_read_is_refused_as_invalid() {
    let mut rig = Rig::ready_with(able);
    rig.asked(json!(7), "sampling/createMessage", json!({"messages": 1}));
    assert_eq!(rig.answered()["error"]["code"], -32602);
    assert!(handed_up(&rig).is_empty());
}

#[test]
fn an_id_that_is_in_use_is_refused_and_the_first_request_stays_open() {
    let (mut rig, request) = serving();
    rig.asked(json!(7), "sampling/createMessage", sample());
    assert_eq!(rig.answered()["error"]["code"], -32600);
    assert!(rig.saw_violation(Violation::DuplicateId));
    assert_eq!(handed_up(&rig).len(), 1);
    respond(&mut rig, request, &json!({"action": "cancel"}));
    assert_eq!(rig.answered()["result"], json!({"action": "cancel"}));
}

#[test]
fn ids_of_different_types_are_different_ids() {
    let (mut rig, _) = serving();
    rig.asked(json!("7"), "elicitation/create", form());
    assert_eq!(handed_up(&rig).len(), 2);
}

#[test]
fn an_id_may_be_used_again_once_it_was_answered() {
    let (mut rig, request) = serving();
    respond(&mut rig, request, &json!({}));
    rig.asked(json!(7), "elicitation/create", form());
    assert_eq!(handed_up(&rig).len(), 2);
}

#[test]
fn only_so_many_requests_are_open_at_once() {
    let mut rig = Rig::ready_with(|config| {
        able(config);
        config.max_server_requests = 2;
    });
    for id in 1..=3 {
        rig.asked(json!(id), "elicitation/create", form());
    }
    assert_eq!(handed_up(&rig).len(), 2);
    assert_eq!(rig.answered()["id"], 3);
    assert_eq!(rig.answered()["error"]["code"], -32603);
    assert!(rig.saw_violation(Violation::TooManyRequests));
    rig.asked(json!(4), "ping", json!({}));
    assert_eq!(rig.answered()["result"], json!({}), "a ping always passes");
}

#[test]
fn a_request_that_the_server_cancels_is_withdrawn_and_its_answer_not_sent() {
    let (mut rig, request) = serving();
    rig.notified("notifications/cancelled", json!({"requestId": 7}));
    assert_eq!(withdrawn(&rig), [request]);
    respond(&mut rig, request, &json!({"action": "accept"}));
    assert!(rig.sent.is_empty());
    assert_eq!(rig.connection.stats().peer_requests, 0);
}

#[test]
fn a_cancellation_of_nothing_does_nothing() {
    let (mut rig, _) = serving();
    for params in [
        json!({"requestId": 8}),
        json!({"requestId": "7"}),
        json!({}),
    ] {
        rig.notified("notifications/cancelled", params);
    }
    assert!(withdrawn(&rig).is_empty());
}

#[test]
fn a_lost_link_withdraws_all_requests_and_their_answers_go_nowhere() {
    let (mut rig, request) = serving();
    rig.down();
    assert_eq!(withdrawn(&rig), [request]);
    respond(&mut rig, request, &json!({"action": "accept"}));
    assert!(rig.sent.is_empty());

    rig.redial();
    rig.open_by_handshake("2025-11-25");
    rig.asked(json!(7), "elicitation/create", form());
    rig.sent.clear();
    respond(&mut rig, request, &json!({"action": "accept"}));
    assert!(rig.sent.is_empty(), "the new request of that id is another");
}

#[test]
fn in_the_stateless_era_no_request_is_answered() {
    let mut rig = Rig::stateless_with(able);
    for method in ["ping", "roots/list", "elicitation/create", "initialize"] {
        rig.asked(json!(7), method, form());
    }
    assert!(rig.sent.is_empty() && handed_up(&rig).is_empty());
    assert!(rig.saw_violation(Violation::ServerRequest));
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn with_strict_settings_a_request_in_the_stateless_era_ends_the_connection() {
    let mut rig = Rig::stateless_with(|config| config.strict = true);
    rig.asked(json!(7), "ping", json!({}));
    assert!(matches!(
        rig.fell().0,
        ConnectionErrorKind::ProtocolViolation(_)
    ));
    assert_eq!(rig.hangups, [rig.current()]);
}

#[test]
fn a_second_initialize_is_refused_and_harms_nothing_unless_settings_are_strict() {
    for strict in [false, true] {
        let mut rig = Rig::ready_with(|config| {
            able(config);
            config.strict = strict;
        });
        rig.asked(json!(7), "elicitation/create", form());
        rig.asked(json!(1), "initialize", json!({}));
        assert!(rig.saw_violation(Violation::SecondInitialize));
        assert_eq!(withdrawn(&rig).len(), usize::from(strict));
        if strict {
            assert_eq!(rig.state(), ConnectionState::Backoff);
            assert!(rig.sent.is_empty());
        } else {
            assert_eq!(rig.state(), ConnectionState::Ready);
            assert_eq!(rig.answered()["error"]["code"], -32600);
        }
    }
}

#[test]
fn roots_are_told_only_where_they_were_declared() {
    let mut rig = Rig::ready();
    rig.asked(json!(1), "roots/list", json!({}));
    assert_eq!(rig.answered()["error"]["code"], -32601);
}

#[test]
fn methods_of_extensions_are_handed_up_where_something_experimental_was_declared() {
    let mut rig = Rig::ready_with(|config| {
        config.capabilities.experimental = Some(Extra::new());
    });
    rig.asked(json!(1), "acme/ask", json!({}));
    assert_eq!(handed_up(&rig)[0].1, "acme/ask");
    rig.asked(json!(2), "sampling/createMessage", sample());
    assert_eq!(rig.answered()["error"]["code"], -32601);
}

/// Refuses the last frame that was sent, which was no request, as a full queue
/// would.
fn refuse_last(rig: &mut Rig) {
    let (link, frame) = (rig.current(), rig.last_sent().frame.clone());
    rig.handle(Input::SendFailed {
        link,
        id: None,
        error: SendError::Busy(frame),
    });
}

#[test]
fn an_answer_that_a_busy_link_did_not_take_is_offered_until_it_does() {
    let (mut rig, request) = serving();
    respond(&mut rig, request, &json!({"action": "decline"}));
    for tries in 2..=5 {
        refuse_last(&mut rig);
        rig.wake();
        assert_eq!(rig.sent.len(), tries);
        assert_eq!(rig.last_sent().json["id"], 7);
        assert_eq!(rig.last_sent().json["result"]["action"], "decline");
    }
    assert_eq!(rig.deadline, None, "taken at last");
}

#[test]
fn a_notification_that_a_busy_link_did_not_take_is_gone() {
    let mut rig = Rig::ready();
    rig.act(|connection, now| {
        connection.notify(
            now,
            OutgoingMessage::without_params("notifications/cancelled"),
        );
    });
    refuse_last(&mut rig);
    assert_eq!(rig.deadline, None);
}

#[test]
fn answers_that_were_put_off_end_with_their_session() {
    let (mut rig, request) = serving();
    respond(&mut rig, request, &json!({"action": "decline"}));
    refuse_last(&mut rig);
    rig.down();
    rig.forget();
    rig.pass_ms(900);
    assert!(rig.sent.is_empty());
}

/// A person takes longer to answer than a server may.
#[test]
fn a_call_is_not_given_up_while_the_host_is_asked() {
    let mut rig = Rig::ready_with(able);
    let call = rig.call("tools/call");
    let listing = rig.call("tools/list");
    rig.pass_ms(20_000);
    rig.asked(json!(7), "elicitation/create", form());
    rig.pass_ms(120_000);
    assert!(!rig.has_ended(call), "the person is still reading");
    assert!(rig.has_ended(listing), "nobody is asked for a list");
    let request = handed_up(&rig)[0].0;
    respond(&mut rig, request, &json!({"action": "decline"}));
    rig.pass_ms(29_999);
    assert!(!rig.has_ended(call), "the server has its full time again");
    rig.pass_ms(1);
    assert!(matches!(
        rig.outcome(call),
        Outcome::Failed(Failure::Timeout { .. })
    ));
}

#[test]
fn a_call_is_given_up_if_the_host_never_answers() {
    let mut rig = Rig::ready_with(able);
    let call = rig.call("tools/call");
    rig.asked(json!(7), "elicitation/create", form());
    rig.pass_ms(600_000);
    assert!(rig.has_ended(call));
}

#[test]
fn a_server_that_never_stops_asking_cannot_keep_a_call_open() {
    let mut rig = Rig::ready_with(|config| {
        able(config);
        config.max_input_rounds = 3;
    });
    let call = rig.call("tools/call");
    for number in 0..10 {
        rig.asked(json!(number), "elicitation/create", form());
        rig.pass_ms(500_000);
    }
    assert!(rig.has_ended(call));
}

/// People take long to answer: what waits for them must not keep all that came
/// along with it.
#[test]
fn what_waits_for_the_host_does_not_hold_a_large_frame() {
    let padding = "x".repeat(100_000);
    for message in [
        json!({"id": 1, "method": "elicitation/create", "params": form()}),
        json!({"method": "notifications/message", "params": {"level": "info", "data": 1}}),
    ] {
        let mut rig = Rig::ready_with(able);
        rig.events.clear();
        let mut padded = message.clone();
        padded["jsonrpc"] = json!("2.0");
        padded["padding"] = json!(padding);
        let frame = Bytes::from(padded.to_string());
        rig.bytes(frame.clone());
        assert!(!rig.events.is_empty(), "it was handed up");
        assert!(frame.is_unique(), "the frame is kept for {message}");
    }
}

/// They are counted by what they hold, and not only by their number.
#[test]
fn requests_of_the_servers_may_not_hold_more_than_a_frame_together() {
    let mut rig = Rig::ready_with(|config| {
        able(config);
        config.max_frame_size = 100_000;
    });
    let mut large = form();
    large["message"] = json!("x".repeat(60_000));
    rig.asked(json!(1), "elicitation/create", large.clone());
    rig.asked(json!(2), "elicitation/create", large.clone());
    assert_eq!(handed_up(&rig).len(), 1);
    assert_eq!(rig.answered()["id"], 2);
    assert!(rig.saw_violation(Violation::TooManyRequests));
    rig.asked(json!(3), "elicitation/create", form());
    assert_eq!(handed_up(&rig).len(), 2, "there is room for a small one");
    let first = handed_up(&rig)[0].0;
    respond(&mut rig, first, &json!({"action": "decline"}));
    rig.asked(json!(4), "elicitation/create", large);
    assert_eq!(handed_up(&rig).len(), 3, "there is room again");
}
