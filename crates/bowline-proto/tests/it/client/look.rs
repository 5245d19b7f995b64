//! What the tests do and look for in so many words.

use std::time::Duration;

use bowline_proto::{
    client::{
        CallId, CallOptions, CallPolicy, Cancellation, ConnectionErrorKind, ConnectionState, Event,
        Failure, HttpStatusError, Outcome, ProgressMode, SendError,
    },
    jsonrpc::{ErrorObject, RawJson},
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::rig::{Rig, Sent};

/// Doing.
impl Rig {
    /// Lets the backoff pass, so that the next link is dialled.
    #[track_caller]
    pub(crate) fn redial(&mut self) {
        assert_eq!(self.state(), ConnectionState::Backoff);
        let dials = self.dials.len();
        while self.dials.len() == dials {
            self.wake();
        }
    }

    /// The link dies, and a new session of the same kind is opened by handshake.
    #[track_caller]
    pub(crate) fn reconnect(&mut self) {
        self.down();
        self.redial();
        self.open_by_handshake("2025-11-25");
    }

    /// A session with a server that offers nothing.
    pub(crate) fn bare() -> Self {
        let mut rig = Self::dialling();
        rig.up();
        rig.answer_error(-32601, "no such method");
        rig.accept(json!({}));
        rig.forget();
        rig
    }

    /// Accepts the handshake, with these capabilities of the server's.
    pub(crate) fn accept(&mut self, capabilities: Value) {
        let result = [
            ("protocolVersion", json!("2025-11-25")),
            ("capabilities", capabilities),
            ("serverInfo", json!({"name": "fake", "version": "1"})),
        ];
        self.answer(Value::from_iter(result));
    }

    pub(crate) fn cancel(&mut self, call: CallId, cancel: Cancellation) {
        self.act(|connection, now| connection.cancel(now, call, cancel));
    }

    /// A `tools/call`, treated in this way.
    pub(crate) fn tool_call(&mut self, options: CallOptions) -> CallId {
        self.call_with("tools/call", json!({"name": "x"}), options)
    }

    /// The answer of an HTTP server that is not success.
    pub(crate) fn status(&mut self, id: u64, status: u16, body: impl Into<Bytes>) {
        let refusal = HttpStatusError {
            status,
            body: body.into(),
            retry_after: None,
        };
        self.refuse(id, SendError::Status(refusal));
    }

    pub(crate) fn notified(&mut self, method: &str, params: Value) {
        let version = Value::from("2.0");
        let message = [
            ("jsonrpc", version),
            ("method", method.into()),
            ("params", params),
        ];
        self.frame(&Value::from_iter(message));
    }

    /// A request of the server's.
    pub(crate) fn asked(&mut self, id: Value, method: &str, params: Value) {
        let version = Value::from("2.0");
        let message = [
            ("jsonrpc", version),
            ("id", id),
            ("method", method.into()),
            ("params", params),
        ];
        self.frame(&Value::from_iter(message));
    }
}

/// Looking.
impl Rig {
    #[track_caller]
    pub(crate) fn failure(&self, call: CallId) -> &Failure {
        match self.outcome(call) {
            Outcome::Failed(failure) => failure,
            other => panic!("the call did not fail: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn refusal(&self, call: CallId) -> &ErrorObject {
        match self.outcome(call) {
            Outcome::Error(error) => error,
            other => panic!("the server did not refuse: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn result(&self, call: CallId) -> Value {
        match self.outcome(call) {
            Outcome::Result(result) => serde_json::from_slice(result).expect("results are JSON"),
            other => panic!("the call has no result: {other:?}"),
        }
    }

    /// What was sent with this method.
    pub(crate) fn sent_as(&self, method: &str) -> Vec<&Sent> {
        let sent = self.sent.iter();
        sent.filter(|sent| sent.method() == method).collect()
    }

    /// The requests that the server was told to forget.
    pub(crate) fn cancelled(&self) -> Vec<u64> {
        let cancelled = self.sent_as("notifications/cancelled").into_iter();
        cancelled
            .filter_map(|sent| sent.json["params"]["requestId"].as_u64())
            .collect()
    }

    /// The last answer that was sent to the server.
    #[track_caller]
    pub(crate) fn answered(&self) -> &Value {
        let sent = &self.last_sent().json;
        assert!(sent.get("method").is_none(), "not an answer: {sent}");
        sent
    }

    /// Why the connection fell last, and when it will be tried again.
    #[track_caller]
    pub(crate) fn fell(&self) -> (&ConnectionErrorKind, Option<Duration>) {
        let fell = |event: &'_ Event| matches!(event, Event::Disconnected { .. });
        match self.events.iter().rfind(|event| fell(event)) {
            Some(Event::Disconnected { cause, retry_in }) => (cause.kind(), *retry_in),
            _ => panic!("the connection did not fall: {:?}", self.events),
        }
    }

    /// The methods of the notifications that were handed up.
    pub(crate) fn handed_up(&self) -> Vec<&str> {
        let methods = self.events.iter().filter_map(|event| match event {
            Event::Notification { method, .. } => Some(&**method),
            _ => None,
        });
        methods.collect()
    }

    /// The calls of which progress was handed up, in order.
    pub(crate) fn progressed(&self) -> Vec<CallId> {
        let calls = self.events.iter().filter_map(|event| match event {
            Event::Progress { call, .. } => Some(*call),
            _ => None,
        });
        calls.collect()
    }

    pub(crate) fn has_event(&self, is_meant: impl Fn(&Event) -> bool) -> bool {
        self.events.iter().any(is_meant)
    }

    /// Nothing is left of any call: no record, no alias, no timer.
    #[track_caller]
    pub(crate) fn assert_no_calls(&self) {
        let census = self.connection.stats();
        let left = (census.calls, census.aliases, census.timers);
        assert_eq!(left, (0, 0, 0), "calls, aliases and timers left");
    }

    /// A wait of the first backoff: one second and up to a fifth.
    #[track_caller]
    pub(crate) fn assert_first_backoff(&self) {
        let (_, retry_in) = self.fell();
        let wait = retry_in.expect("another attempt").as_millis();
        assert!((1_000..=1_200).contains(&wait), "{wait} ms");
    }
}

/// Options of a call that waits for the connection.
pub(crate) fn waiting() -> CallOptions {
    CallOptions {
        policy: CallPolicy::WaitForConnection,
        ..CallOptions::default()
    }
}

pub(crate) fn within(timeout: Duration) -> CallOptions {
    CallOptions {
        timeout: Some(timeout),
        ..CallOptions::default()
    }
}

pub(crate) fn reporting() -> CallOptions {
    CallOptions {
        progress: ProgressMode::Report,
        ..CallOptions::default()
    }
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn raw(value: &Value) -> RawJson {
    RawJson::encode(value).expect("JSON encodes")
}
