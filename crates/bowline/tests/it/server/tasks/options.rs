//! How long a task is kept.

use std::time::Duration;

use bowline::server::TaskOptions;

use super::rig::{App, ExtensionPeer, server};

const HOUR: Duration = Duration::from_secs(60 * 60);
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Returns how long a server with these options keeps a task.
async fn kept_for(options: TaskOptions) -> Duration {
    let service = server(&App::default()).task_options(options).build();
    let mut client = ExtensionPeer::new(&service.expect("the server is sound"));
    let id = client.create("hello").await;
    let ttl = client.get(&id).await["ttlMs"].as_u64();
    Duration::from_millis(ttl.expect("tasks expire"))
}

#[tokio::test(start_paused = true)]
async fn a_time_to_live_above_the_default_maximum_is_kept() {
    assert_eq!(kept_for(TaskOptions::new().ttl(WEEK)).await, WEEK);
}

#[tokio::test(start_paused = true)]
async fn a_shorter_time_to_live_leaves_the_maximum_as_it_is() {
    let options = TaskOptions::new().ttl(HOUR / 2);
    assert_eq!(options.max_ttl, TaskOptions::new().max_ttl);
    assert_eq!(kept_for(options).await, HOUR / 2);
}

#[tokio::test(start_paused = true)]
async fn a_maximum_that_is_set_later_applies_to_the_default_too() {
    let options = TaskOptions::new().ttl(WEEK).max_ttl(HOUR);
    assert_eq!(kept_for(options).await, HOUR);
}
