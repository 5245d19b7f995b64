//! Those who look on: their code is not ours.

use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use bowline::{
    Client, client::progress_channel, proto::client::TelemetryEvent, testing::ServerProfile,
};
use serde_json::json;

use super::{connected_with, said};

/// Runs a test on a thread of its own, so that one in which a lock is taken
/// twice fails instead of hanging.
fn unless_stuck(test: impl Future<Output = ()> + Send + 'static) {
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(test);
        done.send(()).expect("somebody waits");
    });
    let ended = waiting.recv_timeout(Duration::from_secs(60));
    ended.expect("it neither panicked nor is it stuck");
}

/// Uses the client in most of the ways that there are without waiting.
fn use_it(client: &Client) {
    drop((client.health(), client.roots(), client.notifications()));
    let _ = client.notify("notifications/acme/seen", &json!({}));
    // Made, and given up at once.
    let mut call = Box::pin(client.ping().into_future());
    let waker = Waker::noop();
    let polled = call.as_mut().poll(&mut Context::from_waker(waker));
    assert!(polled.is_pending());
}

#[test]
fn an_observer_may_use_the_client_that_it_observes() {
    unless_stuck(async {
        let cell = Arc::new(OnceLock::<Client>::new());
        let used = Arc::new(AtomicUsize::new(0));
        let (theirs, counts) = (Arc::clone(&cell), Arc::clone(&used));
        let builder = Client::builder().observer(move |seen| {
            let stops =
                matches!(&seen.event, TelemetryEvent::RequestStop { method, .. } if method == "tools/call");
            if let (true, Some(client)) = (stops, theirs.get()) {
                use_it(client);
                counts.fetch_add(1, Ordering::Relaxed);
            }
        });
        let (client, mut session, _server) =
            connected_with(builder, ServerProfile::handshake()).await;
        cell.set(client.clone()).expect("it is empty");
        let answering = async {
            let call = session.find("tools/call").await;
            session.respond(&call, said("done")).await;
        };
        let call = async { client.tools().call("any", json!({})).await };
        let (result, ()) = tokio::join!(call, answering);
        result.expect("an answer");
        assert_eq!(used.load(Ordering::Relaxed), 1);
        session.find("notifications/acme/seen").await;
        client.stop().await;
    });
}

#[test]
fn what_an_observer_brings_about_is_seen_after_what_it_was_shown() {
    unless_stuck(async {
        let cell = Arc::new(OnceLock::<Client>::new());
        let log = Arc::new(Mutex::new(Vec::new()));
        let (theirs, writes) = (Arc::clone(&cell), Arc::clone(&log));
        let builder = Client::builder().observer(move |seen| {
            let line = match &seen.event {
                TelemetryEvent::RequestStart { method, .. } => format!("start {method}"),
                TelemetryEvent::RequestStop { method, .. } => format!("stop {method}"),
                TelemetryEvent::RequestException { method, .. } => format!("failed {method}"),
                _ => return,
            };
            let starts = line == "start tools/call";
            writes.lock().expect("nobody panicked").push(line);
            if let (true, Some(client)) = (starts, theirs.get()) {
                use_it(client);
                let mut log = writes.lock().expect("nobody panicked");
                log.push("the observer is done".to_owned());
            }
        });
        let (client, mut session, _server) =
            connected_with(builder, ServerProfile::handshake()).await;
        cell.set(client.clone()).expect("it is empty");
        let answering = async {
            let call = session.find("tools/call").await;
            session.respond(&call, said("done")).await;
        };
        let call = async { client.tools().call("any", json!({})).await };
        let (result, ()) = tokio::join!(call, answering);
        result.expect("an answer");
        client.stop().await;
        let log = log.lock().expect("nobody panicked");
        let expected = [
            "start tools/call",
            "the observer is done",
            "start ping",
            "failed ping",
            "stop tools/call",
        ];
        assert_eq!(log[..], expected);
    });
}

#[tokio::test(start_paused = true)]
async fn an_observer_sees_everything_in_order_and_before_the_caller_does() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let writes = Arc::clone(&seen);
    let builder = Client::builder().observer(move |telemetry| {
        writes
            .lock()
            .expect("nobody panicked")
            .push(telemetry.name());
    });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    seen.lock().expect("nobody panicked").clear();
    for _ in 0..3 {
        let answering = async {
            let call = session.expect("tools/call").await;
            session.respond(&call, said("done")).await;
        };
        let call = async { client.tools().call("any", json!({})).await };
        let (result, ()) = tokio::join!(call, answering);
        result.expect("an answer");
    }
    let seen = seen.lock().expect("nobody panicked").clone();
    assert_eq!(seen, ["request.start", "request.stop"].repeat(3));
}

#[cfg(feature = "tracing")]
mod traced {
    use tracing::{
        Event, Metadata, Subscriber,
        span::{Attributes, Id, Record},
    };

    use super::*;

    /// A subscriber that uses the client with every event of a call.
    #[derive(Clone, Default)]
    struct Meddler {
        client: Arc<OnceLock<Client>>,
        busy: Arc<AtomicUsize>,
        used: Arc<AtomicUsize>,
    }

    impl Subscriber for Meddler {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            // What it brings about is traced, too.
            let Some(client) = self.client.get() else {
                return;
            };
            if self.busy.fetch_add(1, Ordering::Relaxed) == 0 {
                use_it(client);
                self.used.fetch_add(1, Ordering::Relaxed);
            }
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_subscriber_may_use_the_client_that_it_hears_of() {
        unless_stuck(async {
            let meddler = Meddler::default();
            let _listening = tracing::subscriber::set_default(meddler.clone());
            let (client, mut session, _server) =
                connected_with(Client::builder(), ServerProfile::handshake()).await;
            assert!(meddler.client.set(client.clone()).is_ok());
            let answering = async {
                let call = session.find("tools/call").await;
                session.respond(&call, said("done")).await;
            };
            let call = async { client.tools().call("any", json!({})).await };
            let (result, ()) = tokio::join!(call, answering);
            result.expect("an answer");
            assert_eq!(meddler.used.load(Ordering::Relaxed), 1);
            client.stop().await;
        });
    }
}

/// Uses the client when it is woken. Executors are the application's.
struct UsesIt(Client, AtomicUsize);

impl Wake for UsesIt {
    fn wake(self: Arc<Self>) {
        let Self(client, woken) = &*self;
        use_it(client);
        woken.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn whoever_waits_for_progress_may_use_the_client_when_woken() {
    unless_stuck(async {
        let (client, mut session, _server) =
            connected_with(Client::builder(), ServerProfile::handshake()).await;
        let (notes, mut progress) = progress_channel();
        let uses_it = Arc::new(UsesIt(client.clone(), AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&uses_it));
        let mut poll = move || progress.poll_recv(&mut Context::from_waker(&waker));
        assert!(poll().is_pending());
        let call = client.tools().call("slow", json!({})).progress_to(notes);
        let serving = async {
            let request = session.expect("tools/call").await;
            session.progress(&request, 1.0, 2.0).await;
            while uses_it.1.load(Ordering::Relaxed) == 0 {
                tokio::task::yield_now().await;
            }
            let first = poll();
            assert!(matches!(first, Poll::Ready(Some(_))), "{first:?}");
            assert!(poll().is_pending());
            session.respond(&request, said("done")).await;
        };
        let (answer, ()) = tokio::join!(call, serving);
        answer.expect("it is answered");
        assert_eq!(uses_it.1.load(Ordering::Relaxed), 2, "the end wakes, too");
    });
}
