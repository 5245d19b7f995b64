//! How much an issuer is asked: one question at a time about a token, few at
//! once, and few in a second; and of these only a part for one caller.

use std::{
    collections::HashMap,
    future::Future,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

use super::{Grant, Refusal, fetch::TIME};

/// How many questions may be under way at once, unless given.
const CONCURRENT: usize = 32;
/// How many questions may be asked in a second, unless given.
const PER_SECOND: u32 = 100;
/// One caller may have one in so many of these, and as many are kept for tokens
/// that were good before.
const SHARE: u32 = 4;
/// How many callers are counted at once. Whoever asked nothing for a second
/// need not be.
const MAX_PEERS: usize = 10_000;

type Said = Result<Grant, Refusal>;

/// Asks within limits.
pub(super) struct Throttle {
    /// Questions under way, by digests of their tokens. Those who have the same
    /// question wait for the same answer.
    under_way: Mutex<HashMap<String, Arc<Question>>>,
    /// Places for questions.
    places: Semaphore,
    /// Those among them that tokens may have of which nothing is known.
    places_for_unknown: Semaphore,
    rate: Mutex<Rate>,
    peers: Mutex<HashMap<IpAddr, Arc<Peer>>>,
    concurrent: usize,
    per_second: u32,
}

/// What is asked on behalf of whom.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    /// A digest of the token.
    pub(super) key: &'a str,
    /// Whether it was good when it was last asked about.
    pub(super) was_good: bool,
    /// Who brought it, where that is known.
    pub(super) peer: Option<IpAddr>,
}

/// One question. Its lock is held by whoever asks it.
#[derive(Default)]
struct Question(tokio::sync::Mutex<Option<Said>>);

/// What one caller may ask about tokens of which nothing is known.
struct Peer {
    places: Semaphore,
    rate: Mutex<Rate>,
}

/// How many questions may be asked at once now; more as time passes.
struct Rate {
    per_second: f64,
    left: f64,
    counted: Instant,
}

impl Throttle {
    pub(super) fn new() -> Self {
        Self::with(CONCURRENT, PER_SECOND)
    }

    fn with(concurrent: usize, per_second: u32) -> Self {
        let concurrent = concurrent.clamp(1, Semaphore::MAX_PERMITS);
        let per_second = per_second.max(1);
        let kept = concurrent / SHARE as usize;
        Self {
            under_way: Mutex::default(),
            places: Semaphore::new(concurrent),
            places_for_unknown: Semaphore::new(concurrent - kept),
            rate: Mutex::new(Rate::new(per_second)),
            peers: Mutex::default(),
            concurrent,
            per_second,
        }
    }

    pub(super) fn set_concurrent(&mut self, most: usize) {
        *self = Self::with(most, self.per_second);
    }

    pub(super) fn set_per_second(&mut self, most: u32) {
        *self = Self::with(self.concurrent, most);
    }

    /// Asks about a token, unless somebody does. Tokens that were good a while
    /// ago are always asked about, so that those who come with anything else
    /// cannot shut them out.
    pub(super) async fn ask(&self, about: About<'_>, ask: impl Future<Output = Said>) -> Said {
        let mut waiting = Waiting::new(self, about.key);
        let question = Arc::clone(&waiting.question);
        // If whoever asks goes away, the next in line asks.
        let mut answer = question.0.lock().await;
        if let Some(said) = &*answer {
            return said.clone();
        }
        let place = timeout(TIME, self.place(about)).await;
        let said = match place {
            Ok(Some(_place)) => {
                let said = ask.await;
                *answer = Some(said.clone());
                said
            }
            // The others may try for themselves.
            Ok(None) | Err(_) => Err(Refusal::Unavailable),
        };
        waiting.is_done = true;
        said
    }

    /// Waits for a place; there is none for those who ask too often.
    async fn place(&self, about: About<'_>) -> Option<Place<'_>> {
        let mut place = Place::default();
        if !about.was_good {
            if let Some(peer) = about.peer {
                let peer = self.peer(peer)?;
                if !lock(&peer.rate).take() {
                    return None;
                }
                place.of_peer = Some(PeerPlace::of(peer).await?);
            }
            if !lock(&self.rate).take() {
                return None;
            }
            place.for_unknown = Some(self.places_for_unknown.acquire().await.ok()?);
        }
        place.of_all = Some(self.places.acquire().await.ok()?);
        Some(place)
    }

    /// What a caller may ask; nothing if there are too many to count.
    fn peer(&self, address: IpAddr) -> Option<Arc<Peer>> {
        let mut peers = lock(&self.peers);
        if let Some(peer) = peers.get(&address) {
            return Some(Arc::clone(peer));
        }
        if peers.len() >= MAX_PEERS {
            peers.retain(|_, peer| Arc::strong_count(peer) > 1 || !lock(&peer.rate).is_full());
        }
        if peers.len() >= MAX_PEERS {
            return None;
        }
        let peer = Arc::new(Peer {
            places: Semaphore::new((self.concurrent / SHARE as usize).max(1)),
            rate: Mutex::new(Rate::new((self.per_second / SHARE).max(1))),
        });
        peers.insert(address, Arc::clone(&peer));
        Some(peer)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing of ours that holds a lock panics halfway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place for a question, among all of them and among those of its kind.
#[derive(Default)]
struct Place<'a> {
    of_peer: Option<PeerPlace>,
    for_unknown: Option<SemaphorePermit<'a>>,
    of_all: Option<SemaphorePermit<'a>>,
}

/// A place among those of one caller.
struct PeerPlace(Arc<Peer>);

impl PeerPlace {
    async fn of(peer: Arc<Peer>) -> Option<Self> {
        peer.places.acquire().await.ok()?.forget();
        Some(Self(peer))
    }
}

impl Drop for PeerPlace {
    fn drop(&mut self) {
        self.0.places.add_permits(1);
    }
}

/// Somebody who waits for the answer to a question, or asks it. The last one
/// takes it out of those that are under way, and so does whoever has asked it:
/// the next question is a new one.
struct Waiting<'a> {
    throttle: &'a Throttle,
    key: &'a str,
    question: Arc<Question>,
    is_done: bool,
}

impl<'a> Waiting<'a> {
    fn new(throttle: &'a Throttle, key: &'a str) -> Self {
        let mut under_way = lock(&throttle.under_way);
        let question = Arc::clone(under_way.entry(key.to_owned()).or_default());
        drop(under_way);
        Self {
            throttle,
            key,
            question,
            is_done: false,
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut under_way = lock(&self.throttle.under_way);
        // Let go of under the lock, so that exactly one is the last.
        let question = std::mem::take(&mut self.question);
        let Some(current) = under_way.get(self.key) else {
            return;
        };
        // Those who wait for this one may already have been followed by others.
        if !Arc::ptr_eq(current, &question) {
            return;
        }
        drop(question);
        if self.is_done || Arc::strong_count(current) == 1 {
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
        self.count();
        let enough = self.left >= 1.0;
        if enough {
            self.left -= 1.0;
        }
        enough
    }

    /// Whether nothing was asked for a while.
    fn is_full(&mut self) -> bool {
        self.count();
        self.left >= self.per_second
    }

    fn count(&mut self) {
        let now = Instant::now();
        let more = (now - self.counted).as_secs_f64() * self.per_second;
        self.left = (self.left + more).min(self.per_second);
        self.counted = now;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, poll_fn},
        pin::pin,
        task::Poll,
    };

    use super::*;

    fn about(key: &str) -> About<'_> {
        About {
            key,
            was_good: false,
            peer: Some([192, 0, 2, 1].into()),
        }
    }

    fn under_way(throttle: &Throttle) -> usize {
        lock(&throttle.under_way).len()
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_is_given_up_before_it_is_asked_leaves_nothing() {
        let throttle = Throttle::new();
        poll_fn(|cx| {
            // A task that has done much already is told to wait.
            while pin!(tokio::task::consume_budget()).poll(cx).is_ready() {}
            let mut asking = Box::pin(throttle.ask(about("token"), pending()));
            assert!(asking.as_mut().poll(cx).is_pending());
            drop(asking);
            Poll::Ready(())
        })
        .await;
        assert_eq!(under_way(&throttle), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_asks_if_the_first_one_leaves() {
        let throttle = Throttle::new();
        let mut first = Box::pin(throttle.ask(about("token"), pending()));
        let refused = async { Err(Refusal::Invalid("it is made up")) };
        let mut second = Box::pin(throttle.ask(about("token"), refused));
        poll_fn(|cx| {
            assert!(first.as_mut().poll(cx).is_pending());
            assert!(second.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        drop(first);
        assert_eq!(under_way(&throttle), 1, "the second one waits");
        let refused = second.await.map(drop);
        assert_eq!(refused, Err(Refusal::Invalid("it is made up")));
        assert_eq!(under_way(&throttle), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_are_forgotten_who_ask_nothing_more() {
        let throttle = Throttle::with(32, u32::MAX);
        for number in 0..=MAX_PEERS {
            let [.., high, middle, low] = number.to_be_bytes();
            let about = About {
                peer: Some([10, high, middle, low].into()),
                ..about("token")
            };
            let said = throttle.ask(about, async { Err(Refusal::NotOurs) }).await;
            let unavailable = said.map(drop) == Err(Refusal::Unavailable);
            assert_eq!(unavailable, number == MAX_PEERS, "{number}");
        }
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        let said = throttle.ask(about("token"), async { Err(Refusal::NotOurs) });
        assert_eq!(said.await.map(drop), Err(Refusal::NotOurs));
        assert_eq!(lock(&throttle.peers).len(), 1);
    }
}
