//! How much an issuer is asked: one question at a time about a token, few at
//! once, and few in a second.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};

use super::{Grant, Refusal, fetch::TIME};

/// How many questions may be under way at once, unless given.
const CONCURRENT: usize = 32;
/// How many questions may be asked in a second, unless given.
const PER_SECOND: u32 = 100;

type Said = Result<Grant, Refusal>;

/// Asks within limits.
pub(super) struct Throttle {
    /// Questions under way, by digests of their tokens. Those who have the same
    /// question wait for the same answer.
    under_way: Mutex<HashMap<String, Arc<Question>>>,
    places: Semaphore,
    rate: Mutex<Rate>,
}

/// One question. Its lock is held by whoever asks it.
#[derive(Default)]
struct Question(tokio::sync::Mutex<Option<Said>>);

/// How many questions may be asked at once now; more as time passes.
struct Rate {
    per_second: f64,
    left: f64,
    counted: Instant,
}

impl Throttle {
    pub(super) fn new() -> Self {
        Self {
            under_way: Mutex::default(),
            places: Semaphore::new(CONCURRENT),
            rate: Mutex::new(Rate::new(PER_SECOND)),
        }
    }

    pub(super) fn set_concurrent(&mut self, most: usize) {
        self.places = Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
    }

    pub(super) fn set_per_second(&mut self, most: u32) {
        self.rate = Mutex::new(Rate::new(most.max(1)));
    }

    /// Asks about a token, unless somebody does. Tokens that were good a while
    /// ago are always asked about, so that those who come with anything else
    /// cannot shut them out.
    pub(super) async fn ask(
        &self,
        key: &str,
        was_good: bool,
        ask: impl Future<Output = Said>,
    ) -> Said {
        let question = Arc::clone(self.under_way().entry(key.to_owned()).or_default());
        // If whoever asks goes away, the next in line asks.
        let mut answer = question.0.lock().await;
        if let Some(said) = &*answer {
            return said.clone();
        }
        let _done = Done {
            throttle: self,
            key,
            question: &question,
        };
        if !was_good && !self.rate().take() {
            return Err(Refusal::Unavailable);
        }
        let place = timeout(TIME, self.places.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(Refusal::Unavailable);
        };
        let said = ask.await;
        *answer = Some(said.clone());
        said
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<String, Arc<Question>>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn rate(&self) -> MutexGuard<'_, Rate> {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a question out of those that are under way, whatever came of it: the
/// next one is a new one.
struct Done<'a> {
    throttle: &'a Throttle,
    key: &'a str,
    question: &'a Arc<Question>,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut under_way = self.throttle.under_way();
        // Those who wait for this one may already have been followed by others.
        if under_way
            .get(self.key)
            .is_some_and(|it| Arc::ptr_eq(it, self.question))
        {
            under_way.remove(self.key);
        }
    }
}

impl Rate {
    fn new(per_second: u32) -> Self {
        Self {
            per_second: f64::from(per_second),
            left: f64::from(per_second),
            counted: Instant::now(),
        }
    }

    fn take(&mut self) -> bool {
        let now = Instant::now();
        let passed: Duration = now - self.counted;
        let more = passed.as_secs_f64() * self.per_second;
        self.left = (self.left + more).min(self.per_second);
        self.counted = now;
        let enough = self.left >= 1.0;
        if enough {
            self.left -= 1.0;
        }
        enough
    }
}
