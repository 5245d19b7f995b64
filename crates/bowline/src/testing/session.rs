//! One link to the fake server, driven by the test.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{FakeResponse, ReceivedMessage, ServerProfile, server::MessageLog};
use crate::{
    proto::jsonrpc::{ErrorObject, RawJson, code},
    sync,
    transport::MemoryLink,
};

/// The server's end of one link. Dropping it closes the link.
#[derive(Debug)]
pub struct FakeSession {
    peer: MemoryLink,
    transcript: MessageLog,
    timeout: Duration,
    stateless: bool,
    request_count: u64,
}

/// Receiving.
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

    /// Receives the next message; `None` once the client has closed the link.
    pub async fn recv(&mut self) -> Option<ReceivedMessage> {
        let message = ReceivedMessage::parse(self.peer.recv().await?);
        sync::lock(&self.transcript).push(message.clone());
        Some(message)
    }

    /// Receives the next message, which must have this method.
    ///
    /// # Panics
    ///
    /// Panics if it has another method, or none arrives.
    pub async fn expect(&mut self, method: &str) -> ReceivedMessage {
        let message = self.recv_or_panic(method).await;
        assert_eq!(message.method(), method, "in {}", message.json());
        message
    }

    /// Receives the next message with this method, skipping others.
    ///
    /// # Panics
    ///
    /// Panics if none arrives.
    pub async fn find(&mut self, method: &str) -> ReceivedMessage {
        loop {
            let message = self.recv_or_panic(method).await;
            if message.method() == method {
                return message;
            }
        }
    }

    /// Receives the client's response to a [`request`](Self::request), skipping
    /// other messages.
    ///
    /// # Panics
    ///
    /// Panics if none arrives.
    pub async fn response_to(&mut self, id: &Value) -> ReceivedMessage {
        loop {
            let message = self.recv_or_panic("a response").await;
            if message.method().is_empty() && message.id() == id {
                return message;
            }
        }
    }

    /// Waits for the client to close the link, skipping its messages.
    ///
    /// # Panics
    ///
    /// Panics if it does not close the link.
    pub async fn wait_closed(&mut self) {
        let max_wait = self.timeout;
        let end = async { while self.recv().await.is_some() {} };
        if timeout(max_wait, end).await.is_err() {
            panic!("the client did not close the link within {max_wait:?}");
        }
    }

    async fn recv_or_panic(&mut self, expected: &str) -> ReceivedMessage {
        let max_wait = self.timeout;
        match timeout(max_wait, self.recv()).await {
            Ok(Some(message)) => message,
            Ok(None) => panic!("the client closed the link; expected {expected}"),
            Err(_) => {
                panic!("the client sent nothing for {max_wait:?}; expected {expected}")
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
    /// Panics if the client does not open it as it should.
    pub async fn open(&mut self, profile: &ServerProfile) {
        let opened = self.try_open(profile).await;
        assert!(
            opened,
            "the client closed the link before the session was open"
        );
    }

    /// Opens the session; returns whether the client kept the link open.
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
                _ => panic!(
                    "unexpected first message from the client: {}",
                    message.json()
                ),
            }
        }
        false
    }

    /// Responds to requests with `respond`, until the client closes the link.
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

/// Sending.
impl FakeSession {
    /// Responds to a request. In the stateless era the result is marked
    /// complete, unless it has a result type.
    pub async fn respond(&mut self, request: &ReceivedMessage, mut result: Value) {
        if self.stateless && result.is_object() && result["resultType"].is_null() {
            result["resultType"] = json!("complete");
        }
        let response = json!({"jsonrpc": "2.0", "id": request.id(), "result": result});
        self.send(response).await;
    }

    /// Responds to a request with an error.
    pub async fn respond_error(&mut self, request: &ReceivedMessage, error: ErrorObject) {
        self.send(json!({"jsonrpc": "2.0", "id": request.id(), "error": error}))
            .await;
    }

    /// Ends a round of a request with questions: requests without envelopes, by
    /// key, as in the stateless era.
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
    /// Panics if it did not.
    pub async fn progress(&mut self, request: &ReceivedMessage, done: f64, total: f64) {
        let token = &request.params()["_meta"]["progressToken"];
        assert!(
            !token.is_null(),
            "the request has no progress token: {}",
            request.json()
        );
        let params = json!({"progressToken": token, "progress": done, "total": total});
        self.notify("notifications/progress", params).await;
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Sends a request to the client, as servers of the handshake era may.
    /// Returns the id, for [`response_to`](Self::response_to).
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
        // The test notices a closed link when it reads.
        self.peer.send_frame(frame.into()).await;
    }

    /// Closes the link.
    pub fn close(self) {}
}

fn unsupported(profile: &ServerProfile) -> ErrorObject {
    let error = ErrorObject::new(
        code::UNSUPPORTED_PROTOCOL_VERSION,
        "Unsupported protocol version",
    );
    match RawJson::encode(&json!({"supported": [profile.version()]})) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}
