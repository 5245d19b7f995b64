//! Listens to the opening of a session: which questions were asked, and how
//! long the answers took.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::traffic::{Happening, Watcher};

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

    fn sent(&self, frame: &[u8]) {
        let Ok(Glimpse {
            id: Some(id),
            method: Some(method),
            ..
        }) = glimpse(frame)
        else {
            return;
        };
        self.notes().questions.push(Question {
            id,
            asked: Instant::now(),
            method: method.into_owned(),
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
        self.answered(id, error.is_some());
    }

    fn answered(&self, id: u64, with_error: bool) {
        let mut notes = self.notes();
        let question = notes
            .questions
            .iter_mut()
            .find(|question| question.id == id);
        if let Some(question) = question {
            let took = question.asked.elapsed();
            question.answered.get_or_insert((took, with_error));
        }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Heard {
    fn see(&self, _link: u32, happening: &Happening<'_>) {
        match happening {
            Happening::Up { took, .. } => self.notes().dialled = Some(*took),
            Happening::Sent(frame) => self.sent(frame),
            Happening::Received(frame) => self.received(frame),
            // A status in place of an answer is one, too.
            Happening::Refused { id: Some(id), .. } => self.answered(*id, true),
            _ => {}
        }
    }
}

fn glimpse(frame: &[u8]) -> serde_json::Result<Glimpse<'_>> {
    serde_json::from_slice(frame)
}
