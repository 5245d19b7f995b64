//! One POST and its answer, however that comes.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{
    Method, StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
};
use tokio::time::timeout;

use super::{
    answer::Answer,
    body::{self, NoBody},
    events::{End, Events},
    letter::{Kind, Letter},
    outbox::Outbox,
    talk::{Talk, wait_of},
    words::quoted,
};
use crate::{
    proto::{
        http::{
            is_event_stream, is_json,
            resume::{Resumption, StreamEnd},
        },
        jsonrpc::{Envelope, Messages, scan, split},
    },
    transport::{Cause, CauseKind, HttpRefusal, LinkEvent, Refusal},
};

/// How long a server may take to acknowledge a message that wants no answer.
/// Others may wait for that: see the link's gate.
const ACKNOWLEDGE: Duration = Duration::from_secs(30);

/// One exchange.
pub(super) struct Exchange {
    talk: Arc<Talk>,
    outbox: Outbox,
    id: Option<u64>,
    kind: Kind,
    /// Whether answers come over another stream, so that a POST has none.
    acknowledged_only: bool,
}

impl Exchange {
    pub(super) fn new(
        talk: Arc<Talk>,
        outbox: Outbox,
        letter: &Letter,
        acknowledged_only: bool,
    ) -> Self {
        Self {
            talk,
            outbox,
            id: letter.id,
            kind: letter.kind,
            acknowledged_only,
        }
    }

    /// Posts the letter, and sees to its answer. Where there is none, says so.
    pub(super) async fn run(self, letter: Letter) {
        let done = match self.id {
            // The connection has a deadline for it, and gives it up.
            Some(_) => self.post(letter).await,
            None => match timeout(ACKNOWLEDGE, self.post(letter)).await {
                Ok(done) => done,
                Err(_) => {
                    let why = "it did not acknowledge a message in time";
                    Err(broke_the_protocol(why.to_owned()))
                }
            },
        };
        if let Err(refusal) = done {
            let id = self.id;
            self.outbox.put(LinkEvent::Refused { id, refusal }).await;
        }
    }

    async fn post(&self, letter: Letter) -> Result<(), Refusal> {
        let session = self.talk.session();
        let mut response = self
            .talk
            .send(Method::POST, &letter.heading, letter.frame)
            .await?;
        let status = response.status();
        if !status.is_success() {
            if let (StatusCode::NOT_FOUND, Some(session)) = (status, &session) {
                self.talk.lost(session);
            }
            let refusal = self.talk.refusal(&mut response).await;
            return Err(Refusal::Status(refusal));
        }
        if self.acknowledged_only || self.id.is_none() {
            body::drain(response).await;
            return Ok(());
        }
        if self.kind == Kind::Initialize {
            let opened = self.talk.opened(response.headers());
            opened.map_err(|error| broke_the_protocol(error.to_string()))?;
        }
        self.answer(response).await
    }

    async fn answer(&self, response: Answer) -> Result<(), Refusal> {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.map(HeaderValue::as_bytes).unwrap_or_default();
        if is_event_stream(kind) {
            return self.stream(response).await;
        }
        if matches!(
            response.status(),
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT
        ) {
            let why = "it accepted a request and did not answer it";
            return Err(broke_the_protocol(why.to_owned()));
        }
        if !is_json(kind) {
            let why = format!("it answered with content of the type {}", quoted(kind));
            return Err(broke_the_protocol(why));
        }
        self.json(response).await
    }

    async fn json(&self, mut response: Answer) -> Result<(), Refusal> {
        let body = match body::whole(&mut response, self.talk.max_frame).await {
            Ok(body) => body,
            Err(NoBody::TooLarge(size)) => {
                self.too_large(size).await;
                return Ok(());
            }
            Err(NoBody::Broken(cause)) => return Err(Refusal::Unanswered(cause)),
        };
        if self.talk.rules().is_some() && is_nameless_error(&body) {
            // It does not say whose error it is; the exchange does.
            return Err(Refusal::Status(HttpRefusal {
                status: response.status().as_u16(),
                body,
                retry_after: None,
            }));
        }
        if self.deliver(body).await {
            return Ok(());
        }
        let why = "its answer is to no request of ours";
        Err(broke_the_protocol(why.to_owned()))
    }

    /// Reads a stream up to the answer, and takes it up again where that is
    /// allowed: by GET, with the place where it broke, and never by POST.
    async fn stream(&self, response: Answer) -> Result<(), Refusal> {
        let mut resumption = Resumption::new(self.talk.resumption);
        let mut events = self.events(response);
        loop {
            let cause = match self.read(&mut events, &mut resumption).await {
                Ok(()) => {
                    body::drain(events.into_response()).await;
                    return Ok(());
                }
                Err(End::Broken(cause)) => cause,
                Err(End::TooLarge) => {
                    self.too_large(events.limit().saturating_add(1)).await;
                    return Ok(());
                }
                Err(End::Unruly(error)) => return Err(broke_the_protocol(error.to_string())),
            };
            let resumes = self.talk.rules().is_some_and(|rules| rules.resumption);
            if !resumes {
                return Err(Refusal::Unanswered(cause));
            }
            events = self.resume(&mut resumption, cause).await?;
        }
    }

    /// Comes back for the rest of a stream that broke.
    async fn resume(&self, resumption: &mut Resumption, cause: Cause) -> Result<Events, Refusal> {
        let mut end = resumption.broke(self.talk.now());
        loop {
            let StreamEnd::Resume { at, last_event_id } = end else {
                return Err(Refusal::Unanswered(cause));
            };
            self.talk.wait_until(at).await;
            end = match self.talk.get_stream(Some(&last_event_id)).await {
                Ok(response) if is_stream(&response) => return Ok(self.events(response)),
                Ok(response) => {
                    let (status, wait) = (response.status().as_u16(), wait_of(&response));
                    body::drain(response).await;
                    resumption.refused(self.talk.now(), status, wait)
                }
                Err(_) => resumption.broke(self.talk.now()),
            };
        }
    }

    /// Reads until the answer is there.
    async fn read(&self, events: &mut Events, resumption: &mut Resumption) -> Result<(), End> {
        loop {
            let event = events.next().await?;
            resumption.saw(&event);
            if let Some(message) = event.message()
                && self.deliver(message.clone()).await
            {
                return Ok(());
            }
        }
    }

    /// Hands a frame over. Says whether it holds the answer.
    async fn deliver(&self, frame: Bytes) -> bool {
        let answered = match split(&frame) {
            Ok(Messages::One(message)) => self.is_answer(message),
            Ok(Messages::Batch(messages)) => {
                let answers = messages
                    .into_iter()
                    .filter(|message| self.is_answer(message));
                answers.count() > 0
            }
            Err(_) => false,
        };
        self.outbox.put(LinkEvent::Frame(frame)).await;
        answered
    }

    fn is_answer(&self, message: &[u8]) -> bool {
        match scan(message) {
            Ok(Envelope::Response { id, result, .. }) if id.as_u64() == self.id => {
                if let Kind::ListTools { first } = self.kind {
                    self.talk.listed_tools(result, first);
                }
                true
            }
            Ok(Envelope::Error { id, .. }) => id.is_some_and(|id| id.as_u64() == self.id),
            _ => false,
        }
    }

    /// Reports an answer over the limit. The exchange tells whose it was to be,
    /// better than its first bytes would.
    async fn too_large(&self, size: usize) {
        let id = self.id.unwrap_or_default();
        let prefix = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).into();
        self.outbox.put(LinkEvent::Oversize { size, prefix }).await;
    }

    fn events(&self, response: Answer) -> Events {
        Events::new(response, self.talk.max_frame, self.talk.limits.comments)
    }
}

/// Whether an answer is an event stream.
pub(super) fn is_stream(response: &Answer) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    response.status() == StatusCode::OK && kind.is_some_and(|kind| is_event_stream(kind.as_bytes()))
}

fn is_nameless_error(body: &[u8]) -> bool {
    matches!(scan(body), Ok(Envelope::Error { id: None, .. }))
}

fn broke_the_protocol(why: String) -> Refusal {
    Refusal::Unanswered(CauseKind::Violation(why).into())
}
