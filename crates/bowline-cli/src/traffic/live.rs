//! Sending recorded requests to a live server, message by message.

use std::{
    future::poll_fn,
    time::{Duration, Instant},
};

use bowline::{
    Revision,
    model::method,
    proto::jsonrpc::{RequestId, code},
    transport::{DialOptions, Link, LinkEvent, OutgoingFrame, SendError, Transport},
};
use serde_json::{Value, json};

use super::{
    exchange::ServerMessage,
    message::{Message, Request, ResponseBody},
};
use crate::{
    failure::{Failure, FailureKind},
    shutdown::Shutdown,
};

/// A link to a live server, with one request in flight at a time.
pub(super) struct LiveLink {
    link: Box<dyn Link>,
    last_id: u64,
    timeout: Duration,
    /// The last request state from the server, to be sent back.
    request_state: Option<Value>,
}

impl LiveLink {
    pub(super) async fn dial(
        mut transport: Box<dyn Transport>,
        timeout: Duration,
        shutdown: &Shutdown,
    ) -> Result<Self, Failure> {
        let mut dial = DialOptions::default();
        dial.close_tracker = shutdown.links();
        let dialing = transport.dial(dial);
        let link = tokio::time::timeout(timeout, dialing)
            .await
            .map_err(|_| timeout_failure("connecting", timeout))?;
        let link = link.map_err(|cause| Failure::from(&cause))?;
        Ok(Self {
            link,
            last_id: 0,
            timeout,
            request_state: None,
        })
    }

    /// Repeats a recorded request, and answers the server's questions as
    /// recorded.
    pub(super) async fn request(
        &mut self,
        request: &Request,
        steps: &[ServerMessage],
    ) -> Result<ResponseBody, Failure> {
        let mut params = request.params.clone();
        if let (Some(slot), Some(state)) = (params.get_mut("requestState"), &self.request_state) {
            *slot = state.clone();
        }
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": request.method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(Some(id), message.to_string()).await?;
        let deadline = Instant::now() + self.timeout;
        let responses = steps.iter().filter_map(|step| match step {
            ServerMessage::Request { request, body } => Some((request, body.as_ref()?)),
            ServerMessage::Notification(_) => None,
        });
        let mut responses: Vec<_> = responses.collect();
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let event = poll_fn(|cx| {
                // Queued frames are flushed in the meantime.
                let _ = self.link.poll_flush(cx);
                self.link.poll_event(cx)
            });
            let event = tokio::time::timeout(remaining, event).await;
            let event = event.map_err(|_| timeout_failure(&request.label(), self.timeout))?;
            for message in self.messages(id, event)? {
                match message {
                    Message::Response {
                        id: response_id,
                        body,
                    } if response_id == RequestId::from(id) => {
                        self.remember_request_state(&body);
                        return Ok(body);
                    }
                    Message::Request(question) => {
                        let body = take_response(&mut responses, &question);
                        self.send(None, body.frame(&question.id)).await?;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Sends a notification.
    pub(super) async fn notify(&mut self, method: &str) -> Result<(), Failure> {
        let message = json!({"jsonrpc": "2.0", "method": method});
        self.send(None, message.to_string()).await
    }

    /// Sets the revision from here on.
    pub(super) fn set_revision(&mut self, revision: Revision) {
        self.link.set_revision(revision);
    }

    pub(super) fn close(self) {
        self.link.close();
    }

    fn remember_request_state(&mut self, body: &ResponseBody) {
        if let Some(state) = body.value().get("requestState") {
            self.request_state = Some(state.clone());
        }
    }

    async fn send(&mut self, id: Option<u64>, payload: String) -> Result<(), Failure> {
        let mut frame = payload.into();
        loop {
            match self.link.send(OutgoingFrame { id, frame }) {
                Ok(()) => break,
                Err(SendError::Busy(returned)) => frame = returned,
                Err(SendError::Failed(cause) | SendError::NoResponse(cause)) => {
                    return Err(Failure::from(&cause));
                }
                Err(SendError::Status(refusal)) => {
                    return Err(Failure::from(&refusal.to_connection_error()));
                }
            }
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        let flushed = poll_fn(|cx| self.link.poll_flush(cx));
        let flushed = tokio::time::timeout(self.timeout, flushed).await;
        flushed.map_err(|_| timeout_failure("sending", self.timeout))
    }

    /// Returns the messages of an event. An HTTP error status counts as a
    /// response if its body is one.
    fn messages(&self, id: u64, event: LinkEvent) -> Result<Vec<Message>, Failure> {
        match event {
            LinkEvent::Frame(frame) => Ok(Message::parse_all(&String::from_utf8_lossy(&frame))),
            LinkEvent::OversizedFrame { size, .. } => Err(Failure::failed(format!(
                "a message of at least {size} bytes from the server exceeds the limit"
            ))),
            LinkEvent::SendFailed { error: refusal, .. } => match refusal {
                SendError::Status(refusal) => {
                    let body = String::from_utf8_lossy(&refusal.body);
                    let responses = Message::parse_all(&body);
                    let response_body = responses.into_iter().find_map(|message| match message {
                        Message::Response {
                            body: response_body,
                            ..
                        } => Some(response_body),
                        _ => None,
                    });
                    let response_body = response_body
                        .ok_or_else(|| Failure::from(&refusal.to_connection_error()))?;
                    let id = RequestId::from(id);
                    Ok(vec![Message::Response {
                        id,
                        body: response_body,
                    }])
                }
                SendError::Failed(cause) | SendError::NoResponse(cause) => {
                    Err(Failure::from(&cause))
                }
                SendError::Busy(_) => Ok(Vec::new()),
            },
            LinkEvent::Down(cause) => Err(Failure::from(&cause)),
        }
    }
}

/// Takes the recorded response to the first remaining question of this method.
fn take_response(
    responses: &mut Vec<(&Request, &ResponseBody)>,
    question: &Request,
) -> ResponseBody {
    let found = responses
        .iter()
        .position(|(request, _)| request.method == question.method);
    match found {
        Some(at) => responses.remove(at).1.clone(),
        None if question.method == method::PING => ResponseBody::Result("{}".to_owned()),
        None => {
            let message = "the recording has no response to this request";
            let error = json!({"code": code::METHOD_NOT_FOUND, "message": message});
            ResponseBody::Error(error.to_string())
        }
    }
}

fn timeout_failure(operation: &str, timeout: Duration) -> Failure {
    let message = format!("{operation}: timed out after {timeout:?}");
    Failure::new(FailureKind::Timeout, message).hint("raise the limit with --timeout SECONDS")
}
