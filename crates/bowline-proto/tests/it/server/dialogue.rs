//! The client's machine and the server's, talking to each other in every
//! revision.

use std::time::Duration;

use bowline_proto::{
    Instant,
    client::{self, CallId, CallOptions, Cancellation, ListSubscriptions, ProgressMode, Request},
    jsonrpc::RawJson,
    model::{
        CallToolParams, CallToolResult, ElicitParams, ElicitResult, InputRequests,
        InputRequiredResult, InputResponses, LogLevel,
    },
    revision::{Era, Revision, handshake_revisions},
    server::{self, ListKind, RequestContext, RequestKey, encode_result},
};
use serde_json::{Value, json};

use super::rig::{capabilities, client_capabilities};

/// Two machines and the memory between them.
struct Pair {
    client: client::Connection,
    server: server::Connection,
    now: Instant,
    link: Option<client::LinkId>,
    heard: Vec<client::Event>,
    asked: Vec<server::Event>,
    client_done: Vec<(CallId, client::Outcome)>,
    server_done: Vec<(server::CallId, server::Outcome)>,
    violations: usize,
}

impl Pair {
    /// Open in this revision, and no other.
    fn open(revision: Revision) -> Self {
        let mut config = client::Config::new("dialogue", "1");
        config.revisions = vec![revision];
        Self::with(config)
    }

    fn with(mut config: client::Config) -> Self {
        config.capabilities = serde_json::from_value(client_capabilities()).expect("capabilities");
        let mut pair = Self {
            client: client::Connection::new(config, 7),
            server: server::Connection::new(server_config()),
            now: Instant::ORIGIN,
            link: None,
            heard: Vec::new(),
            asked: Vec::new(),
            client_done: Vec::new(),
            server_done: Vec::new(),
            violations: 0,
        };
        pair.client.start(pair.now);
        pair.settle();
        assert_eq!(pair.client.state(), client::ConnectionState::Ready);
        pair
    }

    fn revision(&self) -> Revision {
        self.client.server_info().expect("it is open").revision
    }

    /// Carries frames to and fro until nobody has anything to say.
    fn settle(&mut self) {
        while self.client_speaks() | self.server_speaks() {}
    }

    fn client_speaks(&mut self) -> bool {
        let mut spoke = false;
        loop {
            match self.client.poll_output() {
                client::Output::Idle(_) => return spoke,
                client::Output::Dial { link, .. } => {
                    self.link = Some(link);
                    self.client.handle(self.now, client::Input::Up { link });
                }
                client::Output::Send { frame, .. } => {
                    self.server.handle(self.now, server::Input::Frame(frame));
                }
                client::Output::Close { .. } => {
                    self.server.handle(self.now, server::Input::Closed);
                }
                client::Output::CallDone { call, outcome } => {
                    self.client_done.push((call, outcome));
                }
                client::Output::Event(event) => self.heard.push(event),
                client::Output::Telemetry(client::TelemetryEvent::Violation {
                    violation: what,
                    ..
                }) => {
                    panic!("the client saw {what:?}");
                }
                _ => {}
            }
            spoke = true;
        }
    }

    fn server_speaks(&mut self) -> bool {
        let mut spoke = false;
        loop {
            match self.server.poll_output() {
                server::Output::Idle(_) => return spoke,
                server::Output::Send { frame, .. } => {
                    let link = self.link.expect("a link");
                    let input = client::Input::Frame { link, frame };
                    self.client.handle(self.now, input);
                }
                server::Output::Close => {
                    let link = self.link.expect("a link");
                    let cause = client::ConnectionErrorKind::Exited {
                        code: Some(0),
                        signal: None,
                    }
                    .into();
                    self.client
                        .handle(self.now, client::Input::Down { link, cause });
                }
                server::Output::CallDone { call, outcome } => {
                    self.server_done.push((call, outcome));
                }
                server::Output::Event(event) => self.asked.push(event),
                server::Output::Telemetry(server::TelemetryEvent::Violation { .. }) => {
                    self.violations += 1;
                }
                server::Output::Telemetry(_) => {}
            }
            spoke = true;
        }
    }

    fn call(&mut self, tool: &str) -> CallId {
        let request = Request::new(CallToolParams::new(tool)).expect("it encodes");
        let options = CallOptions {
            progress: ProgressMode::Report,
            ..CallOptions::default()
        };
        let call = self.client.call(self.now, request, options);
        self.settle();
        call
    }

    /// The last request that the server was asked.
    #[track_caller]
    fn asked(&self) -> (RequestKey, Value, RequestContext) {
        let mut requests = self.asked.iter().rev().filter_map(|event| match event {
            server::Event::Request {
                request,
                params,
                context,
                ..
            } => {
                let params = params.as_deref().unwrap_or(b"{}");
                let params = serde_json::from_slice(params).expect("JSON");
                Some((*request, params, RequestContext::clone(context)))
            }
            _ => None,
        });
        requests.next().expect("the server was asked")
    }

    fn respond(&mut self, request: RequestKey, result: RawJson) {
        self.server.respond(self.now, request, result);
        self.settle();
    }

    #[track_caller]
    fn result(&self, call: CallId) -> Value {
        let mut outcomes = self.client_done.iter().filter(|(id, _)| *id == call);
        let Some((_, client::Outcome::Result(result))) = outcomes.next() else {
            panic!("no result: {:?}", self.client_done);
        };
        assert!(outcomes.next().is_none(), "it ended twice");
        serde_json::from_slice(result).expect("JSON")
    }

    /// The notifications that the host heard.
    fn notices(&self) -> Vec<&str> {
        let notices = self.heard.iter().filter_map(|event| match event {
            client::Event::Notification { method, .. } => Some(&**method),
            _ => None,
        });
        notices.collect()
    }
}

fn server_config() -> server::Config {
    let mut config = server::Config::new("dialogue", "1");
    config.capabilities = serde_json::from_value(capabilities()).expect("capabilities");
    config
}

fn done(context: &RequestContext) -> RawJson {
    encode_result(context, CallToolResult::text("done")).expect("it encodes")
}

#[test]
fn they_agree_on_every_revision() {
    for revision in Revision::ALL {
        let pair = Pair::open(revision);
        assert_eq!(pair.revision(), revision);
        assert_eq!(
            pair.server.session().is_some(),
            revision.era() == Era::Handshake
        );
        assert_eq!(pair.violations, 0);
    }
}

#[test]
fn left_to_themselves_they_choose_the_newest() {
    let pair = Pair::with(client::Config::new("dialogue", "1"));
    assert_eq!(pair.revision(), Revision::LATEST);
}

#[test]
fn a_client_falls_back_where_the_server_is_old() {
    let mut pair = Pair::open(Revision::LATEST);
    let mut config = server_config();
    config.revisions = handshake_revisions().collect();
    pair.server = server::Connection::new(config);
    let config = client::Config::new("dialogue", "1");
    pair.client = client::Connection::new(config, 7);
    pair.client.start(pair.now);
    pair.settle();
    assert_eq!(pair.revision(), Revision::LATEST_HANDSHAKE);
}

#[test]
fn a_tool_is_called_with_progress_and_a_log() {
    for revision in Revision::ALL {
        let mut config = client::Config::new("dialogue", "1");
        config.revisions = vec![revision];
        config.log_level = Some(LogLevel::Warning);
        let mut pair = Pair::with(config);
        let call = pair.call("book");
        let (request, params, context) = pair.asked();
        assert_eq!(params["name"], "book");
        assert_eq!(context.revision(), revision);
        assert!(
            pair.server
                .progress(request, 1, Some(2.into()), Some("half"))
        );
        let data = RawJson::encode("careful").unwrap();
        assert!(
            !pair
                .server
                .log(Some(request), &LogLevel::Info, None, data.clone())
        );
        assert!(pair.server.log(Some(request), &LogLevel::Error, None, data));
        pair.respond(request, done(&context));
        assert_eq!(
            pair.result(call)["content"][0]["text"],
            "done",
            "{revision}"
        );
        let progress = pair.heard.iter().find_map(|event| match event {
            client::Event::Progress { call, progress } => Some((*call, progress)),
            _ => None,
        });
        let (about, progress) = progress.expect("progress was heard");
        assert_eq!(about, call);
        let told = progress.message.is_some();
        assert_eq!(
            told,
            revision.rules().features.progress_message,
            "{revision}"
        );
        assert_eq!(pair.notices(), ["notifications/message"], "{revision}");
        assert_eq!(pair.violations, 0, "{revision}");
    }
}

#[test]
fn a_cancelled_call_is_cancelled_on_the_other_side() {
    for revision in Revision::ALL {
        let mut pair = Pair::open(revision);
        let call = pair.call("book");
        let (request, _, context) = pair.asked();
        pair.client.cancel(
            pair.now,
            call,
            Cancellation::Requested(Some("bored".into())),
        );
        pair.settle();
        let cancelled = pair.asked.iter().any(
            |event| matches!(event, server::Event::Cancelled { request: it, .. } if *it == request),
        );
        assert!(cancelled, "{revision}");
        pair.respond(request, done(&context));
        let failed = client::Outcome::Failed(client::Failure::Cancelled);
        assert_eq!(pair.client_done, [(call, failed)]);
        assert_eq!(pair.server.stats(), server::ConnectionStats::default());
    }
}

#[test]
fn a_subscription_brings_changes_until_it_ends() {
    for revision in Revision::ALL {
        let mut pair = Pair::open(revision);
        let uri = "file:///notes.md";
        let subscribed = pair.client.subscribe(pair.now, uri, CallOptions::default());
        pair.settle();
        if revision.era() == Era::Handshake {
            let (request, params, context) = pair.asked();
            assert_eq!(params["uri"], uri);
            let empty = bowline_proto::model::EmptyResult::default();
            pair.respond(request, encode_result(&context, empty).unwrap());
        }
        pair.result(subscribed);
        assert!(pair.server.resource_updated(uri), "{revision}");
        assert!(!pair.server.resource_updated("file:///other.md"));
        pair.settle();
        assert_eq!(
            pair.notices(),
            ["notifications/resources/updated"],
            "{revision}"
        );
        pair.client
            .unsubscribe(pair.now, uri, CallOptions::default());
        pair.settle();
        if revision.era() == Era::Handshake {
            let (request, ..) = pair.asked();
            pair.respond(request, RawJson::encode(&json!({})).unwrap());
        }
        assert!(!pair.server.resource_updated(uri), "{revision}");
        pair.settle();
        assert_eq!(
            pair.server.stats(),
            server::ConnectionStats::default(),
            "{revision}"
        );
    }
}

#[test]
fn changed_lists_are_heard_of() {
    for revision in Revision::ALL {
        let mut pair = Pair::open(revision);
        let watch = ListSubscriptions {
            tools: true,
            ..ListSubscriptions::default()
        };
        pair.client.set_list_subscriptions(pair.now, watch);
        pair.settle();
        assert!(pair.server.list_changed(ListKind::Tools));
        pair.settle();
        assert_eq!(
            pair.notices(),
            ["notifications/tools/list_changed"],
            "{revision}"
        );
    }
}

#[test]
fn a_stream_that_the_server_ends_is_opened_again() {
    let mut pair = Pair::open(Revision::LATEST);
    let watch = ListSubscriptions {
        tools: true,
        ..ListSubscriptions::default()
    };
    pair.client.set_list_subscriptions(pair.now, watch);
    pair.settle();
    pair.server.close_subscription_streams(pair.now);
    pair.settle();
    assert!(!pair.server.list_changed(ListKind::Tools), "nobody listens");
    pair.now = pair.now + Duration::from_secs(60);
    pair.client.handle(pair.now, client::Input::Tick);
    pair.settle();
    assert!(pair.server.list_changed(ListKind::Tools));
    assert_eq!(pair.violations, 0);
}

#[test]
fn handshake_servers_ask_while_the_call_is_open() {
    for revision in handshake_revisions() {
        let mut pair = Pair::open(revision);
        let call = pair.call("book");
        let (request, _, context) = pair.asked();
        let options = server::CallOptions {
            parent: Some(request),
            ..Default::default()
        };
        let asked = pair.server.call(pair.now, question(), &options);
        pair.settle();
        if !revision.rules().features.elicitation.form {
            let failed = &pair.server_done[0].1;
            let why = "this protocol version does not have this kind of question";
            let expected = server::Failure::NotSupportedInRevision { message: why };
            assert_eq!(failed, &server::Outcome::Failed(expected));
            continue;
        }
        let answering = pair.heard.iter().find_map(|event| match event {
            client::Event::Request { request, .. } => Some(*request),
            _ => None,
        });
        let answering = answering.expect("the client was asked");
        pair.client.respond(pair.now, answering, Ok(accepted()));
        pair.settle();
        let (ended, server::Outcome::Result(answer)) = &pair.server_done[0] else {
            panic!("{:?}", pair.server_done);
        };
        assert_eq!(*ended, asked);
        let answer: ElicitResult = serde_json::from_slice(answer).unwrap();
        assert_eq!(answer.content.unwrap().get(), r#"{"seat":"12A"}"#);
        pair.respond(request, done(&context));
        pair.result(call);
        assert_eq!(pair.server.stats(), server::ConnectionStats::default());
    }
}

#[test]
fn stateless_servers_ask_in_their_results() {
    let mut pair = Pair::open(Revision::LATEST);
    let call = pair.call("book");
    let (first, _, context) = pair.asked();
    assert_eq!(context.missing_capability(&question()), None);
    let mut questions = InputRequests::default();
    questions.insert("seat", question());
    let mut result = InputRequiredResult::default();
    result.input_requests = Some(questions);
    result.request_state = Some("sealed".to_owned());
    pair.respond(first, encode_result(&context, result).unwrap());
    let round = pair.heard.iter().find_map(|event| match event {
        client::Event::InputRequired { call, .. } => Some(*call),
        _ => None,
    });
    assert_eq!(round, Some(call));
    let mut answers = InputResponses::default();
    answers.insert("seat", accepted());
    pair.client.provide_input(pair.now, call, Some(answers));
    pair.settle();
    let (second, params, context) = pair.asked();
    assert_ne!(first, second);
    assert_eq!(params["requestState"], "sealed");
    assert_eq!(params["inputResponses"]["seat"]["content"]["seat"], "12A");
    pair.respond(second, done(&context));
    assert_eq!(pair.result(call)["content"][0]["text"], "done");
    assert_eq!(pair.server.stats(), server::ConnectionStats::default());
}

#[test]
fn a_server_that_leaves_is_noticed() {
    for revision in Revision::ALL {
        let mut pair = Pair::open(revision);
        let call = pair.call("book");
        pair.server.shutdown(pair.now, Duration::from_secs(1));
        pair.settle();
        pair.now = pair.now + Duration::from_secs(1);
        pair.server.handle(pair.now, server::Input::Tick);
        pair.settle();
        let (ended, client::Outcome::Error(error)) = &pair.client_done[0] else {
            panic!("{:?}", pair.client_done);
        };
        assert_eq!((*ended, error.code), (call, -32603));
        assert_eq!(pair.client.state(), client::ConnectionState::Backoff);
    }
}

fn question() -> bowline_proto::model::InputRequest {
    let schema = json!({"type": "object", "properties": {"seat": {"type": "string"}}});
    let schema = serde_json::from_value(schema).expect("a schema");
    ElicitParams::form("Which seat?", schema).into()
}

fn accepted() -> RawJson {
    let content = RawJson::encode(&json!({"seat": "12A"})).expect("JSON");
    RawJson::encode(&ElicitResult::accept(content)).expect("JSON")
}
