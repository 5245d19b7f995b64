//! Our calls to the client: allowed, answered, timed out, given up.

use std::time::Duration;

use bowline_proto::{
    model::{
        CreateMessageParams, ElicitParams, ElicitSchema, InputKind, InputRequest, ListRootsParams,
    },
    server::{
        CallId, CallOptions, ConnectionStats, Failure, Input, Outcome, ServerRequest, Violation,
    },
};
use serde_json::{Value, json};

use super::rig::{Rig, client_capabilities, initialize};

fn form() -> ServerRequest {
    let schema: ElicitSchema =
        serde_json::from_value(json!({"type": "object", "properties": {}})).expect("a schema");
    ElicitParams::form("Which?", schema).into()
}

fn url() -> ServerRequest {
    let mut params = ElicitParams::url("Go", "https://example.com/");
    params.elicitation_id = Some("e".to_owned());
    params.into()
}

fn sampling(extra: &Value) -> ServerRequest {
    let mut params = json!({"messages": [], "maxTokens": 10});
    for (key, value) in extra.as_object().expect("an object") {
        params[key] = value.clone();
    }
    serde_json::from_value::<CreateMessageParams>(params)
        .expect("params")
        .into()
}

fn roots() -> ServerRequest {
    ListRootsParams::default().into()
}

fn call(rig: &mut Rig, question: ServerRequest) -> CallId {
    rig.act(|it, now| it.call(now, question, &CallOptions::default()))
}

#[track_caller]
fn failure(rig: &Rig, call: CallId) -> Failure {
    match rig.outcome(call) {
        Outcome::Failed(failure) => failure.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_question_has_its_method() {
    let questions = [
        (form(), "elicitation/create"),
        (url(), "elicitation/create"),
        (sampling(&json!({})), "sampling/createMessage"),
        (roots(), "roots/list"),
        (ServerRequest::Ping, "ping"),
    ];
    let mut rig = Rig::session();
    for (at, (question, method)) in questions.into_iter().enumerate() {
        let asked = call(&mut rig, question);
        assert_eq!(rig.last()["method"], method);
        let id = rig.last()["id"].clone();
        assert_eq!(id, at + 1, "ids count up and are not reused");
        rig.frame(&json!({"jsonrpc": "2.0", "id": id, "result": {"at": at}}));
        let result = Outcome::Result(format!(r#"{{"at":{at}}}"#).into());
        assert_eq!(rig.outcome(asked), &result);
    }
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
    assert_eq!(rig.observed("call.start"), 5);
    assert_eq!(rig.observed("call.stop"), 5);
}

#[test]
fn a_refusal_is_an_outcome() {
    let mut rig = Rig::session();
    let asked = call(&mut rig, form());
    rig.frame(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}));
    assert!(matches!(rig.outcome(asked), Outcome::Error(error) if error.code == -1));
}

#[test]
fn a_broken_answer_ends_its_own_call() {
    for broken in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"#,
    ] {
        let mut rig = Rig::session();
        let asked = call(&mut rig, form());
        rig.forget();
        rig.bytes(broken);
        assert!(matches!(
            failure(&rig, asked),
            Failure::InvalidResponse { .. }
        ));
        assert!(rig.sent.is_empty());
    }
}

#[test]
fn what_the_client_did_not_declare_is_not_asked() {
    let cases = [
        (json!({}), form(), "elicitation.form"),
        (json!({"elicitation": {}}), url(), "elicitation.url"),
        (
            json!({"elicitation": {"url": {}}}),
            form(),
            "elicitation.form",
        ),
        (json!({}), sampling(&json!({})), "sampling"),
        (
            json!({"sampling": {}}),
            sampling(&json!({"tools": []})),
            "sampling.tools",
        ),
        (
            json!({"sampling": {}}),
            sampling(&json!({"toolChoice": {}})),
            "sampling.tools",
        ),
        (json!({}), roots(), "roots"),
    ];
    for (capabilities, question, capability) in cases {
        let mut rig = Rig::new().opened("2025-11-25", &capabilities);
        let asked = call(&mut rig, question);
        assert_eq!(
            failure(&rig, asked),
            Failure::CapabilityMissing { capability }
        );
        assert!(rig.sent.is_empty(), "the wire was not touched");
    }
    let mut rig = Rig::new().opened("2025-11-25", &json!({"elicitation": {}}));
    call(&mut rig, form());
    assert_eq!(rig.sent.len(), 1, "an empty object means forms");
}

#[test]
fn what_the_revision_lacks_is_not_asked() {
    let lacking = [("2025-03-26", form()), ("2025-06-18", url())];
    for (version, question) in lacking {
        let mut rig = Rig::session_in(version);
        let asked = call(&mut rig, question);
        assert!(matches!(
            failure(&rig, asked),
            Failure::NotSupportedInRevision { .. }
        ));
        assert!(rig.sent.is_empty());
    }
    let unknown = InputKind::Unknown {
        method: "acme/ask".into(),
        params: None,
    };
    let mut rig = Rig::session();
    let asked = call(&mut rig, InputRequest::from(unknown).into());
    assert!(matches!(
        failure(&rig, asked),
        Failure::NotSupportedInRevision { .. }
    ));
}

#[test]
fn questions_are_put_in_the_words_of_the_revision() {
    let mut rig = Rig::session_in("2025-06-18");
    let schema = serde_json::from_value(json!({"type": "object", "properties": {}})).unwrap();
    let mut params = ElicitParams::form("Which?", schema);
    params.mode = Some("form".into());
    call(&mut rig, params.into());
    assert!(
        rig.last()["params"].get("mode").is_none(),
        "only forms there"
    );
}

#[test]
fn the_stateless_era_is_not_asked() {
    let mut rig = Rig::new();
    let parent = rig.request_stateless(1, json!({"name": "x"}));
    let asked = call(&mut rig, form());
    assert_eq!(failure(&rig, asked), Failure::NotSupportedInEra);
    let mut rig = Rig::session();
    let other = rig.request_stateless(1, json!({"name": "x"}));
    assert_eq!(parent, other);
    let options = CallOptions {
        parent: Some(other),
        ..CallOptions::default()
    };
    let asked = rig.act(|it, now| it.call(now, form(), &options));
    assert_eq!(
        failure(&rig, asked),
        Failure::NotSupportedInEra,
        "though there is a session"
    );
    assert!(rig.sent.is_empty());
}

#[test]
fn before_initialized_only_ping_is_asked() {
    let mut rig = Rig::new();
    rig.ask(
        0,
        "initialize",
        initialize("2025-11-25", &client_capabilities()),
    );
    let asked = call(&mut rig, form());
    assert_eq!(failure(&rig, asked), Failure::NotInitialized);
    call(&mut rig, ServerRequest::Ping);
    assert_eq!(rig.last()["method"], "ping");
}

#[test]
fn a_call_has_a_deadline_and_the_client_is_told() {
    let mut rig = Rig::session();
    let slow = call(&mut rig, form());
    let quick = call(&mut rig, roots());
    rig.pass(Duration::from_secs(29));
    assert!(rig.done.is_empty());
    rig.pass(Duration::from_secs(1));
    let after = Duration::from_secs(30);
    assert_eq!(failure(&rig, quick), Failure::Timeout { after });
    assert_eq!(rig.last()["method"], "notifications/cancelled");
    assert_eq!(rig.last()["params"]["requestId"], 2);
    rig.pass(Duration::from_secs(570));
    let after = Duration::from_secs(600);
    assert_eq!(failure(&rig, slow), Failure::Timeout { after });
    assert_eq!(rig.deadline, None);
    let options = CallOptions {
        timeout: Some(Duration::from_millis(5)),
        ..CallOptions::default()
    };
    let own = rig.act(|it, now| it.call(now, form(), &options));
    rig.pass(Duration::from_millis(5));
    assert!(matches!(failure(&rig, own), Failure::Timeout { .. }));
}

#[test]
fn a_late_answer_is_dropped_and_counted() {
    let mut rig = Rig::session();
    let asked = call(&mut rig, roots());
    rig.pass(Duration::from_secs(30));
    rig.frame(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert!(matches!(failure(&rig, asked), Failure::Timeout { .. }));
    assert_eq!(rig.observed("response.late"), 1);
    rig.frame(&json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    rig.frame(&json!({"jsonrpc": "2.0", "id": "1", "result": {}}));
    assert_eq!(rig.observed("response.unknown"), 2);
}

#[test]
fn a_call_can_be_given_up_once() {
    let mut rig = Rig::session();
    let asked = call(&mut rig, form());
    for _ in 0..2 {
        rig.act(|it, now| it.cancel(now, asked));
    }
    assert_eq!(failure(&rig, asked), Failure::Cancelled);
    assert_eq!(
        rig.methods_sent(),
        ["elicitation/create", "notifications/cancelled"]
    );
    assert_eq!(rig.observed("cancel.sent"), 1);
}

#[test]
fn a_call_ends_with_the_request_it_was_made_for() {
    for answered in [false, true] {
        let mut rig = Rig::session();
        let parent = rig.request("p", "tools/call", json!({"name": "x"}));
        let options = CallOptions {
            parent: Some(parent),
            ..CallOptions::default()
        };
        let asked = rig.act(|it, now| it.call(now, form(), &options));
        assert_eq!(rig.about, [Some(parent)]);
        if answered {
            rig.respond(parent, &json!({}));
        } else {
            rig.notify("notifications/cancelled", json!({"requestId": "p"}));
        }
        assert_eq!(failure(&rig, asked), Failure::Cancelled);
        assert_eq!(rig.sent[1]["method"], "notifications/cancelled");
        let again = rig.act(|it, now| it.call(now, form(), &options));
        assert_eq!(failure(&rig, again), Failure::Cancelled, "too late");
        assert_eq!(rig.connection.stats(), ConnectionStats::default());
    }
}

#[test]
fn a_closed_link_ends_all_calls_and_every_later_one() {
    let mut rig = Rig::session();
    let first = call(&mut rig, form());
    let second = call(&mut rig, ServerRequest::Ping);
    rig.handle(Input::Closed);
    let third = call(&mut rig, form());
    for asked in [first, second, third] {
        assert_eq!(failure(&rig, asked), Failure::Closed);
    }
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
}

#[test]
fn calls_are_bounded_in_number_and_size() {
    let mut rig = Rig::with(|config| {
        config.max_calls = 1;
        config.max_frame_size = 400;
    });
    rig = rig.opened("2025-11-25", &client_capabilities());
    let large = call(&mut rig, ElicitParams::new("x".repeat(400)).into());
    assert!(matches!(failure(&rig, large), Failure::NotSendable { .. }));
    call(&mut rig, form());
    let second = call(&mut rig, form());
    assert_eq!(failure(&rig, second), Failure::TooManyCalls);
}

#[test]
fn an_answer_where_servers_ask_nothing_is_a_violation() {
    let mut rig = Rig::new();
    rig.ask_stateless(1, "tools/list", json!({}));
    rig.frame(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert!(rig.saw(Violation::ClientResponse));
    assert!(rig.sent.is_empty());
}

#[test]
fn who_goes_on_with_a_session_asks_under_other_ids() {
    let mut rig = Rig::new();
    rig.connection = rig.connection.with_call_ids_after(1000);
    let mut rig = rig.opened("2025-11-25", &client_capabilities());
    let asked = call(&mut rig, form());
    assert_eq!(rig.last()["id"], 1001);
    // An answer to what somebody else asked.
    rig.frame(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(rig.observed("response.unknown"), 1);
    assert!(rig.done.is_empty());
    rig.frame(&json!({"jsonrpc": "2.0", "id": 1001, "result": {}}));
    assert_eq!(rig.outcome(asked), &Outcome::Result("{}".into()));
}
