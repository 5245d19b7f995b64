//! What the adversary's tools act upon, and what is known of all that happened.

use std::{
    collections::BTreeMap,
    fmt,
    future::pending,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bowline::server::Result;
use tokio::time::{Instant, sleep};

use crate::{server::replay::program, sync::lock};

/// How long a conversation may go on.
pub(crate) const LIFE: Duration = Duration::from_secs(600);

/// What all nodes share.
pub(crate) struct World {
    began: Instant,
    ledger: Mutex<Ledger>,
    /// How many more operations on the store fail.
    pub(crate) faults: AtomicUsize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) conversations: Vec<Origin>,
    pub(crate) effects: Vec<Effect>,
}

/// How a conversation began.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) argument: String,
    pub(crate) principal: String,
    pub(crate) at: Duration,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) conversation: usize,
    pub(crate) name: String,
    pub(crate) argument: String,
    pub(crate) principal: String,
    /// The answers that were known, by question.
    pub(crate) known: BTreeMap<String, String>,
    pub(crate) at: Duration,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            argument,
            principal,
            known,
            at,
            ..
        } = self;
        write!(
            f,
            "{at:?}: {name:?} for {argument:?} of {principal}, knowing {known:?}"
        )
    }
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            ledger: Mutex::default(),
            faults: AtomicUsize::new(0),
        })
    }

    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn ledger(&self) -> Ledger {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }
}

/// A node's hold on the world, which it loses when it is killed: nothing that
/// it does comes to anything then, not even to an end.
#[derive(Clone)]
pub(crate) struct Hold {
    pub(crate) world: Arc<World>,
    alive: Arc<AtomicBool>,
    /// Until when it stands still, in milliseconds of the world.
    stalled: Arc<AtomicU64>,
}

impl Hold {
    pub(crate) fn new(world: &Arc<World>) -> Self {
        Self {
            world: Arc::clone(world),
            alive: Arc::new(AtomicBool::new(true)),
            stalled: Arc::new(AtomicU64::new(0)),
        }
    }

    pub(crate) fn kill(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    /// The node does nothing until then, and goes on as if no time had passed.
    pub(crate) fn stall(&self, until: Duration) {
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.stalled.store(until, Ordering::SeqCst);
    }

    /// Waits for ever if the node is dead, and for a while if it stands still.
    pub(crate) async fn living(&self) {
        let until = Duration::from_millis(self.stalled.load(Ordering::SeqCst));
        sleep(until.saturating_sub(self.world.now())).await;
        if !self.alive.load(Ordering::SeqCst) {
            pending::<()>().await;
        }
    }

    /// A conversation begins; the number that it has from now on.
    pub(crate) async fn draw(&self, argument: &str, principal: &str) -> Result<usize> {
        self.living().await;
        let at = self.world.now();
        let mut ledger = self.world.lock();
        ledger.conversations.push(Origin {
            argument: argument.to_owned(),
            principal: principal.to_owned(),
            at,
        });
        Ok(ledger.conversations.len() - 1)
    }
}

/// What one run of a tool knows.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) conversation: usize,
    pub(crate) argument: String,
    pub(crate) principal: String,
    known: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Scene {
    pub(crate) fn new(conversation: usize, argument: &str, principal: Option<&str>) -> Self {
        Self {
            conversation,
            argument: argument.to_owned(),
            principal: principal.unwrap_or("nobody").to_owned(),
            known: Arc::default(),
        }
    }

    pub(crate) fn hear(&self, question: &str, answer: &str) {
        self.lock().insert(question.to_owned(), answer.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        lock(&self.known)
    }

    /// Something that happens, and takes so many seconds.
    pub(crate) async fn effect(&self, hold: &Hold, name: &str, seconds: u64) -> Result<String> {
        hold.living().await;
        let effect = Effect {
            conversation: self.conversation,
            name: name.to_owned(),
            argument: self.argument.clone(),
            principal: self.principal.clone(),
            known: self.lock().clone(),
            at: hold.world.now(),
        };
        hold.world.lock().effects.push(effect);
        sleep(Duration::from_secs(seconds)).await;
        hold.living().await;
        Ok(name.to_owned())
    }
}

tokio::task_local! {
    /// The run of a random program that is polled.
    pub(crate) static SCENE: Scene;
}

impl program::World for Hold {
    fn world(&self) -> u64 {
        0
    }

    async fn note(&self, _: &str, what: &str) -> Result<String> {
        let scene = SCENE.get();
        scene.effect(self, what, 0).await
    }

    fn heard(&self, question: &str, answer: &str) {
        SCENE.with(|scene| scene.hear(question, answer));
    }
}
