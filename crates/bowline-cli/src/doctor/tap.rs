//! Listens to the opening of a session: which questions were asked, and how
//! long the answers took.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bowline::{
    proto::revision::{Era, Revision},
    transport::{BoxFuture, Cause, Dial, Link, LinkEvent, Outgoing, Refusal, Transport, Wire},
};
use serde::Deserialize;

/// What was heard.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Notes>>);

#[derive(Default)]
struct Notes {
    /// How long the last dial took.
    dialled: Option<Duration>,
    questions: Vec<Question>,
}

/// A question of the opening.
#[derive(Clone, Debug)]
pub(super) struct Question {
    id: u64,
    asked: Instant,
    pub(super) method: String,
    /// How long it took until it was answered, and whether with an error.
    pub(super) answered: Option<(Duration, bool)>,
}

/// What of a message matters here.
#[derive(Deserialize)]
struct Glimpse<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    error: Option<serde::de::IgnoredAny>,
}

impl Heard {
    /// How long it took to have a link.
    pub(super) fn dialled(&self) -> Option<Duration> {
        self.notes().dialled
    }

    /// The first question of this method.
    pub(super) fn question(&self, method: &str) -> Option<Question> {
        let notes = self.notes();
        let mut questions = notes.questions.iter();
        questions
            .find(|question| question.method == method)
            .cloned()
    }

    fn sent(&self, outgoing: &Outgoing) {
        let (Some(id), Ok(glimpse)) = (outgoing.id, glimpse(&outgoing.frame)) else {
            return;
        };
        let method = glimpse.method.unwrap_or_default().into_owned();
        self.notes().questions.push(Question {
            id,
            asked: Instant::now(),
            method,
            answered: None,
        });
    }

    fn received(&self, frame: &[u8]) {
        let Ok(Glimpse {
            id: Some(id),
            method: None,
            error,
        }) = glimpse(frame)
        else {
            return;
        };
        let mut notes = self.notes();
        let question = notes
            .questions
            .iter_mut()
            .find(|question| question.id == id);
        if let Some(question) = question {
            let took = question.asked.elapsed();
            question.answered.get_or_insert((took, error.is_some()));
        }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn glimpse(frame: &[u8]) -> serde_json::Result<Glimpse<'_>> {
    serde_json::from_slice(frame)
}

/// A way that is listened to.
pub(super) struct Tap {
    inner: Box<dyn Transport>,
    heard: Heard,
}

impl Tap {
    pub(super) fn new(inner: Box<dyn Transport>, heard: &Heard) -> Self {
        let heard = heard.clone();
        Self { inner, heard }
    }
}

impl Transport for Tap {
    fn dial(&mut self, dial: Dial) -> BoxFuture<'static, Result<Box<dyn Link>, Cause>> {
        let (began, heard) = (Instant::now(), self.heard.clone());
        let dialling = self.inner.dial(dial);
        Box::pin(async move {
            let inner = dialling.await?;
            heard.notes().dialled = Some(began.elapsed());
            Ok(Box::new(TappedLink { inner, heard }) as Box<dyn Link>)
        })
    }

    fn wire(&self) -> Wire {
        self.inner.wire()
    }

    fn known_era(&self) -> Option<Era> {
        self.inner.known_era()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

struct TappedLink {
    inner: Box<dyn Link>,
    heard: Heard,
}

impl Link for TappedLink {
    fn send(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        self.heard.sent(&outgoing);
        self.inner.send(outgoing)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = self.inner.poll_event(cx);
        if let Poll::Ready(LinkEvent::Frame(frame)) = &event {
            self.heard.received(frame);
        }
        event
    }

    fn abort(&mut self, id: u64) {
        self.inner.abort(id);
    }

    fn settle(&mut self, revision: Revision) {
        self.inner.settle(revision);
    }

    fn close(self: Box<Self>) {
        self.inner.close();
    }
}
