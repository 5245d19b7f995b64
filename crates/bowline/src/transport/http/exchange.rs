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
    outbox::Watch,
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

/// What a frame is to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It holds the answer.
    Answer,
    /// It is an error that names no request.
    NamelessError,
    Other,
}

/// One exchange.
pub(super) struct Exchange {
    talk: Arc<Talk>,
    over: Watch,
    id: Option<u64>,
    kind: Kind,
    /// Whether answers come over another stream, so that a POST has none.
    acknowledged_only: bool,
}

impl Exchange {
    pub(super) fn new(
        talk: Arc<Talk>,
        over: Watch,
        letter: &Letter,
        acknowledged_only: bool,
    ) -> Self {
        Self {
            talk,
            over,
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
            None => {
                let posting = Box::pin(self.post(letter));
                timeout(ACKNOWLEDGE, posting).await.unwrap_or_else(|_| {
                    let why = "it did not acknowledge a message in time";
                    Err(broke_the_protocol(why.to_owned()))
                })
            }
        };
        let last = match done {
            Ok(None) => return,
            Ok(Some(frame)) => LinkEvent::Frame(frame),
            Err(refusal) => LinkEvent::Refused {
                id: self.id,
                refusal,
            },
        };
        self.over.put_last(last).await;
    }

    /// Posts the letter, and waits for its answer. Gives the frame that is left
    /// to be handed over, if one is.
    async fn post(&self, letter: Letter) -> Result<Option<Bytes>, Refusal> {
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
            let refusal = Box::pin(self.talk.refusal(&mut response)).await;
            return Err(Refusal::Status(refusal));
        }
        if self.acknowledged_only || self.id.is_none() {
            Box::pin(body::drain(response)).await;
            return Ok(None);
        }
        if self.kind == Kind::Initialize {
            let opened = self.talk.opened(response.headers());
            opened.map_err(|error| broke_the_protocol(error.to_string()))?;
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.map(HeaderValue::as_bytes).unwrap_or_default();
        if is_event_stream(kind) {
            // In a box: most exchanges have no stream, and need no room for one.
            Box::pin(self.stream(response)).await?;
            return Ok(None);
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            let why = "it accepted a request and did not answer it";
            return Err(broke_the_protocol(why.to_owned()));
        }
        if !is_json(kind) {
            let why = format!("it answered with content of the type {}", quoted(kind));
            return Err(broke_the_protocol(why));
        }
        self.json(&mut response).await
    }

    async fn json(&self, response: &mut Answer) -> Result<Option<Bytes>, Refusal> {
        let body = match body::whole(response, self.talk.max_frame).await {
            Ok(body) => body,
            Err(NoBody::TooLarge(size)) => {
                self.too_large(size).await;
                return Ok(None);
            }
            Err(NoBody::Broken(cause)) => return Err(Refusal::Unanswered(cause)),
        };
        match self.weigh(&body) {
            Weight::Answer => Ok(Some(body)),
            // It does not say whose error it is; the exchange does.
            Weight::NamelessError if self.talk.rules().is_some() => {
                Err(Refusal::Status(HttpRefusal {
                    status: response.status().as_u16(),
                    body,
                    retry_after: None,
                }))
            }
            Weight::NamelessError | Weight::Other => {
                self.over.put(LinkEvent::Frame(body)).await;
                let why = "its answer is to no request of ours";
                Err(broke_the_protocol(why.to_owned()))
            }
        }
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
        let answered = self.weigh(&frame) == Weight::Answer;
        self.over.put(LinkEvent::Frame(frame)).await;
        answered
    }

    /// What a frame is to this exchange.
    fn weigh(&self, frame: &[u8]) -> Weight {
        match split(frame) {
            Ok(Messages::One(message)) => self.weigh_message(message),
            Ok(Messages::Batch(messages)) => {
                let answers = messages
                    .into_iter()
                    .filter(|message| self.weigh_message(message) == Weight::Answer);
                match answers.count() {
                    0 => Weight::Other,
                    _ => Weight::Answer,
                }
            }
            Err(_) => Weight::Other,
        }
    }

    fn weigh_message(&self, message: &[u8]) -> Weight {
        match scan(message) {
            Ok(Envelope::Response { id, result, .. }) if id.as_u64() == self.id => {
                if let Kind::ListTools { first } = self.kind {
                    self.talk.listed_tools(result, first);
                }
                Weight::Answer
            }
            Ok(Envelope::Error { id: None, .. }) => Weight::NamelessError,
            Ok(Envelope::Error { id: Some(id), .. }) if id.as_u64() == self.id => Weight::Answer,
            _ => Weight::Other,
        }
    }

    /// Reports an answer over the limit. The exchange tells whose it was to be,
    /// better than its first bytes would.
    async fn too_large(&self, size: usize) {
        let id = self.id.unwrap_or_default();
        let prefix = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#).into();
        self.over.put(LinkEvent::Oversize { size, prefix }).await;
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

fn broke_the_protocol(why: String) -> Refusal {
    Refusal::Unanswered(CauseKind::Violation(why).into())
}
