//! Those who look on at a server: their code is not ours.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use bowline::{
    proto::server::TelemetryEvent,
    server::{Observation, Server, Service},
};
use serde_json::{Value, json};

use super::Raw;

type Seen = Arc<Mutex<Vec<Observation>>>;

fn observed() -> (Service, Seen) {
    let seen = Seen::default();
    let writes = Arc::clone(&seen);
    let server = Server::new("acme", "1").observer(move |observation| {
        let mut seen = writes.lock().expect("nobody panicked");
        seen.push(observation.clone());
    });
    (server.build().expect("a server"), seen)
}

#[tokio::test(start_paused = true)]
async fn an_observation_says_of_which_server_and_connection_it_is_and_when() {
    let began = SystemTime::now();
    let (service, seen) = observed();
    for _ in 0..3 {
        let mut raw = Raw::session(&service, "2025-11-25").await;
        raw.result("ping", json!({})).await;
    }
    let seen = seen.lock().expect("nobody panicked");
    assert!(seen.iter().all(|it| &*it.server == "acme"));
    let connections: BTreeSet<_> = seen.iter().map(|it| it.connection).collect();
    assert_eq!(connections.len(), 3);
    let times = began..=SystemTime::now() + Duration::from_secs(1);
    assert!(seen.iter().all(|it| times.contains(&it.at)));
}

#[tokio::test(start_paused = true)]
async fn what_there_was_no_room_for_is_counted() {
    let (service, seen) = observed();
    let mut raw = Raw::session(&service, "2025-03-26").await;
    // As many as are read before anything is shown.
    let notice = json!({"jsonrpc": "2.0", "method": "x"});
    let batch = Value::from(vec![notice; 1000]);
    for _ in 0..12 {
        raw.send_frame(&batch).await;
    }
    let count = || {
        let seen = seen.lock().expect("nobody panicked");
        let each = |it: &Observation| match it.event {
            TelemetryEvent::ObservationsLost { count } => (0, count),
            TelemetryEvent::NotificationReceived { .. }
            | TelemetryEvent::NotificationDropped { .. } => (1, 0),
            _ => (0, 0),
        };
        let all = seen.iter().map(each);
        all.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    };
    // Each arrives, and means nothing here. Opening the session was one, too.
    let expected = 1 + 2 * 12 * 1000;
    for _ in 0..1000 {
        let (shown, lost) = count();
        if shown + lost == expected {
            break;
        }
        tokio::task::yield_now().await;
    }
    let (shown, lost) = count();
    assert_eq!(shown + lost, expected, "{shown} shown, {lost} lost");
    assert!(
        lost > 0,
        "an observer that is slow must not fill the memory"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_client_calls_its_methods_takes_little_room() {
    let (service, seen) = observed();
    let mut raw = Raw::session(&service, "2025-11-25").await;
    let name = "m".repeat(100_000);
    raw.notify(&name, json!({})).await;
    raw.error(&name, json!({})).await;
    let seen = seen.lock().expect("nobody panicked");
    let lengths = seen.iter().filter_map(|it| match &it.event {
        TelemetryEvent::NotificationReceived { method } => Some(method.len()),
        TelemetryEvent::NotificationDropped { method } => Some(method.len()),
        _ => None,
    });
    let opened = "notifications/initialized".len();
    let lengths: Vec<_> = lengths.filter(|length| *length != opened).collect();
    assert_eq!(lengths, [128, 128]);
}
