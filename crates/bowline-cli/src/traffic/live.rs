//! Speaking with a live server as a recording did: message by message.

use std::{
    future::poll_fn,
    time::{Duration, Instant},
};

use bowline::{
    proto::{
        jsonrpc::{RequestId, code},
        model::method,
        revision::Revision,
    },
    transport::{Dial, Link, LinkEvent, Outgoing, Refusal, Transport},
};
use serde_json::{Value, json};

use super::{
    exchange::Step,
    message::{Answer, Message, Request},
};
use crate::{
    departure::Departure,
    failure::{Failure, FailureKind},
};

/// A link to a live server, on which one request is under way at a time.
pub(super) struct Live {
    link: Box<dyn Link>,
    requests: u64,
    patience: Duration,
    /// The state that the server gave us last, to be given back.
    state: Option<Value>,
}

impl Live {
    pub(super) async fn dial(
        mut transport: Box<dyn Transport>,
        patience: Duration,
        departure: &Departure,
    ) -> Result<Self, Failure> {
        let mut dial = Dial::default();
        dial.closing = departure.links();
        let dialled = transport.dial(dial);
        let link = tokio::time::timeout(patience, dialled)
            .await
            .map_err(|_| too_long("connecting", patience))?;
        let link = link.map_err(|cause| Failure::from(&cause))?;
        Ok(Self {
            link,
            requests: 0,
            patience,
            state: None,
        })
    }

    /// Makes a request as it was made before, and answers what the server asks
    /// meanwhile as it was answered before.
    pub(super) async fn ask(
        &mut self,
        request: &Request,
        steps: &[Step],
    ) -> Result<Answer, Failure> {
        let mut params = request.params.clone();
        if let (Some(slot), Some(state)) = (params.get_mut("requestState"), &self.state) {
            *slot = state.clone();
        }
        self.requests += 1;
        let id = self.requests;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": request.method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(Some(id), message.to_string()).await?;
        let deadline = Instant::now() + self.patience;
        let answers = steps.iter().filter_map(|step| match step {
            Step::Ask { request, answer } => Some((request, answer.as_ref()?)),
            Step::Tell(_) => None,
        });
        let mut answers: Vec<_> = answers.collect();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = poll_fn(|cx| {
                // What is still queued moves on meanwhile.
                let _ = self.link.poll_flush(cx);
                self.link.poll_event(cx)
            });
            let event = tokio::time::timeout(left, event).await;
            let event = event.map_err(|_| too_long(&request.label(), self.patience))?;
            for message in self.messages(id, event)? {
                match message {
                    Message::Answer { id: its, answer } if its == RequestId::from(id) => {
                        self.remember(&answer);
                        return Ok(answer);
                    }
                    Message::Request(asked) => {
                        let answer = take(&mut answers, &asked);
                        self.send(None, answer.frame(&asked.id)).await?;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Tells the server something.
    pub(super) async fn tell(&mut self, method: &str) -> Result<(), Failure> {
        let message = json!({"jsonrpc": "2.0", "method": method});
        self.send(None, message.to_string()).await
    }

    /// From now on this revision is spoken.
    pub(super) fn settle(&mut self, revision: Revision) {
        self.link.settle(revision);
    }

    pub(super) fn close(self) {
        self.link.close();
    }

    fn remember(&mut self, answer: &Answer) {
        if let Some(state) = answer.value().get("requestState") {
            self.state = Some(state.clone());
        }
    }

    async fn send(&mut self, id: Option<u64>, text: String) -> Result<(), Failure> {
        let mut frame = text.into();
        loop {
            match self.link.send(Outgoing { id, frame }) {
                Ok(()) => break,
                Err(Refusal::Busy(back)) => frame = back,
                Err(Refusal::Failed(cause) | Refusal::Unanswered(cause)) => {
                    return Err(Failure::from(&cause));
                }
                Err(Refusal::Status(refusal)) => return Err(Failure::from(&refusal.cause())),
            }
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        let flushed = poll_fn(|cx| self.link.poll_flush(cx));
        let flushed = tokio::time::timeout(self.patience, flushed).await;
        flushed.map_err(|_| too_long("sending", self.patience))
    }

    /// What an event brings. A refusal by HTTP is an answer if it says so.
    fn messages(&self, id: u64, event: LinkEvent) -> Result<Vec<Message>, Failure> {
        match event {
            LinkEvent::Frame(frame) => Ok(Message::all(&String::from_utf8_lossy(&frame))),
            LinkEvent::Oversize { size, .. } => Err(Failure::failed(format!(
                "the server sent a message of {size} bytes or more, which is too large"
            ))),
            LinkEvent::Refused { refusal, .. } => match refusal {
                Refusal::Status(refusal) => {
                    let body = String::from_utf8_lossy(&refusal.body);
                    let answers = Message::all(&body);
                    let answer = answers.into_iter().find_map(|message| match message {
                        Message::Answer { answer, .. } => Some(answer),
                        _ => None,
                    });
                    let answer = answer.ok_or_else(|| Failure::from(&refusal.cause()))?;
                    let id = RequestId::from(id);
                    Ok(vec![Message::Answer { id, answer }])
                }
                Refusal::Failed(cause) | Refusal::Unanswered(cause) => Err(Failure::from(&cause)),
                Refusal::Busy(_) => Ok(Vec::new()),
            },
            LinkEvent::Down(cause) => Err(Failure::from(&cause)),
        }
    }
}

/// What was said to the first question of this kind that is left.
fn take(answers: &mut Vec<(&Request, &Answer)>, asked: &Request) -> Answer {
    let found = answers
        .iter()
        .position(|(request, _)| request.method == asked.method);
    match found {
        Some(at) => answers.remove(at).1.clone(),
        None if asked.method == method::PING => Answer::Result("{}".to_owned()),
        None => {
            let message = "the recording has no answer to this";
            let error = json!({"code": code::METHOD_NOT_FOUND, "message": message});
            Answer::Error(error.to_string())
        }
    }
}

fn too_long(what: &str, patience: Duration) -> Failure {
    let message = format!("{what}: no answer within {patience:?}");
    Failure::new(FailureKind::Timeout, message).hint("give it more time with --timeout SECONDS")
}
