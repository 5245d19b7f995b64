//! A resource that changes every second and notifies subscribers.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bowline::server::{Conversation, Resource, Service};
use tokio::sync::watch;

use super::App;

/// The URI of the clock.
pub(super) const URI: &str = "clock://now";

/// Returns the clock resource.
pub(super) fn resource() -> Resource<App> {
    Resource::new(URI, "clock")
        .title("Clock")
        .description("The time of day in UTC; changes every second")
        .mime_type("text/plain")
        .read(async |_cx: Conversation<App>| Ok(time_of_day(since_epoch())))
}

/// Returns the listener that the server calls when subscriptions change, and a
/// receiver of whether the clock is subscribed to.
pub(super) fn subscription_listener() -> (
    impl Fn(&BTreeSet<String>) + Send + Sync + 'static,
    watch::Receiver<bool>,
) {
    let (sender, is_subscribed) = watch::channel(false);
    let listener = move |uris: &BTreeSet<String>| {
        sender.send_replace(uris.contains(URI));
    };
    (listener, is_subscribed)
}

/// Reports an update every second while the clock is subscribed to.
pub(super) async fn tick(service: Service<App>, mut is_subscribed: watch::Receiver<bool>) {
    while is_subscribed
        .wait_for(|is_subscribed| *is_subscribed)
        .await
        .is_ok()
    {
        tokio::time::sleep(until_next_second()).await;
        service.resource_updated(URI);
    }
}

fn until_next_second() -> Duration {
    Duration::from_nanos(1_000_000_000 - u64::from(since_epoch().subsec_nanos()))
}

/// A clock before 1970 counts as 1970.
fn since_epoch() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

fn time_of_day(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02} UTC", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        let cases = [
            (0, "00:00:00 UTC"),
            (86_399, "23:59:59 UTC"),
            (1_700_000_000, "22:13:20 UTC"),
        ];
        for (seconds, text) in cases {
            assert_eq!(time_of_day(Duration::from_secs(seconds)), text);
        }
    }
}
