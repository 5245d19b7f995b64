//! One link to the fake server, as the test drives it.

use std::{sync::PoisonError, time::Duration};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{FakeResponse, ReceivedMessage, ServerProfile, server::MessageLog};
use crate::{
    proto::jsonrpc::{ErrorObject, RawJson, code},
    transport::MemoryLink,
};

/// The server's end of one link. Dropping it hangs up.
#[derive(Debug)]
pub struct FakeSession {
    peer: MemoryLink,
    transcript: MessageLog,
    timeout: Duration,
    stateless: bool,
    request_count: u64,
}

/// Reading.
impl FakeSession {
    pub(crate) fn new(peer: MemoryLink, transcript: MessageLog, timeout: Duration) -> Self {
        Self {
            peer,
            transcript,
            timeout,
            stateless: false,
            request_count: 0,
        }
    }

    /// The next message; `None` once the client has hung up.
    pub async fn recv(&mut self) -> Option<ReceivedMessage> {
        let message = ReceivedMessage::parse(self.peer.recv().await?);
        self.transcript
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(message.clone());
        Some(message)
    }

    /// The next message, which must be of this method.
    ///
    /// # Panics
    ///
    /// Where it is not, or none comes.
    pub async fn expect(&mut self, method: &str) -> ReceivedMessage {
        let message = self.recv_or_panic(method).await;
        assert_eq!(message.method(), method, "in {}", message.json());
        message
    }

    /// The next message of this method; others are passed over.
    ///
    /// # Panics
    ///
    /// Where none comes.
    pub async fn find(&mut self, method: &str) -> ReceivedMessage {
        loop {
            let message = self.recv_or_panic(method).await;
            if message.method() == method {
                return message;
            }
        }
    }

    /// The client's answer to what [`ask`](Self::ask) asked. Messages of other
    /// kinds are passed over.
    ///
    /// # Panics
    ///
    /// Where none comes.
    pub async fn response_to(&mut self, id: &Value) -> ReceivedMessage {
        loop {
            let message = self.recv_or_panic("an answer").await;
            if message.method().is_empty() && message.id() == id {
                return message;
            }
        }
    }

    /// Waits for the client to hang up, and passes over what it still says.
    ///
    /// # Panics
    ///
    /// Where it does not hang up.
    pub async fn wait_closed(&mut self) {
        let max_wait = self.timeout;
        let end = async { while self.recv().await.is_some() {} };
        if timeout(max_wait, end).await.is_err() {
            panic!("the client did not hang up within {max_wait:?}");
        }
    }

    async fn recv_or_panic(&mut self, expected: &str) -> ReceivedMessage {
        let max_wait = self.timeout;
        match timeout(max_wait, self.recv()).await {
            Ok(Some(message)) => message,
            Ok(None) => panic!("the client hung up, where {expected} was expected"),
            Err(_) => {
                panic!("the client was silent for {max_wait:?}, where {expected} was expected")
            }
        }
    }
}

/// Opening, and running by itself.
impl FakeSession {
    /// Opens the session as a server of this profile does.
    ///
    /// # Panics
    ///
    /// Where the client does not open it as it should.
    pub async fn open(&mut self, profile: &ServerProfile) {
        let opened = self.try_open(profile).await;
        assert!(opened, "the client hung up before the session was open");
    }

    /// Opens the session; says whether the client stayed for it.
    pub(crate) async fn try_open(&mut self, profile: &ServerProfile) -> bool {
        self.stateless = profile.is_stateless();
        while let Some(message) = self.recv().await {
            match (message.method(), self.stateless) {
                ("server/discover", true) => {
                    self.respond(&message, profile.discover_result()).await;
                    return true;
                }
                ("server/discover", false) => {
                    let error = ErrorObject::new(code::METHOD_NOT_FOUND, "Method not found");
                    self.respond_error(&message, error).await;
                }
                ("initialize", false) => self.respond(&message, profile.initialize_result()).await,
                ("initialize", true) => self.respond_error(&message, unsupported(profile)).await,
                ("notifications/initialized", false) => return true,
                _ => panic!("the client opens with {}", message.json()),
            }
        }
        false
    }

    /// Answers requests as told, until the client hangs up.
    pub async fn serve(&mut self, respond: &mut impl FnMut(&ReceivedMessage) -> FakeResponse) {
        while let Some(message) = self.recv().await {
            if !message.is_request() {
                continue;
            }
            match respond(&message) {
                FakeResponse::Result(result) => self.respond(&message, result).await,
                FakeResponse::Error(error) => self.respond_error(&message, error).await,
                FakeResponse::Ignore => {}
                FakeResponse::Close => return,
            }
        }
    }
}

/// Saying.
impl FakeSession {
    /// Answers a request. In the stateless era the result is marked complete,
    /// unless it says what it is.
    pub async fn respond(&mut self, request: &ReceivedMessage, mut result: Value) {
        if self.stateless && result.is_object() && result["resultType"].is_null() {
            result["resultType"] = json!("complete");
        }
        let response = json!({"jsonrpc": "2.0", "id": request.id(), "result": result});
        self.send(response).await;
    }

    /// Refuses a request.
    pub async fn respond_error(&mut self, request: &ReceivedMessage, error: ErrorObject) {
        self.send(json!({"jsonrpc": "2.0", "id": request.id(), "error": error}))
            .await;
    }

    /// Ends a round of a request with questions: requests without their
    /// envelopes, by key, as the stateless era asks.
    pub async fn require_input(
        &mut self,
        request: &ReceivedMessage,
        questions: Value,
        state: &str,
    ) {
        let result = json!({
            "resultType": "input_required",
            "inputRequests": questions,
            "requestState": state,
        });
        self.respond(request, result).await;
    }

    /// Reports progress of a request that asked for it.
    ///
    /// # Panics
    ///
    /// Where it did not.
    pub async fn progress(&mut self, request: &ReceivedMessage, done: f64, total: f64) {
        let token = &request.params()["_meta"]["progressToken"];
        assert!(!token.is_null(), "no progress wanted: {}", request.json());
        let params = json!({"progressToken": token, "progress": done, "total": total});
        self.notify("notifications/progress", params).await;
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Asks the client something, as servers of the handshake era may. Gives
    /// the id, for [`response_to`](Self::reply_to).
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        self.request_count += 1;
        let id = json!(format!("ask-{}", self.request_count));
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// Sends any message.
    pub async fn send(&mut self, message: Value) {
        self.send_raw(message.to_string()).await;
    }

    /// Sends any bytes, as one frame.
    pub async fn send_raw(&mut self, frame: impl Into<Bytes>) {
        // A client that is gone is for the test to notice by reading.
        self.peer.send_frame(frame.into()).await;
    }

    /// Hangs up.
    pub fn close(self) {}
}

fn unsupported(profile: &ServerProfile) -> ErrorObject {
    let error = ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, "no handshake here");
    match RawJson::encode(&json!({"supported": [profile.version()]})) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}
