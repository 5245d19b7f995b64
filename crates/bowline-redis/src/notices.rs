//! Waiting for changes that other nodes make.
//!
//! Scripts publish the name of what they changed. One connection per process receives
//! what someone here waits for. Messages are lost while it is down, and until Redis has
//! confirmed a subscription: after both, everyone who waits checks again. Besides, no
//! wait is endless: it returns after a while, and its caller checks again.

use std::{
    collections::HashMap,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use bowline::transport::BoxFuture;
use futures_core::Stream as _;
use redis::{
    Msg, RedisResult,
    aio::{PubSubSink, PubSubStream},
};
use tokio::{
    sync::Notify,
    task::AbortHandle,
    time::{Instant, sleep, timeout},
};

use crate::connection::Connection;

/// How long a wait takes at most: the first one for a channel, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_WAIT: Duration = Duration::from_secs(4);
/// How often the connection is checked, and how long a channel is kept that nobody waits
/// for: whoever waited for it often does again at once.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The delay before a connection is opened again.
const RECONNECT_DELAY: Duration = Duration::from_millis(250);
/// The maximum number of channels. Waits for others are only limited in time.
const MAX_CHANNELS: usize = 10_000;

/// The channels that this process listens to.
pub(crate) struct Notices {
    shared: Arc<Shared>,
    listener: OnceLock<AbortHandle>,
}

struct Shared {
    connection: Arc<Connection>,
    channels: Mutex<HashMap<String, Channel>>,
    /// Notified if there are new channels.
    has_new: Notify,
}

struct Channel {
    changed: Arc<Notify>,
    waiters: usize,
    is_subscribed: bool,
    /// When the last waiter left.
    idle_since: Instant,
    next_wait: Duration,
}

impl Notices {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self {
            shared: Arc::new(Shared {
                connection,
                channels: Mutex::default(),
                has_new: Notify::new(),
            }),
            listener: OnceLock::new(),
        }
    }

    /// Returns when something was published to the channel since this was called, or may
    /// have been.
    pub(crate) fn wait(&self, channel: String) -> BoxFuture<'_, ()> {
        let (changed, longest, registered) = self.shared.register(channel);
        // Registered now, so a change before the first poll is not missed.
        let changed = changed.notified_owned();
        self.listener.get_or_init(|| {
            let listening = listen(Arc::clone(&self.shared));
            tokio::spawn(listening).abort_handle()
        });
        Box::pin(async move {
            let _registered = registered;
            tokio::select! {
                () = changed => {}
                () = sleep(longest) => {}
            }
        })
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.get() {
            listener.abort();
        }
    }
}

/// Counts as someone who waits for a channel.
struct Registered {
    shared: Arc<Shared>,
    channel: String,
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(channel) = self.shared.lock().get_mut(&self.channel) {
            channel.waiters -= 1;
            channel.idle_since = Instant::now();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Channel>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a waiter. Returns what it waits for, and for how long.
    fn register(self: &Arc<Self>, name: String) -> (Arc<Notify>, Duration, Option<Registered>) {
        let mut channels = self.lock();
        if channels.len() >= MAX_CHANNELS && !channels.contains_key(&name) {
            return (Arc::default(), FIRST_WAIT, None);
        }
        let channel = channels.entry(name.clone()).or_insert_with(|| Channel {
            changed: Arc::default(),
            waiters: 0,
            is_subscribed: false,
            idle_since: Instant::now(),
            next_wait: FIRST_WAIT,
        });
        channel.waiters += 1;
        let longest = match channel.is_subscribed {
            true => channel.next_wait,
            false => FIRST_WAIT,
        };
        channel.next_wait = MAX_WAIT.min(channel.next_wait * 2);
        if !channel.is_subscribed {
            self.has_new.notify_one();
        }
        let registered = Registered {
            shared: Arc::clone(self),
            channel: name,
        };
        (Arc::clone(&channel.changed), longest, Some(registered))
    }

    /// Wakes those who wait for a channel.
    fn notify(&self, message: &Msg) {
        if let Some(channel) = self.lock().get_mut(message.get_channel_name()) {
            channel.next_wait = FIRST_WAIT;
            channel.changed.notify_waiters();
        }
    }

    fn unsubscribed(&self) -> Vec<String> {
        let channels = self.lock();
        let new = channels.iter().filter(|(_, it)| !it.is_subscribed);
        new.map(|(name, _)| name.clone()).collect()
    }

    /// Notes that Redis confirmed these. What happened before was missed.
    fn confirm(&self, names: &[String]) {
        let mut channels = self.lock();
        for name in names {
            if let Some(channel) = channels.get_mut(name) {
                channel.is_subscribed = true;
                channel.changed.notify_waiters();
            }
        }
    }

    /// Forgets all subscriptions: the connection is gone.
    fn disconnected(&self) {
        for channel in self.lock().values_mut() {
            channel.is_subscribed = false;
            channel.changed.notify_waiters();
        }
    }

    /// Removes channels that nobody has waited for in a while.
    fn take_idle(&self) -> Vec<String> {
        let mut channels = self.lock();
        let is_idle = |channel: &Channel| {
            channel.waiters == 0 && channel.idle_since.elapsed() >= CHECK_INTERVAL
        };
        let idle = channels.iter().filter(|(_, channel)| is_idle(channel));
        let idle: Vec<String> = idle.map(|(name, _)| name.clone()).collect();
        channels.retain(|_, channel| !is_idle(channel));
        idle
    }
}

/// Receives messages whenever someone waits for them, until the task is aborted.
async fn listen(shared: Arc<Shared>) {
    loop {
        while shared.lock().is_empty() {
            shared.has_new.notified().await;
        }
        if let Ok(subscriber) = shared.connection.subscriber().await {
            let (sink, stream) = subscriber.split();
            // An error means that the connection is gone.
            let _ = receive(&shared, sink, stream).await;
            shared.disconnected();
        }
        sleep(RECONNECT_DELAY).await;
        shared.take_idle();
    }
}

async fn receive(
    shared: &Shared,
    mut sink: PubSubSink,
    mut stream: PubSubStream,
) -> RedisResult<()> {
    let limit = shared.connection.timeout();
    loop {
        let new = shared.unsubscribed();
        if !new.is_empty() {
            let Ok(subscribed) = timeout(limit, sink.subscribe(&new)).await else {
                return Ok(());
            };
            subscribed?;
            shared.confirm(&new);
        }
        tokio::select! {
            message = next(&mut stream) => match message {
                Some(message) => shared.notify(&message),
                None => return Ok(()),
            },
            () = shared.has_new.notified() => {}
            () = sleep(CHECK_INTERVAL) => {
                let idle = shared.take_idle();
                let check = async {
                    if !idle.is_empty() {
                        sink.unsubscribe(&idle).await?;
                    }
                    sink.ping::<redis::Value>().await
                };
                let Ok(checked) = timeout(limit, check).await else {
                    return Ok(());
                };
                checked?;
            }
        }
    }
}

async fn next(stream: &mut PubSubStream) -> Option<Msg> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}
