//! Calls that the server answers with questions: asked, answered, sent again.

use bowline_proto::{
    client::{
        CallId, CallOptions, Cancellation, Config, ConnectionState, Event, Failure, InputHandling,
        ProgressMode, Request, Violation,
    },
    model::{
        ElicitationCapability, InputRequests, InputResponses, Meta, Root, RootsCapability,
        SamplingCapability, ToolMode,
    },
};
use serde_json::{Value, json};

use super::{
    look::{millis, raw, reporting},
    rig::{Rig, discovery},
};

/// A client that declared forms, sampling and roots.
fn able(config: &mut Config) {
    config.capabilities.elicitation = Some(ElicitationCapability::default());
    config.capabilities.sampling = Some(SamplingCapability::default());
    config.capabilities.roots = Some(RootsCapability::default());
    config.roots = vec![Root::new("file:///work")];
}

/// A call that was answered with `questions`.
fn asked(questions: Value) -> (Rig, CallId) {
    let mut rig = Rig::stateless_with(able);
    let call = rig.call_with("tools/call", params(), CallOptions::default());
    require(&mut rig, questions);
    (rig, call)
}

fn params() -> Value {
    json!({"name": "x", "arguments": {"a": [1, 2]}})
}

/// Answers the last request with an `input_required`.
fn require(rig: &mut Rig, mut result: Value) {
    result["resultType"] = json!("input_required");
    rig.answer(result);
}

fn form(message: &str) -> Value {
    let schema = json!({"type": "object", "properties": {}});
    let params = json!({"message": message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

fn one_form() -> Value {
    json!({"inputRequests": {"name": form("Your name?")}, "requestState": "s1"})
}

fn accepted() -> Value {
    json!({"action": "accept", "content": {}})
}

fn provide(rig: &mut Rig, call: CallId, answers: Value) {
    let Value::Object(answers) = answers else {
        panic!("answers are an object");
    };
    let answers = answers.into_iter();
    let answers: InputResponses = answers.map(|(key, answer)| (key, raw(&answer))).collect();
    rig.act(|connection, now| connection.provide_input(now, call, Some(answers)));
}

/// The questions that the host was asked last, and in which round.
#[track_caller]
fn questions(rig: &Rig) -> (u32, Vec<String>) {
    let asked = rig.events.iter().rev().find_map(|event| match event {
        Event::InputRequired {
            round, questions, ..
        } => Some((*round, questions)),
        _ => None,
    });
    let (round, questions) = asked.expect("the host was asked");
    let requests = questions
        .input_requests
        .iter()
        .flat_map(InputRequests::iter);
    (round, requests.map(|(key, _)| key.to_owned()).collect())
}

fn was_withdrawn(rig: &Rig, call: CallId) -> bool {
    rig.has_event(|event| matches!(event, Event::InputWithdrawn { call: it } if *it == call))
}

fn round_params(rig: &Rig) -> Value {
    let mut params = rig.last_sent().json["params"].clone();
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    params
}

#[test]
fn the_host_is_asked_and_the_request_sent_again_with_its_answers() {
    let (mut rig, call) = asked(one_form());
    assert_eq!(questions(&rig), (1, vec!["name".to_owned()]));
    assert_eq!(rig.sent.len(), 1, "nothing goes out meanwhile");
    provide(&mut rig, call, json!({"name": accepted()}));
    let mut expected = params();
    expected["inputResponses"] = json!({"name": accepted()});
    expected["requestState"] = json!("s1");
    assert_eq!(round_params(&rig), expected);
    rig.answer(json!({"resultType": "complete", "content": []}));
    assert_eq!(rig.result(call)["content"], json!([]));
    rig.assert_no_calls();
}

#[test]
fn each_round_has_a_new_id() {
    let (mut rig, call) = asked(one_form());
    for _ in 0..3 {
        provide(&mut rig, call, json!({"name": accepted()}));
        require(&mut rig, one_form());
    }
    let ids: Vec<_> = rig.sent.iter().filter_map(|sent| sent.id).collect();
    assert_eq!(ids.len(), 4);
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

#[test]
fn each_round_says_again_who_we_are_and_what_the_caller_added() {
    let mut rig = Rig::stateless_with(able);
    let mut meta = Meta::new();
    meta.set_traceparent("00-1-2-01");
    let request = Request::raw("tools/call", &params())
        .unwrap()
        .with_meta(meta);
    let now = rig.now;
    let call = rig.connection.call(now, request, reporting());
    rig.drain();
    require(&mut rig, one_form());
    provide(&mut rig, call, json!({"name": accepted()}));
    let meta = &rig.last_sent().json["params"]["_meta"];
    assert_eq!(meta["traceparent"], "00-1-2-01");
    assert_eq!(meta["progressToken"], rig.last_request());
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
}

#[test]
fn the_state_is_echoed_unchanged() {
    for state in ["", "eyJ4IjoxfQ==", "\"\\\n\t\u{0}\u{7f}é\u{2028}\u{1f980}"] {
        let (mut rig, call) =
            asked(json!({"inputRequests": {"name": form("Your name?")}, "requestState": state}));
        provide(&mut rig, call, json!({"name": accepted()}));
        assert_eq!(round_params(&rig)["requestState"], state);
    }
}

#[test]
fn a_round_without_a_state_gets_none_back_whatever_came_before() {
    let (mut rig, call) = asked(one_form());
    provide(&mut rig, call, json!({"name": accepted()}));
    require(
        &mut rig,
        json!({"inputRequests": {"age": form("Your age?")}}),
    );
    provide(&mut rig, call, json!({"age": accepted()}));
    let sent = round_params(&rig);
    assert!(sent.get("requestState").is_none());
    let answers = json!({"age": accepted()});
    assert_eq!(sent["inputResponses"], answers, "this round's only");
    assert_eq!(questions(&rig).0, 2);
}

#[test]
fn the_hosts_answers_travel_verbatim() {
    let (mut rig, call) = asked(one_form());
    let answers: InputResponses =
        serde_json::from_str(r#"{"name":{"action":"accept","content":{"n":1.0,"e":1e2}}}"#)
            .unwrap();
    rig.act(|connection, now| connection.provide_input(now, call, Some(answers)));
    let frame = std::str::from_utf8(&rig.last_sent().frame).unwrap();
    assert!(frame.contains(r#"{"n":1.0,"e":1e2}"#), "{frame}");
}

#[test]
fn a_question_about_roots_is_answered_without_asking_the_host() {
    let roots = json!({"roots": [{"uri": "file:///work"}]});
    for question in [
        json!({"method": "roots/list"}),
        json!({"method": "roots/list", "params": {}}),
    ] {
        let (rig, _) = asked(json!({"inputRequests": {"where": question}, "requestState": "s"}));
        assert!(!rig.has_event(|event| matches!(event, Event::InputRequired { .. })));
        let sent = round_params(&rig);
        assert_eq!(sent["inputResponses"], json!({"where": roots}));
        assert_eq!(sent["requestState"], "s");
    }
}

#[test]
fn roots_are_added_to_what_the_host_answers() {
    let (mut rig, call) = asked(json!({"inputRequests": {
        "where": {"method": "roots/list"},
        "name": form("Your name?"),
    }}));
    assert_eq!(questions(&rig).1, ["name"], "the host is not bothered");
    provide(&mut rig, call, json!({"name": accepted()}));
    let roots = json!({"roots": [{"uri": "file:///work"}]});
    let answers = json!({"name": accepted(), "where": roots});
    assert_eq!(round_params(&rig)["inputResponses"], answers);
}

#[test]
fn what_we_did_not_declare_is_not_asked_of_anybody() {
    let url = json!({"mode": "url", "message": "Visit", "url": "https://x.test/"});
    let sample = json!({"messages": [], "maxTokens": 1});
    let sample_with_tools = json!({"messages": [], "maxTokens": 1, "tools": []});
    let nothing: fn(&mut Config) = |_| {};
    let cases = [
        (nothing, form("Your name?"), "elicitation/create"),
        (nothing, json!({"method": "roots/list"}), "roots/list"),
        (
            nothing,
            json!({"method": "sampling/createMessage", "params": sample}),
            "sampling/createMessage",
        ),
        (
            able,
            json!({"method": "elicitation/create", "params": url}),
            "elicitation/create",
        ),
        (
            able,
            json!({"method": "sampling/createMessage", "params": sample_with_tools}),
            "sampling/createMessage",
        ),
        (able, json!({"method": "acme/ask"}), "acme/ask"),
    ];
    for (declare, question, method) in cases {
        let mut rig = Rig::stateless_with(declare);
        let call = rig.call("tools/call");
        require(&mut rig, json!({"inputRequests": {"q": question}}));
        let method = method.to_owned();
        assert_eq!(*rig.failure(call), Failure::InputNotOffered { method });
        assert!(!rig.has_event(|event| matches!(event, Event::InputRequired { .. })));
        assert_eq!(rig.sent.len(), 1);
        rig.assert_no_calls();
    }
}

#[test]
fn the_number_of_rounds_is_limited() {
    let mut rig = Rig::stateless_with(|config| {
        able(config);
        config.max_input_rounds = 2;
    });
    let call = rig.call("tools/call");
    for _ in 0..2 {
        require(&mut rig, one_form());
        provide(&mut rig, call, json!({"name": accepted()}));
        assert!(!rig.has_ended(call));
    }
    require(&mut rig, one_form());
    assert_eq!(*rig.failure(call), Failure::TooManyRounds { rounds: 2 });
    rig.assert_no_calls();
}

#[test]
fn a_server_that_only_puts_us_off_is_asked_again_after_a_growing_pause() {
    let (mut rig, call) = asked(json!({"requestState": "later 0"}));
    let windows_ms = [(80, 120), (160, 240), (320, 480), (640, 960)];
    for (round, (low, high)) in windows_ms.into_iter().enumerate() {
        let sent = rig.sent.len();
        rig.pass_ms(low - 1);
        assert_eq!(rig.sent.len(), sent, "round {round}: too early");
        rig.pass_ms(high - low + 1);
        assert_eq!(rig.sent.len(), sent + 1, "round {round}: too late");
        let mut expected = params();
        expected["requestState"] = json!(format!("later {round}"));
        assert_eq!(round_params(&rig), expected, "no answers");
        let state = format!("later {}", round + 1);
        require(&mut rig, json!({"requestState": state}));
    }
    assert!(!rig.has_event(|event| matches!(event, Event::InputRequired { .. })));
    assert!(!rig.has_ended(call));
}

#[test]
fn a_caller_may_have_the_questions_handed_back() {
    let mut rig = Rig::stateless();
    let call = rig.tool_call(CallOptions {
        input_handling: InputHandling::ReturnToCaller,
        ..CallOptions::default()
    });
    require(&mut rig, one_form());
    let result = rig.result(call);
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result["requestState"], "s1");
    assert!(!rig.has_event(|event| matches!(event, Event::InputRequired { .. })));
}

#[test]
fn a_host_that_will_not_answer_ends_the_call_and_the_server_hears_nothing() {
    let (mut rig, call) = asked(one_form());
    rig.act(|connection, now| connection.provide_input(now, call, None));
    assert_eq!(*rig.failure(call), Failure::InputNotProvided);
    assert_eq!(rig.sent.len(), 1);
    rig.assert_no_calls();
}

#[test]
fn a_host_that_answers_twice_is_heard_once() {
    let (mut rig, call) = asked(one_form());
    provide(&mut rig, call, json!({"name": accepted()}));
    provide(&mut rig, call, json!({"name": {"action": "cancel"}}));
    assert_eq!(rig.sent.len(), 2);
}

#[test]
fn while_the_host_is_asked_it_is_the_hosts_deadline_that_counts() {
    let (mut rig, call) = asked(one_form());
    rig.pass_ms(599_999);
    assert!(!rig.has_ended(call));
    rig.pass_ms(1);
    let after = millis(600_000);
    assert_eq!(*rig.failure(call), Failure::Timeout { after });
    assert!(was_withdrawn(&rig, call));
    assert!(rig.cancelled().is_empty(), "the server waits for nothing");
}

#[test]
fn each_round_has_the_callers_deadline_anew_and_is_cancelled_under_its_own_id() {
    let (mut rig, call) = asked(one_form());
    rig.pass_ms(300_000);
    provide(&mut rig, call, json!({"name": accepted()}));
    let second = rig.last_request();
    rig.pass_ms(29_999);
    assert!(!rig.has_ended(call));
    rig.pass_ms(1);
    let after = millis(30_000);
    assert_eq!(*rig.failure(call), Failure::Timeout { after });
    assert_eq!(rig.cancelled(), [second]);
}

#[test]
fn progress_after_a_long_round_extends_the_deadline_like_before() {
    let mut rig = Rig::stateless_with(able);
    let call = rig.tool_call(CallOptions {
        progress: ProgressMode::ExtendDeadline {
            max: millis(60_000),
        },
        ..CallOptions::default()
    });
    require(&mut rig, one_form());
    rig.pass_ms(300_000);
    provide(&mut rig, call, json!({"name": accepted()}));
    rig.pass_ms(20_000);
    let token = rig.last_request();
    let params = json!({"progressToken": token, "progress": 1});
    rig.notified("notifications/progress", params);
    rig.pass_ms(29_999);
    assert!(!rig.has_ended(call));
}

#[test]
fn progress_of_an_earlier_round_is_dropped() {
    let mut rig = Rig::stateless_with(able);
    let call = rig.tool_call(reporting());
    let first = rig.last_request();
    require(&mut rig, one_form());
    let report = |token: u64| json!({"progressToken": token, "progress": 1});
    rig.notified("notifications/progress", report(first));
    provide(&mut rig, call, json!({"name": accepted()}));
    rig.notified("notifications/progress", report(first));
    assert!(rig.progressed().is_empty());
    let second = rig.last_request();
    rig.notified("notifications/progress", report(second));
    assert_eq!(rig.progressed(), [call]);
}

#[test]
fn a_second_answer_to_a_round_that_was_answered_changes_nothing() {
    let (mut rig, call) = asked(one_form());
    let first = rig.last_request();
    rig.answer_to(first, json!({"resultType": "complete"}));
    assert!(!rig.has_ended(call));
    provide(&mut rig, call, json!({"name": accepted()}));
    rig.answer_to(first, json!({"resultType": "complete"}));
    assert!(!rig.has_ended(call));
    assert_eq!(rig.observed("response.unknown"), 2);
}

#[test]
fn a_call_whose_host_is_being_asked_can_be_given_up() {
    let stop: fn(&mut Rig, CallId) = |rig, _| assert!(rig.stop());
    let drop: fn(&mut Rig, CallId) = |rig, call| rig.cancel(call, Cancellation::Dropped);
    let ways = [(drop, Failure::Cancelled), (stop, Failure::Shutdown)];
    for (give_up, expected) in ways {
        let (mut rig, call) = asked(one_form());
        give_up(&mut rig, call);
        assert_eq!(*rig.failure(call), expected);
        assert!(was_withdrawn(&rig, call));
        assert!(rig.cancelled().is_empty());
        provide(&mut rig, call, json!({"name": accepted()}));
        assert_eq!(rig.sent.len(), 1, "too late");
    }
}

#[test]
fn a_call_whose_host_is_being_asked_outlives_the_link() {
    let (mut rig, call) = asked(one_form());
    rig.down();
    assert!(!rig.has_ended(call));
    rig.redial();
    rig.open_by_discovery();
    provide(&mut rig, call, json!({"name": accepted()}));
    assert_eq!(rig.last_sent().link, rig.current());
    assert_eq!(round_params(&rig)["requestState"], "s1");
    rig.answer(json!({"resultType": "complete"}));
    assert_eq!(rig.result(call), json!({"resultType": "complete"}));
    rig.assert_no_calls();
}

#[test]
fn answers_given_while_there_is_no_session_go_out_with_the_next_one() {
    let (mut rig, call) = asked(one_form());
    rig.down();
    provide(&mut rig, call, json!({"name": accepted()}));
    rig.redial();
    rig.up();
    rig.answer(discovery());
    let sent = round_params(&rig);
    assert_eq!(sent["requestState"], "s1");
    assert_eq!(sent["inputResponses"], json!({"name": accepted()}));
    assert!(!rig.has_ended(call));
}

#[test]
fn a_pause_that_ends_while_there_is_no_session_keeps_its_state() {
    let (mut rig, call) = asked(json!({"requestState": "later"}));
    rig.down();
    rig.pass_ms(900);
    assert_eq!(rig.state(), ConnectionState::Backoff);
    rig.redial();
    rig.open_by_discovery();
    let mut expected = params();
    expected["requestState"] = json!("later");
    assert_eq!(round_params(&rig), expected);
    assert!(!rig.has_ended(call));
}

#[test]
fn a_round_that_is_on_the_wire_is_lost_with_the_link() {
    let (mut rig, call) = asked(one_form());
    provide(&mut rig, call, json!({"name": accepted()}));
    rig.down();
    assert!(matches!(rig.failure(call), Failure::ConnectionLost(_)));
    rig.assert_no_calls();
}

#[test]
fn a_busy_link_gets_the_same_round_again() {
    let (mut rig, call) = asked(one_form());
    provide(&mut rig, call, json!({"name": accepted()}));
    let frame = rig.last_sent().frame.clone();
    rig.busy();
    rig.pass_ms(15);
    assert_eq!(rig.last_sent().frame, frame);
    rig.answer(json!({"resultType": "complete"}));
    assert!(rig.has_ended(call));
}

#[test]
fn a_server_may_refuse_in_a_later_round() {
    let (mut rig, call) = asked(one_form());
    provide(&mut rig, call, json!({"name": accepted()}));
    rig.answer_error(-32602, "stale state");
    assert_eq!(rig.refusal(call).message, "stale state");
}

#[test]
fn questions_are_asked_in_answer_to_three_methods_only() {
    for method in ["tools/call", "prompts/get", "resources/read"] {
        let mut rig = Rig::stateless_with(able);
        let call = rig.call(method);
        require(&mut rig, one_form());
        assert!(!rig.has_ended(call), "{method}");
    }
    for method in ["tools/list", "completion/complete", "acme/do"] {
        let mut rig = Rig::stateless_with(able);
        let call = rig.call(method);
        require(&mut rig, one_form());
        let failure = rig.failure(call);
        assert!(
            matches!(failure, Failure::InvalidResponse { .. }),
            "{method}"
        );
        assert!(rig.saw_violation(Violation::InvalidResponse));
    }
}

#[test]
fn questions_that_ask_nothing_or_cannot_be_read_are_no_answer() {
    let broken = [
        json!({}),
        json!({"inputRequests": {"q": {"params": {}}}}),
        json!({"inputRequests": {"q": {"method": "elicitation/create"}}}),
        json!({"inputRequests": [1], "requestState": "s"}),
        json!({"requestState": 7}),
    ];
    for result in broken {
        let (rig, call) = asked(result.clone());
        let failure = rig.failure(call);
        assert!(
            matches!(failure, Failure::InvalidResponse { .. }),
            "{result}"
        );
        rig.assert_no_calls();
    }
}

#[test]
fn an_unknown_kind_of_result_is_no_answer() {
    let mut rig = Rig::stateless();
    let call = rig.call("tools/call");
    rig.answer(json!({"resultType": "riddle"}));
    assert!(
        matches!(rig.failure(call), Failure::InvalidResponse { message } if message.contains("riddle"))
    );
    assert!(rig.saw_violation(Violation::InvalidResponse));
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn a_kind_of_result_that_an_extension_adds_is_an_answer() {
    let mut rig = Rig::stateless_with(|config| config.extension_result_types = vec!["task".into()]);
    let call = rig.call("tools/call");
    rig.answer(json!({"resultType": "task", "taskId": "t"}));
    assert_eq!(rig.result(call)["taskId"], "t");
}

#[test]
fn a_result_that_does_not_say_its_kind_is_complete() {
    let mut rig = Rig::stateless();
    let call = rig.call("tools/call");
    rig.answer(json!({"content": []}));
    assert_eq!(rig.result(call), json!({"content": []}));
}

#[test]
fn in_the_handshake_era_a_result_has_no_kind() {
    let mut rig = Rig::ready();
    for kind in ["input_required", "riddle"] {
        let call = rig.call("tools/call");
        rig.answer(json!({"resultType": kind}));
        assert_eq!(rig.result(call), json!({"resultType": kind}));
    }
}

/// A stateful call is never moved to another session, so that there is nothing
/// to ask the user for once its own is over.
#[test]
fn a_stateful_call_that_waits_for_an_answer_ends_with_its_session() {
    for questions in [one_form(), json!({"requestState": "s1"})] {
        let mut rig = Rig::stateless_with(able);
        let options = CallOptions {
            mode: Some(ToolMode::Stateful),
            ..CallOptions::default()
        };
        let stateful = rig.call_with("tools/call", params(), options);
        require(&mut rig, questions.clone());
        let other = rig.call_with("tools/call", params(), CallOptions::default());
        require(&mut rig, questions);
        rig.down();
        assert_eq!(*rig.failure(stateful), Failure::SessionLost);
        assert!(!rig.has_ended(other), "any session serves it");
        assert!(!was_withdrawn(&rig, other));
    }
}

#[test]
fn whoever_was_asked_for_a_stateful_call_is_told_when_its_session_falls() {
    let mut rig = Rig::stateless_with(able);
    let options = CallOptions {
        mode: Some(ToolMode::Stateful),
        ..CallOptions::default()
    };
    let call = rig.call_with("tools/call", params(), options);
    require(&mut rig, one_form());
    rig.down();
    assert!(was_withdrawn(&rig, call));
}
